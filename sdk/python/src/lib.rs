//! `renown._native`: what the Python package does in Rust.
//!
//! | module | is |
//! |---|---|
//! | `engine` | the gates, of `renown-embed` |
//! | `json` | Python values as the JSON text that gates see |
//! | `result` | what an evaluation found |
//! | `restored` | results as text and back, for pickle |
//! | `telemetry` | verdicts on their way to a server |
//!
//! The Python side (`python/renown`) holds what is better said in Python: signatures, gates that are functions of Python, and
//! everything `async`.

mod engine;
mod json;
mod restored;
mod result;
mod telemetry;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(renown, SettingsError, PyValueError, "Gates or their options that are not allowed.");

/// What the package does in Rust.
#[pymodule]
#[pyo3(name = "_native")]
mod renown_native {
    #[pymodule_export]
    use super::SettingsError;
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::result::{GateResult, Judged};
    #[pymodule_export]
    use super::telemetry::Telemetry;
}
