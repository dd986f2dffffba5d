//! Publishes what has changed to streams and open pages.

use std::sync::Arc;
use std::time::Duration;

use renown_store::WriteError;

use super::{Job, Next};
use crate::api::Api;

/// Every write wakes the job. This is for writes whose handler was dropped before it could.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum number of changes of an organization that one step publishes, well below what a subscriber may be behind.
const CHANGES_AT_ONCE: usize = 256;

pub(super) struct PublishChanges(pub(super) Arc<Api>);

impl Job for PublishChanges {
    const NAME: &'static str = "publish_changes";

    async fn step(&self) -> Result<Next, WriteError> {
        let Self(api) = self;
        let has_more = api.changes.publish_new(&*api.store, CHANGES_AT_ONCE).await?;
        Ok(if has_more { Next::Now } else { Next::After(EVERY) })
    }
}
