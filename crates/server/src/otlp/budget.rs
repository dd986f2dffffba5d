//! Limits the memory of telemetry in flight, over all clients: received bytes, inflated bytes, and batches that wait for the store. Past the
//! limit a request is refused with 503, and nothing is counted.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, Code};

const KIB: usize = 1024;

/// The memory that is free, in KiB.
pub(crate) struct Budget(Arc<Semaphore>);

/// The part of the budget that one body uses. It is released on drop.
pub(super) struct Reservation {
    budget: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes_max / KIB)))
    }

    /// Creates an empty reservation.
    pub(super) fn reserve(&self) -> Reservation {
        Reservation { budget: Arc::clone(&self.0), permit: None, bytes: 0 }
    }
}

impl Reservation {
    /// Reserves more bytes. Fails if not enough memory is free.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), ApiError> {
        let overloaded = || {
            ApiError::new(Code::Overloaded, "too much telemetry is in flight; nothing was counted, try again")
        };
        let bytes = self.bytes.saturating_add(bytes);
        let missing = bytes.div_ceil(KIB) - self.bytes.div_ceil(KIB);
        if missing > 0 {
            let missing = u32::try_from(missing).map_err(|_| overloaded())?;
            let more = Arc::clone(&self.budget).try_acquire_many_owned(missing).map_err(|_| overloaded())?;
            match &mut self.permit {
                Some(permit) => permit.merge(more),
                None => self.permit = Some(more),
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Grows to at least `bytes`. Fails if not enough memory is free.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        self.grow(bytes.saturating_sub(self.bytes))
    }

    /// Releases some of the bytes.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        let spare = self.bytes.div_ceil(KIB) - less.div_ceil(KIB);
        self.bytes = less;
        drop(self.permit.as_mut().and_then(|permit| permit.split(spare)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_memory_is_free_again_after_shrinking_and_dropping() {
        let budget = Budget::new(4 * KIB);
        let left = || budget.0.available_permits();
        let (mut one, mut other) = (budget.reserve(), budget.reserve());
        for (bytes, expected) in [(0, 4), (1, 3), (KIB - 1, 3), (1, 2), (KIB, 1)] {
            one.grow(bytes).unwrap();
            assert_eq!(left(), expected, "{bytes}");
        }
        other.grow_to(KIB).unwrap();
        other.grow_to(10).unwrap();
        assert_eq!(left(), 0);
        assert_eq!(other.grow(1).unwrap_err().code(), Code::Overloaded);
        one.shrink(KIB);
        assert_eq!(left(), 1);
        other.grow(1).unwrap();
        drop(one);
        assert_eq!(left(), 2);
        drop(other);
        assert_eq!(left(), 4);
        assert!(budget.reserve().grow(usize::MAX).is_err());
    }
}
