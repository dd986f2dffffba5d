//! The gates inside another program: the part that the SDKs of all languages share.
//!
//! ```text
//! Engine::of, Engine::from_file ──► Engine
//! Subject::new ──► Engine::start ──► Evaluation ──► the caller's own gates ──► Evaluation::finish ──► Judged ──► EncodedVerdict
//! ```
//!
//! The core has no clock, no randomness and no files; this crate provides them. An SDK adds its language: how values
//! become JSON text, how functions of that language run as gates, and its exceptions.

mod engine;
mod evaluation;
mod settings;
mod telemetry;

pub use engine::{BuildError, Engine};
pub use evaluation::{CustomResult, Evaluation, FieldError, Judged, MachineError, Subject};
pub use telemetry::{seconds, ship};
