//! Work that no caller waits for.

use std::time::Duration;

use renown_core::ids::{EvalRunId, OrgId, ScheduleId};

use super::WriteReply;
use crate::admin::Retention;
use crate::clock::Ready;
use crate::eval_runs::{EvalRun, EvalStep};
use crate::request_keys::{Accepted, RequestKey};
use crate::schedules::{Fire, Fired};
use crate::sessions::Closed;
use crate::waits::WriteWaits;

/// What is left to do after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is left to do.
    Idle,
    /// There is more to do now.
    More,
    /// There is more to do, but the engine needs this long for what was begun.
    Waiting(Duration),
}

impl Progress {
    /// Returns the progress of a step that is done at once.
    pub(crate) fn of_more(has_more: bool) -> Self {
        if has_more { Self::More } else { Self::Idle }
    }

    /// Returns whether there is more to do.
    pub fn is_more(self) -> bool {
        self != Self::Idle
    }
}

/// Does the work beside requests, one small step at a time, so that no write waits long for a step. What is left to do is in
/// the store, so a step that is stopped loses nothing.
///
/// With several servers each kind of step is done by one of them at a time. An engine that works in the background (settling,
/// merging) does so by itself.
pub trait Upkeep: Send + Sync + 'static {
    /// Closes some of the sessions that are over, and adds their reputation events in the same transaction. Returns
    /// the sessions that it closed, and those that
    /// [`Evidence::add_records`](super::Evidence::add_records) had to close. The caller calls it again until it returns
    /// none.
    fn close_sessions(&self) -> WriteReply<'_, Vec<Closed>>;

    /// Deletes a small part of what is to be deleted: first what erased agents left, then what is older than
    /// `retention` allows.
    fn delete_some(&self, retention: Retention) -> WriteReply<'_, Progress>;

    /// Writes a step of an eval run and its results, all or none. Returns the run after the step, or `None` if it is no
    /// longer where the step began. A session that has a result keeps it.
    fn advance_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        step: EvalStep,
    ) -> WriteReply<'a, Option<EvalRun>>;

    /// Uses up a tick of a schedule, and creates its eval run in the same transaction; or creates a run that a client
    /// asked for.
    fn fire_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        fire: Fire,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Fired>>;

    /// Checks that a write would be durable now: takes the path of a write without adding anything.
    fn ready(&self) -> WriteReply<'_, Ready>;

    /// Returns what writes of this process have waited for since the start; all zero if the store does not measure it.
    fn write_waits(&self) -> WriteWaits {
        WriteWaits::default()
    }
}
