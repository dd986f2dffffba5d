//! What every store promises: questions with one answer each, and a long random walk beside the plainest store there is.
//!
//! A new store joins by an implementation of [`Subject`] and two lines in the tests below.

mod lists;
mod reads;
mod records;
mod walk;
mod writes;

use renown_store::Store;
use renown_store::memory::Memory;
use renown_store::sqlite::Sqlite;

use crate::support::{Scratch, TestClock, verify};

/// A store under test.
trait Subject {
    /// An empty one.
    fn make(clock: &TestClock) -> Self;
    fn store(&self) -> &dyn Store;
    /// Closes and opens it, if it can be closed.
    fn reopen(&mut self) {}
    /// Replays its evidence, if it keeps anything beside it.
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
    // Before its directory, which goes away with it.
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

/// A question to an empty store.
type Question = (&'static str, fn(&dyn Store, &TestClock));

fn ask<S: Subject>() {
    let of_lists = lists::QUESTIONS.iter().chain(&records::QUESTIONS);
    for (question, check) in writes::QUESTIONS.iter().chain(&reads::QUESTIONS).chain(of_lists) {
        // Shown when the check fails.
        println!("{question}");
        let clock = TestClock::at_noon();
        let subject = S::make(&clock);
        check(subject.store(), &clock);
        subject.verify();
    }
}

#[test]
fn the_store_in_memory_keeps_the_promises() {
    ask::<Memory>();
}

#[test]
fn the_store_on_sqlite_keeps_the_promises() {
    ask::<OnDisk>();
}

#[test]
fn the_store_in_memory_walks_like_itself() {
    walk::walk::<Memory>(1, 1600);
}

#[test]
fn the_store_on_sqlite_walks_like_the_one_in_memory() {
    walk::walk::<OnDisk>(2, 5000);
}

#[test]
fn the_store_on_sqlite_walks_on_after_it_was_closed() {
    walk::walk_and_reopen::<OnDisk>(3, 2500);
}
