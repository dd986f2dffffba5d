//! Cutting a stream of bytes into messages: one a line.
//!
//! Framing is on bytes, so that a character cut in two by a read does not matter. A line that has no end when the stream ends
//! is a message too: what a dying server wrote goes on as it is.

use memchr::memchr;

use crate::message::{Ids, LooseId};

/// The longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'f> {
    /// A message with the newline that ends it, if one does.
    Message(&'f [u8]),
    /// The end of a message that is too long. Its bytes are gone.
    TooLarge(Oversized),
}

/// What is known of a message that was not kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Oversized {
    /// The ids that stood in it, as they were written.
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

/// What is kept of the room that a long message took, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// A stream that is cut into messages. One that comes in one piece is not copied.
#[derive(Debug)]
pub struct Frames {
    /// The message that has not ended yet.
    line: Vec<u8>,
    bytes_max: usize,
    /// The message is too long, and only looked at for its ids.
    drained: Option<Ids>,
}

impl Default for Frames {
    fn default() -> Self {
        Self::new(MESSAGE_BYTES_MAX)
    }
}

impl Frames {
    /// A stream whose messages may have so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self { line: Vec::new(), bytes_max, drained: None }
    }

    /// Takes bytes as they come, and gives the messages that end in them.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            if self.line.is_empty() && self.drained.is_none() && line.len() <= self.bytes_max {
                each(Frame::Message(line));
            } else {
                self.extend(line);
                self.give(&mut each);
            }
            rest = after;
        }
        self.extend(rest);
    }

    /// Gives what is left when the stream ends.
    pub fn finish(mut self, mut each: impl FnMut(Frame<'_>)) {
        if self.drained.is_some() || !self.line.is_empty() {
            self.give(&mut each);
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

    fn give(&mut self, each: &mut impl FnMut(Frame<'_>)) {
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

    /// The messages, or what is known of those that were too long.
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
    fn however_a_stream_is_cut_its_messages_are_the_same() {
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
