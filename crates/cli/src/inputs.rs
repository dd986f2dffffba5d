//! Cutting a stream of JSON into inputs, without holding more than one of them.
//!
//! | the stream begins with | its shape | an input is |
//! |---|---|---|
//! | `[` | [`Shape::Array`] | an element |
//! | a line that closes every bracket it opens | [`Shape::Lines`] | a line |
//! | a line that does not | [`Shape::Documents`] | the lines up to the one that closes the last bracket |
//!
//! The cutter only follows strings and brackets; whether an input is JSON, and of the right shape, is for its reader to
//! say. So a bad input is cut off like any other, and those after it are still read. A document has broken off when a
//! line ends inside a string, or when the next line begins an object where JSON has no place for one. If some of its lines
//! are objects of their own, it was no document but a broken line of JSON Lines, and its lines are taken one by one.
//!
//! How the bytes arrive (whole, or one at a time) changes nothing.

mod line;
mod nesting;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Chain, Cursor, Read};

use line::{Line, LineText};
use nesting::Nesting;
use renown_core::limits;

/// How the inputs of a stream are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One input a line.
    Lines,
    /// Inputs over several lines, one after the other.
    Documents,
    /// One array of inputs.
    Array,
}

/// One input: where it stands, and its text unless that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) position: TextPosition,
    pub(crate) text: Text,
}

/// Where an input begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in bytes, from 1.
    pub(crate) column: usize,
    /// The index in its array, from 0; none outside of one.
    pub(crate) index: Option<usize>,
}

impl TextPosition {
    /// The place after this byte.
    fn advance(&mut self, byte: u8) {
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Whole(Vec<u8>),
    /// Longer than [`limits::INPUT_BYTES_MAX`]; skipped without being held.
    TooLong,
}

/// How the array around the inputs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayEnd {
    /// It is closed and nothing follows.
    Closed,
    /// The stream ends before its `]`.
    Missing,
    /// Something follows its `]`.
    Followed,
}

/// The inputs of a stream, one at a time.
pub(crate) struct Inputs<R> {
    /// The stream, with the bytes before it that were read to look for a byte order mark.
    reader: Chain<Cursor<Vec<u8>>, R>,
    shape: Shape,
    /// Where that stands which is read next.
    next: TextPosition,
    /// Lines that were read and not yet used, the next one last.
    ahead: Vec<Line>,
    /// How many of them are to be taken one by one.
    single: usize,
    /// The input that was read to find out the shape.
    first: Option<Input>,
    /// Elements read so far.
    elements: usize,
    /// How the array ended, once it has.
    array_end: Option<ArrayEnd>,
    max: usize,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: BufRead> Inputs<R> {
    /// Reads as far as is needed to know the shape.
    pub(crate) fn new(reader: R) -> io::Result<Self> {
        Self::with_limit(reader, limits::INPUT_BYTES_MAX)
    }

    /// [`Inputs::new`] with another limit on the bytes of one input.
    fn with_limit(mut reader: R, max: usize) -> io::Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head)?;
        if head == BYTE_ORDER_MARK {
            head.clear();
        }
        let mut inputs = Self {
            reader: Cursor::new(head).chain(reader),
            shape: Shape::Lines,
            next: TextPosition { line: 1, column: 1, index: None },
            ahead: Vec::new(),
            single: 0,
            first: None,
            elements: 0,
            array_end: None,
            max,
        };
        if inputs.skip_blanks()? == Some(b'[') {
            inputs.take_byte(b'[');
            inputs.shape = Shape::Array;
            return Ok(inputs);
        }
        inputs.first = inputs.next_document()?;
        Ok(inputs)
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// How the array ended; none while it goes on, and outside of one.
    pub(crate) fn array_end(&self) -> Option<ArrayEnd> {
        self.array_end
    }

    /// The stream itself, to see whether it has anything left that is already read.
    pub(crate) fn reader(&self) -> &R {
        self.reader.get_ref().1
    }

    /// The next input, none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Input>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        match self.shape {
            Shape::Lines => Ok(self.next_line()?.map(Line::into_input)),
            Shape::Documents => self.next_document(),
            Shape::Array => self.next_element(),
        }
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.ahead.pop() {
            return Ok(Some(line));
        }
        loop {
            let position = self.next;
            let mut bytes = Vec::new();
            self.reader.by_ref().take(self.max as u64 + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.next.advance(b'\n');
            if bytes.pop_if(|last| *last == b'\n').is_none() && bytes.len() > self.max {
                let nesting = self.skip_line(Nesting::of(&bytes))?;
                return Ok(Some(Line { position, text: LineText::TooLong(nesting) }));
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(Line { position, text: LineText::Whole(bytes) }));
            }
        }
    }

    /// Skips the rest of a line, following its brackets.
    fn skip_line(&mut self, mut nesting: Nesting) -> io::Result<Nesting> {
        loop {
            let bytes = self.reader.fill_buf()?;
            let end = bytes.iter().position(|&byte| byte == b'\n');
            nesting.follow(bytes.split_at(end.unwrap_or(bytes.len())).0);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.reader.consume(taken);
            if end.is_some() || taken == 0 {
                return Ok(nesting);
            }
        }
    }

    /// Lines up to the one that closes every bracket, or up to where the document breaks off.
    fn next_document(&mut self) -> io::Result<Option<Input>> {
        let Some(mut last) = self.next_line()? else { return Ok(None) };
        if self.single > 0 {
            self.single -= 1;
            return Ok(Some(last.into_input()));
        }
        let position = last.position;
        let mut text = Collector::new(self.max);
        let (mut depth, mut has_object) = (0, false);
        let broken = loop {
            let nesting = last.nesting();
            depth += nesting.depth;
            match &last.text {
                LineText::Whole(bytes) => text.extend(bytes),
                LineText::TooLong(_) => text.overflow(),
            }
            if nesting.in_string || depth <= 0 {
                break nesting.in_string;
            }
            let Some(next) = self.next_line()? else { break true };
            if next.begins_with_object() && !last.lets_object_follow() {
                self.ahead.push(next);
                break true;
            }
            has_object |= next.is_object();
            // Blank lines inside a document keep their place, so that errors name the right line.
            (last.position.line..next.position.line).for_each(|_| text.extend(b"\n"));
            last = next;
        };
        let text = text.finish();
        if let Text::Whole(bytes) = &text
            && broken
            && has_object
        {
            self.take_apart(position, bytes);
            return self.next_document();
        }
        if last.position.line > position.line {
            self.shape = Shape::Documents;
        }
        Ok(Some(Input { position, text }))
    }

    /// Puts the lines of what was no document back, to be taken one by one.
    fn take_apart(&mut self, position: TextPosition, text: &[u8]) {
        let ahead = self.ahead.len();
        for (index, bytes) in
            text.split(|&byte| byte == b'\n').enumerate().collect::<Vec<_>>().into_iter().rev()
        {
            if !bytes.trim_ascii().is_empty() {
                let column = if index == 0 { position.column } else { 1 };
                let position = TextPosition { line: position.line + index, column, ..position };
                self.ahead.push(Line { position, text: LineText::Whole(bytes.to_vec()) });
            }
        }
        self.single = self.ahead.len() - ahead;
    }

    /// The bytes up to the next comma, or the closing bracket, of the array.
    fn next_element(&mut self) -> io::Result<Option<Input>> {
        if self.array_end.is_some() {
            return Ok(None);
        }
        let first = self.skip_blanks()?;
        if first == Some(b']') && self.elements == 0 {
            self.take_byte(b']');
            return self.close_array();
        }
        if first.is_none() && self.elements == 0 {
            self.array_end = Some(ArrayEnd::Missing);
            return Ok(None);
        }
        let position = TextPosition { index: Some(self.elements), ..self.next };
        let mut text = Collector::new(self.max);
        let mut nesting = Nesting::default();
        let separator = loop {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                break None;
            }
            let end = bytes.iter().position(|&byte| {
                let separates = !nesting.open() && matches!(byte, b',' | b']');
                if !separates {
                    nesting.step(byte);
                    self.next.advance(byte);
                }
                separates
            });
            let taken = end.unwrap_or(bytes.len());
            let (element, rest) = bytes.split_at(taken);
            text.extend(element);
            let separator = rest.first().copied();
            self.reader.consume(taken);
            if let Some(separator) = separator {
                self.take_byte(separator);
                break Some(separator);
            }
        };
        self.elements += 1;
        match separator {
            Some(b',') => {}
            Some(_) => {
                self.close_array()?;
            }
            None => self.array_end = Some(ArrayEnd::Missing),
        }
        Ok(Some(Input { position, text: text.finish() }))
    }

    fn close_array(&mut self) -> io::Result<Option<Input>> {
        let followed = self.skip_blanks()?.is_some();
        self.array_end = Some(if followed { ArrayEnd::Followed } else { ArrayEnd::Closed });
        Ok(None)
    }

    /// Skips white space and returns the byte after it, which is not taken.
    fn skip_blanks(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.reader.fill_buf()?.first().copied() {
                Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) => self.take_byte(byte),
                other => return Ok(other),
            }
        }
    }

    fn take_byte(&mut self, byte: u8) {
        self.reader.consume(1);
        self.next.advance(byte);
    }
}

/// Collects the bytes of one input up to a limit; beyond it, it lets go of what it has.
struct Collector {
    bytes: Vec<u8>,
    max: usize,
    overflowed: bool,
}

impl Collector {
    fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, overflowed: false }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.overflowed || self.bytes.len() + bytes.len() > self.max {
            self.overflow();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn overflow(&mut self) {
        self.overflowed = true;
        self.bytes = Vec::new();
    }

    fn finish(self) -> Text {
        if self.overflowed { Text::TooLong } else { Text::Whole(self.bytes) }
    }
}
