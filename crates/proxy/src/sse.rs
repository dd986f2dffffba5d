//! Cuts a stream of bytes into server-sent events.
//!
//! An event ends with an empty line; lines end with LF, CR or CRLF. An event that ends with CRLF is complete at the CR, because a LF may
//! never follow. If a LF follows, it is a piece of its own.

mod parts;

use crate::framing::{MESSAGE_BYTES_MAX, Oversized};
use crate::message::Ids;
pub(crate) use parts::{Parts, event_of};

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An event with its final empty line, if it has one; or the LF of a CRLF that ended the previous event.
    Whole(Vec<u8>),
    /// An event that was too long to keep, with its lines that are not data.
    TooLarge(Oversized, Vec<u8>),
}

/// Cuts a stream into events.
#[derive(Debug)]
pub(crate) struct Events {
    event: Vec<u8>,
    /// Start of the current line in `event`.
    line: usize,
    /// Whether the last byte was a CR. A LF after it belongs to the same line end.
    after_cr: bool,
    bytes_max: usize,
    /// Set if the current event is too long.
    drained: Option<Drained>,
}

/// An event that is too long. Its data is dropped.
#[derive(Debug, Default)]
struct Drained {
    ids: Ids,
    /// The lines that are not data.
    others: Vec<u8>,
    /// The beginning of the current line. It stops growing at `data:`, whose value only goes to `ids`.
    head: Vec<u8>,
}

impl Default for Events {
    fn default() -> Self {
        Self::new(MESSAGE_BYTES_MAX)
    }
}

impl Events {
    /// Creates a stream with a maximum length of events.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { event: Vec::new(), line: 0, after_cr: false, bytes_max, drained: None }
    }

    /// Adds bytes, and calls `each` for the events that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Event)) {
        for byte in bytes {
            if self.next(*byte) {
                each(self.take());
            }
        }
    }

    /// Returns the unfinished event at the end of the stream.
    pub(crate) fn finish(mut self) -> Option<Event> {
        (self.drained.is_some() || !self.event.is_empty()).then(|| self.take())
    }

    /// Adds a byte. Returns whether an event ends with it.
    fn next(&mut self, byte: u8) -> bool {
        let ends_line = match byte {
            b'\n' if self.after_cr => {
                // The second half of a CRLF.
                self.after_cr = false;
                // If the event ended at the CR, the LF must be passed on now, because the client may wait for it.
                let ends_event = self.event.is_empty() && self.drained.is_none();
                self.event.push(byte);
                self.line = self.event.len();
                return ends_event;
            }
            b'\n' | b'\r' => true,
            _ => false,
        };
        self.after_cr = byte == b'\r';
        let is_empty = self.line == self.event.len()
            && self.drained.as_ref().is_none_or(|drained| drained.head.is_empty());
        self.event.push(byte);
        if ends_line {
            self.drained_line();
            self.line = self.event.len();
            // Empty lines before an event do not end it.
            let has_line = || self.event.iter().any(|byte| !matches!(byte, b'\r' | b'\n'));
            return is_empty && (self.drained.is_some() || has_line());
        }
        if let Some(drained) = &mut self.drained {
            drained.byte(byte);
            self.event.pop();
            self.line = self.event.len();
        } else if self.event.len() > self.bytes_max {
            self.drain();
        }
        false
    }

    /// Switches to dropping the current event.
    fn drain(&mut self) {
        let mut drained = Drained::default();
        let event = std::mem::take(&mut self.event);
        for line in lines(&event) {
            for byte in line {
                drained.byte(*byte);
            }
            if line.ends_with(b"\n") || line.ends_with(b"\r") {
                drained.line_ends();
            }
        }
        self.line = 0;
        self.drained = Some(drained);
    }

    fn drained_line(&mut self) {
        if let Some(drained) = &mut self.drained {
            drained.line_ends();
            self.event.clear();
        }
    }

    fn take(&mut self) -> Event {
        self.line = 0;
        let event = std::mem::take(&mut self.event);
        match self.drained.take() {
            None => Event::Whole(event),
            Some(mut drained) => {
                drained.line_ends();
                Event::TooLarge(drained.ids.finish(), drained.others)
            }
        }
    }
}

impl Drained {
    /// Maximum length that is kept of a line that is not data.
    const OTHER_BYTES_MAX: usize = 4096;

    fn byte(&mut self, byte: u8) {
        if matches!(byte, b'\r' | b'\n') {
            return;
        }
        if self.head.starts_with(b"data:") {
            self.ids.push(&[byte]);
        } else if self.head.len() < Self::OTHER_BYTES_MAX {
            self.head.push(byte);
        }
    }

    fn line_ends(&mut self) {
        let head = std::mem::take(&mut self.head);
        if !head.starts_with(b"data") && !head.is_empty() {
            self.others.extend(head);
            self.others.push(b'\n');
        }
    }
}

/// Splits an event into lines, each with its line end.
fn lines(event: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut rest) = (Vec::new(), event);
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).map_or(rest.len(), |end| {
            if rest.get(end..end + 2) == Some(b"\r\n") { end + 2 } else { end + 1 }
        });
        let (line, after) = rest.split_at(end);
        lines.push(line);
        rest = after;
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(parts: &[&[u8]], bytes_max: usize) -> Vec<Event> {
        let mut events = Events::new(bytes_max);
        let mut found = Vec::new();
        for part in parts {
            events.push(part, |event| found.push(event));
        }
        found.extend(events.finish());
        found
    }

    #[test]
    fn events_do_not_depend_on_how_the_stream_is_cut_and_no_byte_is_lost() {
        for (stream, count) in [
            (
                "id: 1\ndata: {\"a\":\"é\"}\n\n: ping\n\nevent: message\r\ndata: x\r\n\r\ndata: y\r\rdata: cut",
                6,
            ),
            ("\n\n\ndata: a\n\n", 3),
            ("data: a\r\n\r\n\r\ndata: b\n\n", 3),
            ("", 0),
        ] {
            let stream = stream.as_bytes();
            let whole = cut(&[stream], 1000);
            assert!(whole.len() <= count, "{whole:?}");
            for first in 0..=stream.len() {
                let parts = cut(&[&stream[..first], &stream[first..]], 1000);
                assert_eq!(parts, whole, "cut at {first}");
                let bytes: Vec<u8> = parts
                    .into_iter()
                    .flat_map(|event| if let Event::Whole(bytes) = event { bytes } else { panic!() })
                    .collect();
                assert_eq!(bytes, stream);
            }
        }
    }

    #[test]
    fn an_event_is_passed_on_at_once_whatever_its_line_ends() {
        for stream in ["data: a\n\n", "data: a\r\n\r\n", "data: a\r\r"] {
            let (mut events, mut left) = (Events::default(), Vec::new());
            events.push(stream.as_bytes(), |event| {
                if let Event::Whole(bytes) = event {
                    left.extend(bytes);
                }
            });
            assert_eq!(left, stream.as_bytes(), "nothing is held back until the next event");
        }
    }

    #[test]
    fn the_ids_of_an_event_that_is_too_long_are_found() {
        let long = format!("id: e7\ndata: {{\"id\":5,\"result\":\"{}\"}}\n\ndata: next\n\n", "x".repeat(200));
        for first in 0..=long.len() {
            let found = cut(&[&long.as_bytes()[..first], &long.as_bytes()[first..]], 60);
            let [Event::TooLarge(oversized, others), Event::Whole(next)] = &found[..] else {
                panic!("{found:?}")
            };
            assert_eq!(
                (oversized.ids.as_slice(), others.as_slice()),
                (&["5".to_owned()][..], &b"id: e7\n"[..])
            );
            assert_eq!(next, b"data: next\n\n");
        }
    }

    proptest! {
        #[test]
        fn any_stream_may_be_cut_anywhere(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "data", ":", " ", "\n", "\r", "\r\n", "\n\n", "id: 7", "event: message", "{\"id\":1,", "\"result\":{}}", "\u{feff}", "é", "x",
            ]), 0..40),
            lengths in prop::collection::vec(1..9_usize, 1..6),
            bytes_max in prop::sample::select(vec![5, 20, 1000]),
        ) {
            let stream = pieces.concat().into_bytes();
            let mut parts = Vec::new();
            let (mut rest, mut lengths) = (stream.as_slice(), lengths.iter().cycle());
            while !rest.is_empty() {
                let (part, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
                parts.push(part);
                rest = after;
            }
            let whole = cut(&[&stream], bytes_max);
            prop_assert_eq!(&cut(&parts, bytes_max), &whole);
            if bytes_max > stream.len() {
                let bytes = whole.into_iter().flat_map(|event| if let Event::Whole(bytes) = event { bytes } else { Vec::new() });
                prop_assert_eq!(bytes.collect::<Vec<u8>>(), stream);
            }
        }
    }
}
