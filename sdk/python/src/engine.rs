//! Runs the gates in the Python process.
//!
//! Small outputs are judged while holding the interpreter's lock, because releasing and retaking it costs more than the
//! gates. For outputs of `DETACH_BYTES` or more the lock is released, so that other Python threads can run.

use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use renown_embed::{self as embed, BuildError, CustomResult, Evaluation, FieldError, MachineError, Subject};
use serde_json::value::RawValue;

use crate::SettingsError;
use crate::json;
use crate::result::Judged;

/// Size of output and input, in bytes, from which they are judged without the interpreter's lock.
const DETACH_BYTES: usize = 4096;

/// A set of gates.
#[pyclass(frozen, module = "renown._native")]
pub(crate) struct Engine {
    engine: embed::Engine,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are copied, so they are owned")]
impl Engine {
    /// Builds the gates with these names. `settings` holds the tables of a settings file as JSON. Without names, builds
    /// the gates of `Engine.default()`. The caller runs the gates in `customs`.
    #[new]
    #[pyo3(signature = (settings, names, customs))]
    fn new(settings: &str, names: Option<Vec<String>>, customs: Vec<String>) -> PyResult<Self> {
        let engine = embed::Engine::of(settings, names.as_deref(), &customs).map_err(not_built)?;
        Ok(Self { engine })
    }

    /// Builds the gates that a settings file defines for a place. Custom gates that its set does not name are added at
    /// the end.
    #[staticmethod]
    fn from_file(path: PathBuf, place: &str, customs: Vec<String>) -> PyResult<Self> {
        let engine = embed::Engine::from_file(&path, place, &customs).map_err(not_built)?;
        Ok(Self { engine })
    }

    /// Raises the error that `evaluate` would raise for these arguments.
    #[staticmethod]
    #[pyo3(signature = (agent_id, tool))]
    fn check(agent_id: &str, tool: Option<&str>) -> PyResult<()> {
        Subject::new(agent_id, tool, None, None, None).map(|_| ()).map_err(invalid)
    }

    /// Names of the gates, in the configured order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.engine.names()
    }

    /// Time budget of an evaluation, in milliseconds.
    #[getter]
    fn budget_ms(&self) -> u64 {
        u64::try_from(self.engine.budget().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether gates after the first failing one are skipped.
    #[getter]
    fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }

    /// Judges one output. `run_customs` gets the names of the custom gates and the seconds left, and returns one
    /// outcome per gate.
    #[pyo3(signature = (agent_id, output, tool, input, latency_ms, tmax_ms, started_at, run_customs))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one argument per field of the context; the Python side uses keywords"
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
        run_customs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Judged> {
        let subject = Subject::new(agent_id, tool, latency_ms, tmax_ms, started_at).map_err(invalid)?;
        let text = json::text("output", output)?;
        let input = input.map(|input| json::text("input", input)).transpose()?;
        let evaluation = self.start(py, subject, &text, input.as_deref()).map_err(machine_failed)?;
        let names = evaluation.customs();
        let outcomes: Vec<CustomResult> = match run_customs {
            Some(run) if !names.is_empty() => {
                run.call1((names, evaluation.left().as_secs_f64()))?.extract()?
            }
            _ => Vec::new(),
        };
        let mut judged = evaluation.finish(outcomes).map_err(machine_failed)?;
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

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn not_built(error: BuildError) -> PyErr {
    match error {
        BuildError::File(_) => PyOSError::new_err(error.to_string()),
        BuildError::Settings(_) => SettingsError::new_err(error.to_string()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn invalid(error: FieldError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn machine_failed(error: MachineError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
