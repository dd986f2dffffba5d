//! Queries of evaluations and agents. Filters are applied here only, so all stores use the same predicates.
//!
//! Lists are in the order of acceptance, the last first. So a page behind a cursor never changes, whatever times
//! are sent. `from` and `to` compare the time when an evaluation happened (`created_at`). `gate` and `passed`
//! combine: the evaluation has this result, and the gate took part in it.

use renown_core::ids::{AgentId, ToolName};
use renown_core::reputation::{Lifecycle, Tally};
use renown_core::time::Timestamp;
use serde::Deserialize;

use crate::evidence::{Position, StoredEvaluation};

/// Selects evaluations, the last accepted first.
#[derive(Clone, Debug, Default)]
pub struct EvaluationQuery {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this tool.
    pub tool: Option<ToolName>,
    /// Only those in which this gate took part.
    pub gate: Option<String>,
    /// Only failed ones in which this gate failed.
    pub failed_gate: Option<String>,
    /// Only passed ones, or only failed ones.
    pub passed: Option<bool>,
    /// Only those that happened at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that happened at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those accepted before this position.
    pub before: Option<Position>,
    /// Number of matching evaluations to skip.
    pub offset: usize,
    /// How many at most.
    pub limit: usize,
}

impl EvaluationQuery {
    /// Returns whether the evaluation matches the filters. Ignores `offset` and `limit`.
    pub(crate) fn matches(&self, evaluation: &StoredEvaluation) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == evaluation.agent)
            && self.tool.as_ref().is_none_or(|tool| Some(tool) == evaluation.tool.as_ref())
            && self.passed.is_none_or(|passed| passed == evaluation.passed)
            && self.from.is_none_or(|from| evaluation.created_at >= from)
            && self.to.is_none_or(|to| evaluation.created_at <= to)
            && self.before.is_none_or(|before| evaluation.position < before)
            && self.gate.as_ref().is_none_or(|gate| has_gate(&evaluation.gates, gate, |_| true))
            && self.failed_gate.as_ref().is_none_or(|gate| {
                !evaluation.passed && has_gate(&evaluation.gates, gate, |passed| passed == Some(false))
            })
    }
}

/// Returns whether a JSON array of gate results has a gate of this name with a fitting result.
fn has_gate(gates: &str, name: &str, fits: fn(Option<bool>) -> bool) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: std::borrow::Cow<'a, str>,
        passed: Option<bool>,
    }
    serde_json::from_str::<Vec<Named<'_>>>(gates)
        .is_ok_and(|gates| gates.iter().any(|gate| gate.name == name && fits(gate.passed)))
}

/// A page of evaluations.
#[derive(Debug)]
pub struct EvaluationPage {
    /// The evaluations, the last accepted first.
    pub evaluations: Vec<StoredEvaluation>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
}

/// Fills a page while the evaluations are read backwards.
pub(crate) struct EvaluationPageBuilder {
    query: EvaluationQuery,
    skipped: usize,
    page: EvaluationPage,
}

impl EvaluationPageBuilder {
    pub(crate) fn new(query: EvaluationQuery) -> Self {
        Self { query, skipped: 0, page: EvaluationPage { evaluations: Vec::new(), next: None } }
    }

    pub(crate) fn query(&self) -> &EvaluationQuery {
        &self.query
    }

    /// Adds the next evaluation if it matches. Returns whether to continue. One match more than the page holds
    /// shows that there is another page.
    pub(crate) fn add(&mut self, evaluation: StoredEvaluation) -> bool {
        if !self.query.matches(&evaluation) {
            return true;
        }
        if self.skipped < self.query.offset {
            self.skipped += 1;
            return true;
        }
        if self.page.evaluations.len() == self.query.limit {
            self.page.next = self.page.evaluations.last().map(|last| last.position);
            return false;
        }
        self.page.evaluations.push(evaluation);
        true
    }

    pub(crate) fn finish(self) -> EvaluationPage {
        self.page
    }
}

/// The order of a list of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentSort {
    /// The last seen first.
    #[default]
    LastSeen,
    /// The best first: agents whose score is shown, then calibrating ones, then those without an evaluation.
    Score,
    /// By id.
    Name,
    /// The most evaluations in the window first.
    Evaluations,
    /// The lowest shown score first. Agents with fewer than 50 evaluations are left out.
    Lowest,
}

/// The rank of the lowest score that is shown.
pub(crate) const RANK_SHOWN: i64 = 1002;

/// The rank of the highest score.
pub(crate) const RANK_MAX: i64 = RANK_SHOWN + 1000;

/// Returns the value that sorts agents by score. Agents whose score is shown come first, by score; then calibrating
/// agents; then those without an evaluation.
pub(crate) fn rank(tally: Tally) -> i64 {
    let standing = tally.standing();
    let score = i64::from(standing.score);
    match standing.lifecycle {
        Lifecycle::Mature | Lifecycle::Active => RANK_SHOWN + score,
        Lifecycle::Calibrating => 1 + score,
        Lifecycle::New => 0,
    }
}

/// Returns whether a name contains a text, ignoring case. The text has to be in lower case.
pub(crate) fn contains(name: &str, lowercase: &str) -> bool {
    if name.is_ascii() {
        // Allocates nothing, because a search may read a million names.
        let (name, text) = (name.as_bytes(), lowercase.as_bytes());
        text.is_empty() || name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
    } else {
        name.to_lowercase().contains(lowercase)
    }
}

/// Selects agents.
#[derive(Clone, Debug, Default)]
pub struct AgentQuery {
    /// Only those whose id contains this text, ignoring case.
    pub text: Option<String>,
    /// Only those of this lifecycle.
    pub lifecycle: Option<Lifecycle>,
    /// Only those seen at this time or later.
    pub seen_since: Option<Timestamp>,
    /// The order.
    pub sort: AgentSort,
    /// Only those after this one.
    pub after: Option<AgentCursor>,
    /// How many at most.
    pub limit: usize,
}

/// The end of a page of agents: the value that it is sorted by, and the id for agents of equal value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCursor {
    /// Milliseconds, rank or evaluations; 0 when sorted by id.
    pub value: i64,
    /// The id.
    pub agent: AgentId,
}

/// An agent as it is listed.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSummary {
    /// Its id.
    pub agent: AgentId,
    /// When it was first named.
    pub first_seen: Timestamp,
    /// When evidence of it was last accepted, or when it was first named.
    pub last_seen: Timestamp,
    /// The sums of its window.
    pub tally: Tally,
}

impl AgentSummary {
    /// Returns the cursor of a page that ends with this agent.
    pub(crate) fn cursor(&self, sort: AgentSort) -> AgentCursor {
        let value = match sort {
            AgentSort::LastSeen => self.last_seen.millis(),
            AgentSort::Score => rank(self.tally),
            AgentSort::Evaluations => i64::try_from(self.tally.evaluations()).unwrap_or(i64::MAX),
            AgentSort::Name => 0,
            // A larger value comes first, so count the points that are missing.
            AgentSort::Lowest => RANK_MAX - rank(self.tally),
        };
        AgentCursor { value, agent: self.agent.clone() }
    }
}

impl AgentQuery {
    /// Returns whether the agent matches the filters. Ignores `after` and `limit`.
    pub(crate) fn matches(&self, agent: &AgentSummary) -> bool {
        let lifecycle = agent.tally.standing().lifecycle;
        self.text.as_ref().is_none_or(|text| contains(agent.agent.as_str(), &text.to_lowercase()))
            && self.lifecycle.is_none_or(|wanted| wanted == lifecycle)
            && self.seen_since.is_none_or(|since| agent.last_seen >= since)
            && (self.sort != AgentSort::Lowest || is_shown(lifecycle))
    }

    /// Returns whether the query filters by more than the name. Then the number of rows that a page has to read is
    /// unknown.
    pub(crate) fn skips_rows(&self) -> bool {
        self.lifecycle.is_some() || self.seen_since.is_some()
    }

    /// Returns whether neither this agent nor any later one matches, in the order of the query.
    pub(crate) fn ends_at(&self, agent: &AgentSummary) -> bool {
        let lifecycle = agent.tally.standing().lifecycle;
        match self.sort {
            AgentSort::LastSeen => self.seen_since.is_some_and(|since| agent.last_seen < since),
            AgentSort::Score => match self.lifecycle {
                Some(Lifecycle::Active | Lifecycle::Mature) => !is_shown(lifecycle),
                Some(Lifecycle::Calibrating) => lifecycle == Lifecycle::New,
                Some(Lifecycle::New) | None => false,
            },
            AgentSort::Name | AgentSort::Evaluations | AgentSort::Lowest => false,
        }
    }

    /// Returns the highest value that a matching agent can have.
    pub(crate) fn first_value(&self) -> i64 {
        match (self.sort, self.lifecycle) {
            (AgentSort::Score, Some(Lifecycle::Calibrating)) => RANK_SHOWN,
            (AgentSort::Score, Some(Lifecycle::New)) => 1,
            _ => i64::MAX,
        }
    }
}

/// Returns whether agents of this lifecycle have a score that is shown.
fn is_shown(lifecycle: Lifecycle) -> bool {
    matches!(lifecycle, Lifecycle::Active | Lifecycle::Mature)
}

/// A page of agents.
#[derive(Debug)]
pub struct Agents {
    /// The agents.
    pub agents: Vec<AgentSummary>,
    /// Where the next page begins, if there is one.
    pub next: Option<AgentCursor>,
}

impl Agents {
    /// Makes a page from agents in any order. Agents that do not match, or that belong to an earlier page, are
    /// dropped.
    pub(crate) fn page(agents: impl IntoIterator<Item = AgentSummary>, query: &AgentQuery) -> Self {
        let order = |a: &AgentCursor, b: &AgentCursor| match query.sort {
            AgentSort::LastSeen => (b.value, &b.agent).cmp(&(a.value, &a.agent)),
            AgentSort::Score | AgentSort::Evaluations | AgentSort::Name | AgentSort::Lowest => {
                (b.value, &a.agent).cmp(&(a.value, &b.agent))
            }
        };
        let wanted = agents.into_iter().filter(|agent| query.matches(agent));
        let mut page: Vec<(AgentCursor, AgentSummary)> = wanted
            .map(|agent| (agent.cursor(query.sort), agent))
            // The agent at the end of the last page may have moved since then.
            .filter(|(cursor, _)| query.after.as_ref().is_none_or(|after| order(after, cursor).is_lt()))
            .collect();
        page.sort_by(|(a, _), (b, _)| order(a, b));
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        let next = page.last().filter(|_| more).map(|(cursor, _)| cursor.clone());
        Self { agents: page.into_iter().map(|(_, agent)| agent).collect(), next }
    }
}

/// The end of a page that is sorted by time: the time and the position of its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCursor {
    /// The time.
    pub at: Timestamp,
    /// The position.
    pub position: Position,
}
