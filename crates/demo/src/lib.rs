//! A month of twelve made-up agents, for `renown serve --demo`.
//!
//! ```text
//! agents.rs       the characters, a table        ┐
//! evaluations.rs  what the gates said            │
//! sessions.rs     telemetry in every dialect     ├──►  plan.rs: one timeline  ──►  fill.rs: a store
//! runs.rs         everyday runs, two contests    │     the time is an argument     its clock goes along
//! reputation.rs   events of identities           ┘
//! live.rs         what happens while somebody looks
//! logs/*          how the records of each agent look; `cargo xtask generate` uses them too
//! ```
//!
//! The plan is pure: the same present gives the same month. Nothing here asks a clock, and nothing is random but by a seed.

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
