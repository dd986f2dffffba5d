//! The encoding of records in a store: the origin of a record and its facts, in a few dozen bytes.
//!
//! ```text
//! version 1 | flags | at? | until? | sequence? | agent | agent id | masque? | facts
//! ```
//!
//! **The numbers of kinds are stored**: new numbers may be added, old ones never change.
//!
//! The session id and the fingerprint are not part of the bytes; the store has them in columns.

use renown_core::units::NanoUsd;

use crate::bytes::{Cursor, Read, Unreadable, Writer};
use crate::dialect::Agent;
use crate::facts::{ApiRequest, Cost, Decider, Fact, Fingerprint, RecordOrigin, Signal, Sourced, Tokens};

const VERSION: u8 = 1;

// Bits of the flags.
const SPANS: u8 = 1;
const KNOWN: u8 = 2;
const AT: u8 = 4;
const UNTIL: u8 = 8;
const SEQUENCE: u8 = 16;
const MASQUE: u8 = 32;
const TRANSCRIPT: u8 = 64;

/// The agents at the index of their number.
pub(crate) const AGENTS: [Agent; 9] = [
    Agent::Unknown,
    Agent::ClaudeCode,
    Agent::Codex,
    Agent::GeminiCli,
    Agent::QwenCode,
    Agent::OpenCode,
    Agent::Copilot,
    Agent::GenAi,
    Agent::Pi,
];

/// The deciders at the index of their number.
const DECIDERS: [Decider; 4] = [Decider::Unknown, Decider::User, Decider::Policy, Decider::Hook];

/// Encodes a record.
pub fn encode<'a>(origin: &RecordOrigin<&str>, facts: impl IntoIterator<Item = Fact<&'a str>>) -> Vec<u8> {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let flags = flag(origin.signal == Signal::Spans, SPANS)
        | flag(origin.known, KNOWN)
        | flag(origin.at.is_some(), AT)
        | flag(origin.until.is_some(), UNTIL)
        | flag(origin.sequence.is_some(), SEQUENCE)
        | flag(origin.masque.is_some(), MASQUE)
        | flag(origin.signal == Signal::Transcript, TRANSCRIPT);
    let mut bytes = Writer(vec![VERSION, flags]);
    for time in [origin.at, origin.until].into_iter().flatten() {
        bytes.0.extend(time.nanos().to_le_bytes());
    }
    if let Some(sequence) = origin.sequence {
        bytes.varint(sequence.into());
    }
    bytes.0.extend([origin.agent.rank, number_of(&AGENTS, &origin.agent.value), origin.agent_id.rank]);
    bytes.text(origin.agent_id.value);
    if let Some(masque) = origin.masque {
        bytes.0.push(masque.rank);
        bytes.text(masque.value);
    }
    for fact in facts {
        bytes.fact(&fact);
    }
    bytes.0
}

/// Returns the index of a kind in its list, which contains every kind.
pub(crate) fn number_of<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let index = all.iter().position(|known| known == one).unwrap_or_default();
    u8::try_from(index).unwrap_or_default()
}

/// Borrows an optional text.
fn text<T: AsRef<str>>(text: Option<&T>) -> Option<&str> {
    text.map(AsRef::as_ref)
}

impl Writer {
    pub(crate) fn fact<T: AsRef<str>>(&mut self, fact: &Fact<T>) {
        match fact {
            Fact::ToolResult { tool, ok, duration_us, error_type } => {
                self.0.extend([0, ok.map_or(2, u8::from)]);
                self.optional_text(text(tool.as_ref()));
                self.optional_number(*duration_us);
                self.optional_text(text(error_type.as_ref()));
            }
            Fact::Prompt { trace } => {
                self.0.push(1);
                self.optional_number(trace.map(|trace| trace.get() - 1));
            }
            Fact::ApiRequest(request) => self.request(request),
            Fact::ApiError { status, error_type } => {
                self.0.push(3);
                self.optional_number(*status);
                self.optional_text(text(error_type.as_ref()));
            }
            Fact::ToolDecision { tool, accepted, by } => {
                self.0.extend([4, u8::from(*accepted), number_of(&DECIDERS, by)]);
                self.optional_text(text(tool.as_ref()));
            }
            Fact::Feedback { rating } => self.0.extend([5, rating.cast_unsigned()]),
            Fact::Compaction { before, after } => {
                self.0.push(6);
                self.optional_number(*before);
                self.optional_number(*after);
            }
            Fact::Refusal => self.0.push(7),
        }
    }

    fn request<T: AsRef<str>>(&mut self, request: &ApiRequest<T>) {
        let (source, nano) = match request.cost {
            None => (0, None),
            Some(Cost::Reported(cost)) => (1, Some(cost.nano())),
            Some(Cost::Priced(cost)) => (2, Some(cost.nano())),
        };
        self.0.extend([2, u8::from(request.is_sum), u8::from(request.tokens.is_some()), source]);
        self.optional_text(text(request.model.as_ref()));
        if let Some(Tokens { input, output, cache_read, cache_creation }) = request.tokens {
            for count in [input, output, cache_read, cache_creation] {
                self.varint(count.into());
            }
        }
        if let Some(nano) = nano {
            self.varint(nano);
        }
        self.optional_number(request.duration_us);
    }
}

/// A decoded record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord<'a> {
    /// Everything known about the record except its facts.
    pub origin: RecordOrigin<&'a str>,
    /// Facts of the record.
    pub facts: Vec<Fact<&'a str>>,
}

/// Decodes a record of a session. Returns `None` if the bytes are not a valid record.
pub fn decode<'a>(
    session: &'a str,
    repeat: Option<Fingerprint>,
    bytes: &'a [u8],
) -> Option<StoredRecord<'a>> {
    Cursor(bytes).record(session, repeat).ok()
}

impl<'a> Cursor<'a> {
    fn record(&mut self, session: &'a str, repeat: Option<Fingerprint>) -> Read<StoredRecord<'a>> {
        if self.byte()? != VERSION {
            return Err(Unreadable);
        }
        let flags = self.byte()?;
        let has = |bit: u8| flags & bit != 0;
        let at = if has(AT) { Some(self.time()?) } else { None };
        let until = if has(UNTIL) { Some(self.time()?) } else { None };
        let sequence = if has(SEQUENCE) { Some(self.number()?) } else { None };
        let agent = Sourced { rank: self.byte()?, value: self.one_of(&AGENTS)? };
        let agent_id = Sourced { rank: self.byte()?, value: self.text()? };
        let masque =
            if has(MASQUE) { Some(Sourced { rank: self.byte()?, value: self.text()? }) } else { None };
        let signal = match (has(SPANS), has(TRANSCRIPT)) {
            (false, false) => Signal::Logs,
            (true, false) => Signal::Spans,
            (_, true) => Signal::Transcript,
        };
        let known = has(KNOWN);
        let origin =
            RecordOrigin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known };
        let mut facts = Vec::new();
        while !self.0.is_empty() {
            facts.push(self.fact()?);
        }
        Ok(StoredRecord { origin, facts })
    }

    pub(crate) fn fact(&mut self) -> Read<Fact<&'a str>> {
        Ok(match self.byte()? {
            0 => {
                let ok = self.one_of(&[Some(false), Some(true), None])?;
                let (tool, duration_us) = (self.optional(Self::text)?, self.optional_number()?);
                Fact::ToolResult { tool, ok, duration_us, error_type: self.optional(Self::text)? }
            }
            1 => {
                let trace = self.optional_number()?;
                Fact::Prompt { trace: trace.and_then(|trace| trace.checked_add(1)?.try_into().ok()) }
            }
            2 => Fact::ApiRequest(self.request()?),
            3 => Fact::ApiError { status: self.optional_number()?, error_type: self.optional(Self::text)? },
            4 => {
                let (accepted, by) = (self.flag()?, self.one_of(&DECIDERS)?);
                Fact::ToolDecision { tool: self.optional(Self::text)?, accepted, by }
            }
            5 => Fact::Feedback { rating: self.byte()?.cast_signed() },
            6 => Fact::Compaction { before: self.optional_number()?, after: self.optional_number()? },
            7 => Fact::Refusal,
            _ => return Err(Unreadable),
        })
    }

    fn request(&mut self) -> Read<ApiRequest<&'a str>> {
        let (is_sum, has_tokens, source) = (self.flag()?, self.flag()?, self.byte()?);
        let model = self.optional(Self::text)?;
        let tokens = if has_tokens {
            let (input, output) = (self.number()?, self.number()?);
            Some(Tokens { input, output, cache_read: self.number()?, cache_creation: self.number()? })
        } else {
            None
        };
        let cost = match source {
            0 => None,
            1 => Some(Cost::Reported(NanoUsd::from_nano(self.varint()?))),
            2 => Some(Cost::Priced(NanoUsd::from_nano(self.varint()?))),
            _ => return Err(Unreadable),
        };
        Ok(ApiRequest { model, tokens, cost, duration_us: self.optional_number()?, is_sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use renown_core::time::Timestamp;

    fn origin() -> RecordOrigin<&'static str> {
        RecordOrigin {
            session: "s",
            signal: Signal::Spans,
            at: Timestamp::from_nanos(1_790_000_000_000_000_001).ok(),
            until: Timestamp::from_nanos(1_790_000_000_000_000_002).ok(),
            sequence: Some(300),
            repeat: None,
            agent: Sourced { rank: 1, value: Agent::GenAi },
            agent_id: Sourced { rank: 3, value: "reviewer-é" },
            masque: Some(Sourced { rank: 1, value: "" }),
            known: true,
        }
    }

    fn facts() -> Vec<Fact<&'static str>> {
        let tokens = Tokens { input: u64::MAX, output: 0, cache_read: 127, cache_creation: 128 };
        let request = ApiRequest {
            model: Some("m"),
            tokens: Some(tokens),
            cost: None,
            duration_us: Some(0),
            is_sum: false,
        };
        let cost = |cost| ApiRequest { cost: Some(cost), tokens: None, is_sum: true, ..request.clone() };
        vec![
            Fact::ToolResult {
                tool: Some("Edit"),
                ok: Some(true),
                duration_us: Some(u64::MAX),
                error_type: Some("e"),
            },
            Fact::ToolResult { tool: None, ok: None, duration_us: None, error_type: None },
            Fact::Prompt { trace: std::num::NonZeroU64::new(u64::MAX) },
            Fact::Prompt { trace: None },
            Fact::ApiRequest(request.clone()),
            Fact::ApiRequest(cost(Cost::Reported(NanoUsd::from_nano(u128::MAX)))),
            Fact::ApiRequest(cost(Cost::Priced(NanoUsd::from_nano(0)))),
            Fact::ApiError { status: Some(529), error_type: None },
            Fact::ToolDecision { tool: Some("Bash"), accepted: false, by: Decider::Hook },
            Fact::Feedback { rating: -1 },
            Fact::Compaction { before: Some(5), after: None },
            Fact::Refusal,
        ]
    }

    #[test]
    fn decoding_returns_the_encoded_record() {
        for known in [true, false] {
            let full = RecordOrigin { known, ..origin() };
            let bare = RecordOrigin {
                at: None,
                until: None,
                sequence: None,
                masque: None,
                signal: Signal::Logs,
                ..full.clone()
            };
            for origin in [full, bare] {
                let bytes = encode(&origin, facts());
                assert_eq!(decode("s", None, &bytes), Some(StoredRecord { origin, facts: facts() }));
            }
        }
        let small =
            encode(&RecordOrigin { until: None, masque: None, ..origin() }, [Fact::Prompt { trace: None }]);
        assert!(small.len() < 32, "{}", small.len());
    }

    #[test]
    fn invalid_bytes_are_rejected_without_a_panic() {
        let bytes = encode(&origin(), facts());
        for end in 0..bytes.len() {
            // Bytes that are cut between two facts are a valid record with fewer facts.
            if let Some(record) = decode("s", None, bytes.split_at(end).0) {
                assert!(record.facts.len() < facts().len());
            }
        }
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 0xff;
            // The result may be valid or not; decoding must end.
            let _ = decode("s", None, &changed);
        }
    }
}
