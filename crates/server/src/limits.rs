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

/// How much a client may still send after the head of its request was refused.
pub(crate) const HEAD_DRAINED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The largest body, except of telemetry.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;

/// How much of a body that is too large is read and dropped, so that its sender can read the error.
pub(crate) const BODY_DRAINED_BYTES_MAX: usize = 256 * BODY_BYTES_MAX;

/// The largest body of telemetry, compressed and decompressed.
pub(crate) const OTLP_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum number of records in a body of telemetry. A record of two bytes may need 200 bytes of memory.
pub(crate) const OTLP_RECORDS_MAX: usize = 150_000;

/// Maximum memory of all bodies of telemetry in flight.
pub(crate) const OTLP_IN_FLIGHT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many large bodies of telemetry are parsed at the same time.
pub(crate) const OTLP_READERS_MAX: usize = 4;

/// How much of a refused body of telemetry is read and dropped, so that its sender can read the error.
pub(crate) const OTLP_DRAINED_BYTES_MAX: usize = 4 * OTLP_BODY_BYTES_MAX;

/// How long that may take.
pub(crate) const OTLP_DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// How long the sender may pause meanwhile. A sender that pauses longer is waiting for the reply.
pub(crate) const OTLP_DRAIN_PAUSE_MAX: Duration = Duration::from_millis(500);

/// How many changes a slow subscriber may lag behind before it misses some.
pub(crate) const STREAM_BEHIND_MAX: usize = 1024;

/// Interval of comments in a stream without events. They keep proxies from closing the connection.
pub(crate) const STREAM_COMMENT_EVERY: Duration = Duration::from_secs(15);

/// Maximum duration of a visit of the pages.
pub(crate) const VISIT_TIME_MAX: Duration = Duration::from_hours(30 * 24);

/// Maximum number of visits.
pub(crate) const VISITS_MAX: usize = 1000;

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
