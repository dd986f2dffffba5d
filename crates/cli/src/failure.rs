//! How an error is told: one line `error: …` that says where and what, and a line `hint: …` where one helps.

use std::io::{self, Write};

/// The exit code of bad usage and bad input.
pub(crate) const BAD_INPUT: u8 = 2;

/// Why the command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: String,
    hint: Option<&'static str>,
}

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// Tells the user. A standard error that is closed has nobody to tell.
pub(crate) fn print(failure: &Failure) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "error: {}", failure.error);
    if let Some(hint) = failure.hint {
        let _ = writeln!(out, "hint: {hint}");
    }
}

/// Tells the user something that is no error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
