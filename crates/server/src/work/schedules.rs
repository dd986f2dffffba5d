//! Starts the eval runs whose time has come.

use std::sync::Arc;
use std::time::Duration;

use renown_core::time::Timestamp;
use renown_store::{Accepted, Fire, Fired, RequestKey, Schedule, WriteError};

use super::{Job, Next};
use crate::api::Api;

/// A tick is a whole minute, so a run starts at most this late.
const EVERY: Duration = Duration::from_secs(1);

/// Number of schedules per step.
const AT_ONCE: usize = 20;

pub(super) struct Schedules(pub(super) Arc<Api>);

impl Job for Schedules {
    const NAME: &'static str = "schedules";

    async fn step(&self) -> Result<Next, WriteError> {
        let Self(api) = self;
        let next = api.store.next_schedules(AT_ONCE).await?;
        if next.is_empty() {
            return Ok(Next::After(EVERY));
        }
        let (now, mut started) = (api.now()?, 0);
        for (org, schedule) in next {
            if let Some(tick) = schedule.due(now) {
                start(api, &org, &schedule, Some(tick), None).await?;
                started += 1;
            }
        }
        Ok(if started == AT_ONCE { Next::Now } else { Next::After(EVERY) })
    }
}

/// Uses up a tick of a schedule, or starts a run that a client asked for.
pub(crate) async fn start(
    api: &Api,
    org: &renown_core::ids::OrgId,
    schedule: &Schedule,
    tick: Option<Timestamp>,
    request_key: Option<RequestKey>,
) -> Result<Accepted<Fired>, WriteError> {
    let mark = api.store.session_mark(org, schedule.filter.clone()).await?;
    let (run, seed) = (api.eval_run_id(), api.seed());
    let fire = Fire { version: schedule.state.version, tick, mark, run, seed };
    let fired = api.store.fire_schedule(org, &schedule.id, fire, request_key).await?;
    if matches!(fired, Accepted::Fresh(Fired::Started(_))) {
        api.wake.eval_runs();
    }
    Ok(fired)
}
