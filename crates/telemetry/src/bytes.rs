//! Numbers, times and texts in bytes, for what a store keeps.
//!
//! Whole numbers are varints (seven bits a byte, the last without the high bit), times nanoseconds in eight bytes, texts their length
//! and bytes, and what may be absent has a flag before it. Bytes that are something else are unreadable.

use renown_core::time::Timestamp;

/// The bytes are not what was written.
pub(crate) struct Unreadable;

pub(crate) type Read<T> = Result<T, Unreadable>;

pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn whole(&mut self, mut number: u128) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }

    /// A number that may be absent: one more than it is, or 0.
    pub(crate) fn maybe(&mut self, number: Option<u64>) {
        self.whole(number.map_or(0, |number| u128::from(number) + 1));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.whole(text.len() as u128);
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn maybe_text(&mut self, text: Option<&str>) {
        self.0.push(text.is_some().into());
        if let Some(text) = text {
            self.text(text);
        }
    }

    pub(crate) fn maybe_time(&mut self, time: Option<Timestamp>) {
        self.0.push(time.is_some().into());
        if let Some(time) = time {
            self.0.extend(time.nanos().to_le_bytes());
        }
    }
}

#[cfg(test)]
impl Writer {
    /// The bytes of one whole number.
    pub(crate) fn of(number: u128) -> Vec<u8> {
        let mut bytes = Self(Vec::new());
        bytes.whole(number);
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

    pub(crate) fn whole(&mut self) -> Read<u128> {
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
        u64::try_from(self.whole()?).map_err(|_| Unreadable)
    }

    pub(crate) fn maybe(&mut self) -> Read<Option<u64>> {
        match self.whole()? {
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
        let length = usize::try_from(self.whole()?).map_err(|_| Unreadable)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Unreadable)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Unreadable)
    }

    /// One of a list, by its number.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> Read<T> {
        all.get(usize::from(self.byte()?)).copied().ok_or(Unreadable)
    }

    /// Something that has a flag before it.
    pub(crate) fn if_there<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }
}
