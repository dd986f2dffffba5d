//! Tests of the evidence store: what every store promises, and what the store on SQLite does when its disk fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a broken test fails loudly"
)]

mod backup;
mod behind;
mod conformance;
mod days;
mod erasure;
mod failures;
mod forget;
mod replay;
mod runs;
mod sessions;
mod summaries;
mod support;
mod telemetry;
mod upgrade;
mod windows;
