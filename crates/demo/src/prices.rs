//! The prices of the demo's models, for agents that do not report costs.

use renown_core::units::NanoUsd;
use renown_telemetry::prices::{Price, Prices};

/// A pattern, then nano-dollars per million tokens: input, output, cached input.
const TABLE: [(&str, u128, u128, u128); 4] = [
    ("gpt-5*", 1_250_000_000, 10_000_000_000, 125_000_000),
    ("claude-sonnet-5", 3_000_000_000, 15_000_000_000, 300_000_000),
    ("gemini-*", 1_250_000_000, 10_000_000_000, 310_000_000),
    ("qwen3-coder*", 1_000_000_000, 5_000_000_000, 100_000_000),
];

/// Returns the price table of the demo.
pub fn prices() -> Prices {
    let price = |(pattern, input, output, cached): (&str, u128, u128, u128)| {
        let [input, output, cache_read] = [input, output, cached].map(NanoUsd::from_nano);
        (
            pattern.to_owned(),
            Price {
                input,
                output,
                cache_read,
                cache_creation: input,
                cache_creation_1h: Price::of_long_writes(input),
            },
        )
    };
    Prices::new(TABLE.map(price))
}
