//! The Python classes for the results of an evaluation.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use renown_core::gates::GateResult as Found;
use renown_core::ids::ToolName;
use renown_core::units::Micros;
use renown_embed as embed;

use crate::restored;

/// The result of one gate.
#[pyclass(frozen, eq, module = "renown", get_all)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GateResult {
    /// Name of the gate in the configuration.
    pub(crate) name: String,
    /// Whether the gate passed. A skipped gate counts as passed.
    pub(crate) passed: bool,
    /// Time that the gate took, in milliseconds.
    pub(crate) latency_ms: f64,
    /// Why the gate failed or was skipped.
    pub(crate) reason: Option<String>,
    /// Whether the gate was skipped.
    pub(crate) skipped: bool,
}

impl From<&Found> for GateResult {
    fn from(found: &Found) -> Self {
        Self {
            name: (*found.name).to_owned(),
            passed: found.passed,
            latency_ms: ms(found.latency),
            reason: found.reason.clone(),
            skipped: found.skipped,
        }
    }
}

#[pymethods]
impl GateResult {
    /// Returns the result in the format of the API. Absent values are left out.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", &self.name)?;
        dict.set_item("passed", self.passed)?;
        dict.set_item("latency_ms", self.latency_ms)?;
        if let Some(reason) = &self.reason {
            dict.set_item("reason", reason)?;
        }
        if self.skipped {
            dict.set_item("skipped", true)?;
        }
        Ok(dict)
    }

    /// Supports pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let gate = restored::Gate::from(self);
        Ok((py.import("renown._engine")?.getattr("_restored_gate")?, (restored::text(&gate)?,)))
    }

    #[staticmethod]
    fn _restored(text: &str) -> PyResult<Self> {
        restored::gate(text)
    }

    fn __repr__(&self) -> String {
        let word = match (self.skipped, self.passed) {
            (true, _) => "skipped",
            (false, true) => "passed",
            (false, false) => "failed",
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("<GateResult {} {word}{reason}>", self.name)
    }
}

/// The result of an evaluation. It is true if the output passed.
#[pyclass(frozen, module = "renown", name = "Result")]
pub(crate) struct Judged {
    pub(crate) judged: embed::Judged,
    /// The output, redacted if a gate redacted it. It is never sent.
    pub(crate) output: Py<PyAny>,
}

#[pymethods]
impl Judged {
    /// Id of this evaluation.
    #[getter]
    fn evaluation_id(&self) -> &str {
        self.judged.evaluation_id.as_str()
    }

    /// Agent that returned the output.
    #[getter]
    fn agent_id(&self) -> &str {
        self.judged.agent_id.as_str()
    }

    /// Tool that returned the output.
    #[getter]
    fn tool(&self) -> Option<&str> {
        self.judged.tool.as_ref().map(ToolName::as_str)
    }

    /// Latency of the agent in milliseconds, at most 60 000. `None` if it was not given.
    #[getter]
    fn latency_ms(&self) -> Option<f64> {
        self.judged.latency.map(ms)
    }

    /// Whether every gate passed or was skipped.
    #[getter]
    fn passed(&self) -> bool {
        self.judged.verdict.passed
    }

    /// One result per gate, in the configured order.
    #[getter]
    fn gates(&self) -> Vec<GateResult> {
        self.judged.verdict.gates.iter().map(Into::into).collect()
    }

    /// Results of the gates that failed.
    #[getter]
    fn failed(&self) -> Vec<GateResult> {
        self.judged.verdict.gates.iter().filter(|gate| !gate.passed).map(Into::into).collect()
    }

    /// Time that the whole evaluation took, in milliseconds.
    #[getter]
    fn total_latency_ms(&self) -> f64 {
        ms(self.judged.verdict.total)
    }

    /// Time of the evaluation, RFC 3339 in UTC.
    #[getter]
    fn timestamp(&self) -> String {
        self.judged.timestamp.to_string()
    }

    /// The output, redacted if a gate redacted it. Otherwise it is the same object that was evaluated.
    #[getter]
    fn output(&self, py: Python<'_>) -> Py<PyAny> {
        self.output.clone_ref(py)
    }

    /// Returns the verdict as an event for `POST /v1/ingest`. It contains no part of the output or the input.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("evaluation_id", self.evaluation_id())?;
        dict.set_item("agent_id", self.agent_id())?;
        if let Some(tool) = self.tool() {
            dict.set_item("tool", tool)?;
        }
        dict.set_item("passed", self.passed())?;
        let gates = PyList::empty(py);
        for gate in self.gates() {
            gates.append(gate.to_dict(py)?)?;
        }
        dict.set_item("gates", gates)?;
        dict.set_item("total_latency_ms", self.total_latency_ms())?;
        if let Some(latency) = self.latency_ms() {
            dict.set_item("latency_ms", latency)?;
        }
        dict.set_item("timestamp", self.timestamp())?;
        Ok(dict)
    }

    /// Supports pickle. The output is left out, because it can be an object that pickle does not support.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let text = self.judged.event().json().to_owned();
        Ok((py.import("renown._engine")?.getattr("_restored")?, (text,)))
    }

    #[staticmethod]
    fn _restored(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { judged: restored::judged(text)?, output: py.None() })
    }

    fn __bool__(&self) -> bool {
        self.judged.verdict.passed
    }

    fn __repr__(&self) -> String {
        let failed: Vec<&str> =
            self.judged.verdict.gates.iter().filter(|gate| !gate.passed).map(|gate| &*gate.name).collect();
        let verdict =
            if failed.is_empty() { "passed".to_owned() } else { format!("failed {}", failed.join(", ")) };
        format!("<Result {} {verdict}>", self.judged.evaluation_id)
    }
}

fn ms(latency: Micros) -> f64 {
    f64::from(latency.us()) / 1000.0
}
