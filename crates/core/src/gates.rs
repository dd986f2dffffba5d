//! The gates: pure checks of one agent output, and each passes, fails or is skipped.
//!
//! Settings in, an [`Engine`] out; an output in, a [`Verdict`] out. The server, the command line and programs that
//! embed this crate run the same code, so an output gets the same verdict everywhere.
//!
//! | rule | meaning |
//! |---|---|
//! | verdict | passes when every gate passed or was skipped; results are in the configured order |
//! | order | built-in gates run one by one, then all custom gates together, see [`Started`] |
//! | budget | CPU time of the judging thread, see [`GateClock`]; a gate that does not finish in time fails, `renown:timeout` |
//! | panic | a gate that panics fails, `renown:error` |
//! | fail fast | gates after the first failing one are skipped, `renown:aborted` |
//! | observe | a failure is reported as skipped, `observed: …` |
//! | redact | `pii` and `secrets`: the gate passes, `redacted 2 email address`, and [`Verdict::redacted`] has `[email address]` in place of each |
//! | tmax | if too little time is left, `rtb.tmax-guard` skips the other `rtb.*` gates, `renown:tmax`, and no other gate |
//! | reason | at most 500 characters written by the gate, never text of the payload |
//! | texts | text gates see every string and key up to depth 128; a string that is a JSON object or array is also decoded |
//! | repeated keys | every occurrence is gated; this is why the output stays JSON text and is never parsed into a tree |
//!
//! | gate | file | looks for |
//! |---|---|---|
//! | `latency` | `gates/latency.rs` | a latency above a limit |
//! | `schema` | `gates/schema.rs` | an output or input that violates a JSON schema |
//! | `filesystem` | `gates/filesystem.rs` | destructive commands, path traversal, and paths of the system and of credentials |
//! | `pii` | `gates/pii.rs` | personal data: e-mail addresses, phone numbers, card numbers and others |
//! | `secrets` | `gates/secrets.rs` | keys, tokens and passwords |
//! | `injection` | `gates/injection.rs` | text that gives orders to the model that reads it |
//! | `content` | `gates/content.rs` | empty outputs and refusals |
//! | `rtb.*` | `gates/rtb.rs` | invalid or unwanted bids in an auction; `rtb` in a set means all six |
//!
//! A gate is a variant of the closed enum `Gate`: a new variant breaks the build wherever it has to be handled.
//!
//! Time and memory are linear in the output. The deadline is checked every 64 KiB, so that no output can block a
//! thread. What is deliberately absent: a gate that asks a model, the network, a file or the clock.
//!
//! ```
//! use core::time::Duration;
//! use renown_core::gates::{Choice, Context, Engine, GateSettings, Place};
//!
//! let mut no_schemas = |_: &str| Err("no files here".to_owned());
//! let engine = Engine::new(&GateSettings::default(), &Choice::of(Place::Evaluate), &mut no_schemas)?;
//! let output = serde_json::value::to_raw_value("write to ada@lovelace.org").unwrap();
//! let verdict = engine.evaluate(&Context::of(&output), &|| Duration::ZERO);
//! assert_eq!(verdict.gates[1].reason.as_deref(), Some("email address detected in output"));
//! # Ok::<(), renown_core::gates::SettingsError>(())
//! ```

mod clock;
mod content;
mod engine;
mod escape;
mod filesystem;
mod injection;
mod keywords;
mod latency;
mod options;
mod pii;
mod redact;
mod rtb;
mod rules;
mod scan;
mod schema;
mod secrets;
mod settings;
mod started;
mod text;
mod tree;
mod verdict;

pub use clock::GateClock;
pub use engine::{Context, Engine, ReadSchema, Tmax};
pub use options::{SettingsError, SettingsProblem};
pub use settings::{Choice, GateSettings, JudgedPart, Links, Mode, Place, Strictness};
pub use started::{CustomOutcome, Started};
pub use verdict::{GateResult, Verdict};
