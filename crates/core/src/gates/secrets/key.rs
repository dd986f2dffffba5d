//! Private keys in PEM: what follows the line with which one begins.
//!
//! A key is often not printed as it was written. `grep -n`, line numbers, comments, quotes of Markdown, diffs and strings of a
//! program put something before and after each of its lines, and a list of lines makes each a string of its own. So a key
//! counts if one of these follows its first line:
//!
//! | form | what follows |
//! |---|---|
//! | plain | 64 bytes without a `-` |
//! | lines | 64 characters of base64 on lines that look like those of a key, whatever stands beside them |
//! | strings | the same in the strings that follow, if they stand under the same key of JSON |
//!
//! | a line | looks like one of a key if |
//! |---|---|
//! | with base64 | 32 characters of it stand in a row (16 on a later line) and are half of it, or it ends in `=` |
//! | of a header | `Proc-Type:`, `DEK-Info:`, and `Version:`, `Comment:` and the like of PGP |
//! | empty | it has no letter or digit but those of a prefix such as `key.pem-3-` |
//!
//! It ends with its `-----END …-----` if that follows within 32 KiB and before another `-----BEGIN`, and a quarter of what stands
//! between them is base64; else with the last line that looks like one of a key.

use memchr::memmem;

use super::values::is_made_up;
use crate::gates::scan::{Deadline, TimedOut, run_end};
use crate::gates::text::View;

/// Least characters of base64 that are a key.
const BODY_CHARS: usize = 64;
/// Least characters of base64 in a row that a line of a key has, and one after it.
const RUN_CHARS: usize = 32;
const LATER_RUN_CHARS: usize = 16;
/// Of so many bytes of a line at least one is base64, where it is not known where the key ends.
const LINE_DENSITY: usize = 2;
/// How far after its beginning a key may end, in bytes.
const KEY_BYTES_MAX: usize = 1 << 15;
/// Most characters on a line that has nothing of a key.
const EMPTY_LINE_BYTES_MAX: usize = 80;
/// Of so many bytes up to its end at least one is base64.
const DENSITY: usize = 4;
/// So many of the first characters of a key are no `A`.
const OTHER_CHARS_MIN: usize = 16;
/// How many strings of other keys may stand between two lines.
const OTHERS_MAX: usize = 8;

const HEADERS: [&[u8]; 7] =
    [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Charset:", b"Hash:", b"MessageID:"];

/// A key that was found: parts of texts, each with its number, in their order.
pub(super) type Parts = Vec<(usize, usize, usize)>;

/// The parts of the key whose first line lies there in a text, if it is one.
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
                // It is the end of something else: of what a program says about keys, perhaps.
                body = Body::default();
                end += body.lines(inside, false, deadline)?;
            }
        }
        Marker::Begin(at) => end += body.lines(near.get(..at).unwrap_or_default(), false, deadline)?,
        Marker::None => end += body.lines(near, false, deadline)?,
    }
    let plain = near.get(..BODY_CHARS).filter(|plain| !plain.contains(&b'-'));
    let is_plain = plain.is_some_and(|plain| !is_stand_in(plain));
    if is_plain && !closed {
        end = end.max(run_of_body(bytes, head_end + BODY_CHARS, deadline)?);
    }
    let mut parts = vec![(text, start, end)];
    // Nothing but what closes a string stands after it.
    let is_cut = bytes.get(end..).is_some_and(|rest| rest.trim_ascii().is_empty());
    if !closed && is_cut {
        strings(view, text, &mut body, &mut parts, deadline)?;
    }
    Ok(if is_plain || body.is_key() { parts } else { Vec::new() })
}

/// The strings that go on with a key.
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

/// Whether the first characters of a key only show where one would stand. A row of `A` is zeros, of which the lengths at the
/// beginning of every key of OpenSSH are full, so those do not count.
fn is_stand_in(first: &[u8]) -> bool {
    let others: Vec<u8> = first.iter().copied().filter(|byte| *byte != b'A').collect();
    others.len() < OTHER_CHARS_MIN || is_made_up(&others)
}

/// What was read of a key.
#[derive(Default)]
struct Body {
    chars: usize,
    /// The first of them.
    first: Vec<u8>,
}

impl Body {
    fn is_key(&self) -> bool {
        self.chars >= BODY_CHARS && !is_stand_in(&self.first)
    }

    /// Takes the base64 of a line, if it has some.
    fn take(&mut self, line: &[u8], closed: bool) -> bool {
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

    /// Reads lines as long as they look like those of a key, or all if it is known where it closes. Answers where the last
    /// that looks so ends.
    fn lines(&mut self, bytes: &[u8], closed: bool, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
        let (mut at, mut end) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (line, length) = first_line(rest);
            deadline.spend(length)?;
            let is_header = || HEADERS.iter().any(|header| memmem::find(line, header).is_some());
            if is_header() || self.take(line, closed) || self.chars > 0 && ends_padded(line) {
                end = at + line.len();
            } else if at > 0 && !closed && !is_empty(line) {
                break;
            }
            at += length;
        }
        // What closes the last line belongs to whoever wrote the lines down.
        let kept = bytes.get(..end).unwrap_or_default();
        Ok(kept.iter().rposition(|byte| is_base64(*byte)).map_or(0, |last| last + 1))
    }
}

/// The line with which bytes begin, and how long it is with what ends it: a newline, or the escape of one.
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

/// Whether the last letter of a line is the padding of base64.
fn ends_padded(line: &[u8]) -> bool {
    line.iter().rfind(|byte| is_base64(**byte)) == Some(&b'=')
}

/// Whether a line has nothing of a key and nothing else either: a prefix, or what closes a string.
fn is_empty(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_letter = u8::is_ascii_alphanumeric;
    let is_number = || line.iter().all(u8::is_ascii_digit);
    let is_prefix = || !line.last().is_some_and(is_letter) && !line.contains(&b' ');
    line.len() <= EMPTY_LINE_BYTES_MAX && (!line.iter().any(is_letter) || is_number() || is_prefix())
}

/// The next line that begins or ends something.
enum Marker {
    /// Where `-----BEGIN ` stands.
    Begin(usize),
    /// Where `-----END … PRIVATE KEY-----` stands, and how long it is.
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

/// Where the letters and blanks end with which a key may go on.
fn run_of_body(bytes: &[u8], from: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    let is_body = |byte: u8| is_base64(byte) || byte.is_ascii_whitespace() || byte == b'\\';
    let end = run_end(bytes, from, deadline, is_body)?;
    let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'\\';
    let blanks = bytes.get(from..end).unwrap_or_default().iter().rev().take_while(blank).count();
    Ok(end - blanks)
}

#[cfg(test)]
mod tests;
