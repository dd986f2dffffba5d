//! Reads logs (files, globs and standard input, compressed or not) on all cores into one ledger.
//!
//! ```text
//! log files ──►  stream: decompress, cut at line ends ──►  workers: parse  ──►  ledger, in the order of the stream
//!                one thread                                 one per core         one at a time
//! ```
//!
//! Parsing is the expensive part, so only parsing is spread over the cores. Its results are small and are folded in the order of
//! the stream. So the result does not depend on the number of threads, even where the contract says "the first".
//!
//! Memory holds only a few chunks, however long the file is.

pub(crate) mod chunk;
pub(crate) mod follow;
pub(crate) mod log_files;
pub(crate) mod parallel;
pub(crate) mod reading;
pub(crate) mod stream;
#[cfg(test)]
mod tests;
