//! Settings: `[gates]` and `gate.NAME` of `renown.toml`, and the choices of a caller that override them.
//!
//! | key | is | default |
//! |---|---|---|
//! | `gates.budget_ms` | CPU time of a whole evaluation, 1 to 60 000 ms | 50; 15 for a set with `rtb` |
//! | `gates.fail_fast` | gates after the first failing one are skipped | false |
//! | `gates.strictness` | `strict`: any mention counts; `balanced`: only what looks intended | `strict`; `balanced` in the proxy |
//! | `gates.evaluate`, `.cli` | the set of a place, in order | filesystem, pii, content, secrets |
//! | `gates.proxy` | the set of the proxy | the same, and injection with `mode = "observe"` |
//! | `gate.NAME.kind` | the kind of the gate | NAME |
//! | `gate.NAME.mode` | `enforce`; `observe`: a failure is reported as skipped; `redact` (pii, secrets): findings are replaced | `enforce` |
//! | `gate.NAME.strictness` | strictness of this gate | `gates.strictness` |
//! | `gate.NAME.…` | its options: see the file of each gate | |
//!
//! `rtb` in a set is replaced by the six gates `rtb.*`.
//!
//! `redact` is rejected for a gate of the set `evaluate`, because its response does not return the output. It is
//! rejected where that set is configured, and where an engine is built for it.
//!
//! All settings are checked when an engine is built, including gates that are in no set.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::options::{Options, SettingsError, SettingsProblem, quoted};
use super::rtb;
use crate::json::Found;
use crate::limits::GATE_BUDGET_MS_MAX;

/// The tables of the file, unchecked. [`super::Engine::new`] checks them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GateSettings {
    /// `[gates]`: settings of all gates.
    #[serde(default)]
    pub gates: Map<String, Value>,
    /// `[gate.NAME]`: one table per gate.
    #[serde(default)]
    pub gate: BTreeMap<String, Map<String, Value>>,
}

impl GateSettings {
    /// Returns the paths in the options, `roots` and `cwd` of each gate, for a caller that makes them absolute. Blank
    /// paths are left out and rejected later; a path with a drive letter is absolute on every system.
    pub fn relative_paths(&mut self) -> impl Iterator<Item = &mut String> {
        let is_drive = |path: &str| matches!(path.as_bytes(), [_, b':', b'/' | b'\\', ..]);
        let options = self.gate.values_mut().flat_map(Map::iter_mut);
        let values = options.flat_map(|(name, value)| match (name.as_str(), value) {
            ("roots", Value::Array(roots)) => roots.iter_mut().collect(),
            ("cwd", cwd) => vec![cwd],
            _ => Vec::new(),
        });
        let texts =
            values.filter_map(|value| if let Value::String(path) = value { Some(path) } else { None });
        texts.filter(move |path| !path.trim().is_empty() && !is_drive(path))
    }
}

/// Where gates run. Each place has its own set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `POST /v1/evaluate` and programs that embed the engine.
    Evaluate,
    /// `renown gate`.
    Cli,
    /// `renown proxy`, which runs in front of MCP servers and blocks outputs.
    Proxy,
}

impl Place {
    fn key(self) -> &'static str {
        match self {
            Self::Evaluate => "evaluate",
            Self::Cli => "cli",
            Self::Proxy => "proxy",
        }
    }

    /// Returns its set if none is configured.
    fn default_set(self) -> &'static [&'static str] {
        match self {
            Self::Evaluate | Self::Cli => &["filesystem", "pii", "content", "secrets"],
            Self::Proxy => &["filesystem", "pii", "content", "secrets", "injection"],
        }
    }

    fn default_strictness(self) -> Strictness {
        match self {
            Self::Evaluate | Self::Cli => Strictness::Strict,
            Self::Proxy => Strictness::Balanced,
        }
    }
}

/// The side of a tool call that an engine judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedPart {
    /// The result of a tool.
    Output,
    /// The arguments of a tool, before it runs. Gates that apply to outputs only are left out: `content`, `latency`,
    /// `rtb.*`, and `schema` unless its target is `input`. The others are named `pre.NAME`.
    Arguments,
}

impl JudgedPart {
    /// Returns its name in reasons.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Arguments => "arguments",
        }
    }

    /// Returns the start of a sentence about it.
    pub(super) fn is(self) -> &'static str {
        match self {
            Self::Output => "output is",
            Self::Arguments => "arguments are",
        }
    }
}

/// How much counts as a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Any mention counts.
    Strict,
    /// Only what looks intended counts: legitimate outputs of coding agents are full of paths and addresses.
    Balanced,
}

impl Strictness {
    /// Returns its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Balanced => "balanced",
        }
    }
}

/// The effect of a failing gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The output fails.
    Enforce,
    /// The failure is only reported.
    Observe,
    /// The findings are replaced, and the output passes. Only `pii` and `secrets` support this.
    Redact,
}

/// The choices of a caller, which override the settings.
#[derive(Clone, Debug)]
pub struct Choice<'c> {
    /// The place whose set is used.
    pub place: Place,
    /// Names of gates, instead of the place's set.
    pub gates: Option<&'c [String]>,
    /// How errors call `gates`: `--gates` on a command line, `gates` in a program.
    pub gates_key: &'c str,
    /// Strictness instead of `gates.strictness`. It does not override the strictness of a single gate.
    pub strictness: Option<Strictness>,
    /// Absolute directories, in addition to the roots of each `filesystem` gate.
    pub roots: &'c [String],
    /// Names of custom gates, which the caller runs. They keep their position in the set; those that the set does not
    /// name are added at the end.
    pub customs: &'c [String],
    /// The side of the call that is judged.
    pub part: JudgedPart,
    /// Resolver of symbolic links, for a caller with a file system. If `None`, paths are only resolved as text.
    pub links: Option<Links>,
}

/// A resolver of symbolic links.
#[derive(Clone)]
pub struct Links(Arc<Follow>);

type Follow = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Links {
    /// Wraps a function from an absolute path to its target. It returns `None` if the target is unknown.
    pub fn new(follow: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(follow))
    }

    pub(super) fn follow(&self, path: &str) -> Option<String> {
        (self.0)(path)
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Links")
    }
}

impl Choice<'_> {
    /// Creates the choice that uses the settings of a place unchanged.
    pub fn of(place: Place) -> Self {
        Self {
            place,
            gates: None,
            gates_key: "gates",
            strictness: None,
            roots: &[],
            customs: &[],
            part: JudgedPart::Output,
            links: None,
        }
    }
}

const DEFAULT_BUDGET_MS: u64 = 50;
const SET: &str = "a list of gate names";
const STRICTNESS: &str = "\"strict\" or \"balanced\"";
const STRICTNESSES: [(&str, Strictness); 2] =
    [("strict", Strictness::Strict), ("balanced", Strictness::Balanced)];

/// The name that means all auction gates.
const RTB: &str = "rtb";

/// Returns the gates that a name in a set means.
fn members(name: &str) -> Vec<&str> {
    if name == RTB { rtb::MEMBERS.to_vec() } else { vec![name] }
}

/// `[gates]`, checked.
pub(super) struct Common<'s> {
    pub(super) budget: Duration,
    pub(super) fail_fast: bool,
    pub(super) strictness: Strictness,
    /// The chosen set, and its key for errors.
    pub(super) set: Vec<&'s str>,
    pub(super) set_key: String,
    /// Whether it is the default set of a place.
    is_default_set: bool,
}

impl<'s> Common<'s> {
    pub(super) fn read(settings: &'s GateSettings, choice: &'s Choice<'_>) -> Result<Self, SettingsError> {
        let mut options = Options::new("gates".to_owned(), &settings.gates);
        let budget = options.get("budget_ms");
        let allowed =
            |value: &Value| value.as_u64().filter(|ms| (1..=GATE_BUDGET_MS_MAX.into()).contains(ms));
        let budget = match budget.map(|value| allowed(value).ok_or(value)) {
            None => None,
            Some(Ok(ms)) => Some(ms),
            Some(Err(value)) => {
                let found = Found::new(&value.to_string());
                let expected = "a whole number of milliseconds from 1 to 60000";
                return Err(options.error("budget_ms", SettingsProblem::Value { found, expected }));
            }
        };
        let fail_fast = options.flag("fail_fast", false)?;
        let strictness = options.word("strictness", STRICTNESS, &STRICTNESSES)?;
        let sets =
            [options.texts("evaluate", SET)?, options.texts("cli", SET)?, options.texts("proxy", SET)?];
        options.finish()?;
        let [evaluate, cli, proxy] = sets;
        no_redaction(settings, evaluate.as_deref().unwrap_or_default())?;
        if choice.place == Place::Evaluate && choice.gates.is_none() && evaluate.is_none() {
            no_redaction(settings, choice.place.default_set())?;
        }
        let configured = match choice.place {
            Place::Evaluate => evaluate,
            Place::Cli => cli,
            Place::Proxy => proxy,
        };
        let is_default_set = choice.gates.is_none() && configured.is_none();
        let (set, set_key) = match choice.gates {
            Some(gates) => (gates.iter().map(String::as_str).collect(), choice.gates_key.to_owned()),
            None => (
                configured.unwrap_or_else(|| choice.place.default_set().to_vec()),
                format!("gates.{}", choice.place.key()),
            ),
        };
        let strictness = choice.strictness.or(strictness);
        let has_rtb = set.contains(&RTB);
        let budget = budget.unwrap_or(if has_rtb { rtb::BUDGET_MS } else { DEFAULT_BUDGET_MS });
        let mut set: Vec<&str> = set.into_iter().flat_map(members).collect();
        let customs = choice.customs.iter().map(String::as_str);
        set.extend(customs.filter(|custom| !set.contains(custom)).collect::<Vec<_>>());
        let common = Self {
            budget: Duration::from_millis(budget),
            fail_fast,
            strictness: strictness.unwrap_or_else(|| choice.place.default_strictness()),
            set,
            set_key,
            is_default_set,
        };
        common.checked()
    }

    /// Returns the default mode of a gate. The proxy's default set only observes `injection`: a guess about words
    /// must not block work by default.
    pub(super) fn default_mode(&self, kind: &str) -> Mode {
        if self.is_default_set && kind == "injection" { Mode::Observe } else { Mode::Enforce }
    }

    fn checked(self) -> Result<Self, SettingsError> {
        let repeated =
            self.set.iter().enumerate().find(|(at, name)| self.set.iter().take(*at).any(|n| n == *name));
        let problem = match repeated {
            _ if self.set.is_empty() => SettingsProblem::NoGates,
            Some((_, name)) => SettingsProblem::Repeated(Found::quoted(name)),
            None => return Ok(self),
        };
        Err(SettingsError { key: self.set_key, problem })
    }
}

/// The kinds of gates that can redact.
pub(super) const REDACTING: [&str; 2] = ["pii", "secrets"];

/// Rejects gates that redact.
fn no_redaction(settings: &GateSettings, names: &[&str]) -> Result<(), SettingsError> {
    let redacts = |name: &&&str| {
        let of_table = |key: &str| settings.gate.get(**name)?.get(key)?.as_str();
        of_table("mode") == Some("redact") && REDACTING.contains(&of_table("kind").unwrap_or(**name))
    };
    match names.iter().find(redacts) {
        None => Ok(()),
        Some(name) => Err(SettingsError {
            key: format!("gate.{}.mode", quoted(name)),
            problem: SettingsProblem::Value {
                found: Found::quoted("redact"),
                expected: "\"enforce\" or \"observe\" for a gate of gates.evaluate, whose response does not return the output",
            },
        }),
    }
}

/// Options that every gate has.
pub(super) struct Shared {
    pub(super) mode: Mode,
    pub(super) strictness: Strictness,
}

/// Reads the options that every gate has. `redacts` says whether this kind of gate can redact.
pub(super) fn shared(
    options: &mut Options<'_>,
    common: &Common<'_>,
    kind: &str,
    redacts: bool,
) -> Result<Shared, SettingsError> {
    let _ = options.get("kind");
    let modes = [("enforce", Mode::Enforce), ("observe", Mode::Observe), ("redact", Mode::Redact)];
    let mode = if redacts {
        options.word("mode", "\"enforce\", \"observe\" or \"redact\"", &modes)?
    } else {
        options.word(
            "mode",
            "\"enforce\" or \"observe\"",
            modes.split_last().map_or(&[], |(_, others)| others),
        )?
    };
    let mode = mode.unwrap_or_else(|| common.default_mode(kind));
    let own = options.word("strictness", STRICTNESS, &STRICTNESSES)?;
    Ok(Shared { mode, strictness: own.unwrap_or(common.strictness) })
}

/// Returns the kind of a configured gate: its `kind`, or its name.
pub(super) fn kind<'s>(name: &'s str, table: &'s Map<String, Value>) -> Result<&'s str, SettingsError> {
    match table.get("kind") {
        None => Ok(name),
        Some(Value::String(kind)) => Ok(kind),
        Some(other) => Err(SettingsError {
            key: format!("gate.{}.kind", quoted(name)),
            problem: SettingsProblem::Value {
                found: Found::new(&other.to_string()),
                expected: "the name of a built-in gate",
            },
        }),
    }
}
