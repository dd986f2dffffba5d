//! Escapes that end in a letter or digit, right in front of something that has to begin a word.
//!
//! In logs, shells and URLs an escape is often glued to the next word. The key in `\e[01;31mghp_…` begins after the
//! `m`, where `\b` of a regular expression does not match.
//!
//! | escape | examples |
//! |---|---|
//! | C | `\n \t \r \a \b \e \f \v \0`, octal `\033`, `\x3d`, `\u003d`, `\U0000003d`, after any number of backslashes |
//! | JSON | `\u003d`, `\n` and the others, in a text that was encoded twice |
//! | percent | `%3D`, also encoded twice: `%253D` |
//! | terminal | `ESC [ 01;31 m`, where `ESC` is the character, `\e`, `\033`, `\x1b`, `\u001b` or `^[`; `ESC ( B` |

use super::scan::{Deadline, TimedOut, before, each, is_word};

/// Longest parameters of a terminal escape, in bytes.
const PARAMETERS_MAX: usize = 32;

/// Returns the length of the escape that ends at `at`. The byte in front of `at` is a letter or digit.
pub(super) fn escape_before(bytes: &[u8], at: usize) -> Option<usize> {
    let head = bytes.get(..at)?;
    of_c(head).or_else(|| percent(head)).or_else(|| of_terminal(head))
}

/// Returns a copy of the text with blanks in place of each escape that is glued to a word, if there are any. All
/// other bytes keep their position, so a position in the copy is the same position in the text.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
pub(super) fn unglued(text: &[u8], deadline: &Deadline<'_>) -> Result<Option<Vec<u8>>, TimedOut> {
    let mut copy: Option<Vec<u8>> = None;
    let may_begin = |before: u8, byte: u8| {
        (byte == b'\\') | (byte == b'%') | (byte == 0x1b) | ((byte == b'[') & (before == b'^'))
    };
    each(text, deadline, may_begin, |at| {
        let start = if text.get(at) == Some(&b'[') { at.saturating_sub(1) } else { at };
        let is_glued = |end: &usize| text.get(*end).copied().is_some_and(is_word);
        let Some(end) = escape_at(text, start).filter(is_glued) else { return Ok(at + 1) };
        if let Some(part) = copy.get_or_insert_with(|| text.to_vec()).get_mut(start..end) {
            part.fill(b' ');
        }
        Ok(end)
    })?;
    Ok(copy)
}

/// Returns the end of the escape that begins at `at`.
fn escape_at(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let (length, is_terminal) = match rest.first()? {
        b'%' => return percent_at(rest).map(|length| at + length),
        0x1b => (1, true),
        b'^' => (2, true),
        _ => {
            let length = c_at(rest)?;
            (length, is_esc(rest.get(..length)?))
        }
    };
    let sequence = rest.get(length..).filter(|_| is_terminal).and_then(sequence_at);
    match sequence {
        Some(sequence) => Some(at + length + sequence),
        // A character that is not a letter cannot be glued to a word.
        None if rest.first() == Some(&b'\\') => Some(at + length),
        None => None,
    }
}

/// Returns whether a C escape means the character `ESC`.
fn is_esc(escape: &[u8]) -> bool {
    let name = escape.iter().skip_while(|byte| **byte == b'\\').map(u8::to_ascii_lowercase);
    let name: Vec<u8> = name.collect();
    matches!(name.as_slice(), b"e" | b"033" | b"33" | b"x1b" | b"u001b" | b"u{1b}" | b"0033")
}

/// Returns the length of the C escape at the start of a text: backslashes, a letter, and digits.
fn c_at(text: &[u8]) -> Option<usize> {
    let slashes = text.iter().take(PARAMETERS_MAX).take_while(|byte| **byte == b'\\').count();
    let name = text.get(slashes..)?;
    let hex = |digits: usize| {
        let found = name.get(1..=digits)?;
        found.iter().all(u8::is_ascii_hexdigit).then_some(1 + digits)
    };
    let length = match name.first()? {
        b'n' | b't' | b'r' | b'a' | b'b' | b'e' | b'f' | b'v' => 1,
        b'x' => hex(2)?,
        b'u' => hex(4).or_else(|| braced(name))?,
        b'U' => hex(8)?,
        b'0'..=b'7' => name.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count(),
        _ => return None,
    };
    Some(slashes + length)
}

/// Returns the length of `u{1b}`.
fn braced(name: &[u8]) -> Option<usize> {
    let inside = name.strip_prefix(b"u{")?;
    let digits = inside.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
    (digits > 0 && inside.get(digits) == Some(&b'}')).then_some("u{}".len() + digits)
}

/// Returns the length of `%3D` or `%253D`.
fn percent_at(text: &[u8]) -> Option<usize> {
    let mut digits = text.strip_prefix(b"%")?;
    let is_byte = |digits: &[u8]| digits.get(..2).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit));
    // Each `25` is a percent sign that was encoded once more.
    while let Some(inner) = digits.strip_prefix(b"25").filter(|inner| is_byte(inner)) {
        digits = inner;
    }
    is_byte(digits).then(|| text.len() - digits.len() + 2)
}

/// Returns the length of the rest of a terminal escape after `ESC`.
fn sequence_at(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'[' => {
            let parameters = text.get(1..)?;
            let length = parameters
                .iter()
                .take(PARAMETERS_MAX)
                .take_while(|byte| (0x20..=0x3f).contains(*byte))
                .count();
            parameters.get(length).filter(|byte| (0x40..=0x7e).contains(*byte)).map(|_| 1 + length + 1)
        }
        b'(' | b')' => text.get(1).filter(|byte| byte.is_ascii_alphanumeric()).map(|_| 2),
        _ => None,
    }
}

fn of_c(head: &[u8]) -> Option<usize> {
    // The longest is `\U0000003d`.
    (2..=10).find_map(|length| {
        let start = head.len().checked_sub(length)?;
        let escape = head.get(start..).filter(|escape| escape.first() == Some(&b'\\'))?;
        (c_at(escape) == Some(length)).then_some(length)
    })
}

fn percent(head: &[u8]) -> Option<usize> {
    let start = head.len().checked_sub(3)?;
    if percent_at(head.get(start..)?) == Some(3) {
        return Some(3);
    }
    let mut digits = start + 1;
    while digits.checked_sub(2).is_some_and(|start| head.get(start..digits) == Some(b"25")) {
        digits -= 2;
        if before(head, digits) == Some(b'%') {
            return percent_at(head.get(digits - 1..)?).filter(|length| digits - 1 + length == head.len());
        }
    }
    None
}

fn of_terminal(head: &[u8]) -> Option<usize> {
    let last = head.len().checked_sub(1)?;
    let parameters =
        head.get(..last)?.iter().rev().take(PARAMETERS_MAX).take_while(|byte| (0x20..=0x3f).contains(*byte));
    let open = [last.checked_sub(parameters.count() + 1), last.checked_sub(1)];
    open.into_iter().flatten().find_map(|open| {
        let starts = (1..=6).filter_map(|length| open.checked_sub(length));
        starts.filter(|start| matches!(head.get(*start), Some(b'\\' | b'^' | 0x1b))).find_map(|start| {
            (escape_at(head, start) == Some(head.len()) && start + 1 < head.len())
                .then_some(head.len() - start)
        })
    })
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn copy_of(text: &str) -> Option<String> {
        let clock = || Duration::ZERO;
        let copy = unglued(text.as_bytes(), &Deadline::new(&clock, Duration::ZERO)).unwrap();
        copy.map(|copy| String::from_utf8(copy).unwrap())
    }

    const ESCAPES: [&str; 26] = [
        r"\n",
        r"\t",
        r"\r",
        r"\a",
        r"\b",
        r"\e",
        r"\f",
        r"\v",
        r"\0",
        r"\033",
        r"\x3d",
        r"\u003d",
        r"\U0000003d",
        r"\\n",
        r"\\\\t",
        "%3D",
        "%0a",
        "%253D",
        "%25253d",
        "\u{1b}[01;31m",
        "\u{1b}[m",
        r"\e[01;31m",
        r"\033[0m",
        r"\x1b[38;5;9m",
        r"\u001b[K",
        "^[[1m",
    ];

    #[test]
    fn escapes_end_where_a_word_begins() {
        for escape in ESCAPES {
            for (head, tail) in [("", "ghp_"), ("x ", "4"), ("key=", "A"), ("\"", "_")] {
                let text = format!("{head}{escape}{tail}");
                let at = head.len() + escape.len();
                let found = escape_before(text.as_bytes(), at);
                assert!(found.is_some_and(|length| length <= escape.len()), "{text:?} {found:?}");
                let expected = format!("{head}{}{tail}", " ".repeat(escape.len()));
                // More octal digits belong to the escape.
                if escape != r"\0" || tail != "4" {
                    assert_eq!(copy_of(&text), Some(expected), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn other_text_is_not_changed() {
        for text in [
            "plain",
            "xn",
            "100%x",
            "%zz",
            r"\q",
            r"\xg1",
            r"C:\data",
            "[31m",
            "a[0m",
            r"\u12",
            "%3",
            "^x",
            "\u{1b}x",
            r"\n ",
            "%3D=",
            "\u{1b}[0m",
        ] {
            assert_eq!(copy_of(text), None, "{text:?}");
        }
        for (text, at) in
            [("xn", 2), ("100%x4", 5), ("%zz", 3), (r"\q", 2), ("[31m", 4), ("", 0), ("n", 1), (r"\u12g", 5)]
        {
            assert_eq!(escape_before(text.as_bytes(), at), None, "{text:?}");
        }
    }
}
