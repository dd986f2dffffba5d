//! The session of one client and one server: a message in, effects out.
//!
//! Every message of the server is judged, even if it answers no known request: the session may have begun before the proxy started, and a
//! client may read an id differently. Only answers to tool calls and tasks count for the agent; other messages are logged if they fail. A
//! call that a pin blocks, or that was lost, does not count: the server is responsible, not the agent.

mod answers;
mod judge;
mod lists;
mod malformed;
mod requests;
mod unsolicited;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use renown_core::gates::{Engine, GateClock};
use renown_core::ids::{AgentId, EvaluationId};
use renown_core::limits::AGENT_ID_CHARS_MAX;
use renown_core::time::Timestamp;
use serde_json::value::RawValue;

use crate::framing::Oversized;
use crate::message::{Line, LooseId, Members, Messages};
use crate::pending::{Call, Pending, Tasks};
use crate::pins::{PinKind, PinMode, Pins};
use crate::record::{Action, CallRecord};
use crate::reply;
use crate::strict::{Malformed, Strict, envelope};

/// The agent id if neither the command line nor the client names one.
const DEFAULT_AGENT: &str = "mcp";

/// The error text for a message that is too long.
const TOO_LARGE: &str = "renown:too_large";

/// Maximum number of different warnings per session. Otherwise a malicious server could fill a disk with them.
const WARNINGS_MAX: usize = 1000;

/// Clocks and random numbers.
pub trait Host {
    /// Returns the time since a fixed point.
    fn elapsed(&self) -> Duration;
    /// Returns the CPU time of the calling thread since a fixed point, if the host can measure it.
    fn ran(&self) -> Duration {
        self.elapsed()
    }
    /// Returns milliseconds after 1970.
    fn wall_millis(&self) -> u64;
    /// Returns a random number.
    fn random(&self) -> u64;
}

/// The clocks of a host, for the gates.
struct Clocks<'h>(&'h dyn Host);

impl GateClock for Clocks<'_> {
    fn wall(&self) -> Duration {
        self.0.elapsed()
    }

    fn ran(&self) -> Duration {
        self.0.ran()
    }
}

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Command line or address of the server, as it may be shown.
    pub server: String,
    /// Agent id from the command line, if given.
    pub agent: Option<AgentId>,
    /// Observing mode: nothing is blocked or changed, but verdicts are recorded.
    pub observe: bool,
    /// What happens to changed definitions.
    pub pin: PinMode,
    /// Methods besides `tools/call` and those of tasks whose results are logged even if they pass.
    pub logged: Vec<String>,
    /// Methods whose results, requests or notifications are not judged.
    pub ungated: Vec<String>,
}

/// The gates of a session.
#[derive(Debug)]
pub struct Engines {
    /// Gates for the results of tools.
    pub after: Engine,
    /// Gates for the arguments of tools, if enabled.
    pub before: Option<Engine>,
    /// Gates for definitions. Their findings are warnings and never block.
    pub definitions: Option<Engine>,
}

/// Builds the gates. The argument lists directories that are allowed in addition to those of the settings.
pub type Build = Arc<dyn Fn(&[String]) -> Option<Arc<Engines>> + Send + Sync>;

/// Which bytes are forwarded.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Forward {
    /// The bytes of the message, unchanged.
    #[default]
    AsIs,
    /// These bytes instead.
    Changed(Vec<u8>),
    /// No bytes.
    Nothing,
}

/// What the caller must do: first write the records, then send the bytes.
#[derive(Debug, Default)]
pub struct Effects {
    /// Which bytes are forwarded.
    pub forward: Forward,
    /// Messages for the client, without a newline.
    pub to_client: Vec<Vec<u8>>,
    /// Messages for the server, without a newline.
    pub to_server: Vec<Vec<u8>>,
    /// Records for the log, and for the Renown server if they count.
    pub records: Vec<CallRecord>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Whether the pins must be saved.
    pub pins_changed: bool,
    /// Why a message of the server is malformed. Such messages are counted, and only the first one is reported.
    pub malformed: Option<String>,
    /// Whether the bytes of the client were a message.
    pub(crate) is_message: bool,
    /// Ids of the client's requests in this message.
    pub(crate) awaited: Vec<LooseId>,
}

/// The state of one client and one server.
pub struct ProxySession {
    policy: Arc<Policy>,
    build: Build,
    engines: Arc<Engines>,
    pins: Arc<Mutex<Pins>>,
    /// Requests of the client that wait for an answer.
    pending: Pending,
    /// Ids of the server's `roots/list` requests.
    roots_requests: BTreeSet<LooseId>,
    tasks: Tasks,
    agent: AgentId,
    warned: BTreeSet<String>,
    /// Whether a message of the server was dropped.
    has_dropped: bool,
}

impl ProxySession {
    /// Creates a session. Returns `None` if the gates cannot be built.
    pub fn new(policy: Arc<Policy>, build: Build, pins: Arc<Mutex<Pins>>) -> Option<Self> {
        let engines = build(&[])?;
        let agent = policy.agent.clone().or_else(|| DEFAULT_AGENT.parse().ok())?;
        Some(Self {
            policy,
            build,
            engines,
            pins,
            pending: Pending::default(),
            roots_requests: BTreeSet::new(),
            tasks: Tasks::default(),
            agent,
            warned: BTreeSet::new(),
            has_dropped: false,
        })
    }

    /// Handles a message of the client. Bytes that are not a message pass: the server must handle them.
    pub fn from_client(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        let (body, end) = split_newline(bytes);
        let mut line = Line::read(body);
        let mut decide = |session: &mut Self, message: &Members<'_>| {
            effects.is_message |= ["method", "result", "error"].iter().any(|name| message.has(name));
            let is_forwarded = session.request(message, host, &mut effects);
            if is_forwarded { Decision::AsIs } else { Decision::Drop }
        };
        effects.forward = match line.messages() {
            None => Forward::AsIs,
            Some(Messages::One(message)) => decide(self, &message).of_line(end),
            Some(Messages::Batch(items)) => {
                let decide = |item: &&RawValue| {
                    Members::of(item).map_or(Decision::AsIs, |message| decide(self, &message))
                };
                let decisions: Vec<Decision> = items.iter().map(decide).collect();
                join_batch(&items, decisions, end)
            }
        };
        effects
    }

    /// Handles a message of the server. Bytes that are neither one message nor one batch are dropped, unless they are blank or the proxy only observes.
    pub fn from_server(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        let (body, end) = split_newline(bytes);
        // No client reads anything in a blank line.
        if body.trim_ascii().is_empty() {
            return effects;
        }
        match self.read(body, end, host, &mut effects) {
            Ok(forward) => effects.forward = forward,
            Err(why) => self.malformed(body, why, host, &mut effects),
        }
        effects
    }

    /// Returns whether bytes of the server are a message or a batch.
    pub(crate) fn is_message(bytes: &[u8]) -> bool {
        Strict::read(bytes).is_ok_and(|strict| Self::messages(&strict.text).is_ok())
    }

    /// Parses the messages of a text. For a batch, also returns its items.
    fn messages(text: &str) -> Result<(Vec<Members<'_>>, Option<Vec<&RawValue>>), Malformed> {
        let (messages, batch) = match Messages::of(text).ok_or(Malformed::NotMessage)? {
            Messages::One(message) => (vec![message], None),
            Messages::Batch(items) => {
                let messages: Option<Vec<_>> = items.iter().map(|item| Members::of(item)).collect();
                (messages.ok_or(Malformed::NotMessage)?, Some(items))
            }
        };
        messages.iter().try_for_each(envelope)?;
        if messages.is_empty() { Err(Malformed::NotMessage) } else { Ok((messages, batch)) }
    }

    /// Judges each message in a text of the server. If a message changes, builds the new text.
    fn read(
        &mut self,
        body: &[u8],
        end: &[u8],
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Result<Forward, Malformed> {
        let strict = Strict::read(body)?;
        let (messages, batch) = Self::messages(&strict.text)?;
        let decide = |message| self.arrived(message, body.len(), host, effects);
        let mut decisions: Vec<Decision> = messages.iter().map(decide).collect();
        let forward = match batch {
            Some(items) => join_batch(&items, decisions, end),
            None => decisions.pop().unwrap_or(Decision::Drop).of_line(end),
        };
        Ok(match (forward, strict.normal) {
            (Forward::AsIs, Some(normal)) if !self.policy.observe => {
                Forward::Changed([normal.as_bytes(), end].concat())
            }
            (forward, _) => forward,
        })
    }

    /// Handles a message of the client that is too long: it gets an error, and the server never sees it.
    pub fn oversized_from_client(&mut self, message: &Oversized) -> Effects {
        let to_client = if message.is_request {
            message.ids.iter().map(|id| reply::error(id, TOO_LARGE)).collect()
        } else {
            Vec::new()
        };
        let warnings = vec!["dropped a message of the client that is too long".to_owned()];
        Effects { forward: Forward::Nothing, to_client, warnings, ..Effects::default() }
    }

    /// Handles a message of the server that is too long: the waiting requests get an error.
    pub fn oversized_from_server(&mut self, message: &Oversized, host: &dyn Host) -> Effects {
        let mut effects = Effects { forward: Forward::Nothing, ..Effects::default() };
        effects.warnings.push("dropped a message of the server that is too long".to_owned());
        if message.is_request {
            effects.to_server = message.ids.iter().map(|id| reply::error(id, TOO_LARGE)).collect();
            return effects;
        }
        for (loose, id) in message.loose_ids().zip(&message.ids) {
            let call = self.pending.take(&loose, id);
            let call_id = call.as_ref().map_or(id, |call| &call.id);
            effects.to_client.push(reply::error(call_id, TOO_LARGE));
            if let Some(call) = call.filter(|call| call.kind.is_call()) {
                effects.records.push(self.record(&call, Action::Blocked, host));
            }
        }
        effects
    }

    /// Ends the session. Returns records of the calls that were never answered.
    pub fn lost(&mut self, host: &dyn Host) -> Vec<CallRecord> {
        let calls = self.pending.drain();
        let lost = calls.iter().filter(|call| !call.cancelled && call.kind.is_call());
        lost.map(|call| self.record(call, Action::Lost, host)).collect()
    }

    /// Builds the record of a call, without the verdict on its result.
    fn record(&self, call: &Call, action: Action, host: &dyn Host) -> CallRecord {
        CallRecord {
            ts: now(host),
            evaluation_id: call.evaluation_id.clone(),
            agent_id: self.agent.clone(),
            server: self.policy.server.clone(),
            tool: call.tool.clone(),
            action,
            passed: !call.arguments.failed && !matches!(action, Action::Blocked | Action::Lost),
            gates: call.arguments.gates.clone(),
            total: call.arguments.total.into(),
            latency: Some(host.elapsed().saturating_sub(call.sent_at).into()),
            bytes: 0,
            tool_error: false,
            counts: false,
        }
    }

    fn pins(&self) -> MutexGuard<'_, Pins> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns why a tool or prompt must not be used: its definition changed, and the change is not accepted.
    fn refuses(&self, kind: PinKind, names: &[String]) -> Option<String> {
        if self.policy.pin != PinMode::Block {
            return None;
        }
        let pins = self.pins();
        let change = names.iter().find_map(|name| pins.change(kind, name))?;
        Some(format!("{} definition changed: {}", kind.word(), change.names()))
    }

    /// Adds a warning, unless the session already has the same one or [`WARNINGS_MAX`] others.
    fn warn(&mut self, effects: &mut Effects, warning: String) {
        if self.warned.len() < WARNINGS_MAX && self.warned.insert(warning.clone()) {
            effects.warnings.push(warning);
        }
    }

    /// Uses the name of the client as agent id, unless the command line names the agent.
    fn name_agent(&mut self, name: &str) {
        if self.policy.agent.is_none() {
            let clean = name.chars().map(|char| if char.is_control() { ' ' } else { char });
            let clean: String = clean.take(AGENT_ID_CHARS_MAX).collect();
            if let Ok(agent) = clean.trim().parse() {
                self.agent = agent;
            }
        }
    }
}

/// What to do with one message.
enum Decision {
    AsIs,
    Changed(Vec<u8>),
    Drop,
}

impl Decision {
    /// Applies the decision to a line with one message.
    fn of_line(self, end: &[u8]) -> Forward {
        match self {
            Self::AsIs => Forward::AsIs,
            Self::Changed(new) => Forward::Changed([new.as_slice(), end].concat()),
            Self::Drop => Forward::Nothing,
        }
    }
}

/// Builds a batch from the messages that are forwarded.
fn join_batch(items: &[&RawValue], decisions: Vec<Decision>, end: &[u8]) -> Forward {
    if decisions.iter().all(|decision| matches!(decision, Decision::AsIs)) {
        return Forward::AsIs;
    }
    let forwarded: Vec<Vec<u8>> = items
        .iter()
        .zip(decisions)
        .filter_map(|(item, decision)| match decision {
            Decision::AsIs => Some(item.get().as_bytes().to_vec()),
            Decision::Changed(new) => Some(new),
            Decision::Drop => None,
        })
        .collect();
    if forwarded.is_empty() {
        return Forward::Nothing;
    }
    Forward::Changed([b"[".as_slice(), &forwarded.join(&b','), b"]", end].concat())
}

/// Splits a line into its body and its newline.
fn split_newline(bytes: &[u8]) -> (&[u8], &[u8]) {
    let body = bytes.strip_suffix(b"\n").map_or(bytes, |body| body.strip_suffix(b"\r").unwrap_or(body));
    bytes.split_at(body.len())
}

fn now(host: &dyn Host) -> Timestamp {
    let millis = i64::try_from(host.wall_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MIN)
}

fn new_id(host: &dyn Host) -> EvaluationId {
    EvaluationId::made(host.wall_millis(), host.random())
}

#[cfg(test)]
mod tests;
