//! Which process holds a data directory, and for what.

use std::fmt;

/// The purpose for which a process opens a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockPurpose<'a> {
    /// A server, which keeps the directory until it is stopped.
    Server(&'a str),
    /// A command, which releases the directory soon.
    Command(&'a str),
}

impl<'a> From<&'a str> for LockPurpose<'a> {
    fn from(command: &'a str) -> Self {
        Self::Command(command)
    }
}

/// The process that holds a data directory, as it describes itself in the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// A server, which keeps the directory until it is stopped.
    Server(String),
    /// A command, which releases the directory soon.
    Command(String),
    /// A process that has not described itself.
    Unknown,
}

/// The second line of a lock file, for each kind of holder.
const SERVER: &str = "server";
const COMMAND: &str = "command";

impl LockHolder {
    /// Returns the text of the lock file for this process.
    pub(crate) fn to_text(purpose: LockPurpose<'_>) -> String {
        let (kind, purpose) = match purpose {
            LockPurpose::Server(purpose) => (SERVER, purpose),
            LockPurpose::Command(purpose) => (COMMAND, purpose),
        };
        format!("process {} ({purpose})\n{kind}\n", std::process::id())
    }

    /// Parses the text of a lock file. The text may be empty: the holder writes it after it has locked the file.
    pub(crate) fn parse(text: &str) -> Self {
        let (description, kind) = text.split_once('\n').unwrap_or((text, COMMAND));
        match (description, kind.trim_end()) {
            ("", _) => Self::Unknown,
            (description, SERVER) => Self::Server(description.to_owned()),
            (description, _) => Self::Command(description.to_owned()),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(description) | Self::Command(description) => f.write_str(description),
            Self::Unknown => f.write_str("another process"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_holder_does_not_depend_on_its_description() {
        let process = std::process::id();
        for (purpose, expected) in [
            (LockPurpose::Server("s"), LockHolder::Server(format!("process {process} (s)"))),
            ("renown serve".into(), LockHolder::Command(format!("process {process} (renown serve)"))),
        ] {
            assert_eq!(LockHolder::parse(&LockHolder::to_text(purpose)), expected);
        }
        for (text, expected) in [
            ("", LockHolder::Unknown),
            ("\n", LockHolder::Unknown),
            ("process 1 (renown serve)", LockHolder::Command("process 1 (renown serve)".to_owned())),
        ] {
            assert_eq!(LockHolder::parse(text), expected, "{text:?}");
        }
        assert_eq!(LockHolder::Unknown.to_string(), "another process");
    }
}
