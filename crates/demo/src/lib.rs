//! Demo data for `renown serve --demo`: a month of twelve made-up agents.
//!
//! ```text
//! agents.rs       a table of the agents          ┐
//! evaluations.rs  verdicts of the gates          │
//! sessions.rs     telemetry in every dialect     ├──►  plan.rs: one timeline  ──►  fill.rs: a store
//! runs.rs         everyday runs, two contests    │     the time is an argument     its clock follows the timeline
//! reputation.rs   reputation events              ┘
//! live.rs         evaluations while the demo runs
//! logs/*          the records of each dialect; `cargo xtask generate` uses them too
//! ```
//!
//! The plan is pure: the same current time gives the same month. No code here reads a clock, and all randomness has a
//! fixed seed.

mod agents;
mod calendar;
mod clock;
mod evaluations;
mod fill;
mod live;
pub mod logs;
mod plan;
mod prices;
pub mod random;
mod reputation;
mod runs;
mod sessions;
#[cfg(test)]
mod tests;

pub use calendar::MONTH_DAYS;
pub use clock::DemoClock;
pub use fill::{Filled, fill};
pub use live::Live;
pub use plan::{Month, PlanError, plan};
pub use prices::prices;
