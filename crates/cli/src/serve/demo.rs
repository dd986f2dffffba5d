//! `renown serve --demo`: a made-up month in a directory that is thrown away, and evaluations while somebody looks.

use std::path::Path;
use std::sync::Arc;

use renown_demo::{DemoClock, Live, PlanError};
use renown_server::Api;
use renown_store::sqlite::{Sqlite, ThrowAwayDirectory, system_clock};

use crate::failure::Failure;
use crate::store_location::{self, default_org, keep_private};

/// The directory of a demo. It is removed when this is dropped.
pub(super) struct Demo(ThrowAwayDirectory);

impl Demo {
    /// Makes the directory, and removes those of demos that were killed.
    pub(super) fn create() -> Result<Self, Failure> {
        let dir = ThrowAwayDirectory::create(&std::env::temp_dir());
        dir.map(Self).map_err(|error| store_location::failure(&error))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A store with the month that ends now. Its clock follows the system's from then on.
    pub(super) async fn open(&self, purpose: &str) -> Result<Sqlite, Failure> {
        let month = renown_demo::plan(&default_org()?, store_location::now()?, &renown_demo::prices());
        let month = month.map_err(|error| bug(&error))?;
        let clock = DemoClock::new(month.begin(), system_clock());
        let opened = {
            let _private = keep_private();
            Sqlite::open_throw_away(&self.0, purpose, clock.clock())
        };
        let store = opened.map_err(|error| store_location::failure(&error))?;
        let filled = renown_demo::fill(&store, &clock, month).await;
        let filled = filled.map_err(|error| store_location::failure(&error))?;
        tracing::debug!(?filled, "the demo is filled");
        Ok(store)
    }
}

fn bug(error: &PlanError) -> Failure {
    Failure::new(error.to_string())
}

/// Counts an evaluation every few seconds, until it is aborted.
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
