//! `cargo xtask tidy`: what lints cannot check.
//!
//! | check | rule |
//! |---|---|
//! | sources | every Rust file opens with module documentation; an unfinished thing says why it is unfinished |
//! | length | files above 400 lines are reported, so that they are split by meaning before they are hard to read |
//! | purity | a pure crate depends on nothing but its list, and names no module of the outside world |
//! | documents | README and ARCHITECTURE stay short, links between documents resolve, `docs/scores.md` is current |
//! | names | a public type has a name of its own |
//! | words | plain English: none of the habits that a pattern can find |
//! | dependencies | licenses and duplicate majors, by `deny.toml` |
//! | advisories | `cargo deny`, where it is installed and its database can be reached |

mod dependencies;
mod documents;
mod names;
mod words;

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::shell::{output, program, root};

/// Files longer than this are reported.
const LINES_WANTED: usize = 400;

/// Runs every check and lists all that is wrong.
pub(crate) fn run() -> Result<()> {
    let mut problems = Vec::new();
    sources(&mut problems)?;
    documents::check(&mut problems)?;
    dependencies::check(&mut problems)?;
    for problem in &problems {
        println!("tidy: {problem}");
    }
    ensure!(problems.is_empty(), "{} things are not tidy", problems.len());
    dependencies::advisories()?;
    println!("tidy");
    Ok(())
}

fn sources(problems: &mut Vec<String>) -> Result<()> {
    let listed = output(program("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let texts = ["rs", "py", "ts", "mjs", "js", "css", "toml", "md", "html"];
    let is_text = |name: &&str| {
        texts.iter().any(|extension| has_extension(name, extension)) || name.starts_with("api-scenarios/")
    };
    let mut types = names::TypeNames::default();
    for name in listed.lines().filter(is_text) {
        // A file that was deleted and not yet committed is still listed.
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        words::check(name, &text, problems)?;
        if has_extension(name, "rs") && name.contains("/src/") || name.starts_with("sdk/node/native/") {
            types.add(name, &text)?;
        }
        if !has_extension(name, "rs") && !has_extension(name, "py") {
            continue;
        }
        if has_extension(name, "rs") && !text.starts_with("//! ") {
            problems.push(format!("{name}: no module documentation, expected `//! …` on the first line"));
        }
        for (folder, modules) in PURE {
            if name.starts_with(folder) {
                let found = impure(&text, modules);
                problems.extend(
                    found.map(|(line, module)| format!("{name}:{line}: {folder} is pure, found {module}")),
                );
            }
        }
        problems.extend(unfinished(&text).map(|line| {
            format!("{name}:{line}: unfinished without a reason, expected `{UNFINISHED}(why it waits, and for what)`")
        }));
        let lines = text.lines().count();
        if has_extension(name, "rs") && lines > LINES_WANTED {
            println!("length: {name} has {lines} lines, wanted are at most {LINES_WANTED}");
        }
    }
    types.report(problems);
    Ok(())
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Pure sources, and the modules that they must not use. Clippy bans functions and types by name; this bans whole
/// modules.
const PURE: [(&str, &[&str]); 6] = [
    ("crates/core/src/", OUTSIDE),
    ("crates/core/src/", &["std::collections::Hash"]),
    ("crates/telemetry/src/", OUTSIDE),
    ("crates/pages/src/", OUTSIDE),
    ("crates/store/src/fold", OUTSIDE),
    ("crates/store/src/fold", &["rusqlite", "getrandom", "tokio", "crate::sqlite", "crate::memory"]),
];

const OUTSIDE: &[&str] =
    &["std::fs", "std::io", "std::net", "std::env", "std::process", "std::thread", "std::time"];

/// Returns the lines, from 1, that name one of these modules.
fn impure<'a>(
    text: &'a str,
    modules: &'static [&'static str],
) -> impl Iterator<Item = (usize, &'static str)> + 'a {
    text.lines().enumerate().flat_map(move |(index, line)| {
        modules.iter().filter(move |module| line.contains(**module)).map(move |module| (index + 1, *module))
    })
}

/// Written in two halves, so that this file does not report itself.
const UNFINISHED: &str = concat!("TO", "DO");

/// Returns the lines, from 1, with an unfinished thing that has no reason in parentheses.
fn unfinished(text: &str) -> impl Iterator<Item = usize> + '_ {
    let unexplained = |line: &str| {
        line.split(UNFINISHED).skip(1).any(|rest| {
            let reason = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            reason.is_none_or(|(reason, _)| reason.trim().is_empty())
        })
    };
    text.lines().enumerate().filter(move |(_, line)| unexplained(line)).map(|(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_source_names_no_impure_module() {
        let text = "use std::fmt;\nuse std::fs;\nlet now = std::time::Instant::now();\n";
        assert_eq!(impure(text, OUTSIDE).collect::<Vec<_>>(), [(2, "std::fs"), (3, "std::time")]);
    }

    #[test]
    fn unfinished_things_need_a_reason() {
        let text = |note: &str| format!("fine\n// {UNFINISHED}{note}\n");
        assert_eq!(unfinished(&text(": later")).collect::<Vec<_>>(), [2]);
        assert_eq!(unfinished(&text("() later")).collect::<Vec<_>>(), [2]);
        assert_eq!(unfinished(&text("(part 3 brings the store) write it")).count(), 0);
    }
}
