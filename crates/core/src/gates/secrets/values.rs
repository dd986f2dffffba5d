//! Decides whether a value is a secret or a placeholder.

/// Placeholders in documentation and templates, ignoring case.
const PLACEHOLDERS: [&[u8]; 12] = [
    b"example",
    b"sample",
    b"dummy",
    b"placeholder",
    b"changeme",
    b"redacted",
    b"your_",
    b"xxxx",
    b"****",
    b"${",
    b"{{",
    b"<",
];

/// This many equal characters in a row make a placeholder.
const EQUAL_MAX: usize = 6;
/// This many consecutive characters, such as `abcdefgh`, make a placeholder.
const ASCENDING_MAX: usize = 8;

/// Returns whether a value is a placeholder.
pub(super) fn is_made_up(value: &[u8]) -> bool {
    let contains = |word: &[u8]| value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    let run = |is_next: &dyn Fn(u8, u8) -> bool, most: usize| {
        let mut length = 1;
        value.windows(2).any(|pair| {
            length = if matches!(*pair, [a, b] if is_next(a, b)) { length + 1 } else { 1 };
            length >= most
        })
    };
    PLACEHOLDERS.iter().any(|word| contains(word))
        || run(&|a, b| a == b, EQUAL_MAX)
        || run(&|a, b| a.checked_add(1) == Some(b), ASCENDING_MAX)
}

/// Returns whether a value has two of lower case, upper case and digit.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| usize::from(value.iter().any(is));
    has(u8::is_ascii_lowercase) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_digit) >= 2
}

/// Returns whether a value has at least this many bits of Shannon entropy per character.
pub(super) fn has_entropy(value: &[u8], bits: f64) -> bool {
    bits <= 0.0 || entropy(value) >= bits
}

/// Tolerance: logarithms differ in the last digit between machines, and verdicts must not.
const SLACK: f64 = 1e-9;

/// Computes `−Σ p log2 p` over the characters of a value, plus [`SLACK`].
#[expect(clippy::float_arithmetic, reason = "an entropy is a float and is compared with a tolerance")]
#[expect(clippy::cast_precision_loss, reason = "every length of a value is exact as a float")]
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = value.len() as f64;
    let parts = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = *count as f64 / length;
        share * share.log2()
    });
    SLACK - parts.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_not_secrets() {
        for value in [
            "AKIAIOSFODNN7EXAMPLE",
            "my-Sample-token",
            "a1XxXxb2",
            "pass****word",
            "${TOKEN}",
            "{{ token }}",
            "<token>",
            "your_token",
            "a777777b",
            "x12345678y",
            "abcdefgh",
        ] {
            assert!(is_made_up(value.as_bytes()), "{value}");
        }
        for value in ["AKIAIOSFODNN7EXAMPL", "yourtoken", "xxx***", "a77777b", "1234567a", "abcdefg1", "$ {"]
        {
            assert!(!is_made_up(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn entropy_is_in_bits_per_character() {
        for (value, bits) in
            [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0), ("abcdefgh", 3.0), ("aabc", 1.5)]
        {
            assert!((entropy(value.as_bytes()) - bits).abs() < 1e-8, "{value}");
            assert!(has_entropy(value.as_bytes(), bits) && !has_entropy(value.as_bytes(), bits + 0.01));
        }
    }

    #[test]
    fn two_kinds_of_characters_are_mixed() {
        for (value, mixed) in
            [("abc", false), ("ABC", false), ("123", false), ("aB", true), ("a1", true), ("A1-", true)]
        {
            assert_eq!(is_mixed(value.as_bytes()), mixed, "{value}");
        }
    }
}
