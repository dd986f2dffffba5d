//! Does the writer sleep when nothing is left to do, and does a write that panics change nothing?

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_testing::{NOON_MS, Scratch, wait};

use super::*;
use crate::sqlite::Sqlite;
use crate::sqlite::transaction::SETTLED_AT_ONCE;
use crate::{DEFAULT_ORG, NewEvaluation, NewEvaluationId};

fn default_org() -> OrgId {
    DEFAULT_ORG.parse().unwrap()
}

fn open(scratch: &Scratch) -> Sqlite {
    let clock: Clock = Arc::new(|| Ok(Timestamp::from_millis(NOON_MS).unwrap()));
    Sqlite::open(scratch.path(), "a test", clock).unwrap()
}

fn evaluation(agent: usize) -> NewEvaluation {
    NewEvaluation {
        agent: format!("agent-{agent}").parse().unwrap(),
        id: NewEvaluationId::Sent(format!("id-{agent}").parse().unwrap()),
        passed: true,
        gate_latency: Micros::default(),
        agent_latency: None,
        tool: None,
        gates: "[]".into(),
        timestamp: None,
    }
}

/// A writer that believes it is settling does not sleep between writes.
#[test]
fn the_writer_sleeps_when_the_last_agents_that_were_behind_are_settled_or_erased() {
    let org = default_org();
    for (agents, erased) in [(SETTLED_AT_ONCE, 0), (2 * SETTLED_AT_ONCE, 0), (SETTLED_AT_ONCE + 2, 2)] {
        let scratch = Scratch::new();
        let store = open(&scratch);
        // One write, so that all of them are behind together. The first slice is settled right after it.
        wait(store.append(&org, (0..agents).map(evaluation).collect(), None)).unwrap();
        for agent in (0..agents).rev().take(erased) {
            wait(store.erase(&org, &format!("agent-{agent}").parse().unwrap())).unwrap();
        }
        // Each of these is a transaction of its own, and a slice is settled between two.
        for _ in 0..agents / SETTLED_AT_ONCE {
            wait(store.writer.send(0, |_| Ok(()))).unwrap();
        }
        let is_settling = wait(store.writer.send(0, |transaction| Ok(transaction.is_settling())));
        assert!(!is_settling.unwrap(), "{agents} agents, {erased} of them erased");
    }
}

#[test]
fn a_write_that_panics_changes_nothing_in_the_file_or_in_the_cache() {
    let scratch = Scratch::new();
    let (store, org) = (open(&scratch), default_org());
    let broken = store.writer.send(1, |transaction| -> Result<(), StoreError> {
        transaction.append(&default_org(), &[evaluation(1)], None)?;
        std::panic::resume_unwind(Box::new(()))
    });
    let error = wait(broken).unwrap_err();
    assert!(!error.is_damage(), "a panic is a bug, not damage: {error}");
    assert_eq!(wait(store.agent(&org, &"agent-1".parse().unwrap())).unwrap(), None);
    let outcomes = wait(store.append(&org, vec![evaluation(1)], None)).unwrap().fresh().unwrap();
    assert_eq!(outcomes[0].tally().evaluations(), 1, "the cached window of the failed write is dropped");
}
