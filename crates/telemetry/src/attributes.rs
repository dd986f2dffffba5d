//! The attributes that are looked at, and the values that one record or resource has for them.
//!
//! Every attribute of the contract has a [`Key`]; all others (prompts, arguments, outputs, e-mail addresses, account
//! ids) are stepped over while parsing and never kept. [`Key::of`] decides that for each attribute of each record, so it
//! costs one look into a table that is made at compile time.

use crate::limits::ATTRIBUTES_MAX;
use crate::value::Value;

/// Makes the keys and their names from one list.
macro_rules! keys {
    ($($key:ident = $name:literal,)+) => {
        /// An attribute of the contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Key {
            $($key,)+
        }

        impl Key {
            /// All of them, in order.
            const ALL: &[Self] = &[$(Self::$key,)+];

            const NAMES: &[&str] = &[$($name,)+];
        }
    };
}

keys! {
    EventName = "event.name",
    EventTimestamp = "event.timestamp",
    EventSequence = "event.sequence",
    SessionId = "session.id",
    ConversationId = "conversation.id",
    GenAiConversationId = "gen_ai.conversation.id",
    RenownAgentId = "renown.agent_id",
    GenAiAgentId = "gen_ai.agent.id",
    GenAiAgentName = "gen_ai.agent.name",
    ServiceName = "service.name",
    MasqueName = "masque.name",
    PersonaId = "persona.id",
    ToolUseId = "tool_use_id",
    CallId = "call_id",
    RequestId = "request_id",
    ToolName = "tool_name",
    Success = "success",
    DurationMs = "duration_ms",
    ErrorType = "error_type",
    Model = "model",
    InputTokens = "input_tokens",
    OutputTokens = "output_tokens",
    CacheReadTokens = "cache_read_tokens",
    CacheCreationTokens = "cache_creation_tokens",
    CostUsd = "cost_usd",
    CostUsdMicros = "cost_usd_micros",
    Decision = "decision",
    Source = "source",
    EventType = "event_type",
    SurveyType = "survey_type",
    Response = "response",
    PreTokens = "pre_tokens",
    PostTokens = "post_tokens",
    EventKind = "event.kind",
    InputTokenCount = "input_token_count",
    OutputTokenCount = "output_token_count",
    CachedTokenCount = "cached_token_count",
    ErrorMessage = "error.message",
    HttpStatus = "http.response.status_code",
    FunctionName = "function_name",
    Status = "status",
    CachedContentTokenCount = "cached_content_token_count",
    ToolTokenCount = "tool_token_count",
    TotalTokenCount = "total_token_count",
    ThoughtsTokenCount = "thoughts_token_count",
    Error = "error",
    Rating = "rating",
    OperationName = "gen_ai.operation.name",
    GenAiToolName = "gen_ai.tool.name",
    SpanErrorType = "error.type",
    ResponseModel = "gen_ai.response.model",
    RequestModel = "gen_ai.request.model",
    UsageInput = "gen_ai.usage.input_tokens",
    UsageOutput = "gen_ai.usage.output_tokens",
    UsagePrompt = "gen_ai.usage.prompt_tokens",
    UsageCompletion = "gen_ai.usage.completion_tokens",
    UsageCacheRead = "gen_ai.usage.cache_read.input_tokens",
    UsageCacheCreation = "gen_ai.usage.cache_creation.input_tokens",
    UsageCacheReadOld = "gen_ai.usage.cache_read_input_tokens",
    UsageCacheCreationOld = "gen_ai.usage.cache_creation_input_tokens",
    UsageCost = "gen_ai.usage.cost",
    FinishReasons = "gen_ai.response.finish_reasons",
}

/// How many keys there are.
const COUNT: usize = Key::ALL.len();

/// Slots of the table: a power of two, about a quarter of them used.
const SLOTS: usize = 256;

/// A slot without a key.
const EMPTY: u8 = u8::MAX;

/// The place of a name in the table: its length and three of its bytes tell nearly all keys apart.
const fn slot(name: &[u8]) -> usize {
    match name {
        [first, .., last] => {
            let (_, upper) = name.split_at(name.len() / 2);
            let middle = match upper {
                [middle, ..] => *middle,
                [] => 0,
            };
            (name.len() * 37 + *first as usize + *last as usize * 5 + middle as usize * 11) % SLOTS
        }
        _ => 0,
    }
}

/// The index of each key at its slot, or at the next free one.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a bad index is an error")]
const TABLE: [u8; SLOTS] = {
    let mut table = [EMPTY; SLOTS];
    let mut index = 0;
    while index < COUNT {
        let mut at = slot(Key::NAMES[index].as_bytes());
        while table[at] != EMPTY {
            at = (at + 1) % SLOTS;
        }
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer keys than 255")]
        {
            table[at] = index as u8;
        }
        index += 1;
    }
    table
};

impl Key {
    /// The key of this name; none if nobody asks for it.
    #[inline]
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut at = slot(name.as_bytes());
        loop {
            let index = usize::from(*TABLE.get(at)?);
            // An empty slot is beyond the last name.
            if *Self::NAMES.get(index)? == name {
                return Self::ALL.get(index).copied();
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// The name of the attribute.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether it is one of the GenAI conventions.
    pub(crate) fn is_gen_ai(self) -> bool {
        self.name().starts_with("gen_ai.")
    }

    fn bit(self) -> u128 {
        1 << self as usize
    }
}

/// Which keys have a value, and how many attributes there were in all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Set {
    keys: u128,
    count: usize,
}

/// The values that one record or resource has.
///
/// A value is valid where its bit is set, so that clearing costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    set: Set,
    values: [Value<'a>; COUNT],
}

impl<'a> Attributes<'a> {
    pub(crate) fn new() -> Self {
        Self { set: Set::default(), values: [Value::Absent; COUNT] }
    }

    pub(crate) fn clear(&mut self) {
        self.set = Set::default();
    }

    pub(crate) fn is_clear(&self) -> bool {
        self.set.count == 0
    }

    /// Which values there are.
    pub(crate) fn set(&self) -> Set {
        self.set
    }

    /// Has just the values again that it had when its set was this one. They are still there, because a value is never
    /// written over while its key is set, and nothing but [`Attributes::clear`] unsets one.
    pub(crate) fn go_back(&mut self, set: Set) {
        self.set = set;
    }

    /// Counts one more attribute, and says whether it is still looked at.
    #[inline]
    pub(crate) fn count_one(&mut self) -> bool {
        self.set.count += 1;
        self.set.count <= ATTRIBUTES_MAX
    }

    /// Sets a value. Of a repeated key the first entry wins, also when its value is unusable.
    #[inline]
    pub(crate) fn put(&mut self, key: Key, value: Value<'a>) {
        if self.set.keys & key.bit() == 0 {
            self.set.keys |= key.bit();
            if let Some(slot) = self.values.get_mut(key as usize) {
                *slot = value;
            }
        }
    }

    /// Whether one of these keys was given.
    #[inline]
    pub(crate) fn has_one_of(&self, keys: &[Key]) -> bool {
        keys.iter().fold(0, |bits, key| bits | key.bit()) & self.set.keys != 0
    }

    /// Whether a key of this kind has a value.
    pub(crate) fn has_any(&self, kind: fn(Key) -> bool) -> bool {
        Key::ALL.iter().any(|&key| self.set.keys & key.bit() != 0 && kind(key) && !self.get(key).is_absent())
    }

    #[inline]
    pub(crate) fn get(&self, key: Key) -> Value<'a> {
        if self.set.keys & key.bit() == 0 {
            return Value::Absent;
        }
        self.values.get(key as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_its_name_and_no_other_name_is() {
        for &key in Key::ALL {
            assert_eq!(Key::of(key.name()), Some(key));
        }
        for name in
            ["", "x", "user.email", "prompt", "session.ie", "session.id ", "tool_parameters", "event.namé"]
        {
            assert_eq!(Key::of(name), None, "{name}");
        }
    }

    #[test]
    fn the_first_entry_of_a_key_wins() {
        let mut attributes = Attributes::new();
        attributes.put(Key::Success, Value::Absent);
        attributes.put(Key::Success, Value::Bool(true));
        assert!(attributes.get(Key::Success).is_absent());
        attributes.clear();
        attributes.put(Key::Success, Value::Bool(true));
        assert_eq!(attributes.get(Key::Success).boolean(), Some(true));
        assert!(attributes.get(Key::Model).is_absent());
    }
}
