//! Numbers with a fixed format: social security numbers, phone numbers, IPv4 addresses.

use core::net::Ipv4Addr;

use crate::gates::escape::escape_before;
use crate::gates::scan::{before, is_word};

/// The longest run of digits that matters: a card has up to 19.
const RUN_MAX: usize = 20;

/// Returns the number of digits at a position, at most 20.
pub(super) fn digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(RUN_MAX).take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether a word ends here, like `\b` after a word byte.
fn ends(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).copied().is_some_and(is_word)
}

/// Returns whether a word may begin here, like `\b` in front of a word byte. A word also begins after an escape that
/// ends in a letter.
fn begins(bytes: &[u8], at: usize) -> bool {
    !before(bytes, at).is_some_and(is_word) || escape_before(bytes, at).is_some()
}

/// Returns whether a social security number begins with the three digits here.
pub(super) fn is_ssn(bytes: &[u8], at: usize) -> bool {
    let Some(&[a0, a1, a2, b'-', g0, g1, b'-', s0, s1, s2, s3]) =
        bytes.get(at..).and_then(<[u8]>::first_chunk)
    else {
        return false;
    };
    let (area, group, serial) = ([a0, a1, a2], [g0, g1], [s0, s1, s2, s3]);
    let all_digits = area.iter().chain(&group).chain(&serial).all(u8::is_ascii_digit);
    let issued = area != *b"000" && area != *b"666" && a0 != b'9' && group != *b"00" && serial != *b"0000";
    all_digits && issued && begins(bytes, at) && ends(bytes, at + 11)
}

/// The length of a social security number.
pub(super) const SSN_BYTES: usize = "123-45-6789".len();

/// Returns whether the three digits here are the middle of a phone number.
///
/// The check starts in the middle, because it is the only group with fixed text on both sides: after it a separator
/// and four digits, before it a separator, an optional bracket and the area code. What the pattern allows in front of
/// the area code matters only if the area code does not begin a word: then the country code 1 has to be there.
pub(super) fn is_phone_middle(bytes: &[u8], at: usize) -> bool {
    let last = at + 4;
    if !separates(bytes.get(at + 3)) || digits(bytes, last) != 4 || !ends(bytes, last + 4) {
        return false;
    }
    let Some(separator) = at.checked_sub(1).filter(|position| separates(bytes.get(*position))) else {
        return false;
    };
    let end = if before(bytes, separator) == Some(b')') { separator - 1 } else { separator };
    let Some(start) = end.checked_sub(3) else { return false };
    let area = bytes.get(start..end).unwrap_or_default();
    if !area.iter().all(u8::is_ascii_digit) || !matches!(area.first(), Some(b'2'..=b'9')) {
        return false;
    }
    begins(bytes, start) || before(bytes, start) == Some(b'1') && begins(bytes, start - 1)
}

fn separates(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'-' | b'.' | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c))
}

/// Returns the start and end of the phone number whose middle is here, including country code, bracket and plus sign.
pub(super) fn phone_span(bytes: &[u8], at: usize) -> (usize, usize) {
    let bracket = usize::from(at.checked_sub(2).is_some_and(|position| bytes.get(position) == Some(&b')')));
    let mut start = at.saturating_sub("212-".len() + bracket);
    let opens = |start: usize| matches!(before(bytes, start), Some(b'(' | b'+'));
    start -= usize::from(opens(start));
    let country =
        start - usize::from(separates(start.checked_sub(1).and_then(|position| bytes.get(position))));
    if before(bytes, country) == Some(b'1') && begins(bytes, country - 1) {
        start = country - 1;
        start -= usize::from(opens(start));
    }
    (start - usize::from(opens(start)), at + "555-0123".len())
}

/// Returns the end of the public IPv4 address that begins with the digits here.
pub(super) fn public_ipv4_end(bytes: &[u8], at: usize) -> Option<usize> {
    if !begins(bytes, at) || before(bytes, at) == Some(b'.') {
        return None;
    }
    let (mut octets, mut next) = ([0; 4], at);
    for (index, octet) in octets.iter_mut().enumerate() {
        if index > 0 {
            if bytes.get(next) != Some(&b'.') {
                return None;
            }
            next += 1;
        }
        let end = next + digits(bytes, next);
        let text =
            bytes.get(next..end).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default();
        let padded = text.len() > 1 && text.starts_with('0');
        match text.parse() {
            Ok(number) if !padded => *octet = number,
            _ => return None,
        }
        next = end;
    }
    let goes_on = bytes.get(next) == Some(&b'.') && bytes.get(next + 1).is_some_and(u8::is_ascii_digit);
    (ends(bytes, next) && !goes_on && is_public(octets.into())).then_some(next)
}

/// Returns whether an address is public: not private, shared, local, multicast, or for documentation or benchmarks.
fn is_public(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved =
        matches!((a, b, c), (0 | 240.., ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _));
    !(reserved
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}
