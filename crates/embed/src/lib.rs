//! The gates inside of another program: what the SDKs of all languages have in common.
//!
//! ```text
//! Engine::of, Engine::from_file ──► Engine
//! Subject::new ──► Engine::start ──► Evaluation ──► the caller's own gates ──► Evaluation::finish ──► Judged ──► Event
//! ```
//!
//! The core has no clock, no chance and no files; this crate has them. What an SDK adds is its language: how values become
//! JSON text, how functions of that language are run as gates, and which exceptions there are.

mod engine;
mod evaluation;
mod settings;
mod telemetry;

pub use engine::{BuildError, Engine};
pub use evaluation::{Evaluation, FieldError, Judged, MachineError, Said, Subject};
pub use telemetry::{seconds, ship};
