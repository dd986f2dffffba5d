//! Reading logs: files, globs and standard input, compressed or not, on all cores, into one ledger.
//!
//! ```text
//! sources ──►  stream: decompress, cut at line ends ──►  workers: parse  ──►  ledger, in the order of the stream
//!              one thread                                 one a core           one at a time
//! ```
//!
//! Parsing is what costs, so only parsing is spread over the cores. What it makes is small and is folded in the order of
//! the stream, so the result is the same on one thread or on many, also where the contract says "the first".
//!
//! Memory holds a few chunks, whatever the length of the file.

pub(crate) mod chunk;
pub(crate) mod follow;
pub(crate) mod log_files;
pub(crate) mod parallel;
pub(crate) mod reading;
pub(crate) mod stream;
#[cfg(test)]
mod tests;
