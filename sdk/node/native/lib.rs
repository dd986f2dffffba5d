//! What the Node package does in Rust.
//!
//! | module | is |
//! |---|---|
//! | `engine` | the gates, of `renown-embed` |
//! | `verdict` | what an evaluation found, as JSON text that both sides read |
//! | `telemetry` | verdicts on their way to a server |
//!
//! The TypeScript side (`src`) holds what is better said there: types, gates that are functions of JavaScript, promises, and
//! everything about HTTP. Values cross as JSON text, which is the fastest way over.

pub mod engine;
pub mod telemetry;
mod verdict;

use napi::{Error, Status};

/// What the caller gave is not allowed.
fn refused(error: impl core::fmt::Display) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

/// It is not the caller's fault.
fn failed(error: impl core::fmt::Display) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
