//! Carries out eval runs: one small step at a time, on any store.
//!
//! ```text
//! oldest active run ──►  sessions that wait, else the next ones of its filter ──►  metrics ──►  one write
//! ```
//!
//! A step reads at most [`EVAL_STEP`] sessions and writes their results together with how far the run is. A step that
//! is interrupted leaves nothing behind, and the next one begins where the last written step ended. The job
//! `eval_runs` of the server and `renown eval run` on a data directory use the same steps.

use renown_core::ids::{OrgId, SessionId};

use super::{EVAL_STEP, EvalFilter, EvalResult, EvalResultQuery, EvalRun, EvalStep};
use crate::error::{ReadError, WriteError};
use crate::query::TimeCursor;
use crate::traits::Store;

/// Does the next step of the oldest run that is not finished. Returns the run after the step, with its organization;
/// `None` if all runs are finished, or another server has done the step.
pub async fn advance_eval_runs(store: &dyn Store) -> Result<Option<(OrgId, EvalRun)>, WriteError> {
    let Some((org, run)) = store.next_eval_run().await? else { return Ok(None) };
    let step = step(store, &org, &run).await?;
    Ok(store.advance_eval_run(&org, &run.id, step).await?.map(|run| (org, run)))
}

/// Computes the next step of a run.
async fn step(store: &dyn Store, org: &OrgId, run: &EvalRun) -> Result<EvalStep, ReadError> {
    let mut step = EvalStep { version: run.state.version, ..EvalStep::default() };
    if run.state.started_ns.is_none()
        && let Some(filter) = &run.filter
    {
        step.selected =
            store.session_mark(org, EvalFilter { min_traces: 0, ..filter.clone() }).await?.sessions;
    }
    let query = EvalResultQuery { state: Some("pending"), after: None, limit: EVAL_STEP };
    let waiting = store.eval_results(org, &run.id, query).await?.unwrap_or_default();
    if !waiting.results.is_empty() {
        for result in waiting.results {
            step.results.push(evaluate(store, org, run, result.session).await?);
        }
        step.is_last = waiting.next.is_none() && run.next_sessions().is_none();
        return Ok(step);
    }
    let Some(query) = run.next_sessions() else {
        step.is_last = true;
        return Ok(step);
    };
    let page = store.sessions(org, query).await?;
    step.cursor = page.sessions.last().map(|last| TimeCursor { at: last.began_at, position: last.position });
    step.is_last = page.next.is_none();
    for session in page.sessions {
        if run.selects(&session) {
            step.results.push(evaluate(store, org, run, session.id).await?);
        } else {
            step.skipped += 1;
        }
    }
    Ok(step)
}

/// Evaluates one session. A session that cannot be read is a failed target; the run goes on.
async fn evaluate(
    store: &dyn Store,
    org: &OrgId,
    run: &EvalRun,
    session: SessionId,
) -> Result<EvalResult, ReadError> {
    match store.session(org, &session, true).await {
        Ok(found) => Ok(EvalResult::of(run, session, found)),
        Err(error) if error.is_damage() => Ok(EvalResult::unreadable(session, &error)),
        Err(error) => Err(error),
    }
}
