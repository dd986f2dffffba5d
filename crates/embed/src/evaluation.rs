//! One evaluation: the subject, the gates that the caller runs itself, and the verdict.

use core::fmt;
use core::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use renown_clock::MachineClock;
use renown_core::gates::{Context, CustomOutcome, GateClock, Started, Tmax, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, duration_of_ms};
use renown_shipping::EncodedVerdict;
use serde_json::value::RawValue;

use crate::Engine;

/// The agent whose output is judged, and its context. The evaluation starts when this is created.
#[derive(Debug)]
pub struct Subject {
    agent_id: AgentId,
    tool: Option<ToolName>,
    latency: Option<Duration>,
    tmax: Option<(u64, u64)>,
    clock: MachineClock,
}

/// The error for an invalid field of a subject.
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

/// A failure of this machine.
#[derive(Debug, PartialEq, Eq)]
pub enum MachineError {
    /// The clock is not set.
    Clock,
    /// The source of random numbers failed.
    Chance(String),
}

impl fmt::Display for MachineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => formatter
                .write_str("the system clock is not between 2000 and 2100, expected the current time"),
            Self::Chance(error) => write!(formatter, "no random numbers available: {error}"),
        }
    }
}

impl core::error::Error for MachineError {}

impl Subject {
    /// Checks the fields of the caller. `tmax_ms` and `started_at` count only together.
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
        let rejected =
            |ms: f64| FieldError::of("latency_ms")(format!("{ms}, expected milliseconds, 0 or more"));
        let latency = latency_ms.map(|ms| duration_of_ms(ms).ok_or_else(|| rejected(ms))).transpose()?;
        Ok(Self { agent_id, tool, latency, tmax: tmax_ms.zip(started_at), clock })
    }
}

/// The result of a custom gate: a word (`pass`, `fail`, `skip`, `late`; any other is an error), the reason, and the
/// seconds it took.
pub type CustomResult = (String, Option<String>, f64);

/// An evaluation whose built-in gates have run.
#[derive(Debug)]
pub struct Evaluation {
    subject: Subject,
    started: Started,
    now_ms: u64,
    timestamp: Timestamp,
}

impl Engine {
    /// Runs the built-in gates over an output and, if given, the input of the tool.
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
    /// Returns the names of the custom gates that still have to run.
    pub fn customs(&self) -> Vec<String> {
        self.started.customs().map(str::to_owned).collect()
    }

    /// Returns the time left for the custom gates. They may sleep or wait, so this is wall-clock time.
    pub fn left(&self) -> Duration {
        self.started.until().saturating_sub(self.subject.clock.wall())
    }

    /// Returns the verdict, including the results of the custom gates.
    pub fn finish(self, results: Vec<CustomResult>) -> Result<Judged, MachineError> {
        let outcomes = results.into_iter().map(outcome).collect();
        let verdict = self.started.finish(outcomes, self.subject.clock.wall());
        let random = getrandom::u64().map_err(|error| MachineError::Chance(error.to_string()))?;
        let Subject { agent_id, tool, latency, .. } = self.subject;
        let evaluation_id = EvaluationId::made(self.now_ms, random);
        // The API accepts up to one minute, so longer latencies are sent as one minute.
        let latency = latency.map(Micros::from);
        Ok(Judged { evaluation_id, agent_id, tool, latency, timestamp: self.timestamp, verdict })
    }
}

fn outcome((word, reason, seconds): CustomResult) -> (CustomOutcome, Duration) {
    let outcome = match word.as_str() {
        "pass" => CustomOutcome::Pass,
        "fail" => CustomOutcome::Fail(reason),
        "skip" => CustomOutcome::Skip(reason),
        "late" => CustomOutcome::TimedOut,
        _ => CustomOutcome::Broken,
    };
    (outcome, Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The id of this evaluation.
    pub evaluation_id: EvaluationId,
    /// The agent whose output it is.
    pub agent_id: AgentId,
    /// The tool that returned it.
    pub tool: Option<ToolName>,
    /// The latency of the agent, if given.
    pub latency: Option<Micros>,
    /// When it happened.
    pub timestamp: Timestamp,
    /// The results of the gates.
    pub verdict: Verdict,
}

impl Judged {
    /// Returns the event to send to a server: the verdict, and no part of the output or the input.
    pub fn event(&self) -> EncodedVerdict {
        EncodedVerdict::new(&renown_shipping::ShippedVerdict {
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

/// Returns the current time, in milliseconds after 1970 and as a timestamp.
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
    fn errors_name_the_invalid_field() {
        assert_eq!(subject("").unwrap_err().field, "agent_id");
        assert_eq!(Subject::new("a", Some(&"t".repeat(201)), None, None, None).unwrap_err().field, "tool");
        assert_eq!(Subject::new("a", None, Some(-1.0), None, None).unwrap_err().field, "latency_ms");
    }

    #[test]
    fn a_latency_above_one_minute_counts_as_one_minute() {
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
        for rejected in [-0.001, f64::NAN, f64::INFINITY] {
            assert_eq!(Subject::new("a", None, Some(rejected), None, None).unwrap_err().field, "latency_ms");
        }
    }

    #[test]
    fn custom_gates_keep_their_position_in_the_set() {
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
