//! What the program says about these commands.

use super::run;

const COMMANDS: [&[&str]; 14] = [
    &["serve"],
    &["keys"],
    &["keys", "create"],
    &["keys", "list"],
    &["keys", "revoke"],
    &["overview"],
    &["agents", "list"],
    &["agents", "show"],
    &["sessions", "list"],
    &["sessions", "records"],
    &["verify"],
    &["backup"],
    &["restore"],
    &["doctor"],
];

#[test]
fn every_command_and_every_option_of_it_is_explained() {
    for command in COMMANDS {
        let help = run(&[command, &["--help"]].concat()).good();
        let usage = format!("Usage: renown {}", command.join(" "));
        assert!(help.contains(&usage), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 110), "{help}");
        // In the long help, what an option means stands below it.
        let lines: Vec<&str> = help.lines().collect();
        let options = |line: &str| line.trim_start().starts_with('-') && !line.trim_start().starts_with("- ");
        for pair in lines.windows(2).filter(|pair| options(pair[0])) {
            let explained = pair[0].trim().split("  ").count() > 1 || pair[1].starts_with("          ");
            assert!(explained, "{command:?}: {}", pair[0]);
        }
        let short = run(&[command, &["-h"]].concat()).good();
        assert!(short.lines().count() < 30, "{short}");
    }
}

#[test]
fn commands_that_read_end_with_two_examples() {
    for command in [
        &["overview"][..],
        &["agents"],
        &["agents", "list"],
        &["agents", "show"],
        &["sessions"],
        &["sessions", "list"],
        &["sessions", "records"],
    ] {
        let help = run(&[command, &["--help"]].concat()).good();
        let lines: Vec<&str> = help.trim_end().lines().rev().take(3).collect();
        let name = format!("  renown {}", command.join(" "));
        let [second, first, "Examples:"] = lines[..] else { panic!("{help}") };
        assert!(first.starts_with(&name) && second.starts_with(&name), "{help}");
    }
    let help = run(&["--help"]).good();
    let place = |command: &str| help.find(&format!("\n  {command} ")).unwrap();
    assert!(place("overview") < place("agents") && place("agents") < place("sessions"), "{help}");
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
