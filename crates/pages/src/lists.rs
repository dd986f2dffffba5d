//! Helpers of the lists of evidence: addresses with filters, invalid filters, and long names.

use renown_core::time::Day;

use crate::text;

/// An invalid filter. The list is shown without it, and reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Name of the filter.
    pub name: &'static str,
    /// Invalid value.
    pub value: String,
    /// Valid values.
    pub expected: &'static str,
}

/// Maximum number of characters shown of an invalid value.
const VALUE_SHOWN: usize = 60;

/// Describes all invalid filters in a sentence. Returns an empty text if all filters are valid.
pub fn ignored(all: &[Ignored]) -> String {
    let one = |ignored: &Ignored| {
        let value = shortened(&ignored.value, VALUE_SHOWN);
        format!("{} “{value}”, expected {}", ignored.name, ignored.expected)
    };
    match all {
        [] => String::new(),
        all => format!("Not understood and ignored: {}.", all.iter().map(one).collect::<Vec<_>>().join("; ")),
    }
}

/// Returns the address of a list with these parameters. Empty parameters are omitted.
pub fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", text::segment(value)))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// Shortens a text to at most `most` characters. The last one is an ellipsis if the text was cut.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// An id in a row: its beginning, and the whole id as a tip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Shown beginning.
    pub shown: String,
    /// Whole id.
    pub whole: String,
    /// Path of the linked page.
    pub path: String,
}

/// Maximum number of characters shown of an id. The stylesheet cuts it to the width of its column.
const NAME_SHOWN: usize = 48;

impl Name {
    /// Creates a name that links to the id under a path such as `/agents`.
    pub fn below(path: &str, id: &str) -> Self {
        Self {
            shown: shortened(id, NAME_SHOWN),
            whole: id.to_owned(),
            path: format!("{path}/{}", text::segment(id)),
        }
    }
}

/// Formats a day for a date input.
pub fn day(day: impl text::Given<Option<Day>>) -> String {
    day.given().map(|day| day.to_string()).unwrap_or_default()
}

/// Formats a part of the rows of a page, for headlines: `Three of these 25 runs`.
pub fn some_of(count: usize, all: usize, one: &str, many: &str) -> String {
    let noun = if all == 1 { one } else { many };
    match (count, all) {
        (1, 1) => format!("This {one}"),
        (0, _) => format!("None of these {} {noun}", text::count_word(all)),
        (count, all) if count == all => format!("All of these {} {noun}", text::count_word(all)),
        _ => {
            format!("{} of these {} {noun}", text::sentence(&text::count_word(count)), text::count_word(all))
        }
    }
}

/// Joins parts of a sentence: `a`, `a and b`, `a, b and c`.
pub fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_only_the_set_filters() {
        assert_eq!(address("/runs", &[("agent", ""), ("spec", "")]), "/runs");
        assert_eq!(
            address("/runs", &[("agent", "a/b&c=<d>"), ("cursor", "1f")]),
            "/runs?agent=a%2Fb%26c%3D%3Cd%3E&cursor=1f"
        );
    }

    #[test]
    fn invalid_filters_are_reported() {
        let day = Ignored { name: "from", value: "x".repeat(500), expected: "a day such as 2026-11-15" };
        let said = ignored(std::slice::from_ref(&day));
        assert!(said.starts_with("Not understood and ignored: from “xxx"), "{said}");
        assert!(said.ends_with("…”, expected a day such as 2026-11-15.") && said.len() < 200, "{said}");
        assert_eq!(ignored(&[]), "");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöüß", 3), "äö…");
        let name = Name::below("/agents", &"🙂/".repeat(100));
        assert_eq!(name.shown.chars().count(), 48);
        assert_eq!(name.whole.chars().count(), 200);
        assert!(name.path.starts_with("/agents/%F0%9F%99%82%2F%F0"), "{}", name.path);
    }

    #[test]
    fn headlines_have_counts() {
        let said = |count, all| some_of(count, all, "run", "runs");
        assert_eq!(said(3, 25), "Three of these 25 runs");
        assert_eq!(said(25, 25), "All of these 25 runs");
        assert_eq!(said(0, 25), "None of these 25 runs");
        assert_eq!(said(1, 1), "This run");
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!((listed(&parts[..1]), listed(&parts)), ("a".to_owned(), "a, b and c".to_owned()));
    }
}
