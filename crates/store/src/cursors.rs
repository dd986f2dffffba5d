//! The text of a cursor: where the next page of a list begins.
//!
//! | cursor | text |
//! |---|---|
//! | [`Position`] | the position |
//! | [`TimeCursor`] | the time in nanoseconds, a dot, the position |
//! | [`RecordCursor`] | the time in nanoseconds, a dot, the key |
//! | [`AgentCursor`] | the value, a dot, the bytes of the id |
//!
//! All numbers are in hexadecimal. Only the exact form that a store writes is read: no signs, no upper case. Clients only send a cursor
//! back, so another engine may write longer ones.

use renown_core::hex;
use renown_core::time::Timestamp;

use crate::evidence::Position;
use crate::query::{AgentCursor, TimeCursor};
use crate::sessions::RecordCursor;

/// Where the next page of a list begins, as a client sends it back.
pub trait Cursor: Sized {
    /// Returns the text of the cursor.
    fn to_text(&self) -> String;

    /// Parses the text of a cursor. Returns `None` if no store writes this text.
    fn from_text(text: &str) -> Option<Self>;
}

/// Returns the cursor before everything that happened at a time, in a list with the latest first.
pub(crate) fn after_all_at(at: Timestamp) -> TimeCursor {
    TimeCursor { at, position: Position::of(i64::MAX) }
}

/// Parses digits that `{:x}` writes.
fn digits(text: &str) -> Option<&str> {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(text)
}

/// Parses a number that is not negative.
fn number(text: &str) -> Option<i64> {
    i64::from_str_radix(digits(text)?, 16).ok()
}

impl Cursor for Position {
    fn to_text(&self) -> String {
        format!("{:x}", self.bits())
    }

    fn from_text(text: &str) -> Option<Self> {
        // At most the digits that the schema of the API allows, without leading zeros beyond them.
        number(text).filter(|_| text.len() <= 16).map(Self::of)
    }
}

impl Cursor for TimeCursor {
    fn to_text(&self) -> String {
        format!("{:x}.{:x}", self.at.nanos(), self.position.bits())
    }

    fn from_text(text: &str) -> Option<Self> {
        let (at, position) = text.split_once('.')?;
        let at = Timestamp::from_nanos(number(at)?).ok()?;
        Some(Self { at, position: Position::of(number(position)?) })
    }
}

impl Cursor for RecordCursor {
    fn to_text(&self) -> String {
        format!("{:x}.{:x}", self.at_ns, self.key.cast_unsigned())
    }

    fn from_text(text: &str) -> Option<Self> {
        let (at_ns, key) = text.split_once('.')?;
        let key = u64::from_str_radix(digits(key)?, 16).ok()?.cast_signed();
        Some(Self { at_ns: number(at_ns)?, key })
    }
}

impl Cursor for AgentCursor {
    fn to_text(&self) -> String {
        format!("{:x}.{}", self.value, hex::encode(self.agent.as_str().as_bytes()))
    }

    fn from_text(text: &str) -> Option<Self> {
        let (value, agent) = text.split_once('.')?;
        let agent = String::from_utf8(hex::decode(agent)?).ok()?;
        Some(Self { value: number(value)?, agent: agent.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn check<C: Cursor + Debug + PartialEq>(cursors: impl IntoIterator<Item = C>, refused: &[&str]) {
        for cursor in cursors {
            assert_eq!(C::from_text(&cursor.to_text()), Some(cursor));
        }
        for text in refused {
            assert_eq!(C::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_cursor_survives_a_round_trip_and_nothing_else_is_one() {
        check(
            [0, 1, 77, i64::MAX].map(Position::of),
            &["", "x", "-1", "+1", "F", "1.1", " 1", "8000000000000000", "00000000000000001"],
        );
        let at = Timestamp::from_millis(1_794_744_000_123).unwrap();
        check(
            [TimeCursor { at, position: Position::of(77) }],
            &["", "1", "1.1", "x.1", "18e8.", "+18e8a9c0b1d2c000.1", "18E8A9C0B1D2C000.1"],
        );
        check(
            [(0, 1), (1_794_744_000_000_000_000, -5), (7, i64::MIN)]
                .map(|(at_ns, key)| RecordCursor { at_ns, key }),
            &["", "1", "1.", ".1", "-1.1", "1.-1", "1.F", "1.1.1", "1.11111111111111111"],
        );
        check(
            [(0, "a"), (1_794_744_000_000, "bot/é ½"), (1000, ".x")]
                .map(|(value, agent)| AgentCursor { value, agent: agent.parse().unwrap() }),
            &["", "12", "x.61", "1.6", "1.6g", "1.", "1.ff", "1.2e", "+1.61", "1.+1", "1.6A"],
        );
    }
}
