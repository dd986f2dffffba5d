//! Following strings and brackets, which is all that is needed to see where an input ends.

/// How deep inside brackets and strings a byte stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    pub(super) fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    pub(super) fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    pub(super) fn open(self) -> bool {
        self.depth > 0 || self.in_string
    }
}

/// Whether a first line opens an object that it does not close. A line that ends inside a string is a broken line: no
/// JSON string goes over a line end.
pub(super) fn opens_document(line: &[u8]) -> bool {
    let mut nesting = Nesting::default();
    nesting.follow(line);
    line.trim_ascii_start().starts_with(b"{") && nesting.depth > 0 && !nesting.in_string
}

/// Whether the second line shows that the first was a broken line and not the beginning of a document: it is an object
/// of its own, and the first line does not end where an element may follow.
pub(super) fn starts_anew(first: &[u8], second: &[u8]) -> bool {
    let mut nesting = Nesting::default();
    nesting.follow(second);
    let complete = second.starts_with(b"{") && second.trim_ascii_end().ends_with(b"}") && !nesting.open();
    complete && !matches!(first.trim_ascii_end().last(), Some(b'[' | b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_inside_strings_do_not_count() {
        for (text, open) in [
            ("", false),
            ("{", true),
            ("{}", false),
            ("}", false),
            ("\"{", true),
            ("\"{\"", false),
            (r#""\"{""#, false),
            (r#"{"a":"\\"}"#, false),
        ] {
            let mut nesting = Nesting::default();
            nesting.follow(text.as_bytes());
            assert_eq!(nesting.open(), open, "{text}");
        }
    }

    #[test]
    fn a_document_begins_with_an_object_that_goes_on() {
        for (line, opens) in [
            ("{", true),
            ("  {\"a\": [", true),
            ("{}", false),
            ("{\"a\":\"cut", false),
            ("nonsense {", false),
            ("", false),
        ] {
            assert_eq!(opens_document(line.as_bytes()), opens, "{line}");
        }
        for (first, second, anew) in [
            ("{\"a\":", "{}", true),
            ("{\"a\":[", "{}", false),
            ("{\"a\":[{},", "{}", false),
            ("{", "\"a\":1}", false),
            ("{", "{", false),
        ] {
            assert_eq!(starts_anew(first.as_bytes(), second.as_bytes()), anew, "{first} {second}");
        }
    }
}
