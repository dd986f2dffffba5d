//! Reads OpenTelemetry (OTLP) of coding agents into facts, and folds the facts into scored sessions.
//!
//! ```text
//! bytes of OTLP ──►  json, protobuf  ──►  record, dialect  ──►  Batch of facts  ──►  Ledger  ──►  Report
//!                    one line or body     name, session,        neutral,             each         performance,
//!                    at a time            time, identity        owned                once         coverage
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`json`], [`protobuf`] | readers of the two encodings; they build no tree |
//! | [`facts`] | the neutral facts that all dialects are translated to |
//! | [`dialect`] | one file per dialect, each with a table of its events and attributes |
//! | [`transcript`] | one file per agent that keeps its sessions on disk, read into the same facts |
//! | [`prices`] | the cost of a model call whose agent does not report it |
//! | [`ledger`] | the fold: counts every record once, in its session |
//! | [`stored`] | the encoding of records for a store |
//! | [`derived`] | trace signals that are computed from records |
//! | [`report`] | the scored session that the API serves |
//! | [`limits`] | all limits |
//!
//! Sans-io: bytes in, facts out. The same records give the same facts in every encoding, order, batch and file.
//! Batches can be read on any number of threads; a ledger folds them one after the other.
//!
//! Deliberately absent: files, sockets, a clock, logging, and every attribute that is not in the list of
//! `attributes.rs`.
//!
//! ```
//! use renown_telemetry::{facts::Batch, json, ledger::{TimeRange, Ledger, Session}, prices::Prices};
//!
//! let line = br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000000",
//!     "eventName":"claude_code.user_prompt","attributes":[{"key":"session.id","value":{"stringValue":"s-1"}}]}]}]}]}"#;
//! let mut batch = Batch::default();
//! json::read(line, 1, &Prices::default(), &mut batch)?;
//! let mut ledger = Ledger::new(TimeRange::default());
//! ledger.fold(&batch).map_err(|_| "too many sessions")?;
//! assert_eq!(ledger.find("s-1").and_then(Session::report).ok_or("no session")?.performance.stats.prompts, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod account;
mod attributes;
mod bytes;
pub mod derived;
pub mod dialect;
pub mod facts;
mod fields;
mod fingerprint;
pub mod json;
pub mod ledger;
pub mod limits;
pub mod prices;
pub mod protobuf;
mod record;
pub mod report;
pub mod stored;
pub mod transcript;
mod value;
