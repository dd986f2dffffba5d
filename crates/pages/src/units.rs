//! Formats durations, sizes and time axes.
//!
//! | value | format | example |
//! |---|---|---|
//! | durations | at most two units, rounded down | 850 ms, 12.4 s, 3 min 05 s, 1 h 02 min |
//! | sizes | powers of 1024, one decimal | 312.0 MiB |
//! | positions in a drawing | percent with two decimals | 46.15 |

use renown_core::decimal::Decimal;

use crate::text;

/// Returns a median in whole milliseconds, rounded down.
pub fn whole_ms(median: impl text::Given<Decimal<1>>) -> u64 {
    u64::try_from(median.given().units() / 10).unwrap_or(u64::MAX)
}

/// Formats a duration in milliseconds.
pub fn duration(ms: impl text::Given<u64>) -> String {
    let ms = ms.given();
    let (seconds, minutes, hours) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    match ms {
        ..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{seconds}.{} s", ms % 1000 / 100),
        60_000..3_600_000 => format!("{minutes} min {:02} s", seconds % 60),
        _ => format!("{} h {:02} min", text::whole(hours), minutes % 60),
    }
}

/// Formats a number of minutes; from two hours on with hours.
pub fn minutes(minutes: impl text::Given<u64>) -> String {
    match minutes.given() {
        minutes @ ..120 => format!("{minutes} min"),
        minutes => format!("{} h {:02} min", text::whole(minutes / 60), minutes % 60),
    }
}

/// Formats a number of bytes.
pub fn bytes(count: impl text::Given<u64>) -> String {
    let count = count.given();
    let (unit, name) = match count {
        ..1024 => return format!("{count} B"),
        1024..1_048_576 => (1024, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576, "MiB"),
        _ => (1_073_741_824, "GiB"),
    };
    let tenths = u128::from(count) * 10 / unit;
    let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
    format!("{}.{} {name}", text::whole(whole), tenths % 10)
}

/// Formats a part of a whole in percent with two decimals, at most 100, as a position in a drawing.
pub fn position(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part.min(whole)) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Possible steps of a time axis in milliseconds: seconds, minutes, hours, days.
const STEPS_MS: [u64; 21] = [
    1_000,
    2_000,
    5_000,
    10_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    14_400_000,
    28_800_000,
    86_400_000,
    172_800_000,
    604_800_000,
    2_592_000_000,
    31_536_000_000,
    315_360_000_000,
];

/// Returns the smallest step that divides a span into at most `most` steps.
pub fn step(span_ms: u64, most: u64) -> u64 {
    let fits = |step: &&u64| span_ms.div_ceil(**step) <= most;
    STEPS_MS.iter().find(fits).copied().unwrap_or(u64::MAX)
}

/// A tick of a time axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Position in percent.
    pub x: String,
    /// Label. The first one has the unit.
    pub label: String,
}

/// Returns the ticks of a span that begins at 0.
pub fn ticks(span_ms: u64, most: u64) -> Vec<Tick> {
    let step = step(span_ms, most);
    let (unit, name) = match step {
        ..60_000 => (1000, "s"),
        60_000..3_600_000 => (60_000, "min"),
        3_600_000..86_400_000 => (3_600_000, "h"),
        _ => (86_400_000, "d"),
    };
    let tick = |at: u64| {
        let label = if at == 0 { format!("0 {name}") } else { text::whole(at / unit) };
        Tick { x: position(at, span_ms), label }
    };
    let count = span_ms / step.max(1);
    (0..=count).map(|index| tick(index * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_have_units() {
        let durations = [0, 850, 12_450, 185_000, 3_720_000, 360_000_000].map(duration);
        assert_eq!(durations, ["0 ms", "850 ms", "12.4 s", "3 min 05 s", "1 h 02 min", "100 h 00 min"]);
        assert_eq!([1, 119, 1874].map(minutes), ["1 min", "119 min", "31 h 14 min"]);
        let sizes = [1023, 1536, 327_155_712, 8_589_934_592].map(bytes);
        assert_eq!(sizes, ["1023 B", "1.5 KiB", "312.0 MiB", "8.0 GiB"]);
        assert_eq!(
            (position(6, 13), position(9, 3), position(1, 0)),
            ("46.15".into(), "100.00".into(), "0.00".into())
        );
    }

    #[test]
    fn an_axis_has_few_round_ticks() {
        let labels = |span_ms| ticks(span_ms, 6).into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        assert_eq!(labels(52 * 60_000), ["0 min", "10", "20", "30", "40", "50"]);
        assert_eq!(labels(8_000), ["0 s", "2", "4", "6", "8"]);
        assert_eq!(labels(0), ["0 s"]);
        assert_eq!(labels(30 * 3_600_000), ["0 h", "8", "16", "24"]);
        assert_eq!(ticks(600_000, 6)[1].x, "20.00");
        assert_eq!(step(u64::MAX, 6), u64::MAX);
    }
}
