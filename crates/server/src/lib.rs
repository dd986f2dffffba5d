//! The HTTP API over the evidence log, and the receivers of telemetry.
//!
//! ```text
//! connection ─► listener ─► door: request id, key, rate limit, panics ─► route ─► gates, store ─► reply
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`serve`] | the accept loop, its time-outs, and the shutdown that finishes accepted work |
//! | `wire` | the socket: clients that do not read, heads that are no request |
//! | `door` | what every request passes: one place for keys, rate limits, request ids, metrics, logs and panics |
//! | `routes` | one file per group of routes: what it reads, what it answers |
//! | `body`, `query`, `hex` | reading a request with limits, and errors that say what is allowed |
//! | `judging` | the memory of all outputs that are being judged |
//! | `once` | idempotency keys |
//! | `otlp` | the receivers of telemetry, with who may send without a key |
//! | `pages` | the web pages: who is logged in, what each page reads |
//! | [`keys`], `rate` | API keys and rate limits |
//! | [`error`] | every refusal in one shape |
//!
//! What is deliberately absent: formulas (the core has them), SQL (the store has it), and any log line with a payload, a key
//! or an agent's words.

mod accept;
mod admission;
mod api;
mod body;
mod changes;
mod door;
pub mod error;
mod hex;
mod idempotency;
mod judging;
pub mod keys;
mod otlp;
mod pages;
mod prometheus;
mod query;
mod random;
mod rate_limit;
mod routes;
mod socket;

/// What the API says of runs, for whoever reads a store without it.
pub mod runs {
    pub use crate::routes::runs::digest;
}

pub use accept::{Limits, Listeners, serve};
pub use api::{ATTENTION_BELOW, Api, PageSettings, Settings};
pub use otlp::OtlpAuth;
pub use pages::visits::OnToken;
pub use routes::openapi;
