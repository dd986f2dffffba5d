//! `renown serve --demo`: a generated month of data in a temporary directory, and new evaluations while the server runs.

use std::path::Path;
use std::sync::Arc;

use renown_demo::{DemoClock, Live, PlanError};
use renown_server::Api;
use renown_store::{LockPurpose, Store, system_clock};

use crate::failure::Failure;
use crate::store_location::{self, ThrowAwayStore, default_org};

/// The temporary directory of a demo. It is deleted on drop.
pub(super) struct Demo(ThrowAwayStore);

impl Demo {
    /// Creates the directory, and deletes those of demos that were killed.
    pub(super) fn create() -> Result<Self, Failure> {
        ThrowAwayStore::create().map(Self)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Opens a store and fills it with the month that ends now. Afterwards its clock follows the system clock.
    pub(super) async fn open(&self, purpose: LockPurpose<'_>) -> Result<Arc<dyn Store>, Failure> {
        let month = renown_demo::plan(&default_org()?, store_location::now()?, &renown_demo::prices());
        let month = month.map_err(|error| plan_failure(&error))?;
        let clock = DemoClock::new(month.begin(), system_clock());
        let store = self.0.open(purpose, clock.clock())?;
        let filled = renown_demo::fill(&*store, &clock, month).await;
        let filled = filled.map_err(|error| store_location::failure(&error))?;
        tracing::debug!(?filled, "generated the demo data");
        Ok(store)
    }
}

fn plan_failure(error: &PlanError) -> Failure {
    Failure::new(error.to_string())
}

/// Adds an evaluation every few seconds, until the task is aborted.
pub(super) async fn live(api: Arc<Api>) {
    let (Ok(mut live), Ok(org)) = (Live::new(), default_org()) else { return };
    loop {
        tokio::time::sleep(live.pause()).await;
        let Ok(evaluation) = live.evaluation(api.event_id(None)) else { return };
        if let Err(error) = api.count(&org, evaluation).await {
            tracing::warn!(%error, "the demo could not add an evaluation");
        }
    }
}
