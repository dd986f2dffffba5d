//! One client and one server: a message in, effects out.
//!
//! Every message of the server is judged, also one that no request asked for: the session may have begun before the proxy,
//! and a client may read an id differently. Only replies to tool calls and tasks count for the agent; other messages are
//! logged if they fail. A call that a pin blocks, or that was lost, counts for no agent: the server changed, not the agent.

mod answers;
mod judge;
mod lists;
mod malformed;
mod requests;
mod spoken;

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
use crate::pins::{Kind, PinMode, Pins};
use crate::record::{Action, Record};
use crate::reply;
use crate::strict::{Malformed, Strict, envelope};

/// The agent where neither the flag nor the client names one.
const NAMELESS: &str = "mcp";

/// What an answer to a message that was too long says.
const TOO_LARGE: &str = "renown:too_large";

/// The most different warnings of one session. A server that is up to something could fill a disk with them.
const WARNINGS_MAX: usize = 1000;

/// Time and chance.
pub trait Host {
    /// The time since any fixed point.
    fn elapsed(&self) -> Duration;
    /// For how long the calling thread has run since any fixed point, if the host can tell.
    fn ran(&self) -> Duration {
        self.elapsed()
    }
    /// Milliseconds after 1970.
    fn wall_millis(&self) -> u64;
    /// Any number at random.
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

/// What was decided before the first message.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The server, as its command line or address.
    pub server: String,
    /// Whose calls these are, if it was said.
    pub agent: Option<AgentId>,
    /// Nothing is blocked or changed; the verdicts are recorded.
    pub observe: bool,
    /// What happens to a tool whose definition changed.
    pub pin: PinMode,
    /// Methods beside `tools/call` and those of tasks whose results are logged, also where they pass.
    pub logged: Vec<String>,
    /// Methods whose results, requests or notifications are not judged.
    pub ungated: Vec<String>,
}

/// The gates of a session.
#[derive(Debug)]
pub struct Engines {
    /// For what tools give back.
    pub after: Engine,
    /// For what they are given, if that is asked for.
    pub before: Option<Engine>,
    /// For definitions of tools, which are warned of and never blocked.
    pub definitions: Option<Engine>,
}

/// Builds the gates for these directories beside those of the settings.
pub type Build = Arc<dyn Fn(&[String]) -> Option<Arc<Engines>> + Send + Sync>;

/// What becomes of the bytes of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Forward {
    /// They go on as they are.
    #[default]
    AsIs,
    /// These go on in their place.
    Changed(Vec<u8>),
    /// Nothing goes on.
    Nothing,
}

/// What has to be done: records first, then bytes.
#[derive(Debug, Default)]
pub struct Effects {
    /// What becomes of the message.
    pub forward: Forward,
    /// Messages for the client, without a newline.
    pub to_client: Vec<Vec<u8>>,
    /// Messages for the server, without a newline.
    pub to_server: Vec<Vec<u8>>,
    /// What the log gets, and the server of Renown if it counts.
    pub records: Vec<Record>,
    /// What somebody should be told.
    pub warnings: Vec<String>,
    /// Whether the pins have to be kept.
    pub pins_changed: bool,
    /// What is wrong with a message of the server that is not well-formed. It is counted, and warned of once.
    pub malformed: Option<String>,
    /// Whether it was a message at all, for one of the client.
    pub(crate) is_message: bool,
    /// The ids under which the client waits for an answer to this message.
    pub(crate) asked: Vec<LooseId>,
}

/// The state of one client and one server.
pub struct Session {
    policy: Arc<Policy>,
    build: Build,
    engines: Arc<Engines>,
    pins: Arc<Mutex<Pins>>,
    /// Requests of the client.
    pending: Pending,
    /// Ids of `roots/list`, which the server asked.
    asked_for_roots: BTreeSet<LooseId>,
    tasks: Tasks,
    agent: AgentId,
    warned: BTreeSet<String>,
    /// Whether a message of the server was dropped without an answer to the client.
    has_dropped: bool,
}

impl Session {
    /// A session without any message yet; none if the gates cannot be built.
    pub fn new(policy: Arc<Policy>, build: Build, pins: Arc<Mutex<Pins>>) -> Option<Self> {
        let engines = build(&[])?;
        let agent = policy.agent.clone().or_else(|| NAMELESS.parse().ok())?;
        Some(Self {
            policy,
            build,
            engines,
            pins,
            pending: Pending::default(),
            asked_for_roots: BTreeSet::new(),
            tasks: Tasks::default(),
            agent,
            warned: BTreeSet::new(),
            has_dropped: false,
        })
    }

    /// A message of the client. What is not a message passes: the server has to cope with it.
    pub fn from_client(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        let (body, end) = without_newline(bytes);
        let mut line = Line::read(body);
        let mut look = |session: &mut Self, message: &Members<'_>| {
            effects.is_message |= ["method", "result", "error"].iter().any(|name| message.has(name));
            let goes_on = session.request(message, host, &mut effects);
            if goes_on { Fate::AsIs } else { Fate::Gone }
        };
        effects.forward = match line.messages() {
            None => Forward::AsIs,
            Some(Messages::One(message)) => look(self, &message).of_line(end),
            Some(Messages::Batch(items)) => {
                let look =
                    |item: &&RawValue| Members::of(item).map_or(Fate::AsIs, |message| look(self, &message));
                let fates: Vec<Fate> = items.iter().map(look).collect();
                together(&items, fates, end)
            }
        };
        effects
    }

    /// A message of the server. What is not exactly one message, or a batch, is dropped.
    pub fn from_server(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        let (body, end) = without_newline(bytes);
        // A line of blanks is nothing to any reader.
        if body.trim_ascii().is_empty() {
            return effects;
        }
        match self.read(body, end, host, &mut effects) {
            Ok(forward) => effects.forward = forward,
            Err(why) => self.malformed(body, why, host, &mut effects),
        }
        effects
    }

    /// Whether some bytes of the server are a message or a batch.
    pub(crate) fn is_message(bytes: &[u8]) -> bool {
        Strict::read(bytes).is_ok_and(|strict| Self::messages(&strict.text).is_ok())
    }

    /// The messages of a text, and whether it is a batch.
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

    /// Judges each message of a text of the server, and puts the text together again where one changes.
    fn read(
        &mut self,
        body: &[u8],
        end: &[u8],
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Result<Forward, Malformed> {
        let strict = Strict::read(body)?;
        let (messages, batch) = Self::messages(&strict.text)?;
        let look = |message| self.arrived(message, body.len(), host, effects);
        let mut fates: Vec<Fate> = messages.iter().map(look).collect();
        let forward = match batch {
            Some(items) => together(&items, fates, end),
            None => fates.pop().unwrap_or(Fate::Gone).of_line(end),
        };
        Ok(match (forward, strict.normal) {
            (Forward::AsIs, Some(normal)) if !self.policy.observe => {
                Forward::Changed([normal.as_bytes(), end].concat())
            }
            (forward, _) => forward,
        })
    }

    /// A message of the client that was too long to be kept: it is answered, and the server never sees it.
    pub fn oversized_from_client(&mut self, message: &Oversized) -> Effects {
        let to_client = if message.is_request {
            message.ids.iter().map(|id| reply::error(id, TOO_LARGE)).collect()
        } else {
            Vec::new()
        };
        let warnings = vec!["a message of the client was too long and is left out".to_owned()];
        Effects { forward: Forward::Nothing, to_client, warnings, ..Effects::default() }
    }

    /// A message of the server that was too long to be kept: whoever waits for it is answered.
    pub fn oversized_from_server(&mut self, message: &Oversized, host: &dyn Host) -> Effects {
        let mut effects = Effects { forward: Forward::Nothing, ..Effects::default() };
        effects.warnings.push("a message of the server was too long and is left out".to_owned());
        if message.is_request {
            effects.to_server = message.ids.iter().map(|id| reply::error(id, TOO_LARGE)).collect();
            return effects;
        }
        for (loose, id) in message.loose_ids().zip(&message.ids) {
            let call = self.pending.take(&loose, id);
            let asked = call.as_ref().map_or(id, |call| &call.id);
            effects.to_client.push(reply::error(asked, TOO_LARGE));
            if let Some(call) = call.filter(|call| call.asks.is_call()) {
                effects.records.push(self.record(&call, Action::Blocked, host));
            }
        }
        effects
    }

    /// The end: calls that were never answered.
    pub fn lost(&mut self, host: &dyn Host) -> Vec<Record> {
        let calls = self.pending.drain();
        let lost = calls.iter().filter(|call| !call.cancelled && call.asks.is_call());
        lost.map(|call| self.record(call, Action::Lost, host)).collect()
    }

    /// A record of a call, with nothing judged yet.
    fn record(&self, call: &Call, action: Action, host: &dyn Host) -> Record {
        Record {
            ts: now(host),
            evaluation_id: call.evaluation_id.clone(),
            agent_id: self.agent.clone(),
            server: self.policy.server.clone(),
            tool: call.tool.clone(),
            action,
            passed: !call.before.failed && !matches!(action, Action::Blocked | Action::Lost),
            gates: call.before.gates.clone(),
            total: call.before.total.into(),
            latency: Some(host.elapsed().saturating_sub(call.sent_at).into()),
            bytes: 0,
            tool_error: false,
            counts: false,
        }
    }

    fn pins(&self) -> MutexGuard<'_, Pins> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tool or a prompt is one that must not be used for now, and why.
    fn refuses(&self, kind: Kind, names: &[String]) -> Option<String> {
        if self.policy.pin != PinMode::Block {
            return None;
        }
        let pins = self.pins();
        let change = names.iter().find_map(|name| pins.change(kind, name))?;
        Some(format!("{} definition changed: {}", kind.word(), change.names()))
    }

    /// Warns once of one thing.
    fn warn(&mut self, effects: &mut Effects, what: String) {
        if self.warned.len() < WARNINGS_MAX && self.warned.insert(what.clone()) {
            effects.warnings.push(what);
        }
    }

    /// Takes the name of the client for the agent's, unless it was said whose calls these are.
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

/// What becomes of one message.
enum Fate {
    AsIs,
    Changed(Vec<u8>),
    Gone,
}

impl Fate {
    /// What becomes of a line with one message.
    fn of_line(self, end: &[u8]) -> Forward {
        match self {
            Self::AsIs => Forward::AsIs,
            Self::Changed(new) => Forward::Changed([new.as_slice(), end].concat()),
            Self::Gone => Forward::Nothing,
        }
    }
}

fn together(items: &[&RawValue], fates: Vec<Fate>, end: &[u8]) -> Forward {
    if fates.iter().all(|fate| matches!(fate, Fate::AsIs)) {
        return Forward::AsIs;
    }
    let kept: Vec<Vec<u8>> = items
        .iter()
        .zip(fates)
        .filter_map(|(item, fate)| match fate {
            Fate::AsIs => Some(item.get().as_bytes().to_vec()),
            Fate::Changed(new) => Some(new),
            Fate::Gone => None,
        })
        .collect();
    if kept.is_empty() {
        return Forward::Nothing;
    }
    Forward::Changed([b"[".as_slice(), &kept.join(&b','), b"]", end].concat())
}

fn without_newline(bytes: &[u8]) -> (&[u8], &[u8]) {
    let body = bytes.strip_suffix(b"\n").map_or(bytes, |body| body.strip_suffix(b"\r").unwrap_or(body));
    bytes.split_at(body.len())
}

fn now(host: &dyn Host) -> Timestamp {
    let millis = i64::try_from(host.wall_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MIN)
}

fn made(host: &dyn Host) -> EvaluationId {
    EvaluationId::made(host.wall_millis(), host.random())
}

#[cfg(test)]
mod tests;
