//! Closes the sessions that are over.

use std::sync::Arc;
use std::time::Duration;

use renown_store::WriteError;

use super::{Job, Next};
use crate::api::Api;

const EVERY: Duration = Duration::from_secs(1);

pub(super) struct CloseSessions(pub(super) Arc<Api>);

impl Job for CloseSessions {
    const NAME: &'static str = "close_sessions";

    async fn step(&self) -> Result<Next, WriteError> {
        let Self(api) = self;
        let closed = api.store.close_sessions().await?;
        if closed.is_empty() {
            return Ok(Next::After(EVERY));
        }
        api.changes.wake();
        Ok(Next::Now)
    }
}
