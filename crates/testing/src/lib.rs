//! What the tests of several crates share. It is only ever a development dependency.
//!
//! | item | what it is |
//! |---|---|
//! | [`Rng`] | random numbers that depend only on a seed |
//! | [`Scratch`] | a directory for one test |
//! | [`TestClock`] | a clock that a test sets |
//! | [`wait`] | waits for a future, without a runtime |
//! | [`until`] | waits for a condition |
//!
//! It depends on no other crate. So the unit tests of every crate can use it, and meet no second compilation of
//! their own types.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::missing_panics_doc,
    reason = "a broken test fails loudly"
)]

mod clock;
mod rng;
mod scratch;
mod wait;

pub use clock::{NOON_MS, TestClock};
pub use rng::Rng;
pub use scratch::Scratch;
pub use wait::{PATIENCE, until, wait};
