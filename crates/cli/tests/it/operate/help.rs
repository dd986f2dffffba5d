//! What the program says about these commands.

use super::run;

const COMMANDS: [&[&str]; 11] = [
    &["serve"],
    &["keys"],
    &["keys", "create"],
    &["keys", "list"],
    &["keys", "revoke"],
    &["agents", "list"],
    &["agents", "show"],
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
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).good();
        for word in
            ["serve", "keys", "revoke", "agents", "verify", "backup", "restore", "doctor", "print-config"]
        {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
