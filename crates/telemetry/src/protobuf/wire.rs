//! The part of protobuf's wire format that OTLP uses. Reads one field after the other and copies nothing.

use super::BodyError;

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
}

/// An iterator over the fields of a message and their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// Returns the next field, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, BodyError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(*self.array::<8>()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| BodyError::Truncated)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(BodyError::Truncated)?;
                self.rest = rest;
                Field::Bytes(bytes)
            }
            5 => {
                self.array::<4>()?;
                Field::Fixed32
            }
            _ => return Err(BodyError::WireType),
        };
        match tag >> 3 {
            0 => Err(BodyError::WireType),
            number => Ok(Some((number, field))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], BodyError> {
        let (array, rest) = self.rest.split_first_chunk::<N>().ok_or(BodyError::Truncated)?;
        self.rest = rest;
        Ok(array)
    }

    /// Reads a varint: seven bits per byte, the lowest bits first, at most ten bytes.
    fn varint(&mut self) -> Result<u64, BodyError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(BodyError::Truncated)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(BodyError::WireType)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_one_by_one() {
        let bytes = [0x08, 0xac, 0x02, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x1a, 2, b'h', b'i', 0x25, 0, 0, 0, 0];
        let mut fields = Fields::new(&bytes);
        let mut found = Vec::new();
        while let Some(field) = fields.next().unwrap() {
            found.push(field);
        }
        let expected =
            [(1, Field::Varint(300)), (2, Field::Fixed64(1)), (3, Field::Bytes(b"hi")), (4, Field::Fixed32)];
        assert_eq!(found, expected);
    }

    #[test]
    fn truncated_and_invalid_fields_are_errors() {
        for (bytes, error) in [
            (&[0x08][..], BodyError::Truncated),
            (&[0x08, 0x80], BodyError::Truncated),
            (&[0x11, 1, 2], BodyError::Truncated),
            (&[0x1a, 5, b'h'], BodyError::Truncated),
            (&[0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], BodyError::Truncated),
            (&[0x0b], BodyError::WireType),
            (&[0x00, 0x00], BodyError::WireType),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], BodyError::WireType),
        ] {
            assert_eq!(Fields::new(bytes).next(), Err(error), "{bytes:?}");
        }
    }
}
