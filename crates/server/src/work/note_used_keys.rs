//! Stores when keys were last used. The key ring collects it, so that no request writes.

use std::sync::Arc;
use std::time::Duration;

use renown_store::WriteError;

use super::{Job, Next};
use crate::api::Api;

const EVERY: Duration = Duration::from_mins(1);

pub(super) struct NoteUsedKeys(pub(super) Arc<Api>);

impl Job for NoteUsedKeys {
    const NAME: &'static str = "note_used_keys";

    async fn step(&self) -> Result<Next, WriteError> {
        note(&self.0).await?;
        Ok(Next::After(EVERY))
    }
}

/// Stores now when keys were last used. A failure is logged, because it must not fail what the caller does.
pub(crate) async fn note_used_keys(api: &Api) {
    if let Err(error) = note(api).await {
        tracing::warn!(%error, "could not store when keys were last used");
    }
}

async fn note(api: &Api) -> Result<(), WriteError> {
    let used = api.keys.take_used();
    if used.is_empty() { Ok(()) } else { api.store.touch_keys(used).await }
}
