//! Payment card numbers.
//!
//! A card number has 13–19 digits, plain or with one kind of separator (blank, `-`). No letter, digit, `-` or decimal
//! point is next to it, but a fraction of zeros, `.0` or `.00`, may follow, as spreadsheets and floats print it.
//! Brand and length match, the Luhn check passes, and there are at least two different digits. Well-known test
//! numbers count.
//!
//! | brand begins with | digits |
//! |---|---|
//! | 4 | 13, 16, 19 |
//! | 51–55, 2221–2720, 35 | 16 |
//! | 34, 37, 1800, 2131 | 15 |
//! | 300–305, 309, 36, 38, 39 | 14 |
//! | 6011, 62, 644–649, 65 | 16–19 |
//! | 50, 56–58, 63, 67 | 13–19 |
//!
//! Groups separated by blanks may be part of a longer row, for example in front of an expiry date. Any grouping
//! counts if the whole row is the number; the groupings that are printed on cards count anywhere in a row. Otherwise
//! every tenth row of a table of numbers would be a card.

use super::number::digits;
use crate::gates::escape::escape_before;
use crate::gates::scan::{before, char_at, char_before};
use crate::gates::text::Text;

const DIGITS_MAX: usize = 19;

/// Longest fraction of zeros.
const ZEROS_MAX: usize = 8;

/// Groupings that are printed on cards.
const PRINTED: [&[usize]; 7] =
    [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3], &[4, 4, 4, 1], &[4, 3, 3, 3], &[6, 13]];

/// *Balanced:* plain digits need one of these nearby.
const WORDS: [&str; 7] = ["card", "visa", "mastercard", "amex", "credit", "debit", "payment"];
const NEAR_CHARS: usize = 40;

/// Returns the end of the card number that begins at `at`, with a run of `length` digits.
pub(super) fn end_at(
    Text { text, key }: Text<'_>,
    at: usize,
    length: usize,
    balanced: bool,
) -> Option<usize> {
    let bytes = text.as_bytes();
    let plain_end = at + length;
    let separator = bytes.get(plain_end).copied().filter(|byte| matches!(byte, b' ' | b'-'));
    let separator = separator.filter(|_| bytes.get(plain_end + 1).is_some_and(u8::is_ascii_digit));
    if length > DIGITS_MAX || length < 13 && separator.is_none() || !is_free_before(text, at) {
        return None;
    }
    if (13..=DIGITS_MAX).contains(&length)
        && let Some(end) = free_end(text, plain_end)
    {
        let plain = bytes.get(at..plain_end).is_some_and(fits);
        let is_meant = || key.is_some_and(is_about_cards) || mentions_cards_near(text, at, end);
        if plain && (!balanced || is_meant()) {
            return Some(end);
        }
    }
    grouped_end(text, at, separator?)
}

/// Returns the end of the longest card number made of groups with this separator.
fn grouped_end(text: &str, at: usize, separator: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let row_begins = !(before(bytes, at) == Some(separator) && at.checked_sub(2).is_some_and(digit_at));
    let (mut digits_seen, mut group_count, mut next, mut end) = (0, 0, at, None);
    let (mut number, mut groups) = ([0; DIGITS_MAX], [0; DIGITS_MAX]);
    loop {
        let length = digits(bytes, next);
        let (Some(digits), Some(group)) =
            (number.get_mut(digits_seen..digits_seen + length), groups.get_mut(group_count))
        else {
            return end;
        };
        digits.copy_from_slice(bytes.get(next..next + length).unwrap_or_default());
        *group = length;
        (digits_seen, group_count, next) = (digits_seen + length, group_count + 1, next + length);
        let goes_on = bytes.get(next) == Some(&separator) && digit_at(next + 1);
        let whole = row_begins && !goes_on;
        let groups = groups.get(..group_count).unwrap_or_default();
        let printed = separator == b' ' && PRINTED.contains(&groups);
        let number = number.get(..digits_seen).unwrap_or_default();
        let is_card = || group_count > 1 && (whole || printed) && fits(number);
        if let Some(free) = free_end(text, next).filter(|_| is_card()) {
            end = Some(free);
        }
        if !goes_on {
            return end;
        }
        next += 1;
    }
}

/// Returns whether nothing in front of the number makes it part of something else. An escape does not.
fn is_free_before(text: &str, at: usize) -> bool {
    match char_before(text, at) {
        Some('-' | '.') => false,
        Some(char) => !char.is_alphanumeric() || escape_before(text.as_bytes(), at).is_some(),
        None => true,
    }
}

/// Returns the end of the number whose digits end here, unless the text after it makes it part of something else. A
/// fraction of zeros is part of the number, and a period at the end of a sentence is not a decimal point.
fn free_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at..).unwrap_or_default();
    let zeros =
        rest.strip_prefix(b".").unwrap_or_default().iter().take(ZEROS_MAX).take_while(|byte| **byte == b'0');
    let end = match zeros.count() {
        0 => at,
        zeros => at + ".".len() + zeros,
    };
    let is_free = match char_at(text, end) {
        Some('.') => !bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
        Some(char) => !char.is_alphanumeric() && char != '-',
        None => true,
    };
    is_free.then_some(end)
}

/// Returns whether 13 to 19 digits are a possible card number.
fn fits(number: &[u8]) -> bool {
    let several = number.iter().any(|digit| Some(digit) != number.first());
    several && has_brand(number) && passes_luhn(number)
}

fn has_brand(number: &[u8]) -> bool {
    let Some(first_four) = number.first_chunk::<4>() else { return false };
    let prefix = first_four.iter().fold(0_u16, |prefix, digit| prefix * 10 + u16::from(digit - b'0'));
    match (prefix / 100, number.len()) {
        (40..=49, 13 | 16 | 19)
        | (51..=55 | 35, 16)
        | (34 | 37, 15)
        | (36 | 38 | 39, 14)
        | (62 | 65, 16..=19)
        | (50 | 56..=58 | 63 | 67, 13..=19) => true,
        (_, 14) => matches!(prefix / 10, 300..=305 | 309),
        (_, 15) => matches!(prefix, 1800 | 2131),
        (_, length @ 16..=19) => {
            length == 16 && matches!(prefix, 2221..=2720)
                || prefix == 6011
                || matches!(prefix / 10, 644..=649)
        }
        _ => false,
    }
}

/// Returns whether the Luhn check passes: from the right, every second digit counts twice, and the digit sum is a
/// multiple of ten.
fn passes_luhn(number: &[u8]) -> bool {
    let value = |(index, digit): (usize, &u8)| {
        let digit = u32::from(digit - b'0');
        match (index % 2, digit) {
            (0, digit) => digit,
            (_, 0..=4) => digit * 2,
            (_, _) => digit * 2 - 9,
        }
    };
    number.iter().rev().enumerate().map(value).sum::<u32>().is_multiple_of(10)
}

/// Returns whether the end of a key, right in front of its value, mentions cards.
fn is_about_cards(key: &str) -> bool {
    mentions_cards_near(key, key.len(), key.len())
}

/// Returns whether a word about cards occurs within 40 characters.
fn mentions_cards_near(text: &str, start: usize, end: usize) -> bool {
    let head: String = {
        let head = text.get(..start).unwrap_or_default();
        let from = head.char_indices().rev().nth(NEAR_CHARS - 1).map_or(0, |(at, _)| at);
        head.get(from..).unwrap_or_default().to_ascii_lowercase()
    };
    let tail: String = text.get(end..).unwrap_or_default().chars().take(NEAR_CHARS).collect();
    let tail = tail.to_ascii_lowercase();
    WORDS.iter().any(|word| head.contains(word) || tail.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_brand_has_its_lengths() {
        // The shortest and longest length of each row, and the neighbors of each range.
        for (prefix, lengths) in [
            ("4", &[13, 16, 19][..]),
            ("51", &[16]),
            ("55", &[16]),
            ("2221", &[16]),
            ("2720", &[16]),
            ("35", &[16]),
            ("34", &[15]),
            ("37", &[15]),
            ("1800", &[15]),
            ("2131", &[15]),
            ("300", &[14]),
            ("305", &[14]),
            ("309", &[14]),
            ("36", &[14]),
            ("38", &[14]),
            ("39", &[14]),
            ("6011", &[16, 17, 18, 19]),
            ("62", &[16, 17, 18, 19]),
            ("644", &[16, 17, 18, 19]),
            ("649", &[16, 17, 18, 19]),
            ("65", &[16, 17, 18, 19]),
            ("50", &[13, 14, 15, 16, 17, 18, 19]),
            ("56", &[13, 14, 15, 16, 17, 18, 19]),
            ("58", &[13, 14, 15, 16, 17, 18, 19]),
            ("63", &[13, 14, 15, 16, 17, 18, 19]),
            ("67", &[13, 14, 15, 16, 17, 18, 19]),
            ("2220", &[]),
            ("2721", &[]),
            ("306", &[]),
            ("308", &[]),
            ("643", &[]),
            ("59", &[]),
            ("6010", &[]),
            ("66", &[]),
            ("1", &[]),
            ("7", &[]),
            ("0", &[]),
        ] {
            for length in 13..=19 {
                let number = format!("{prefix:1<length$}");
                assert_eq!(has_brand(number.as_bytes()), lengths.contains(&length), "{number}");
            }
        }
    }

    #[test]
    fn luhn_finds_a_wrong_digit() {
        assert!(passes_luhn(b"4111111111111111") && passes_luhn(b"378282246310005") && passes_luhn(b"0"));
        assert!(!passes_luhn(b"4111111111111112") && !passes_luhn(b"378282246310050"));
    }
}
