//! The settings of `renown serve`, and where each value came from.
//!
//! ```toml
//! listen = "127.0.0.1:7070"
//! store = "sqlite:"              # or sqlite:PATH
//!
//! [limits]                       # per organization; 0 means no limit
//! requests_per_minute = 0
//! ingest_per_minute = 0
//!
//! [otlp]                         # an address, or off
//! grpc = "127.0.0.1:4317"
//! http = "127.0.0.1:4318"
//! auth = "loopback"              # or required: every sender needs a key
//!
//! [retention]                    # in days; 0 keeps everything. Scores do not change
//! evaluations = 0
//! runs = 0
//! sessions = 0
//!
//! [pages]                        # the web pages
//! attention_below = 600          # agents with a lower reputation need attention
//! ```

mod print;

use std::net::SocketAddr;
use std::path::Path;

use renown_core::gates::{self, Choice, Engine};
use renown_server::ATTENTION_BELOW;
use renown_telemetry::prices::Prices;

use crate::args::ServeArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::settings::{Days, Listen, Origin, OtlpKeys, OtlpListen, PerMinute, ScoreBelow, Setting, StoreUrl};
use crate::store_location::{Directory, StoreLocation};

/// Every setting of the server.
pub(crate) struct ServeSettings {
    pub(crate) data: Setting<Directory>,
    pub(crate) listen: Setting<Listen>,
    pub(crate) store: Setting<StoreUrl>,
    pub(crate) requests_per_minute: Setting<PerMinute>,
    pub(crate) ingest_per_minute: Setting<PerMinute>,
    pub(crate) evaluations_days: Setting<Days>,
    pub(crate) runs_days: Setting<Days>,
    pub(crate) sessions_days: Setting<Days>,
    pub(crate) otlp_grpc: Setting<OtlpListen>,
    pub(crate) otlp_http: Setting<OtlpListen>,
    pub(crate) otlp_auth: Setting<OtlpKeys>,
    pub(crate) attention_below: Setting<ScoreBelow>,
    config: Config,
}

impl ServeSettings {
    pub(crate) fn read(args: &ServeArgs) -> Result<Self, Failure> {
        let config = Config::load_for(args.config.as_deref(), args.location.data.as_deref())?;
        let (data, store) = (args.location.data(&config)?, args.location.store(&config)?);
        Self::pick(args, config, data, store)
    }

    /// Returns the settings of a demo in this directory. Addresses are chosen as usual; no configuration file is read.
    pub(crate) fn of_demo(args: &ServeArgs, dir: &Path) -> Result<Self, Failure> {
        let origin = Origin::Flag("--demo".to_owned());
        let data = Setting { name: "data", value: Directory(dir.to_owned()), origin: origin.clone() };
        let store = Setting { name: "store", value: StoreUrl::DEFAULT, origin };
        let config = Config { prices: renown_demo::prices(), ..Config::default() };
        let mut settings = Self::pick(args, config, data, store)?;
        // Retention must not delete parts of the generated month.
        for days in [&mut settings.evaluations_days, &mut settings.runs_days, &mut settings.sessions_days] {
            days.value = Days(0);
        }
        Ok(settings)
    }

    fn pick(
        args: &ServeArgs,
        config: Config,
        data: Setting<Directory>,
        store: Setting<StoreUrl>,
    ) -> Result<Self, Failure> {
        let file = &config.server;
        let days = |name, file| Setting::pick(name, None, file, || Days(0));
        let limit = |name, file| Setting::pick(name, None, file, || PerMinute(0));
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let otlp = |port| move || OtlpListen(Some(local(port)));
        Ok(Self {
            data,
            listen: Setting::pick("listen", args.listen, file.listen, || Listen(local(7070)))?,
            store,
            requests_per_minute: limit("limits.requests_per_minute", file.limits.requests_per_minute)?,
            ingest_per_minute: limit("limits.ingest_per_minute", file.limits.ingest_per_minute)?,
            evaluations_days: days("retention.evaluations", file.retention.evaluations)?,
            runs_days: days("retention.runs", file.retention.runs)?,
            sessions_days: days("retention.sessions", file.retention.sessions)?,
            otlp_grpc: Setting::pick("otlp-grpc", args.otlp_grpc, file.otlp.grpc, otlp(4317))?,
            otlp_http: Setting::pick("otlp-http", args.otlp_http, file.otlp.http, otlp(4318))?,
            otlp_auth: Setting::pick("otlp-auth", args.otlp_auth, file.otlp.auth, OtlpKeys::default)?,
            attention_below: Setting::pick(
                "pages.attention_below",
                None,
                file.pages.attention_below,
                || ScoreBelow(ATTENTION_BELOW),
            )?,
            config,
        })
    }

    /// Returns the location of the store.
    pub(crate) fn location(&self) -> StoreLocation {
        StoreLocation::of(&self.data, &self.store)
    }

    /// Returns the path of the configuration file, if one was read.
    pub(crate) fn config_path(&self) -> Option<&Path> {
        self.config.path.as_deref()
    }

    /// Returns the prices of models, for telemetry without costs.
    pub(crate) fn prices(&self) -> &Prices {
        &self.config.prices
    }

    /// Builds the gates of `/v1/evaluate`.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        self.config.engine(&Choice::of(gates::Place::Evaluate))
    }
}
