//! Limits the memory of all outputs that are being judged.
//!
//! One verdict needs a small multiple of the size of its output, see [`Engine::memory_max`]. This module limits the sum over all clients.
//! Past the limit a request is refused with 503, and nothing is counted.
//!
//! [`Engine::memory_max`]: renown_core::gates::Engine::memory_max

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{ApiError, Code};

const KIB: usize = 1024;

/// The memory that is free, in KiB.
pub(crate) struct Judging(Semaphore);

impl Judging {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self(Semaphore::new((bytes_max / KIB).min(Semaphore::MAX_PERMITS)))
    }

    /// Reserves memory until the permit is dropped. Fails if not enough is free.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<SemaphorePermit<'_>, ApiError> {
        let kib = u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX);
        self.0.try_acquire_many(kib).map_err(|_| {
            ApiError::new(
                Code::Overloaded,
                "too many outputs are being judged; nothing was counted, try again",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_memory_is_free_again_after_the_drop() {
        let judging = Judging::new(4 * KIB);
        let one = judging.reserve(3 * KIB).unwrap();
        let other = judging.reserve(1).unwrap();
        let refused = judging.reserve(1).unwrap_err();
        assert_eq!((refused.code(), refused.retry_after_seconds()), (Code::Overloaded, Some(1)));
        drop(one);
        assert!(judging.reserve(3 * KIB + 1).is_err());
        assert!(judging.reserve(3 * KIB).is_ok());
        drop(other);
        assert!(judging.reserve(4 * KIB).is_ok());
        assert!(judging.reserve(usize::MAX).is_err());
    }
}
