//! The native addon of the Node package.
//!
//! | module | is |
//! |---|---|
//! | `engine` | the gates of `renown-embed` |
//! | `verdict` | the result of an evaluation as JSON text, which both sides read |
//! | `telemetry` | sends verdicts to a server |
//!
//! The TypeScript side (`src`) has what is easier to write there: types, custom gates, promises, and everything about
//! HTTP. Values are passed as JSON text, which is the fastest way.

pub mod engine;
pub mod telemetry;
mod verdict;

use napi::{Error, Status};

/// Creates the error for an invalid argument of the caller.
fn invalid(error: impl core::fmt::Display) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

/// Creates the error for a failure that the caller did not cause.
fn failed(error: impl core::fmt::Display) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
