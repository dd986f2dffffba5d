//! Does every code block of `README.md` and `docs/*.md` work when it is pasted?
//!
//! The blocks of a document run in their order, in one empty directory with a link to `examples` and with a store of its own:
//!
//! | block | what is checked |
//! |---|---|
//! | `console` | each `$ command` prints exactly the lines below it, standard output first |
//! | `sh` | the script succeeds; a server that it starts in the background is stopped at its end |
//! | `toml` | `renown serve` accepts it as `renown.toml`; later blocks find it in the directory |
//! | `json` | it parses |
//! | `text` | nothing: formulas, pictures, parts of other files |
//! | another language | another test runs it: [`RUN_ELSEWHERE`] |
//!
//! The known ports are replaced, because they may be in use. A block that cannot run has the line `<!-- not run: reason -->` above it.
//! Decisions and the glossary have no code blocks.

mod blocks;
mod session;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::root;
use blocks::{Block, blocks};
use session::{Output, Session};

/// Languages that this test does not run: the document, the language, and what runs it.
const RUN_ELSEWHERE: [(&str, &str, &str); 5] = [
    ("docs/operations.md", "sql", "xtask/src/export.rs"),
    ("docs/reverse-proxy.md", "nginx", "xtask/src/otlp/reverse_proxy.rs"),
    ("docs/reverse-proxy.md", "caddyfile", "xtask/src/otlp/reverse_proxy.rs"),
    ("docs/sdks.md", "python", "sdk/python/tests/test_readme.py"),
    ("docs/sdks.md", "js", "sdk/node/test/package.test.mjs"),
];

/// Documents without code blocks.
const WITHOUT_BLOCKS: [&str; 1] = ["docs/glossary.md"];

/// One test per document, and their list.
macro_rules! documents {
    ($($test:ident: $document:literal,)*) => {
        const DOCUMENTS: &[&str] = &[$($document),*];
        $(#[test]
        fn $test() {
            run($document);
        })*
    };
}

documents! {
    api: "docs/api.md",
    compute_scores: "docs/compute-scores.md",
    docs_index: "docs/README.md",
    evals: "docs/evals.md",
    gates: "docs/gates.md",
    history: "docs/history.md",
    identities: "docs/identities.md",
    judge: "docs/judge.md",
    operations: "docs/operations.md",
    proxy: "docs/proxy.md",
    reverse_proxy: "docs/reverse-proxy.md",
    runs: "docs/runs.md",
    scores: "docs/scores.md",
    sdks: "docs/sdks.md",
    security: "docs/security.md",
    serve: "docs/serve.md",
}

/// Checks every block of a document. Returns what its scripts printed, in order.
fn run(document: &str) -> Vec<Output> {
    let text = read(document);
    let session = Session::new();
    let mut outputs = Vec::new();
    for Block { language, not_run, text, line } in blocks(document, &text) {
        let place = format!("{document}:{line}");
        match language.as_str() {
            _ if not_run => {}
            "console" => session.console(&place, &text),
            "sh" => outputs.push(session.script(&place, &text)),
            "toml" => session.configuration(&place, &text),
            "json" => {
                let parsed = serde_json::from_str::<Value>(&text);
                assert!(parsed.is_ok(), "{place}: {parsed:?}");
            }
            "text" => {}
            language => {
                let known = RUN_ELSEWHERE.iter().any(|entry| (entry.0, entry.1) == (document, language));
                assert!(known, "{place}: nothing runs a block of {language:?}; see the table of this test");
            }
        }
    }
    outputs
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

#[test]
fn every_document_has_a_test() {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let names = files.map(|file| format!("docs/{}", file.unwrap().file_name().to_str().unwrap()));
    let is_document = |name: &String| Path::new(name).extension().is_some_and(|extension| extension == "md");
    let found: BTreeSet<String> = names.filter(is_document).collect();
    let tested: BTreeSet<String> =
        DOCUMENTS.iter().chain(&WITHOUT_BLOCKS).map(|name| (*name).to_owned()).collect();
    assert_eq!(found, tested);
    for document in WITHOUT_BLOCKS {
        assert!(
            !read(document).contains("```"),
            "{document} has a code block: move it to the tested documents"
        );
    }
}

#[test]
fn other_tests_run_the_other_languages() {
    for (document, language, test) in RUN_ELSEWHERE {
        assert!(
            read(document).contains(&format!("```{language}\n")),
            "{document} has no block of {language}"
        );
        assert!(read(test).contains(document), "{test} does not read {document}");
    }
}

#[test]
fn readme() {
    let outputs = run("README.md");
    let [watched, served] = outputs.as_slice() else { panic!("two scripts, found {}", outputs.len()) };
    is_judged_twice(watched);
    is_the_verdict(served);
}

/// `renown judge` prints the same verdict for the log and for the session that the server received.
fn is_judged_twice(Output { stdout, stderr }: &Output) {
    let text = read("README.md");
    let (_, shown) = text.split_once("$ renown judge examples/claude-code.jsonl\n").unwrap();
    let (verdict, _) = shown.split_once("read 6 lines").unwrap();
    assert_eq!(stdout.matches(verdict).count(), 2, "{stdout}\n{stderr}");
    assert!(stderr.contains("submitted 6 lines"), "{stderr}");
}

/// The server answers the first request as the README shows, and then has the score that it answered.
fn is_the_verdict(Output { stdout, stderr }: &Output) {
    let text = read("README.md");
    let shown = blocks("README.md", &text).into_iter().find(|block| block.language == "json").unwrap();
    let shown: Value = serde_json::from_str(&shown.text).unwrap();
    let json = stdout.find("\n{\"evaluation_id\"").map(|at| stdout.split_at(at).1).unwrap_or_default();
    let replies = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let replies: Vec<Value> = replies.filter_map(Result::ok).collect();
    let [verdict, record] = replies.as_slice() else { panic!("{stdout}\n{stderr}") };
    let comparable = |reply: &Value| {
        let gates = reply["gates"].as_array().unwrap().iter();
        let gates = gates.map(|gate| (gate["name"].clone(), gate["passed"].clone(), gate["reason"].clone()));
        let mut reputation = reply["reputation"].as_object().unwrap().clone();
        // The latency of the gates is part of the score, and differs between machines.
        let score = reputation.remove("score").and_then(|score| score.as_u64()).unwrap();
        assert!((0..=250).contains(&score), "one failed evaluation: {score}");
        (reply["passed"].clone(), gates.collect::<Vec<_>>(), reputation)
    };
    assert_eq!(comparable(verdict), comparable(&shown));
    assert_eq!(
        record.get("score"),
        verdict.pointer("/reputation/score"),
        "the score is the same right after it"
    );
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    let command = ci.lines().last().unwrap();
    assert_eq!(command, "cargo xtask test");
    for command in [command, "cargo run --release -- serve"] {
        assert!(readme.lines().any(|line| line == command), "the README has the line {command}");
    }
}
