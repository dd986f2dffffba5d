//! The fold of traces is either stale or equal to the result of sorting all steps.

use proptest::collection::vec;
use proptest::prelude::*;
use renown_core::time::Timestamp;
use renown_telemetry::derived::{self, FoldedTraces, TraceRebuilder};
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Fingerprint, RecordOrigin, Signal, Sourced};
use renown_telemetry::stored::StoredRecord;
use renown_testing::Rng;

use crate::config;

fn fact(rng: &mut Rng) -> Fact<&'static str> {
    match rng.below(10) {
        0 => Fact::Prompt { trace: None },
        1 => Fact::Prompt { trace: Fingerprint::new(rng.below(12) as u64 + 1) },
        2 => Fact::Refusal,
        _ => {
            let tool = rng.pick(&[None, Some("Edit"), Some("Bash")]);
            let ok = rng.pick(&[Some(true), Some(true), Some(false), None]);
            Fact::ToolResult { tool, ok, duration_us: None, error_type: None }
        }
    }
}

/// Returns log records and spans at a few different times; some have the same time, some have none.
fn records(count: usize, rng: &mut Rng) -> Vec<StoredRecord<'static>> {
    let spans_of = 2 + rng.below(3);
    let make = |_| {
        let millis = 1_790_000_000_000 + i64::try_from(rng.below(150)).unwrap();
        let at = if rng.one_in(40) { None } else { Timestamp::from_millis(millis).ok() };
        let origin = RecordOrigin {
            session: "s",
            signal: if rng.one_in(spans_of) { Signal::Spans } else { Signal::Logs },
            at,
            until: None,
            sequence: if rng.one_in(2) { None } else { Some(rng.below(5) as u64) },
            repeat: None,
            agent: Sourced { rank: 0, value: Agent::ClaudeCode },
            agent_id: Sourced { rank: 5, value: "unknown" },
            masque: None,
            known: true,
        };
        let facts = (0..=rng.below(2)).map(|_| fact(rng)).collect();
        StoredRecord { origin, facts }
    };
    (0..count).map(make).collect()
}

/// Sorts the records, then moves them by up to `disorder` positions, and moves `late` records to the end.
fn arrange(records: &mut [StoredRecord<'static>], disorder: usize, late: usize, rng: &mut Rng) {
    records.sort_by_key(|record| (record.origin.at.is_none(), record.origin.at, record.origin.sequence));
    for _ in 0..if disorder == 0 { 0 } else { records.len() } {
        let one = rng.below(records.len());
        let other = (one + rng.below(disorder)).min(records.len() - 1);
        records.swap(one, other);
    }
    for _ in 0..late.min(records.len()) {
        let one = rng.below(records.len());
        records[one..].rotate_left(1);
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn folded_traces_equal_sorted_traces_unless_stale(
        count in 0_usize..250, seed in any::<u64>(), disorder in prop::sample::select(vec![0, 3, 12, 60, 300]), late in 0_usize..4,
        cuts in vec(0_usize..250, 0..6)
    ) {
        let rng = &mut Rng::new(seed);
        let mut records = records(count, rng);
        arrange(&mut records, disorder, late, rng);
        let (mut folded, mut rebuilder) = (FoldedTraces::default(), TraceRebuilder::default());
        for (index, record) in records.iter().enumerate() {
            if cuts.contains(&index) {
                folded = FoldedTraces::from_bytes(&folded.to_bytes()).unwrap();
            }
            folded.add(&record.origin, &record.facts);
            rebuilder.add(record);
        }
        let (rebuilt, _) = rebuilder.finish(Signal::Logs, "s");
        prop_assert!(folded.agrees_with(&rebuilt));
        prop_assert_eq!(FoldedTraces::from_bytes(&rebuilt.to_bytes()), Some(rebuilt.clone()));
        for signal in [Signal::Logs, Signal::Spans] {
            let expected = derived::traces("s", signal, records.clone());
            prop_assert_eq!(rebuilt.traces(signal, "s"), Some(expected.clone()));
            prop_assert!(disorder + late > 0 || !folded.is_stale(signal), "records in order do not make the fold stale");
            if let Some(found) = folded.traces(signal, "s") {
                let signals: Vec<_> = found.iter().map(|(_, trace)| trace.signals).collect();
                prop_assert_eq!(folded.signals(signal), Some(signals));
                prop_assert!(folded.traces_max(signal) >= found.len());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
