//! The planned changes, before anything is written.

use std::path::PathBuf;

use renown_core::ids::AgentId;

use crate::failure::Failure;

use super::attributes;
use super::dotenv;
use super::server::ServerUrl;

/// The requested settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) server: ServerUrl,
    /// The id of the agent. `None` keeps an id that is already in the settings.
    pub(crate) agent: Option<AgentId>,
}

impl Wanted {
    /// Returns the list of resource attributes with the agent in it.
    pub(crate) fn attributes(&self, current: Option<&str>, default: &AgentId) -> String {
        match (&self.agent, current) {
            (None, Some(list)) if attributes::has_agent(current) => list.to_owned(),
            (agent, _) => attributes::with_agent(current, agent.as_ref().unwrap_or(default)),
        }
    }
}

/// One setting to write, for output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) was: Option<String>,
}

/// The new text of a file, and its changes. Without changes, the text is the old one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) changes: Vec<Change>,
    /// Warnings about other settings.
    pub(crate) warnings: Vec<String>,
}

/// Why the current text of a file cannot be edited, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// A file before and after the changes.
#[derive(Debug)]
pub(crate) struct FilePlan {
    pub(crate) path: PathBuf,
    /// The current text, or `None` if the file does not exist.
    pub(crate) before: Option<String>,
    pub(crate) edited: Edited,
}

impl FilePlan {
    /// Plans one file. `edit` gets an empty text if the file does not exist.
    pub(crate) fn new(
        path: PathBuf,
        before: Option<String>,
        edit: impl FnOnce(&str) -> Result<Edited, Unreadable>,
    ) -> Result<Self, Failure> {
        let edited =
            edit(before.as_deref().unwrap_or_default()).map_err(|Unreadable { line, problem }| {
                Failure::new(format!("{}:{line}: {problem}", path.display()))
                    .hint("nothing was changed; fix the file, or paste the output of `--print`")
            })?;
        Ok(Self { path, before, edited })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.edited.changes.is_empty()
    }
}

/// All changes for one agent.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) files: Vec<FilePlan>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

/// Adds the agent to an `.env` file.
pub(crate) fn name_agent(text: &str, wanted: &Wanted, default: &AgentId) -> Edited {
    let current = dotenv::get(text, attributes::VARIABLE);
    let list = wanted.attributes(current, default);
    if current == Some(&list) {
        return Edited { text: text.to_owned(), ..Edited::default() };
    }
    let change =
        Change { key: attributes::VARIABLE.to_owned(), value: list.clone(), was: current.map(str::to_owned) };
    Edited {
        text: dotenv::set(text, attributes::VARIABLE, &list),
        changes: vec![change],
        warnings: Vec::new(),
    }
}
