//! One evaluation: what is judged, the gates that the caller runs itself, and what was found.

use core::fmt;
use core::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use renown_clock::MachineClock;
use renown_core::gates::{Context, GateClock, Outcome, Started, Tmax, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, duration_of_ms};
use renown_shipping::Event;
use serde_json::value::RawValue;

use crate::Engine;

/// Whose output is judged, and what is known about it. The evaluation begins when this is made.
#[derive(Debug)]
pub struct Subject {
    agent_id: AgentId,
    tool: Option<ToolName>,
    latency: Option<Duration>,
    tmax: Option<(u64, u64)>,
    clock: MachineClock,
}

/// A field of a subject that is not allowed.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Its name, as the API spells it.
    pub field: &'static str,
    /// What was found and what is allowed.
    pub reason: String,
}

impl FieldError {
    fn of<E: fmt::Display>(field: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self { field, reason: error.to_string() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.reason)
    }
}

impl core::error::Error for FieldError {}

/// Something that every machine has, and this one has not.
#[derive(Debug, PartialEq, Eq)]
pub enum MachineError {
    /// The clock is not set.
    Clock,
    /// There is no source of random numbers.
    Chance(String),
}

impl fmt::Display for MachineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => formatter.write_str("the clock of this machine is not in our century"),
            Self::Chance(error) => write!(formatter, "no chance: {error}"),
        }
    }
}

impl core::error::Error for MachineError {}

impl Subject {
    /// Checks what the caller said. `tmax_ms` and `started_at` count only together.
    pub fn new(
        agent_id: &str,
        tool: Option<&str>,
        latency_ms: Option<f64>,
        tmax_ms: Option<u64>,
        started_at: Option<u64>,
    ) -> Result<Self, FieldError> {
        let clock = MachineClock::start();
        let agent_id = AgentId::from_str(agent_id).map_err(FieldError::of("agent_id"))?;
        let tool = tool.map(ToolName::from_str).transpose().map_err(FieldError::of("tool"))?;
        let refused =
            |ms: f64| FieldError::of("latency_ms")(format!("{ms}, expected milliseconds, 0 or more"));
        let latency = latency_ms.map(|ms| duration_of_ms(ms).ok_or_else(|| refused(ms))).transpose()?;
        Ok(Self { agent_id, tool, latency, tmax: tmax_ms.zip(started_at), clock })
    }
}

/// What a gate of the caller said, in a word (`pass`, `fail`, `skip`, `late`; any other is nonsense), why, and how many
/// seconds it took.
pub type Said = (String, Option<String>, f64);

/// An evaluation whose built-in gates are done.
#[derive(Debug)]
pub struct Evaluation {
    subject: Subject,
    started: Started,
    now_ms: u64,
    timestamp: Timestamp,
}

impl Engine {
    /// Runs the built-in gates over an output and perhaps what the tool was given.
    pub fn start(
        &self,
        subject: Subject,
        output: &RawValue,
        input: Option<&RawValue>,
    ) -> Result<Evaluation, MachineError> {
        let (now_ms, timestamp) = now()?;
        let context = Context {
            tool: subject.tool.as_ref().map(ToolName::as_str),
            input,
            latency: subject.latency,
            tmax: subject.tmax.map(|(tmax_ms, started_at_ms)| Tmax { tmax_ms, started_at_ms, now_ms }),
            ..Context::of(output)
        };
        let started = self.engine.start(&context, &subject.clock);
        Ok(Evaluation { subject, started, now_ms, timestamp })
    }
}

impl Evaluation {
    /// The names of the caller's gates that are left to run.
    pub fn customs(&self) -> Vec<String> {
        self.started.customs().map(str::to_owned).collect()
    }

    /// How long they may take. They may sleep or wait, so this is by the wall clock.
    pub fn left(&self) -> Duration {
        self.started.until().saturating_sub(self.subject.clock.wall())
    }

    /// What was found, with what the caller's gates said.
    pub fn finish(self, said: Vec<Said>) -> Result<Judged, MachineError> {
        let outcomes = said.into_iter().map(outcome).collect();
        let verdict = self.started.finish(outcomes, self.subject.clock.wall());
        let random = getrandom::u64().map_err(|error| MachineError::Chance(error.to_string()))?;
        let Subject { agent_id, tool, latency, .. } = self.subject;
        let evaluation_id = EvaluationId::made(self.now_ms, random);
        // The API counts up to a minute, so what took longer is sent as a minute.
        let latency = latency.map(Micros::from);
        Ok(Judged { evaluation_id, agent_id, tool, latency, timestamp: self.timestamp, verdict })
    }
}

fn outcome((word, reason, seconds): Said) -> (Outcome, Duration) {
    let outcome = match word.as_str() {
        "pass" => Outcome::Pass,
        "fail" => Outcome::Fail(reason),
        "skip" => Outcome::Skip(reason),
        "late" => Outcome::TimedOut,
        _ => Outcome::Broken,
    };
    (outcome, Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// What an evaluation found.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The id of this evaluation.
    pub evaluation_id: EvaluationId,
    /// Whose output it is.
    pub agent_id: AgentId,
    /// The tool that made it.
    pub tool: Option<ToolName>,
    /// How long the agent took, if that was said.
    pub latency: Option<Micros>,
    /// When it happened.
    pub timestamp: Timestamp,
    /// The results of the gates.
    pub verdict: Verdict,
}

impl Judged {
    /// As it is sent to a server: the verdict, and no part of the output or the input.
    pub fn event(&self) -> Event {
        Event::new(&renown_shipping::Verdict {
            evaluation_id: &self.evaluation_id,
            agent_id: &self.agent_id,
            tool: self.tool.as_ref(),
            passed: self.verdict.passed,
            gates: &self.verdict.gates,
            total: self.verdict.total,
            latency: self.latency,
            timestamp: self.timestamp,
        })
    }
}

/// The time of day, as milliseconds after 1970 and as it is written.
fn now() -> Result<(u64, Timestamp), MachineError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let timestamp = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millis(millis).ok());
    Ok((millis, timestamp.ok_or(MachineError::Clock)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(agent_id: &str) -> Result<Subject, FieldError> {
        Subject::new(agent_id, Some("t"), Some(5.0), None, None)
    }

    #[test]
    fn a_field_that_is_refused_is_named() {
        assert_eq!(subject("").unwrap_err().field, "agent_id");
        assert_eq!(Subject::new("a", Some(&"t".repeat(201)), None, None, None).unwrap_err().field, "tool");
        assert_eq!(Subject::new("a", None, Some(-1.0), None, None).unwrap_err().field, "latency_ms");
    }

    #[test]
    fn an_agent_may_take_longer_than_is_counted() {
        let engine =
            Engine::of(r#"{"gate":{"latency":{"max_ms":61000}}}"#, Some(&["latency".to_owned()]), &[])
                .unwrap();
        let output = RawValue::from_string("1".to_owned()).unwrap();
        for (ms, passes, counted) in
            [(59_999.0, true, 59_999_000), (61_000.0, true, 60_000_000), (130_000.0, false, 60_000_000)]
        {
            let subject = Subject::new("a", None, Some(ms), None, None).unwrap();
            let judged = engine.start(subject, &output, None).unwrap().finish(Vec::new()).unwrap();
            assert_eq!(
                (judged.verdict.passed, judged.latency.map(Micros::us)),
                (passes, Some(counted)),
                "{ms}"
            );
        }
        for refused in [-0.001, f64::NAN, f64::INFINITY] {
            assert_eq!(Subject::new("a", None, Some(refused), None, None).unwrap_err().field, "latency_ms");
        }
    }

    #[test]
    fn the_gates_of_the_caller_stand_where_the_set_has_them() {
        let names = ["mine".to_owned(), "pii".to_owned(), "late".to_owned()];
        let customs = ["mine".to_owned(), "late".to_owned()];
        let engine = Engine::of("{}", Some(&names), &customs).unwrap();
        let output = RawValue::from_string("\"bob@corp.io\"".to_owned()).unwrap();
        let evaluation = engine.start(subject("a").unwrap(), &output, None).unwrap();
        assert_eq!(evaluation.customs(), customs);
        assert!(evaluation.left() <= engine.budget());
        let judged = evaluation.finish(vec![("nonsense".to_owned(), None, 0.001)]).unwrap();
        let reasons: Vec<_> = judged.verdict.gates.iter().filter_map(|gate| gate.reason.as_deref()).collect();
        assert_eq!(reasons, ["renown:error", "email address detected in output", "renown:timeout"]);
        let event = judged.event();
        assert!(event.json().contains("\"latency_ms\":5") && !event.json().contains("bob@"), "{event:?}");
    }
}
