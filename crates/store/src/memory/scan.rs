//! All evidence of a kind, in order of position.

use renown_core::ids::{OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::ledger::{Session, TimeRange};

use super::Memory;
use crate::engines::{Reply, answer};
use crate::evidence::{Position, StoredEvaluation};
use crate::identities::ReputationEvent;
use crate::runs::Run;
use crate::sessions::StoredSession;
use crate::traits::{EvidenceKind, SCAN_MAX};
use crate::waits::WriteWaits;

/// Returns the pieces of an organization after a position, in order.
fn part<T: Clone>(
    all: &[(OrgId, T)],
    org: &OrgId,
    after: Option<Position>,
    limit: usize,
    position: impl Fn(&T) -> Position,
) -> Vec<T> {
    let of_org = all.iter().filter(|(o, _)| o == org).map(|(_, piece)| piece);
    let mut found: Vec<T> = of_org.filter(|piece| Some(position(piece)) > after).cloned().collect();
    found.sort_by_key(&position);
    found.truncate(limit.min(SCAN_MAX));
    found
}

impl Memory {
    pub(crate) fn organizations(&self) -> Reply<'_, Vec<OrgId>> {
        let mut orgs = self.state().orgs.clone();
        orgs.sort_unstable();
        answer(Ok(orgs))
    }

    pub(crate) fn latest_acceptance(&self) -> Reply<'_, Option<Timestamp>> {
        answer(Ok(self.state().latest))
    }

    pub(crate) fn write_waits(&self) -> WriteWaits {
        WriteWaits::default()
    }

    pub(crate) fn session_within<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        range: TimeRange,
    ) -> Reply<'a, Option<Session>> {
        let state = self.state();
        let known = state.sessions.iter().find(|(o, known)| o == org && known.id() == session);
        answer(state.check_org(org).map(|()| known.and_then(|(_, known)| known.within(range))))
    }

    pub(crate) fn count<'a>(&'a self, org: &OrgId, kind: EvidenceKind) -> Reply<'a, u64> {
        fn of_org<T>(all: &[(OrgId, T)], org: &OrgId) -> u64 {
            all.iter().filter(|(o, _)| o == org).count() as u64
        }
        let state = self.state();
        answer(state.check_org(org).map(|()| match kind {
            EvidenceKind::Evaluations => of_org(&state.evaluations, org),
            EvidenceKind::Runs => of_org(&state.runs, org),
            EvidenceKind::ReputationEvents => of_org(&state.reputation_events, org),
            EvidenceKind::Sessions => of_org(&state.sessions, org),
        }))
    }

    pub(crate) fn scan_evaluations<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<StoredEvaluation>> {
        let state = self.state();
        let all = &state.evaluations;
        answer(state.check_org(org).map(|()| part(all, org, after, limit, |piece| piece.position)))
    }

    pub(crate) fn scan_runs<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<Run>> {
        let state = self.state();
        answer(state.check_org(org).map(|()| part(&state.runs, org, after, limit, |piece| piece.position)))
    }

    pub(crate) fn scan_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<ReputationEvent>> {
        let state = self.state();
        let all = &state.reputation_events;
        answer(state.check_org(org).map(|()| part(all, org, after, limit, |piece| piece.position)))
    }

    pub(crate) fn scan_sessions<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<StoredSession>> {
        let state = self.state();
        let found = part(&state.sessions, org, after, limit, super::sessions::SessionEntry::position);
        let stored = |entry: super::sessions::SessionEntry| {
            entry.stored().map(|session| StoredSession { traces: Vec::new(), ..session })
        };
        answer(state.check_org(org).and_then(|()| found.into_iter().map(stored).collect()))
    }
}
