//! The gates: pure checks of one agent output, each of which passes, fails or is skipped.
//!
//! Settings in, an [`Engine`] out; an output in, a [`Verdict`] out. The server, the command line and whoever embeds
//! this crate run the same code, so an output gets the same verdict everywhere.
//!
//! | rule | what it means |
//! |---|---|
//! | verdict | passes when every gate passed or was skipped; results stand in the configured order |
//! | order | built-in gates run one by one, then the caller's own together, see [`Started`] |
//! | budget | the time that the judging thread may run, see [`GateClock`]; a gate that has not finished by then fails, `renown:timeout` |
//! | panic | a gate that panics fails, `renown:error` |
//! | fail fast | gates after the first failing one are skipped, `renown:aborted` |
//! | observe | a failure is reported as skipped, `observed: …` |
//! | redact | `pii` and `secrets`: passes, `redacted 2 email address`, and [`Verdict::redacted`] has `[email address]` for each |
//! | tmax | a guard that finds too little time left skips the other `rtb.*` gates, `renown:tmax`, and no others |
//! | reason | at most 500 characters of the gate's own words, never text of the payload |
//! | texts | text gates see every string and key to depth 128; a string that is a JSON object or array also decoded |
//! | repeated keys | every occurrence is gated, which is why the output stays JSON text and never becomes a tree |
//!
//! | gate | file | looks for |
//! |---|---|---|
//! | `latency` | `gates/latency.rs` | an agent that took too long |
//! | `schema` | `gates/schema.rs` | an output or input of another shape than a JSON schema |
//! | `filesystem` | `gates/filesystem.rs` | commands that destroy, paths that climb, and paths of systems and credentials |
//! | `pii` | `gates/pii.rs` | numbers and addresses of persons |
//! | `secrets` | `gates/secrets.rs` | keys, tokens and passwords |
//! | `injection` | `gates/injection.rs` | text that gives orders to the model which reads it |
//! | `content` | `gates/content.rs` | empty outputs and refusals |
//! | `rtb.*` | `gates/rtb.rs` | bids of an auction that should not be made; `rtb` in a set stands for all six |
//!
//! A gate is a variant of the closed enum `Gate`: a new one breaks the build wherever it has to be decided.
//!
//! Time and memory are linear in the output. The deadline is checked every 64 KiB, so that nothing that is sent can
//! hold a thread; what is deliberately absent is a gate that asks a model, the network, a file or the clock.
//!
//! ```
//! use core::time::Duration;
//! use renown_core::gates::{Choice, Context, Engine, Place, Settings};
//!
//! let mut no_schemas = |_: &str| Err("no files here".to_owned());
//! let engine = Engine::new(&Settings::default(), &Choice::of(Place::Evaluate), &mut no_schemas)?;
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
pub use settings::{Choice, Links, Mode, Part, Place, Settings, Strictness};
pub use started::{Outcome, Started};
pub use verdict::{GateResult, Verdict};
