//! What is to be changed, decided before anything is written.

use std::path::PathBuf;

use renown_core::ids::AgentId;

use crate::failure::Failure;

use super::attributes;
use super::dotenv;
use super::server::ServerUrl;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) server: ServerUrl,
    /// Which agent it shall be; none keeps an agent that the settings already name.
    pub(crate) agent: Option<AgentId>,
}

impl Wanted {
    /// The list of resource attributes with the agent in it.
    pub(crate) fn attributes(&self, current: Option<&str>, default: &AgentId) -> String {
        match (&self.agent, current) {
            (None, Some(list)) if attributes::has_agent(current) => list.to_owned(),
            (agent, _) => attributes::with_agent(current, agent.as_ref().unwrap_or(default)),
        }
    }
}

/// One setting that is to be written, as people read it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) was: Option<String>,
}

/// The new text of a file, and how it differs. Nothing differs where there are no changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) changes: Vec<Change>,
    /// What the user should know about the settings that stay.
    pub(crate) warnings: Vec<String>,
}

/// Why the current text of a file cannot be edited, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// A file as it is, and as it shall be.
#[derive(Debug)]
pub(crate) struct FilePlan {
    pub(crate) path: PathBuf,
    /// Its text now; none if there is no such file.
    pub(crate) before: Option<String>,
    pub(crate) edited: Edited,
}

impl FilePlan {
    /// Plans one file. The editor sees an empty text where there is no file.
    pub(crate) fn new(
        path: PathBuf,
        before: Option<String>,
        edit: impl FnOnce(&str) -> Result<Edited, Unreadable>,
    ) -> Result<Self, Failure> {
        let edited =
            edit(before.as_deref().unwrap_or_default()).map_err(|Unreadable { line, problem }| {
                Failure::new(format!("{}:{line}: {problem}", path.display()))
                    .hint("nothing was changed; mend the file, or paste what `--print` shows")
            })?;
        Ok(Self { path, before, edited })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.edited.changes.is_empty()
    }
}

/// Everything that is to be done for one agent.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) files: Vec<FilePlan>,
    /// What the user has to know or do beside it.
    pub(crate) notes: Vec<String>,
}

/// An `.env` file that names the agent.
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
