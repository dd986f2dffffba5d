//! E-mail addresses: `[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}`.

use super::byline;
use crate::gates::scan::{Deadline, TimedOut, before, rfind_byte, run_end, run_start};
use crate::gates::text::Text;

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

/// Returns whether the `@` here belongs to an address. Neither side can contain another `@`, so no byte is read for
/// two of them.
pub(super) fn is_at(
    text: Text<'_>,
    at: usize,
    balanced: bool,
    deadline: &Deadline<'_>,
) -> Result<bool, TimedOut> {
    let bytes = text.text.as_bytes();
    if !before(bytes, at).is_some_and(is_local) {
        return Ok(false);
    }
    let end = run_end(bytes, at + 1, deadline, is_domain)?;
    let domain = top_level_end(bytes.get(at + 1..end).unwrap_or_default(), deadline)?;
    let Some(domain) = domain else { return Ok(false) };
    if !balanced {
        return Ok(true);
    }
    let start = run_start(bytes, at, deadline, is_local)?;
    let local = bytes.get(start..at).unwrap_or_default();
    let end = at + 1 + domain.len();
    deadline.spend(byline::COST)?;
    Ok(!is_no_person(local, domain, bytes.get(end)) && !byline::is_at(text, start, end))
}

/// Returns the start and end of the address whose `@` is here.
pub(super) fn span(bytes: &[u8], at: usize, deadline: &Deadline<'_>) -> Result<(usize, usize), TimedOut> {
    let start = run_start(bytes, at, deadline, is_local)?;
    let end = run_end(bytes, at + 1, deadline, is_domain)?;
    let domain = top_level_end(bytes.get(at + 1..end).unwrap_or_default(), deadline)?;
    Ok((start, at + 1 + domain.map_or(0, <[u8]>::len)))
}

/// Returns the longest prefix that ends in a dot and at least two letters, and has something in front of the dot.
fn top_level_end<'d>(domain: &'d [u8], deadline: &Deadline<'_>) -> Result<Option<&'d [u8]>, TimedOut> {
    let letters = |from: usize| {
        domain.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_alphabetic()).count()
    };
    let mut end = domain.len();
    while let Some(dot) = rfind_byte(domain, 1, end, b'.', deadline)? {
        let letters = letters(dot + 1);
        deadline.spend(8 + letters)?;
        if letters >= 2 {
            return Ok(domain.get(..=dot + letters));
        }
        end = dot;
    }
    Ok(None)
}

/// Longest address that is checked for not belonging to a person, in bytes.
const ADDRESS_BYTES_MAX: usize = 1024;

/// Returns whether an address belongs to no person, as many in the outputs of coding agents do.
fn is_no_person(local: &[u8], domain: &[u8], next: Option<&u8>) -> bool {
    if local.len() + domain.len() > ADDRESS_BYTES_MAX {
        return false;
    }
    let lower = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let (local, domain) = (lower(local), lower(domain));
    let remote = local == "git" && next == Some(&b':');
    let unread = |text: &str| text.contains("noreply") || text.contains("no-reply");
    let labels: Vec<&str> = domain.split('.').collect();
    let example = labels.iter().rev().skip(1).any(|label| *label == "example");
    remote || unread(&local) || unread(&domain) || example || labels.last() == Some(&"test")
}
