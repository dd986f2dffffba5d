//! Folds new measurements into the histograms, so that memory does not grow with the number of requests.

use std::sync::Arc;
use std::time::Duration;

use renown_store::WriteError;

use super::{Job, Next};
use crate::api::Api;

const EVERY: Duration = Duration::from_secs(5);

pub(super) struct FoldMetrics(pub(super) Arc<Api>);

impl Job for FoldMetrics {
    const NAME: &'static str = "fold_metrics";

    async fn step(&self) -> Result<Next, WriteError> {
        self.0.metrics.upkeep();
        Ok(Next::After(EVERY))
    }
}
