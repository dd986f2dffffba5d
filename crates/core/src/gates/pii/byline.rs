//! *Balanced:* bylines, which name an author and are very common in the outputs of coding agents.
//!
//! `Name <address>` is a byline if its line begins with a label and `:` or `=`. In front of the label there may be up
//! to 16 bytes that are not letters: blanks, quotes, a line number, diff and comment markers.
//!
//! | label, ignoring case | examples |
//! |---|---|
//! | `author`, `authors`, `maintainer`, `maintainers` | `Author: Ada <…>`, `authors = ["Ada <…>"]`, `"author": "Ada <…>"` |
//! | `commit`, `committer`, `from` | `Commit: Ada <…>`, `From: Ada <…>` |
//! | any word that ends in `-by` | `Co-authored-by: Ada <…>`, `Signed-off-by: Ada <…>` |
//!
//! A line of a list, `"Ada <…>",`, belongs to the line before it. In JSON the key of a value is its label. What it
//! ignores: a label more than 1 KiB in front of the address, and a label elsewhere on the line.

use crate::gates::text::Text;

/// Largest distance from the start of a byline to its address, in bytes.
const BYTES_MAX: usize = 1024;
/// Most bytes in front of a label.
const MARKS_MAX: usize = 16;

/// Cost of the check per address, in bytes.
pub(super) const COST: usize = 64;

/// Returns whether the address from `start` to `end` belongs to a byline.
pub(super) fn is_at(Text { text, key }: Text<'_>, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let Some(open) = start.checked_sub(1).filter(|open| bytes.get(*open) == Some(&b'<')) else {
        return false;
    };
    if bytes.get(end) != Some(&b'>') {
        return false;
    }
    let from = open.saturating_sub(BYTES_MAX);
    let mut head = bytes.get(from..open).unwrap_or_default();
    // The last line has a name. The lines before it only have to be lines of a list.
    let mut is_last = true;
    loop {
        let newline = memchr::memrchr(b'\n', head);
        let line = newline.and_then(|newline| head.get(newline + 1..)).unwrap_or(head);
        if is_last && !line.iter().any(|byte| is_of_name(*byte)) {
            return false;
        }
        // The line begins too far away to be checked.
        if (newline.is_some() || from == 0)
            && after_label(line).is_some_and(|rest| !is_last || has_name(rest))
        {
            return true;
        }
        let is_first = newline.is_none() && from == 0;
        if is_first && is_last && key.is_some_and(|key| is_label(key.as_bytes())) {
            return true;
        }
        let is_listed = matches!(line.trim_ascii_start().first(), Some(b'"' | b'\''));
        match newline.and_then(|newline| head.get(..newline)) {
            Some(before) if is_listed => (head, is_last) = (before, false),
            _ => return false,
        }
    }
}

/// Returns whether a byte is part of a letter, of any script.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

fn has_name(rest: &[u8]) -> bool {
    rest.iter().any(|byte| is_of_name(*byte))
}

/// Returns the text after the label at the start of a line.
fn after_label(line: &[u8]) -> Option<&[u8]> {
    let marks = line.iter().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    let rest = line.get(marks..).filter(|_| marks <= MARKS_MAX)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    let (label, rest) = rest.split_at_checked(length)?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest).trim_ascii_start();
    matches!(rest.first(), Some(b':' | b'=')).then_some(rest).filter(|_| is_label(label))
}

fn is_label(label: &[u8]) -> bool {
    const LABELS: [&str; 7] =
        ["author", "authors", "maintainer", "maintainers", "commit", "committer", "from"];
    let is_by = label.len().checked_sub(3).and_then(|end| label.get(end..));
    LABELS.iter().any(|known| label.eq_ignore_ascii_case(known.as_bytes()))
        || is_by.is_some_and(|by| by.eq_ignore_ascii_case(b"-by"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_byline(text: &str, key: Option<&str>) -> bool {
        let (start, end) = (text.find("ada@").unwrap(), text.find("@x.io").unwrap() + "@x.io".len());
        is_at(Text { text, key }, start, end)
    }

    #[test]
    fn bylines_are_recognized() {
        for text in [
            "Author: Ada <ada@x.io>",
            "commit 1f2e\nAuthor:     Ada L. <ada@x.io>\nDate: x",
            "Commit: Ada <ada@x.io>",
            "    Co-authored-by: Ada <ada@x.io>",
            "Signed-off-by: Ada <ada@x.io>",
            "+# Signed-off-by: Ada <ada@x.io>",
            "From: Ada <ada@x.io>",
            "Maintainer: \u{c9}da <ada@x.io>",
            "authors = [\"Ada <ada@x.io>\"]",
            "authors = [\"Bob <b@y.io>\", \"Ada <ada@x.io>\"]",
            "authors = [\n    \"Bob <b@y.io>\",\n    \"Ada <ada@x.io>\",\n]",
            "     5\tauthors = [\"Ada <ada@x.io>\"]",
            "  \"author\": \"Ada <ada@x.io> (https://x.io)\",",
        ] {
            assert!(is_byline(text, None), "{text}");
        }
        for text in [
            "Ada <ada@x.io>",
            "Author: ada@x.io",
            "Author: <ada@x.io>",
            "Author: Ada <ada@x.io",
            "the author is Ada <ada@x.io>",
            "To: Ada <ada@x.io>",
            "Author: Bob\nAda <ada@x.io>",
            "Author Ada <ada@x.io>",
            "users = [\n    \"Ada <ada@x.io>\",\n]",
            "standby Ada <ada@x.io>",
        ] {
            assert!(!is_byline(text, None), "{text}");
        }
        assert!(is_byline("Ada <ada@x.io>", Some("author")) && !is_byline("Ada <ada@x.io>", Some("user")));
        let far = |bytes: usize| format!("Author: {}<ada@x.io>", "a".repeat(bytes));
        assert!(is_byline(&far(1000), None) && !is_byline(&far(1100), None));
    }
}
