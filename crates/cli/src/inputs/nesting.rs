//! Follows strings and brackets, which is enough to find the end of an input.

/// The bracket depth at the end of a text relative to its start, and whether it ends inside a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Nesting {
    pub(super) depth: i64,
    pub(super) in_string: bool,
    escaped: bool,
}

impl Nesting {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut nesting = Self::default();
        nesting.follow(text);
        nesting
    }

    pub(super) fn follow(&mut self, text: &[u8]) {
        for &byte in text {
            self.step(byte);
        }
    }

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
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
    }

    /// Returns whether a bracket or a string is still open.
    pub(super) fn open(self) -> bool {
        self.depth > 0 || self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_inside_strings_do_not_count() {
        for (text, depth, in_string) in [
            ("", 0, false),
            ("{", 1, false),
            ("{[}", 1, false),
            ("}", -1, false),
            ("\"{", 0, true),
            ("\"{\"", 0, false),
            (r#""\"{""#, 0, false),
            (r#"{"a":"\\"}"#, 0, false),
        ] {
            let nesting = Nesting::of(text.as_bytes());
            assert_eq!((nesting.depth, nesting.in_string), (depth, in_string), "{text}");
        }
    }
}
