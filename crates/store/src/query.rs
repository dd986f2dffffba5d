//! What can be asked of the log, and the one place where filters are applied: every store uses the same predicates.
//!
//! Lists are in the order of acceptance, the last first: a page never changes behind its cursor, whatever times are sent.
//! `from` and `to` compare the time when an evaluation happened (`created_at`). `gate` and `passed` combine: the evaluation
//! has this verdict, and the gate took part in it.

use renown_core::ids::{AgentId, ToolName};
use renown_core::reputation::{Lifecycle, Tally};
use renown_core::time::Timestamp;
use serde::Deserialize;

use crate::evidence::{Event, Seq};

/// Which evaluations, the last accepted first.
#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this tool.
    pub tool: Option<ToolName>,
    /// Only those in which this gate took part.
    pub gate: Option<String>,
    /// Only those that failed, and in which this gate did.
    pub failed_gate: Option<String>,
    /// Only those that passed, or that did not.
    pub passed: Option<bool>,
    /// Only those that happened at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that happened at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those accepted before this one.
    pub before: Option<Seq>,
    /// How many of them to step over.
    pub offset: usize,
    /// How many at most.
    pub limit: usize,
}

impl EventQuery {
    /// Whether the query asks for this evaluation, wherever it stands.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == event.agent)
            && self.tool.as_ref().is_none_or(|tool| Some(tool) == event.tool.as_ref())
            && self.passed.is_none_or(|passed| passed == event.passed)
            && self.from.is_none_or(|from| event.created_at >= from)
            && self.to.is_none_or(|to| event.created_at <= to)
            && self.before.is_none_or(|before| event.seq < before)
            && self.gate.as_ref().is_none_or(|gate| has_gate(&event.gates, gate, |_| true))
            && self.failed_gate.as_ref().is_none_or(|gate| {
                !event.passed && has_gate(&event.gates, gate, |passed| passed == Some(false))
            })
    }
}

/// Whether a JSON array of gate results names a gate whose verdict fits.
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

/// A page of evaluations, filled from a log that is walked backwards.
#[derive(Debug)]
pub struct Events {
    /// The evaluations, the last accepted first.
    pub events: Vec<Event>,
    /// Where the next page begins, if there is one.
    pub next: Option<Seq>,
}

/// Fills a page.
pub(crate) struct EventPage {
    query: EventQuery,
    skipped: usize,
    page: Events,
}

impl EventPage {
    pub(crate) fn new(query: EventQuery) -> Self {
        Self { query, skipped: 0, page: Events { events: Vec::new(), next: None } }
    }

    pub(crate) fn query(&self) -> &EventQuery {
        &self.query
    }

    /// Takes the next evaluation of the walk; whether more are wanted. One more than the page holds tells that there is
    /// another page.
    pub(crate) fn take(&mut self, event: Event) -> bool {
        if !self.query.wants(&event) {
            return true;
        }
        if self.skipped < self.query.offset {
            self.skipped += 1;
            return true;
        }
        if self.page.events.len() == self.query.limit {
            self.page.next = self.page.events.last().map(|last| last.seq);
            return false;
        }
        self.page.events.push(event);
        true
    }

    pub(crate) fn finish(self) -> Events {
        self.page
    }
}

/// In which order agents are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentSort {
    /// The last seen first.
    #[default]
    LastSeen,
    /// The best first: agents whose score is shown, then those that are calibrating, then those without an evaluation.
    Score,
    /// By id.
    Name,
    /// The most evaluations in the window first.
    Evaluations,
    /// The lowest score that is shown first. Agents below 50 evaluations are left out.
    Lowest,
}

/// The rank of the lowest score that is shown.
pub(crate) const RANK_SHOWN: i64 = 1002;

/// The rank of the highest score.
pub(crate) const RANK_MAX: i64 = RANK_SHOWN + 1000;

/// The value by which agents are sorted by score. Agents with a score that is shown come first, by that score; then those that are
/// calibrating; then those without an evaluation.
pub(crate) fn rank(tally: Tally) -> i64 {
    let standing = tally.standing();
    let score = i64::from(standing.score);
    match standing.lifecycle {
        Lifecycle::Mature | Lifecycle::Active => RANK_SHOWN + score,
        Lifecycle::Calibrating => 1 + score,
        Lifecycle::New => 0,
    }
}

/// Whether a name contains a text in any case. The text is in lower case.
pub(crate) fn contains(name: &str, lowercase: &str) -> bool {
    if name.is_ascii() {
        // A search may look at a million names, so this allocates nothing.
        let (name, text) = (name.as_bytes(), lowercase.as_bytes());
        text.is_empty() || name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
    } else {
        name.to_lowercase().contains(lowercase)
    }
}

/// Which agents.
#[derive(Clone, Debug, Default)]
pub struct AgentQuery {
    /// Only those whose id contains this, in any case.
    pub text: Option<String>,
    /// Only those of this lifecycle.
    pub lifecycle: Option<Lifecycle>,
    /// Only those seen at this time or later.
    pub seen_since: Option<Timestamp>,
    /// In which order.
    pub sort: AgentSort,
    /// Only those after this one.
    pub after: Option<AgentCursor>,
    /// How many at most.
    pub limit: usize,
}

/// Where a page of agents ended: the value that it was sorted by, and the id for those of equal value.
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
    /// When it was first named here.
    pub first_seen: Timestamp,
    /// When its last evaluation was accepted, or it was named.
    pub last_seen: Timestamp,
    /// The sums of its window.
    pub tally: Tally,
}

impl AgentSummary {
    /// Where a page that ends with this agent goes on.
    pub(crate) fn cursor(&self, sort: AgentSort) -> AgentCursor {
        let value = match sort {
            AgentSort::LastSeen => self.last_seen.millis(),
            AgentSort::Score => rank(self.tally),
            AgentSort::Evaluations => i64::try_from(self.tally.evaluations()).unwrap_or(i64::MAX),
            AgentSort::Name => 0,
            // The most points missing first.
            AgentSort::Lowest => RANK_MAX - rank(self.tally),
        };
        AgentCursor { value, agent: self.agent.clone() }
    }
}

impl AgentQuery {
    /// Whether the query asks for this agent, wherever it stands.
    pub(crate) fn wants(&self, agent: &AgentSummary) -> bool {
        let lifecycle = agent.tally.standing().lifecycle;
        self.text.as_ref().is_none_or(|text| contains(agent.agent.as_str(), &text.to_lowercase()))
            && self.lifecycle.is_none_or(|wanted| wanted == lifecycle)
            && self.seen_since.is_none_or(|since| agent.last_seen >= since)
            && (self.sort != AgentSort::Lowest || is_shown(lifecycle))
    }

    /// Whether the query leaves out agents by more than their name, so that the number of rows that a page has to read is unknown.
    pub(crate) fn skips_rows(&self) -> bool {
        self.lifecycle.is_some() || self.seen_since.is_some()
    }

    /// Whether no agent from this one on is wanted, in the order of the query.
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

    /// The highest value at which a wanted agent may stand.
    pub(crate) fn first_value(&self) -> i64 {
        match (self.sort, self.lifecycle) {
            (AgentSort::Score, Some(Lifecycle::Calibrating)) => RANK_SHOWN,
            (AgentSort::Score, Some(Lifecycle::New)) => 1,
            _ => i64::MAX,
        }
    }
}

/// Whether agents of this lifecycle have a score that is shown.
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
    /// A page from agents in any order. One that the query does not want, or that stands before its cursor, may be among
    /// them.
    pub(crate) fn page(agents: impl IntoIterator<Item = AgentSummary>, query: &AgentQuery) -> Self {
        let order = |a: &AgentCursor, b: &AgentCursor| match query.sort {
            AgentSort::LastSeen => (b.value, &b.agent).cmp(&(a.value, &a.agent)),
            AgentSort::Score | AgentSort::Evaluations | AgentSort::Name | AgentSort::Lowest => {
                (b.value, &a.agent).cmp(&(a.value, &b.agent))
            }
        };
        let wanted = agents.into_iter().filter(|agent| query.wants(agent));
        let mut page: Vec<(AgentCursor, AgentSummary)> = wanted
            .map(|agent| (agent.cursor(query.sort), agent))
            // The agent at which the last page ended may have moved since.
            .filter(|(place, _)| query.after.as_ref().is_none_or(|after| order(after, place).is_lt()))
            .collect();
        page.sort_by(|(a, _), (b, _)| order(a, b));
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        let next = page.last().filter(|_| more).map(|(place, _)| place.clone());
        Self { agents: page.into_iter().map(|(_, agent)| agent).collect(), next }
    }
}

/// Where a page of what has a time ended: the time and the place of its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCursor {
    /// When it was.
    pub at: Timestamp,
    /// Its place.
    pub seq: Seq,
}
