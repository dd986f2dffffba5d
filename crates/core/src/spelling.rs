//! Messages for unknown names: the expected names and the most similar one.
//!
//! Request parameters, fields of a body and keys of `renown.toml` use the same messages.

/// Returns the message for an unknown name: `unknown field, expected one of from, to; did you mean from?`
///
/// `what` is the kind of thing, such as `field`.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let expected = match known {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        several => format!("one of {}", several.join(", ")),
    };
    format!(
        "unknown {what}, expected {expected}{}",
        hint(nearest(name, known.iter().copied(), |known| known))
    )
}

/// Returns the end of such a message: the most similar name, if there is one.
pub fn hint(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}

/// Returns the candidate with the name most similar to `name`, the first of equal ones. Returns `None` if no name is
/// similar.
pub fn nearest<T>(
    name: &str,
    candidates: impl IntoIterator<Item = T>,
    name_of: impl Fn(&T) -> &str,
) -> Option<T> {
    let chars = name.chars().count();
    let similar = |candidate: T| {
        let known = name_of(&candidate);
        let length = known.chars().count();
        // More changes make a different word. The lengths alone exclude most candidates, even for a name of a million
        // characters.
        let changes_max = (length / 3 + 1).min(length.saturating_sub(1));
        let changes = (chars.abs_diff(length) <= changes_max).then(|| distance(name, known))?;
        (changes <= changes_max).then_some((changes, candidate))
    };
    let similar = candidates.into_iter().filter_map(similar);
    similar.min_by_key(|(changes, _)| *changes).map(|(_, candidate)| candidate)
}

/// Returns the edit distance: how many characters to insert, remove or change, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, a) in a.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(&b) {
            let changed = diagonal + usize::from(!a.eq_ignore_ascii_case(b));
            diagonal = *cell;
            *cell = changed.min(*cell + 1).min(left + 1);
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_with_the_fewest_changes() {
        let known = ["agent_id", "cursor", "from", "limit", "q", "to"];
        for (name, expected) in [
            ("agent", Some("agent_id")),
            ("agentId", Some("agent_id")),
            ("limits", Some("limit")),
            ("CURSOR", Some("cursor")),
            ("form", Some("from")),
            ("t", Some("to")),
            ("x", None),
            ("", None),
            ("unknown_parameter", None),
        ] {
            assert_eq!(nearest(name, known, |known| known), expected, "{name}");
        }
        let long = "a".repeat(1_000_000);
        assert_eq!(nearest(&long, known, |known| known), None);
        assert_eq!(
            nearest("ab", [("aa", 1), ("bb", 2)], |(name, _)| name),
            Some(("aa", 1)),
            "the first of two"
        );
    }

    #[test]
    fn the_message_names_what_was_expected() {
        for (name, known, expected) in [
            ("x", &[][..], "unknown parameter, expected none"),
            ("points", &["point"][..], "unknown parameter, expected point; did you mean point?"),
            ("fron", &["from", "to"][..], "unknown parameter, expected one of from, to; did you mean from?"),
            ("colour", &["from", "to"][..], "unknown parameter, expected one of from, to"),
        ] {
            assert_eq!(unknown("parameter", name, known), expected);
        }
    }

    #[test]
    fn the_edit_distance_of_two_words() {
        for (a, b, changes) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("é", "e", 1),
        ] {
            assert_eq!(distance(a, b), changes, "{a} {b}");
        }
    }
}
