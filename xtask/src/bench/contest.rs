//! Measures servers in turns, and reports the figures of every round and the medians of the ratios.
//!
//! The speed of a machine changes from minute to minute. In one round all servers run within the same minute, so a
//! ratio of one round says more than a ratio of two averages. The columns on the right are the processor time per
//! request, and the processor time of everything else on the machine, in percent of one processor.

use anyhow::{Context, Result};

use crate::load::Measured;

/// A side of the comparison: its name, and how to measure it.
pub(super) struct Side<'a> {
    pub(super) name: &'static str,
    pub(super) measure: Box<dyn FnMut() -> Result<Measured> + 'a>,
}

impl<'a> Side<'a> {
    pub(super) fn new(name: &'static str, measure: impl FnMut() -> Result<Measured> + 'a) -> Self {
        Self { name, measure: Box::new(measure) }
    }
}

/// All rounds of one side.
pub(super) struct Entry {
    name: &'static str,
    rounds: Vec<Measured>,
}

/// All rounds of all sides; the first is ours.
pub(super) struct Results {
    title: String,
    entries: Vec<Entry>,
}

/// Runs the sides in turns, and prints each run.
pub(super) fn contest(title: &str, rounds: usize, sides: &mut [Side<'_>]) -> Result<Results> {
    println!(
        "\n{:<20} {:<16} {:>5} {:>9} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>7}",
        title, "what", "round", "per s", "p50 ms", "p99", "p99.9", "max", "server µs", "client µs", "others"
    );
    let mut entries: Vec<Entry> =
        sides.iter().map(|side| Entry { name: side.name, rounds: Vec::new() }).collect();
    for round in 1..=rounds {
        for (side, entry) in sides.iter_mut().zip(&mut entries) {
            let measured = (side.measure)().with_context(|| format!("{title}: {}", side.name))?;
            row(title, side.name, round, &measured);
            entry.rounds.push(measured);
        }
    }
    Ok(Results { title: title.to_owned(), entries })
}

impl Results {
    /// Prints the ratio of our figure to that of a peer, and whether its median is within the limit.
    pub(super) fn ratio(
        &self,
        peer: &str,
        what: &str,
        figure: impl Fn(&Measured) -> f64,
        wanted: Option<Wanted>,
    ) {
        let [ours, peers @ ..] = self.entries.as_slice() else { return };
        for peer in peers.iter().filter(|entry| entry.name == peer) {
            let ratios = sorted(ours.rounds.iter().zip(&peer.rounds).map(|(a, b)| figure(a) / figure(b)));
            let all: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
            let middle = middle(&ratios);
            println!(
                "{:<20} {what}: {} / {} = {middle:.2}× ({}) {}",
                self.title,
                ours.name,
                peer.name,
                all.join(" "),
                wanted.map(|wanted| wanted.verdict(middle, "×")).unwrap_or_default()
            );
        }
    }

    /// Returns the median of a figure of one side.
    pub(super) fn median(&self, name: &str, figure: impl Fn(&Measured) -> f64) -> f64 {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        middle(&sorted(entry.into_iter().flat_map(|entry| entry.rounds.iter().map(&figure))))
    }

    /// Returns the median ratio of our figure to that of a peer.
    pub(super) fn median_ratio(&self, peer: &str, figure: impl Fn(&Measured) -> f64) -> f64 {
        let [ours, peers @ ..] = self.entries.as_slice() else { return f64::NAN };
        let peer = peers.iter().find(|entry| entry.name == peer);
        let rounds = peer.into_iter().flat_map(|peer| ours.rounds.iter().zip(&peer.rounds));
        middle(&sorted(rounds.map(|(a, b)| figure(a) / figure(b))))
    }

    /// Prints the median of one of our figures, and whether it is within the limit.
    pub(super) fn figure(&self, what: &str, unit: &str, figure: impl Fn(&Measured) -> f64, wanted: Wanted) {
        let Some(ours) = self.entries.first() else { return };
        let middle = middle(&sorted(ours.rounds.iter().map(&figure)));
        println!(
            "{:<20} {what}: {} = {middle:.2}{unit} {}",
            self.title,
            ours.name,
            wanted.verdict(middle, unit)
        );
    }
}

/// The limit of a figure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

impl Wanted {
    pub(super) fn verdict(self, found: f64, unit: &str) -> String {
        let (sign, limit) = match self {
            Self::AtLeast(limit) => ('≥', limit),
            Self::AtMost(limit) => ('≤', limit),
        };
        format!("(target {sign} {limit}{unit}: {})", self.word(found))
    }

    /// Returns in one word whether a figure is within the limit.
    pub(super) fn word(self, found: f64) -> &'static str {
        let met = match self {
            Self::AtLeast(limit) => found >= limit,
            Self::AtMost(limit) => found <= limit,
        };
        if met { "met" } else { "MISSED" }
    }
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// Returns the median; for an even number of figures, the lower of the middle two.
pub(super) fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn row(title: &str, name: &str, round: usize, measured: &Measured) {
    let us_each = |cpu: f64| cpu / measured.requests() as f64 * 1e6;
    println!(
        "{title:<20} {name:<16} {round:>5} {:>9.0} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>10.1} {:>10.1} {:>6.0}%",
        measured.rate(),
        measured.quantile_ms(0.5),
        measured.quantile_ms(0.99),
        measured.quantile_ms(0.999),
        measured.quantile_ms(1.0),
        us_each(measured.usage.server),
        us_each(measured.usage.client),
        measured.usage.others / measured.seconds * 100.0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let cases: [(&[f64], f64); 4] =
            [(&[1.0], 1.0), (&[1.0, 2.0], 1.0), (&[1.0, 2.0, 9.0], 2.0), (&[1.0, 2.0, 3.0, 4.0], 2.0)];
        for (figures, expected) in cases {
            assert!((middle(figures) - expected).abs() < 1e-9, "{figures:?}");
        }
        assert!(middle(&[]).is_nan());
    }

    #[test]
    fn a_target_is_met_or_missed() {
        let cases = [
            (Wanted::AtLeast(1.5), 1.5, "(target ≥ 1.5×: met)"),
            (Wanted::AtLeast(1.5), 1.49, "(target ≥ 1.5×: MISSED)"),
            (Wanted::AtMost(2.0), 2.0, "(target ≤ 2×: met)"),
            (Wanted::AtMost(2.0), f64::NAN, "(target ≤ 2×: MISSED)"),
        ];
        for (wanted, found, expected) in cases {
            assert_eq!(wanted.verdict(found, "×"), expected);
        }
    }
}
