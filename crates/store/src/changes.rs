//! What has changed in an organization since a moment, for streams and pages that show it live.
//!
//! Changes are read from the evidence itself: an evaluation is a change of its agent, and the reputation event that a session
//! became when it was closed is a change of the session. So no change is lost, whichever server wrote it.

use renown_core::ids::{AgentId, SessionId};

use crate::evidence::Position;

/// A moment in the changes of an organization: everything up to it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCursor {
    /// The last evaluation.
    pub(crate) evaluation: Option<Position>,
    /// The last reputation event.
    pub(crate) event: Option<Position>,
}

impl ChangeCursor {
    /// Returns the later one of each position. Evidence that was deleted may have been the last.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { evaluation: self.evaluation.max(other.evaluation), event: self.event.max(other.event) }
    }
}

/// Changes after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePage {
    /// The agents that were evaluated, each once, in the order of their first evaluations on this page.
    pub agents: Vec<AgentId>,
    /// The sessions that were closed and have a performance, in the order in which they were closed.
    pub sessions: Vec<SessionId>,
    /// The moment after these changes.
    pub next: ChangeCursor,
    /// Whether there may be more changes after that.
    pub has_more: bool,
}

impl ChangePage {
    /// Makes a page. Both lists are in order. A list that is shorter than `limit` is complete up to `last`.
    pub(crate) fn of(
        evaluations: Vec<(Position, AgentId)>,
        closed: Vec<(Position, SessionId)>,
        last: ChangeCursor,
        limit: usize,
    ) -> Self {
        fn end<T>(part: &[(Position, T)], limit: usize, last: Option<Position>) -> Option<Position> {
            if part.len() < limit { last } else { part.last().map(|(position, _)| *position) }
        }
        let next = ChangeCursor {
            evaluation: end(&evaluations, limit, last.evaluation),
            event: end(&closed, limit, last.event),
        };
        let has_more = evaluations.len() >= limit || closed.len() >= limit;
        let mut known = std::collections::HashSet::new();
        let agents = evaluations.into_iter().map(|(_, agent)| agent);
        let agents = agents.filter(|agent| known.insert(agent.clone())).collect();
        Self { agents, sessions: closed.into_iter().map(|(_, session)| session).collect(), next, has_more }
    }
}
