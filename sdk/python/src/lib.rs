//! `renown._native`: the native module of the Python package.
//!
//! | module | is |
//! |---|---|
//! | `engine` | the gates of `renown-embed` |
//! | `json` | converts Python values to the JSON text that gates read |
//! | `result` | the result of an evaluation |
//! | `restored` | converts results to text and back, for pickle |
//! | `telemetry` | sends verdicts to a server |
//!
//! The Python side (`python/renown`) has what is easier to write in Python: signatures, custom gates, and everything
//! `async`.

mod engine;
mod json;
mod restored;
mod result;
mod telemetry;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(renown, SettingsError, PyValueError, "Raised for invalid gates or gate options.");

/// The native module of the package.
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
