//! What has changed in an organization, found by reading the lists.

use renown_core::ids::{AgentId, OrgId, SessionId};

use super::{Memory, State};
use crate::changes::{ChangeCursor, ChangePage};
use crate::engines::{Reply, answer};
use crate::evidence::Position;

impl State {
    fn last_change(&self) -> ChangeCursor {
        let last = Some(Position::of(self.positions)).filter(|_| self.positions > 0);
        ChangeCursor { evaluation: last, event: last }
    }
}

impl Memory {
    pub(crate) fn last_change<'a>(&'a self, org: &OrgId) -> Reply<'a, ChangeCursor> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.last_change()))
    }

    pub(crate) fn changes<'a>(
        &'a self,
        org: &OrgId,
        after: ChangeCursor,
        limit: usize,
    ) -> Reply<'a, ChangePage> {
        let state = self.state();
        let last = state.last_change();
        let evaluations =
            state.evaluations.iter().filter(|(o, _)| o == org).map(|(_, evaluation)| evaluation);
        let evaluations = evaluations.filter(|evaluation| Some(evaluation.position) > after.evaluation);
        let evaluations: Vec<(Position, AgentId)> = evaluations
            .take(limit)
            .map(|evaluation| (evaluation.position, evaluation.agent.clone()))
            .collect();
        let events = state.reputation_events.iter().filter(|(o, _)| o == org).map(|(_, event)| event);
        let events = events.filter(|event| Some(event.position) > after.event);
        let closed: Vec<(Position, SessionId)> = events
            .filter_map(|event| {
                let became = |(o, entry): &&(OrgId, super::sessions::SessionEntry)| {
                    o == org && entry.became(event.position, event.accepted_at)
                };
                state.sessions.iter().find(became).map(|(_, entry)| (event.position, entry.id().clone()))
            })
            .take(limit)
            .collect();
        answer(state.check_org(org).map(|()| ChangePage::of(evaluations, closed, last.max(after), limit)))
    }
}
