//! Reads and inflates bodies of telemetry, with limits for size and time. Every byte is reserved in the budget first.

use std::io::Read;
use std::time::Duration;

use axum::body::Body;
use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use super::budget::Reservation;
use super::content_type::BodyFormat;
use super::grpc::PREFIX_BYTES;
use crate::error::{ApiError, Code};
use crate::limits::{OTLP_BODY_BYTES_MAX, OTLP_DRAIN_PAUSE_MAX, OTLP_DRAIN_TIME_MAX, OTLP_DRAINED_BYTES_MAX};

/// How much is inflated before more of the budget is reserved.
const STEP_BYTES: usize = 64 * 1024;

/// Builds the error for a body that is too large. `found` continues the sentence "the body …".
pub(super) fn too_large(found: &str) -> ApiError {
    let error =
        format!("the body {found}, expected at most {OTLP_BODY_BYTES_MAX} bytes, also after decompression");
    ApiError::new(Code::TooLarge, error)
}

/// Returns the maximum size of a body in a format. A framed body also has the prefix of its message.
fn bytes_max(format: BodyFormat) -> usize {
    OTLP_BODY_BYTES_MAX + if format.is_framed { PREFIX_BYTES } else { 0 }
}

/// Checks the length that the head of the request announces.
pub(super) fn check_length(body: &Body, format: BodyFormat) -> Result<(), ApiError> {
    let announced = body.size_hint().lower();
    if announced > bytes_max(format) as u64 {
        return Err(too_large(&format!("has {announced} bytes")));
    }
    Ok(())
}

/// Reads a body within the size, the time and the budget.
pub(super) async fn read(
    body: &mut Body,
    format: BodyFormat,
    reservation: &mut Reservation,
    time_max: Duration,
) -> Result<Bytes, ApiError> {
    let slow = |_| {
        let error = format!("the body did not arrive within {} s", time_max.as_secs());
        ApiError::new(Code::Timeout, error)
    };
    tokio::time::timeout(time_max, collect(body, bytes_max(format), reservation)).await.map_err(slow)?
}

async fn collect(
    body: &mut Body,
    bytes_max: usize,
    reservation: &mut Reservation,
) -> Result<Bytes, ApiError> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::invalid("the body ended before it was complete"))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if first.len().max(all.len()) + bytes.len() > bytes_max {
            return Err(too_large("is larger"));
        }
        reservation.grow(bytes.len())?;
        if first.is_empty() && all.is_empty() {
            first = bytes;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&bytes);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// Reads and drops what a refused client still sends, within limits of time and size.
pub(super) async fn discard(body: &mut Body) {
    let drained = async {
        let mut seen = 0;
        while seen <= OTLP_DRAINED_BYTES_MAX
            && let Ok(Some(Ok(frame))) = tokio::time::timeout(OTLP_DRAIN_PAUSE_MAX, body.frame()).await
        {
            seen += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    let _ = tokio::time::timeout(OTLP_DRAIN_TIME_MAX, drained).await;
}

/// A gzip body that is being inflated. It may have several members.
pub(super) struct Inflating {
    decoder: MultiGzDecoder<Reader<Bytes>>,
    compressed_bytes: usize,
    out: Vec<u8>,
    is_done: bool,
}

impl Inflating {
    pub(super) fn new(compressed: Bytes) -> Self {
        let compressed_bytes = compressed.len();
        let decoder = MultiGzDecoder::new(compressed.reader());
        Self { decoder, compressed_bytes, out: Vec::new(), is_done: false }
    }

    /// Inflates until the end, or until there are at least `bytes` bytes. Returns whether it reached the end. Never inflates more than one
    /// byte past the maximum size.
    pub(super) fn inflate_to(
        &mut self,
        bytes: usize,
        reservation: &mut Reservation,
    ) -> Result<bool, ApiError> {
        while !self.is_done && self.out.len() < bytes {
            let room = STEP_BYTES.min(OTLP_BODY_BYTES_MAX + 1 - self.out.len());
            let step = (&mut self.decoder).take(room as u64).read_to_end(&mut self.out);
            let step =
                step.map_err(|_| ApiError::invalid("the body is not gzip, or ends before it is complete"))?;
            if self.out.len() > OTLP_BODY_BYTES_MAX {
                return Err(too_large("is larger when it is inflated"));
            }
            reservation.grow(step)?;
            self.is_done = step < room;
        }
        Ok(self.is_done)
    }

    /// Inflates the rest, and releases the reservation of the compressed bytes.
    pub(super) fn finish(mut self, reservation: &mut Reservation) -> Result<Bytes, ApiError> {
        self.inflate_to(usize::MAX, reservation)?;
        drop(self.decoder);
        reservation.shrink(self.compressed_bytes);
        Ok(self.out.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::otlp::budget::Budget;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn inflated(compressed: Vec<u8>) -> Result<Bytes, Code> {
        let mut reservation = Budget::new(64 * 1024 * 1024).reserve();
        Inflating::new(compressed.into()).finish(&mut reservation).map_err(|error| error.code())
    }

    #[test]
    fn gzip_is_inflated_up_to_the_limit_and_not_past_it() {
        assert_eq!(inflated(gzip(b"one")).unwrap(), "one");
        assert_eq!(inflated([gzip(b"one"), gzip(b", "), gzip(b"two")].concat()).unwrap(), "one, two");
        assert_eq!(inflated(gzip(&vec![0; STEP_BYTES])).unwrap().len(), STEP_BYTES);
        let largest = gzip(&vec![0; OTLP_BODY_BYTES_MAX]);
        assert_eq!(inflated(largest).unwrap().len(), OTLP_BODY_BYTES_MAX);
        assert_eq!(inflated(gzip(&vec![0; OTLP_BODY_BYTES_MAX + 1])), Err(Code::TooLarge));
    }

    #[test]
    fn invalid_and_incomplete_gzip_is_refused() {
        let whole = gzip(b"one, two, three");
        for end in 0..whole.len() {
            assert_eq!(inflated(whole[..end].to_vec()), Err(Code::ValidationError), "{end}");
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for bytes in [changed, b"plain".to_vec(), [&whole[..], b"x"].concat()] {
            assert_eq!(inflated(bytes), Err(Code::ValidationError));
        }
    }

    #[test]
    fn only_the_inflated_bytes_stay_reserved() {
        let compressed = gzip(&vec![0; 512 * 1024]);
        let budget = Budget::new(1024 * 1024);
        let mut reservation = budget.reserve();
        reservation.grow(compressed.len()).unwrap();
        let bytes = Inflating::new(compressed.clone().into()).finish(&mut reservation).unwrap();
        let mut rest = budget.reserve();
        rest.grow(512 * 1024).unwrap();
        assert!(rest.grow(1).is_err());
        drop((reservation, bytes, rest));
        let mut small = Budget::new(256 * 1024).reserve();
        let error = Inflating::new(compressed.into()).finish(&mut small).unwrap_err();
        assert_eq!(error.code(), Code::Overloaded);
    }
}
