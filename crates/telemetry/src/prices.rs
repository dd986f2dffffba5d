//! # The cost of a model call whose agent does not report it
//!
//! ```text
//! cost = round half up ( Σ tokens · price per million / 10^6 )    in nano-dollars, over the kinds of tokens
//! ```
//!
//! Of the patterns that match the model, the longest one wins. `*` matches any text. The price of cached tokens is
//! the price of the input unless it is set; tokens written for an hour cost 1.6 times those written for five minutes.
//! Telemetry has no built-in price list: a visible gap is better than an outdated price. For transcripts, the program
//! adds one with a date.

use renown_core::units::NanoUsd;

use crate::facts::Tokens;

/// Prices in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Price of input that is not cached.
    pub input: NanoUsd,
    /// Price of output.
    pub output: NanoUsd,
    /// Price of input read from the cache.
    pub cache_read: NanoUsd,
    /// Price of input written to the cache.
    pub cache_creation: NanoUsd,
    /// Price of input written to the cache for an hour instead of five minutes.
    pub cache_creation_1h: NanoUsd,
}

impl Price {
    /// Returns the price of input that is written to the cache for an hour, if there is no own price: 1.6 times that
    /// of the usual five minutes.
    pub fn of_long_writes(cache_creation: NanoUsd) -> NanoUsd {
        NanoUsd::from_nano(cache_creation.nano().saturating_mul(8) / 5)
    }
}

/// A price table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices(Vec<(String, Price)>);

impl Prices {
    /// Creates a table. Of patterns with the same length, the alphabetically first one wins.
    pub fn new(prices: impl IntoIterator<Item = (String, Price)>) -> Self {
        let mut prices: Vec<_> = prices.into_iter().collect();
        prices.sort_by(|(left, _), (right, _)| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        Self(prices)
    }

    /// Adds prices for models. A pattern of this table wins over one of equal length that is added.
    #[must_use]
    pub fn or(self, others: impl IntoIterator<Item = (String, Price)>) -> Self {
        let mut prices = self.0;
        prices.extend(others);
        // The sort is stable.
        prices.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Self(prices)
    }

    /// Returns the cost of these tokens. Returns `None` if no pattern matches the model.
    pub(crate) fn cost(&self, model: &str, tokens: Tokens) -> Option<NanoUsd> {
        self.cost_with(model, tokens, 0)
    }

    /// Returns the cost of these tokens. `long_writes` of those written to the cache were written for an hour.
    pub(crate) fn cost_with(&self, model: &str, tokens: Tokens, long_writes: u64) -> Option<NanoUsd> {
        const PER: u128 = 1_000_000;
        let (_, price) = self.0.iter().find(|(pattern, _)| matches(pattern, model))?;
        let parts = [
            (tokens.input, price.input),
            (tokens.output, price.output),
            (tokens.cache_read, price.cache_read),
            (tokens.cache_creation.saturating_sub(long_writes), price.cache_creation),
            (long_writes, price.cache_creation_1h),
        ];
        // Only absurd prices overflow: 4 · 10^15 tokens at 10^24 nano-dollars each. Then the cost is unknown.
        let sum = parts.iter().try_fold(0_u128, |sum, (count, price)| {
            sum.checked_add(u128::from(*count).checked_mul(price.nano())?)
        })?;
        Some(NanoUsd::from_nano((sum + PER / 2) / PER))
    }
}

/// Whether a pattern matches the whole text. Each `*` matches as little as possible. That is enough: a later `*` can
/// match the rest.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text, expected) in [
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5-mini", false),
            ("gpt-5*", "gpt-5", true),
            ("gpt-5*", "gpt-5-mini", true),
            ("*", "", true),
            ("*-mini", "gpt-5-mini", true),
            ("*-mini", "gpt-5-mini-2026", false),
            ("g*5*i", "gpt-5-mini", true),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("**", "x", true),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_pattern_wins_and_the_sum_is_rounded_once() {
        let price = |input, output| Price {
            input: usd(input),
            output: usd(output),
            cache_read: usd("0.125"),
            cache_creation: usd(input),
            cache_creation_1h: Price::of_long_writes(usd(input)),
        };
        let table =
            [("gpt-5*", price("1.25", "10.0")), ("gpt-5-mini*", price("0.25", "2")), ("*", price("0", "0"))];
        let prices = Prices::new(table.map(|(pattern, price)| (pattern.to_owned(), price)));
        let tokens = Tokens { input: 904, output: 120, cache_read: 4096, cache_creation: 0 };
        // 904 · 1250 + 120 · 10000 + 4096 · 125 = 1130000 + 1200000 + 512000 nano-dollars
        assert_eq!(prices.cost("gpt-5.1", tokens), Some(NanoUsd::from_nano(2_842_000)));
        assert_eq!(
            prices.cost("gpt-5-mini", Tokens { cache_read: 0, ..tokens }),
            Some(NanoUsd::from_nano(466_000))
        );
        assert_eq!(prices.cost("other", tokens), Some(NanoUsd::from_nano(512_000)));
        assert_eq!(Prices::default().cost("gpt-5", tokens), None);
        let written = Tokens { cache_creation: 10, ..Tokens::default() };
        // 6 · 250 + 4 · 400 nano-dollars
        assert_eq!(prices.cost_with("gpt-5-mini", written, 4), Some(NanoUsd::from_nano(3_100)));
        let built_in = [("gpt-5*".to_owned(), price("9", "9")), ("gpt-6*".to_owned(), price("1", "1"))];
        let both = prices.clone().or(built_in);
        assert_eq!(both.cost("gpt-5.1", tokens), prices.cost("gpt-5.1", tokens), "the own pattern wins");
        assert_eq!(
            both.cost("gpt-6", Tokens { cache_read: 0, ..tokens }),
            Some(NanoUsd::from_nano(1_024_000))
        );
        let cheap = Prices::new([("m".to_owned(), price("0.0005", "0.0005"))]);
        // One token is 500 000 / 10^6 = 0.5 nano-dollars, half up; two kinds of one each are 1.
        assert_eq!(cheap.cost("m", Tokens { input: 1, ..Tokens::default() }), Some(NanoUsd::from_nano(1)));
        assert_eq!(
            cheap.cost("m", Tokens { input: 1, output: 1, ..Tokens::default() }),
            Some(NanoUsd::from_nano(1))
        );
    }
}
