//! Where it is worth reading a line as shell.
//!
//! Reading costs a hundred times what looking costs. So for each finding there is a pair of letters that all its
//! commands have, and a look at what stands around it. Quotes, backslashes and newlines may stand between any two
//! letters, since a shell drops them.
//!
//! | pair | of |
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

/// What a place may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// A command of a finding.
    Command,
    /// The `()` of a function.
    Function,
    /// The word `function`.
    Keyword,
}

/// Longest run of quotes and backslashes that is stepped over, in bytes. A longer one is worth reading.
const GLUE_BYTES_MAX: usize = 64;

/// Calls `visit` with the hints of a text; it answers where to go on.
#[expect(clippy::needless_bitwise_bool, reason = "without branches this is vector code")]
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

/// What the pair is whose second byte stands here, or whose first stands before the quotes that begin here.
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

/// Bytes that a shell drops.
fn is_glue(byte: u8) -> bool {
    matches!(byte, b'\\' | b'\'' | b'"' | b'\n' | b'\r')
}

/// Bytes of names.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A pair of letters and what stands around it.
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

    /// What stands before the pair, and what after it.
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

    /// Whether these letters stand before the pair.
    fn follows(&self, letters: &[u8]) -> bool {
        matches(self.sides().0.iter().rev(), letters.iter().rev(), false)
    }

    /// Whether these letters stand after the pair.
    fn goes_on(&self, letters: &[u8]) -> bool {
        matches(self.sides().1.iter(), letters.iter(), false)
    }
}

/// Whether a letter with a colon stands near, as in `format /q C:`.
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

/// Whether bytes begin with letters, in either case and with quotes between them; a `whole` name ends with them.
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
    fn names_are_found_however_they_are_spelled() {
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
    fn ordinary_text_has_none() {
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
