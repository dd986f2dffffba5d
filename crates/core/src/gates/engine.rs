//! The engine: a set of gates, built once and run often.

mod subject;

use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::clock::GateClock;
use super::content::Content;
use super::filesystem::Filesystem;
use super::injection::Injection;
use super::latency::Latency;
use super::options::{Options, SettingsError, SettingsProblem, quoted};
use super::pii::Pii;
use super::rtb::{self, Rtb};
use super::scan::{Deadline, TimedOut};
use super::schema::Schema;
use super::secrets::Secrets;
use super::settings::{
    Choice, Common, GateSettings, JudgedPart, Mode, REDACTING, Shared, Strictness, kind, shared,
};
use super::started::{Started, State};
use super::text::{Unseen, View};
use super::verdict::{Finding, GateResult, Verdict, shortened};
use crate::json::Found;
use crate::limits::{GATE_MEMORY_TIMES, GATE_TREE_TIMES};
use crate::units::Micros;
use subject::Subject;

pub(super) const TIMEOUT: &str = "renown:timeout";
pub(super) const ERROR: &str = "renown:error";
pub(super) const ABORTED: &str = "renown:aborted";
const TMAX: &str = "renown:tmax";

/// The output to judge, and its context. An absent output is `null`.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The output, as its original JSON text.
    pub output: &'a RawValue,
    /// The tool that returned it.
    pub tool: Option<&'a str>,
    /// The input of the tool, as JSON text.
    pub input: Option<&'a RawValue>,
    /// Latency of the tool.
    pub latency: Option<Duration>,
    /// Whether the output is empty, if the caller knows more about it than the gates. If `None`, the gates check.
    pub is_empty: Option<bool>,
    /// The deadline of the client, for `rtb.tmax-guard`.
    pub tmax: Option<Tmax>,
}

/// The time that the client allows for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tmax {
    /// Allowed time in milliseconds.
    pub tmax_ms: u64,
    /// Start of the request, in milliseconds after 1970.
    pub started_at_ms: u64,
    /// Current time, in milliseconds after 1970.
    pub now_ms: u64,
}

impl<'a> Context<'a> {
    /// Creates the context of an output without any other information.
    pub fn of(output: &'a RawValue) -> Self {
        Self { output, tool: None, input: None, latency: None, is_empty: None, tmax: None }
    }
}

/// The built-in gates.
#[derive(Debug)]
pub(super) enum Gate {
    Latency(Latency),
    Schema(Box<Schema>),
    Filesystem(Filesystem),
    Pii(Pii),
    Content(Content),
    Secrets(Secrets),
    Injection(Injection),
    Rtb(Rtb),
    /// A custom gate, which the caller runs.
    Custom,
    #[cfg(test)]
    Test(tests::TestGate),
}

const KINDS: [&str; 13] = {
    let [guard, impid, adomain, sanity, audience, bcat] = rtb::MEMBERS;
    [
        "content",
        "filesystem",
        "injection",
        "latency",
        "pii",
        "schema",
        "secrets",
        guard,
        impid,
        adomain,
        sanity,
        audience,
        bcat,
    ]
};

/// A gate with its name and mode, at its position in the set.
#[derive(Debug)]
pub(super) struct Slot {
    name: Arc<str>,
    mode: Mode,
    pub(super) gate: Gate,
}

/// A set of gates. A clone shares them.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) slots: Arc<[Slot]>,
    budget: Duration,
    fail_fast: bool,
    strictness: Strictness,
    part: JudgedPart,
}

/// Reads a schema by its name in the settings.
pub type ReadSchema<'r> = dyn FnMut(&str) -> Result<String, String> + 'r;

impl Engine {
    /// Checks all settings and builds the chosen gates.
    pub fn new(
        settings: &GateSettings,
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
            if choice.customs.iter().any(|custom| custom == name) {
                slots.push(Slot { name: (*name).into(), mode: Mode::Enforce, gate: Gate::Custom });
                continue;
            }
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
        if choice.part == JudgedPart::Arguments {
            slots.retain(|slot| slot.gate.applies_to_arguments());
            for slot in &mut slots {
                slot.name = format!("pre.{}", slot.name).into();
            }
        }
        let Common { budget, fail_fast, strictness, .. } = common;
        Ok(Self { slots: slots.into(), budget, fail_fast, strictness, part: choice.part })
    }

    /// Returns the names of its gates, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.name)
    }

    /// Returns the time budget of a whole evaluation.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// Returns the most memory in bytes that an evaluation needs, for an output and input of `bytes` together. This
    /// is a small multiple of `bytes`, unless a gate needs a parsed tree.
    pub fn memory_max(&self, bytes: usize) -> usize {
        let is_tree = |slot: &Slot| matches!(slot.gate, Gate::Schema(_) | Gate::Rtb(_));
        let tree = if self.slots.iter().any(is_tree) { GATE_TREE_TIMES } else { 0 };
        bytes.saturating_mul(GATE_MEMORY_TIMES + tree)
    }

    /// Returns the same gates with another budget.
    #[must_use]
    pub fn with_budget(&self, budget: Duration) -> Self {
        Self { budget, ..self.clone() }
    }

    /// Returns whether gates after the first failing one are skipped.
    pub fn fail_fast(&self) -> bool {
        self.fail_fast
    }

    /// Returns the strictness of gates that do not set their own.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Judges one output. Custom gates fail as timed out: a caller that has custom gates uses [`Engine::start`].
    pub fn evaluate(&self, context: &Context<'_>, clock: &dyn GateClock) -> Verdict {
        let started = self.start(context, clock);
        let now = started.now();
        started.finish(Vec::new(), now)
    }

    /// Runs the built-in gates, one by one. The custom gates are left for the caller.
    pub fn start(&self, context: &Context<'_>, clock: &dyn GateClock) -> Started {
        let deadline = Deadline::new(clock, self.budget);
        let subject = Subject::new(context, self.part);
        // The guard decides before any gate runs, at any position in the set. It affects auction gates only:
        // `tmax_ms` comes from the caller, who must not be able to switch off the other gates with it.
        let stopped = self.slots.iter().any(|slot| slot.gate.stops(context));
        let (mut states, mut failed) = (Vec::with_capacity(self.slots.len()), false);
        let mut now = deadline.began();
        for slot in self.slots.iter() {
            let before = now;
            let is_stopped = || matches!(slot.gate, Gate::Rtb(_)) && !slot.gate.stops(context);
            let finding = if stopped && is_stopped() {
                Finding::Skip(TMAX.into())
            } else if failed && self.fail_fast {
                Finding::Skip(ABORTED.into())
            } else if deadline.is_past(now) {
                Finding::Fail(TIMEOUT.to_owned())
            } else if matches!(slot.gate, Gate::Custom) {
                states.push(State::Waiting);
                continue;
            } else {
                let finding = slot.run(&subject, &deadline);
                now = clock.wall();
                if deadline.is_past(now) { Finding::Fail(TIMEOUT.to_owned()) } else { finding }
            };
            failed |= slot.fails(&finding);
            let redacted = subject.take_redacted().filter(|_| finding == Finding::Pass);
            states.push(State::Done(finding, redacted, now.saturating_sub(before)));
        }
        let redacted = subject.into_redacted();
        // Custom gates may sleep or wait, so the rest of the budget counts in wall-clock time for them.
        let time = deadline.began()..now.saturating_add(deadline.left());
        Started::new(Arc::clone(&self.slots), states, self.fail_fast, time, now, redacted)
    }
}

/// Returns the error for an unknown kind of gate.
fn unknown_kind(kind: &str, key: String, table: &Map<String, Value>) -> SettingsError {
    let key = if table.contains_key("kind") { format!("{key}.kind") } else { key };
    let known = KINDS.iter().map(|kind| (*kind).to_owned()).collect();
    SettingsError { key, problem: SettingsProblem::UnknownGate { found: Found::quoted(kind), known } }
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
        let Shared { mode, strictness } = shared(&mut options, common, kind, REDACTING.contains(&kind))?;
        let gate = match kind {
            "latency" => Gate::Latency(Latency::build(&mut options)?),
            "schema" => Gate::Schema(Box::new(Schema::build(&mut options, read_schema)?)),
            "filesystem" => Gate::Filesystem(Filesystem::build(&mut options, strictness, choice)?),
            "pii" => Gate::Pii(Pii::build(&mut options, strictness)?),
            "secrets" => Gate::Secrets(Secrets::build(&mut options)?),
            "injection" => Gate::Injection(Injection::build(&mut options, strictness)?),
            "content" => Gate::Content(Content::build(&mut options, strictness)?),
            #[cfg(test)]
            "test" => Gate::Test(tests::TestGate::build(&mut options)?),
            _ => match Rtb::build(kind, &mut options)? {
                Some(gate) => Gate::Rtb(gate),
                None => return Err(unknown_kind(kind, key, table)),
            },
        };
        options.finish()?;
        Ok(Self { name: name.into(), mode, gate })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs the gate. Fails closed if it times out or panics.
    fn run(&self, subject: &Subject<'_>, deadline: &Deadline<'_>) -> Finding {
        // After a panic only the view is still used, and it is either complete or absent.
        match catch_unwind(AssertUnwindSafe(|| self.gate.check(self.mode, subject, deadline))) {
            Err(_) => Finding::Fail(ERROR.to_owned()),
            Ok(Err(TimedOut)) => Finding::Fail(TIMEOUT.to_owned()),
            Ok(Ok(finding)) => finding,
        }
    }

    /// Returns whether an evaluation with this finding fails.
    pub(super) fn fails(&self, finding: &Finding) -> bool {
        self.mode != Mode::Observe && matches!(finding, Finding::Fail(_))
    }

    /// Returns the result for this finding. `redacted` is the reason of a passing gate that redacted something.
    pub(super) fn result(&self, finding: Finding, redacted: Option<String>, latency: Micros) -> GateResult {
        let (passed, reason, skipped) = match (finding, self.mode) {
            (Finding::Pass, _) => (true, redacted, false),
            (Finding::Skip(reason), _) => (true, Some(reason.into_owned()), true),
            (Finding::Fail(reason), Mode::Enforce | Mode::Redact) => (false, Some(reason), false),
            (Finding::Fail(reason), Mode::Observe) => (true, Some(format!("observed: {reason}")), true),
        };
        GateResult { name: Arc::clone(&self.name), passed, latency, reason: reason.map(shortened), skipped }
    }
}

impl Gate {
    fn check(&self, mode: Mode, subject: &Subject<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let context = subject.context;
        let of_texts = |gate: &dyn Fn(&View<'_>) -> Result<Finding, TimedOut>| match subject.view(deadline) {
            Ok(view) => gate(view),
            Err(Unseen::TimedOut) => Err(TimedOut),
            Err(unseen) => Ok(Finding::Fail(unseen.reason(subject.part))),
        };
        match self {
            Self::Latency(gate) => Ok(gate.check(context.latency)),
            Self::Schema(gate) => Ok(gate.check(context, subject.part)),
            Self::Filesystem(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Pii(gate) if mode == Mode::Redact => of_texts(&|view| {
                let found = gate.matches(view, deadline)?;
                subject.redact(view, found, &|kind| Pii::label(kind).to_owned(), deadline)
            }),
            Self::Secrets(gate) if mode == Mode::Redact => of_texts(&|view| {
                let found = gate.matches(view, deadline)?;
                subject.redact(view, found, &|kind| gate.label(kind).to_owned(), deadline)
            }),
            Self::Pii(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Secrets(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Injection(gate) => of_texts(&|view| gate.check(view, deadline)),
            Self::Rtb(gate) if gate.needs_auction() => match subject.auction(deadline)? {
                Ok(auction) => Ok(gate.check(auction)),
                Err(reason) => Ok(Finding::Fail(reason.clone())),
            },
            Self::Rtb(gate) => Ok(gate.check_time(context.tmax)),
            Self::Content(gate) => {
                let empty = gate.check_empty(context.output.get(), context.is_empty, deadline)?;
                if let Some(finding) = empty {
                    return Ok(finding);
                }
                of_texts(&|view| gate.check(view, deadline))
            }
            // Not reached: `start` leaves custom gates to the caller.
            Self::Custom => Ok(Finding::Fail(ERROR.to_owned())),
            #[cfg(test)]
            Self::Test(gate) => gate.check(deadline),
        }
    }

    /// Returns whether this guard finds too little time left for the auction gates.
    fn stops(&self, context: &Context<'_>) -> bool {
        matches!(self, Self::Rtb(gate) if gate.stops(context.tmax))
    }

    /// Returns whether the gate applies to the arguments of a tool.
    fn applies_to_arguments(&self) -> bool {
        match self {
            Self::Latency(_) | Self::Content(_) | Self::Rtb(_) => false,
            Self::Schema(gate) => gate.is_of_input(),
            Self::Filesystem(_) | Self::Pii(_) | Self::Secrets(_) | Self::Injection(_) | Self::Custom => true,
            #[cfg(test)]
            Self::Test(_) => true,
        }
    }
}

#[cfg(test)]
mod tests;
