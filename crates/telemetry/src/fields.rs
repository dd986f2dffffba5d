//! A record as a dialect sees it: its attributes, those of its resource as a fallback, and the fields of a span.

use std::borrow::Cow;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use crate::attributes::{Attributes, Key};
use crate::facts::{ApiRequest, Cost, Fact, Fingerprint, Tokens};
use crate::limits::ERROR_TYPE_BYTES_MAX;
use crate::prices::Prices;
use crate::value::{NotNumber, Value};

/// A fact of the record that is being read.
pub(crate) type ReadFact<'a> = Fact<Cow<'a, str>>;

/// A function that reads the facts of one kind of record.
pub(crate) type Reader = for<'a> fn(&Fields<'_, 'a>, &mut Vec<ReadFact<'a>>) -> Result<(), BadValue>;

/// An error: this attribute has an invalid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadValue(pub(crate) Key);

/// Fields of a record that only spans have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
    /// Whether the status is ERROR.
    pub(crate) is_error: bool,
    pub(crate) trace: Option<Fingerprint>,
}

impl Span {
    /// Returns the duration, rounded to microseconds.
    pub(crate) fn duration_us(&self) -> Option<u64> {
        let nanos = self.end?.nanos().checked_sub(self.start?.nanos())?;
        u64::try_from(nanos).ok().map(|nanos| (nanos + 500) / 1000)
    }
}

/// A record as a dialect sees it.
pub(crate) struct Fields<'r, 'a> {
    pub(crate) record: &'r Attributes<'a>,
    pub(crate) resource: &'r Attributes<'a>,
    /// Empty for a log record.
    pub(crate) span: Span,
    pub(crate) prices: &'r Prices,
}

impl<'a> Fields<'_, 'a> {
    /// Returns the scalar of the record, or of the resource if the record has none. An array counts as absent.
    pub(crate) fn value(&self, key: Key) -> Value<'a> {
        let scalar = |attributes: &Attributes<'a>| attributes.get(key).scalar();
        let own = scalar(self.record);
        if own.is_absent() { scalar(self.resource) } else { own }
    }

    /// Returns the value of the record or of its resource, for readers that accept lists and scalars.
    pub(crate) fn list(&self, key: Key) -> Value<'a> {
        let own = self.record.get(key);
        if own.is_absent() { self.resource.get(key) } else { own }
    }

    pub(crate) fn has(&self, key: Key) -> bool {
        !self.value(key).is_absent()
    }

    pub(crate) fn text(&self, key: Key) -> Option<Cow<'a, str>> {
        self.record.get(key).text().or_else(|| self.resource.get(key).text())
    }

    /// Whether the record or its resource has a known attribute of the GenAI conventions.
    pub(crate) fn uses_gen_ai(&self) -> bool {
        self.record.has_any(Key::is_gen_ai) || self.resource.has_any(Key::is_gen_ai)
    }

    pub(crate) fn is(&self, key: Key, text: &str) -> bool {
        self.text(key).is_some_and(|found| found == text)
    }

    /// Returns a word that names an actor or a decision, in lower case, because agents use different cases.
    pub(crate) fn word(&self, key: Key) -> Option<String> {
        self.text(key).map(|text| text.to_ascii_lowercase())
    }

    pub(crate) fn boolean(&self, key: Key) -> Option<bool> {
        self.value(key).boolean()
    }

    pub(crate) fn integer(&self, key: Key) -> Result<Option<u64>, BadValue> {
        self.number(key, Value::integer)
    }

    pub(crate) fn dollars(&self, key: Key) -> Result<Option<NanoUsd>, BadValue> {
        self.number(key, Value::dollars)
    }

    pub(crate) fn micro_dollars(&self, key: Key) -> Result<Option<NanoUsd>, BadValue> {
        self.number(key, Value::micro_dollars)
    }

    pub(crate) fn milliseconds(&self, key: Key) -> Result<Option<u64>, BadValue> {
        self.number(key, Value::milliseconds)
    }

    fn number<T>(
        &self,
        key: Key,
        read: fn(Value<'a>) -> Result<Option<T>, NotNumber>,
    ) -> Result<Option<T>, BadValue> {
        let own = read(self.record.get(key)).transpose();
        let number = own.or_else(|| read(self.resource.get(key)).transpose());
        number.transpose().map_err(|NotNumber| BadValue(key))
    }

    /// Returns the kind of an error if it is a name. Prose is dropped, because it could contain anything.
    pub(crate) fn error_type(&self, key: Key) -> Option<Cow<'a, str>> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        self.text(key).filter(|text| text.len() <= ERROR_TYPE_BYTES_MAX && text.bytes().all(is_name))
    }

    /// Creates the fact of a model call. If the agent does not report the cost, it is taken from the price table.
    pub(crate) fn api_request(
        &self,
        model: Option<Cow<'a, str>>,
        tokens: Option<Tokens>,
        reported: Option<NanoUsd>,
        duration_us: Option<u64>,
    ) -> ApiRequest<Cow<'a, str>> {
        let priced = || self.prices.cost(model.as_deref()?, tokens?).map(Cost::Priced);
        let cost = reported.map(Cost::Reported).or_else(priced);
        ApiRequest { model, tokens, cost, duration_us, is_sum: false }
    }
}
