//! The prices of common models, which are part of the program: `prices.toml`, with its date.

use std::collections::BTreeMap;

use renown_telemetry::prices::{Price, Prices};
use serde::Deserialize;

use crate::config::PriceEntry;

const FILE: &str = include_str!("prices.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    #[expect(dead_code, reason = "for readers of the file")]
    sources: Vec<String>,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    names: Vec<String>,
    price: PriceEntry,
}

/// Returns the user's prices with those of common models, and the date of the latter.
pub(crate) fn with_common(own: &Prices) -> (Prices, String) {
    let Ok(File { as_of, models, .. }) = toml::from_str::<File>(FILE) else {
        return (own.clone(), String::new());
    };
    let common = models.into_values().flat_map(|Model { names, price }| {
        let price = Price::from(price);
        names.into_iter().map(move |name| (name, price))
    });
    (own.clone().or(common), as_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_valid_and_has_a_date() {
        let (prices, as_of) = with_common(&Prices::default());
        assert_ne!(prices, Prices::default());
        assert!(as_of.starts_with("20") && as_of.len() == "2026-11-19".len(), "{as_of}");
    }
}
