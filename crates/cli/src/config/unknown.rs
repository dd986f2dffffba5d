//! Finds unknown keys of `renown.toml`. A misspelled key would silently keep the default.
//!
//! The options of gates are not checked here: each gate checks its own when an engine is built.

use std::ops::Range;

use renown_core::json::Found;
use renown_core::spelling;
use toml::de::{DeTable, DeValue};

/// Every known key. `*` matches any name. Keys below `.**` are checked elsewhere.
const KNOWN: [&str; 34] = [
    "data",
    "listen",
    "store",
    "limits",
    "limits.requests_per_minute",
    "limits.ingest_per_minute",
    "retention",
    "retention.evaluations",
    "retention.runs",
    "retention.sessions",
    "otlp",
    "otlp.grpc",
    "otlp.http",
    "otlp.auth",
    "pages",
    "pages.attention_below",
    "prices.*.input",
    "prices.*.output",
    "prices.*.cache_read",
    "prices.*.cache_creation",
    "prices.*.cache_creation_1h",
    "proxy.agent",
    "proxy.server",
    "proxy.key",
    "proxy.observe",
    "proxy.pre",
    "proxy.roots",
    "proxy.pin",
    "proxy.methods",
    "proxy.upstream",
    "proxy.listen",
    "proxy.verbose",
    "gates.**",
    "gate.**",
];

/// Returns the span of the first unknown key and an error message. Returns `None` for invalid TOML.
pub(super) fn find(text: &str) -> Option<(Range<usize>, String)> {
    let file = DeTable::parse(text).ok()?;
    in_table(file.get_ref(), &[])
}

fn in_table(table: &DeTable<'_>, above: &[&str]) -> Option<(Range<usize>, String)> {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys.into_iter().find_map(|(key, value)| {
        let path = [above, &[key.get_ref().as_ref()]].concat();
        let found = KNOWN.iter().map(|known| compare(known, &path)).max().unwrap_or(Match::Unknown);
        match (found, value.get_ref()) {
            (Match::Unknown, _) => Some((key.span(), message(&path))),
            (Match::Table, DeValue::Table(table)) => in_table(table, &path),
            // If a value replaces a table, the parser reports its type.
            (Match::Table | Match::Key, _) => None,
        }
    })
}

/// How a key matches a known key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// It does not.
    Unknown,
    /// It is the known key.
    Key,
    /// It is a table that contains the known key.
    Table,
}

fn compare(known: &str, path: &[&str]) -> Match {
    let (mut parts, mut keys) = (known.split('.'), path.iter());
    loop {
        match (parts.next(), keys.next()) {
            (Some("**"), _) | (None, None) => break Match::Key,
            (Some(_), None) => break Match::Table,
            (Some(part), Some(key)) if part == "*" || part == *key => {}
            (Some(_) | None, Some(_)) => break Match::Unknown,
        }
    }
}

fn message(path: &[&str]) -> String {
    let above = path.split_last().map_or(&[][..], |(_, above)| above);
    let beside = KNOWN.iter().filter(|known| compare(known, above) == Match::Table);
    let mut expected: Vec<&str> = beside.filter_map(|known| known.split('.').nth(above.len())).collect();
    expected.dedup();
    let (name, expected) = (Found::new(&path.join(".")), expected.join(", "));
    let hint = spelling::hint(nearest(path).as_deref());
    format!("unknown key {name}, expected one of {expected}{hint}")
}

/// Returns the most similar known key, for a misspelled key or one in the wrong table.
fn nearest(path: &[&str]) -> Option<String> {
    let last = path.last()?;
    let parts_of = |known: &&'static str| known.split('.').filter(|part| *part != "**").collect::<Vec<_>>();
    // Among equally similar keys, those of the same depth come first.
    let (beside, elsewhere): (Vec<_>, Vec<_>) =
        KNOWN.iter().map(parts_of).partition(|parts| parts.len() == path.len());
    let candidates = beside.into_iter().chain(elsewhere);
    let parts = spelling::nearest(last, candidates, |parts| parts.last().copied().unwrap_or_default())?;
    // A free name is the written one if it fits, else an example.
    let written = |(depth, part): (usize, &&str)| match (*part, path.get(depth)) {
        ("*", Some(key)) if parts.len() == path.len() => (*key).to_owned(),
        ("*", _) => "\"MODEL\"".to_owned(),
        (part, _) => part.to_owned(),
    };
    Some(parts.iter().enumerate().map(written).collect::<Vec<_>>().join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_accepted() {
        for text in [
            "",
            "data = \"d\"\nlisten = \"x\"\nstore = 5\n",
            "[limits]\nrequests_per_minute = 1\ningest_per_minute = 2\n",
            "prices.\"a.b\" = {input = 1, output = 2, cache_read = 3, cache_creation = 4}\n",
            "limits = 5\nprices = 3\n",
            "[gates]\nanything = 1\n[gate.pii.deep]\nx = 1\n",
            "gate.\"rtb.bid-sanity\".max_price = 25\n",
            "[otlp]\ngrpc = \"off\"\nhttp = \"x\"\nauth = \"required\"\n",
            "[proxy]\npre = true\nroots = []\n",
            "not TOML",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn unknown_keys_are_reported_with_their_span_and_the_nearest_key() {
        for (text, key, nearest) in [
            ("lisen = \"x\"\n", "lisen", Some("listen")),
            ("Listen = \"x\"\n", "Listen", Some("listen")),
            ("\n[limit]\nrequests_per_minute = 1\n", "limit", Some("limits")),
            (
                "[limits]\nrequests-per-minute = 1\n",
                "limits.requests-per-minute",
                Some("limits.requests_per_minute"),
            ),
            ("requests_per_minute = 1\n", "requests_per_minute", Some("limits.requests_per_minute")),
            ("[prices.m]\ninput = 1\ncached_read = 3\n", "prices.m.cached_read", Some("prices.m.cache_read")),
            ("cache_read = 1\n", "cache_read", Some("prices.\"MODEL\".cache_read")),
            ("[gats]\nevaluate = []\n", "gats", Some("gates")),
            ("[proxy]\nobserv = true\n", "proxy.observ", Some("proxy.observe")),
            ("retention.evaluation = 5\n", "retention.evaluation", Some("retention.evaluations")),
            ("[[webhooks]]\nurl = \"x\"\n", "webhooks", None),
            ("[limits]\nx = 1\n[[limits.y]]\n", "limits.x", None),
            ("\"\" = 1\n", "", None),
        ] {
            let (span, error) = find(text).unwrap_or_else(|| panic!("{text}"));
            let written = key.rsplit('.').next().unwrap();
            assert_eq!(text.get(span).unwrap().trim_matches('"'), written, "{text}");
            assert!(error.starts_with(&format!("unknown key {key}, expected one of ")), "{error}");
            let named = error.split_once("; did you mean ").map(|(_, nearest)| nearest.trim_end_matches('?'));
            assert_eq!(named, nearest, "{error}");
        }
        let error = |text: &str| find(text).unwrap().1;
        assert!(
            error("x = 1").contains(
                "one of data, listen, store, limits, retention, otlp, pages, prices, proxy, gates, gate"
            ),
            "{}",
            error("x = 1")
        );
        assert!(error("limits.x = 1").contains("one of requests_per_minute, ingest_per_minute"));
        assert!(error(&format!("{} = 1", "k".repeat(100_000))).len() < 300);
    }
}
