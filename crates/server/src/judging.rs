//! The memory that outputs may have while they are judged, over all clients.
//!
//! One verdict needs a small multiple of its output, see [`Engine::memory_max`]. What all of them need together is bounded here: past
//! it a client is asked to come back, and nothing of its output is counted.
//!
//! [`Engine::memory_max`]: renown_core::gates::Engine::memory_max

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{ApiError, Code};

const KIB: usize = 1024;

/// The memory that is left, in KiB.
pub(crate) struct Judging(Semaphore);

impl Judging {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self(Semaphore::new((bytes_max / KIB).min(Semaphore::MAX_PERMITS)))
    }

    /// Takes so much until the permit is dropped.
    pub(crate) fn hold(&self, bytes: usize) -> Result<SemaphorePermit<'_>, ApiError> {
        let kib = u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX);
        self.0.try_acquire_many(kib).map_err(|_| {
            ApiError::new(
                Code::Overloaded,
                "too many outputs are being judged, try again; nothing was counted",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_missing_until_it_is_given_back() {
        let judging = Judging::new(4 * KIB);
        let one = judging.hold(3 * KIB).unwrap();
        let other = judging.hold(1).unwrap();
        let refused = judging.hold(1).unwrap_err();
        assert_eq!((refused.code(), refused.retry_after_seconds()), (Code::Overloaded, Some(1)));
        drop(one);
        assert!(judging.hold(3 * KIB + 1).is_err());
        assert!(judging.hold(3 * KIB).is_ok());
        drop(other);
        assert!(judging.hold(4 * KIB).is_ok());
        assert!(judging.hold(usize::MAX).is_err());
    }
}
