//! The gates in process.
//!
//! Small outputs are judged with the interpreter's lock held, since giving it away and getting it back costs more than the
//! gates. From `DETACH_BYTES` on, other threads of Python run meanwhile.

mod settings;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use renown_core::gates::{self, Choice, Context, Outcome, Place, Settings, Started, Tmax, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use serde_json::value::RawValue;

use crate::SettingsError;
use crate::json;
use crate::result::Judged;

/// An output from so many bytes on is judged without the interpreter's lock.
const DETACH_BYTES: usize = 4096;

/// What a gate of Python said: what became of it, why, and how many seconds it took.
type Said = (String, Option<String>, f64);

/// A set of gates.
#[pyclass(frozen, module = "renown._native")]
pub(crate) struct Engine {
    engine: gates::Engine,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is copied out of it, so it is owned")]
impl Engine {
    /// The gates of a list by their names, with the tables that a file would have as JSON. Without names, those of
    /// `Engine.default()`. Those in `customs` are run by the caller.
    #[new]
    #[pyo3(signature = (settings, names, customs))]
    fn new(settings: &str, names: Option<Vec<String>>, customs: Vec<String>) -> PyResult<Self> {
        let settings: Settings =
            serde_json::from_str(settings).map_err(|error| SettingsError::new_err(error.to_string()))?;
        let choice = Choice { gates: names.as_deref(), customs: &customs, ..Choice::of(Place::Evaluate) };
        Self::build(settings, &choice, Path::new("")).map_err(SettingsError::new_err)
    }

    /// The gates that a file has for a place. Those of the caller that its set does not name stand after it.
    #[staticmethod]
    fn from_file(path: PathBuf, place: &str, customs: Vec<String>) -> PyResult<Self> {
        let place = match place {
            "evaluate" => Place::Evaluate,
            "cli" => Place::Cli,
            "proxy" => Place::Proxy,
            other => {
                let message = format!("place: {other:?}, expected \"evaluate\", \"cli\" or \"proxy\"");
                return Err(SettingsError::new_err(message));
            }
        };
        let shown = path.display();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| PyOSError::new_err(format!("{shown}: {error}")))?;
        let refused = |what: String| SettingsError::new_err(format!("{shown}: {what}"));
        let tables = settings::read(&text).map_err(refused)?;
        let dir = path.parent().unwrap_or(Path::new(""));
        let choice = Choice { customs: &customs, ..Choice::of(place) };
        Self::build(tables, &choice, dir).map_err(refused)
    }

    /// The names of its gates, in the order in which they run.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.engine.names().map(str::to_owned).collect()
    }

    /// The time that a whole evaluation may take.
    #[getter]
    fn budget_ms(&self) -> u64 {
        u64::try_from(self.engine.budget().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether gates after the first failing one are skipped.
    #[getter]
    fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }

    /// Judges one output. `run` gets the names of the caller's gates and the seconds that are left, and gives what they said.
    #[pyo3(signature = (agent_id, output, tool, input, latency_ms, tmax_ms, started_at, run))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each field of the context; the Python side names them"
    )]
    fn evaluate(
        &self,
        py: Python<'_>,
        agent_id: &str,
        output: &Bound<'_, PyAny>,
        tool: Option<&str>,
        input: Option<&Bound<'_, PyAny>>,
        latency_ms: Option<f64>,
        tmax_ms: Option<u64>,
        started_at: Option<u64>,
        run: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Judged> {
        let began = Instant::now();
        let agent_id: AgentId = agent_id.parse().map_err(|error| refused("agent_id", &error))?;
        let tool: Option<ToolName> =
            tool.map(str::parse).transpose().map_err(|error| refused("tool", &error))?;
        let latency =
            latency_ms.map(Micros::from_ms).transpose().map_err(|error| refused("latency_ms", &error))?;
        let text = json::text("output", output)?;
        let input = input.map(|input| json::text("input", input)).transpose()?;
        let (now_ms, timestamp) = now()?;
        let tmax = tmax_ms.zip(started_at);
        let context = Context {
            tool: tool.as_ref().map(ToolName::as_str),
            input: input.as_deref(),
            latency,
            tmax: tmax.map(|(tmax_ms, started_at_ms)| Tmax { tmax_ms, started_at_ms, now_ms }),
            ..Context::of(&text)
        };
        let mut verdict = self.judge(py, &context, began, run)?;
        let random =
            getrandom::u64().map_err(|error| PyRuntimeError::new_err(format!("no chance: {error}")))?;
        let evaluation_id = EvaluationId::made(now_ms, random);
        let output = match verdict.redacted.take() {
            Some(redacted) => py.import("json")?.call_method1("loads", (redacted,))?,
            None => output.clone(),
        };
        let output = output.unbind();
        Ok(Judged { evaluation_id, agent_id, tool, latency, timestamp, verdict, output })
    }
}

impl Engine {
    fn build(mut tables: Settings, choice: &Choice<'_>, dir: &Path) -> Result<Self, String> {
        settings::make_absolute(&mut tables, dir)?;
        let mut read_schema =
            |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"));
        match gates::Engine::new(&tables, choice, &mut read_schema) {
            Ok(engine) => Ok(Self { engine }),
            // The core calls a list of the caller by the name that it has on the command line.
            Err(error) => Err(error.to_string().replacen("--gates", "gates", 1)),
        }
    }

    fn judge(
        &self,
        py: Python<'_>,
        context: &Context<'_>,
        began: Instant,
        run: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Verdict> {
        let clock = || began.elapsed();
        let size = |value: &RawValue| value.get().len();
        let started = if size(context.output) + context.input.map_or(0, size) < DETACH_BYTES {
            self.engine.start(context, &clock)
        } else {
            py.detach(|| self.engine.start(context, &clock))
        };
        let names: Vec<String> = started.customs().map(str::to_owned).collect();
        let said = match run {
            Some(run) if !names.is_empty() => said(run, names, &started, clock())?,
            _ => Vec::new(),
        };
        Ok(started.finish(said, clock()))
    }
}

/// Lets the caller run its gates.
fn said(
    run: &Bound<'_, PyAny>,
    names: Vec<String>,
    started: &Started<'_>,
    now: Duration,
) -> PyResult<Vec<(Outcome, Duration)>> {
    let left = started.until().saturating_sub(now).as_secs_f64();
    let said: Vec<Said> = run.call1((names, left))?.extract()?;
    let outcome = |(word, reason, seconds): Said| {
        let outcome = match word.as_str() {
            "pass" => Outcome::Pass,
            "fail" => Outcome::Fail(reason),
            "skip" => Outcome::Skip(reason),
            "late" => Outcome::TimedOut,
            _ => Outcome::Broken,
        };
        (outcome, Duration::try_from_secs_f64(seconds).unwrap_or_default())
    };
    Ok(said.into_iter().map(outcome).collect())
}

fn refused(name: &str, error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{name}: {error}"))
}

/// The time of day, as milliseconds after 1970 and as it is written.
fn now() -> PyResult<(u64, Timestamp)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let timestamp = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millis(millis).ok());
    let timestamp = timestamp
        .ok_or_else(|| PyRuntimeError::new_err("the clock of this machine is not in our century"))?;
    Ok((millis, timestamp))
}
