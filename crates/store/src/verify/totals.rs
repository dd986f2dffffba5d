//! Adds up what an organization has, and compares its overviews.

use std::collections::BTreeMap;

use renown_core::ids::OrgId;
use renown_core::time::Day;

use super::{Compared, Difference, differs};
use crate::days::DayCounts;
use crate::overview::{Activity, OVERVIEW_DAYS};
use crate::runs::Run;
use crate::sessions::StoredSession;
use crate::traits::ReadOnlyStore;

/// The totals of each day.
#[derive(Default)]
pub(super) struct Totals {
    days: BTreeMap<Day, DayCounts>,
    activity: BTreeMap<Day, Activity>,
}

impl Totals {
    pub(super) fn add_day(&mut self, day: Day, counts: &DayCounts) {
        self.days.entry(day).or_default().add(counts);
    }

    pub(super) fn add_run(&mut self, run: &Run) {
        self.activity.entry(Day::of(run.accepted_at)).or_default().add(&Activity::RUN);
    }

    pub(super) fn add_session(&mut self, session: &StoredSession) {
        let day = Day::of(session.began_at);
        self.activity.entry(day).or_default().add(&Activity::of_session(session));
    }

    /// Compares every day that has anything. Each overview covers many days.
    pub(super) async fn compare(mut self, store: &dyn ReadOnlyStore, org: &OrgId) -> Compared {
        // What an agent leaves is in the totals until it is deleted.
        if store.tombstones(org).await?.iter().any(|tombstone| tombstone.done_at.is_none()) {
            return Ok(Ok(()));
        }
        while let Some(last) = self.last_day() {
            let first = last.back(OVERVIEW_DAYS - 1);
            let kept = store.overview(org, last).await?;
            let (days, activity) = (self.days.split_off(&first), self.activity.split_off(&first));
            let found = differs("the sums of a day of all agents", &kept.days, &days)
                .or_else(|| differs("the sessions and runs of a day", &kept.activity, &activity));
            if let Some(found) = found {
                return Ok(Err(Difference::of(org, found)));
            }
        }
        Ok(Ok(()))
    }

    fn last_day(&self) -> Option<Day> {
        let last = self.days.keys().next_back().max(self.activity.keys().next_back());
        last.copied()
    }
}
