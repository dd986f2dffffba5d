//! What the erasure of an agent removes and keeps.
//!
//! | evidence | at once | later, a little at a time |
//! |---|---|---|
//! | the agent, its publication, its identity | deleted | |
//! | its evaluations, runs, reputation events, sessions with their records and traces | hidden, because their owner is gone; their ids are free | deleted, and counted in the tombstone |
//! | what is derived from them: days, sums | hidden | deleted, not counted |
//! | its results in eval runs, and the eval runs and schedules that filter by it | hidden | deleted, not counted |
//! | request keys about it alone | deleted | |
//! | request keys about others too | its name is removed | |
//! | sessions of other agents that name it | | the name is removed, the evidence stays |
//! | a tombstone: the SHA-256 of its name, when it was asked for, what was deleted so far | added | done when nothing is left |
//!
//! A name whose erasure was asked for may be used again at once. It is then another agent: its sessions keep the name.
//!
//! **Ids are free at once.** A client that does not know of the erasure may send an id again before its row is
//! deleted. The new evidence is then the first with this id.

use renown_core::ids::AgentId;
use renown_core::time::Timestamp;
use renown_telemetry::facts::UNKNOWN_AGENT_ID;
use renown_telemetry::stored::{self, StoredRecord};
use sha2::{Digest, Sha256};

use crate::admin::Tombstone;

/// What a store has of an agent that is to be erased.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownAgent {
    /// The agent itself.
    pub(crate) agent: bool,
    /// Its identity.
    pub(crate) identity: bool,
    /// A session that names it.
    pub(crate) is_named: bool,
}

/// The SHA-256 of an erased name. The name itself is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErasedName(pub(crate) [u8; 32]);

/// What one step of an erasure has deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ErasedPart {
    /// Evaluations.
    pub(crate) evaluations: usize,
    /// Runs.
    pub(crate) runs: usize,
    /// Reputation events.
    pub(crate) events: usize,
    /// Records and sent traces of sessions.
    pub(crate) of_sessions: usize,
    /// Rows of what is derived.
    pub(crate) derived: usize,
    /// Whether there may be more sessions, days, or names to remove.
    pub(crate) has_more: bool,
}

/// Begins an erasure: returns the tombstone to add. Returns `None` if nothing is known of the agent, so that nothing
/// changes.
pub(crate) fn erase(agent: &AgentId, known: KnownAgent, now: Timestamp) -> Option<Tombstone> {
    let KnownAgent { agent: is_agent, identity, is_named } = known;
    let digest = ErasedName::of(agent).0;
    (is_agent || identity || is_named).then_some(Tombstone {
        digest,
        asked_at: now,
        erased: 0,
        done_at: None,
    })
}

impl ErasedPart {
    /// Returns how many pieces of evidence it has deleted.
    pub(crate) fn evidence(&self) -> u64 {
        (self.evaluations + self.runs + self.events + self.of_sessions) as u64
    }

    /// Returns when the erasure was done: now, if nothing was left to delete.
    pub(crate) fn done_at(&self, now: Timestamp) -> Option<Timestamp> {
        (self.evidence() == 0 && self.derived == 0 && !self.has_more).then_some(now)
    }
}

impl ErasedName {
    /// Returns the digest of a name.
    pub(crate) fn of(agent: &AgentId) -> Self {
        Self(Sha256::digest(agent.as_str()).into())
    }

    /// Returns whether this is the erased name.
    pub(crate) fn is(self, name: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(name)) == self.0
    }

    /// Returns whether a session keeps its names: it has no owner and is deleted as a whole, or it belongs to a new
    /// agent of the same name.
    pub(crate) fn stays_in_session_of(self, owner: Option<&str>) -> bool {
        owner.is_none_or(|owner| self.is(owner))
    }

    /// Returns a record without the erased name. Returns `None` if it does not name it, so that it stays as it is.
    pub(crate) fn removed_from(self, session: &str, record: &[u8]) -> Option<Vec<u8>> {
        let StoredRecord { mut origin, facts } = stored::decode(session, None, record)?;
        if !origin.named_agent().is_some_and(|name| self.is(name)) {
            return None;
        }
        origin.agent_id = UNKNOWN_AGENT_ID;
        Some(stored::encode(&origin, facts))
    }
}

#[cfg(test)]
mod tests {
    use renown_telemetry::dialect::Agent;
    use renown_telemetry::facts::{Fact, RecordOrigin, Signal, Sourced};

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_794_744_000_000 + ms).unwrap()
    }

    fn agent() -> AgentId {
        "abc".parse().unwrap()
    }

    /// SHA-256 of "abc", from FIPS 180-2.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn an_erasure_begins_if_anything_is_known_of_the_agent() {
        for (known, expected) in [
            (KnownAgent::default(), false),
            (KnownAgent { agent: true, ..KnownAgent::default() }, true),
            (KnownAgent { identity: true, ..KnownAgent::default() }, true),
            (KnownAgent { is_named: true, ..KnownAgent::default() }, true),
        ] {
            assert_eq!(erase(&agent(), known, at(0)).is_some(), expected, "{known:?}");
        }
        let known = KnownAgent { agent: true, ..KnownAgent::default() };
        let Tombstone { digest, asked_at, erased, done_at } = erase(&agent(), known, at(7)).unwrap();
        assert_eq!(
            (renown_core::hex::encode(&digest).as_str(), asked_at, erased, done_at),
            (ABC, at(7), 0, None)
        );
    }

    #[test]
    fn an_erasure_is_done_when_a_step_found_nothing() {
        let nothing = ErasedPart::default();
        assert_eq!((nothing.evidence(), nothing.done_at(at(3))), (0, Some(at(3))));
        for (part, evidence, label) in [
            (ErasedPart { evaluations: 2, ..nothing }, 2, "evaluations"),
            (ErasedPart { runs: 3, ..nothing }, 3, "runs"),
            (ErasedPart { events: 4, ..nothing }, 4, "events"),
            (ErasedPart { of_sessions: 5, ..nothing }, 5, "records and traces"),
            (ErasedPart { derived: 6, ..nothing }, 0, "sums are no evidence"),
            (ErasedPart { has_more: true, ..nothing }, 0, "a name to remove"),
        ] {
            assert_eq!((part.evidence(), part.done_at(at(3))), (evidence, None), "{label}");
        }
    }

    #[test]
    fn only_sessions_of_other_agents_lose_the_name() {
        let erased = ErasedName::of(&agent());
        for (owner, expected, label) in [
            (None, true, "it is deleted with its agent"),
            (Some("abc"), true, "it belongs to a new agent of this name"),
            (Some("other"), false, "it belongs to another agent"),
        ] {
            assert_eq!(erased.stays_in_session_of(owner), expected, "{label}");
        }
        assert!(erased.is("abc") && !erased.is("ABC"));
    }

    #[test]
    fn a_record_loses_the_name_and_nothing_else() {
        let record = |agent_id| {
            let origin = RecordOrigin {
                session: "s",
                signal: Signal::Logs,
                at: Some(at(5)),
                until: None,
                sequence: None,
                repeat: None,
                agent: Sourced { rank: 0, value: Agent::Codex },
                agent_id,
                masque: None,
                known: true,
            };
            stored::encode(&origin, [Fact::Prompt { trace: None }])
        };
        let named = |value| record(Sourced { rank: 1, value });
        let erased = ErasedName::of(&agent());
        assert_eq!(erased.removed_from("s", &named("abc")), Some(record(UNKNOWN_AGENT_ID)));
        assert_eq!(erased.removed_from("s", &named("other")), None);
        assert_eq!(erased.removed_from("s", &record(UNKNOWN_AGENT_ID)), None);
        assert_eq!(erased.removed_from("s", b"damaged"), None);
    }
}
