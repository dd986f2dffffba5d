//! Is every command in a group, and does every example parse?

use super::*;

/// Returns every visible command, with its full name.
fn commands() -> Vec<(String, Command)> {
    fn add(prefix: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = format!("{prefix} {}", command.get_name());
            add(&name, command, found);
            found.push((name, command.clone()));
        }
    }
    let mut found = Vec::new();
    add("renown", &command(), &mut found);
    found
}

#[test]
fn every_command_is_in_exactly_one_group() {
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    grouped.sort_unstable();
    let command = command();
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
    visible.sort_unstable();
    assert_eq!(grouped, visible);
}

/// Splits an example into words. Returns those of `renown`, without variables, pipes and redirections.
fn words(example: &str) -> Vec<String> {
    let words = example.split_whitespace().skip_while(|word| *word != "renown");
    let words = words.take_while(|word| !["|", "&&", "<", ">"].contains(word));
    words.map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn every_command_ends_with_examples_that_parse() {
    for (name, found) in commands() {
        let long = found.get_after_long_help().unwrap_or_else(|| panic!("{name}: no examples")).to_string();
        let (_, examples) = long.rsplit_once(EXAMPLES).unwrap_or_else(|| panic!("{name}: no examples"));
        assert_eq!(found.get_after_help().unwrap().to_string(), format!("{EXAMPLES}{examples}"), "{name}");
        let examples = examples.replace("\\\n", "");
        let examples: Vec<&str> = examples.lines().collect();
        assert!((2..=3).contains(&examples.len()), "{name}: two or three examples, found {examples:?}");
        for example in examples {
            let words = words(example);
            assert!(
                words.join(" ").starts_with(&name),
                "{name}: the example is of another command: {example}"
            );
            if let Err(error) = command().try_get_matches_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
}
