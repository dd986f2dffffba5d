//! Ships verdicts of the proxy and of programs that embed the gates to a Renown server.
//!
//! ```text
//! track(verdict) ──► buffer (memory, bounded) ──┐
//!        └───────► spool (disk, checksummed) ─┴─► batches of up to 100 ──► POST /v1/ingest
//! ```
//!
//! | topic | rule |
//! |---|---|
//! | caller | [`Telemetry::track`] does not wait for the network and cannot fail |
//! | sending | after the interval (5 s), or as soon as a batch is full |
//! | retries | back-off from 1 to 60 s with jitter; `Retry-After` is obeyed; `evaluation_id` makes repeats harmless |
//! | 401, 403, 404 | the batch is kept and retried: an operator can fix a key, but a lost verdict is lost |
//! | 400, 413, 422 | the batch is split in half until the rejected verdict is alone; that one goes to `rejected.jsonl` |
//! | full buffer | the oldest verdict goes to the spool if there is one, else it is dropped and counted |
//! | notices | one [`Notice`] when a problem begins, and one when it ends |
//!
//! The proxy writes every verdict to its spool first ([`ShippingSettings::spool_first`]), so that the verdict is on disk
//! before the client sees the output. The next process adopts the spools of dead processes.
//!
//! Deliberately absent: payloads. An [`EncodedVerdict`] has no part of an output or an input.

mod delivery;
mod notice;
mod queue;
mod spool;
mod telemetry;
mod transport;
mod verdict;

pub use notice::Notice;
pub use spool::{SPOOL_BYTES_MAX, Spool, SpoolBatch};
pub use telemetry::{ShippingSettings, Telemetry};
pub use transport::{Destination, Http, ServerReply, Transport};
pub use verdict::{EncodedVerdict, ShippedVerdict};
