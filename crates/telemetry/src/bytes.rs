//! The byte encoding of numbers, times and texts in stored data.
//!
//! | value | bytes |
//! |---|---|
//! | whole number | varint: seven bits per byte, the high bit set in all bytes but the last |
//! | optional number | varint of the number plus 1; 0 if absent |
//! | time | nanoseconds since 1970, eight bytes, little endian |
//! | text | length as a varint, then UTF-8 |
//! | optional time or text | one byte, 0 or 1, then the value if it is 1 |

use renown_core::time::Timestamp;

/// An error: the bytes are not valid stored data.
pub(crate) struct Unreadable;

pub(crate) type Read<T> = Result<T, Unreadable>;

pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn varint(&mut self, mut number: u128) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }

    /// Writes the number plus 1, or 0 for `None`.
    pub(crate) fn optional_number(&mut self, number: Option<u64>) {
        self.varint(number.map_or(0, |number| u128::from(number) + 1));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.varint(text.len() as u128);
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        self.0.push(text.is_some().into());
        if let Some(text) = text {
            self.text(text);
        }
    }

    pub(crate) fn optional_time(&mut self, time: Option<Timestamp>) {
        self.0.push(time.is_some().into());
        if let Some(time) = time {
            self.0.extend(time.nanos().to_le_bytes());
        }
    }
}

#[cfg(test)]
impl Writer {
    /// Returns the bytes of one varint.
    pub(crate) fn of(number: u128) -> Vec<u8> {
        let mut bytes = Self(Vec::new());
        bytes.varint(number);
        bytes.0
    }
}

pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.0.split_first().ok_or(Unreadable)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn varint(&mut self) -> Read<u128> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Unreadable)
    }

    pub(crate) fn number(&mut self) -> Read<u64> {
        u64::try_from(self.varint()?).map_err(|_| Unreadable)
    }

    pub(crate) fn optional_number(&mut self) -> Read<Option<u64>> {
        match self.varint()? {
            0 => Ok(None),
            number => u64::try_from(number - 1).map(Some).map_err(|_| Unreadable),
        }
    }

    pub(crate) fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Unreadable),
        }
    }

    pub(crate) fn time(&mut self) -> Read<Timestamp> {
        let (nanos, rest) = self.0.split_first_chunk().ok_or(Unreadable)?;
        self.0 = rest;
        Timestamp::from_nanos(i64::from_le_bytes(*nanos)).map_err(|_| Unreadable)
    }

    pub(crate) fn text(&mut self) -> Read<&'a str> {
        let length = usize::try_from(self.varint()?).map_err(|_| Unreadable)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Unreadable)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Unreadable)
    }

    /// Reads an index and returns the list's element at this index.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> Read<T> {
        all.get(usize::from(self.byte()?)).copied().ok_or(Unreadable)
    }

    /// Reads a flag, and the value after it if the flag is set.
    pub(crate) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }
}
