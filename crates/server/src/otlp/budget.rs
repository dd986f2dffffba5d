//! The memory that telemetry in flight may have, over all senders: what arrives, what it is inflated to, and what of it waits
//! for the store. Past it a sender is told to come back, and nothing of it is counted.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, Code};

/// What all bodies in flight hold together.
pub(crate) const IN_FLIGHT_BYTES_MAX: usize = 64 * 1024 * 1024;

const KIB: usize = 1024;

/// The memory that is left, in KiB.
pub(crate) struct Budget(Arc<Semaphore>);

/// The part of it that one body has. It goes back when this is dropped.
pub(super) struct Hold {
    budget: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes_max / KIB)))
    }

    /// The hold of a body of which nothing has arrived yet.
    pub(super) fn hold(&self) -> Hold {
        Hold { budget: Arc::clone(&self.0), permit: None, bytes: 0 }
    }
}

impl Hold {
    /// Takes so much more, or tells that there is no room now.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), ApiError> {
        let overloaded = || {
            ApiError::new(Code::Overloaded, "too much telemetry is in flight, try again; nothing was counted")
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

    /// Takes what is missing to have so much.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        self.grow(bytes.saturating_sub(self.bytes))
    }

    /// Gives so much back.
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
    fn what_is_held_is_missing_until_it_is_given_back() {
        let budget = Budget::new(4 * KIB);
        let left = || budget.0.available_permits();
        let (mut one, mut other) = (budget.hold(), budget.hold());
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
        assert!(budget.hold().grow(usize::MAX).is_err());
    }
}
