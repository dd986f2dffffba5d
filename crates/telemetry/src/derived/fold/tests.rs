//! Is the fold equal to a rebuild from all records, in any order of arrival and at every limit?

use super::*;
use crate::dialect::Agent;
use crate::facts::{Fingerprint, Sourced};
use crate::limits::{FOLDED_TRACES_MAX, LATEST_STEPS_MAX};

fn origin(second: i64, signal: Signal) -> RecordOrigin<&'static str> {
    RecordOrigin {
        session: "s",
        signal,
        at: Timestamp::from_millis(1_790_000_000_000 + 1000 * second).ok(),
        until: None,
        sequence: None,
        repeat: None,
        agent: Sourced { rank: 0, value: Agent::ClaudeCode },
        agent_id: Sourced { rank: 5, value: "unknown" },
        masque: None,
        known: true,
    }
}

fn call(ok: bool) -> Fact<&'static str> {
    Fact::ToolResult { tool: Some("Edit"), ok: Some(ok), duration_us: None, error_type: None }
}

const PROMPT: Fact<&str> = Fact::Prompt { trace: None };

fn span(trace: u64) -> Fact<&'static str> {
    Fact::Prompt { trace: Fingerprint::new(trace) }
}

/// Folds facts at these seconds in this order. Returns the fold and the rebuilt fold.
fn both(facts: &[(i64, Fact<&'static str>)]) -> (FoldedTraces, FoldedTraces) {
    let (mut folded, mut rebuilder) = (FoldedTraces::default(), TraceRebuilder::default());
    for (second, fact) in facts {
        let record = StoredRecord { origin: origin(*second, Signal::Logs), facts: vec![fact.clone()] };
        folded.add(&record.origin, &record.facts);
        rebuilder.add(&record);
    }
    (folded, rebuilder.finish(Signal::Logs, "s").0)
}

/// Appends calls from second 100 on, as many as the latest steps hold, so that all `early` steps move to the entries.
fn then_many(early: &[(i64, Fact<&'static str>)]) -> Vec<(i64, Fact<&'static str>)> {
    let many = (0..).take(LATEST_STEPS_MAX).map(|number| (100 + number, call(true)));
    early.iter().cloned().chain(many).collect()
}

#[test]
fn a_late_step_is_added_exactly_or_makes_the_fold_stale() {
    let (ok, failed) = (call(true), call(false));
    for (name, early, late, is_added) in [
        ("a call among good ones", vec![(1, ok.clone()), (9, ok.clone())], (5, ok.clone()), true),
        ("a call beside one failure", vec![(1, failed.clone()), (9, ok.clone())], (5, ok.clone()), true),
        (
            "a call into a streak",
            vec![(1, failed.clone()), (8, failed.clone()), (9, ok.clone())],
            (5, ok.clone()),
            false,
        ),
        ("the first failure", vec![(1, ok.clone()), (9, ok.clone())], (5, failed.clone()), true),
        ("a second failure", vec![(1, failed.clone()), (9, ok.clone())], (5, failed.clone()), false),
        ("a call before all", vec![(1, ok.clone()), (9, ok.clone())], (0, ok.clone()), true),
        ("a prompt between calls", vec![(1, ok.clone()), (9, ok.clone())], (5, PROMPT), false),
        ("a prompt before a prompt", vec![(1, ok.clone()), (8, PROMPT), (9, ok.clone())], (5, PROMPT), true),
        ("a prompt before all", vec![(1, PROMPT), (9, ok.clone())], (0, PROMPT), true),
        ("a root span", vec![(1, ok.clone()), (5, span(7)), (9, ok.clone())], (4, span(7)), true),
        (
            "a root span before a call",
            vec![(1, ok.clone()), (5, span(7)), (9, ok.clone())],
            (0, span(7)),
            false,
        ),
        ("a later span", vec![(5, span(7)), (9, ok.clone())], (8, span(7)), true),
        ("another kind of fact", vec![(5, PROMPT), (9, ok)], (0, Fact::Refusal), true),
    ] {
        let mut facts = then_many(&early);
        facts.push(late);
        let (folded, rebuilt) = both(&facts);
        assert_eq!(folded.is_stale(Signal::Logs), !is_added, "{name}");
        assert_eq!(folded == rebuilt, is_added, "{name}");
        assert!(folded.agrees_with(&rebuilt) && !rebuilt.is_stale(Signal::Logs), "{name}");
        assert!(!folded.is_stale(Signal::Spans), "{name}");
    }
}

#[test]
fn the_latest_steps_may_arrive_in_any_order() {
    let before = |latest: usize| {
        let mut facts: Vec<_> =
            (0..).take(latest).map(|second| (second + 1, call(second % 3 == 0))).collect();
        facts.push((0, PROMPT));
        both(&facts)
    };
    let (folded, rebuilt) = before(LATEST_STEPS_MAX);
    assert_eq!(folded, rebuilt);
    let (folded, _) = before(LATEST_STEPS_MAX + 1);
    assert!(folded.is_stale(Signal::Logs), "a prompt before a call that is no longer stored");
}

#[test]
fn more_traces_than_the_limit_make_the_fold_stale() {
    let prompts = |count: usize| both(&(0..).take(count).map(|second| (second, PROMPT)).collect::<Vec<_>>());
    // The first entry is the part before the first prompt.
    let most = FOLDED_TRACES_MAX - 1 + LATEST_STEPS_MAX;
    let (folded, rebuilt) = prompts(most);
    assert_eq!(folded.traces(Signal::Logs, "s").unwrap().len(), most);
    assert_eq!(folded, rebuilt);
    assert_eq!(FoldedTraces::from_bytes(&folded.to_bytes()), Some(folded));
    let (folded, rebuilt) = prompts(most + 1);
    assert!(folded.is_stale(Signal::Logs) && rebuilt.is_stale(Signal::Logs));
    assert_eq!(folded.traces(Signal::Logs, "s"), None);
}

#[test]
fn invalid_snapshots_are_rejected() {
    let facts =
        then_many(&[(1, call(false)), (3, PROMPT), (5, span(7)), (6, span(u64::MAX)), (9, call(false))]);
    let (folded, _) = both(&facts);
    let bytes = folded.to_bytes();
    assert_eq!(FoldedTraces::from_bytes(&bytes), Some(folded.clone()));
    assert!(bytes.len() < 450, "{}", bytes.len());
    for end in 0..bytes.len() {
        assert!(FoldedTraces::from_bytes(bytes.split_at(end).0).is_none(), "cut at {end}");
    }
    assert!(FoldedTraces::from_bytes(&[&bytes[..], &[0]].concat()).is_none());
    assert_eq!(FoldedTraces::default().to_bytes(), [1, 0, 0]);
    // A snapshot with a flipped bit that decodes can still be extended, listed and encoded.
    for index in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[index] ^= 1 << bit;
            if let Some(mut found) = FoldedTraces::from_bytes(&changed) {
                for second in [0, 5, 8, 200] {
                    for fact in [call(false), PROMPT, span(7), Fact::Refusal] {
                        found.add(&origin(second, Signal::Logs), &[fact]);
                    }
                }
                let _ = found.traces(Signal::Logs, "s");
                let _ = found.to_bytes();
            }
        }
    }
}
