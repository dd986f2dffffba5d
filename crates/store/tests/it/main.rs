//! The evidence log under a hostile eye: what every store promises, and what the one on SQLite does when its disk fails it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken test fails loudly")]

mod replay;
mod support;
mod windows;
