//! The month as one timeline: everything that happens, in the order in which it does.

use std::fmt;

use renown_core::ids::{AgentId, IdError, OrgId, SessionId, Slug};
use renown_core::json::InputError;
use renown_core::time::Timestamp;
use renown_store::{NewEvaluation, NewReputationEvent, NewRun, NewSignals};
use renown_telemetry::facts::Batch;
use renown_telemetry::json::{self, LineError};
use renown_telemetry::prices::Prices;

use crate::agents::CHARACTERS;
use crate::calendar::Calendar;
use crate::evaluations::{self, Maker};
use crate::random::Random;
use crate::{reputation, runs, sessions};

/// The chance of the demo.
const SEED: u64 = 2026;

/// The agent that everybody may see, and under which name.
const PUBLIC: (&str, &str) = ("docs-writer", "docs-writer");

/// Something that happens.
#[derive(Debug)]
pub(crate) enum Happening {
    Evaluation(NewEvaluation),
    Records(Batch),
    Signals(SessionId, NewSignals),
    Run(NewRun),
    Reputation(NewReputationEvent),
}

/// A month of evidence.
#[derive(Debug)]
pub struct Month {
    pub(crate) org: OrgId,
    pub(crate) now_ms: i64,
    /// By their times.
    pub(crate) timeline: Vec<(i64, Happening)>,
    pub(crate) public: (AgentId, Slug),
}

impl Month {
    /// When the first of it happened.
    pub fn begin(&self) -> Timestamp {
        let first = self.timeline.first().map_or(self.now_ms, |(at, _)| *at);
        Timestamp::from_millis(first).unwrap_or(Timestamp::MIN)
    }
}

/// Plans the month of an organization that ends now. The prices are for telemetry that does not say what it cost.
pub fn plan(org: &OrgId, now: Timestamp, prices: &Prices) -> Result<Month, PlanError> {
    let calendar = Calendar::new(now);
    let mut random = Random::new(SEED);
    let mut timeline = Vec::new();
    for character in &CHARACTERS {
        let mut random = random.fork();
        let mut maker = Maker::new(character, random.fork())?;
        for planned in evaluations::month(character, calendar, &mut random) {
            timeline.push((planned.at_ms, Happening::Evaluation(maker.make(&planned)?)));
        }
    }
    for session in sessions::month(calendar, &mut random.fork())? {
        let mut batch = Batch::default();
        for (line, number) in session.lines.lines().zip(1..) {
            json::read(line.as_bytes(), number, prices, &mut batch)?;
        }
        timeline.push((session.end_ms, Happening::Records(batch)));
        let signals = session.signals.map(|signals| Happening::Signals(session.id, signals));
        timeline.extend(signals.map(|signals| (session.end_ms, signals)));
    }
    for run in runs::month(calendar, &mut random.fork())? {
        timeline.push((run.at_ms, Happening::Run(run.run)));
    }
    for (at, event) in reputation::events(calendar, org, &mut random.fork())? {
        timeline.push((at, Happening::Reputation(event)));
    }
    // Stable, so that what happens at the same time keeps its order.
    timeline.sort_by_key(|(at, _)| *at);
    let public = (PUBLIC.0.parse()?, PUBLIC.1.parse()?);
    Ok(Month { org: org.clone(), now_ms: calendar.now_ms(), timeline, public })
}

/// The tables of the demo are wrong: a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(String);

impl PlanError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the demo cannot be planned: {}", self.0)
    }
}

impl std::error::Error for PlanError {}

impl From<IdError> for PlanError {
    fn from(error: IdError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<InputError> for PlanError {
    fn from(error: InputError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<LineError> for PlanError {
    fn from(error: LineError) -> Self {
        Self::new(error.to_string())
    }
}
