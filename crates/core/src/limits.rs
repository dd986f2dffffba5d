//! Every limit on evidence, in one place. Each has a test on both sides of it where it is enforced.

use core::time::Duration;

/// Longest agent id, in Unicode characters.
pub const AGENT_ID_CHARS_MAX: usize = 200;

/// Longest organization name, in characters of `[a-z0-9-]`.
pub const ORG_ID_CHARS_MAX: usize = 64;

/// Longest session id, in bytes: agents choose them, and nothing but their length is known.
pub const SESSION_ID_BYTES_MAX: usize = 256;

/// Longest trace id, in bytes: a derived trace is named after its session, `<session>#0`, so it may be longer.
pub const TRACE_ID_BYTES_MAX: usize = 512;

/// Longest run id, in Unicode characters.
pub const RUN_ID_CHARS_MAX: usize = 200;

/// Longest name of a workspace, in Unicode characters.
pub const WORKSPACE_CHARS_MAX: usize = 200;

/// Longest id of a spec, in Unicode characters.
pub const SPEC_ID_CHARS_MAX: usize = 200;

/// Longest branch of a run, in Unicode characters.
pub const BRANCH_CHARS_MAX: usize = 500;

/// Longest address of a pull request, in Unicode characters.
pub const PULL_REQUEST_CHARS_MAX: usize = 2000;

/// Largest attributes of a run, in bytes of JSON.
pub const RUN_ATTRIBUTES_BYTES_MAX: usize = 64 * 1024;

/// Largest stages of a run, in bytes of JSON.
pub const RUN_STAGES_BYTES_MAX: usize = 64 * 1024;

/// Deepest nesting of the stages and attributes of a run: JSON parsers stop at 128 levels, and a list of runs adds
/// some levels.
pub const RUN_DEPTH_MAX: usize = 100;

/// Longest public name of an agent, in characters of `[a-z0-9-]`.
pub const SLUG_CHARS_MAX: usize = 64;

/// Most reputation events in one batch.
pub const REPUTATION_EVENTS_MAX: usize = 1000;

/// Retention of reputation events, and the largest age of an event that is sent: three years.
pub const REPUTATION_EVENT_DAYS_MAX: i64 = 1096;

/// Longest evaluation id, in characters of `[A-Za-z0-9_-]`.
pub const EVALUATION_ID_CHARS_MAX: usize = 64;

/// Longest name of a tool, in Unicode characters.
pub const TOOL_NAME_CHARS_MAX: usize = 200;

/// Longest name of a gate in a verdict that a client sends, in Unicode characters.
pub const GATE_NAME_CHARS_MAX: usize = 200;

/// Longest reason of a gate, in Unicode characters.
pub const GATE_REASON_CHARS_MAX: usize = 500;

/// Most gates in one verdict that a client sends.
pub const GATES_MAX: usize = 50;

/// Most evaluations in one batch.
pub const BATCH_EVENTS_MAX: usize = 100;

/// Longest idempotency key, in Unicode characters.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 200;

/// Largest latency of one evaluation, in milliseconds.
pub const LATENCY_MS_MAX: u32 = 60_000;

/// Largest weight of a signal.
pub const SIGNAL_WEIGHT_MAX: f64 = 10.0;

/// Largest magnitude of one `score_delta`.
pub const SCORE_DELTA_ABS_MAX: f64 = 1_000_000.0;

/// Longest event type, in Unicode characters.
pub const EVENT_TYPE_CHARS_MAX: usize = 200;

/// Largest cost of one record, in whole US dollars. 10^14 such records can be summed exactly.
pub const COST_USD_MAX: u128 = 1_000_000_000_000_000;

/// Largest whole number of a run report or of session totals (bytes, milliseconds, counts). A cgroup without a
/// memory limit reports 9 223 372 036 854 771 712 bytes, which has to fit.
pub const WHOLE_MAX: u64 = i64::MAX.unsigned_abs();

/// Largest JSON text of one input, in bytes. A longer one is rejected without being held in memory.
pub const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How much of a rejected value an error shows, in characters.
pub const FOUND_CHARS_MAX: usize = 60;

/// Most unknown fields of one request that are named; the rest is only counted.
pub const UNKNOWN_FIELDS_MAX: usize = 20;

/// Deepest nesting that gates look into, in objects and arrays, including JSON inside strings.
pub const GATE_DEPTH_MAX: usize = 128;

/// Most text that gates parse again as JSON inside strings, in multiples of the length of the output.
pub const GATE_EMBEDDED_TIMES_MAX: usize = 4;

/// Number of bytes after which a gate checks its deadline.
pub const GATE_STRIDE_BYTES: usize = 64 * 1024;

/// Memory limit of an evaluation, in multiples of the size of its output.
pub const GATE_MEMORY_TIMES: usize = 8;

/// Memory of a parsed JSON tree, in multiples of its text: 32 bytes for a one-digit number and its comma, and as much
/// again while a list grows.
pub const GATE_TREE_TIMES: usize = 48;

/// Most findings that a gate counts and redacts. An output with more findings fails.
pub const GATE_FINDINGS_MAX: usize = 65_536;

/// Deepest nesting of commands within commands that a gate reads.
pub const SHELL_LEVELS_MAX: usize = 8;

/// Largest budget of an evaluation, in milliseconds.
pub const GATE_BUDGET_MS_MAX: u32 = 60_000;

/// Wall-clock limit of an evaluation on a busy machine, in multiples of its budget.
pub const GATE_WALL_TIMES: u32 = 10;

/// Smallest wall-clock limit of an evaluation, for small budgets.
pub const GATE_WALL_MIN: Duration = Duration::from_secs(10);
