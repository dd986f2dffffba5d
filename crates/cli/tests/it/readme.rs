//! Is what the README shows what the program prints?
//!
//! In a `console` block, a line `$ command` is run by a shell in the root of the workspace, with `renown` and
//! `cargo run --release --` standing for the program under test, and the lines below it are what it must print.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::root;

/// The commands of the README's `console` blocks, with what they print according to it.
fn examples(text: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line.strip_prefix("```")) {
            (false, Some(language)) => inside = language == "console",
            (true, Some(_)) => inside = false,
            (true, None) => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => output.extend([line, "\n"]),
                (None, None) => panic!("a console block begins with a command: {line}"),
            },
            (false, None) => {}
        }
    }
    examples
}

#[test]
fn every_example_prints_what_it_shows() {
    let program = Path::new(env!("CARGO_BIN_EXE_renown"));
    let path = [program.parent().unwrap().as_os_str(), &env::var_os("PATH").unwrap()].join(":".as_ref());
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let examples = examples(&text);
    assert!(examples.len() >= 7, "five scores, a batch and an explanation");
    for (command, expected) in examples {
        let line = command.replace("cargo run --release --", "renown");
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(root())
            .env("PATH", &path)
            .env_remove("RENOWN_CONFIG")
            .env("RENOWN_DATA", "no such directory")
            .output()
            .unwrap();
        let found = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(found, expected, "$ {command}");
    }
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = ci.lines().last().unwrap();
    assert_eq!(command, "cargo xtask test");
    assert!(readme.lines().any(|line| line == command), "the README names it on a line of its own");
}
