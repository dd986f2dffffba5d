//! The evaluations of each agent.

use std::sync::Arc;

use renown_core::gates::GateResult;
use renown_core::ids::{AgentId, EvaluationId};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::{NewEvaluation, NewEvaluationId};

use crate::agents::{Character, Failure, Story, Volume};
use crate::calendar::{Calendar, HOUR_MS, MINUTE_MS, MONTH_DAYS, time};
use crate::plan::PlanError;
use crate::random::Random;

/// Number of evaluations before the month, so that the month begins with full windows.
const BEFORE: u64 = 500;

/// Number of days of these evaluations.
const BEFORE_DAYS: u32 = 14;

/// Minimum age of a regular evaluation.
const LATEST_MS: i64 = MINUTE_MS;

/// A planned evaluation.
#[derive(Clone, Debug)]
pub(crate) struct PlannedEvaluation {
    pub(crate) at_ms: i64,
    pub(crate) tool: &'static str,
    pub(crate) failure: Option<Failure>,
}

/// Plans all evaluations of an agent, the oldest first.
pub(crate) fn month(
    character: &Character,
    calendar: Calendar,
    random: &mut Random,
) -> Vec<PlannedEvaluation> {
    let times = times(character, calendar, random);
    let mut planned = judged(character, calendar, &times, random);
    if let Some(story) = character.story {
        planned.extend(story_evaluations(character, story, calendar, random));
        planned.sort_by_key(|planned| planned.at_ms);
    }
    planned
}

/// Draws the times of the regular evaluations, except those that a story replaces.
fn times(character: &Character, calendar: Calendar, random: &mut Random) -> Vec<i64> {
    let latest = calendar.now_ms() - LATEST_MS;
    let mut times = Vec::new();
    match character.volume {
        Volume::Daily { working_day, weekend_percent } => {
            for _ in 0..BEFORE {
                let days_back = MONTH_DAYS + days(random.between(0, u64::from(BEFORE_DAYS)));
                times.push(calendar.draw_ms(random, days_back, character.hours));
            }
            for days_back in 0..MONTH_DAYS {
                let percent = if Calendar::is_weekend(days_back) { weekend_percent } else { 100 };
                let count = working_day * percent * random.between(85, 115) / 10_000;
                times.extend((0..count).map(|_| calendar.draw_ms(random, days_back, character.hours)));
            }
        }
        Volume::Exactly { evaluations, days: most } => {
            while times.len() < evaluations {
                let days_back = days(random.between(0, u64::from(most) - 1));
                let at = calendar.draw_ms(random, days_back, character.hours);
                if at <= latest && !Calendar::is_weekend(days_back) {
                    times.push(at);
                }
            }
        }
    }
    let replaced = replaced(character, calendar);
    times.retain(|at| *at <= latest && !replaced.contains(at));
    times.sort_unstable();
    times
}

fn days(drawn: u64) -> u32 {
    u32::try_from(drawn).unwrap_or_default()
}

/// Returns the time range in which only the story happens.
fn replaced(character: &Character, calendar: Calendar) -> std::ops::Range<i64> {
    match character.story {
        None => 0..0,
        Some(Story::Today { .. }) => calendar.story_ms().0..i64::MAX,
        Some(Story::Incident { days_back, .. }) => incident_ms(calendar, days_back),
    }
}

/// Returns the time range of an incident, from 9:21 to 14:55.
fn incident_ms(calendar: Calendar, days_back: u32) -> std::ops::Range<i64> {
    let midnight = calendar.midnight_ms(days_back);
    midnight + 9 * HOUR_MS + 21 * MINUTE_MS..midnight + 14 * HOUR_MS + 55 * MINUTE_MS
}

/// Decides which of the regular evaluations fail.
fn judged(
    character: &Character,
    calendar: Calendar,
    times: &[i64],
    random: &mut Random,
) -> Vec<PlannedEvaluation> {
    let calm_from = times.len().saturating_sub(character.calm);
    let bad: Vec<usize> =
        character.bad_days.iter().filter_map(|back| bad_index(calendar, times, *back)).collect();
    let judge = |(index, at): (usize, &i64)| {
        let fails = random.chance(character.fail_per_mille) && index < calm_from || bad.contains(&index);
        let failure = fails.then(|| random.weighted_of(character.failures)).flatten();
        let tool = random.weighted(character.tools);
        PlannedEvaluation {
            at_ms: *at,
            tool: failure.and_then(|failure| failure.tool).unwrap_or(tool),
            failure,
        }
    };
    times.iter().enumerate().map(judge).collect()
}

/// Returns the index of the second to last evaluation of a day.
fn bad_index(calendar: Calendar, times: &[i64], days_back: u32) -> Option<usize> {
    let (from, to) = (calendar.midnight_ms(days_back), calendar.midnight_ms(days_back) + 24 * HOUR_MS);
    let (first, next) = (times.partition_point(|at| *at < from), times.partition_point(|at| *at < to));
    next.checked_sub(2).filter(|index| *index >= first)
}

/// Plans the evaluations of a story.
fn story_evaluations(
    character: &Character,
    story: Story,
    calendar: Calendar,
    random: &mut Random,
) -> Vec<PlannedEvaluation> {
    match story {
        Story::Today { outputs, failure } => {
            let step = |(step, output): (usize, char)| {
                let failure = (output == 'F').then_some(failure);
                let tool = failure.and_then(|failure| failure.tool);
                PlannedEvaluation {
                    at_ms: calendar.story_step_ms(step, outputs.len()),
                    tool: tool.unwrap_or_else(|| random.weighted(character.tools)),
                    failure,
                }
            };
            outputs.chars().enumerate().map(step).collect()
        }
        Story::Incident { days_back, outputs, passes, failure } => {
            let lasts = incident_ms(calendar, days_back);
            let (count, every) = (i64::try_from(outputs).unwrap_or(1).max(1), outputs / passes.max(1));
            let step = |step: usize| PlannedEvaluation {
                at_ms: lasts.start
                    + (lasts.end - lasts.start) * i64::try_from(step).unwrap_or_default() / count,
                tool: failure.tool.unwrap_or_default(),
                failure: (step % every != every / 2 || step / every >= passes).then_some(failure),
            };
            (0..outputs).map(step).collect()
        }
    }
}

/// Converts planned evaluations of one agent to the input of a store.
#[derive(Debug)]
pub(crate) struct Maker {
    agent: AgentId,
    names: Vec<Arc<str>>,
    gate_us: u64,
    agent_ms: Option<u64>,
    random: Random,
}

impl Maker {
    pub(crate) fn new(character: &Character, random: Random) -> Result<Self, PlanError> {
        Ok(Self {
            agent: character.id.parse()?,
            names: character.gates.iter().map(|name| Arc::from(*name)).collect(),
            gate_us: character.gate_us,
            agent_ms: character.agent_ms,
            random,
        })
    }

    /// Creates an evaluation at its planned time.
    pub(crate) fn make(&mut self, planned: &PlannedEvaluation) -> Result<NewEvaluation, PlanError> {
        let id = EvaluationId::made(u64::try_from(planned.at_ms).unwrap_or_default(), self.random.draw());
        let made = self.judge(planned.tool, planned.failure, NewEvaluationId::Generated(id))?;
        Ok(NewEvaluation { timestamp: Some(time(planned.at_ms)), ..made })
    }

    /// Creates an evaluation without a time. Its time is the time of acceptance.
    pub(crate) fn judge(
        &mut self,
        tool: &str,
        failure: Option<Failure>,
        id: NewEvaluationId,
    ) -> Result<NewEvaluation, PlanError> {
        let spread = |random: &mut Random, average: u64| {
            let tail = if random.chance(40) { 3 } else { 1 };
            average * random.between(35, 155) * tail / 100
        };
        let gate_latency = micros(spread(&mut self.random, self.gate_us));
        let slow = failure.is_some_and(|failure| failure.gate == "latency");
        let agent_latency = self.agent_ms.map(|average| match spread(&mut self.random, average) {
            _ if slow => micros(9_143_000),
            ms => micros(ms.min(7900) * 1000),
        });
        Ok(NewEvaluation {
            agent: self.agent.clone(),
            id,
            passed: failure.is_none(),
            gate_latency,
            agent_latency,
            tool: Some(tool.parse()?),
            gates: self.results(gate_latency, failure).into(),
            timestamp: None::<Timestamp>,
        })
    }

    /// Returns the results of the gates as JSON. Each gate takes an equal part of the total time.
    fn results(&self, total: Micros, failure: Option<Failure>) -> String {
        let count = u32::try_from(self.names.len()).unwrap_or(1).max(1);
        let result = |name: &Arc<str>| {
            let failed = failure.filter(|failure| failure.gate == &**name);
            GateResult {
                name: Arc::clone(name),
                passed: failed.is_none(),
                latency: Micros::from_us(total.us() / count).unwrap_or_default(),
                reason: failed.map(|failure| failure.reason.to_owned()),
                skipped: false,
            }
        };
        serde_json::to_string(&self.names.iter().map(result).collect::<Vec<_>>()).unwrap_or_default()
    }
}

fn micros(us: u64) -> Micros {
    u32::try_from(us).ok().and_then(Micros::from_us).unwrap_or(Micros::MAX)
}
