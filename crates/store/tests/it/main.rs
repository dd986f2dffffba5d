//! The evidence log under a hostile eye: what every store promises, and what the one on SQLite does when its disk fails it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a broken test fails loudly"
)]

mod backup;
mod conformance;
mod dice;
mod failures;
mod replay;
mod support;
mod windows;
