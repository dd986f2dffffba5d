//! Fork bombs: a function that calls itself twice, piped and in the background, `f(){ f|f& };f` or
//! `function f { f|f& };f`.

use crate::gates::scan::before;

/// Longest function name that is checked, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Most blanks between two parts.
const BLANKS_MAX: usize = 64;

/// Returns whether a fork bomb is around `()`. `at` is the position of the `)`. With `sure`, a command has to begin
/// there.
pub(super) fn is_at(bytes: &[u8], at: usize, sure: bool) -> bool {
    let Some(head) = at.checked_sub(1).and_then(|open| bytes.get(..open)) else { return false };
    let head = head.trim_ascii_end();
    let length = head.iter().rev().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
    let start = head.len() - length;
    let Some(name) = head.get(start..).filter(|name| !name.is_empty()) else { return false };
    calls_itself(name, bytes.get(at + 1..).unwrap_or_default()) && (!sure || begins(bytes, start))
}

/// Does the same for a function without `()`. `at` is the second letter of the word `function` in front of its name.
pub(super) fn is_after_keyword(bytes: &[u8], at: usize, sure: bool) -> bool {
    let rest = bytes.get(at + "unction".len()..).unwrap_or_default();
    let blanks = rest.iter().take(BLANKS_MAX).take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = rest.get(blanks..).unwrap_or_default();
    let length = rest.iter().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
    let Some((name, rest)) = rest.split_at_checked(length).filter(|(name, _)| !name.is_empty()) else {
        return false;
    };
    let rest = rest.strip_prefix(b"()").unwrap_or(rest);
    blanks > 0 && calls_itself(name, rest) && (!sure || begins(bytes, at.saturating_sub(1)))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte)
}

/// Returns whether a function body follows that calls this name twice.
fn calls_itself(name: &[u8], mut rest: &[u8]) -> bool {
    let mut next = |part: &[u8]| {
        let blanks = rest.iter().take(BLANKS_MAX).take_while(|byte| byte.is_ascii_whitespace()).count();
        let found = rest.get(blanks..).and_then(|rest| rest.strip_prefix(part));
        rest = found.unwrap_or_default();
        found.is_some()
    };
    next(b"{") && next(name) && next(b"|") && next(name) && next(b"&")
}

/// Returns whether a shell begins a command at this position.
fn begins(bytes: &[u8], start: usize) -> bool {
    let head = bytes.get(..start).unwrap_or_default();
    let blanks = head.iter().rev().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = head.len() - blanks;
    match before(head, end) {
        None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b'{' | b'`') => true,
        // A prompt.
        Some(b'$' | b'#' | b'%' | b'>') => blanks > 0,
        // A program passed as text.
        Some(b'\'' | b'"') => {
            let words =
                head.get(end.saturating_sub(NAME_BYTES_MAX)..end.saturating_sub(1)).unwrap_or_default();
            let words = words.trim_ascii_end();
            let from = words.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
            let word = words.get(from..).unwrap_or_default();
            word == b"eval" || (word.starts_with(b"-") && word.ends_with(b"c"))
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, sure: bool) -> bool {
        text.as_bytes().windows(2).enumerate().any(|(at, pair)| match pair {
            b"()" => is_at(text.as_bytes(), at + 1, sure),
            b"fu" => is_after_keyword(text.as_bytes(), at + 1, sure),
            _ => false,
        })
    }

    #[test]
    fn fork_bombs_are_found() {
        for text in [
            ":(){ :|:& };:",
            ":(){:|:&};:",
            ": () { : | : & } ; :",
            "bomb() {\n  bomb | bomb &\n}; bomb",
            "$ :(){ :|:& };:",
            "bash -c ':(){ :|:& };:'",
            "x; :(){ :|:& };:",
            "function f { f | f & }; f",
            "function  : {\n :|:&\n};:",
            "function f() { f|f& }; f",
        ] {
            assert!(found(text, false) && found(text, true), "{text}");
        }
        for text in ["the bomb :(){ :|:& };: is old", "\":(){ :|:& };:\""] {
            assert!(found(text, false) && !found(text, true), "{text}");
        }
        for text in [
            "f() { g | f & }",
            "f() { f; }",
            "main() {\n}",
            "()",
            "x() { x | y & }",
            ":()",
            "function f { g | f & }",
            "function { f|f& }",
            "fu",
        ] {
            assert!(!found(text, false), "{text}");
        }
    }
}
