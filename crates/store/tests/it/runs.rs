//! Runs that arrive at the same time, and runs whose score is missing or wrong.

use std::thread;

use renown_core::units::Whole;
use renown_store::sqlite::{FILE, Sqlite};
use renown_store::{Evidence, Reads, RunQuery};

use crate::support::{
    Scratch, TestClock, at, behind_the_back, default_org, evaluations, event, open, run, verify, wait,
};

const THREADS: i64 = 8;
const EACH: i64 = 40;

/// Makes a run in a workspace. Half of the later numbers ended earlier, so runs often arrive late.
fn text(number: i64) -> String {
    let finished_at = at(if number % 2 == 0 { number } else { -number } * 1000).millis();
    format!(
        r#"{{"agent_id":"a{}","outcome":"completed","wall_ms":{},"finished_at":{finished_at}}}"#,
        number % 3,
        1 + (number * 7919) % 5000,
    )
}

/// Returns the runs in the order of acceptance.
fn accepted(store: &Sqlite) -> Vec<renown_store::Run> {
    let query = RunQuery { limit: 10_000, ..RunQuery::default() };
    let mut runs = wait(store.runs(&default_org(), query)).unwrap().runs;
    runs.reverse();
    runs
}

#[test]
fn runs_that_arrive_together_are_each_compared_with_all_earlier_ones() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for number in (0..EACH).map(|number| number * THREADS + thread) {
                    wait(store.add_run(&default_org(), run(&format!("r{number}"), &text(number)), None))
                        .unwrap();
                }
            });
        }
    });
    let runs = accepted(&store);
    assert_eq!(runs.len() as i64, THREADS * EACH);
    for (index, run) in runs.iter().enumerate() {
        // As the formula says: the latest twenty that ended no later than this one and were known before it.
        let mut before: Vec<_> =
            runs[..index].iter().filter(|other| other.finished_at <= run.finished_at).collect();
        before.sort_by_key(|other| (other.finished_at, other.position));
        let mut walls: Vec<u64> =
            before.iter().rev().take(20).map(|other| other.report.wall_ms.unwrap().get()).collect();
        walls.sort_unstable();
        // Twice the median, because the median may have a half.
        let count = walls.len();
        let twice = if count == 0 { 0 } else { walls[(count - 1) / 2] + walls[count / 2] };
        let baseline = run.scored.as_ref().unwrap().baseline;
        let [low, high] = baseline.middle_ms().map(Whole::get);
        assert_eq!((low + high, baseline.runs()), (twice, count), "{run:?}");
    }
    drop(store);
    assert_eq!(verify(scratch.path()).unwrap().runs, (THREADS * EACH) as u64);
}

#[test]
fn missing_or_wrong_derived_data_is_repaired() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    for number in 0..30 {
        wait(store.add_run(&default_org(), run(&format!("r{number}"), &text(number)), None)).unwrap();
    }
    let events = (0..50).map(|number| event("a0", number, -3_600_000 * number));
    wait(store.add_reputation_events(&default_org(), events.collect(), None)).unwrap();
    wait(store.append(&default_org(), evaluations("a0", "e", 30), None)).unwrap();
    let right = accepted(&store);
    drop(store);

    let change = |sql: &str| {
        let changed = behind_the_back(&scratch.join(FILE)).execute(sql, []).unwrap();
        assert!(changed > 0, "{sql}");
    };
    change(
        "UPDATE agent_run_scores SET score = NULL, completion = NULL, error_rate = NULL, latency = NULL, \
         resource_efficiency = NULL, defaulted = NULL, formula_version = NULL WHERE run % 2 = 0",
    );
    let store = open(scratch.path(), &clock);
    let unscored = accepted(&store);
    assert_eq!(
        unscored.iter().filter(|run| run.scored.is_none() && run.tier().name() == "Unranked").count(),
        15
    );
    let repaired = wait(store.repair()).unwrap();
    assert_eq!((repaired.runs, repaired.agents, repaired.identities), (15, 0, false));
    assert_eq!(accepted(&store), right);
    drop(store);

    for (sql, what) in [
        ("UPDATE identity_sums SET count = count + 1 WHERE level = 1", "the sums of an identity"),
        ("DELETE FROM identity_sums WHERE level = 2", "the sums of an identity"),
        ("UPDATE agents SET passed = passed - 1, score = 1 WHERE evaluations > 0", "agent \"a0\""),
    ] {
        change(sql);
        let said = verify(scratch.path()).unwrap_err().to_string();
        assert!(said.contains(what), "{said}");
        let store = open(scratch.path(), &clock);
        let repaired = wait(store.repair()).unwrap();
        assert_eq!(
            (repaired.agents, repaired.identities),
            (u64::from(sql.contains("agents")), sql.contains("sums"))
        );
        drop(store);
        verify(scratch.path()).unwrap();
    }
    // A score is evidence of its own: a difference is reported, and a repair does not change it.
    change("UPDATE agent_run_scores SET score = score - 1 WHERE run_id = 'r7'");
    assert!(verify(scratch.path()).unwrap_err().to_string().contains("run \"r7\""));
}
