//! Taking a body in: so many bytes in so much time, each of them held by the budget, and inflated only as far as is allowed.

use std::io::Read;
use std::time::Duration;

use axum::body::Body;
use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::body::Body as _;

use super::budget::Hold;
use super::content_type::Form;
use super::grpc::PREFIX_BYTES;
use crate::error::{ApiError, Code};

/// The largest body, as it arrives and after it is inflated.
pub(crate) const OTLP_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How much of a refused body is read and thrown away, so that its sender gets to read the refusal.
const DRAINED_BYTES_MAX: usize = 4 * OTLP_BODY_BYTES_MAX;

/// How long it may take, and how long its sender may pause: one that waits for the reply sends nothing.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// How much is inflated before the budget is asked again.
const STEP_BYTES: usize = 64 * 1024;

pub(super) fn too_large(what: &str) -> ApiError {
    let error =
        format!("the body {what}, expected at most {OTLP_BODY_BYTES_MAX} bytes, also after decompression");
    ApiError::new(Code::TooLarge, error)
}

/// The most bytes that a body of a form may have: in a frame it has some beside its message.
fn bytes_max(form: Form) -> usize {
    OTLP_BODY_BYTES_MAX + if form.is_framed { PREFIX_BYTES } else { 0 }
}

/// Whether a body is as short as it has to be, as far as its head says.
pub(super) fn check_length(body: &Body, form: Form) -> Result<(), ApiError> {
    let announced = body.size_hint().lower();
    if announced > bytes_max(form) as u64 {
        return Err(too_large(&format!("has {announced} bytes")));
    }
    Ok(())
}

/// The bytes of a body that arrives in time.
pub(super) async fn take_in(
    body: &mut Body,
    form: Form,
    hold: &mut Hold,
    time_max: Duration,
) -> Result<Bytes, ApiError> {
    let slow = |_| {
        let error = format!("the body did not arrive within {} s", time_max.as_secs());
        ApiError::new(Code::Timeout, error)
    };
    tokio::time::timeout(time_max, read(body, bytes_max(form), hold)).await.map_err(slow)?
}

async fn read(body: &mut Body, bytes_max: usize, hold: &mut Hold) -> Result<Bytes, ApiError> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::invalid("the body ended before it was complete"))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if first.len().max(all.len()) + bytes.len() > bytes_max {
            return Err(too_large("is larger"));
        }
        hold.grow(bytes.len())?;
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

/// Reads what a refused sender still sends, for so long and so much.
pub(super) async fn discard(body: &mut Body) {
    let drained = async {
        let mut seen = 0;
        while seen <= DRAINED_BYTES_MAX
            && let Ok(Some(Ok(frame))) = tokio::time::timeout(PAUSE_MAX, body.frame()).await
        {
            seen += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, drained).await;
}

/// A body that is being inflated: gzip, of one member or several.
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

    /// Goes on until the end or until there are so many bytes; whether it is the end. Never further than one byte past the limit.
    pub(super) fn inflate_to(&mut self, bytes: usize, hold: &mut Hold) -> Result<bool, ApiError> {
        while !self.is_done && self.out.len() < bytes {
            let room = STEP_BYTES.min(OTLP_BODY_BYTES_MAX + 1 - self.out.len());
            let step = (&mut self.decoder).take(room as u64).read_to_end(&mut self.out);
            let step =
                step.map_err(|_| ApiError::invalid("the body is not gzip, or ends before it is complete"))?;
            if self.out.len() > OTLP_BODY_BYTES_MAX {
                return Err(too_large("is larger when it is inflated"));
            }
            hold.grow(step)?;
            self.is_done = step < room;
        }
        Ok(self.is_done)
    }

    /// All of it.
    pub(super) fn finish(mut self, hold: &mut Hold) -> Result<Bytes, ApiError> {
        self.inflate_to(usize::MAX, hold)?;
        drop(self.decoder);
        hold.shrink(self.compressed_bytes);
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
        let mut hold = Budget::new(64 * 1024 * 1024).hold();
        Inflating::new(compressed.into()).finish(&mut hold).map_err(|error| error.code())
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
    fn what_is_no_gzip_or_only_a_part_of_it_is_refused() {
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
    fn what_is_inflated_is_held_and_what_was_compressed_is_not_any_more() {
        let compressed = gzip(&vec![0; 512 * 1024]);
        let budget = Budget::new(1024 * 1024);
        let mut hold = budget.hold();
        hold.grow(compressed.len()).unwrap();
        let bytes = Inflating::new(compressed.clone().into()).finish(&mut hold).unwrap();
        let mut rest = budget.hold();
        rest.grow(512 * 1024).unwrap();
        assert!(rest.grow(1).is_err());
        drop((hold, bytes, rest));
        let mut small = Budget::new(256 * 1024).hold();
        let error = Inflating::new(compressed.into()).finish(&mut small).unwrap_err();
        assert_eq!(error.code(), Code::Overloaded);
    }
}
