//! How errors are printed: one line `error: …` with the location and the problem, and a line `hint: …` if one helps.

use std::io::{self, Write};

/// The exit code of bad usage and bad input.
pub(crate) const BAD_INPUT: u8 = 2;

/// An error of a command, with an optional hint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    error: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None }
    }

    /// Adds the location of the problem in front of the error.
    pub(crate) fn within(mut self, location: &str) -> Self {
        self.error = format!("{location}: {}", self.error);
        self
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Converts clap's message about bad usage. It has paragraphs: the first is the error, another is a tip or the usage.
    pub(crate) fn from_usage(text: &str) -> Self {
        let paragraphs: Vec<String> =
            text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let paragraph = |prefix: &str| paragraphs.iter().find_map(|paragraph| paragraph.strip_prefix(prefix));
        let failure = Self::new(paragraph("error: ").unwrap_or("bad usage"));
        match (paragraph("tip: "), paragraph("Usage: ")) {
            (Some(tip), _) => failure.hint(tip),
            (None, Some(usage)) => failure.hint(format!("usage: {usage}")),
            (None, None) => failure,
        }
    }
}

/// The error without the hint.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.error)
    }
}

/// Prints an error. Ignores a closed standard error.
pub(crate) fn print(failure: &Failure) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "error: {}", printable(&failure.error));
    if let Some(hint) = &failure.hint {
        let _ = writeln!(out, "hint: {}", printable(hint));
    }
}

/// Prints a message that is not an error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr().lock(), "warning: {}", printable(text));
}

/// Escapes control characters, so that the text is one line and cannot control the terminal: file names and arguments are untrusted.
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
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\u{1b}[31m\nb é"), "a\\u{1b}[31m\\nb é");
    }
}
