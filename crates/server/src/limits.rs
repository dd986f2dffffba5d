//! Limits at the edge of the server: sizes, counts and times that clients have to keep.
//!
//! Limits of what a request may say are in `renown_core::limits`, those of telemetry in `renown_telemetry::limits`.

use std::time::Duration;

/// The largest head of an HTTP/1.1 request, including its first line.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The largest header list of an HTTP/2 request.
pub(crate) const HEADER_LIST_BYTES_MAX: usize = 16 * 1024;

/// The largest header list that the HTTP/2 protocol layer accepts. It is above [`HEADER_LIST_BYTES_MAX`], so that a list between the two
/// gets an error with a body. Past this limit the protocol can only answer with a status.
pub(crate) const HEADER_LIST_BYTES_ACCEPTED: u32 = 64 * 1024;

/// Concurrent requests on one HTTP/2 connection.
pub(crate) const STREAMS_MAX: u32 = 200;

/// How much a client may still send after its request was refused.
pub(crate) const DRAINED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a server allows its clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections per port. Further ones wait to be accepted.
    pub connections_max: usize,
    /// How long a client may take to send the head of a request. Also how long an idle connection is kept.
    pub head_time_max: Duration,
    /// How long a client may take to send a body.
    pub body_time_max: Duration,
    /// How long a client may go without reading anything of its reply.
    pub write_time_max: Duration,
    /// How long accepted work may take after a shutdown was requested.
    pub shutdown_time_max: Duration,
    /// Memory of all outputs that are being judged, in bytes. Past it requests are refused with 503.
    pub judging_bytes_max: usize,
    /// Evaluations that are judged and written at the same time. Past it requests are refused with 503.
    pub evaluations_max: usize,
    /// Batches that are written at the same time. Past it requests are refused with 503.
    pub ingests_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 20_000,
            head_time_max: Duration::from_secs(30),
            body_time_max: Duration::from_secs(30),
            write_time_max: Duration::from_secs(30),
            shutdown_time_max: Duration::from_secs(10),
            judging_bytes_max: 128 * 1024 * 1024,
            evaluations_max: 256,
            ingests_max: 128,
        }
    }
}
