//! Verdicts on their way to a server: `renown-shipping`, as Node sees it.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result};
use napi_derive::napi;
use renown_embed as embed;
use renown_shipping::{Destination, Notice, Settings, Telemetry as Shipping};

use crate::{failed, refused, verdict};

/// Sends verdicts in the background.
///
/// The JavaScript side holds it until it is shut down: its end in order would otherwise come from the garbage collector, and
/// the event loop would wait for the network.
#[napi]
pub struct Telemetry(Arc<Shipping>);

/// Where verdicts go, and when.
#[napi(object)]
pub struct Shipment {
    /// The base URL of the server.
    pub server: String,
    /// The key for it.
    pub key: String,
    /// How long a verdict waits for others.
    pub interval_s: f64,
    /// How many go at once.
    pub batch: u32,
    /// How many are held in memory.
    pub buffer: u32,
    /// Where those go for which there is no room.
    pub spool: Option<String>,
    /// Whether every verdict goes there first.
    pub spool_first: bool,
}

#[napi]
#[expect(clippy::needless_pass_by_value, reason = "what Node gives is copied out of it, so it is owned")]
impl Telemetry {
    /// Starts the thread that sends. `tell` is called with what goes wrong, and when that is over.
    #[napi(constructor)]
    pub fn new(shipment: Shipment, tell: Function<'_, String, ()>) -> Result<Self> {
        let Shipment { server, key, interval_s, batch, buffer, spool, spool_first } = shipment;
        let interval = seconds("intervalS", interval_s)?;
        // A weak one: who only waits to be told something must not keep the program running.
        let tell = tell.build_threadsafe_function().weak::<true>().build()?;
        let tell = move |notice: Notice| {
            // When Node is about to end there is nobody to tell.
            let _ = tell.call(notice.to_string(), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let (batch, buffer) = (number(batch), number(buffer));
        let spool = spool.map(PathBuf::from);
        let settings = Settings { interval, batch, buffer, spool, spool_first, ..Settings::default() };
        let shipping = embed::ship(&Destination { server, key }, &settings, tell)
            .map_err(|error| failed(format_args!("no thread for telemetry: {error}")))?;
        Ok(Self(Arc::new(shipping)))
    }

    /// Takes a verdict, as JSON text, and returns at once.
    #[napi]
    pub fn track(&self, text: String) -> Result<()> {
        self.0.track(verdict::event(&text)?);
        Ok(())
    }

    /// Waits until what was tracked so far is delivered or given up. False if that takes longer.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn flush<'env>(&self, env: &'env Env, timeout_s: f64) -> Result<Object<'env>> {
        self.later(env, seconds("timeoutS", timeout_s)?, Shipping::flush)
    }

    /// Tries once more to deliver what waits, and ends.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn shutdown<'env>(&self, env: &'env Env, timeout_s: f64) -> Result<Object<'env>> {
        self.later(env, seconds("timeoutS", timeout_s)?, ended)
    }

    /// Begins to end and returns at once, so that several can be waited for together.
    #[napi]
    pub fn begin_shutdown(&self) {
        self.0.begin_shutdown();
    }

    /// The end where nothing can be awaited any more: that of the program.
    #[napi]
    pub fn shutdown_now(&self, timeout_s: f64) -> Result<()> {
        self.0.shutdown(seconds("timeoutS", timeout_s)?);
        Ok(())
    }

    /// Events that were lost for lack of room, or that the server refused and nobody keeps.
    #[napi(getter)]
    pub fn dropped(&self) -> i64 {
        count(self.0.dropped())
    }

    /// Events of which it is not known yet that the server has them.
    #[napi(getter)]
    pub fn waiting(&self) -> i64 {
        count(self.0.waiting())
    }

    /// A promise of something that may wait for the network. It has a thread of its own: those of Node's pool also look up
    /// names and read files for everybody else.
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
            // What is left of it ends here rather than in the promise's callback.
            drop(shipping);
            deferred.resolve(move |_| Ok(done));
        };
        thread::Builder::new().name("renown-flush".to_owned()).spawn(job).map_err(failed)?;
        Ok(promise)
    }
}

fn ended(shipping: &Shipping, timeout: Duration) -> bool {
    shipping.shutdown(timeout);
    true
}

fn seconds(name: &str, seconds: f64) -> Result<Duration> {
    embed::seconds(seconds).map_err(|error| refused(format_args!("{name}: {error}")))
}

fn number(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
