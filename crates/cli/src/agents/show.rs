//! `renown agents show`: everything known about one agent.

use std::fmt::Write as _;

use renown_core::decimal::Decimal;
use renown_core::explain::Component;
use renown_core::identity::{IdentityReputation, identity_of};
use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Day;
use renown_store::{
    AgentSummary, ReadError, ReadOnlyStore, RunQuery, SessionQuery, StoredSession, system_clock,
};
use renown_view::RunView;
use renown_view::breakdown::{GateCount, LatencyBucket, ToolRow};
use renown_view::{AgentBreakdown, AgentRow};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{ReadArgs, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::numbers::percent;
use crate::store_location::ask;
use crate::table::{counted, left, right, table};
use crate::{as_json, runs, sessions};

/// Number of runs and of sessions shown.
const RUNS_SHOWN: usize = 10;
const SESSIONS_SHOWN: usize = 10;

/// Number of days in the breakdown, including today. The same as in the API.
const BREAKDOWN_DAYS: u32 = 30;

pub(super) fn show(agent: &AgentId, read: &ReadArgs) -> Result<String, Failure> {
    let (store, org) = (read.location.resolve()?.read()?, &read.org);
    let known = ask(load(&*store, org, agent))?;
    let known = known.ok_or_else(|| {
        Failure::new(format!("no agent {:?} in {org}", agent.as_str()))
            .hint("`renown agents list --search TEXT` finds agents")
    })?;
    match read.format {
        TextFormatArg::Json => as_json(&known.json()),
        TextFormatArg::Text => Ok(known.text()),
    }
}

/// Everything known about an agent.
struct Known {
    agent: AgentSummary,
    row: AgentRow,
    breakdown: AgentBreakdown,
    identity: IdentityReputation,
    /// The latest runs, as in the API.
    runs: Value,
    sessions: Vec<StoredSession>,
}

async fn load(store: &dyn ReadOnlyStore, org: &OrgId, agent: &AgentId) -> Result<Option<Known>, ReadError> {
    let Some(found) = store.agent(org, agent).await? else { return Ok(None) };
    let now = (system_clock())()?;
    let (from, to) = (Day::of(now).back(BREAKDOWN_DAYS - 1), Day::of(now));
    let runs = RunQuery { agent: Some(agent.clone()), limit: RUNS_SHOWN, ..RunQuery::default() };
    let sessions =
        SessionQuery { agent: Some(agent.clone()), limit: SESSIONS_SHOWN, ..SessionQuery::default() };
    let identity = store.identity_windows(org, identity_of(org, agent), now).await?;
    let evidence = store.evidence_of_agents(org, vec![agent.clone()], now).await?.pop().unwrap_or_default();
    let runs = store.runs(org, runs).await?.runs;
    Ok(Some(Known {
        row: AgentRow::of(org, found.clone(), evidence, now),
        agent: found,
        breakdown: AgentBreakdown::of(agent.clone(), from, to, store.agent_days(org, agent, from, to).await?),
        identity: identity.breakdown().standing(now),
        runs: runs.iter().map(|run| runs::shown(&RunView::of(run))).collect(),
        sessions: store.sessions(org, sessions).await?.sessions,
    }))
}

impl Known {
    /// Returns the row of the list, the whole record of the score, and the details.
    fn json(self) -> Map<String, Value> {
        let fields = |value: Value| if let Value::Object(fields) = value { fields } else { Map::new() };
        let mut whole = fields(value(&self.row));
        whole.extend(fields(value(&self.agent.tally.record())));
        let parts = [
            ("components", value(&self.agent.tally.breakdown().explain().components)),
            ("breakdown", value(&self.breakdown)),
            ("identity_reputation", value(&self.identity)),
            ("runs", self.runs),
            ("sessions", self.sessions.iter().map(sessions::summary).collect()),
        ];
        whole.extend(parts.map(|(name, value)| (name.to_owned(), value)));
        whole
    }

    fn text(&self) -> String {
        let mut text = self.reputation();
        if self.breakdown.evaluations > 0 {
            text.push_str(&broken_down(&self.breakdown));
        }
        let identity = &self.identity;
        if identity.total_events > 0 {
            let _ = writeln!(
                text,
                "\nidentity: {} with confidence {}, from {} in 90 days",
                identity.overall_score,
                identity.confidence,
                counted(identity.total_events, "event")
            );
        }
        if self.runs.as_array().is_some_and(|runs| !runs.is_empty()) {
            let _ = write!(text, "\n{}", runs::listed(&self.runs));
        }
        if !self.sessions.is_empty() {
            let _ = write!(text, "\n{}", sessions::listed(&self.sessions));
        }
        text
    }

    /// Formats the score and its components.
    fn reputation(&self) -> String {
        let (row, agent) = (&self.row, printable(self.row.agent_id.as_str()));
        let lifecycle = super::lifecycle(row);
        let seen = format!("first seen {}, last seen {}\n", row.first_seen, row.last_seen);
        let record = self.agent.tally.record();
        if record.evaluations == 0 {
            return format!("{agent}  {lifecycle}\n{seen}");
        }
        let points = |points: Option<Decimal<6>>| {
            points.map_or_else(String::new, |points| format!("{:.1}", points.to_f64()))
        };
        let part = |part: &Component| {
            [
                part.name.to_owned(),
                points(Some(part.points)),
                points(part.points_max),
                points(part.points_lost),
            ]
        };
        let explanation = self.agent.tally.breakdown().explain();
        let parts: Vec<_> = explanation.components.iter().map(part).collect();
        format!(
            "{agent}  {}  {lifecycle}\n{} of {} passed, average {} ms, streak {}\n{seen}\n{}",
            record.score,
            record.passed,
            record.evaluations,
            record.avg_latency_ms,
            record.streak,
            table([left("PART"), right("POINTS"), right("OF"), right("LOST")], &parts),
        )
    }
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Formats the failures and latencies of the last days.
fn broken_down(breakdown: &AgentBreakdown) -> String {
    let passed = breakdown.pass_rate.map(percent).unwrap_or_default();
    let mut text = format!(
        "\nlast {BREAKDOWN_DAYS} days: {}, {passed} passed\nlatency: {}\n",
        counted(breakdown.evaluations, "evaluation"),
        latencies(&breakdown.latency.buckets),
    );
    let gate = |row: &GateCount| [printable(&row.gate), row.failed.to_string()];
    let gates: Vec<_> = breakdown.gates.iter().map(gate).collect();
    if !gates.is_empty() {
        let _ = write!(text, "\n{}", table([left("FAILING GATE"), right("FAILED")], &gates));
    }
    let tool = |row: &ToolRow| [printable(&row.tool), row.failed.to_string(), row.evaluations.to_string()];
    let tools: Vec<_> = breakdown.tools.iter().filter(|row| row.failed > 0).map(tool).collect();
    if !tools.is_empty() {
        let head = [left("FAILING TOOL"), right("FAILED"), right("EVALUATIONS")];
        let _ = write!(text, "\n{}", table(head, &tools));
    }
    text
}

/// Lists the latency buckets that have evaluations, on one line.
fn latencies(buckets: &[LatencyBucket]) -> String {
    let mut below = String::new();
    let mut shown = Vec::new();
    for bucket in buckets {
        let bound = bucket.at_most_ms.map(|ms| {
            let ms = ms.to_string();
            ms.trim_end_matches('0').trim_end_matches('.').to_owned()
        });
        if bucket.evaluations > 0 {
            shown.push(match &bound {
                Some(ms) => format!("{} up to {ms} ms", bucket.evaluations),
                None => format!("{} above {below} ms", bucket.evaluations),
            });
        }
        below = bound.unwrap_or_default();
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_latency_buckets_are_not_listed() {
        let bucket = |ms: Option<i128>, evaluations| LatencyBucket {
            at_most_ms: ms.map(Decimal::from_units),
            evaluations,
        };
        let buckets =
            [bucket(Some(100), 2), bucket(Some(3_000), 0), bucket(Some(10_000_000), 1), bucket(None, 4)];
        assert_eq!(latencies(&buckets), "2 up to 0.1 ms, 1 up to 10000 ms, 4 above 10000 ms");
        assert_eq!(latencies(&[]), "");
    }
}
