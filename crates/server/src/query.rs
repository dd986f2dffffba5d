//! What stands after the question mark: unknown names are ignored, a name of ours given twice is refused.

use std::fmt::Display;
use std::str::FromStr;

use hyper::Uri;
use renown_core::json::Found;
use renown_core::time::Timestamp;
use renown_store::{Seq, TimeCursor};

use crate::error::ApiError;

/// The most that a page holds.
const LIMIT_MAX: usize = 100;

/// What a page holds when nobody says how much.
const LIMIT_DEFAULT: usize = 50;

/// The parameters of a request.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The text of a parameter.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        match (found.next(), found.next()) {
            (first, None) => Ok(first.map(|(_, value)| value.as_str())),
            (_, Some(_)) => Err(ApiError::invalid(format!("{name}: given twice, expected once"))),
        }
    }

    /// A parameter of a type whose refusal says what is allowed.
    pub(crate) fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let text = self.text(name)?;
        text.map(|text| text.parse().map_err(|error| ApiError::invalid(format!("{name}: {error}"))))
            .transpose()
    }

    /// A whole number from a smallest to a largest one.
    pub(crate) fn number(
        &self,
        name: &str,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && allowed.contains(number));
        number.map(Some).ok_or_else(|| {
            let (min, max) = (allowed.start(), allowed.end());
            refused(name, text, &format!("a whole number from {min} to {max}"))
        })
    }

    /// How much a page may hold.
    pub(crate) fn limit(&self) -> Result<usize, ApiError> {
        self.number("limit", 1..=LIMIT_MAX).map(|limit| limit.unwrap_or(LIMIT_DEFAULT))
    }

    /// A truth value.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.text(name)? {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(refused(name, other, "true or false")),
        }
    }

    /// A time: RFC 3339, or whole milliseconds after 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let time = match text.parse() {
            Ok(millis) => Timestamp::from_millis(millis),
            Err(_) => Timestamp::parse(text),
        };
        let expected =
            "an RFC 3339 time such as 2026-11-15T12:00:00Z or whole milliseconds, from 2000 to 2100";
        time.map(Some).map_err(|_| refused(name, text, expected))
    }

    /// Where a page begins, in the form that the page before gave.
    pub(crate) fn cursor<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text("cursor")? else { return Ok(None) };
        let cursor = read(text);
        cursor.map(Some).ok_or_else(|| refused("cursor", text, "the next_cursor of the page before"))
    }
}

/// A parameter that is not what it has to be.
pub(crate) fn refused(name: &str, found: &str, expected: &str) -> ApiError {
    ApiError::invalid(format!("{name}: {}, expected {expected}", Found::quoted(found)))
}

/// A place in time as a cursor has it.
pub(crate) fn time_cursor_text(cursor: TimeCursor) -> String {
    format!("{:x}.{:x}", cursor.at.nanos(), cursor.seq.0)
}

/// The place of such a cursor.
pub(crate) fn time_cursor(text: &str) -> Option<TimeCursor> {
    let (at, seq) = text.split_once('.')?;
    // Only as it was written: no signs, no upper case.
    let written = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'.'));
    let number = |text: &str| i64::from_str_radix(text, 16).ok().filter(|_| written);
    Some(TimeCursor { at: Timestamp::from_nanos(number(at)?).ok()?, seq: Seq(number(seq)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let at = Timestamp::from_millis(1_794_744_000_123).unwrap();
        let cursor = TimeCursor { at, seq: Seq(77) };
        assert_eq!(time_cursor(&time_cursor_text(cursor)), Some(cursor));
        for refused in ["", "1", "1.1", "x.1", "18e8.", "+18e8a9c0b1d2c000.1", "18E8A9C0B1D2C000.1"] {
            assert_eq!(time_cursor(refused), None, "{refused}");
        }
    }
}
