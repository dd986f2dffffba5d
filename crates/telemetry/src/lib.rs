//! OpenTelemetry of coding agents, read into session facts and folded into scored sessions.
//!
//! ```text
//! bytes of OTLP ──►  json, protobuf  ──►  record, dialect  ──►  Batch of facts  ──►  Ledger  ──►  Report
//!                    one line or body     name, session,        neutral,             each         performance,
//!                    at a time            time, identity        owned                once         coverage
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`json`], [`protobuf`] | the encodings, without building a tree |
//! | [`facts`] | what every dialect becomes |
//! | [`dialect`] | one file per dialect, each opening with the table of its attributes |
//! | [`prices`] | what a call costs where the agent does not say |
//! | [`ledger`] | the fold: every record once, by session |
//! | [`kept`] | records in bytes, for a store |
//! | [`derived`] | signals of traces that nobody sent |
//! | [`report`] | what is served of a session |
//! | [`limits`] | every limit |
//!
//! Sans-io: bytes in, facts out. The same records give the same facts whatever their encoding, order, batch or file.
//! Batches can be read on any number of threads; a ledger takes them one after the other.
//!
//! What is deliberately absent: files, sockets, a clock, logging, and any attribute that the contract does not name.
//!
//! ```
//! use renown_telemetry::{facts::Batch, json, ledger::{Cut, Ledger, Session}, prices::Prices};
//!
//! let line = br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000000",
//!     "eventName":"claude_code.user_prompt","attributes":[{"key":"session.id","value":{"stringValue":"s-1"}}]}]}]}]}"#;
//! let mut batch = Batch::default();
//! json::read(line, 1, &Prices::default(), &mut batch)?;
//! let mut ledger = Ledger::new(Cut::default());
//! ledger.fold(&batch).map_err(|_| "too many sessions")?;
//! assert_eq!(ledger.find("s-1").and_then(Session::report).ok_or("no session")?.performance.0.stats.prompts, 1);
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
pub mod kept;
pub mod ledger;
pub mod limits;
pub mod prices;
pub mod protobuf;
mod record;
pub mod report;
mod value;
