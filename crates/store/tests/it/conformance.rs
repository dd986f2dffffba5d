//! The promises of every store: questions with one answer each, and long random walks that compare a store with
//! the one in memory.
//!
//! Each question is a test of its own for each store: `conformance::STORE::FILE::QUESTION`. A new question is a
//! function, and its name in the list below. A new store joins with an implementation of [`Subject`] and its name in
//! the last line.

mod evals;
mod lists;
mod reads;
mod records;
mod request_keys;
mod scan;
mod walk;
mod writes;

use renown_store::Store;
use renown_store::memory::Memory;
use renown_store::sqlite::Sqlite;

use crate::support::{Scratch, TestClock, clock_of, verify, wait};

/// A store under test.
trait Subject {
    /// Makes an empty store.
    fn make(clock: &TestClock) -> Self;
    fn store(&self) -> &dyn Store;
    /// Closes and opens the store, if it can be closed.
    fn reopen(&mut self) {}
    /// Verifies its derived data, if it has any.
    fn verify(&self) {}
}

impl Subject for Memory {
    fn make(clock: &TestClock) -> Self {
        Self::new(clock_of(clock))
    }

    fn store(&self) -> &dyn Store {
        self
    }
}

struct OnDisk {
    // Dropped before its directory is removed.
    store: Option<Sqlite>,
    scratch: Scratch,
    clock: TestClock,
}

impl Subject for OnDisk {
    fn make(clock: &TestClock) -> Self {
        let mut made = Self { store: None, scratch: Scratch::new(), clock: clock.clone() };
        made.reopen();
        made
    }

    fn store(&self) -> &dyn Store {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(Sqlite::open(self.scratch.path(), "a test", clock_of(&self.clock)).unwrap());
    }

    fn verify(&self) {
        verify(self.scratch.path()).unwrap();
    }
}

/// Verifies that what the store answers follows from the evidence.
fn verify_answers(store: &dyn Store) {
    wait(renown_store::verify(store, &mut |_, _| {})).unwrap().unwrap();
}

/// Asks an empty store a question, and verifies what is left.
fn ask<S: Subject>(question: fn(&dyn Store, &TestClock)) {
    let clock = TestClock::at_noon();
    let subject = S::make(&clock);
    question(subject.store(), &clock);
    verify_answers(subject.store());
    subject.verify();
}

/// Every question, by the file that asks it.
macro_rules! questions {
    () => {
        tests! { writes:
            the_next_read_sees_an_answered_write,
            the_window_is_the_last_500_in_the_order_of_acceptance,
            an_id_counts_once_inside_a_batch,
            an_id_counts_once_across_batches_and_agents,
            an_id_counts_once_in_each_organization,
            an_empty_batch_adds_no_evidence,
            an_unknown_organization_is_refused_and_nothing_is_added,
            a_clock_that_is_set_back_by_a_little_moves_no_time_backwards,
            a_clock_that_jumps_ahead_is_followed_there_and_back,
            a_session_that_was_seen_ahead_of_time_is_closed_in_time,
            a_session_that_was_closed_ahead_of_time_is_closed_now,
            a_clock_that_cannot_be_right_refuses_writes_and_nothing_else,
            sent_times_are_kept_in_milliseconds,
            an_agent_is_new_once,
            keys_are_listed_used_and_revoked_in_their_organization,
            a_key_adds_its_organization,
        }
        tests! { reads:
            each_filter_of_evaluations_works_alone_and_with_others,
            pages_of_evaluations_by_cursor_reach_the_end,
            pages_of_evaluations_by_offset_reach_the_end,
            a_cursor_works_with_other_filters,
            writes_between_two_pages_do_not_move_the_second_one,
            agents_are_listed_in_each_order_ties_by_name,
            pages_of_agents_stay_complete_while_agents_move,
            agents_are_found_by_a_part_of_their_name_ignoring_case,
            agents_are_found_by_lifecycle_and_by_when_they_were_seen,
            a_public_agent_is_found_by_its_slug_and_no_other_agent,
            names_are_kept_exactly_as_they_were_sent,
            a_history_has_the_right_steps,
        }
        tests! { lists:
            specs_are_listed_page_by_page_with_their_best_attempt,
            evaluations_are_found_by_the_gate_that_failed,
        }
        tests! { evals:
            a_competition_compares_all_attempts_with_one_baseline,
            an_eval_run_over_a_list_evaluates_each_session_once,
            a_retry_evaluates_only_what_failed,
            an_eval_run_follows_its_filter_to_the_end,
            a_step_that_is_written_twice_counts_once,
            eval_runs_are_listed_and_belong_to_their_organization,
            a_request_key_creates_one_eval_run_and_one_schedule,
            an_erased_agent_is_removed_from_eval_runs_and_schedules,
            a_tick_starts_one_run_and_only_if_something_has_changed,
            a_schedule_can_be_paused_changed_and_deleted,
        }
        tests! { records:
            an_unknown_session_has_no_page,
            the_pages_add_up_to_all_records_in_order,
            a_cursor_stays_valid_when_records_arrive,
        }
        tests! { scan:
            a_scan_finds_every_piece_once_in_order,
            a_scan_finds_nothing_of_an_erased_agent,
            every_change_is_told_once_in_order,
        }
        tests! { request_keys:
            a_request_key_is_known_for_a_day_and_not_longer,
            a_request_key_belongs_to_its_organization,
            a_write_of_any_kind_with_a_known_key_changes_nothing,
            of_two_writes_with_one_key_that_wait_together_one_is_done,
            a_receipt_shows_what_was_accepted_not_the_current_state,
            a_receipt_of_one_evaluation_shows_the_first_one_with_its_id,
            a_write_that_was_refused_keeps_no_key,
            an_erased_agent_is_removed_from_receipts_and_a_key_about_it_alone_is_forgotten,
            a_key_whose_evaluation_or_run_is_gone_has_expired,
        }
    };
}

/// Makes a test of each of these questions for the store `Tested`.
macro_rules! tests {
    ($file:ident: $($question:ident,)+) => {
        mod $file {
            use crate::conformance::{$file, ask};

            $(#[test]
            fn $question() {
                ask::<super::Tested>($file::$question);
            })+
        }
    };
}

/// Makes a module of tests for each store.
macro_rules! conformance {
    ($($store:ident: $subject:ident),+) => {$(
        mod $store {
            use super::{$subject as Tested, walk};

            questions!();

            #[test]
            fn it_agrees_with_memory_on_a_random_walk() {
                walk::walk::<Tested>(2, 5000);
            }

            #[test]
            fn it_agrees_with_memory_on_a_random_walk_with_restarts() {
                walk::walk_and_reopen::<Tested>(3, 2500);
            }
        }
    )+};
}

conformance!(memory: Memory, sqlite: OnDisk);
