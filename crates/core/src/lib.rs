//! The rules of Renown: five scores, each an exact pure function of evidence.
//!
//! | score | module | range |
//! |---|---|---|
//! | reputation of an agent | [`reputation`] | 0–1000, with a lifecycle |
//! | performance of a session | [`performance`] | 0–10, with keep, review or doff |
//! | scorecard of a run | [`scorecard`] | 0–100, with a tier |
//! | reliability and consistency of a session | [`session_metrics`] | 0–1 each, with a band |
//! | reputation of an identity over time | [`identity`] | weighted means, with confidence and trends |
//!
//! [`kind`] calls each of them by its name: JSON in, JSON out.
//!
//! Every module opens with its formula and a table of its symbols, and holds every constant of its rule. A rule is
//! one computation: the score and its [`explain`] list are two views of the same result.
//!
//! What is deliberately absent: a clock, files, sockets, threads, randomness, hash maps and logging (`clippy.toml`
//! next to this crate bans them), and floating-point arithmetic where integers are enough (`clippy::float_arithmetic`
//! is denied; each exception states its reason).
//!
//! ```
//! use renown_core::reputation::{Sample, Window};
//! use renown_core::units::Micros;
//!
//! let mut window = Window::default();
//! window.push(Sample { passed: true, latency: Micros::from_ms(12.5)? });
//! assert_eq!(window.tally().breakdown().score(), 623);
//! # Ok::<(), renown_core::units::MicrosError>(())
//! ```

#![deny(clippy::float_arithmetic, reason = "a float that is floored or compared gives wrong scores")]

pub mod backoff;
pub mod decimal;
pub mod eval;
pub mod explain;
pub mod gates;
pub mod hex;
pub mod identity;
pub mod ids;
pub mod json;
pub mod kind;
pub mod limits;
pub mod performance;
pub mod reputation;
pub mod schedule;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scorecard;
pub mod session_metrics;
pub mod spelling;
pub mod time;
pub mod units;
