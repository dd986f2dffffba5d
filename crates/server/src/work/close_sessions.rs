//! Closes the sessions that are over, and publishes them.

use std::sync::Arc;
use std::time::Duration;

use renown_store::{Closed, StoreError};

use super::{Job, Next};
use crate::api::Api;
use crate::changes::Changed;

const EVERY: Duration = Duration::from_secs(1);

pub(super) struct CloseSessions(pub(super) Arc<Api>);

impl Job for CloseSessions {
    const NAME: &'static str = "close_sessions";

    async fn step(&self) -> Result<Next, StoreError> {
        let Self(api) = self;
        let closed = api.store.close_sessions().await?;
        if closed.is_empty() {
            return Ok(Next::After(EVERY));
        }
        for Closed { org, session, .. } in closed {
            api.changes.publish(&org, || Changed::Session(session));
        }
        Ok(Next::Now)
    }
}
