//! Words that make a sentence hard to read. The house rules ask for plain English; these are the habits that a pattern can find.
//!
//! Every line of code, documentation and pages is checked: names, comments, texts and templates alike.

use anyhow::Result;
use regex::Regex;

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

/// Folders that were written before this check and still have to be reworded.
const PENDING: [&str; 5] = ["crates/proxy/", "crates/server/", "crates/store/", "sdk/", "xtask/"];

/// Files that may use any word, and why.
const ALLOWED: [(&str, &str); 1] = [(
    "crates/core/tests/gates/",
    "recorded outputs of other programs, and sentences that gates have to understand",
)];

/// Checks one file. `name` is its path in the repository.
pub(super) fn check(name: &str, text: &str, problems: &mut Vec<String>) -> Result<()> {
    let allowed = ALLOWED.iter().map(|(path, _)| *path);
    if allowed.chain(PENDING).any(|path| name.starts_with(path)) {
        return Ok(());
    }
    for (pattern, instead) in PATTERNS {
        let pattern = Regex::new(&format!("(?i-u){pattern}"))?;
        for (index, line) in text.lines().enumerate() {
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
    fn plain_sentences_pass() {
        let mut problems = Vec::new();
        let plain = "/// Returns `None` if no caller sent a key. Understands standard input.\n";
        check("a.rs", plain, &mut problems).unwrap();
        check("crates/core/tests/gates/x.rs", "told\n", &mut problems).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }
}
