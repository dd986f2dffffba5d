//! What it means that evidence names an agent.
//!
//! | what names the agent | an unknown agent | a known agent |
//! |---|---|---|
//! | an evaluation, a run, a record or a signal of its session | is added | was seen now |
//! | a request to add it, a reputation event | is added | stays as it is |
//!
//! An agent that is added was first and last seen at the time of acceptance. Evidence that repeats known evidence
//! names no agent.

/// How an agent is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mention {
    /// By evidence of its own work.
    Work,
    /// By a request to add it, or by an event about its identity.
    Name,
}

/// The change of an agent that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentChange {
    /// It is added: first and last seen at the time of acceptance.
    Added,
    /// It was last seen at the time of acceptance.
    Seen,
    /// Nothing changes.
    Unchanged,
}

/// Returns the change of an agent that is named.
pub(crate) fn named(is_known: bool, mention: Mention) -> AgentChange {
    match (is_known, mention) {
        (false, Mention::Work | Mention::Name) => AgentChange::Added,
        (true, Mention::Work) => AgentChange::Seen,
        (true, Mention::Name) => AgentChange::Unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_added_once_and_only_its_work_shows_when_it_was_seen() {
        for (is_known, mention, expected) in [
            (false, Mention::Work, AgentChange::Added),
            (false, Mention::Name, AgentChange::Added),
            (true, Mention::Work, AgentChange::Seen),
            (true, Mention::Name, AgentChange::Unchanged),
        ] {
            assert_eq!(named(is_known, mention), expected, "known: {is_known}, {mention:?}");
        }
    }
}
