//! Server-sent events, cut on bytes and put together again.
//!
//! An event ends with an empty line; lines end with LF, CR or CRLF. An event that ends with CRLF ends with its CR, since nobody knows
//! whether a LF will follow; that comes after it as a piece of its own.

mod parts;

use crate::framing::{MESSAGE_BYTES_MAX, Oversized};
use crate::message::Ids;
pub(crate) use parts::{Parts, event_of};

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An event with the empty line that ends it, if one does; or the LF of a CRLF that ended one.
    Whole(Vec<u8>),
    /// An event that was too long to be kept, with the lines of it that are no data.
    TooLarge(Oversized, Vec<u8>),
}

/// A stream that is cut into events.
#[derive(Debug)]
pub(crate) struct Events {
    event: Vec<u8>,
    /// Where the line begins that is being read.
    line: usize,
    /// Whether the last byte was a CR, which the next LF belongs to.
    after_cr: bool,
    bytes_max: usize,
    drained: Option<Drained>,
}

/// An event that is not kept.
#[derive(Debug, Default)]
struct Drained {
    ids: Ids,
    others: Vec<u8>,
    /// The beginning of the line that is being read, until it is known what it is.
    head: Vec<u8>,
}

impl Default for Events {
    fn default() -> Self {
        Self::new(MESSAGE_BYTES_MAX)
    }
}

impl Events {
    /// A stream whose events may have so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { event: Vec::new(), line: 0, after_cr: false, bytes_max, drained: None }
    }

    /// Takes bytes as they come, and gives the events that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Event)) {
        for byte in bytes {
            if self.next(*byte) {
                each(self.take());
            }
        }
    }

    /// What is left when the stream ends.
    pub(crate) fn finish(mut self) -> Option<Event> {
        (self.drained.is_some() || !self.event.is_empty()).then(|| self.take())
    }

    /// Takes a byte. True if an event ends with it.
    fn next(&mut self, byte: u8) -> bool {
        let ends_line = match byte {
            b'\n' if self.after_cr => {
                // The second half of a line end that is already known.
                self.after_cr = false;
                // An event has just ended, and its client waits for this.
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
            // An empty line at the very beginning ends nothing.
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

    /// From here on the event is not kept.
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
    /// The longest line beside data that is kept.
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

/// The lines of an event, each with its end.
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
    fn however_a_stream_is_cut_its_events_are_the_same_and_nothing_is_lost() {
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
    fn an_event_leaves_whole_whatever_its_lines_end_with() {
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
    fn an_event_that_is_too_long_is_known_by_its_ids() {
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
        fn any_stream_cut_anywhere(
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
