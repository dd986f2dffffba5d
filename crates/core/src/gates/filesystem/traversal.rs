//! Path traversal.
//!
//! Strict: `..` with an end of the string, `/`, `\`, white space or a quote (including backticks and typographic
//! quotes) on each side, also if it is percent-encoded up to twice. `a..b` and `...` pass. With roots, a path that
//! leads into a root passes.
//!
//! Balanced: a value under one of [`PATH_KEYS`], or a path among the words of a command, that leads outside every
//! root. Without roots nothing is outside. Prose is not a command: a line counts after a prompt and under a key for
//! commands; elsewhere only programs that are known to take paths count.

use std::borrow::Cow;

use super::paths::{Roots, is_border, is_quote, unquoted};
use super::shell::{self, Lines, ReadOptions, Trouble};
use super::words::{any_path, takes_paths};
use crate::gates::scan::{DONE, Deadline, TimedOut, before, char_at, char_before, each, run_end, run_start};
use crate::gates::text::Text;

/// Keys whose values are paths.
const PATH_KEYS: [&str; 10] =
    ["path", "file", "filename", "dir", "directory", "cwd", "uri", "source", "destination", "target"];

/// Longest text that counts as a path, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// Number of times an encoded text is decoded.
const DECODED_TIMES: usize = 2;

/// Returns whether a text has a path with traversal, as it is or decoded.
pub(super) fn is_in(text: &str, roots: &Roots, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let mut encoded = false;
    if climbs(text, roots, &mut encoded, deadline)? {
        return Ok(true);
    }
    let mut decoded = Cow::Borrowed(text);
    for _ in 0..DECODED_TIMES {
        if !std::mem::take(&mut encoded) {
            break;
        }
        decoded = Cow::Owned(percent_decoded(&decoded, deadline)?);
        if climbs(&decoded, roots, &mut encoded, deadline)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks the text as it is, and sets `encoded` if it has percent escapes.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
fn climbs(text: &str, roots: &Roots, encoded: &mut bool, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let (bytes, mut found) = (text.as_bytes(), false);
    each(
        bytes,
        deadline,
        |before, byte| (byte == b'.') & (before == b'.') | (byte == b'%'),
        |at| {
            if bytes.get(at) == Some(&b'%') {
                *encoded |= escape(bytes, at).is_some();
                return Ok(at + 1);
            }
            // `at` is the second dot.
            if !is_side(char_before(text, at.saturating_sub(1))) || !is_side(char_at(text, at + 1)) {
                return Ok(at + 1);
            }
            if roots.is_empty() {
                found = true;
                return Ok(DONE);
            }
            // The whole path is judged once, even if it has several `..`.
            let start = run_start(bytes, at, deadline, |byte| !is_border(byte))?;
            let end = run_end(bytes, at, deadline, |byte| !is_border(byte))?;
            // A drive is part of its path, although a colon ends other paths.
            let drive = start.checked_sub(2).filter(|position| {
                before(bytes, start) == Some(b':')
                    && bytes.get(*position).is_some_and(u8::is_ascii_alphabetic)
            });
            let start = drive.unwrap_or(start);
            let path = unquoted(text.get(start..end).unwrap_or_default(), at.saturating_sub(start));
            found = !roots.contain(path);
            Ok(if found { DONE } else { end })
        },
    )?;
    Ok(found)
}

/// Returns whether a character may be next to `..`.
fn is_side(char: Option<char>) -> bool {
    char.is_none_or(|char| matches!(char, '/' | '\\') || is_quote(char) || char.is_whitespace())
}

/// Decodes the percent escape here.
fn escape(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |position: usize| char::from(*bytes.get(position)?).to_digit(16);
    u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok()
}

/// Decodes the percent escapes of a text. Invalid UTF-8 is replaced, which does not affect `..`.
fn percent_decoded(text: &str, deadline: &Deadline<'_>) -> Result<String, TimedOut> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut from = 0;
    each(
        bytes,
        deadline,
        |_, byte| byte == b'%',
        |at| {
            let Some(byte) = escape(bytes, at) else { return Ok(at + 1) };
            decoded.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            decoded.push(byte);
            from = at + 3;
            Ok(from)
        },
    )?;
    decoded.extend_from_slice(bytes.get(from..).unwrap_or_default());
    String::from_utf8(decoded).or_else(|broken| {
        let mut text = String::with_capacity(broken.as_bytes().len());
        for chunk in broken.as_bytes().utf8_chunks() {
            deadline.spend(chunk.valid().len() + chunk.invalid().len())?;
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(text)
    })
}

/// *Balanced:* returns whether a command of a text has a path that leads outside every root.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
pub(super) fn commands_leave_roots(
    text: &str,
    is_shell: bool,
    roots: &Roots,
    windows: bool,
    deadline: &Deadline<'_>,
) -> Result<bool, TimedOut> {
    if roots.is_empty() {
        return Ok(false);
    }
    let (bytes, mut lines, mut found) = (text.as_bytes(), Lines::new(text, !is_shell), false);
    let may_be = |before: u8, byte: u8| {
        (byte == b'/')
            | (byte == b'~')
            | ((byte == b'.') & (before == b'.'))
            | ((byte == b':') & windows)
            | ((byte == b'H') & (before == b'$'))
    };
    each(bytes, deadline, may_be, |at| {
        let line = lines.at(at, deadline)?;
        let options = ReadOptions::balanced(&line, !is_shell, windows);
        let is_sure = is_shell || line.has_prompt;
        if !is_sure && !may_be_command(line.body, deadline)? {
            return Ok(line.end);
        }
        let read = shell::read_line(&line, options, deadline, &mut |command, _| {
            found = found || any_path(command, is_sure, windows, deadline, &|path| !roots.contain(path))?;
            Ok(None)
        });
        match read {
            Err(Trouble::TimedOut) => Err(TimedOut),
            Ok(()) | Err(Trouble::TooDeep) => Ok(if found { DONE } else { line.end }),
        }
    })?;
    Ok(found)
}

/// Returns whether a line of prose may contain a command. This is a quick check.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
fn may_be_command(line: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let bytes = line.as_bytes();
    let is_blank = |byte: u8| byte.is_ascii_whitespace();
    let start = run_end(bytes, 0, deadline, is_blank)?;
    let end = run_end(bytes, start, deadline, |byte| !is_blank(byte))?;
    let first = line.get(start..end).unwrap_or_default();
    if shell::is_wrapper(first) || takes_paths(first) {
        return Ok(true);
    }
    let mut found = false;
    let begins = |before: u8, byte: u8| {
        (byte == b'`')
            | (byte == b';')
            | (byte == b'&')
            | (byte == b'|')
            | ((byte == b'(') & (before == b'$'))
    };
    each(bytes, deadline, begins, |_| {
        found = true;
        Ok(DONE)
    })?;
    Ok(found)
}

/// *Balanced:* returns whether a value is a path that leads outside every root.
pub(super) fn leaves_roots(
    text: Text<'_>,
    roots: &Roots,
    windows: bool,
    deadline: &Deadline<'_>,
) -> Result<bool, TimedOut> {
    let is_path_key = |key: &str| PATH_KEYS.iter().any(|name| key.eq_ignore_ascii_case(name));
    let path = text.text.trim();
    let wanted = !roots.is_empty() && text.key.is_some_and(is_path_key);
    if !wanted || path.len() > PATH_BYTES_MAX || path.is_empty() || path.contains(['\n', '\r']) {
        return Ok(false);
    }
    deadline.spend(path.len())?;
    let scheme = path.find("://").and_then(|end| path.split_at_checked(end));
    let path = match scheme {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            rest.get("://".len()..).unwrap_or_default()
        }
        // A path on another machine.
        Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            return Ok(false);
        }
        _ => path,
    };
    if !windows && path.contains('\\') {
        return Ok(false);
    }
    let mut decoded = path.to_owned();
    for _ in 0..DECODED_TIMES {
        decoded = percent_decoded(&decoded, deadline)?;
    }
    Ok(!roots.contain(path) || !roots.contain(&decoded))
}
