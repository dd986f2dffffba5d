//! The Python class that sends verdicts to a server, on top of `renown-shipping`.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use renown_embed as embed;
use renown_shipping::{Destination, Notice, ShippingSettings, Telemetry as Shipping};

use crate::result::Judged;

/// Sends verdicts in the background.
///
/// The inner value is never dropped. A drop shuts the sender down, which hangs in a forked child: its thread does not
/// exist there, and its lock may be held forever. The Python side calls `shutdown` in processes that have the thread.
#[pyclass(frozen, module = "renown._native")]
pub(crate) struct Telemetry(ManuallyDrop<Shipping>);

#[pymethods]
impl Telemetry {
    #[new]
    #[pyo3(signature = (server, key, interval_s, batch, buffer, spool, spool_first))]
    fn new(
        server: String,
        key: String,
        interval_s: f64,
        batch: usize,
        buffer: usize,
        spool: Option<PathBuf>,
        spool_first: bool,
    ) -> PyResult<Self> {
        let interval = seconds("interval_s", interval_s)?;
        let destination = Destination { server, key };
        let settings =
            ShippingSettings { interval, batch, buffer, spool, spool_first, ..ShippingSettings::default() };
        let shipping = embed::ship(&destination, &settings, log_notice)
            .map_err(|error| PyOSError::new_err(format!("cannot start the telemetry thread: {error}")))?;
        Ok(Self(ManuallyDrop::new(shipping)))
    }

    /// Queues a verdict and returns immediately.
    fn track(&self, judged: &Judged) {
        self.0.track(judged.judged.event());
    }

    /// Waits until every verdict tracked so far is delivered. Returns false after the timeout, if a verdict was lost,
    /// or when `is_cancelled` returns true. Raises the exception of a signal handler, such as the one for Ctrl-C.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 gives no reference that outlives the lock")]
    fn flush(&self, py: Python<'_>, timeout_s: f64, is_cancelled: Option<Py<PyAny>>) -> PyResult<bool> {
        let timeout = seconds("timeout_s", timeout_s)?;
        let mut raised = None;
        let go_on = || {
            Python::attach(|py| {
                let go_on = py.check_signals().and_then(|()| match &is_cancelled {
                    Some(is_cancelled) => Ok(!is_cancelled.bind(py).call0()?.is_truthy()?),
                    None => Ok(true),
                });
                go_on.unwrap_or_else(|error| {
                    raised = Some(error);
                    false
                })
            })
        };
        let done = py.detach(|| self.0.flush_while(timeout, go_on));
        raised.map_or(Ok(done), Err)
    }

    /// Starts the shutdown without waiting for it.
    fn begin_shutdown(&self, py: Python<'_>) {
        py.detach(|| self.0.begin_shutdown());
    }

    /// Tries once more to deliver the waiting verdicts, then ends.
    fn shutdown(&self, py: Python<'_>, timeout_s: f64) -> PyResult<()> {
        let timeout = seconds("timeout_s", timeout_s)?;
        py.detach(|| self.0.shutdown(timeout));
        Ok(())
    }

    /// Number of verdicts that were dropped because the buffer was full, or rejected by the server and not saved.
    #[getter]
    fn dropped(&self) -> u64 {
        self.0.dropped()
    }

    /// Number of verdicts that are not yet delivered, rejected or dropped.
    #[getter]
    fn waiting(&self) -> u64 {
        self.0.waiting()
    }
}

fn seconds(name: &str, seconds: f64) -> PyResult<Duration> {
    embed::seconds(seconds).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Logs a notice to the Python logger `renown`, unless the interpreter is shutting down.
#[expect(clippy::needless_pass_by_value, reason = "`embed::ship` passes the notice by value")]
fn log_notice(notice: Notice) {
    let logged = Python::try_attach(|py| {
        let logger = py.import("logging")?.call_method1("getLogger", ("renown",))?;
        logger.call_method1("warning", ("%s", notice.to_string())).map(|_| ())
    });
    // There is no other place to report a failure of the logger.
    drop(logged);
}
