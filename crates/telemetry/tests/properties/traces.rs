//! The fold of traces gives what sorting all steps gives, or says that it does not know.

use proptest::collection::vec;
use proptest::prelude::*;
use renown_core::time::Timestamp;
use renown_telemetry::derived::{self, FoldedTraces, Refold};
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Fingerprint, Origin, Signal, Sourced};
use renown_telemetry::stored::Kept;

use crate::config;
use crate::dice::Dice;

fn fact(dice: &mut Dice) -> Fact<&'static str> {
    match dice.roll(10) {
        0 => Fact::Prompt { trace: None },
        1 => Fact::Prompt { trace: Fingerprint::new(dice.roll(12) as u64 + 1) },
        2 => Fact::Refusal,
        _ => {
            let tool = dice.pick(&[None, Some("Edit"), Some("Bash")]);
            let ok = dice.pick(&[Some(true), Some(true), Some(false), None]);
            Fact::ToolResult { tool, ok, duration_us: None, error_type: None }
        }
    }
}

/// Records at a few times, some at the same, some without one; of both signals.
fn records(count: usize, dice: &mut Dice) -> Vec<Kept<'static>> {
    let spans_of = 2 + dice.roll(3);
    let make = |_| {
        let millis = 1_790_000_000_000 + i64::try_from(dice.roll(150)).unwrap();
        let at = if dice.one_in(40) { None } else { Timestamp::from_millis(millis).ok() };
        let origin = Origin {
            session: "s",
            signal: if dice.one_in(spans_of) { Signal::Spans } else { Signal::Logs },
            at,
            until: None,
            sequence: if dice.one_in(2) { None } else { Some(dice.roll(5) as u64) },
            repeat: None,
            agent: Sourced { rank: 0, value: Agent::ClaudeCode },
            agent_id: Sourced { rank: 5, value: "unknown" },
            masque: None,
            known: true,
        };
        let facts = (0..=dice.roll(2)).map(|_| fact(dice)).collect();
        Kept { origin, facts }
    };
    (0..count).map(make).collect()
}

/// In order, nearly in order, or in none; some arrive last.
fn arrange(records: &mut [Kept<'static>], disorder: usize, late: usize, dice: &mut Dice) {
    records.sort_by_key(|record| (record.origin.at.is_none(), record.origin.at, record.origin.sequence));
    for _ in 0..if disorder == 0 { 0 } else { records.len() } {
        let one = dice.roll(records.len());
        let other = (one + dice.roll(disorder)).min(records.len() - 1);
        records.swap(one, other);
    }
    for _ in 0..late.min(records.len()) {
        let one = dice.roll(records.len());
        records[one..].rotate_left(1);
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn folded_traces_are_those_of_all_steps(
        count in 0_usize..250, seed in any::<u64>(), disorder in prop::sample::select(vec![0, 3, 12, 60, 300]), late in 0_usize..4,
        cuts in vec(0_usize..250, 0..6)
    ) {
        let dice = &mut Dice(seed);
        let mut records = records(count, dice);
        arrange(&mut records, disorder, late, dice);
        let (mut folded, mut refold) = (FoldedTraces::default(), Refold::default());
        for (place, record) in records.iter().enumerate() {
            if cuts.contains(&place) {
                folded = FoldedTraces::from_bytes(&folded.to_bytes()).unwrap();
            }
            folded.take(&record.origin, &record.facts);
            refold.take(record);
        }
        let (rebuilt, _) = refold.finish(Signal::Logs, "s");
        prop_assert!(folded.agrees_with(&rebuilt));
        prop_assert_eq!(FoldedTraces::from_bytes(&rebuilt.to_bytes()), Some(rebuilt.clone()));
        for signal in [Signal::Logs, Signal::Spans] {
            let expected = derived::traces("s", signal, records.clone());
            prop_assert_eq!(rebuilt.traces(signal, "s"), Some(expected.clone()));
            prop_assert!(disorder + late > 0 || !folded.is_stale(signal), "in order");
            if let Some(found) = folded.traces(signal, "s") {
                let signals: Vec<_> = found.iter().map(|(_, trace)| trace.signals).collect();
                prop_assert_eq!(folded.signals(signal), Some(signals));
                prop_assert!(folded.traces_max(signal) >= found.len());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
