//! The HTTP API over the store, the telemetry receivers, and the web pages.
//!
//! A request passes these stages. Each knows only the next:
//!
//! ```text
//! accept ─► socket ─► request ─► auth ─► dispatch ─► routes, otlp, pages
//! bytes     timeouts  id, span,  who     hot routes,  one file per group
//!                     metrics,   may     router
//!                     panic net
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`accept`](serve) | accept loops, and the shutdown that finishes accepted work |
//! | `socket` | the socket: clients that do not read, malformed request heads |
//! | `request` | request id, span, metrics, the net under panics |
//! | `auth` | keys, rate limits, who may send telemetry without a key |
//! | `dispatch` | the three hot routes, the router, names of routes |
//! | `routes` | the API, one file per group of routes |
//! | `otlp` | the telemetry receivers |
//! | `pages` | the web pages: logins, and what each page reads |
//! | `body`, `query` | parsing requests with limits, and errors that say what is expected |
//! | `reply`, [`error`] | success and error replies |
//! | `idempotency` | `Idempotency-Key` |
//! | `judging`, `admission` | bounds on work in progress |
//! | `changes` | notices of changed scores, for streams and open pages |
//! | [`keys`], `rate_limit` | the key ring and the rate limiter |
//! | `work` | jobs beside requests: closing sessions, retention, eval runs, schedules, the last use of keys |
//! | `limits` | limits at the edge |
//! | `prometheus` | metrics |
//!
//! Deliberately absent: formulas (they are in the core), SQL (in the store), and any log line with a payload, a key or an agent's words.

mod accept;
mod admission;
mod api;
mod auth;
mod body;
mod changes;
mod dispatch;
pub mod error;
mod idempotency;
mod judging;
pub mod keys;
mod limits;
mod otlp;
mod pages;
mod prometheus;
mod query;
mod random;
mod rate_limit;
mod reply;
mod request;
mod routes;
mod socket;
mod work;

/// The digest of a submitted run, for commands that write to a store without a server.
pub mod runs {
    pub use crate::routes::runs::digest;
}

pub use accept::{Listeners, serve};
pub use api::{ATTENTION_BELOW, Api, PageSettings, ServerSettings};
pub use auth::loopback::OtlpAuth;
pub use limits::Limits;
pub use pages::visits::OnToken;
pub use routes::openapi;
