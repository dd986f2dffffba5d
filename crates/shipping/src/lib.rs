//! Brings verdicts that were made elsewhere (in the proxy, in a program that embeds the gates) to a server of Renown.
//!
//! ```text
//! track(event) ──► buffer (memory, bounded) ──┐
//!        └───────► spool (disk, checksummed) ─┴─► batches of up to 100 ──► POST /v1/ingest
//! ```
//!
//! | rule | what it means |
//! |---|---|
//! | never in the way | [`Telemetry::track`] does not wait for the network and does not fail |
//! | when | after the interval (5 s), or as soon as a batch is full |
//! | again | back-off of 1 to 60 s with jitter, `Retry-After` obeyed; `evaluation_id` makes repeats harmless |
//! | 401, 403, 404 | kept and tried again: a key can be put right, a verdict cannot be made again |
//! | 400, 413 | the batch is halved until the event that is refused stands alone; that one goes to `rejected.jsonl` |
//! | full | the oldest goes to the spool if there is one, else it is dropped and counted |
//! | told once | a [`Notice`] says what is wrong when it begins, and that it is over when it ends |
//!
//! The proxy writes every verdict to its spool first ([`Settings::spool_first`]), so that what it let through is on disk
//! before anybody sees it. Spools of processes that have died are taken over by the next one.
//!
//! What is deliberately absent: payloads. An [`Event`] can hold a verdict and nothing else.

mod backoff;
mod delivery;
mod event;
mod notice;
mod queue;
mod spool;
mod telemetry;
mod transport;

pub use event::{Event, Verdict};
pub use notice::Notice;
pub use spool::{Batch, SPOOL_BYTES_MAX, Spool};
pub use telemetry::{Settings, Telemetry};
pub use transport::{Destination, Http, Reply, Transport};
