//! Scores runs again.

use renown_core::scorecard::FORMULA_VERSION;
use rusqlite::{Connection, OptionalExtension};

use super::differs;
use crate::error::StoreError;
use crate::runs::RunScore;
use crate::sqlite::runs::{RUN, baseline_of, run};
use crate::verify::{Difference, Verified};

/// Scores every run again with the formula of this release.
pub(super) fn compare(
    connection: &Connection,
    verified: &mut Verified,
) -> Result<Option<Box<Difference>>, StoreError> {
    let mut select = connection.prepare(&format!("{RUN} ORDER BY r.run"))?;
    let mut orgs = connection
        .prepare("SELECT o.name FROM orgs o JOIN agent_run_scores r ON r.org = o.org WHERE r.run = ?1")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let kept = run(row)?;
        let Some(scored) = &kept.scored else {
            verified.unscored += 1;
            continue;
        };
        // A run with another formula version keeps its score.
        if scored.formula_version == FORMULA_VERSION
            && let Some(fresh) = RunScore::of(kept.report, baseline_of(row, 21)?)
            && let Some((what, kept_as, fresh)) =
                differs("the score", &(scored.score, scored.axes), &(fresh.score, fresh.axes))
        {
            let org = orgs.query_row([kept.position.number()], |row| row.get(0))?;
            let (agent, run) = (Some(kept.agent.to_string()), Some(kept.id.to_string()));
            let difference =
                Difference { org, agent, evaluation: None, run, session: None, what, kept: kept_as, fresh };
            return Ok(Some(Box::new(difference)));
        }
        verified.runs += 1;
    }
    Ok(None)
}

/// Returns when the last run of an agent was accepted.
pub(super) fn last_seen(connection: &Connection, agent: i64) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT accepted_at FROM agent_run_scores WHERE agent = ?1 ORDER BY run DESC LIMIT 1",
    )?;
    Ok(select.query_row([agent], |row| row.get(0)).optional()?)
}
