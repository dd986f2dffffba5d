//! Reads the session, time, identity and facts of one record from the record, its resource and its scope.
//!
//! | field | source |
//! |---|---|
//! | name | the first of attribute `event.name`, field `eventName`, text `body` that a dialect defines, with or without the prefix of its agent |
//! | session | the first of `session.id`, `conversation.id`, `gen_ai.conversation.id` of the record; of the resource only if the record has none |
//! | time | `timeUnixNano`, else `observedTimeUnixNano`, else `event.timestamp`; for a span its start and end |
//! | agent | by the prefix of the name, else `service.name`, else the scope, else `genai` if there is a `gen_ai.*` attribute |
//! | agent id | `renown.agent_id` (resource, then record), else `gen_ai.agent.id`, else `gen_ai.agent.name`, else `service.name` |
//! | masque | `masque.name`, else `persona.id`, record before resource |
//! | repeat | for a log record `event.sequence` and time, else name, time and the id of the call; for a span its trace and span id |
//!
//! Invalid agent ids (control characters, `.` and `..`) are ignored.
//!
//! The order in each row is the rank of the sources: if records of a session differ, the better source wins.
//!
//! A rejected record has no effect; a later record is not a repeat of it. Names of tools and models are cut at 200
//! characters, because a name on a resource is copied to all its records.

use std::borrow::Cow;

use renown_core::ids::AgentId;
use renown_core::time::Timestamp;

use crate::attributes::{Attributes, Key};
use crate::dialect::{Agent, DialectEvent, TRANSCRIPT_PREFIX, log_event, span_event};
use crate::facts::{Batch, Fingerprint, RecordOrigin, RejectedRecord, Signal, Sourced, UNKNOWN_AGENT_ID};
use crate::fields::{BadValue, Fields, ReadFact, Span};
use crate::fingerprint;
use crate::limits::{AGENT_ID_CHARS_MAX, MASQUE_CHARS_MAX, NAME_BYTES_MAX, SESSION_ID_BYTES_MAX};
use crate::prices::Prices;
use crate::value::{self, trimmed};

/// The values that all records of one scope share.
pub(crate) struct Scope<'r, 'a> {
    resource: &'r Attributes<'a>,
    /// `service.name` of the resource.
    service: Option<Cow<'a, str>>,
    /// Kind of agent from the resource or the scope.
    agent: Option<Sourced<Agent>>,
    /// Identity from the resource alone, because hardly any record has its own.
    identity: Identity<'a>,
    prices: &'r Prices,
}

impl<'r, 'a> Scope<'r, 'a> {
    /// Creates the scope with this name.
    pub(crate) fn new(resource: &'r Attributes<'a>, name: Option<&str>, prices: &'r Prices) -> Self {
        let service = resource.get(Key::ServiceName).text();
        let by_scope = || name.and_then(Agent::of_scope).map(|value| Sourced { rank: BY_SCOPE, value });
        let agent = agent_of_service(service.as_deref()).or_else(by_scope);
        let nothing = Attributes::new();
        let fields = Fields { record: &nothing, resource, span: Span::default(), prices };
        let identity = Identity::of(&fields, service.as_ref());
        Self { resource, service, agent, identity, prices }
    }
}

fn agent_of_service(service: Option<&str>) -> Option<Sourced<Agent>> {
    service.and_then(Agent::of_service).map(|value| Sourced { rank: BY_SERVICE, value })
}

/// The fields of a log record, as decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogRecord<'a> {
    pub(crate) time: Option<Timestamp>,
    pub(crate) observed_time: Option<Timestamp>,
    pub(crate) event_name: Option<Cow<'a, str>>,
    /// The body, if it is a text.
    pub(crate) body: Option<Cow<'a, str>>,
}

/// The fields of a span, as decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanRecord<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Lower-case hexadecimal; empty if absent.
    pub(crate) trace_id: Cow<'a, str>,
    pub(crate) span_id: Cow<'a, str>,
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
    /// Whether the status is ERROR.
    pub(crate) is_error: bool,
}

/// Reads records into a batch.
pub(crate) struct RecordReader<'b, 'a> {
    batch: &'b mut Batch,
    /// Number of the current line.
    line: u64,
    mode: Mode<'b>,
    facts: Vec<ReadFact<'a>>,
}

/// What the reader does with records.
enum Mode<'b> {
    /// Adds them to the batch.
    Whole,
    /// Ignores them: only the encoding is checked.
    Dry,
    /// Adds them to the batch, and calls the function whenever the batch has this many records, including rejected
    /// ones.
    Parts(usize, &'b mut dyn FnMut(&mut Batch)),
}

impl<'b, 'a> RecordReader<'b, 'a> {
    pub(crate) fn new(batch: &'b mut Batch, line: u64) -> Self {
        Self { batch, line, mode: Mode::Whole, facts: Vec::new() }
    }

    /// Creates a reader that ignores all records.
    pub(crate) fn dry(batch: &'b mut Batch) -> Self {
        Self { batch, line: 0, mode: Mode::Dry, facts: Vec::new() }
    }

    /// Creates a reader that calls `full`, which must empty the batch, whenever the batch has `records_max` records.
    pub(crate) fn in_parts(
        batch: &'b mut Batch,
        line: u64,
        records_max: usize,
        full: &'b mut dyn FnMut(&mut Batch),
    ) -> Self {
        Self { batch, line, mode: Mode::Parts(records_max, full), facts: Vec::new() }
    }

    /// Reads one log record.
    pub(crate) fn log(&mut self, log: &LogRecord<'a>, attributes: &Attributes<'a>, scope: &Scope<'_, 'a>) {
        if let Mode::Dry = self.mode {
            return;
        }
        let fields = fields(attributes, scope, Span::default());
        let (outer_agent, service) = agent_and_service(attributes, scope);
        let name = Name::of_log(log, &fields, outer_agent.map(|agent| agent.value));
        let stamped = || Timestamp::parse(&fields.text(Key::EventTimestamp)?).ok();
        let at = log.time.or(log.observed_time).or_else(stamped);
        let is_transcript = name.bare.starts_with(TRANSCRIPT_PREFIX);
        let repeat = || {
            if is_transcript {
                // The time is not part of the identity: a response may have grown since the last import.
                return Some(fingerprint::of_transcript(&[&name.bare, &fields.text(Key::CallId)?]));
            }
            if let Some(sequence) = fields.text(Key::EventSequence) {
                return Some(fingerprint::of_sequence(&sequence, at));
            }
            let call =
                [Key::ToolUseId, Key::CallId, Key::RequestId].into_iter().find_map(|key| fields.text(key))?;
            Some(fingerprint::of_identifier(&name.bare, at, &call))
        };
        let agent = agent(&name, outer_agent, &fields);
        let identity = identity(&fields, scope, service.as_ref());
        let signal = if is_transcript { Signal::Transcript } else { Signal::Logs };
        self.record(&name.event, &fields, agent, identity, signal, (at, None), repeat);
    }

    /// Reads one span.
    pub(crate) fn span(&mut self, span: &SpanRecord<'a>, attributes: &Attributes<'a>, scope: &Scope<'_, 'a>) {
        if let Mode::Dry = self.mode {
            return;
        }
        let has_trace = !span.trace_id.is_empty();
        let special = Span {
            start: span.start,
            end: span.end,
            is_error: span.is_error,
            trace: has_trace.then(|| fingerprint::of_trace(&span.trace_id)),
        };
        let fields = fields(attributes, scope, special);
        let (outer_agent, service) = agent_and_service(attributes, scope);
        let (prefix, bare) = Agent::of_name(span.name.trim());
        let known_agent = prefix.or(outer_agent.map(|agent| agent.value));
        let event = span_event(known_agent, bare, &fields);
        let name = Name { event, prefix, bare: Cow::Borrowed(bare) };
        let at = span.start.or(span.end);
        let until = if span.start.is_some() { span.end } else { None };
        let repeat = || {
            let named = has_trace && !span.span_id.is_empty();
            named.then(|| fingerprint::of_span(&span.trace_id, &span.span_id))
        };
        let agent = agent(&name, outer_agent, &fields);
        let identity = identity(&fields, scope, service.as_ref());
        self.record(&name.event, &fields, agent, identity, Signal::Spans, (at, until), repeat);
    }

    #[expect(clippy::too_many_arguments, reason = "logs and spans read these values in different ways")]
    fn record(
        &mut self,
        event: &DialectEvent,
        fields: &Fields<'_, 'a>,
        agent: Sourced<Agent>,
        identity: Identity<'a>,
        signal: Signal,
        (at, until): (Option<Timestamp>, Option<Timestamp>),
        repeat: impl FnOnce() -> Option<Fingerprint>,
    ) {
        self.batch.account.records += 1;
        if let DialectEvent::Shadowed = event {
            self.batch.account.shadowed += 1;
            return;
        }
        let Some(session) = session(fields) else {
            self.batch.account.no_session += 1;
            return;
        };
        self.facts.clear();
        let known = match event {
            DialectEvent::Known(read) => {
                if let Err(BadValue(key)) = read(fields, &mut self.facts) {
                    self.batch.account.bad_values += 1;
                    self.batch.rejected.push(RejectedRecord { line: self.line, attribute: key.name() });
                    self.empty_if_full();
                    return;
                }
                true
            }
            DialectEvent::Shadowed | DialectEvent::Unknown => false,
        };
        let sequence = fields.text(Key::EventSequence).and_then(|sequence| sequence.parse().ok());
        let origin = RecordOrigin {
            session,
            signal,
            at,
            until,
            sequence,
            repeat: repeat(),
            agent,
            agent_id: identity.agent_id,
            masque: identity.masque,
            known,
        };
        self.batch.push(origin, self.facts.drain(..));
        self.empty_if_full();
    }

    fn empty_if_full(&mut self) {
        if let Mode::Parts(records_max, full) = &mut self.mode
            && self.batch.len() + self.batch.rejected.len() >= *records_max
        {
            full(self.batch);
        }
    }
}

fn fields<'r, 'a>(record: &'r Attributes<'a>, scope: &Scope<'r, 'a>, span: Span) -> Fields<'r, 'a> {
    Fields { record, resource: scope.resource, span, prices: scope.prices }
}

/// The name of a record, and its event.
#[derive(Clone)]
struct Name<'a> {
    event: DialectEvent,
    /// Agent whose prefix the name has.
    prefix: Option<Agent>,
    /// Name without the prefix.
    bare: Cow<'a, str>,
}

impl<'a> Name<'a> {
    /// Returns the first candidate that a dialect defines, or else the first candidate.
    fn of_log(log: &LogRecord<'a>, fields: &Fields<'_, 'a>, agent: Option<Agent>) -> Self {
        let by_attribute = Self::of(fields.text(Key::EventName), agent);
        if let Some(known) = by_attribute.as_ref().filter(|name| name.is_known()) {
            return known.clone();
        }
        let by_field = Self::of(log.event_name.clone().map(trimmed), agent);
        let body = log.body.clone().map(trimmed).filter(|body| is_name(body));
        let candidates = [by_attribute, by_field, Self::of(body, agent)];
        if let Some(known) = candidates.iter().flatten().find(|name| name.is_known()) {
            return known.clone();
        }
        let prefix = candidates.iter().flatten().find_map(|name| name.prefix);
        let nameless = Self { event: log_event(agent, ""), prefix: None, bare: Cow::Borrowed("") };
        Self { prefix, ..candidates.into_iter().flatten().next().unwrap_or(nameless) }
    }

    /// Looks up one candidate. Returns `None` if it is absent or empty.
    fn of(full: Option<Cow<'a, str>>, agent: Option<Agent>) -> Option<Self> {
        let full = full.filter(|name| !name.is_empty())?;
        let (prefix, bare) = Agent::of_name(&full);
        let event = log_event(prefix.or(agent), bare);
        let bare = match &full {
            Cow::Borrowed(full) => Cow::Borrowed(Agent::of_name(full).1),
            Cow::Owned(_) => Cow::Owned(bare.to_owned()),
        };
        Some(Self { event, prefix, bare })
    }

    fn is_known(&self) -> bool {
        !matches!(self.event, DialectEvent::Unknown)
    }
}

/// Whether a body is an event name and not prose.
fn is_name(body: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&body.len()) && body.bytes().all(is_name)
}

// Ranks of the sources of the kind of agent.
const BY_PREFIX: u8 = 0;
const BY_SERVICE: u8 = 1;
const BY_SCOPE: u8 = 2;
const BY_GEN_AI: u8 = 3;
const BY_NOTHING: u8 = 4;

/// Returns the kind of agent, from any source but the name of the record, and the service name. Both usually come
/// from the scope, because hardly any record names its service.
fn agent_and_service<'a>(
    record: &Attributes<'a>,
    scope: &Scope<'_, 'a>,
) -> (Option<Sourced<Agent>>, Option<Cow<'a, str>>) {
    match record.get(Key::ServiceName).text() {
        None => (scope.agent, scope.service.clone()),
        service => (agent_of_service(service.as_deref()).or(scope.agent), service),
    }
}

fn agent(name: &Name<'_>, outer_agent: Option<Sourced<Agent>>, fields: &Fields<'_, '_>) -> Sourced<Agent> {
    let by_prefix = name.prefix.map(|value| Sourced { rank: BY_PREFIX, value });
    by_prefix.or(outer_agent).unwrap_or_else(|| {
        if fields.uses_gen_ai() {
            Sourced { rank: BY_GEN_AI, value: Agent::GenAi }
        } else {
            Sourced { rank: BY_NOTHING, value: Agent::Unknown }
        }
    })
}

/// Returns the session id of a record. Copilot sends the id of the window on the resource and the id of the
/// conversation on the record, so the resource is used only if the record has no id at all. An id that is too long is
/// ignored. `thread.id` is not read: in OpenTelemetry's conventions it is the number of an operating system thread,
/// not a session.
fn session<'a>(fields: &Fields<'_, 'a>) -> Option<Cow<'a, str>> {
    const KEYS: [Key; 3] = [Key::SessionId, Key::ConversationId, Key::GenAiConversationId];
    let first_of = |attributes: &Attributes<'a>| KEYS.iter().find_map(|key| attributes.get(*key).text());
    let session = first_of(fields.record).or_else(|| first_of(fields.resource))?;
    (session.len() <= SESSION_ID_BYTES_MAX).then_some(session)
}

/// The agent id and the masque of a record.
#[derive(Clone)]
struct Identity<'a> {
    agent_id: Sourced<Cow<'a, str>>,
    masque: Option<Sourced<Cow<'a, str>>>,
}

/// Returns the identity of a record, or that of its resource if the record has no attribute for it.
fn identity<'a>(
    fields: &Fields<'_, 'a>,
    scope: &Scope<'_, 'a>,
    service: Option<&Cow<'a, str>>,
) -> Identity<'a> {
    const KEYS: [Key; 6] = [
        Key::RenownAgentId,
        Key::GenAiAgentId,
        Key::GenAiAgentName,
        Key::ServiceName,
        Key::MasqueName,
        Key::PersonaId,
    ];
    if fields.record.has_one_of(&KEYS) { Identity::of(fields, service) } else { scope.identity.clone() }
}

impl<'a> Identity<'a> {
    fn of(fields: &Fields<'_, 'a>, service: Option<&Cow<'a, str>>) -> Self {
        let sourced = |rank, text: Option<Cow<'a, str>>| {
            let value = cut(text?, AGENT_ID_CHARS_MAX);
            value.parse::<AgentId>().is_ok().then_some(Sourced { rank, value })
        };
        let own =
            |rank, attributes: &Attributes<'a>| sourced(rank, attributes.get(Key::RenownAgentId).text());
        let shared = |rank, key| sourced(rank, fields.text(key));
        let agent_id = own(0, fields.resource)
            .or_else(|| own(1, fields.record))
            .or_else(|| shared(2, Key::GenAiAgentId))
            .or_else(|| shared(3, Key::GenAiAgentName))
            .or_else(|| sourced(4, service.cloned()))
            .unwrap_or(Sourced { rank: UNKNOWN_AGENT_ID.rank, value: Cow::Borrowed(UNKNOWN_AGENT_ID.value) });
        Self { agent_id, masque: masque(fields) }
    }
}

fn masque<'a>(fields: &Fields<'_, 'a>) -> Option<Sourced<Cow<'a, str>>> {
    let sources = [
        (Key::MasqueName, fields.record),
        (Key::MasqueName, fields.resource),
        (Key::PersonaId, fields.record),
        (Key::PersonaId, fields.resource),
    ];
    let found = (0..).zip(sources).find_map(|(rank, (key, attributes))| {
        attributes.get(key).text().map(|value| Sourced { rank, value })
    })?;
    Some(Sourced { value: cut(found.value, MASQUE_CHARS_MAX), ..found })
}

/// Returns at most the first `chars_max` characters.
fn cut(text: Cow<'_, str>, chars_max: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(value::cut(text, chars_max)),
        Cow::Owned(mut text) => {
            text.truncate(value::cut(&text, chars_max).len());
            Cow::Owned(text)
        }
    }
}
