//! How an error is told: one line `error: …` that says where and what, and a line `hint: …` where one helps.

use std::io::{self, Write};

/// The exit code of bad usage and bad input.
pub(crate) const BAD_INPUT: u8 = 2;

/// Why the command could not do what was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    error: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None }
    }

    /// The same, with where it happened before it.
    pub(crate) fn within(mut self, place: &str) -> Self {
        self.error = format!("{place}: {}", self.error);
        self
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same from what clap prints about bad usage: paragraphs of which the first says what is wrong, and another
    /// has a tip or the usage.
    pub(crate) fn from_usage(text: &str) -> Self {
        let paragraphs: Vec<String> =
            text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let said = |prefix: &str| paragraphs.iter().find_map(|paragraph| paragraph.strip_prefix(prefix));
        let failure = Self::new(said("error: ").unwrap_or("bad usage"));
        match (said("tip: "), said("Usage: ")) {
            (Some(tip), _) => failure.hint(tip),
            (None, Some(usage)) => failure.hint(format!("usage: {usage}")),
            (None, None) => failure,
        }
    }
}

/// What is wrong, without the hint.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.error)
    }
}

/// Tells the user. A standard error that is closed has nobody to tell.
pub(crate) fn print(failure: &Failure) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "error: {}", printable(&failure.error));
    if let Some(hint) = &failure.hint {
        let _ = writeln!(out, "hint: {}", printable(hint));
    }
}

/// Tells the user something that is no error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// Tells the user that something was not as it should be.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr().lock(), "warning: {}", printable(text));
}

/// The text on one line and without anything that a terminal would obey: file names and arguments come from outside.
pub(crate) fn printable(text: &str) -> String {
    let escaped =
        |char: char| if char.is_control() { char.escape_default().to_string() } else { char.to_string() };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors_are_one_line_with_a_hint() {
        let missing = "error: the following required arguments were not provided:\n  <KIND>\n\nUsage: renown score <KIND> [FILE]\n\nFor more information, try '--help'.\n";
        assert_eq!(
            Failure::from_usage(missing),
            Failure::new("the following required arguments were not provided: <KIND>")
                .hint("usage: renown score <KIND> [FILE]")
        );
        let misspelt = "error: unrecognized subcommand 'scor'\n\n  tip: a similar subcommand exists: 'score'\n\nUsage: renown [OPTIONS] <COMMAND>\n";
        assert_eq!(
            Failure::from_usage(misspelt),
            Failure::new("unrecognized subcommand 'scor'").hint("a similar subcommand exists: 'score'")
        );
    }

    #[test]
    fn nothing_from_outside_commands_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb é"), "a\\u{1b}[31m\\nb é");
    }
}
