//! Records as agents send them, before anyone writes them down.
//!
//! A value is what it means; each encoder chooses among the OTLP types in which the contract reads it the same.

use std::fmt;

use crate::dice::Dice;
use crate::events::{EVENTS, Event, Kind, SPANS};

/// What an attribute means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Count(u64),
    /// A number with a fraction.
    Decimal(f64),
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    /// Exactly this.
    Sent(Sent),
}

/// A value of an OTLP type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sent {
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

    /// The value in one of the types in which it means the same.
    pub(crate) fn sent(&self, dice: &mut Dice) -> Sent {
        match self {
            Self::Count(count) => match dice.roll(4) {
                0 => Sent::Double(f64::from(u32::try_from(*count).unwrap())),
                1 => Sent::Text(padded(&count.to_string(), dice)),
                _ => Sent::Int(i64::try_from(*count).unwrap()),
            },
            Self::Decimal(number) => match dice.roll(4) {
                0 => Sent::Text(padded(&number.to_string(), dice)),
                1 => Sent::Text(format!("{number:e}")),
                _ => Sent::Double(*number),
            },
            Self::Flag(flag) => match dice.roll(5) {
                0 => Sent::Int(i64::from(*flag)),
                1 => Sent::Text(padded(if *flag { "TRUE" } else { "False" }, dice)),
                2 => Sent::Text(i64::from(*flag).to_string()),
                _ => Sent::Bool(*flag),
            },
            Self::Text(text) => match text.parse::<i64>() {
                Ok(number) if dice.one_in(2) => Sent::Int(number),
                _ => Sent::Text(padded(text, dice)),
            },
            Self::Texts(texts) => match (texts.as_slice(), dice.roll(3)) {
                ([one], 0) => Sent::Text(padded(one, dice)),
                (_, 1) => Sent::Text(padded(&serde_json::to_string(texts).unwrap(), dice)),
                _ => Sent::List(texts.clone()),
            },
            Self::Sent(sent) => sent.clone(),
        }
    }
}

fn padded(text: &str, dice: &mut Dice) -> String {
    if dice.one_in(6) { format!(" {text}\t") } else { text.to_owned() }
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

/// On one line, also among others.
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

/// The texts in sessions are awkward on purpose.
const SESSIONS: [&str; 4] = ["s-1", "42", "é \"\\\u{1}\n/😀", "s-1 "];
const START: u64 = 1_790_000_000_000_000_000;
/// Those that name a session, and one that looks as if it did.
const FOUR: [&str; 4] = ["session.id", "conversation.id", "gen_ai.conversation.id", "thread.id"];

/// What records of a list are to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Anything,
    /// Every record can be told from every other.
    Recognisable,
    /// Claude Code's logs in its own spelling.
    ClaudeCode,
}

/// The records of these seeds.
pub(crate) fn records(seeds: &[u64], wanted: Wanted) -> Vec<Record> {
    // The number of a record comes from its seed, so that it stays the same when others are left out.
    let number = |seed: u64| 1 + seed % (1 << 31);
    seeds.iter().map(|seed| record(&mut Dice(*seed), number(*seed), wanted)).collect()
}

fn record(dice: &mut Dice, number: u64, wanted: Wanted) -> Record {
    let is_log = wanted == Wanted::ClaudeCode || dice.roll(5) < 3;
    let events = if is_log { EVENTS } else { SPANS };
    let mut event = dice.pick(events);
    while wanted == Wanted::ClaudeCode && event.prefix != "claude_code." {
        event = dice.pick(events);
    }
    record_of(&event, is_log, dice, number, wanted)
}

/// A record of this event.
pub(crate) fn record_of(event: &Event, is_log: bool, dice: &mut Dice, number: u64, wanted: Wanted) -> Record {
    let mut attributes = values(event, dice);
    let mut resource = origin(event, dice, wanted);
    session(event, &mut attributes, &mut resource, dice);
    let scope = dice.pick(&["", "com.anthropic.claude_code.events", "another"]);
    let shape = if is_log {
        Shape::Log(log(event, number, &mut attributes, dice, wanted))
    } else {
        let known = wanted == Wanted::Recognisable || !dice.one_in(8);
        Shape::Span(span(event, if known { number } else { 0 }, dice))
    };
    if dice.one_in(10) && !attributes.is_empty() {
        // The first entry of a key wins.
        let (key, _) = &attributes[dice.roll(attributes.len())];
        attributes.push((key.clone(), Value::Count(7)));
    }
    Record { resource, scope: scope.to_owned(), shape, attributes }
}

/// The attributes that an event has in §4, most of them there, some unusable.
fn values(event: &Event, dice: &mut Dice) -> Attributes {
    let mut attributes = Attributes::new();
    for (key, kind) in event.attributes {
        let value = match kind {
            _ if dice.one_in(5) => continue,
            _ if dice.one_in(60) => odd(dice),
            Kind::Count => Value::Count(dice.number() % [10, 5000, 1 << 30][dice.roll(3)]),
            Kind::Usd => Value::Decimal(decimal(dice, 1_000_000, 1e7)),
            Kind::Millis => Value::Decimal(decimal(dice, 100_000_000, 1e3)),
            Kind::Flag => Value::Flag(!dice.one_in(3)),
            Kind::One(texts) => Value::text(dice.pick(texts)),
            Kind::Reasons => {
                let reasons = ["stop", "length", "refusal", "content_filter"];
                Value::Texts((0..dice.roll(3)).map(|_| dice.pick(&reasons).to_owned()).collect())
            }
        };
        attributes.push(((*key).to_owned(), value));
    }
    for key in ["renown.agent_id", "gen_ai.agent.id", "gen_ai.agent.name", "masque.name", "persona.id"] {
        if dice.one_in(12) {
            attributes.push((key.to_owned(), Value::text(dice.pick(&["Ada", "Bo", "7", ""]))));
        }
    }
    dice.shuffle(&mut attributes);
    attributes
}

/// Mostly a number with decimals, sometimes nothing.
fn decimal(dice: &mut Dice, up_to: u32, per: f64) -> f64 {
    if dice.one_in(8) { 0.0 } else { f64::from(dice.number() as u32 % up_to) / per }
}

/// Values that are absent, unknown or refused, by what is wanted.
fn odd(dice: &mut Dice) -> Value {
    Value::Sent(match dice.roll(15) {
        0 => Sent::Int(-1),
        1 => Sent::Text("many".to_owned()),
        2 => Sent::Text("1.5".to_owned()),
        3 => Sent::Double(f64::NAN),
        4 => Sent::Double(f64::INFINITY),
        5 => Sent::Double(-0.0),
        6 => Sent::Int(1_000_000_000_000_000),
        7 => Sent::Int(1_000_000_000_000_001),
        8 => Sent::Bool(true),
        9 => Sent::List(vec!["5".to_owned()]),
        10 => Sent::Map,
        11 => Sent::Bytes(b"5".to_vec()),
        12 => Sent::Unset,
        13 => Sent::Text(" ".to_owned()),
        _ => Sent::Double(1e-320),
    })
}

/// The resource: the agent's, another's, none; sometimes with what a record may have too.
fn origin(event: &Event, dice: &mut Dice, wanted: Wanted) -> Attributes {
    let service = match dice.roll(12) {
        0..8 => event.service,
        8 => "a-service",
        9 if wanted != Wanted::ClaudeCode => "copilot-chat",
        _ => "",
    };
    let mut resource = vec![("service.name".to_owned(), Value::text(service))];
    let mut some = |key: &str, cases, value: Value| {
        if dice.one_in(cases) {
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

fn session(event: &Event, own: &mut Attributes, resource: &mut Attributes, dice: &mut Dice) {
    let id = match dice.roll(40) {
        0 => Value::Text("x".repeat(257)),
        1 => Value::Text("x".repeat(256)),
        2 => odd(dice),
        _ => Value::text(dice.pick(&SESSIONS)),
    };
    let key = if dice.one_in(6) { dice.pick(&FOUR) } else { event.session };
    match dice.roll(20) {
        0 => {}
        1 | 2 => resource.push((key.to_owned(), id)),
        3 | 4 => {
            resource.push((key.to_owned(), Value::text(SESSIONS[0])));
            own.push((key.to_owned(), id));
        }
        // Often first, as most agents have it: readers remember what the record before began with.
        5..12 => own.insert(0, (key.to_owned(), id)),
        _ => own.insert(dice.roll(own.len() + 1), (key.to_owned(), id)),
    }
}

fn log(event: &Event, number: u64, own: &mut Attributes, dice: &mut Dice, wanted: Wanted) -> Log {
    let mut log = Log { time: 0, observed_time: 0, event_name: String::new(), body: None };
    let bare = wanted != Wanted::ClaudeCode && dice.one_in(4);
    let name = if bare { event.name.to_owned() } else { format!("{}{}", event.prefix, event.name) };
    match dice.roll(6) {
        0 => log.event_name = name,
        1 => log.body = Some(Value::Text(name)),
        2 => {
            // An unknown candidate leaves the choice to the next.
            "something_else".clone_into(&mut log.event_name);
            log.body = Some(Value::Text(name));
        }
        _ => own.push(("event.name".to_owned(), Value::Text(name))),
    }
    if log.body.is_none() {
        log.body = match dice.roll(4) {
            0 => Some(Value::text("Tool call: read. Success: true.")),
            1 => Some(Value::Sent(Sent::Map)),
            _ => None,
        };
    }
    let at = START + dice.number() % 600_000_000_000;
    match dice.roll(14) {
        0 => {}
        1 => log.time = 5,
        2 => own.push(("event.timestamp".to_owned(), Value::text("2026-09-21T13:53:20.123456789Z"))),
        3 | 4 => log.observed_time = at,
        _ => (log.time, log.observed_time) = (at, at + 1_000_000),
    }
    match dice.roll(6) {
        0..3 => own.push(("event.sequence".to_owned(), Value::Count(number))),
        3 | 4 => {
            let key = dice.pick(&["tool_use_id", "call_id", "request_id"]);
            own.push((key.to_owned(), Value::Text(format!("call-{number}"))));
        }
        _ if wanted == Wanted::Recognisable => {
            own.push(("event.sequence".to_owned(), Value::Count(number)));
        }
        _ => {}
    }
    log
}

fn span(event: &Event, number: u64, dice: &mut Dice) -> Span {
    let (mut trace_id, mut id) = ([0; 16], [0; 8]);
    if number > 0 {
        trace_id[15] = 1 + (number % 4) as u8;
        id.copy_from_slice(&(number << 20).to_be_bytes());
    }
    let start = if dice.one_in(10) { 0 } else { START + dice.number() % 600_000_000_000 };
    let end = if dice.one_in(10) { 0 } else { start + dice.number() % 9_000_000_000 };
    let name = format!("{}{}", if dice.one_in(4) { "" } else { event.prefix }, event.name);
    Span { name, trace_id, id, start, end, status: dice.roll(3) as u8 }
}
