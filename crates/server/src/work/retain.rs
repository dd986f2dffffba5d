//! Deletes the evidence of erased agents, and evidence that is older than the retention.

use std::sync::Arc;
use std::time::Duration;

use renown_store::{Progress, WriteError};

use super::{Job, Next};
use crate::api::Api;

const EVERY: Duration = Duration::from_mins(1);

pub(super) struct Retain(pub(super) Arc<Api>);

impl Job for Retain {
    const NAME: &'static str = "retain";

    async fn step(&self) -> Result<Next, WriteError> {
        Ok(match self.0.store.delete_some(self.0.retention).await? {
            Progress::More => Next::Now,
            Progress::Waiting(pause) => Next::After(pause),
            Progress::Idle => Next::After(EVERY),
        })
    }
}
