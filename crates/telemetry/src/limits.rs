//! All limits on telemetry. Each limit has a test on both sides of it, next to the code that enforces it.

pub use renown_core::limits::SESSION_ID_BYTES_MAX;

/// Maximum length of a line or frame in bytes. A longer one is skipped without being read into memory.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Maximum nesting depth of objects and arrays in one line.
pub const NESTING_MAX: usize = 64;

/// Maximum number of attributes read per record or resource. The rest are ignored.
pub const ATTRIBUTES_MAX: usize = 1024;

/// Maximum value of a token count, a duration in milliseconds and a cost in dollars.
pub const NUMBER_MAX: u64 = 1_000_000_000_000_000;

/// Maximum length of an event name in bytes. A longer body is prose and not a name.
pub const NAME_BYTES_MAX: usize = 100;

/// Maximum length of a stored `error_type` in bytes. A longer one is dropped.
pub const ERROR_TYPE_BYTES_MAX: usize = 64;

/// Maximum length of an agent id in characters. A longer one is cut.
pub const AGENT_ID_CHARS_MAX: usize = renown_core::limits::AGENT_ID_CHARS_MAX;

/// Maximum length of a masque name in characters. A longer one is cut.
pub const MASQUE_CHARS_MAX: usize = 200;

/// Maximum length of a tool or model name in characters. A longer one is cut. One name on a resource is copied to all
/// records of the resource, so without this limit a batch could grow to the square of its input.
pub const FACT_TEXT_CHARS_MAX: usize = 200;

/// Number of records of one session that are deduplicated. Later records are not.
pub const REPEATS_MAX: usize = 65_536;

/// Number of latest steps (prompts and tool calls) that the folded traces of a session hold one by one, so that a step
/// that arrives late can be inserted in order. A store writes about a dozen bytes per step with every batch.
pub const LATEST_STEPS_MAX: usize = 32;

/// Maximum number of folded traces per session. If a session has more, its traces are read from its records.
pub const FOLDED_TRACES_MAX: usize = 8192;

/// Maximum number of sessions in one ledger.
pub const SESSIONS_MAX: usize = 1_000_000;
