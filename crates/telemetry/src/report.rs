//! The report of a session: its performance, its agent, and which evidence it contained.

use std::borrow::Cow;

use renown_core::performance::{FORMULA_VERSION, Performance, SessionTotals};
use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use serde::Serialize;

use crate::dialect::Agent;
use crate::facts::Signal;
use crate::ledger::{Session, Side, Sum};

/// The name of the masque if no record names one.
pub const UNKNOWN_MASQUE: &str = "unknown";

/// The performance of a session.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Performance))]
pub struct SessionReport<'a> {
    /// Masque of the agent, or `unknown`.
    pub masque: Cow<'a, str>,
    /// The score and its parts.
    #[serde(flatten)]
    pub performance: Performance,
    /// Id of the session.
    pub session_id: &'a str,
    /// Id of the agent.
    pub agent_id: &'a str,
    /// Kind of the agent, such as `claude-code`.
    pub agent: Agent,
    /// Time of the first event; null if no event has a time.
    pub started_at: Option<Timestamp>,
    /// Time of the last event; null if no event has a time.
    pub ended_at: Option<Timestamp>,
    /// Version of the formula.
    pub formula_version: &'static str,
    /// Evidence that the session contained, and evidence that was missing.
    pub coverage: Coverage,
    /// Counts that the formula does not use.
    pub signals: OtherCounts,
}

/// Which of `tools`, `prompts`, `cost` and `tokens` the evidence contains. Without costs, for example, the cost efficiency is 10.0 too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PerformanceCoverage))]
pub struct Coverage {
    /// Kinds of evidence that the session contained.
    pub present: Vec<&'static str>,
    /// Kinds of evidence that were missing.
    pub missing: Vec<&'static str>,
    /// Present kinds that only some of the calls have.
    pub partial: Vec<&'static str>,
    /// Source that was scored.
    pub signal: Signal,
    /// How the duration was measured, if not from the first to the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<DurationKind>,
    /// Source of the costs.
    pub cost_source: CostSource,
}

/// How the duration of a session was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DurationKind {
    /// The sum of the gaps between events, without those of more than 30 minutes.
    Active,
}

/// The source of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CostSource {
    /// Reported by the agent.
    Reported,
    /// Computed with a price table, so an estimate.
    Priced,
    /// Both.
    Mixed,
    /// No call has a cost.
    None,
}

/// Other counts, which the formula does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PerformanceSignals))]
pub struct OtherCounts {
    /// Number of model calls that failed.
    pub api_errors: u64,
    /// Number of tool calls that were allowed.
    pub accepts: u64,
    /// Number of tool calls that were rejected.
    pub rejects: u64,
    /// Number of tool calls that the user rejected.
    pub rejects_by_user: u64,
    /// Latest rating by the user: -1, 0 or 1.
    pub feedback: Option<i8>,
    /// Number of times the agent shortened the conversation.
    pub compactions: u64,
    /// Number of times the model refused to answer.
    pub refusals: u64,
}

impl Session {
    /// Returns the exact totals of the records. Returns `None` if there is nothing to score: no tool result, API
    /// request or prompt.
    pub fn totals(&self) -> Option<SessionTotals> {
        let side = self.scored();
        side.has_evidence().then(|| totals(side, self.duration_ns()))
    }

    /// Returns the cost of the model calls. Returns `None` if there is nothing to score or no call has a cost.
    pub fn cost(&self) -> Option<NanoUsd> {
        let usage = self.scored().usage();
        let is_known = usage.reported.0 > 0 || usage.priced.0 > 0;
        self.totals().filter(|_| is_known).map(|totals| totals.total_cost)
    }

    /// Scores the session. Returns `None` if there is nothing to score.
    pub fn report(&self) -> Option<SessionReport<'_>> {
        let side = self.scored();
        let performance = self.totals()?.performance();
        Some(SessionReport {
            masque: Cow::Borrowed(self.masque().unwrap_or(UNKNOWN_MASQUE)),
            session_id: self.id(),
            agent_id: self.agent_id(),
            agent: self.agent(),
            started_at: side.first,
            ended_at: side.last,
            formula_version: FORMULA_VERSION,
            performance,
            coverage: coverage(side, self.signal()),
            signals: OtherCounts {
                api_errors: side.api_errors.0,
                accepts: side.accepts.0,
                rejects: side.rejects.0,
                rejects_by_user: side.rejects_by_user.0,
                feedback: side.feedback(),
                compactions: side.compactions.0,
                refusals: side.refusals.0,
            },
        })
    }
}

fn totals(side: &Side, duration_ns: u64) -> SessionTotals {
    let usage = side.usage();
    // 64 bits overflow only after 4612 calls that report the maximum number of tokens.
    let whole = |sum: Sum| u64::try_from(sum.0).unwrap_or(u64::MAX);
    SessionTotals {
        duration_ns,
        prompts: side.prompts.0,
        total_tools: side.tools.0,
        tools_ok: side.tools_ok.0,
        total_cost: NanoUsd::from_nano(usage.cost_nano.0),
        total_tokens: whole(usage.tokens),
        cache_tokens: whole(usage.cache_read),
    }
}

fn coverage(side: &Side, signal: Signal) -> Coverage {
    let usage = side.usage();
    let with_cost = usage.reported + usage.priced;
    let requests = usage.requests.0;
    let kinds = [
        ("tools", side.tools.0, None),
        ("prompts", side.prompts.0, None),
        ("cost", with_cost.0, Some(requests)),
        ("tokens", usage.with_tokens.0, Some(requests)),
    ];
    let named = |wanted: fn(u64, Option<u64>) -> bool| {
        kinds.iter().filter(|(_, found, of)| wanted(*found, *of)).map(|(name, ..)| *name).collect()
    };
    Coverage {
        present: named(|found, _| found > 0),
        missing: named(|found, _| found == 0),
        partial: named(|found, of| found > 0 && of.is_some_and(|of| found < of)),
        signal,
        duration: (signal == Signal::Transcript).then_some(DurationKind::Active),
        cost_source: match (usage.reported.0 > 0, usage.priced.0 > 0) {
            (true, true) => CostSource::Mixed,
            (true, false) => CostSource::Reported,
            (false, true) => CostSource::Priced,
            (false, false) => CostSource::None,
        },
    }
}
