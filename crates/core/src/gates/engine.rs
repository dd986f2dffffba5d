//! The engine: a set of gates, built once and asked often.

use core::time::Duration;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::content::Content;
use super::filesystem::Filesystem;
use super::latency::Latency;
use super::options::{Options, SettingsError, SettingsProblem, quoted};
use super::pii::Pii;
use super::scan::{Deadline, TimedOut};
use super::schema::Schema;
use super::settings::{Choice, Common, Mode, Settings, Shared, Strictness, kind, shared};
use super::text::{Unseen, View};
use super::verdict::{Finding, GateResult, Verdict, micros, shortened};
use crate::json::Found;
use crate::units::Micros;

const TIMEOUT: &str = "renown:timeout";
const ERROR: &str = "renown:error";
const ABORTED: &str = "renown:aborted";

/// What is judged. An output that is absent is `null`.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The output, as the JSON text it was sent in.
    pub output: &'a RawValue,
    /// The tool that made it.
    pub tool: Option<&'a str>,
    /// What the tool was given, as JSON text.
    pub input: Option<&'a RawValue>,
    /// How long the tool took.
    pub latency: Option<Micros>,
}

impl<'a> Context<'a> {
    /// An output of which nothing else is known.
    pub fn of(output: &'a RawValue) -> Self {
        Self { output, tool: None, input: None, latency: None }
    }
}

/// The built-in gates.
#[derive(Debug)]
enum Gate {
    Latency(Latency),
    Schema(Box<Schema>),
    Filesystem(Filesystem),
    Pii(Pii),
    Content(Content),
    #[cfg(test)]
    Test(tests::TestGate),
}

const KINDS: [&str; 5] = ["content", "filesystem", "latency", "pii", "schema"];

#[derive(Debug)]
struct Slot {
    name: Arc<str>,
    mode: Mode,
    gate: Gate,
}

/// A set of gates.
#[derive(Debug)]
pub struct Engine {
    slots: Vec<Slot>,
    budget: Duration,
    fail_fast: bool,
    strictness: Strictness,
}

/// Reads a schema by the name that the settings give it.
pub type ReadSchema<'r> = dyn FnMut(&str) -> Result<String, String> + 'r;

impl Engine {
    /// Checks all settings and builds the chosen gates.
    pub fn new(
        settings: &Settings,
        choice: &Choice<'_>,
        read_schema: &mut ReadSchema<'_>,
    ) -> Result<Self, SettingsError> {
        let common = Common::read(settings, choice)?;
        let mut built = Vec::new();
        for (name, table) in &settings.gate {
            built.push(Slot::build(name, table, &common, choice, read_schema)?);
        }
        let mut slots = Vec::new();
        for name in &common.set {
            let slot = match built.iter().position(|slot| *slot.name == **name) {
                Some(at) => built.swap_remove(at),
                None if KINDS.contains(name) => Slot::build(name, &Map::new(), &common, choice, read_schema)?,
                None => {
                    let known = KINDS.iter().map(|kind| (*kind).to_owned());
                    let own = settings.gate.keys().filter(|name| !KINDS.contains(&name.as_str())).cloned();
                    let problem = SettingsProblem::UnknownGate {
                        found: Found::quoted(name),
                        known: known.chain(own).collect(),
                    };
                    return Err(SettingsError { key: common.set_key, problem });
                }
            };
            slots.push(slot);
        }
        let Common { budget, fail_fast, strictness, .. } = common;
        Ok(Self { slots, budget, fail_fast, strictness })
    }

    /// The names of its gates, in the order in which they run.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.name)
    }

    /// The time that a whole evaluation may take.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// Whether gates after the first failing one are skipped.
    pub fn fail_fast(&self) -> bool {
        self.fail_fast
    }

    /// How much counts as a finding, where a gate has no strictness of its own.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Judges one output. The clock gives the time since any fixed point.
    pub fn evaluate(&self, context: &Context<'_>, clock: &dyn Fn() -> Duration) -> Verdict {
        let started = clock();
        let deadline = Deadline::new(clock, started.saturating_add(self.budget));
        let subject = Subject { context, view: OnceCell::new() };
        let mut gates: Vec<GateResult> = Vec::with_capacity(self.slots.len());
        let mut now = started;
        for slot in &self.slots {
            let aborted = self.fail_fast && gates.iter().any(|result| !result.passed);
            let before = now;
            let finding = if aborted {
                Finding::Skip(ABORTED)
            } else if deadline.is_past(now) {
                Finding::Fail(TIMEOUT.to_owned())
            } else {
                let finding = slot.gate.run(&subject, &deadline);
                now = clock();
                if deadline.is_past(now) { Finding::Fail(TIMEOUT.to_owned()) } else { finding }
            };
            gates.push(slot.result(finding, micros(now.saturating_sub(before))));
        }
        let passed = gates.iter().all(|result| result.passed);
        Verdict { passed, gates, total: micros(now.saturating_sub(started)) }
    }
}

impl Slot {
    fn build(
        name: &str,
        table: &Map<String, Value>,
        common: &Common<'_>,
        choice: &Choice<'_>,
        read_schema: &mut ReadSchema<'_>,
    ) -> Result<Self, SettingsError> {
        let kind = kind(name, table)?;
        let key = format!("gate.{}", quoted(name));
        let mut options = Options::new(key.clone(), table);
        let Shared { mode, strictness } = shared(&mut options, common.strictness, kind == "pii")?;
        let gate = match kind {
            "latency" => Gate::Latency(Latency::build(&mut options)?),
            "schema" => Gate::Schema(Box::new(Schema::build(&mut options, read_schema)?)),
            "filesystem" => Gate::Filesystem(Filesystem::build(&mut options, strictness, choice.roots)?),
            "pii" => Gate::Pii(Pii::build(&mut options, strictness)?),
            "content" => Gate::Content(Content::build(&mut options, strictness)?),
            #[cfg(test)]
            "test" => Gate::Test(tests::TestGate::build(&mut options)?),
            _ => {
                let key = if table.contains_key("kind") { format!("{key}.kind") } else { key };
                let known = KINDS.iter().map(|kind| (*kind).to_owned()).collect();
                let problem = SettingsProblem::UnknownGate { found: Found::quoted(kind), known };
                return Err(SettingsError { key, problem });
            }
        };
        options.finish()?;
        Ok(Self { name: name.into(), mode, gate })
    }

    fn result(&self, finding: Finding, latency: Micros) -> GateResult {
        let (passed, reason, skipped) = match (finding, self.mode) {
            (Finding::Pass, _) => (true, None, false),
            (Finding::Skip(reason), _) => (true, Some(reason.to_owned()), true),
            (Finding::Fail(reason), Mode::Enforce) => (false, Some(reason), false),
            (Finding::Fail(reason), Mode::Observe) => (true, Some(format!("observed: {reason}")), true),
        };
        GateResult { name: Arc::clone(&self.name), passed, latency, reason: reason.map(shortened), skipped }
    }
}

impl Gate {
    /// Runs the gate and fails closed when it is too late or panics.
    fn run(&self, subject: &Subject<'_>, deadline: &Deadline<'_>) -> Finding {
        // What a panic leaves behind is the view, which is then either complete or not there.
        match catch_unwind(AssertUnwindSafe(|| self.check(subject, deadline))) {
            Err(_) => Finding::Fail(ERROR.to_owned()),
            Ok(Err(TimedOut)) => Finding::Fail(TIMEOUT.to_owned()),
            Ok(Ok(finding)) => finding,
        }
    }

    fn check(&self, subject: &Subject<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let context = subject.context;
        let of_texts = |gate: &dyn Fn(&View<'_>) -> Result<Finding, TimedOut>| match subject.view(deadline) {
            Ok(view) => gate(view),
            Err(Unseen::TimedOut) => Err(TimedOut),
            Err(unseen) => Ok(Finding::Fail(unseen.reason())),
        };
        match self {
            Self::Latency(gate) => Ok(gate.check(context.latency)),
            Self::Schema(gate) => Ok(gate.check(context)),
            Self::Filesystem(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Pii(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Content(gate) => {
                if let Some(finding) = gate.check_empty(context.output.get()) {
                    return Ok(finding);
                }
                of_texts(&|view| gate.check(view, deadline))
            }
            #[cfg(test)]
            Self::Test(gate) => gate.check(deadline),
        }
    }
}

/// One evaluation: the context, and its texts once a gate has asked for them.
struct Subject<'a> {
    context: &'a Context<'a>,
    view: OnceCell<Result<View<'a>, Unseen>>,
}

impl<'a> Subject<'a> {
    fn view(&self, deadline: &Deadline<'_>) -> Result<&View<'a>, Unseen> {
        let view = self.view.get_or_init(|| View::read(self.context.output.get(), deadline));
        view.as_ref().map_err(|unseen| *unseen)
    }
}

#[cfg(test)]
mod tests;
