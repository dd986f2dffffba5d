//! The promises of every store: checks with one answer each, and long random walks that compare a store with the
//! one in memory.
//!
//! A new store joins with an implementation of [`Subject`] and two lines in the tests below.

mod lists;
mod reads;
mod records;
mod request_keys;
mod walk;
mod writes;

use renown_store::Store;
use renown_store::memory::Memory;
use renown_store::sqlite::Sqlite;

use crate::support::{Scratch, TestClock, verify};

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
        Self::new(clock.clock())
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
        let mut made = Self { store: None, scratch: Scratch::new("conformance"), clock: clock.clone() };
        made.reopen();
        made
    }

    fn store(&self) -> &dyn Store {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(Sqlite::open(self.scratch.path(), "a test", self.clock.clock()).unwrap());
    }

    fn verify(&self) {
        verify(self.scratch.path()).unwrap();
    }
}

/// A check of an empty store, and its name.
type Check = (&'static str, fn(&dyn Store, &TestClock));

fn run_checks<S: Subject>() {
    let of_lists = lists::CHECKS.iter().chain(&records::CHECKS).chain(&request_keys::CHECKS);
    for (name, check) in writes::CHECKS.iter().chain(&reads::CHECKS).chain(of_lists) {
        // Shown when the check fails.
        println!("{name}");
        let clock = TestClock::at_noon();
        let subject = S::make(&clock);
        check(subject.store(), &clock);
        subject.verify();
    }
}

#[test]
fn the_store_in_memory_keeps_the_promises() {
    run_checks::<Memory>();
}

#[test]
fn the_store_on_sqlite_keeps_the_promises() {
    run_checks::<OnDisk>();
}

#[test]
fn two_stores_in_memory_agree_on_a_random_walk() {
    walk::walk::<Memory>(1, 1600);
}

#[test]
fn sqlite_and_memory_agree_on_a_random_walk() {
    walk::walk::<OnDisk>(2, 5000);
}

#[test]
fn sqlite_and_memory_agree_on_a_random_walk_with_restarts() {
    walk::walk_and_reopen::<OnDisk>(3, 2500);
}
