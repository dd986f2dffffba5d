//! Cuts a stream of bytes into messages, one per line.
//!
//! Framing works on bytes, so it does not matter if a read cuts a character in two. An unfinished line at the end of the stream is a
//! message too: the last output of a server that crashed is passed on.

use memchr::memchr;

use crate::message::{Ids, LooseId};

/// Maximum length of a message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'f> {
    /// A message with its newline, if it has one.
    Message(&'f [u8]),
    /// The end of a message that is too long. Its bytes were dropped.
    TooLarge(Oversized),
}

/// What is known about a message that was too long to keep.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Oversized {
    /// Ids in the message, as they were written.
    pub ids: Vec<String>,
    /// Whether it was a request or a notification.
    pub is_request: bool,
    /// Whether it had a result or an error.
    pub is_answer: bool,
}

impl Oversized {
    pub(crate) fn loose_ids(&self) -> impl Iterator<Item = LooseId> {
        self.ids.iter().filter_map(|id| LooseId::of(id))
    }
}

/// Capacity of the buffer that is kept after a long message, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Cuts a stream into messages. A message that arrives in one piece is not copied.
#[derive(Debug)]
pub struct Frames {
    /// The beginning of the current message.
    line: Vec<u8>,
    bytes_max: usize,
    /// Set if the current message is too long. Then only its ids are collected.
    drained: Option<Ids>,
}

impl Default for Frames {
    fn default() -> Self {
        Self::new(MESSAGE_BYTES_MAX)
    }
}

impl Frames {
    /// Creates a framing with a maximum length of messages.
    pub fn new(bytes_max: usize) -> Self {
        Self { line: Vec::new(), bytes_max, drained: None }
    }

    /// Adds bytes, and calls `each` for the messages that end in them.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            if self.line.is_empty() && self.drained.is_none() && line.len() <= self.bytes_max {
                each(Frame::Message(line));
            } else {
                self.extend(line);
                self.emit(&mut each);
            }
            rest = after;
        }
        self.extend(rest);
    }

    /// Calls `each` for the unfinished message at the end of the stream.
    pub fn finish(mut self, mut each: impl FnMut(Frame<'_>)) {
        if self.drained.is_some() || !self.line.is_empty() {
            self.emit(&mut each);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if let Some(ids) = &mut self.drained {
            return ids.push(bytes);
        }
        if self.line.len() + bytes.len() <= self.bytes_max {
            return self.line.extend_from_slice(bytes);
        }
        let mut ids = Ids::default();
        ids.push(&std::mem::take(&mut self.line));
        ids.push(bytes);
        self.drained = Some(ids);
    }

    fn emit(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        match self.drained.take() {
            None => each(Frame::Message(&self.line)),
            Some(ids) => each(Frame::TooLarge(ids.finish())),
        }
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the messages of a stream that arrives in parts, or what is known about those that are too long.
    fn cut(parts: &[&[u8]], bytes_max: usize) -> Vec<Result<Vec<u8>, Oversized>> {
        let mut frames = Frames::new(bytes_max);
        let mut found = Vec::new();
        let mut add = |frame: Frame<'_>| {
            found.push(match frame {
                Frame::Message(bytes) => Ok(bytes.to_vec()),
                Frame::TooLarge(message) => Err(message),
            });
        };
        for part in parts {
            frames.push(part, &mut add);
        }
        frames.finish(add);
        found
    }

    #[test]
    fn messages_do_not_depend_on_how_the_stream_is_cut() {
        let stream =
            "{\"id\":1}\n\n  {\"é\":\"日本\"}\r\nnot json\n{\"id\":22222222222222222222222222}\n{\"cut"
                .as_bytes();
        let whole = cut(&[stream], 24);
        assert_eq!(whole.len(), 6);
        assert!(matches!(&whole[4], Err(found) if found.ids == ["22222222222222222222222222"]));
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let parts = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(cut(&parts, 24), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_message_has_a_limit() {
        assert_eq!(cut(&[b"12345\n"], 6), [Ok(b"12345\n".to_vec())]);
        assert_eq!(cut(&[b"123456\n1\n"], 6).len(), 2);
        assert!(matches!(cut(&[b"123456\n"], 6)[..], [Err(_)]));
        assert_eq!(cut(&[b""], 6), []);
    }
}
