//! One pass over a JSON text, without recursion.

use super::string::{ESCAPE_COST, special, unescape};
use super::{
    DECODED, NO_KEY, NUMBER_DIGITS_MIN, Number, Origin, Piece, Unseen, View, Within, looks_like_json, narrow,
    push,
};
use crate::gates::scan::{Deadline, run_end};
use crate::limits::GATE_DEPTH_MAX;

/// An open object or array.
struct Open {
    is_object: bool,
    /// The index of the key of its values. In an object: the field that is being read.
    key: u32,
}

/// A walk over one text.
pub(super) struct Walk<'t, 'd> {
    text: &'t str,
    at: usize,
    /// Whether the text is a string inside the output. Only pieces of the output itself can be borrowed.
    within: bool,
    /// Number of objects and arrays around the text.
    depth: usize,
    /// The index of the key of the text.
    key: u32,
    open: Vec<Open>,
    deadline: &'t Deadline<'d>,
}

impl<'t, 'd> Walk<'t, 'd> {
    pub(super) fn new(
        text: &'t str,
        within: bool,
        depth: usize,
        key: u32,
        deadline: &'t Deadline<'d>,
    ) -> Self {
        Self { text, at: 0, within, depth, key, open: Vec::new(), deadline }
    }

    /// Adds the strings and keys to the view, and those that may be JSON themselves to `within`.
    pub(super) fn run(mut self, view: &mut View<'_>, within: &mut Vec<Within>) -> Result<(), Unseen> {
        loop {
            if self.value(view, within)? {
                continue;
            }
            // After a value: close what ends here, and start the next value.
            loop {
                let Some(is_object) = self.open.last().map(|open| open.is_object) else {
                    self.blanks()?;
                    return if self.at == self.text.len() { Ok(()) } else { Err(Unseen::NotJson) };
                };
                self.blanks()?;
                match (self.next(), is_object) {
                    (Some(b','), true) => self.field(view, within)?,
                    (Some(b','), false) => {}
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.open.pop();
                        continue;
                    }
                    _ => return Err(Unseen::NotJson),
                }
                break;
            }
        }
    }

    /// Reads a value, or its start. Returns true if a non-empty object or array was opened.
    fn value(&mut self, view: &mut View<'_>, within: &mut Vec<Within>) -> Result<bool, Unseen> {
        self.blanks()?;
        self.deadline.spend(4)?;
        match self.next() {
            Some(b'"') => {
                let key = self.open.last().map_or(self.key, |open| open.key);
                self.string(view, within, key).map(|_| false)
            }
            Some(b'{') => {
                self.descend(true)?;
                self.blanks()?;
                if self.eat(b'}') {
                    self.open.pop();
                    return Ok(false);
                }
                self.field(view, within).map(|()| true)
            }
            Some(b'[') => {
                self.descend(false)?;
                self.blanks()?;
                let empty = self.eat(b']');
                if empty {
                    self.open.pop();
                }
                Ok(!empty)
            }
            Some(b't') => self.literal("rue"),
            Some(b'f') => self.literal("alse"),
            Some(b'n') => self.literal("ull"),
            Some(first @ (b'-' | b'0'..=b'9')) => self.number(first, view),
            _ => Err(Unseen::NotJson),
        }
    }

    fn descend(&mut self, is_object: bool) -> Result<(), Unseen> {
        if self.depth + self.open.len() >= GATE_DEPTH_MAX {
            return Err(Unseen::TooDeep);
        }
        let key = self.open.last().map_or(self.key, |open| open.key);
        self.open.push(Open { is_object, key });
        Ok(())
    }

    /// Reads a key and its colon.
    fn field(&mut self, view: &mut View<'_>, within: &mut Vec<Within>) -> Result<(), Unseen> {
        self.blanks()?;
        if !self.eat(b'"') {
            return Err(Unseen::NotJson);
        }
        let key = self.string(view, within, NO_KEY)?;
        if let Some(open) = self.open.last_mut() {
            open.key = key;
        }
        self.blanks()?;
        if self.eat(b':') { Ok(()) } else { Err(Unseen::NotJson) }
    }

    /// Reads a string after its opening quote, and returns its index.
    fn string(&mut self, view: &mut View<'_>, within: &mut Vec<Within>, key: u32) -> Result<u32, Unseen> {
        let bytes = self.text.as_bytes();
        let (start, mut escaped) = (self.at, false);
        loop {
            self.at = special(bytes, self.at, self.deadline)?;
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.deadline.spend(ESCAPE_COST)?;
                    escaped = true;
                    self.at += 2;
                }
                _ => return Err(Unseen::NotJson),
            }
        }
        let raw = self.text.get(start..self.at).ok_or(Unseen::NotJson)?;
        let (index, position) = (view.pieces.len(), (narrow(start), narrow(self.at)));
        let piece = if self.within || escaped {
            let origin = view.origins.len();
            push(&mut view.origins, Origin { start: narrow(view.decoded.len()), raw: position });
            make_room(&mut view.decoded, raw.len());
            if escaped {
                unescape(raw, &mut view.decoded, self.deadline)?.ok_or(Unseen::NotJson)?;
            } else {
                view.decoded.push_str(raw);
            }
            Piece { start: narrow(origin), end: DECODED, key }
        } else {
            Piece { start: position.0, end: position.1, key }
        };
        self.at += 1;
        push(&mut view.pieces, piece);
        if looks_like_json(view.get(&piece), self.deadline)? {
            push(within, Within { index: narrow(index), depth: narrow(self.depth + self.open.len()) });
        }
        Ok(narrow(index))
    }

    /// Reads the rest of a number.
    fn number(&mut self, first: u8, view: &mut View<'_>) -> Result<bool, Unseen> {
        let start = self.at - 1;
        let first = if first == b'-' { self.next() } else { Some(first) };
        match first {
            Some(b'0') => {}
            Some(b'1'..=b'9') => drop(self.digits()?),
            _ => return Err(Unseen::NotJson),
        }
        if self.eat(b'.') && self.digits()? == 0 {
            return Err(Unseen::NotJson);
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            if self.digits()? == 0 {
                return Err(Unseen::NotJson);
            }
        }
        if !self.within && self.at - start >= NUMBER_DIGITS_MIN {
            let key = self.open.last().map_or(self.key, |open| open.key);
            push(&mut view.numbers, Number { start: narrow(start), end: narrow(self.at), key });
        }
        Ok(false)
    }

    fn digits(&mut self) -> Result<usize, Unseen> {
        let start = self.at;
        self.at = run_end(self.text.as_bytes(), start, self.deadline, |byte| byte.is_ascii_digit())?;
        Ok(self.at - start)
    }

    fn literal(&mut self, rest: &str) -> Result<bool, Unseen> {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|text| text.starts_with(rest.as_bytes()));
        self.at += rest.len();
        if found { Ok(false) } else { Err(Unseen::NotJson) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) -> Result<(), Unseen> {
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        if self.peek().is_some_and(is_blank) {
            self.at = run_end(self.text.as_bytes(), self.at, self.deadline, is_blank)?;
        }
        Ok(())
    }
}

/// Reserves room for a text, and at least a quarter of the current length.
fn make_room(decoded: &mut String, bytes: usize) {
    if decoded.capacity() - decoded.len() < bytes {
        decoded.reserve_exact(bytes.max(decoded.len() / 4));
    }
}
