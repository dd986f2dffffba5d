//! Every limit on telemetry, in one place. Each has a test on both sides of it where it is enforced.

pub use renown_core::limits::SESSION_ID_BYTES_MAX;

/// Longest line or frame, in bytes. A longer one is skipped without being held.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Deepest nesting of objects and arrays in one line.
pub const NESTING_MAX: usize = 64;

/// How many attributes of a record or resource are looked at.
pub const ATTRIBUTES_MAX: usize = 1024;

/// Largest number that a token count, a duration in milliseconds or a cost in dollars can be.
pub const NUMBER_MAX: u64 = 1_000_000_000_000_000;

/// Longest text that can be the name of an event, in bytes; a longer body is prose.
pub const NAME_BYTES_MAX: usize = 100;

/// Longest `error_type` that is kept, in bytes.
pub const ERROR_TYPE_BYTES_MAX: usize = 64;

/// Longest agent id, in characters; a longer one is cut.
pub const AGENT_ID_CHARS_MAX: usize = renown_core::limits::AGENT_ID_CHARS_MAX;

/// Longest masque name, in characters; a longer one is cut.
pub const MASQUE_CHARS_MAX: usize = 200;

/// Longest name of a tool or model that a fact keeps, in characters; a longer one is cut. A resource can hold one for all
/// of its records, so without a limit a batch could be as large as the square of its input.
pub const FACT_TEXT_CHARS_MAX: usize = 200;

/// Records of one session among which repeats are found. Beyond that they are no longer looked for.
pub const REPEATS_MAX: usize = 65_536;

/// Latest steps of a session (prompts and tool calls) that its folded traces hold one by one, so that a step that arrives
/// late finds its place among them. Each is a dozen bytes of what a store writes with every batch.
pub const LATEST_STEPS_MAX: usize = 32;

/// Traces of one session that are folded. A session with more has them read from its records.
pub const FOLDED_TRACES_MAX: usize = 8192;

/// Sessions that one ledger holds.
pub const SESSIONS_MAX: usize = 1_000_000;
