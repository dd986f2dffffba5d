//! The attributes that are read, and their values in one record or resource.
//!
//! Every attribute that is read has a [`Key`]. All others (prompts, arguments, outputs, e-mail addresses, account
//! ids) are skipped during parsing and never stored. [`Key::of`] makes this decision for each attribute of each
//! record, so it is one lookup in a table that is built at compile time.

use crate::limits::ATTRIBUTES_MAX;
use crate::value::Value;

/// Defines the keys and their names from one list.
macro_rules! keys {
    ($($key:ident = $name:literal,)+) => {
        /// An attribute that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Key {
            $($key,)+
        }

        impl Key {
            /// All keys, in order.
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

/// Number of keys.
const COUNT: usize = Key::ALL.len();

/// Number of slots of the table: a power of two. About a quarter of the slots are used.
const SLOTS: usize = 256;

/// Content of a slot without a key.
const EMPTY: u8 = u8::MAX;

/// Returns the slot of a name. The length of a name and three of its bytes are enough to distinguish nearly all keys.
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
    /// Returns the key with this name, or `None` if the attribute is not read.
    #[inline]
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut at = slot(name.as_bytes());
        loop {
            let index = usize::from(*TABLE.get(at)?);
            // The index of an empty slot is beyond the last name, so that `get` returns `None`.
            if *Self::NAMES.get(index)? == name {
                return Self::ALL.get(index).copied();
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// Returns the name of the attribute.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether the attribute belongs to the GenAI conventions.
    pub(crate) fn is_gen_ai(self) -> bool {
        self.name().starts_with("gen_ai.")
    }

    fn bit(self) -> u128 {
        1 << self as usize
    }
}

/// The keys that have a value, and the number of all attributes, including skipped ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Set {
    keys: u128,
    count: usize,
}

/// The attribute values of one record or resource.
///
/// A value is valid only if the bit of its key is set, so that clearing costs nothing.
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

    /// Returns the set of keys that have a value.
    pub(crate) fn set(&self) -> Set {
        self.set
    }

    /// Restores the values at the time when [`Attributes::set`] returned this set. The values still exist: a value is
    /// never overwritten while its key is set, and only [`Attributes::clear`] unsets keys.
    pub(crate) fn restore(&mut self, set: Set) {
        self.set = set;
    }

    /// Counts one more attribute. Returns whether it is within the limit and has to be read.
    #[inline]
    pub(crate) fn count_one(&mut self) -> bool {
        self.set.count += 1;
        self.set.count <= ATTRIBUTES_MAX
    }

    /// Sets a value. If a key is repeated, the first entry wins, even if its value is unusable.
    #[inline]
    pub(crate) fn put(&mut self, key: Key, value: Value<'a>) {
        if self.set.keys & key.bit() == 0 {
            self.set.keys |= key.bit();
            if let Some(slot) = self.values.get_mut(key as usize) {
                *slot = value;
            }
        }
    }

    /// Whether one of these keys is set.
    #[inline]
    pub(crate) fn has_one_of(&self, keys: &[Key]) -> bool {
        keys.iter().fold(0, |bits, key| bits | key.bit()) & self.set.keys != 0
    }

    /// Whether a key for which `kind` returns true has a value.
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
