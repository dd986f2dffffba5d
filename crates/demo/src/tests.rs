//! Properties of the month, for any current time.

mod reasons;
mod sessions;
mod story;

use std::sync::Arc;

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use renown_store::sqlite::{Sqlite, ThrowAwayDirectory};
use renown_store::{Clock, DEFAULT_ORG};
use renown_testing::wait;

use crate::{DemoClock, Filled, fill, plan, prices};

/// An ordinary end of the month, in an afternoon.
const ANY_END: &str = "2027-02-28T15:30:00Z";

/// Ends of the month: shortly after midnight, at ordinary times, and shortly before midnight.
const ENDS: [&str; 4] = ["2026-11-18T00:03:00Z", "2026-11-18T07:16:35.123Z", ANY_END, "2028-02-29T23:59:00Z"];

fn org() -> OrgId {
    DEFAULT_ORG.parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// A store filled with a month. Its clock shows the end of the month forever.
struct Demo {
    store: Sqlite,
    now: Timestamp,
    filled: Filled,
    /// Dropped after the store.
    _dir: ThrowAwayDirectory,
}

impl Demo {
    fn ending(end: &str) -> Self {
        let now = at(end);
        let month = plan(&org(), now, &prices()).unwrap();
        let still: Clock = Arc::new(move || Ok(now));
        let clock = DemoClock::new(month.begin(), still);
        let dir = ThrowAwayDirectory::create(&std::env::temp_dir()).unwrap();
        let store = Sqlite::open_throw_away(&dir, "a test", clock.clock()).unwrap();
        let filled = wait(fill(&store, &clock, month)).unwrap();
        Self { store, now, filled, _dir: dir }
    }
}
