//! International bank account numbers: a registered country and its length, mod 97 = 1, only one letter case, compact
//! or in groups of four.

use crate::gates::escape::escape_before;
use crate::gates::scan::before;

/// The registered countries and the lengths of their numbers.
const COUNTRIES: [(&[u8; 2], usize); 89] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// Returns the start and end of the number whose check digits are here.
pub(super) fn span_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at.checked_sub(2)?;
    let [first, second] = bytes.get(start..).and_then(<[u8]>::first_chunk)?;
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    let inside = before(bytes, start).is_some_and(|byte| byte.is_ascii_alphanumeric());
    if inside && escape_before(bytes, start).is_none() || !country.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let row = COUNTRIES.binary_search_by_key(&&country, |(code, _)| code).ok()?;
    let (_, length) = COUNTRIES.get(row)?;
    let rest = bytes.get(start..).unwrap_or_default();
    // In groups of four there is a blank after each group but the last.
    let written = [(compact(rest, *length), *length), (in_fours(rest, *length), length + (length - 1) / 4)];
    let valid = written.into_iter().find(|(number, _)| number.as_deref().is_some_and(is_valid));
    valid.map(|(_, bytes)| (start, start + bytes))
}

fn compact(text: &[u8], length: usize) -> Option<Vec<u8>> {
    ends(text, length).then(|| text.get(..length).map(<[u8]>::to_vec))?
}

/// Returns the number without the blank after every fourth character.
fn in_fours(text: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut number = Vec::with_capacity(length);
    let mut rest = text;
    loop {
        let (group, after) = rest.split_at_checked((length - number.len()).min(4))?;
        number.extend_from_slice(group);
        if number.len() == length {
            return ends(after, 0).then_some(number);
        }
        rest = after.strip_prefix(b" ")?;
    }
}

fn ends(text: &[u8], at: usize) -> bool {
    !text.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

fn is_valid(number: &[u8]) -> bool {
    let written = number.iter().all(u8::is_ascii_alphanumeric)
        && !(number.iter().any(u8::is_ascii_lowercase) && number.iter().any(u8::is_ascii_uppercase));
    let check_digits = number.get(2..4).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
    // Country and check digits come last, and a letter counts as two digits: A is 10.
    let (head, tail) = number.split_at_checked(4).unwrap_or_default();
    let remainder = tail.iter().chain(head).fold(0_u32, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        letter => (remainder * 100 + u32::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 10) % 97,
    });
    written && check_digits && remainder == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_sorted_and_lengths_are_possible() {
        assert!(COUNTRIES.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(COUNTRIES.iter().all(|(_, length)| (15..=34).contains(length)));
    }
}
