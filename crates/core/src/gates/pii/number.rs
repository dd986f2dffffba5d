//! Numbers of a fixed shape: social security, telephone, IPv4.

use core::net::Ipv4Addr;

use crate::gates::escape::escape_before;
use crate::gates::scan::{before, is_word};

/// The longest run of digits that matters: a card has up to 19.
const RUN_MAX: usize = 20;

/// How many digits stand here, at most 20.
pub(super) fn digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(RUN_MAX).take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether a word ends here, as `\b` after a word byte says.
fn ends(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).copied().is_some_and(is_word)
}

/// Whether a word may begin here, as `\b` before a word byte says. One also begins after an escape that ends in a letter.
fn begins(bytes: &[u8], at: usize) -> bool {
    !before(bytes, at).is_some_and(is_word) || escape_before(bytes, at).is_some()
}

/// Whether a social security number begins with the three digits here.
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

/// Whether the three digits here are the middle of a telephone number.
///
/// From the middle, because it is the only group whose neighbours are both fixed: a separator and four digits after it,
/// a separator, perhaps a bracket and the area code before it. What the pattern allows before the area code matters
/// only where that is not the beginning of a word: then it has to be the country's 1.
pub(super) fn is_phone_middle(bytes: &[u8], at: usize) -> bool {
    let last = at + 4;
    if !separates(bytes.get(at + 3)) || digits(bytes, last) != 4 || !ends(bytes, last + 4) {
        return false;
    }
    let Some(separator) = at.checked_sub(1).filter(|place| separates(bytes.get(*place))) else {
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

/// Where the telephone number begins and ends whose middle is here, with the country's 1, a bracket and a plus before it.
pub(super) fn phone_span(bytes: &[u8], at: usize) -> (usize, usize) {
    let bracket = usize::from(at.checked_sub(2).is_some_and(|place| bytes.get(place) == Some(&b')')));
    let mut start = at.saturating_sub("212-".len() + bracket);
    let opens = |start: usize| matches!(before(bytes, start), Some(b'(' | b'+'));
    start -= usize::from(opens(start));
    let country = start - usize::from(separates(start.checked_sub(1).and_then(|place| bytes.get(place))));
    if before(bytes, country) == Some(b'1') && begins(bytes, country - 1) {
        start = country - 1;
        start -= usize::from(opens(start));
    }
    (start - usize::from(opens(start)), at + "555-0123".len())
}

/// Where the public address ends that begins with the digits here.
pub(super) fn public_ipv4_end(bytes: &[u8], at: usize) -> Option<usize> {
    if !begins(bytes, at) || before(bytes, at) == Some(b'.') {
        return None;
    }
    let (mut octets, mut next) = ([0; 4], at);
    for (place, octet) in octets.iter_mut().enumerate() {
        if place > 0 {
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

/// Whether an address belongs to somebody: not private, shared, local, for documentation, benchmarks or several hosts.
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
