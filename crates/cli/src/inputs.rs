//! Splits a stream of JSON into inputs, and holds only one of them in memory.
//!
//! | first characters | shape | one input |
//! |---|---|---|
//! | `[` | [`Shape::Array`] | an element |
//! | a line that closes every bracket it opens | [`Shape::Lines`] | a line |
//! | a line that does not | [`Shape::Documents`] | the lines up to the one that closes the last bracket |
//!
//! The splitter only follows strings and brackets; the reader of an input checks whether it is valid JSON. So an invalid input
//! is split off like any other, and the inputs after it are still read. A document is broken if a line ends inside a string, or
//! if the next line begins an object where JSON does not allow one. If some lines of a broken document are complete objects, it
//! was a broken line of JSON Lines, and each of its lines is one input.
//!
//! The result does not depend on how the bytes arrive (all at once, or one at a time).

mod line;
mod nesting;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Chain, Cursor, Read};

use line::{Line, LineText};
use nesting::Nesting;
use renown_core::limits;

/// The layout of the inputs in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One input per line.
    Lines,
    /// Inputs that span several lines.
    Documents,
    /// One array of inputs.
    Array,
}

/// One input: its position, and its text unless that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) position: TextPosition,
    pub(crate) text: Text,
}

/// The start of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in bytes, from 1.
    pub(crate) column: usize,
    /// The index in the array, from 0, or `None` outside an array.
    pub(crate) index: Option<usize>,
}

impl TextPosition {
    /// Moves on by one byte.
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
    /// Longer than [`limits::INPUT_BYTES_MAX`]; skipped without holding it in memory.
    TooLong,
}

/// How the array of inputs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayEnd {
    /// With `]`, and nothing follows.
    Closed,
    /// The stream ends before its `]`.
    Missing,
    /// Something follows its `]`.
    Followed,
}

/// The inputs of a stream, one at a time.
pub(crate) struct Inputs<R> {
    /// The stream, preceded by the bytes that were read to find a byte order mark.
    reader: Chain<Cursor<Vec<u8>>, R>,
    shape: Shape,
    /// The position of the next byte.
    next: TextPosition,
    /// Lines that were read ahead, in reverse order.
    ahead: Vec<Line>,
    /// How many of them are single inputs.
    single: usize,
    /// The input that was read to detect the shape.
    first: Option<Input>,
    /// Elements read so far.
    elements: usize,
    /// How the array ended, or `None` before its end.
    array_end: Option<ArrayEnd>,
    max: usize,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: BufRead> Inputs<R> {
    /// Reads enough of the stream to detect its shape.
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

    /// Returns how the array ended, or `None` before its end and for other shapes.
    pub(crate) fn array_end(&self) -> Option<ArrayEnd> {
        self.array_end
    }

    /// Returns the stream, so that the caller can check its buffer.
    pub(crate) fn reader(&self) -> &R {
        self.reader.get_ref().1
    }

    /// Returns the next input, or `None` at the end.
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

    /// Returns the next line that is not blank.
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

    /// Returns the lines up to the one that closes every bracket, or up to the break of a broken document.
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
            // Keep blank lines inside a document, so that errors have the right line number.
            (last.position.line..next.position.line).for_each(|_| text.extend(b"\n"));
            last = next;
        };
        let text = text.finish();
        if let Text::Whole(bytes) = &text
            && broken
            && has_object
        {
            self.split_lines(position, bytes);
            return self.next_document();
        }
        if last.position.line > position.line {
            self.shape = Shape::Documents;
        }
        Ok(Some(Input { position, text }))
    }

    /// Puts the lines of a broken document back, as single inputs.
    fn split_lines(&mut self, position: TextPosition, text: &[u8]) {
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

    /// Returns the bytes up to the next comma or the closing bracket of the array.
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

    /// Skips white space. Returns the next byte without consuming it.
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

/// Collects the bytes of one input up to a limit. Drops them if the limit is exceeded.
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
