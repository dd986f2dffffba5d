//! What a proxy keeps: the log, the pins, and the verdicts on their way to a server.
//!
//! ```text
//! DATA/proxy/YYYY-MM-DD.jsonl    the log
//! DATA/proxy/pins/<id>.json      the pinned tools of a server; the id is a hash of its name
//! DATA/proxy/spool/              verdicts that the server of Renown does not have yet
//! ```
//!
//! Nothing here stops a conversation: what cannot be written is told once, and the messages go on.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use renown_shipping::{EncodedVerdict, ShippedVerdict, Telemetry};
use sha2::{Digest, Sha256};

use crate::log::{Log, line};
use crate::pins::Pins;
use crate::record::Record;
use crate::session::Effects;

/// Tells somebody a line.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Where everything of a proxy is kept.
pub struct Keep {
    log: Mutex<Logged>,
    folder: PathBuf,
    /// What tells the server from others.
    identity: String,
    telemetry: Option<Telemetry>,
    verbose: bool,
    tell: Tell,
    /// Messages of the server that were not well-formed.
    malformed: AtomicU64,
}

struct Logged {
    log: Log,
    broken: bool,
}

impl Keep {
    /// Keeps things below the data directory. `verbose` also tells each line of the log.
    pub fn new(
        folder: PathBuf,
        identity: String,
        telemetry: Option<Telemetry>,
        verbose: bool,
        tell: Tell,
    ) -> Self {
        let log = Mutex::new(Logged { log: Log::new(folder.clone()), broken: false });
        Self { log, folder, identity, telemetry, verbose, tell, malformed: AtomicU64::new(0) }
    }

    /// Writes what has to be written before a message is released.
    pub fn effects(&self, effects: &Effects, pins: &Mutex<Pins>) {
        for record in &effects.records {
            self.record(record);
        }
        for warning in &effects.warnings {
            (self.tell)(&format!("warning: {warning}"));
        }
        // The first is told, and how many there were at the end.
        if let Some(malformed) = &effects.malformed
            && self.malformed.fetch_add(1, Ordering::Relaxed) == 0
        {
            (self.tell)(&format!("warning: {malformed}"));
        }
        if effects.pins_changed {
            let pins = pins.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = save_pins(&self.folder, &self.identity, &pins) {
                (self.tell)(&format!("warning: the pinned tools cannot be kept: {error}"));
            }
        }
    }

    /// Writes a record to the log, and its verdict to the spool if it counts.
    pub fn record(&self, record: &Record) {
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
            (self.tell)(line(record).trim_end());
        }
        let mut logged = self.logged();
        let written = logged.log.write(record);
        let broke = written.is_err() && !logged.broken;
        logged.broken = written.is_err();
        drop(logged);
        if let Err(error) = written
            && broke
        {
            (self.tell)(&format!("warning: the log {} cannot be written: {error}", self.folder.display()));
        }
    }

    /// Tells somebody a line.
    pub fn tell(&self, what: &str) {
        (self.tell)(what);
    }

    /// The end: one more attempt to deliver. What is left waits on disk for the next proxy.
    pub fn close(&self, timeout: std::time::Duration) {
        match self.malformed.load(Ordering::Relaxed) {
            0 => {}
            1 => (self.tell)("1 message of the server was not one well-formed JSON-RPC message"),
            count => (self.tell)(&format!(
                "{count} messages of the server were not one well-formed JSON-RPC message each"
            )),
        }
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown(timeout);
        }
    }

    fn logged(&self) -> MutexGuard<'_, Logged> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pins of a server, empty if there is no file yet. The identity tells it from others, the name is shown.
pub fn load_pins(folder: &Path, identity: &str, server: &str) -> io::Result<Pins> {
    match fs::read_to_string(pins_path(folder, identity)) {
        Ok(text) => {
            let mut pins: Pins = serde_json::from_str(&text).map_err(io::Error::other)?;
            // Older versions kept more of a command line than may be shown.
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

/// Keeps the pinned tools of a server, whole or not at all.
pub fn save_pins(folder: &Path, identity: &str, pins: &Pins) -> io::Result<()> {
    let path = pins_path(folder, identity);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    // Two proxies of one server may write at once.
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
