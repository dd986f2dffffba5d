//! The month as one timeline: all events in order of time.

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

/// Seed of the demo.
const SEED: u64 = 2026;

/// The public agent, and its slug.
const PUBLIC: (&str, &str) = ("docs-writer", "docs-writer");

/// An event of the timeline.
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
    /// Events, sorted by time.
    pub(crate) timeline: Vec<(i64, Happening)>,
    pub(crate) public: (AgentId, Slug),
}

impl Month {
    /// Returns the time of the first event.
    pub fn begin(&self) -> Timestamp {
        let first = self.timeline.first().map_or(self.now_ms, |(at, _)| *at);
        Timestamp::from_millis(first).unwrap_or(Timestamp::MIN)
    }
}

/// Plans the month of an organization that ends at `now`. The prices are used for telemetry that does not report costs.
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
    // The sort is stable, so events at the same time keep their order.
    timeline.sort_by_key(|(at, _)| *at);
    let public = (PUBLIC.0.parse()?, PUBLIC.1.parse()?);
    Ok(Month { org: org.clone(), now_ms: calendar.now_ms(), timeline, public })
}

/// An error in the tables of the demo, which is a bug.
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
