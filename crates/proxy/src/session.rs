//! One client and one server: a message in, effects out.

mod answers;
mod requests;

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
use crate::pending::{Asked, Call, Pending, Tasks};
use crate::pins::{PinMode, Pins};
use crate::record::{Action, Record};
use crate::reply;

/// The agent where neither the flag nor the client names one.
const NAMELESS: &str = "mcp";

/// What an answer to a message that was too long says.
const TOO_LARGE: &str = "renown:too_large";

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
    /// Methods beside `tools/call` and those of tasks whose results are gated.
    pub methods: Vec<String>,
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
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that are no JSON.
    pub not_json: u64,
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
    counts: Counts,
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
            counts: Counts::default(),
        })
    }

    /// A message of the client.
    pub fn from_client(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        effects.forward = self.each(bytes, |session, message, _| {
            let goes_on = session.request(message, host, &mut effects);
            if goes_on { Fate::AsIs } else { Fate::Gone }
        });
        effects
    }

    /// A message of the server.
    pub fn from_server(&mut self, bytes: &[u8], host: &dyn Host) -> Effects {
        let mut effects = Effects::default();
        effects.forward = self.each(bytes, |session, message, is_utf8| {
            let arrived = answers::Arrived { message, is_utf8, bytes: bytes.len() };
            session.answer(&arrived, host, &mut effects).map_or(Fate::AsIs, Fate::Changed)
        });
        effects
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
            match self.pending.take(&loose, id) {
                Some(Asked::Call(call)) => {
                    effects.to_client.push(reply::error(&call.id, TOO_LARGE));
                    effects.records.push(self.record(&call, Action::Blocked, host));
                }
                Some(Asked::Tools(_)) | None => effects.to_client.push(reply::error(id, TOO_LARGE)),
            }
        }
        effects
    }

    /// The end: calls that were never answered.
    pub fn lost(&mut self, host: &dyn Host) -> Vec<Record> {
        let calls = self.pending.drain();
        let lost = calls.iter().filter(|call| !call.cancelled);
        lost.map(|call| self.record(call, Action::Lost, host)).collect()
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Looks at each message of a line, and puts the line together again where one changes.
    fn each(&mut self, bytes: &[u8], mut look: impl FnMut(&mut Self, &Members<'_>, bool) -> Fate) -> Forward {
        let (body, end) = without_newline(bytes);
        let mut line = Line::read(body);
        let is_utf8 = line.is_utf8;
        match line.messages() {
            None => {
                self.counts.not_json += u64::from(!body.trim_ascii().is_empty());
                Forward::AsIs
            }
            Some(Messages::One(message)) => match look(self, &message, is_utf8) {
                Fate::AsIs => Forward::AsIs,
                Fate::Changed(new) => Forward::Changed([new.as_slice(), end].concat()),
                Fate::Gone => Forward::Nothing,
            },
            Some(Messages::Batch(items)) => {
                let fates = items.iter().map(|item| match Members::of(item) {
                    Some(message) => look(self, &message, is_utf8),
                    None => Fate::AsIs,
                });
                let fates: Vec<Fate> = fates.collect();
                together(&items, fates, end)
            }
        }
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

    /// Whether a tool is one that must not be used for now, and why.
    fn refuses(&self, tools: &[String]) -> Option<String> {
        if self.policy.pin != PinMode::Block {
            return None;
        }
        let pins = self.pins();
        let change = tools.iter().find_map(|tool| pins.change(tool))?;
        Some(format!("tool definition changed: {}", change.names()))
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
