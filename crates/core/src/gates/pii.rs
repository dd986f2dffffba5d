//! `pii`: personal data, such as e-mail addresses, phone numbers and card numbers.
//!
//! | option | looks for | default | name in the reason |
//! |---|---|---|---|
//! | `email` | `[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}` | on | `email address` |
//! | `us_ssn` | `\b\d{3}-\d{2}-\d{4}\b`, area not 000, 666 or 9xx, group not 00, serial not 0000 | on | `us ssn` |
//! | `us_phone` | `\b(?:\+?1[-.\s]?)?\(?[2-9]\d{2}\)?[-.\s]\d{3}[-.\s]\d{4}\b` | on | `us phone number` |
//! | `card` | 13–19 digits of a card brand that pass the Luhn check, see `pii/card.rs` | on | `payment card number` |
//! | `iban` | a registered country and its length, mod 97 = 1, see `pii/iban.rs` | on | `iban` |
//! | `ipv4` | a public address | off | `ipv4 address` |
//!
//! Balanced: e-mail addresses of the form `git@host:`, noreply, `example.*` and `*.test`, and bylines
//! (`Author: Ada <…>`, see `pii/byline.rs`) pass, because coding agents read `git log` and manifests all day. Plain
//! digits count as a card only near a word about cards, or under a key about cards.
//!
//! Reason: `email address, us phone number detected in output`, in the order of this table. In mode `redact`:
//! `redacted 2 email address, 1 iban`, with `[email address]` in place of each. A `(` or `+` in front of a phone
//! number is replaced with it.
//!
//! The patterns are ASCII and hand-written: one pass over the text stops only at digits and `@`, and checks a bounded
//! range around each. The tests compare them with the regular expressions above. JSON numbers of 13 or more digits
//! are checked as text, because a card may be written as a number. What it ignores: shorter JSON numbers, and digits
//! of other scripts.

mod byline;
mod card;
mod email;
mod iban;
mod number;

use super::options::{Options, SettingsError};
use super::redact::Match;
use super::scan::{DONE, Deadline, TimedOut, each};
use super::settings::Strictness;
use super::text::{Text, View};
use super::verdict::Finding;
use crate::limits::GATE_FINDINGS_MAX;

/// The kinds in the order in which a reason names them.
pub(super) const KINDS: [(&str, bool, &str); 6] = [
    ("email", true, "email address"),
    ("us_ssn", true, "us ssn"),
    ("us_phone", true, "us phone number"),
    ("card", true, "payment card number"),
    ("iban", true, "iban"),
    ("ipv4", false, "ipv4 address"),
];

const EMAIL: u8 = 1;
const SSN: u8 = 1 << 1;
const PHONE: u8 = 1 << 2;
const CARD: u8 = 1 << 3;
const IBAN: u8 = 1 << 4;
const IPV4: u8 = 1 << 5;

/// The index of a kind, and its start and end.
type Span = (usize, (usize, usize));

#[derive(Debug)]
pub(super) struct Pii {
    /// The kinds to search for, one bit each.
    wanted: u8,
    balanced: bool,
}

impl Pii {
    pub(super) fn build(options: &mut Options<'_>, strictness: Strictness) -> Result<Self, SettingsError> {
        let mut wanted = 0;
        for (bit, (name, default, _)) in KINDS.into_iter().enumerate() {
            wanted |= u8::from(options.flag(name, default)?) << bit;
        }
        Ok(Self { wanted, balanced: strictness == Strictness::Balanced })
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let mut found = 0;
        for text in view.texts_and_numbers() {
            self.search(text, &mut found, deadline)?;
            if found == self.wanted {
                break;
            }
        }
        let names = KINDS.iter().enumerate().filter(|(bit, _)| found & (1 << bit) != 0);
        let names: Vec<&str> = names.map(|(_, (_, _, name))| *name).collect();
        Ok(if names.is_empty() {
            Finding::Pass
        } else {
            Finding::Fail(format!("{} detected in {}", names.join(", "), view.name()))
        })
    }

    /// Returns the name of a kind by its index.
    pub(super) fn label(kind: usize) -> &'static str {
        KINDS.get(kind).map_or("", |(_, _, name)| *name)
    }

    /// Returns all matches, for redaction. Stops after one more than can be redacted.
    pub(super) fn matches(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Vec<Match>, TimedOut> {
        let mut matches = Vec::new();
        for (number, piece) in view.texts_and_numbers().enumerate() {
            let bytes = piece.text.as_bytes();
            each(bytes, deadline, may_begin, |at| {
                for (kind, (start, end)) in self.spans(piece, at, deadline)? {
                    deadline.spend(end - start)?;
                    matches.push(Match { text: number, start, end, kind });
                }
                Ok(if matches.len() > GATE_FINDINGS_MAX { DONE } else { at + 1 })
            })?;
            if matches.len() > GATE_FINDINGS_MAX {
                break;
            }
        }
        Ok(matches)
    }

    /// Returns the kinds found at one position, with their start and end.
    fn spans(&self, text: Text<'_>, at: usize, deadline: &Deadline<'_>) -> Result<Vec<Span>, TimedOut> {
        let bytes = text.text.as_bytes();
        if bytes.get(at) == Some(&b'@') {
            let is_email = self.wanted & EMAIL != 0 && email::is_at(text, at, self.balanced, deadline)?;
            let span = if is_email { Some((0, email::span(bytes, at, deadline)?)) } else { None };
            return Ok(span.into_iter().collect());
        }
        let found = self.number(text, at, self.wanted);
        let digits = number::digits(bytes, at);
        let spans = [
            (SSN, Some((at, at + number::SSN_BYTES))),
            (PHONE, Some(number::phone_span(bytes, at))),
            (CARD, card::end_at(text, at, digits, self.balanced).map(|end| (at, end))),
            (IBAN, iban::span_at(bytes, at)),
            (IPV4, number::public_ipv4_end(bytes, at).map(|end| (at, end))),
        ];
        let spans = spans.into_iter().enumerate().filter(|(_, (bit, _))| found & bit != 0);
        Ok(spans.filter_map(|(index, (_, span))| Some((index + 1, span?))).collect())
    }

    /// Adds the kinds that occur in a text.
    fn search(&self, text: Text<'_>, found: &mut u8, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        let bytes = text.text.as_bytes();
        each(bytes, deadline, may_begin, |at| {
            let remaining = self.wanted & !*found;
            if remaining == 0 {
                return Ok(DONE);
            }
            if bytes.get(at) == Some(&b'@') {
                let is_email = remaining & EMAIL != 0 && email::is_at(text, at, self.balanced, deadline)?;
                *found |= if is_email { EMAIL } else { 0 };
            } else {
                *found |= self.number(text, at, remaining);
            }
            Ok(at + 1)
        })
    }

    /// Returns the kinds of number that begin with, or contain, the run of digits at `at`.
    fn number(&self, text: Text<'_>, at: usize, remaining: u8) -> u8 {
        let bytes = text.text.as_bytes();
        let digits = number::digits(bytes, at);
        let mut found = 0;
        if digits == 3 && remaining & SSN != 0 && number::is_ssn(bytes, at) {
            found |= SSN;
        }
        if digits == 3 && remaining & PHONE != 0 && number::is_phone_middle(bytes, at) {
            found |= PHONE;
        }
        if remaining & CARD != 0 && card::end_at(text, at, digits, self.balanced).is_some() {
            found |= CARD;
        }
        if digits >= 2 && remaining & IBAN != 0 && iban::span_at(bytes, at).is_some() {
            found |= IBAN;
        }
        if digits <= 3 && remaining & IPV4 != 0 && number::public_ipv4_end(bytes, at).is_some() {
            found |= IPV4;
        }
        found
    }
}

/// Returns whether a run of digits begins here, or the byte is `@`.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
#[inline]
fn may_begin(before: u8, byte: u8) -> bool {
    let is_digit = |byte: u8| byte.wrapping_sub(b'0') < 10;
    (is_digit(byte) & !is_digit(before)) | (byte == b'@')
}

#[cfg(test)]
mod tests;
