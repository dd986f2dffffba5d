//! What the lists of evidence share: addresses that can be sent to somebody, filters that were not understood, and long names.

use renown_core::time::Day;

use crate::text;

/// A filter that was not understood. The list is shown without it, and says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Which.
    pub name: &'static str,
    /// What it said.
    pub value: String,
    /// What would be understood.
    pub expected: &'static str,
}

/// How much is shown of a value that was not understood.
const VALUE_SHOWN: usize = 60;

/// What was not understood, in a sentence; empty if all was.
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

/// The address of a list with these parameters; those without a value are left out.
pub fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", text::segment(value)))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// A text with at most so many characters, the last of them an ellipsis if some are left out.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// An id in a row: the start of it, and all of it where somebody points at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What is shown.
    pub shown: String,
    /// All of it.
    pub whole: String,
    /// Where it leads.
    pub path: String,
}

/// How much of an id a row shows at most; the stylesheet cuts it to the width of its column.
const NAME_SHOWN: usize = 48;

impl Name {
    /// An id below a path such as `/agents`.
    pub fn below(path: &str, id: &str) -> Self {
        Self {
            shown: shortened(id, NAME_SHOWN),
            whole: id.to_owned(),
            path: format!("{path}/{}", text::segment(id)),
        }
    }
}

/// A day as an input has it.
pub fn day(day: impl text::Given<Option<Day>>) -> String {
    day.given().map(|day| day.to_string()).unwrap_or_default()
}

/// How many of a page say something, for headlines: `Three of these 25 runs`.
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

/// Parts of a sentence: `a`, `a and b`, `a, b and c`.
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
    fn addresses_hold_what_was_asked_for_and_nothing_else() {
        assert_eq!(address("/runs", &[("agent", ""), ("spec", "")]), "/runs");
        assert_eq!(
            address("/runs", &[("agent", "a/b&c=<d>"), ("cursor", "1f")]),
            "/runs?agent=a%2Fb%26c%3D%3Cd%3E&cursor=1f"
        );
    }

    #[test]
    fn what_was_not_understood_is_said() {
        let day = Ignored { name: "from", value: "x".repeat(500), expected: "a day such as 2026-11-15" };
        let said = ignored(std::slice::from_ref(&day));
        assert!(said.starts_with("Not understood and ignored: from “xxx"), "{said}");
        assert!(said.ends_with("…”, expected a day such as 2026-11-15.") && said.len() < 200, "{said}");
        assert_eq!(ignored(&[]), "");
    }

    #[test]
    fn long_names_are_cut_at_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöüß", 3), "äö…");
        let name = Name::below("/agents", &"🙂/".repeat(100));
        assert_eq!(name.shown.chars().count(), 48);
        assert_eq!(name.whole.chars().count(), 200);
        assert!(name.path.starts_with("/agents/%F0%9F%99%82%2F%F0"), "{}", name.path);
    }

    #[test]
    fn headlines_count() {
        let said = |count, all| some_of(count, all, "run", "runs");
        assert_eq!(said(3, 25), "Three of these 25 runs");
        assert_eq!(said(25, 25), "All of these 25 runs");
        assert_eq!(said(0, 25), "None of these 25 runs");
        assert_eq!(said(1, 1), "This run");
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!((listed(&parts[..1]), listed(&parts)), ("a".to_owned(), "a, b and c".to_owned()));
    }
}
