//! Bytes as lower-case hexadecimal text.

/// The text of bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The bytes of a text, if it is just as it would be written: no signs, no upper case, no half bytes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    bytes.collect::<Option<_>>().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_went() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(encode(&[0, 9, 10, 255]), "00090aff");
        for refused in ["0", "0A", "+1", "0g", " 0", "00 "] {
            assert_eq!(decode(refused), None, "{refused}");
        }
    }
}
