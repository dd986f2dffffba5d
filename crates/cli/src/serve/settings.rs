//! What `renown serve` can be told, and where each value came from.
//!
//! ```toml
//! listen = "127.0.0.1:7070"
//! store = "sqlite:"              # or sqlite:PATH
//!
//! [limits]                       # per organization; 0 is no limit
//! requests_per_minute = 0
//! ingest_per_minute = 0
//! ```

use std::convert::Infallible;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use renown_core::gates::{self, Choice, Engine};

use crate::args::ServeArgs;
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::place::{Place, no_data_dir};
use crate::settings::{Setting, StoreUrl};

/// A directory, of which any text can be the name.
#[derive(Clone, Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl FromStr for Directory {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.into()))
    }
}

/// Every setting of the server.
pub(crate) struct ServeSettings {
    pub(crate) data: Setting<Directory>,
    pub(crate) listen: Setting<SocketAddr>,
    pub(crate) store: Setting<StoreUrl>,
    pub(crate) requests_per_minute: Setting<u64>,
    pub(crate) ingest_per_minute: Setting<u64>,
    config: Config,
}

impl ServeSettings {
    pub(crate) fn read(args: &ServeArgs) -> Result<Self, Failure> {
        let data_flag = args.place.data.clone();
        let config = Config::load_for(args.config.as_deref(), data_flag.as_deref())?;
        let file = &config.server;
        let platform = config::data_dir();
        if data_flag.is_none() && file.data.is_none() && platform.is_none() {
            return Err(no_data_dir());
        }
        let data = Setting::pick("data", data_flag.map(Directory), file.data.clone().map(Directory), || {
            Directory(platform.unwrap_or_default())
        })?;
        Ok(Self {
            data,
            listen: Setting::pick("listen", args.listen, file.listen, || {
                SocketAddr::from(([127, 0, 0, 1], 7070))
            })?,
            store: Setting::pick("store", args.place.store.clone(), file.store.clone(), || {
                StoreUrl::DEFAULT
            })?,
            requests_per_minute: Setting::pick(
                "limits.requests_per_minute",
                None,
                file.limits.requests_per_minute,
                || 0,
            )?,
            ingest_per_minute: Setting::pick(
                "limits.ingest_per_minute",
                None,
                file.limits.ingest_per_minute,
                || 0,
            )?,
            config,
        })
    }

    /// Where the data is.
    pub(crate) fn place(&self) -> Place {
        let data = self.data.value.0.clone();
        Place { file: self.store.value.file(&data), data }
    }

    /// The configuration that was read.
    pub(crate) fn config_path(&self) -> Option<&Path> {
        self.config.path.as_deref()
    }

    /// The gates of `/v1/evaluate`.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        self.config.engine(&Choice::of(gates::Place::Evaluate))
    }

    /// Each value and where it came from, as the file would have it.
    pub(crate) fn print(&self) -> String {
        let mut text = String::new();
        let mut line = |shown: String, origin: &dyn std::fmt::Display| {
            let _ = writeln!(text, "{shown:<44} # {origin}");
        };
        line(format!("data = {:?}", self.data.value.0), &self.data.origin);
        line(format!("listen = \"{}\"", self.listen.value), &self.listen.origin);
        line(format!("store = \"{}\"", self.store.value), &self.store.origin);
        for limit in [&self.requests_per_minute, &self.ingest_per_minute] {
            line(format!("{} = {}", limit.name, limit.value), &limit.origin);
        }
        match &self.config.path {
            Some(path) => line(format!("# config file: {}", path.display()), &"read"),
            None => line("# config file".to_owned(), &"none"),
        }
        text
    }
}
