//! Every limit on evidence, in one place. Each has a test on both sides of it where it is enforced.

use core::time::Duration;

/// Longest agent id, in Unicode characters.
pub const AGENT_ID_CHARS_MAX: usize = 200;

/// Longest organization name, in characters of `[a-z0-9-]`.
pub const ORG_ID_CHARS_MAX: usize = 64;

/// Longest session id, in bytes: agents make them, and nothing but their length is promised.
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

/// Most that a run may bring along as attributes, in bytes of JSON.
pub const RUN_ATTRIBUTES_BYTES_MAX: usize = 64 * 1024;

/// Most that the stages of a run may take, in bytes of JSON.
pub const RUN_STAGES_BYTES_MAX: usize = 64 * 1024;

/// Deepest that stages and attributes of a run may be nested: readers of JSON stop at 128 levels, and a page of runs has some of its own.
pub const RUN_DEPTH_MAX: usize = 100;

/// Longest name under which an agent is shown to everybody, in characters of `[a-z0-9-]`.
pub const SLUG_CHARS_MAX: usize = 64;

/// Most reputation events in one batch.
pub const REPUTATION_EVENTS_MAX: usize = 1000;

/// How long reputation events are kept, and how old one may be that is sent: three years.
pub const REPUTATION_EVENT_DAYS_MAX: i64 = 1096;

/// Longest evaluation id, in characters of `[A-Za-z0-9_-]`.
pub const EVALUATION_ID_CHARS_MAX: usize = 64;

/// Longest name of a tool, in Unicode characters.
pub const TOOL_NAME_CHARS_MAX: usize = 200;

/// Longest name of a gate in a verdict that is sent, in Unicode characters.
pub const GATE_NAME_CHARS_MAX: usize = 200;

/// Longest reason of a gate, in Unicode characters.
pub const GATE_REASON_CHARS_MAX: usize = 500;

/// Most gates in one verdict that is sent.
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

/// Largest cost of one record, in whole US dollars. It leaves room to add up 10^14 such records exactly.
pub const COST_USD_MAX: u128 = 1_000_000_000_000_000;

/// Largest whole number of a run report or of session totals (bytes, milliseconds, counts). A cgroup without a
/// memory limit reports 9 223 372 036 854 771 712 bytes, which has to fit.
pub const WHOLE_MAX: u64 = i64::MAX.unsigned_abs();

/// Largest JSON text of one input, in bytes. A longer one is refused without being held in memory.
pub const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How much of a refused value an error repeats, in characters.
pub const FOUND_CHARS_MAX: usize = 60;

/// How many unknown fields of one request are named, before the rest is only counted.
pub const UNKNOWN_FIELDS_MAX: usize = 20;

/// Deepest nesting that gates look into, in objects and arrays, those in strings included.
pub const GATE_DEPTH_MAX: usize = 128;

/// How often a text may be seen again inside strings of JSON, in its own lengths.
pub const GATE_EMBEDDED_TIMES_MAX: usize = 4;

/// After how many bytes a gate looks at its deadline.
pub const GATE_STRIDE_BYTES: usize = 64 * 1024;

/// The memory of an evaluation, in times its output.
pub const GATE_MEMORY_TIMES: usize = 8;

/// The memory of a tree of values, in times its text: 32 bytes for each number of a digit and its comma, and as much again while
/// a list grows.
pub const GATE_TREE_TIMES: usize = 48;

/// Most findings of a gate that are counted, and most that are redacted: an output with more fails.
pub const GATE_FINDINGS_MAX: usize = 65_536;

/// How deep a gate reads commands within commands.
pub const SHELL_LEVELS_MAX: usize = 8;

/// Largest budget of an evaluation, in milliseconds.
pub const GATE_BUDGET_MS_MAX: u32 = 60_000;

/// How many times its budget an evaluation may take by the wall clock, on a machine that is busy.
pub const GATE_WALL_TIMES: u32 = 10;

/// The least that it may take by the wall clock, however small its budget is.
pub const GATE_WALL_MIN: Duration = Duration::from_secs(10);
