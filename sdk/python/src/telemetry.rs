//! Verdicts on their way to a server: `renown-shipping`, as Python sees it.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use renown_embed as embed;
use renown_shipping::{Destination, Notice, Settings, Telemetry as Shipping};

use crate::result::Judged;

/// Sends verdicts in the background.
///
/// It is never dropped: in a forked child its thread does not exist and its lock may be held for ever, so an end in order
/// would wait for nobody. The Python side shuts it down where there is a thread to do so.
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
        let settings = Settings { interval, batch, buffer, spool, spool_first, ..Settings::default() };
        let shipping = embed::ship(&destination, &settings, tell)
            .map_err(|error| PyOSError::new_err(format!("no thread for telemetry: {error}")))?;
        Ok(Self(ManuallyDrop::new(shipping)))
    }

    /// Takes a verdict and returns at once.
    fn track(&self, judged: &Judged) {
        self.0.track(judged.judged.event());
    }

    /// Waits until what was tracked so far is delivered. False if that takes longer, if something got lost, or if `stopped`
    /// says so. A signal, such as Ctrl-C, is raised.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 gives no reference that outlives the lock")]
    fn flush(&self, py: Python<'_>, timeout_s: f64, stopped: Option<Py<PyAny>>) -> PyResult<bool> {
        let timeout = seconds("timeout_s", timeout_s)?;
        let mut raised = None;
        let go_on = || {
            Python::attach(|py| {
                let go_on = py.check_signals().and_then(|()| match &stopped {
                    Some(stopped) => Ok(!stopped.bind(py).call0()?.is_truthy()?),
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

    /// Begins the end without waiting for it.
    fn begin_shutdown(&self, py: Python<'_>) {
        py.detach(|| self.0.begin_shutdown());
    }

    /// Tries once more to deliver what waits, and ends.
    fn shutdown(&self, py: Python<'_>, timeout_s: f64) -> PyResult<()> {
        let timeout = seconds("timeout_s", timeout_s)?;
        py.detach(|| self.0.shutdown(timeout));
        Ok(())
    }

    /// Events that were lost for lack of room, or that the server refused and nobody keeps.
    #[getter]
    fn dropped(&self) -> u64 {
        self.0.dropped()
    }

    /// Events of which it is not known yet that the server has them.
    #[getter]
    fn waiting(&self) -> u64 {
        self.0.waiting()
    }
}

fn seconds(name: &str, seconds: f64) -> PyResult<Duration> {
    embed::seconds(seconds).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// To the log of Python, unless the interpreter is about to end.
#[expect(clippy::needless_pass_by_value, reason = "the signature is the one that a sender wants")]
fn tell(notice: Notice) {
    let logged = Python::try_attach(|py| {
        let logger = py.import("logging")?.call_method1("getLogger", ("renown",))?;
        logger.call_method1("warning", ("%s", notice.to_string())).map(|_| ())
    });
    // There is nobody else to tell.
    drop(logged);
}
