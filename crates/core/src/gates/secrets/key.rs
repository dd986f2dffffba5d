//! Private keys in PEM format: finds the lines that follow the first line of a key.
//!
//! A key is often not printed as it is. `grep -n`, line numbers, comments, Markdown quotes, diffs and string literals
//! add text before and after each line, and a list of lines makes each line a separate string. So a key counts if one
//! of these follows its first line:
//!
//! | form | text after the first line |
//! |---|---|
//! | plain | 64 bytes without a `-` |
//! | lines | 64 characters of base64 on lines that look like those of a key, whatever text is around them |
//! | strings | the same in the following strings, if they have the same JSON key |
//!
//! | kind of line | looks like a line of a key if |
//! |---|---|
//! | with base64 | 32 characters in a row are base64 (16 on a later line) and are half of the line, or it ends in `=` |
//! | header | it has `Proc-Type:`, `DEK-Info:`, or `Version:`, `Comment:` and similar headers of PGP |
//! | empty | it has no letter or digit except those of a prefix such as `key.pem-3-` |
//!
//! A key ends with its `-----END …-----` if that follows within 32 KiB and before another `-----BEGIN`, and a quarter
//! of the text in between is base64. Otherwise it ends with the last line that looks like a line of a key.

use memchr::memmem;

use super::values::is_made_up;
use crate::gates::scan::{Deadline, TimedOut, run_end};
use crate::gates::text::View;

/// Fewest characters of base64 in a key.
const BODY_CHARS: usize = 64;
/// Fewest characters of base64 in a row on the first line of a key, and on a later line.
const RUN_CHARS: usize = 32;
const LATER_RUN_CHARS: usize = 16;
/// At least one of this many bytes of a line is base64, if the end of the key is unknown.
const LINE_DENSITY: usize = 2;
/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 1 << 15;
/// Longest line without a part of a key, in characters.
const EMPTY_LINE_BYTES_MAX: usize = 80;
/// At least one of this many bytes up to the end of a key is base64.
const DENSITY: usize = 4;
/// Fewest characters other than `A` among the first characters of a key.
const OTHER_CHARS_MIN: usize = 16;
/// Most strings with other JSON keys between two lines.
const OTHERS_MAX: usize = 8;

const HEADERS: [&[u8]; 7] =
    [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Charset:", b"Hash:", b"MessageID:"];

/// A private key as parts of texts, in order: index of the text, start and end.
pub(super) type Parts = Vec<(usize, usize, usize)>;

/// Returns the parts of the key whose first line is at this position of a text, if it is a key.
pub(super) fn parts(
    view: &View<'_>,
    text: usize,
    (start, head_end): (usize, usize),
    deadline: &Deadline<'_>,
) -> Result<Parts, TimedOut> {
    let bytes = view.text(text).as_bytes();
    let near = bytes.get(head_end..).unwrap_or_default();
    let near = near.get(..KEY_BYTES_MAX).unwrap_or(near);
    let mut body = Body::default();
    let (mut end, mut closed) = (head_end, false);
    match marker(near, deadline)? {
        Marker::End(at, length) => {
            let inside = near.get(..at).unwrap_or_default();
            body.lines(inside, true, deadline)?;
            closed = body.chars * DENSITY >= at;
            if closed {
                end += at + length;
            } else {
                // It is the end of something else, for example of a program's message about keys.
                body = Body::default();
                end += body.lines(inside, false, deadline)?;
            }
        }
        Marker::Begin(at) => end += body.lines(near.get(..at).unwrap_or_default(), false, deadline)?,
        Marker::None => end += body.lines(near, false, deadline)?,
    }
    let plain = near.get(..BODY_CHARS).filter(|plain| !plain.contains(&b'-'));
    let is_plain = plain.is_some_and(|plain| !is_placeholder(plain));
    if is_plain && !closed {
        end = end.max(run_of_body(bytes, head_end + BODY_CHARS, deadline)?);
    }
    let mut parts = vec![(text, start, end)];
    // Only white space follows.
    let is_cut = bytes.get(end..).is_some_and(|rest| rest.trim_ascii().is_empty());
    if !closed && is_cut {
        strings(view, text, &mut body, &mut parts, deadline)?;
    }
    Ok(if is_plain || body.is_key() { parts } else { Vec::new() })
}

/// Adds the strings that continue a key to `parts`.
fn strings(
    view: &View<'_>,
    text: usize,
    body: &mut Body,
    parts: &mut Parts,
    deadline: &Deadline<'_>,
) -> Result<(), TimedOut> {
    let key = view.texts_from(text).next().and_then(|text| text.key);
    let (mut others, mut left) = (0, KEY_BYTES_MAX);
    for (next, line) in (text + 1..).zip(view.texts_from(text + 1)) {
        deadline.spend(8)?;
        if line.key != key {
            others += 1;
            if others > OTHERS_MAX {
                break;
            }
            continue;
        }
        let bytes = line.text.as_bytes();
        if bytes.len() > left {
            break;
        }
        (others, left) = (0, left - bytes.len());
        match marker(bytes, deadline)? {
            Marker::Begin(_) => break,
            Marker::End(at, length) => {
                body.lines(bytes.get(..at).unwrap_or_default(), true, deadline)?;
                parts.push((next, 0, at + length));
                break;
            }
            Marker::None => {
                let end = body.lines(bytes, false, deadline)?;
                if end == 0 && !bytes.trim_ascii().is_empty() {
                    break;
                }
                if end > 0 {
                    parts.push((next, 0, end));
                }
            }
        }
    }
    Ok(())
}

/// Returns whether the first characters of a key are only a placeholder. `A` does not count: it encodes zeros, and
/// the lengths at the start of every OpenSSH key are full of zeros.
fn is_placeholder(first: &[u8]) -> bool {
    let others: Vec<u8> = first.iter().copied().filter(|byte| *byte != b'A').collect();
    others.len() < OTHER_CHARS_MIN || is_made_up(&others)
}

/// The base64 of a key that was read so far.
#[derive(Default)]
struct Body {
    chars: usize,
    /// Its first characters.
    first: Vec<u8>,
}

impl Body {
    fn is_key(&self) -> bool {
        self.chars >= BODY_CHARS && !is_placeholder(&self.first)
    }

    /// Adds the base64 of a line, if it has any.
    fn add_line(&mut self, line: &[u8], closed: bool) -> bool {
        let (chars, least) =
            (self.chars, if closed || self.chars == 0 { RUN_CHARS } else { LATER_RUN_CHARS });
        let is_long = |run: &&[u8]| run.len() >= least && (closed || run.len() * LINE_DENSITY >= line.len());
        for run in line.split(|byte| !is_base64(*byte)).filter(is_long) {
            self.chars += run.len();
            let missing = BODY_CHARS.saturating_sub(self.first.len());
            self.first.extend(run.iter().take(missing));
        }
        self.chars > chars
    }

    /// Reads lines while they look like lines of a key, or all lines if the end of the key is known. Returns the end
    /// of the last line that looks like one.
    fn lines(&mut self, bytes: &[u8], closed: bool, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
        let (mut at, mut end) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (line, length) = first_line(rest);
            deadline.spend(length)?;
            let is_header = || HEADERS.iter().any(|header| memmem::find(line, header).is_some());
            if is_header() || self.add_line(line, closed) || self.chars > 0 && ends_padded(line) {
                end = at + line.len();
            } else if at > 0 && !closed && !is_empty(line) {
                break;
            }
            at += length;
        }
        // The text after the last line belongs to the surrounding program text.
        let kept = bytes.get(..end).unwrap_or_default();
        Ok(kept.iter().rposition(|byte| is_base64(*byte)).map_or(0, |last| last + 1))
    }
}

/// Returns the first line, and its length including its end: a newline or an escaped newline.
fn first_line(bytes: &[u8]) -> (&[u8], usize) {
    let ends = |at: &usize| matches!(bytes.get(*at..), Some([b'\n', ..] | [b'\\', b'n', ..]));
    let at = memchr::memchr2_iter(b'\n', b'\\', bytes).find(ends).unwrap_or(bytes.len());
    let mark = match bytes.get(at) {
        None => 0,
        Some(b'\n') => 1,
        Some(_) => 2,
    };
    (bytes.get(..at).unwrap_or_default(), at + mark)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns whether a line ends in base64 padding.
fn ends_padded(line: &[u8]) -> bool {
    line.iter().rfind(|byte| is_base64(**byte)) == Some(&b'=')
}

/// Returns whether a line is empty except for a prefix or the end of a string literal.
fn is_empty(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_letter = u8::is_ascii_alphanumeric;
    let is_number = || line.iter().all(u8::is_ascii_digit);
    let is_prefix = || !line.last().is_some_and(is_letter) && !line.contains(&b' ');
    line.len() <= EMPTY_LINE_BYTES_MAX && (!line.iter().any(is_letter) || is_number() || is_prefix())
}

/// The next `BEGIN` or `END` line.
enum Marker {
    /// Position of `-----BEGIN `.
    Begin(usize),
    /// Position and length of `-----END … PRIVATE KEY-----`.
    End(usize, usize),
    None,
}

fn marker(bytes: &[u8], deadline: &Deadline<'_>) -> Result<Marker, TimedOut> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    const NAMES_BYTES_MAX: usize = 64;
    let begin = memmem::find(bytes, BEGIN);
    let head = bytes.get(..begin.unwrap_or(bytes.len())).unwrap_or_default();
    deadline.spend(2 * head.len())?;
    for at in memmem::find_iter(head, END) {
        let name = head.get(at + END.len()..).unwrap_or_default();
        let name = name.get(..NAMES_BYTES_MAX).unwrap_or(name);
        let Some(length) = memmem::find(name, b"-----") else { continue };
        let name = name.get(..length).unwrap_or_default();
        if name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK") {
            return Ok(Marker::End(at, END.len() + length + b"-----".len()));
        }
    }
    Ok(begin.map_or(Marker::None, Marker::Begin))
}

/// Returns the end of the base64 and white space that may continue a key.
fn run_of_body(bytes: &[u8], from: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    let is_body = |byte: u8| is_base64(byte) || byte.is_ascii_whitespace() || byte == b'\\';
    let end = run_end(bytes, from, deadline, is_body)?;
    let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'\\';
    let blanks = bytes.get(from..end).unwrap_or_default().iter().rev().take_while(blank).count();
    Ok(end - blanks)
}

#[cfg(test)]
mod tests;
