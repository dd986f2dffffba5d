//! Reading the few values of a line that a table names.
//!
//! Every function reads one value and leaves the cursor behind it. A value of another type than wanted is skipped and
//! counts as absent: agents change their formats between versions.

use std::borrow::Cow;

use renown_core::decimal::Written;
use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use crate::json::cursor::{Cursor, Start};
use crate::json::{LineError, unescape};
use crate::limits::NUMBER_MAX;

pub(super) type Walked<T = ()> = Result<T, LineError>;

/// Number of bytes of a long text that are looked at.
const HEAD_BYTES: usize = 400;

/// Reads a line that must be one object. Calls `field` for each of its fields.
pub(super) fn line<'a>(text: &'a str, field: impl FnMut(&mut Cursor<'a>, &str) -> Walked) -> Walked {
    let mut cursor = Cursor::new(text);
    if cursor.start()? != Start::Object {
        // An unfinished line may look like anything else.
        cursor.pass()?;
        cursor.end()?;
        return Err(LineError::NotOtlp { expected: "an object" });
    }
    cursor.object(0, field)?;
    cursor.end()
}

/// Reads an object. Any other value is skipped.
pub(super) fn object<'a>(
    cursor: &mut Cursor<'a>,
    field: impl FnMut(&mut Cursor<'a>, &str) -> Walked,
) -> Walked {
    if cursor.start()? == Start::Object { cursor.object(0, field) } else { cursor.pass() }
}

/// Reads an array. Any other value is skipped.
pub(super) fn array<'a>(cursor: &mut Cursor<'a>, element: impl FnMut(&mut Cursor<'a>) -> Walked) -> Walked {
    if cursor.start()? == Start::Array { cursor.array(0, element) } else { cursor.pass() }
}

/// Reads a short text, such as an id or a name.
pub(super) fn text<'a>(cursor: &mut Cursor<'a>) -> Walked<Option<Cow<'a, str>>> {
    if cursor.start()? != Start::Text {
        cursor.pass()?;
        return Ok(None);
    }
    let raw = cursor.pass_text()?;
    if raw.is_empty() {
        return Ok(None);
    }
    Ok(Some(decoded(raw)))
}

fn decoded(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
}

/// Reads the beginning of a long text. Returns an empty text for an empty one, and `None` for any other value.
pub(super) fn head<'a>(cursor: &mut Cursor<'a>) -> Walked<Option<Cow<'a, str>>> {
    if cursor.start()? != Start::Text {
        cursor.pass()?;
        return Ok(None);
    }
    let raw = cursor.pass_text()?;
    let end = (0..=HEAD_BYTES.min(raw.len())).rev().find(|end| raw.is_char_boundary(*end)).unwrap_or(0);
    Ok(Some(decoded(raw.get(..end).unwrap_or_default())))
}

/// Reads the beginning of a text, or of the first text in an array of blocks with a `text` field.
pub(super) fn head_of_blocks<'a>(cursor: &mut Cursor<'a>) -> Walked<Option<Cow<'a, str>>> {
    if cursor.start()? != Start::Array {
        return head(cursor);
    }
    let mut first = None;
    array(cursor, |cursor| {
        if first.is_some() || cursor.start()? != Start::Object {
            return cursor.pass();
        }
        object(cursor, |cursor, name| match name {
            "text" => head(cursor).map(|found| first = found),
            _ => cursor.pass(),
        })
    })?;
    Ok(first)
}

/// Reads `true` or `false`.
pub(super) fn flag(cursor: &mut Cursor<'_>) -> Walked<Option<bool>> {
    let flag = match cursor.start()? {
        Start::True => Some(true),
        Start::False => Some(false),
        Start::Object | Start::Array | Start::Text | Start::Number | Start::Null => None,
    };
    cursor.pass()?;
    Ok(flag)
}

/// Whether the value is `true`.
pub(super) fn is_true(cursor: &mut Cursor<'_>) -> Walked<bool> {
    Ok(flag(cursor)? == Some(true))
}

/// Whether the value is anything but `null` and `false`.
pub(super) fn is_set(cursor: &mut Cursor<'_>) -> Walked<bool> {
    let is_set = !matches!(cursor.start()?, Start::Null | Start::False);
    cursor.pass()?;
    Ok(is_set)
}

/// Reads a count. A negative one counts as 0: gateways and old versions write them.
pub(super) fn count(cursor: &mut Cursor<'_>) -> Walked<Option<u64>> {
    let number = |written: &str| {
        if let Ok(count) = written.parse::<u64>() {
            return (count <= NUMBER_MAX).then_some(count);
        }
        if written.starts_with('-') {
            return Some(0);
        }
        let whole = Written::parse(written)?.half_up(0, u128::from(NUMBER_MAX))?;
        u64::try_from(whole).ok()
    };
    match cursor.start()? {
        Start::Number => Ok(number(cursor.number()?)),
        Start::Text => Ok(cursor.pass_text()?.parse().ok().filter(|count| *count <= NUMBER_MAX)),
        Start::Object | Start::Array | Start::True | Start::False | Start::Null => {
            cursor.pass()?;
            Ok(None)
        }
    }
}

/// Reads an amount in dollars, exactly.
pub(super) fn dollars(cursor: &mut Cursor<'_>) -> Walked<Option<NanoUsd>> {
    if cursor.start()? != Start::Number {
        cursor.pass()?;
        return Ok(None);
    }
    Ok(cursor.number()?.parse().ok())
}

/// Reads an RFC 3339 time, or milliseconds since 1970.
pub(super) fn time(cursor: &mut Cursor<'_>) -> Walked<Option<Timestamp>> {
    match cursor.start()? {
        Start::Text => Ok(moment(&decoded(cursor.pass_text()?))),
        Start::Number => {
            let written = cursor.number()?;
            let whole = written.split('.').next().unwrap_or_default();
            Ok(whole.parse().ok().and_then(|millis| Timestamp::from_millis(millis).ok()))
        }
        Start::Object | Start::Array | Start::True | Start::False | Start::Null => {
            cursor.pass()?;
            Ok(None)
        }
    }
}

/// Parses a time. `YYYY-MM-DDThh:mm:ss.sssZ`, which all agents write, takes a short way; the rest is
/// [`Timestamp::parse`].
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    usual(text.as_bytes()).or_else(|| Timestamp::parse(text).ok())
}

fn usual(text: &[u8]) -> Option<Timestamp> {
    let &[
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        b'.',
        f1,
        f2,
        f3,
        b'Z',
    ] = text
    else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i64, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    // Days up to 28 exist in every month; the others take the long way.
    let fits = (1..=12).contains(&month)
        && (1..=28).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second);
    if !fits {
        return None;
    }
    // Days since 1970 in the Gregorian calendar, counted in years that begin in March.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Timestamp::from_millis(seconds * 1000 + number(&[f1, f2, f3])?).ok()
}

/// Whether a text begins with one of these.
pub(super) fn begins_with(text: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_to_a_time_agrees_with_the_calendar() {
        for year in [2000, 2001, 2024, 2026, 2099] {
            for month in 1..=12 {
                for day in [1, 2, 27, 28] {
                    let text = format!("{year}-{month:02}-{day:02}T23:59:58.123Z");
                    assert_eq!(usual(text.as_bytes()), Timestamp::parse(&text).ok(), "{text}");
                }
            }
        }
        for text in ["2026-02-29T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-13-01T00:00:00.000Z"] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert!(moment("2024-02-29T00:00:00.000Z").is_some());
        assert!(moment("2026-01-31T12:00:00+01:00").is_some());
    }

    #[test]
    fn values_of_another_type_are_absent() {
        let read = |json: &str| count(&mut Cursor::new(json));
        for (json, expected) in [
            ("12", Some(12)),
            ("\"12\"", Some(12)),
            ("12.0", Some(12)),
            ("-5", Some(0)),
            ("null", None),
            ("{\"a\":[1]}", None),
            ("1e99", None),
        ] {
            assert_eq!(read(json), Ok(expected), "{json}");
        }
        assert_eq!(text(&mut Cursor::new("7")), Ok(None));
        assert_eq!(head(&mut Cursor::new("\"a\\nb\"")), Ok(Some(Cow::Borrowed("a\nb"))));
        assert_eq!(flag(&mut Cursor::new("\"true\"")), Ok(None));
    }

    #[test]
    fn skipping_finds_the_end_of_any_value_and_no_end_of_a_cut_one() {
        let json = r#"{"a":"x\\","b":[1,-2.5e3,{"c":"\"}]"}],"d":null,"e":true}"#;
        let mut cursor = Cursor::new(json);
        assert_eq!(cursor.pass().and_then(|()| cursor.end()), Ok(()));
        for end in 0..json.len() {
            let cut = json.get(..end).unwrap();
            assert!(Cursor::new(cut).pass().is_err(), "{cut}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Cursor::new(&deep).pass(), Ok(()));
    }
}
