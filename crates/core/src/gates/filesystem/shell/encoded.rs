//! `-EncodedCommand` of PowerShell: base64 of little-endian UTF-16.

/// Decodes the text. Padding may be missing. Returns `None` if the text is not base64.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        bits = (bits << 6 | sextet(byte)?) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .filter_map(|pair| Some(u16::from_le_bytes([*pair.first()?, *pair.get(1)?])))
        .collect();
    Some(String::from_utf16_lossy(&units))
}

fn sextet(byte: u8) -> Option<u32> {
    let of = |from: u8, base: u32| Some(u32::from(byte - from) + base);
    match byte {
        b'A'..=b'Z' => of(b'A', 0),
        b'a'..=b'z' => of(b'a', 26),
        b'0'..=b'9' => of(b'0', 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_commands_are_decoded() {
        for (text, expected) in [
            ("ZABpAHIA", Some("dir")),
            ("cgBtACAALQByAA==", Some("rm -r")),
            ("cgBtACAALQByAA", Some("rm -r")),
            ("", Some("")),
            ("not base64", None),
        ] {
            assert_eq!(decoded(text).as_deref(), expected, "{text}");
        }
    }
}
