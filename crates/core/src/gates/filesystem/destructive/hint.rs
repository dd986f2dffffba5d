//! Finds the lines that are worth parsing as shell.
//!
//! Parsing costs a hundred times as much as scanning. So each finding has a pair of letters that all its commands
//! contain, and a check of the text around it. Quotes, backslashes and newlines may be between any two letters,
//! because a shell drops them.
//!
//! | pair | part of |
//! |---|---|
//! | `rm` | `rm`, `format`, `rmdir` |
//! | `fs` | `mkfs`, `mke2fs`, `wipefs` |
//! | `-d` | `-delete` |
//! | `f=` | `of=` |
//! | `v/` | `/dev/` |
//! | `hm`, `wn` | `chmod`, `chown` |
//! | `()`, `fu` | a fork bomb, `function` without `()` |
//! | `/s`, `-r`, `-e` | `del /s`, `Remove-Item -Recurse`, `-EncodedCommand` |
//! | `$'` | anything, written with escapes |

use crate::gates::scan::{Deadline, TimedOut, before, each};

/// What may be at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// A destructive command.
    Command,
    /// The `()` of a function.
    Function,
    /// The word `function`.
    Keyword,
}

/// Longest run of quotes and backslashes that is skipped, in bytes. A longer run is worth parsing.
const GLUE_BYTES_MAX: usize = 64;

/// Calls `visit` with the hints of a text. It returns the position to go on from.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
pub(super) fn each_hint(
    bytes: &[u8],
    windows: bool,
    deadline: &Deadline<'_>,
    mut visit: impl FnMut(usize, Hint) -> Result<usize, TimedOut>,
) -> Result<(), TimedOut> {
    let may_be = |before: u8, byte: u8| {
        let (first, second) = (before | 0x20, byte | 0x20);
        let (dash, slash) = (first == b'-', first == b'/');
        let is_letter =
            (first == b'r') | (first == b'f') | (first == b'v') | (first == b'h') | (first == b'w');
        let glue = (byte == b'\\') | (byte == b'\'') | (byte == b'"');
        ((second == b'm') & ((first == b'r') | (first == b'h')))
            | ((second == b's') & ((first == b'f') | slash))
            | (((second == b'd') | (second == b'r') | (second == b'e')) & dash)
            | ((byte == b'=') & (first == b'f'))
            | ((byte == b'/') & (first == b'v'))
            | ((second == b'n') & (first == b'w'))
            | ((byte == b')') & (before == b'('))
            | ((byte == b'u') & (before == b'f'))
            | ((byte == b'\'') & (before == b'$'))
            | (glue & (is_letter | dash | slash))
    };
    each(bytes, deadline, may_be, |at| match hint_at(bytes, at, windows) {
        Some(hint) => visit(at, hint),
        None => Ok(at + 1),
    })
}

/// Returns the hint of the pair whose second byte is here, or whose first byte is in front of the quotes that begin
/// here.
fn hint_at(bytes: &[u8], at: usize, windows: bool) -> Option<Hint> {
    let first = at.checked_sub(1)?;
    let glue = bytes.get(at..)?.iter().take(GLUE_BYTES_MAX).take_while(|byte| is_glue(**byte)).count();
    let is_command = |is: bool| is.then_some(Hint::Command);
    if glue == GLUE_BYTES_MAX || (glue > 0 && bytes.get(first) == Some(&b'$')) {
        return Some(Hint::Command);
    }
    let around = Around { bytes, first, second: at + glue };
    let pair = (bytes.get(first)?.to_ascii_lowercase(), bytes.get(around.second)?.to_ascii_lowercase());
    match pair {
        (b'(', b')') => Some(Hint::Function),
        (b'f', b'u') => {
            let is_alone = glue == 0 && around.is_option();
            (is_alone && bytes.get(at..)?.starts_with(b"unction ")).then_some(Hint::Keyword)
        }
        (b'r', b'm') => is_command(around.is_rm()),
        (b'f', b's') => is_command(around.follows(b"k") || around.follows(b"2") || around.follows(b"wipe")),
        (b'-', b'd') => is_command(around.goes_on(b"elete")),
        (b'f', b'=') => is_command(around.follows(b"o")),
        (b'v', b'/') => is_command(around.follows(b"/de") && !around.goes_on(b"null")),
        (b'h', b'm') => is_command(around.follows(b"c") && around.goes_on(b"od")),
        (b'w', b'n') => is_command(around.follows(b"cho")),
        (b'/', b's') => is_command(windows && !around.right().is_some_and(is_part)),
        (b'-', b'r') => is_command(
            windows && around.is_option() && (!around.right().is_some_and(is_part) || around.goes_on(b"ec")),
        ),
        (b'-', b'e') => is_command(
            windows
                && around.is_option()
                && (!around.right().is_some_and(is_part) || around.goes_on(b"n") || around.goes_on(b"c")),
        ),
        _ => None,
    }
}

/// Returns whether a shell drops the byte.
fn is_glue(byte: u8) -> bool {
    matches!(byte, b'\\' | b'\'' | b'"' | b'\n' | b'\r')
}

/// Returns whether a byte is part of a name.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A pair of letters and the text around it.
struct Around<'t> {
    bytes: &'t [u8],
    first: usize,
    second: usize,
}

impl Around<'_> {
    fn left(&self) -> Option<u8> {
        before(self.bytes, self.first)
    }

    fn right(&self) -> Option<u8> {
        self.bytes.get(self.second + 1).copied()
    }

    /// Returns the text before the pair and the text after it.
    fn sides(&self) -> (&[u8], &[u8]) {
        let head = self.bytes.get(..self.first).unwrap_or_default();
        (head, self.bytes.get(self.second + 1..).unwrap_or_default())
    }

    fn is_rm(&self) -> bool {
        let alone = !self.left().is_some_and(is_part) && !self.right().is_some_and(is_part);
        let (head, tail) = self.sides();
        let is_format = || {
            matches(head.iter().rev(), b"fo".iter().rev(), true)
                && matches(tail.iter(), b"at".iter(), true)
                && names_drive(tail)
        };
        alone || is_format() || self.goes_on(b"dir")
    }

    fn is_option(&self) -> bool {
        !self.left().is_some_and(is_part)
    }

    /// Returns whether these letters are in front of the pair.
    fn follows(&self, letters: &[u8]) -> bool {
        matches(self.sides().0.iter().rev(), letters.iter().rev(), false)
    }

    /// Returns whether these letters follow the pair.
    fn goes_on(&self, letters: &[u8]) -> bool {
        matches(self.sides().1.iter(), letters.iter(), false)
    }
}

/// Returns whether a letter with a colon is near, as in `format /q C:`.
fn names_drive(tail: &[u8]) -> bool {
    const NEAR_BYTES: usize = 4 * GLUE_BYTES_MAX;
    let mut letters = tail.iter().take(NEAR_BYTES).filter(|byte| !is_glue(**byte)).copied();
    let (mut before, mut last) = (b'x', letters.next().unwrap_or(b'x'));
    letters.any(|byte| {
        let found = byte == b':' && last.is_ascii_alphabetic() && !is_part(before);
        (before, last) = (last, byte);
        found
    })
}

/// Returns whether bytes begin with these letters, ignoring case and quotes between them. A `whole` name ends after
/// them.
fn matches<'b>(
    mut bytes: impl Iterator<Item = &'b u8>,
    letters: impl Iterator<Item = &'b u8>,
    whole: bool,
) -> bool {
    let mut glue = 0;
    for letter in letters {
        loop {
            match bytes.next() {
                Some(byte) if byte.eq_ignore_ascii_case(letter) => break,
                Some(byte) if is_glue(*byte) => glue += 1,
                _ => return false,
            }
            if glue > GLUE_BYTES_MAX {
                return true;
            }
        }
    }
    !whole || !bytes.next().is_some_and(|byte| is_part(*byte))
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn has_hint(text: &str) -> bool {
        let (clock, mut found) = (|| Duration::ZERO, false);
        let deadline = Deadline::new(&clock, Duration::ZERO);
        each_hint(text.as_bytes(), true, &deadline, |at, _| {
            found = true;
            Ok(at + 1)
        })
        .unwrap();
        found
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        let names = [
            "rm",
            "mkfs",
            "mkfs.ext4",
            "mke2fs",
            "wipefs",
            "format C:",
            "rmdir",
            "chmod",
            "chown",
            "-delete",
            "of=",
            "> /dev/sda",
        ];
        for name in names {
            assert!(has_hint(name), "{name}");
            for at in 1..name.len() {
                let (head, tail) = name.split_at(at);
                for glue in ["\\", "''", "\"\"", "\\\n", "\\\\\\\\", &"\"".repeat(200)] {
                    let text = format!("{head}{glue}{tail}");
                    assert!(has_hint(&text), "{text:?}");
                }
            }
            let all: String = name.chars().flat_map(|char| ['\'', char, '\'']).collect();
            assert!(has_hint(&all), "{all}");
        }
        for text in
            ["f\"rm -rf x\"", "$'\\x72m'", "del /s /q", "ri -r -fo x", "powershell -enc abc", "rd/s/q x"]
        {
            assert!(has_hint(text), "{text}");
        }
    }

    #[test]
    fn ordinary_text_has_no_hints() {
        for text in [
            "the form and the information of the farm are normal",
            "prefs, refs and beliefs",
            "docker run --rm x 2>/dev/null",
            "a well-designed show of known things",
            "src/server.rs and /srv/x",
            "if (x) { \"for\": 'her', }",
            "let text = format!(\"{}\", x); // the format of std::fmt",
        ] {
            assert!(!has_hint(text), "{text}");
        }
    }
}
