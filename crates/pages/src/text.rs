//! Formats numbers, times and names.
//!
//! | value | format | example |
//! |---|---|---|
//! | whole numbers | thousands separated by a narrow no-break space | 12 480 |
//! | changes | with a sign, a real minus, ±0 for no change | −149 |
//! | shares | percent with one decimal, rounded down: only 1 is 100.0 % | 97.6 % |
//! | ages | up to 36 hours in minutes or hours, then in days | 9 min, 3 h, 8 d |
//! | times | UTC; the script converts them to the reader's time zone | 17 Nov 15:30 |

use std::fmt::Write;

use renown_core::decimal::Decimal;
use renown_core::ids::AgentId;
use renown_core::performance::Recommendation;
use renown_core::reputation::Lifecycle;
use renown_core::time::{Day, Timestamp};
use renown_core::units::Micros;

/// A narrow no-break space.
const THIN: char = '\u{202f}';

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A value or a reference to it. Templates pass references, Rust code passes values.
pub trait Given<T> {
    /// Returns the value.
    fn given(self) -> T;
}

impl<T: Copy> Given<T> for T {
    fn given(self) -> T {
        self
    }
}

impl<T: Copy> Given<T> for &T {
    fn given(self) -> T {
        *self
    }
}

/// A macro of a template passes a reference to a reference.
impl<T: Copy> Given<T> for &&T {
    fn given(self) -> T {
        **self
    }
}

/// The format of a time. The script uses the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `15:30`
    Clock,
    /// `15:30:07`
    Second,
    /// `17 Nov`
    Date,
    /// `17 Nov 15:30`
    Both,
    /// `2026-11-17 15:30:07`, for tips and titles.
    Full,
}

impl Form {
    /// Returns the name in `data-f` and in tips. `Full` is not used there.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "hm",
            Self::Second => "hms",
            Self::Date => "dm",
            Self::Both | Self::Full => "dmhm",
        }
    }
}

/// Formats a time in UTC.
pub fn utc(at: impl Given<Timestamp>, form: impl Given<Form>) -> String {
    let text = at.given().to_string();
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
    let date = || format!("{} {}", part(8..10).trim_start_matches('0'), month(&part(5..7)));
    match form.given() {
        Form::Clock => part(11..16),
        Form::Second => part(11..19),
        Form::Date => date(),
        Form::Both => format!("{} {}", date(), part(11..16)),
        Form::Full => format!("{} {}", part(0..10), part(11..19)),
    }
}

fn month(number: &str) -> &'static str {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    number.parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?)).copied().unwrap_or("?")
}

/// Formats a day, for example `17 Nov`.
pub fn day(day: impl Given<Day>) -> String {
    utc(day.given().start(), Form::Date)
}

/// Encodes a time in a tip, which the script formats: minutes since 1970 and the name of a format.
pub fn tip_time(at: Timestamp, form: Form) -> String {
    format!("@{}{}", at.millis() / MINUTE_MS, form.name())
}

/// Formats the age of an event.
pub fn age(at: impl Given<Timestamp>, now: impl Given<Timestamp>) -> String {
    let ms = (now.given().millis() - at.given().millis()).max(0);
    match ms {
        ..MINUTE_MS => "now".to_owned(),
        MINUTE_MS..HOUR_MS => format!("{} min", ms / MINUTE_MS),
        _ if ms <= 36 * HOUR_MS => format!("{} h", ms / HOUR_MS),
        _ => format!("{} d", ms / DAY_MS),
    }
}

/// Formats a whole number with separated thousands.
pub fn whole(number: impl Given<u64>) -> String {
    let digits = number.given().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(THIN);
        }
        text.push(digit);
    }
    text
}

/// Formats a change with its sign.
pub fn change(points: impl Given<i64>) -> String {
    let points = points.given();
    match points {
        0 => "±0".to_owned(),
        1.. => format!("+{}", whole(points.unsigned_abs())),
        _ => format!("−{}", whole(points.unsigned_abs())),
    }
}

/// Formats a decimal with this number of decimal places, rounded toward zero, with a real minus.
pub fn cut<const FROM: u32>(number: impl Given<Decimal<FROM>>, places: u32) -> String {
    let step = 10_i128.pow(FROM.saturating_sub(places));
    let units = number.given().units() / step;
    let one = 10_u128.pow(places.min(FROM));
    let (whole_part, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    let sign = if units < 0 { "−" } else { "" };
    let whole_part = whole(u64::try_from(whole_part).unwrap_or(u64::MAX));
    match places.min(FROM) {
        0 => format!("{sign}{whole_part}"),
        places => format!("{sign}{whole_part}.{rest:0width$}", width = places as usize),
    }
}

/// Formats a trend: like [`cut`], but always with a sign.
pub fn trend<const FROM: u32>(number: impl Given<Decimal<FROM>>, places: u32) -> String {
    let text = cut(number, places);
    let is_zero = text.chars().all(|char| matches!(char, '0' | '.' | '−'));
    match text.strip_prefix('−') {
        _ if is_zero => "±0".to_owned(),
        Some(_) => text,
        None => format!("+{text}"),
    }
}

/// Formats a share of 1 as percent with one decimal.
pub fn percent(share: impl Given<Decimal<6>>) -> String {
    format!("{} %", cut(Decimal::<4>::from_units(share.given().units()), 1))
}

/// Converts a latency to milliseconds.
pub fn millis(latency: Micros) -> Decimal<3> {
    Decimal::from_units(i128::from(latency.us()))
}

/// Formats an amount of dollars with two decimals.
pub fn dollars<const FROM: u32>(amount: impl Given<Decimal<FROM>>) -> String {
    format!("${}", cut(amount, 2))
}

/// Returns the word for a recommendation.
pub fn recommendation(value: impl Given<Recommendation>) -> &'static str {
    match value.given() {
        Recommendation::Keep => "keep",
        Recommendation::Review => "review",
        Recommendation::Doff => "doff",
    }
}

/// Formats a lifecycle with its progress: `calibrating 12/50`, `active 217/500`, `mature`.
pub fn lifecycle(value: impl Given<Lifecycle>, evaluations: impl Given<u64>) -> String {
    let evaluations = evaluations.given();
    match value.given() {
        Lifecycle::New => "new".to_owned(),
        Lifecycle::Calibrating => format!("calibrating {evaluations}/50"),
        Lifecycle::Active => format!("active {evaluations}/500"),
        Lifecycle::Mature => "mature".to_owned(),
    }
}

/// Formats a small number as a word, for sentences.
pub fn count_word(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(number).map_or_else(|| whole(number as u64), |word| (*word).to_owned())
}

/// Converts the first letter to upper case.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Formats a number with its noun.
pub fn plural(number: impl Given<u64>, one: &str, many: &str) -> String {
    let number = number.given();
    format!("{} {}", whole(number), if number == 1 { one } else { many })
}

/// Splits an agent id at its last slash. Returns the last part, and the part before the slash if there is one.
pub fn name_parts(agent: &AgentId) -> (&str, Option<&str>) {
    let id = agent.as_str();
    match id.rsplit_once('/') {
        Some((before, name)) if !before.is_empty() && !name.is_empty() => (name, Some(before)),
        _ => (id, None),
    }
}

/// Percent-encodes a text as one segment of a path.
pub fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'~')
            || (byte == b'.' && text != "." && text != "..")
        {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Escapes a text between two tags. Quotes stay as they are, because JSON has many of them and `&#34;` is five times
/// as long. Not for attributes.
pub fn code(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Replaces the separator `|` in a text of a list of tips.
pub fn in_tips(text: &str) -> String {
    text.replace('|', "¦")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn times_are_written_in_all_formats() {
        let time = at("2026-11-07T05:04:09.876Z");
        let forms = [Form::Clock, Form::Second, Form::Date, Form::Both, Form::Full];
        let written = forms.map(|form| utc(time, form));
        assert_eq!(written, ["05:04", "05:04:09", "7 Nov", "7 Nov 05:04", "2026-11-07 05:04:09"]);
        assert_eq!(tip_time(time, Form::Both), "@29900464dmhm");
    }

    #[test]
    fn ages_are_in_minutes_then_hours_then_days() {
        let now = at("2026-11-17T15:30:00Z");
        for (ms, age_text) in [
            (-5, "now"),
            (59_999, "now"),
            (60_000, "1 min"),
            (3_599_999, "59 min"),
            (3_600_000, "1 h"),
            (36 * 3_600_000, "36 h"),
            (37 * 3_600_000, "1 d"),
            (8 * 86_400_000, "8 d"),
        ] {
            let then = Timestamp::from_millis(now.millis() - ms).unwrap();
            assert_eq!(age(then, now), age_text, "{ms} ms");
        }
    }

    #[test]
    fn numbers_are_rounded_down_and_signed() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(whole),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!([0, 93, -149].map(change), ["±0", "+93", "−149"]);
        assert_eq!(cut(Decimal::<6>::from_units(-1_999_999), 2), "−1.99");
        assert_eq!(cut(Decimal::<3>::from_units(9_649), 1), "9.6");
        assert_eq!(cut(Decimal::<3>::from_units(9_649), 0), "9");
        assert_eq!(percent(Decimal::from_units(976_999)), "97.6 %");
        assert_eq!(percent(Decimal::from_units(1_000_000)), "100.0 %");
        assert_eq!(dollars(Decimal::<9>::from_units(1_310_000_000)), "$1.31");
        assert_eq!(trend(Decimal::<6>::from_units(30_000), 2), "+0.03");
        assert_eq!(trend(Decimal::<6>::from_units(-60_000), 2), "−0.06");
        assert_eq!(trend(Decimal::<6>::from_units(-4_000), 2), "±0");
    }

    #[test]
    fn ids_are_split_and_encoded() {
        let parts = |id: &str| {
            let agent: AgentId = id.parse().unwrap();
            let (name, before) = name_parts(&agent);
            (name.to_owned(), before.map(str::to_owned))
        };
        assert_eq!(parts("acme/platform/bot"), ("bot".to_owned(), Some("acme/platform".to_owned())));
        assert_eq!(parts("bot/"), ("bot/".to_owned(), None));
        assert_eq!(segment("a/b <é>"), "a%2Fb%20%3C%C3%A9%3E");
        assert_eq!(code("<a href=\"x\">&"), "&lt;a href=\"x\"&gt;&amp;");
        assert_eq!((segment(".."), segment("a.b")), ("%2E%2E".to_owned(), "a.b".to_owned()));
    }
}
