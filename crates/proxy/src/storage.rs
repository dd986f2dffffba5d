//! What a proxy stores: the log, the pins, and the verdicts that wait for a server.
//!
//! ```text
//! DATA/proxy/YYYY-MM-DD.jsonl    the log
//! DATA/proxy/pins/<id>.json      the pinned definitions of a server; the id is a hash of its name
//! DATA/proxy/spool/              verdicts that the Renown server does not have yet
//! ```
//!
//! A failed write never stops a conversation: it is reported once, and the messages go on.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use renown_shipping::{EncodedVerdict, ShippedVerdict, Telemetry};
use sha2::{Digest, Sha256};

use crate::log::{Log, line};
use crate::pins::Pins;
use crate::record::CallRecord;
use crate::session::Effects;

/// Prints a line for the user.
pub type Print = Box<dyn Fn(&str) + Send + Sync>;

/// The storage of a proxy.
pub struct Storage {
    log: Mutex<LogState>,
    folder: PathBuf,
    /// Identifies the server in the names of files.
    identity: String,
    telemetry: Option<Telemetry>,
    verbose: bool,
    print: Print,
    /// Number of malformed messages of the server.
    malformed: AtomicU64,
}

struct LogState {
    log: Log,
    /// Whether the last write failed.
    is_failing: bool,
}

impl Storage {
    /// Creates a storage in a folder. With `verbose` every line of the log is printed too.
    pub fn new(
        folder: PathBuf,
        identity: String,
        telemetry: Option<Telemetry>,
        verbose: bool,
        print: Print,
    ) -> Self {
        let log = Mutex::new(LogState { log: Log::new(folder.clone()), is_failing: false });
        Self { log, folder, identity, telemetry, verbose, print, malformed: AtomicU64::new(0) }
    }

    /// Writes everything that must be written before a message is released.
    pub fn effects(&self, effects: &Effects, pins: &Mutex<Pins>) {
        for record in &effects.records {
            self.record(record);
        }
        for warning in &effects.warnings {
            (self.print)(&format!("warning: {warning}"));
        }
        // The first one is reported now, and their number at the end.
        if let Some(malformed) = &effects.malformed
            && self.malformed.fetch_add(1, Ordering::Relaxed) == 0
        {
            (self.print)(&format!("warning: {malformed}"));
        }
        if effects.pins_changed {
            let pins = pins.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = save_pins(&self.folder, &self.identity, &pins) {
                (self.print)(&format!("warning: cannot write the pins: {error}"));
            }
        }
    }

    /// Writes a record to the log, and queues its verdict for the server if it counts.
    pub fn record(&self, record: &CallRecord) {
        if let Some(telemetry) = self.telemetry.as_ref().filter(|_| record.counts) {
            telemetry.track(EncodedVerdict::new(&ShippedVerdict {
                evaluation_id: &record.evaluation_id,
                agent_id: &record.agent_id,
                tool: record.tool.as_ref(),
                passed: record.passed,
                gates: &record.gates,
                total: record.total,
                latency: record.latency,
                timestamp: record.ts,
            }));
        }
        if self.verbose {
            (self.print)(line(record).trim_end());
        }
        let mut state = self.log_state();
        let written = state.log.write(record);
        let is_first_failure = written.is_err() && !state.is_failing;
        state.is_failing = written.is_err();
        drop(state);
        if let Err(error) = written
            && is_first_failure
        {
            (self.print)(&format!("warning: cannot write the log in {}: {error}", self.folder.display()));
        }
    }

    /// Prints a line for the user.
    pub fn print(&self, line: &str) {
        (self.print)(line);
    }

    /// Makes a last attempt to deliver verdicts. The rest stays on disk for the next proxy.
    pub fn close(&self, timeout: std::time::Duration) {
        match self.malformed.load(Ordering::Relaxed) {
            0 => {}
            1 => (self.print)("1 message of the server was not one well-formed JSON-RPC message"),
            count => (self.print)(&format!(
                "{count} messages of the server were not one well-formed JSON-RPC message each"
            )),
        }
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown(timeout);
        }
    }

    fn log_state(&self) -> MutexGuard<'_, LogState> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Loads the pins of a server. They are empty if there is no file yet. The identity names the file; `server` is the name to show.
pub fn load_pins(folder: &Path, identity: &str, server: &str) -> io::Result<Pins> {
    match fs::read_to_string(pins_path(folder, identity)) {
        Ok(text) => {
            let mut pins: Pins = serde_json::from_str(&text).map_err(io::Error::other)?;
            // Older versions stored more of a command line than may be shown.
            if pins.server != server {
                server.clone_into(&mut pins.server);
                save_pins(folder, identity, &pins)?;
            }
            Ok(pins)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pins::new(server.to_owned())),
        Err(error) => Err(error),
    }
}

/// Saves the pins of a server atomically.
pub fn save_pins(folder: &Path, identity: &str, pins: &Pins) -> io::Result<()> {
    let path = pins_path(folder, identity);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    // Two proxies of the same server may write at the same time, so each uses its own temporary file.
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = File::create(&new)?;
    file.write_all(&serde_json::to_vec_pretty(pins).map_err(io::Error::other)?)?;
    file.sync_all()?;
    fs::rename(new, path)
}

fn pins_path(folder: &Path, identity: &str) -> PathBuf {
    let hash = Sha256::digest(identity.as_bytes());
    let id = renown_core::hex::encode(hash.get(..8).unwrap_or_default());
    folder.join("pins").join(format!("{id}.json"))
}
