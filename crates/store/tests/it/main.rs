//! The evidence log under a hostile eye: what every store promises, and what the one on SQLite does when its disk fails it.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

mod support;
mod windows;
