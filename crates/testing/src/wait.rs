//! Waiting for futures and for conditions.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The longest that a test waits for one thing. A test that waits longer has failed.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// How often [`until`] checks its condition.
const POLL: Duration = Duration::from_millis(1);

/// Waits for a future that needs no runtime, such as a reply of a store.
pub fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits until a condition is true. Panics if it is not true in time.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the state of another process can only be polled")]
pub fn until(mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "the condition did not become true in time");
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_that_another_thread_completes_is_awaited() {
        let mut polls = 0;
        let future = std::future::poll_fn(|context| {
            polls += 1;
            if polls == 3 {
                return Poll::Ready("done");
            }
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert_eq!(wait(future), "done");
    }

    #[test]
    fn a_condition_is_checked_until_it_is_true() {
        let mut checks = 0;
        until(|| {
            checks += 1;
            checks == 3
        });
        assert_eq!(checks, 3);
    }
}
