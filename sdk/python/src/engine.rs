//! The gates in process.
//!
//! Small outputs are judged with the interpreter's lock held, since giving it away and getting it back costs more than the
//! gates. From `DETACH_BYTES` on, other threads of Python run meanwhile.

use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use renown_embed::{self as embed, BuildError, Evaluation, FieldError, MachineError, Said, Subject};
use serde_json::value::RawValue;

use crate::SettingsError;
use crate::json;
use crate::result::Judged;

/// An output from so many bytes on is judged without the interpreter's lock.
const DETACH_BYTES: usize = 4096;

/// A set of gates.
#[pyclass(frozen, module = "renown._native")]
pub(crate) struct Engine {
    engine: embed::Engine,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is copied out of it, so it is owned")]
impl Engine {
    /// The gates of a list by their names, with the tables that a file would have as JSON. Without names, those of
    /// `Engine.default()`. Those in `customs` are run by the caller.
    #[new]
    #[pyo3(signature = (settings, names, customs))]
    fn new(settings: &str, names: Option<Vec<String>>, customs: Vec<String>) -> PyResult<Self> {
        let engine = embed::Engine::of(settings, names.as_deref(), &customs).map_err(not_built)?;
        Ok(Self { engine })
    }

    /// The gates that a file has for a place. Those of the caller that its set does not name stand after it.
    #[staticmethod]
    fn from_file(path: PathBuf, place: &str, customs: Vec<String>) -> PyResult<Self> {
        let engine = embed::Engine::from_file(&path, place, &customs).map_err(not_built)?;
        Ok(Self { engine })
    }

    /// Raises what `evaluate` would raise for these.
    #[staticmethod]
    #[pyo3(signature = (agent_id, tool))]
    fn check(agent_id: &str, tool: Option<&str>) -> PyResult<()> {
        Subject::new(agent_id, tool, None, None, None).map(|_| ()).map_err(not_allowed)
    }

    /// The names of its gates, in the order in which they run.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.engine.names()
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
        let subject = Subject::new(agent_id, tool, latency_ms, tmax_ms, started_at).map_err(not_allowed)?;
        let text = json::text("output", output)?;
        let input = input.map(|input| json::text("input", input)).transpose()?;
        let evaluation = self.start(py, subject, &text, input.as_deref()).map_err(machine)?;
        let names = evaluation.customs();
        let said: Vec<Said> = match run {
            Some(run) if !names.is_empty() => {
                run.call1((names, evaluation.left().as_secs_f64()))?.extract()?
            }
            _ => Vec::new(),
        };
        let mut judged = evaluation.finish(said).map_err(machine)?;
        let output = match judged.verdict.redacted.take() {
            Some(redacted) => py.import("json")?.call_method1("loads", (redacted,))?,
            None => output.clone(),
        };
        Ok(Judged { judged, output: output.unbind() })
    }
}

impl Engine {
    fn start(
        &self,
        py: Python<'_>,
        subject: Subject,
        output: &RawValue,
        input: Option<&RawValue>,
    ) -> Result<Evaluation, MachineError> {
        let size = |value: &RawValue| value.get().len();
        if size(output) + input.map_or(0, size) < DETACH_BYTES {
            self.engine.start(subject, output, input)
        } else {
            py.detach(|| self.engine.start(subject, output, input))
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is the one that `map_err` wants")]
fn not_built(error: BuildError) -> PyErr {
    match error {
        BuildError::File(_) => PyOSError::new_err(error.to_string()),
        BuildError::Settings(_) => SettingsError::new_err(error.to_string()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is the one that `map_err` wants")]
fn not_allowed(error: FieldError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is the one that `map_err` wants")]
fn machine(error: MachineError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
