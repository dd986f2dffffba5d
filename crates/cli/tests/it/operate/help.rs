//! Does `--help` explain every command and every option, and do completions know them?

use super::run;

const COMMANDS: [&[&str]; 40] = [
    &["judge"],
    &["gate"],
    &["proxy"],
    &["score"],
    &["overview"],
    &["agents"],
    &["agents", "list"],
    &["agents", "show"],
    &["sessions"],
    &["sessions", "list"],
    &["sessions", "records"],
    &["eval"],
    &["eval", "run"],
    &["eval", "list"],
    &["eval", "show"],
    &["eval", "compare"],
    &["eval", "cancel"],
    &["eval", "retry"],
    &["runs"],
    &["runs", "submit"],
    &["runs", "show"],
    &["runs", "list"],
    &["runs", "compare"],
    &["run"],
    &["report"],
    &["export"],
    &["serve"],
    &["setup"],
    &["open"],
    &["keys"],
    &["keys", "create"],
    &["keys", "list"],
    &["keys", "revoke"],
    &["doctor"],
    &["verify"],
    &["backup"],
    &["restore"],
    &["forget"],
    &["completions"],
    &[],
];

#[test]
fn help_explains_every_option_in_100_columns() {
    for command in COMMANDS {
        let help = run(&[command, &["--help"]].concat()).good();
        let usage = format!("Usage: renown {}", command.join(" "));
        assert!(help.contains(&usage), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        // The long help explains an option on the line below it.
        let lines: Vec<&str> = help.lines().collect();
        let options = |line: &str| line.starts_with("  -") || line.starts_with("      --");
        for pair in lines.windows(2).filter(|pair| options(pair[0])) {
            let explained = pair[0].trim().split("  ").count() > 1 || pair[1].starts_with("          ");
            assert!(explained, "{command:?}: {}", pair[0]);
        }
        let short = run(&[command, &["-h"]].concat()).good();
        assert!(short.lines().count() < 50, "{short}");
        assert!(command.is_empty() || short.contains("\nExamples:\n  "), "{short}");
    }
}

#[test]
fn the_main_help_groups_the_commands() {
    let help = run(&["--help"]).good();
    let position = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
    let titles =
        ["Judge and gate:", "Scores and evidence:", "Server and setup:", "Administration:", "Options:"];
    assert!(titles.map(position).is_sorted(), "{help}");
    let commands = ["\n  judge ", "\n  gate ", "\n  overview ", "\n  agents ", "\n  serve ", "\n  keys "];
    assert!(commands.map(position).is_sorted(), "{help}");
    assert_eq!(help, run(&["-h"]).good());
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).good();
        for word in [
            "serve",
            "keys",
            "revoke",
            "overview",
            "agents",
            "sessions",
            "records",
            "verify",
            "backup",
            "restore",
            "doctor",
            "print-config",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
