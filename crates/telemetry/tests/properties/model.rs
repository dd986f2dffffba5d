//! The generated records, independent of their encoding.
//!
//! A value has a meaning. Each encoder chooses one of the OTLP types that are read as the same meaning.

use std::fmt;

use renown_testing::Rng;

use crate::events::{EVENTS, Event, Kind, SPANS};

/// The meaning of an attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Count(u64),
    /// A number with a fraction.
    Decimal(f64),
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    /// Exactly this encoded value.
    Encoded(Encoded),
}

/// A value in an OTLP type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Encoded {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
    List(Vec<String>),
    Map,
    Bytes(Vec<u8>),
    Unset,
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Encodes the value in one of the types with the same meaning.
    pub(crate) fn encoded(&self, rng: &mut Rng) -> Encoded {
        match self {
            Self::Count(count) => match rng.below(4) {
                0 => Encoded::Double(f64::from(u32::try_from(*count).unwrap())),
                1 => Encoded::Text(padded(&count.to_string(), rng)),
                _ => Encoded::Int(i64::try_from(*count).unwrap()),
            },
            Self::Decimal(number) => match rng.below(4) {
                0 => Encoded::Text(padded(&number.to_string(), rng)),
                1 => Encoded::Text(format!("{number:e}")),
                _ => Encoded::Double(*number),
            },
            Self::Flag(flag) => match rng.below(5) {
                0 => Encoded::Int(i64::from(*flag)),
                1 => Encoded::Text(padded(if *flag { "TRUE" } else { "False" }, rng)),
                2 => Encoded::Text(i64::from(*flag).to_string()),
                _ => Encoded::Bool(*flag),
            },
            Self::Text(text) => match text.parse::<i64>() {
                Ok(number) if rng.one_in(2) => Encoded::Int(number),
                _ => Encoded::Text(padded(text, rng)),
            },
            Self::Texts(texts) => match (texts.as_slice(), rng.below(3)) {
                ([one], 0) => Encoded::Text(padded(one, rng)),
                (_, 1) => Encoded::Text(padded(&serde_json::to_string(texts).unwrap(), rng)),
                _ => Encoded::List(texts.clone()),
            },
            Self::Encoded(sent) => sent.clone(),
        }
    }
}

fn padded(text: &str, rng: &mut Rng) -> String {
    if rng.one_in(6) { format!(" {text}\t") } else { text.to_owned() }
}

pub(crate) type Attributes = Vec<(String, Value)>;

#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) time: u64,
    pub(crate) observed_time: u64,
    pub(crate) event_name: String,
    pub(crate) body: Option<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) trace_id: [u8; 16],
    pub(crate) id: [u8; 8],
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// 0 unset, 1 ok, 2 error.
    pub(crate) status: u8,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Log(Log),
    Span(Span),
}

#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) resource: Attributes,
    pub(crate) scope: String,
    pub(crate) shape: Shape,
    pub(crate) attributes: Attributes,
}

/// Prints a record on one line, also in a list.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, scope, shape, attributes } = self;
        write!(f, "{shape:?} {attributes:?} of {resource:?} {scope:?}")
    }
}

impl Record {
    pub(crate) fn is_log(&self) -> bool {
        matches!(self.shape, Shape::Log(_))
    }
}

/// Session ids with awkward texts.
const SESSIONS: [&str; 4] = ["s-1", "42", "é \"\\\u{1}\n/😀", "s-1 "];
const START: u64 = 1_790_000_000_000_000_000;
/// The attributes with a session id, and one that is not read.
const SESSION_KEYS: [&str; 4] = ["session.id", "conversation.id", "gen_ai.conversation.id", "thread.id"];

/// A requirement for the records of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    Anything,
    /// Every record has a different identity.
    Distinct,
    /// Only logs of Claude Code, with prefixed names.
    ClaudeCode,
}

/// Generates one record per seed.
pub(crate) fn records(seeds: &[u64], requirement: Requirement) -> Vec<Record> {
    // The number of a record depends only on its seed, so that it stays the same when other records are removed.
    let number = |seed: u64| 1 + seed % (1 << 31);
    seeds.iter().map(|seed| record(&mut Rng::new(*seed), number(*seed), requirement)).collect()
}

fn record(rng: &mut Rng, number: u64, requirement: Requirement) -> Record {
    let is_log = requirement == Requirement::ClaudeCode || rng.below(5) < 3;
    let events = if is_log { EVENTS } else { SPANS };
    let mut event = rng.pick(events);
    while requirement == Requirement::ClaudeCode && event.prefix != "claude_code." {
        event = rng.pick(events);
    }
    record_of(&event, is_log, rng, number, requirement)
}

/// Generates a record of this event.
pub(crate) fn record_of(
    event: &Event,
    is_log: bool,
    rng: &mut Rng,
    number: u64,
    requirement: Requirement,
) -> Record {
    let mut attributes = values(event, rng);
    let mut resource = origin(event, rng, requirement);
    session(event, &mut attributes, &mut resource, rng);
    let scope = rng.pick(&["", "com.anthropic.claude_code.events", "another"]);
    let shape = if is_log {
        Shape::Log(log(event, number, &mut attributes, rng, requirement))
    } else {
        let known = requirement == Requirement::Distinct || !rng.one_in(8);
        Shape::Span(span(event, if known { number } else { 0 }, rng))
    };
    if rng.one_in(10) && !attributes.is_empty() {
        // The first entry of a key wins.
        let (key, _) = &attributes[rng.below(attributes.len())];
        attributes.push((key.clone(), Value::Count(7)));
    }
    Record { resource, scope: scope.to_owned(), shape, attributes }
}

/// Generates the attributes of an event. Some are missing, some are unusable.
fn values(event: &Event, rng: &mut Rng) -> Attributes {
    let mut attributes = Attributes::new();
    for (key, kind) in event.attributes {
        let value = match kind {
            _ if rng.one_in(5) => continue,
            _ if rng.one_in(60) => odd(rng),
            Kind::Count => Value::Count(rng.number() % [10, 5000, 1 << 30][rng.below(3)]),
            Kind::Usd => Value::Decimal(decimal(rng, 1_000_000, 1e7)),
            Kind::Millis => Value::Decimal(decimal(rng, 100_000_000, 1e3)),
            Kind::Flag => Value::Flag(!rng.one_in(3)),
            Kind::One(texts) => Value::text(rng.pick(texts)),
            Kind::Reasons => {
                let reasons = ["stop", "length", "refusal", "content_filter"];
                Value::Texts((0..rng.below(3)).map(|_| rng.pick(&reasons).to_owned()).collect())
            }
        };
        attributes.push(((*key).to_owned(), value));
    }
    for key in ["renown.agent_id", "gen_ai.agent.id", "gen_ai.agent.name", "masque.name", "persona.id"] {
        if rng.one_in(12) {
            attributes.push((key.to_owned(), Value::text(rng.pick(&["Ada", "Bo", "7", ""]))));
        }
    }
    rng.shuffle(&mut attributes);
    attributes
}

/// Returns a number with decimals, sometimes zero.
fn decimal(rng: &mut Rng, up_to: u32, per: f64) -> f64 {
    if rng.one_in(8) { 0.0 } else { f64::from(rng.number() as u32 % up_to) / per }
}

/// Returns a value that some attributes treat as absent, some as unknown and some as invalid.
fn odd(rng: &mut Rng) -> Value {
    Value::Encoded(match rng.below(15) {
        0 => Encoded::Int(-1),
        1 => Encoded::Text("many".to_owned()),
        2 => Encoded::Text("1.5".to_owned()),
        3 => Encoded::Double(f64::NAN),
        4 => Encoded::Double(f64::INFINITY),
        5 => Encoded::Double(-0.0),
        6 => Encoded::Int(1_000_000_000_000_000),
        7 => Encoded::Int(1_000_000_000_000_001),
        8 => Encoded::Bool(true),
        9 => Encoded::List(vec!["5".to_owned()]),
        10 => Encoded::Map,
        11 => Encoded::Bytes(b"5".to_vec()),
        12 => Encoded::Unset,
        13 => Encoded::Text(" ".to_owned()),
        _ => Encoded::Double(1e-320),
    })
}

/// Generates a resource: with the service name of the agent, another one or none, and sometimes with attributes of
/// records.
fn origin(event: &Event, rng: &mut Rng, requirement: Requirement) -> Attributes {
    let service = match rng.below(12) {
        0..8 => event.service,
        8 => "a-service",
        9 if requirement != Requirement::ClaudeCode => "copilot-chat",
        _ => "",
    };
    let mut resource = vec![("service.name".to_owned(), Value::text(service))];
    let mut some = |key: &str, cases, value: Value| {
        if rng.one_in(cases) {
            resource.push((key.to_owned(), value));
        }
    };
    some("renown.agent_id", 6, Value::text("reviewer-1"));
    some("masque.name", 6, Value::text("Grace"));
    some("success", 12, Value::Flag(true));
    some("model", 12, Value::text("gpt-5"));
    some("input_tokens", 30, Value::Count(11));
    resource
}

fn session(event: &Event, own: &mut Attributes, resource: &mut Attributes, rng: &mut Rng) {
    let id = match rng.below(40) {
        0 => Value::Text("x".repeat(257)),
        1 => Value::Text("x".repeat(256)),
        2 => odd(rng),
        _ => Value::text(rng.pick(&SESSIONS)),
    };
    let key = if rng.one_in(6) { rng.pick(&SESSION_KEYS) } else { event.session };
    match rng.below(20) {
        0 => {}
        1 | 2 => resource.push((key.to_owned(), id)),
        3 | 4 => {
            resource.push((key.to_owned(), Value::text(SESSIONS[0])));
            own.push((key.to_owned(), id));
        }
        // Often first, as in most agents: the JSON reader compares the first attributes with those of the previous
        // record.
        5..12 => own.insert(0, (key.to_owned(), id)),
        _ => own.insert(rng.below(own.len() + 1), (key.to_owned(), id)),
    }
}

fn log(event: &Event, number: u64, own: &mut Attributes, rng: &mut Rng, requirement: Requirement) -> Log {
    let mut log = Log { time: 0, observed_time: 0, event_name: String::new(), body: None };
    let bare = requirement != Requirement::ClaudeCode && rng.one_in(4);
    let name = if bare { event.name.to_owned() } else { format!("{}{}", event.prefix, event.name) };
    match rng.below(6) {
        0 => log.event_name = name,
        1 => log.body = Some(Value::Text(name)),
        2 => {
            // If a candidate is unknown, the next one is used.
            "something_else".clone_into(&mut log.event_name);
            log.body = Some(Value::Text(name));
        }
        _ => own.push(("event.name".to_owned(), Value::Text(name))),
    }
    if log.body.is_none() {
        log.body = match rng.below(4) {
            0 => Some(Value::text("Tool call: read. Success: true.")),
            1 => Some(Value::Encoded(Encoded::Map)),
            _ => None,
        };
    }
    let at = START + rng.number() % 600_000_000_000;
    match rng.below(14) {
        0 => {}
        1 => log.time = 5,
        2 => own.push(("event.timestamp".to_owned(), Value::text("2026-09-21T13:53:20.123456789Z"))),
        3 | 4 => log.observed_time = at,
        _ => (log.time, log.observed_time) = (at, at + 1_000_000),
    }
    match rng.below(6) {
        0..3 => own.push(("event.sequence".to_owned(), Value::Count(number))),
        3 | 4 => {
            let key = rng.pick(&["tool_use_id", "call_id", "request_id"]);
            own.push((key.to_owned(), Value::Text(format!("call-{number}"))));
        }
        _ if requirement == Requirement::Distinct => {
            own.push(("event.sequence".to_owned(), Value::Count(number)));
        }
        _ => {}
    }
    log
}

fn span(event: &Event, number: u64, rng: &mut Rng) -> Span {
    let (mut trace_id, mut id) = ([0; 16], [0; 8]);
    if number > 0 {
        trace_id[15] = 1 + (number % 4) as u8;
        id.copy_from_slice(&(number << 20).to_be_bytes());
    }
    let start = if rng.one_in(10) { 0 } else { START + rng.number() % 600_000_000_000 };
    let end = if rng.one_in(10) { 0 } else { start + rng.number() % 9_000_000_000 };
    let name = format!("{}{}", if rng.one_in(4) { "" } else { event.prefix }, event.name);
    Span { name, trace_id, id, start, end, status: rng.below(3) as u8 }
}
