//! Carries out eval runs, the oldest first.

use std::sync::Arc;
use std::time::Duration;

use renown_store::{WriteError, advance_eval_runs};

use super::{Job, Next};
use crate::api::Api;

/// How long a run that another server created may wait.
const EVERY: Duration = Duration::from_secs(1);

pub(super) struct EvalRuns(pub(super) Arc<Api>);

impl Job for EvalRuns {
    const NAME: &'static str = "eval_runs";

    async fn step(&self) -> Result<Next, WriteError> {
        let Self(api) = self;
        match advance_eval_runs(&*api.store).await? {
            None => Ok(Next::After(EVERY)),
            Some((org, run)) => {
                if !run.state.status.is_active() {
                    api.changes.evidence(&org);
                }
                Ok(Next::Now)
            }
        }
    }
}
