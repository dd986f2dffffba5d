//! Logs as agents write them, from a seed.

pub mod logs;
pub mod random;
