//! Formats numbers for people, with only the useful digits.

use renown_core::decimal::Decimal;

/// Formats a share in percent, rounded down, so that 100.0% means all.
pub(crate) fn percent(share: Decimal<6>) -> String {
    format!("{}%", Decimal::<1>::from_units(share.units() / 1000))
}

/// Formats milliseconds: whole from 100 on, three decimals below 1.
pub(crate) fn milliseconds(ms: Decimal<3>) -> String {
    match ms.units() {
        0 => "0 ms".to_owned(),
        units if units < 1_000 => format!("{ms} ms"),
        units if units < 100_000 => format!("{} ms", Decimal::<1>::from_units(units / 100)),
        units => format!("{} ms", units / 1_000),
    }
}

/// Formats US dollars: cents, and four decimals below a cent.
pub(crate) fn dollars(usd: Decimal<9>) -> String {
    const CENT: i128 = 10_000_000;
    match usd.units() {
        units if units == 0 || units >= CENT => {
            format!("${}", Decimal::<2>::from_units((units + CENT / 2) / CENT))
        }
        units => format!("${}", Decimal::<4>::from_units((units / 100_000).max(1))),
    }
}

/// Formats two decimals, rounded to the nearest, halves away from zero.
pub(crate) fn hundredths(number: Decimal<6>) -> String {
    const HUNDREDTH: i128 = 10_000;
    let units = number.units();
    Decimal::<2>::from_units((units + units.signum() * HUNDREDTH / 2) / HUNDREDTH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_rounded_up_to_perfect() {
        for (units, expected) in [(1_000_000, "100.0%"), (999_999, "99.9%"), (800_000, "80.0%"), (0, "0.0%")]
        {
            assert_eq!(percent(Decimal::from_units(units)), expected);
        }
        for (units, expected) in [
            (0, "0 ms"),
            (40, "0.040 ms"),
            (2_000, "2.0 ms"),
            (99_999, "99.9 ms"),
            (180_400, "180 ms"),
            (60_000_000, "60000 ms"),
        ] {
            assert_eq!(milliseconds(Decimal::from_units(units)), expected);
        }
        for (units, expected) in [
            (0, "$0.00"),
            (1, "$0.0001"),
            (4_200_000, "$0.0042"),
            (1_255_000_000, "$1.26"),
            (10_000_000, "$0.01"),
        ] {
            assert_eq!(dollars(Decimal::from_units(units)), expected);
        }
        for (units, expected) in [(-1_237_000, "-1.24"), (175_000, "0.18"), (-4_999, "0.00"), (0, "0.00")] {
            assert_eq!(hundredths(Decimal::from_units(units)), expected);
        }
    }
}
