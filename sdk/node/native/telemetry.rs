//! The JavaScript class that sends verdicts to a server, on top of `renown-shipping`.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result};
use napi_derive::napi;
use renown_embed as embed;
use renown_shipping::{Destination, Notice, ShippingSettings, Telemetry as Shipping};

use crate::{failed, invalid, verdict};

/// Sends verdicts in the background.
///
/// The JavaScript side references it until it is shut down. Otherwise the garbage collector would shut it down, and
/// block the event loop while it waits for the network.
#[napi]
pub struct Telemetry(Arc<Shipping>);

/// The arguments of the constructor.
#[napi(object)]
pub struct TelemetryArgs {
    /// Base URL of the server.
    pub server: String,
    /// API key.
    pub key: String,
    /// Maximum time in seconds that a verdict waits for others before a batch is sent.
    pub interval_s: f64,
    /// Number of verdicts per batch.
    pub batch: u32,
    /// Maximum number of verdicts in memory.
    pub buffer: u32,
    /// Folder for verdicts that do not fit in memory.
    pub spool: Option<String>,
    /// Whether every verdict is written to the spool first.
    pub spool_first: bool,
}

#[napi]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Node are copied, so they are owned")]
impl Telemetry {
    /// Starts the thread that sends. Calls `notify` with a message when delivery fails, and when it works again.
    #[napi(constructor)]
    pub fn new(args: TelemetryArgs, notify: Function<'_, String, ()>) -> Result<Self> {
        let TelemetryArgs { server, key, interval_s, batch, buffer, spool, spool_first } = args;
        let interval = seconds("intervalS", interval_s)?;
        // Weak, so that waiting for notices does not keep the program running.
        let notify = notify.build_threadsafe_function().weak::<true>().build()?;
        let notify = move |notice: Notice| {
            // The call fails while Node shuts down. Then there is no listener left.
            let _ = notify.call(notice.to_string(), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let (batch, buffer) = (to_usize(batch), to_usize(buffer));
        let spool = spool.map(PathBuf::from);
        let settings =
            ShippingSettings { interval, batch, buffer, spool, spool_first, ..ShippingSettings::default() };
        let shipping = embed::ship(&Destination { server, key }, &settings, notify)
            .map_err(|error| failed(format_args!("cannot start the telemetry thread: {error}")))?;
        Ok(Self(Arc::new(shipping)))
    }

    /// Queues a verdict, given as JSON text, and returns immediately.
    #[napi]
    pub fn track(&self, text: String) -> Result<()> {
        self.0.track(verdict::event(&text)?);
        Ok(())
    }

    /// Waits until every verdict tracked so far is delivered. Resolves to false after the timeout, or if a verdict was
    /// lost.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn flush<'env>(&self, env: &'env Env, timeout_s: f64) -> Result<Object<'env>> {
        self.later(env, seconds("timeoutS", timeout_s)?, Shipping::flush)
    }

    /// Tries once more to deliver the waiting verdicts, then ends.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn shutdown<'env>(&self, env: &'env Env, timeout_s: f64) -> Result<Object<'env>> {
        self.later(env, seconds("timeoutS", timeout_s)?, shut_down)
    }

    /// Starts the shutdown and returns immediately, so that several senders can shut down at the same time.
    #[napi]
    pub fn begin_shutdown(&self) {
        self.0.begin_shutdown();
    }

    /// Shuts down and blocks until it is done, for the exit of the program, when promises no longer run.
    #[napi]
    pub fn shutdown_now(&self, timeout_s: f64) -> Result<()> {
        self.0.shutdown(seconds("timeoutS", timeout_s)?);
        Ok(())
    }

    /// Number of verdicts that were dropped because the buffer was full, or rejected by the server and not saved.
    #[napi(getter)]
    pub fn dropped(&self) -> i64 {
        to_i64(self.0.dropped())
    }

    /// Number of verdicts that are not yet delivered, rejected or dropped.
    #[napi(getter)]
    pub fn waiting(&self) -> i64 {
        to_i64(self.0.waiting())
    }

    /// Returns a promise for a call that may wait for the network. The call has its own thread: the threads of Node's
    /// pool are also needed for name lookups and file access of the whole program.
    fn later<'env>(
        &self,
        env: &'env Env,
        timeout: Duration,
        wait: fn(&Shipping, Duration) -> bool,
    ) -> Result<Object<'env>> {
        let (deferred, promise) = env.create_deferred()?;
        let shipping = Arc::clone(&self.0);
        let job = move || {
            let done = wait(&shipping, timeout);
            // If this is the last reference, shut down here, not in the callback of the promise.
            drop(shipping);
            deferred.resolve(move |_| Ok(done));
        };
        thread::Builder::new().name("renown-flush".to_owned()).spawn(job).map_err(failed)?;
        Ok(promise)
    }
}

fn shut_down(shipping: &Shipping, timeout: Duration) -> bool {
    shipping.shutdown(timeout);
    true
}

fn seconds(name: &str, seconds: f64) -> Result<Duration> {
    embed::seconds(seconds).map_err(|error| invalid(format_args!("{name}: {error}")))
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
