//! What `renown serve` can be told, and where each value came from.
//!
//! ```toml
//! listen = "127.0.0.1:7070"
//! store = "sqlite:"              # or sqlite:PATH
//!
//! [limits]                       # per organization; 0 is no limit
//! requests_per_minute = 0
//! ingest_per_minute = 0
//!
//! [retention]                    # in days; 0 is for ever. No score changes with it
//! evaluations = 0
//! runs = 0
//! ```

mod print;

use std::net::SocketAddr;
use std::path::Path;

use renown_core::gates::{self, Choice, Engine};
use renown_telemetry::prices::Prices;

use crate::args::ServeArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::place::{Directory, Place};
use crate::settings::{Days, Listen, PerMinute, Setting, StoreUrl};

/// Every setting of the server.
pub(crate) struct ServeSettings {
    pub(crate) data: Setting<Directory>,
    pub(crate) listen: Setting<Listen>,
    pub(crate) store: Setting<StoreUrl>,
    pub(crate) requests_per_minute: Setting<PerMinute>,
    pub(crate) ingest_per_minute: Setting<PerMinute>,
    pub(crate) evaluations_days: Setting<Days>,
    pub(crate) runs_days: Setting<Days>,
    config: Config,
}

impl ServeSettings {
    pub(crate) fn read(args: &ServeArgs) -> Result<Self, Failure> {
        let config = Config::load_for(args.config.as_deref(), args.place.data.as_deref())?;
        let file = &config.server;
        let days = |name, file| Setting::pick(name, None, file, || Days(0));
        let limit = |name, file| Setting::pick(name, None, file, || PerMinute(0));
        let local = || Listen(SocketAddr::from(([127, 0, 0, 1], 7070)));
        Ok(Self {
            data: args.place.data(&config)?,
            listen: Setting::pick("listen", args.listen, file.listen, local)?,
            store: args.place.store(&config)?,
            requests_per_minute: limit("limits.requests_per_minute", file.limits.requests_per_minute)?,
            ingest_per_minute: limit("limits.ingest_per_minute", file.limits.ingest_per_minute)?,
            evaluations_days: days("retention.evaluations", file.retention.evaluations)?,
            runs_days: days("retention.runs", file.retention.runs)?,
            config,
        })
    }

    /// Where the data is.
    pub(crate) fn place(&self) -> Place {
        Place::of(&self.data, &self.store)
    }

    /// The configuration that was read.
    pub(crate) fn config_path(&self) -> Option<&Path> {
        self.config.path.as_deref()
    }

    /// What calls of models cost where the telemetry does not say.
    pub(crate) fn prices(&self) -> &Prices {
        &self.config.prices
    }

    /// The gates of `/v1/evaluate`.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        self.config.engine(&Choice::of(gates::Place::Evaluate))
    }
}
