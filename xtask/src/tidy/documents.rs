//! Documents: their sizes, their links, and the page that is generated.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use crate::docs;
use crate::shell::{output, program, root};

/// Maximum sizes in bytes. Readers who are in a hurry do not read a longer document: move parts of it to `docs/`.
const SIZES: [(&str, usize); 2] = [("README.md", 8_000), ("ARCHITECTURE.md", 14_000)];

/// Maximum size of a decision: one page.
const DECISION_BYTES_MAX: usize = 4_000;

pub(super) fn check(problems: &mut Vec<String>) -> Result<()> {
    let listed =
        output(program("git").args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]))?;
    let mut texts = HashMap::new();
    for name in listed.lines() {
        // A file that was deleted and not yet committed is still listed.
        if let Ok(text) = fs::read_to_string(root().join(name)) {
            texts.insert(PathBuf::from(name), text);
        }
    }
    for (name, text) in &texts {
        let limit = SIZES.iter().find(|(limited, _)| name == Path::new(limited)).map(|(_, bytes)| *bytes);
        let limit = limit.or(name.starts_with("docs/decisions").then_some(DECISION_BYTES_MAX));
        if let Some(limit) = limit.filter(|limit| text.len() > *limit) {
            problems.push(format!("{}: {} bytes, expected at most {limit}", name.display(), text.len()));
        }
        for (line, target) in links(text) {
            if let Some(problem) = broken(name, target, &texts) {
                problems.push(format!("{}:{line}: link to {target}: {problem}", name.display()));
            }
        }
    }
    problems.extend(docs::check().err().map(|error| error.to_string()));
    Ok(())
}

/// Returns the links and pictures of a document that lead to files, with their lines, from 1. Code is skipped.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        is_code ^= line.starts_with("```");
        let parts = line.split("](").skip(1).filter(|_| !is_code);
        let targets = parts.filter_map(|part| part.split_once(')')).map(|(target, _)| target);
        links.extend(targets.filter(|target| !target.contains("://")).map(|target| (index + 1, target)));
    }
    links
}

/// Returns what is wrong with a link, or `None`.
fn broken(from: &Path, target: &str, texts: &HashMap<PathBuf, String>) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { from.to_owned() } else { resolve(from, path) };
    if !root().join(&file).exists() {
        return Some("no such file");
    }
    let has_anchor = |text: &String| headings(text).any(|heading| heading == anchor);
    let is_found = anchor.is_empty() || texts.get(&file).is_some_and(has_anchor);
    (!is_found).then_some("no such heading")
}

/// Returns a path relative to the root, from a path relative to the folder of a document.
fn resolve(from: &Path, path: &str) -> PathBuf {
    let mut resolved = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(path).components() {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    resolved
}

/// Returns the anchors of a document's headings, as GitHub makes them: lower case, blanks as hyphens, no other
/// punctuation.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    let titles = text.lines().filter_map(|line| line.strip_prefix('#'));
    titles.map(|title| {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "[a](b.md) and ![c](d/e.png)\n```json\n[x](y)\n```\n[web](https://a.b)\n";
        assert_eq!(links(text), [(1, "b.md"), (1, "d/e.png")]);
    }

    #[test]
    fn a_link_leads_to_a_file_and_a_heading() {
        let from = Path::new("docs/a.md");
        let texts = HashMap::from([(PathBuf::from("README.md"), "## The one, 0–10\n".to_owned())]);
        assert_eq!(broken(from, "../README.md#the-one-010", &texts), None);
        assert_eq!(broken(from, "../README.md#the-two", &texts), Some("no such heading"));
        assert_eq!(broken(from, "missing.md", &texts), Some("no such file"));
    }
}
