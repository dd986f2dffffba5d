//! Words that make a sentence hard to read. The house rules ask for plain English; these are the habits that a pattern can find.
//!
//! Every line of code, documentation and pages is checked: names, comments, texts and templates alike. Also checked are settings
//! (TOML), style sheets, scripts, and the names of the steps in `api-scenarios`.

use anyhow::Result;
use regex::Regex;

use super::has_extension;

/// A pattern, and what to write instead.
const PATTERNS: [(&str, &str); 10] = [
    (r"\bwhoever\b", "name the actor: client, caller, operator"),
    (r"\bnobody\b", "no client, no caller"),
    (
        r"\b(it|they|that|which|who) (is|are) none\b|\b(?-i:none) if (it|they|there)\b",
        "is absent, is empty, is invalid, `None`",
    ),
    (r"\bof which\b", "split the sentence"),
    (r"\bso (many|much)\b", "this many, or name the limit"),
    (r"\banew\b|\bmade again\b", "rebuilt"),
    (r"\btold\b", "reported, logged, answered, received"),
    (r"\bheard\b", "received, seen"),
    (r"\bstands?\b", "is"),
    (r"\ba \w+ a (line|request|session|second|minute|day|row|batch|call|file|job|key)\b", "per"),
];

/// Files that may use any word, and why.
const ALLOWED: [(&str, &str); 2] = [
    (
        "crates/core/tests/gates/",
        "recorded outputs of other programs, and sentences that gates have to understand",
    ),
    ("xtask/src/tidy/words.rs", "the patterns themselves, and their tests"),
];

/// Checks one file. `name` is its path in the repository.
pub(super) fn check(name: &str, text: &str, problems: &mut Vec<String>) -> Result<()> {
    if ALLOWED.iter().any(|(path, _)| name.starts_with(path)) {
        return Ok(());
    }
    for (pattern, instead) in PATTERNS {
        let pattern = Regex::new(&format!("(?i-u){pattern}"))?;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| is_for_readers(name, line)) {
            if let Some(found) = pattern.find(line) {
                problems.push(format!(
                    "{name}:{}: \"{}\", write instead: {instead}",
                    index + 1,
                    found.as_str()
                ));
            }
        }
    }
    Ok(())
}

/// Returns whether a line has text for readers. In an API scenario these are the names of its steps and what it is about: requests
/// and replies may contain any word.
fn is_for_readers(name: &str, line: &str) -> bool {
    let starts = ["{\"name\": ", "\"about\": "];
    !has_extension(name, "json") || starts.iter().any(|start| line.trim_start().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_words_are_found_with_their_line() {
        let mut problems = Vec::new();
        check("a.rs", "/// Fine.\n/// The key; none if it is Nobody's.\n", &mut problems).unwrap();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.starts_with("a.rs:2: ")), "{problems:?}");
        problems.clear();
        check("a.rs", "/// Logs a line a request.\n", &mut problems).unwrap();
        assert_eq!(problems, ["a.rs:1: \"a line a request\", write instead: per"]);
    }

    #[test]
    fn of_a_scenario_only_names_are_checked() {
        let mut problems = Vec::new();
        let scenario =
            "    {\"name\": \"nobody knows\",\n     \"request\": {\"path\": \"/v1/agents/nobody\"},\n";
        check("api-scenarios/a.json", scenario, &mut problems).unwrap();
        assert_eq!(problems, ["api-scenarios/a.json:1: \"nobody\", write instead: no client, no caller"]);
    }

    #[test]
    fn plain_sentences_pass() {
        let mut problems = Vec::new();
        let plain = "/// Returns `None` if no caller sent a key. Understands standard input.\n";
        check("a.rs", plain, &mut problems).unwrap();
        check("crates/core/tests/gates/x.rs", "told\n", &mut problems).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }
}
