//! Single bits that flip in the file, rows that vanish or appear, and a log with a missing end: what changes an
//! answer is noticed.

use std::error::Error;
use std::fs;
use std::path::Path;

use renown_core::identity::identity_of;
use renown_core::ids::OrgId;
use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{
    AgentQuery, AgentSort, Control, Evidence, HistorySteps, NewSignals, NewTrace, PublicationChange, Reads,
    Retention, Scan, Upkeep,
};
use renown_telemetry::ledger::Session;

use crate::support::{
    Rng, Scratch, TestClock, at, behind_the_back, clock_of, copy_killed, default_org, evaluation,
    evaluations, event, key, open, request_key, run, scanned, verify, wait,
};
use crate::telemetry::{batch, call, logs, prompt, spans, tool};

/// Number of bits that flip, one at a time. `cargo xtask test durability` flips more of them.
const FLIPS: usize = 120;

/// Writes every kind of data, enough that nearly every table has interior pages.
fn fill(dir: &Path) {
    let clock = TestClock::at_noon();
    let store = open(dir, &clock);
    let (org, other): (OrgId, OrgId) = (default_org(), "other".parse().unwrap());
    let mut rng = Rng::new(5);
    let mut labeled = key("other", 2);
    labeled.label = Some("for the pipeline".to_owned());
    wait(store.create_key(key("default", 1), None)).unwrap();
    wait(store.create_key(labeled, None)).unwrap();
    for round in 0..40 {
        clock.turn(1000);
        let agent = format!("agent-{}", round % 6);
        let batch_of = |number: usize, rng: &mut Rng| {
            let mut new = evaluation(&agent, &format!("evaluation-{round}-{number}"));
            new.passed = !rng.one_in(4);
            new.tool = rng.sometimes(2, |_| "shell".parse().unwrap());
            let reason = "a reason ".repeat(rng.below(30));
            new.gates =
                format!(r#"[{{"name":"pii","passed":false,"latency_ms":1,"reason":"{reason}"}}]"#).into();
            new.timestamp = rng.sometimes(3, |rng| at(-(rng.below(100_000) as i64)));
            new
        };
        let all = (0..12).map(|number| batch_of(number, &mut rng)).collect();
        wait(store.append(&org, all, Some(request_key(&format!("key-{round}"))))).unwrap();
        wait(store.append(&other, vec![evaluation("busy", &format!("other-{round}"))], None)).unwrap();
        let text = format!(
            r#"{{"agent_id":"{agent}","outcome":"completed","spec_id":"login","wall_ms":{},"branch":"b{round}","stages":[{{"name":"test","passed":true,"attempts":2}}],"attributes":{{"a":"{}"}}}}"#,
            1000 + rng.below(500),
            "attribute ".repeat(rng.below(60))
        );
        wait(store.add_run(&org, run(&format!("run-{round}"), &text), None)).unwrap();
        let events = (0..5).map(|number| event(&agent, round * 10 + number, -3_600_000 * (round + number)));
        wait(store.add_reputation_events(&org, events.collect(), None)).unwrap();
        let session = format!("session-{}", round % 8);
        let (ms, step) = (-7_200_000 + 1000 * round, u32::try_from(round * 4).unwrap());
        let records = [
            prompt(&session, step, ms),
            tool(&session, step + 1, ms + 10, "Edit", true),
            call(&session, step + 2, ms + 20, "0.05"),
        ];
        wait(store.add_records(&org, batch(&logs(&agent, &records)), None)).unwrap();
        let signals = Signals { confidence: Some(Unit::HALF), ..Signals::default() };
        let trace = Trace { trace_id: format!("trace-{round}").parse().unwrap(), signals, source: None };
        let traces = vec![NewTrace { trace, started_at: Some(at(round)) }];
        let signals = NewSignals { agent: Some("named".parse().unwrap()), traces };
        wait(store.add_signals(&org, &format!("signals-{}", round % 5).parse().unwrap(), signals, None))
            .unwrap();
    }
    wait(store.add_records(&org, batch(&spans("spans", -1000)), None)).unwrap();
    let slug = Some("agent-one".parse().unwrap());
    let shown = PublicationChange { public: Some(true), spare: None, slug };
    wait(store.publish(&org, &"agent-1".parse().unwrap(), shown)).unwrap();
    clock.turn(10_000);
    while !wait(store.close_sessions()).unwrap().is_empty() {}
    wait(store.append(&other, vec![evaluation("erased", "gone")], None)).unwrap();
    wait(store.erase(&other, &"erased".parse().unwrap())).unwrap();
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
}

/// Returns whether a directory can be opened, and `verify` finds nothing.
fn is_sound(dir: &Path) -> bool {
    Reader::open(dir).is_ok_and(|reader| matches!(reader.verify(&mut |_, _| {}), Ok(Ok(_))))
}

/// Returns what `renown export` and the lists print.
fn exported(dir: &Path) -> Result<String, Box<dyn Error>> {
    let reader = Reader::open(dir)?;
    let mut text = format!("{:?}", wait(reader.keys())?);
    for org in ["default", "other"] {
        let org: OrgId = org.parse().unwrap();
        let mut add = |row: String| {
            text += &row;
            text += "\n";
        };
        for row in scanned(|after| reader.scan_evaluations(&org, after, 100))? {
            add(format!("{row:?}"));
        }
        for row in scanned(|after| reader.scan_runs(&org, after, 100))? {
            add(format!("{row:?}"));
        }
        for row in scanned(|after| reader.scan_reputation_events(&org, after, 100))? {
            add(format!("{row:?}"));
        }
        for row in scanned(|after| reader.scan_sessions(&org, after, 100))? {
            add(format!("{row:?} {:?}", row.ledger.as_ref().map(Session::report)));
        }
        for sort in [AgentSort::LastSeen, AgentSort::Name] {
            let query = AgentQuery { sort, limit: 100, ..AgentQuery::default() };
            add(format!("{:?}", wait(reader.agents(&org, query))?.agents));
        }
    }
    Ok(text)
}

/// Returns what the API answers beyond that.
fn answered(dir: &Path) -> Result<String, Box<dyn Error>> {
    let store = Sqlite::open(dir, "a test", clock_of(&TestClock::at_noon()))?;
    let mut text: Vec<String> = Vec::new();
    for org in ["default", "other"] {
        let org: OrgId = org.parse().unwrap();
        text.push(format!("{:?} {:?}", wait(store.settings(&org))?, wait(store.tombstones(&org))?));
        for agent in ["agent-0", "agent-1", "busy", "named"] {
            let agent = agent.parse().unwrap();
            let steps = HistorySteps::new(at(-200_000), at(600_000), 16).unwrap();
            let identity = identity_of(&org, &agent);
            text.push(format!(
                "{:?} {:?} {:?} {:?} {:?}\n",
                wait(store.publication(&org, &agent))?,
                wait(store.tally(&org, &agent))?,
                wait(store.history(&org, &agent, steps))?,
                wait(store.identity_windows(&org, identity, at(0)))?,
                wait(store.competition(&org, &"login".parse().unwrap()))?.attempts.len(),
            ));
        }
    }
    for round in [0, 7, 39] {
        text.push(format!("{:?}", wait(store.known_request(request_key(&format!("key-{round}"))))?));
    }
    Ok(text.concat())
}

#[test]
fn every_flipped_bit_that_changes_an_answer_is_noticed() {
    let scratch = Scratch::new();
    fill(scratch.path());
    verify(scratch.path()).unwrap();
    let sound = fs::read(scratch.join(FILE)).unwrap();
    let (rows, answers) = (exported(scratch.path()).unwrap(), answered(scratch.path()).unwrap());
    let mut rng = Rng::new(2026);
    let (mut noticed, mut changed) = (0, 0);
    for flip in 0..FLIPS {
        let bit = rng.below(sound.len() * 8);
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let hurt = Scratch::new();
        fs::write(hurt.join(FILE), &bytes).unwrap();
        let is_noticed = !is_sound(hurt.path());
        let is_changed = !exported(hurt.path()).is_ok_and(|found| found == rows)
            || (!is_noticed && !answered(hurt.path()).is_ok_and(|found| found == answers));
        assert!(is_noticed || !is_changed, "flip {flip}, bit {} of byte {}", bit % 8, bit / 8);
        noticed += usize::from(is_noticed);
        changed += usize::from(is_changed);
    }
    println!("{FLIPS} flips: {changed} change what is exported, {noticed} are noticed");
    assert!(changed > FLIPS / 20, "{changed} of {FLIPS} change anything");
}

#[test]
fn rows_that_vanish_or_appear_are_noticed() {
    let scratch = Scratch::new();
    fill(scratch.path());
    let sound = fs::read(scratch.join(FILE)).unwrap();
    for damage in [
        "DELETE FROM agent_run_scores WHERE run = (SELECT max(run) FROM agent_run_scores)",
        "DELETE FROM agent_run_scores WHERE run = 7",
        "DELETE FROM session_traces WHERE trace_id = 'trace-3'",
        "DELETE FROM session_records WHERE rowid_of IS NULL",
        "DELETE FROM keys WHERE last_four = '0002'",
        "DELETE FROM tombstones",
        "DELETE FROM identities WHERE identity = 1",
        "DELETE FROM sessions WHERE session_id = 'signals-1'",
        "DELETE FROM agents WHERE name = 'named'",
        "DELETE FROM reputation_events WHERE event = 3",
        "DELETE FROM evaluations WHERE evaluation_id = 'evaluation-39-11'",
        "INSERT INTO identities (org, id) VALUES (0, x'00112233445566778899aabbccddeeff')",
        "UPDATE agents SET name = 'somebody' WHERE name = 'named'",
        "UPDATE agents SET first_seen = first_seen - 1 WHERE name = 'busy'",
        "UPDATE evaluations SET tool = 'other' WHERE evaluation_id = 'evaluation-39-11'",
        "UPDATE sessions SET closed_at = closed_at + 1 WHERE session_id = 'session-1'",
        "UPDATE session_traces SET coherence = 1.0 WHERE trace_id = 'trace-3'",
        "UPDATE keys SET revoked_at = NULL, kind = 'secret', label = 'x'",
        "UPDATE request_keys SET accepted = 11 WHERE key = 'key-7'",
        "UPDATE request_key_agents SET score = score + 1 WHERE key = 'key-7'",
    ] {
        // A single record cannot be named by its row number, because the table has none.
        let damage = damage.replace(
            "rowid_of IS NULL",
            "(session, key) IN (SELECT session, key FROM session_records WHERE record <> x'' LIMIT 1)",
        );
        let hurt = Scratch::new();
        fs::write(hurt.join(FILE), &sound).unwrap();
        let database = behind_the_back(&hurt.join(FILE));
        assert!(database.execute(&damage, []).unwrap() > 0, "{damage}");
        drop(database);
        let verdict = Reader::open(hurt.path()).unwrap().verify(&mut |_, _| {});
        assert!(!matches!(verdict, Ok(Ok(_))), "{damage}");
    }
}

#[test]
fn a_log_with_a_missing_end_is_noticed_until_the_loss_is_accepted() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    drop(open(scratch.path(), &clock));
    let store = open(scratch.path(), &clock);
    // While an old state is being read, nothing newer is moved into the database.
    let old = rusqlite::Connection::open(scratch.join(FILE)).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM evaluations;").unwrap();
    wait(store.append(&default_org(), evaluations("a", "first", 5), None)).unwrap();
    let half = fs::metadata(scratch.path().join(format!("{FILE}-wal"))).unwrap().len();
    wait(store.append(&default_org(), evaluations("a", "second", 7), None)).unwrap();
    wait(store.create_key(key("default", 1), None)).unwrap();
    let killed = |cut: Option<u64>| {
        let killed = Scratch::new();
        copy_killed(scratch.path(), killed.path());
        let mark = format!("{FILE}-mark");
        fs::copy(scratch.path().join(&mark), killed.path().join(&mark)).unwrap();
        let log = killed.path().join(format!("{FILE}-wal"));
        match cut {
            Some(0) => fs::remove_file(log).unwrap(),
            Some(length) => fs::File::options().write(true).open(log).unwrap().set_len(length).unwrap(),
            None => {}
        }
        killed
    };
    let reported = |dir: &Path| {
        let error = Reader::open(dir).unwrap().verify(&mut |_, _| {}).unwrap_err();
        assert!(error.is_damage(), "{error}");
        error.to_string()
    };
    let whole = killed(None);
    verify(whole.path()).unwrap();
    assert_eq!(open(whole.path(), &clock).lost(), None);

    let deleted = killed(Some(0));
    assert!(reported(deleted.path()).contains("acknowledged writes are missing: 12 evaluations and"));
    let cut = killed(Some(half));
    assert!(reported(cut.path()).contains("acknowledged writes are missing: 7 evaluations and"));

    // The next process reports it, continues, and does not forget it.
    let store = open(cut.path(), &clock);
    assert_eq!(store.lost().unwrap().evaluations, 7);
    wait(store.append(&default_org(), evaluations("b", "after", 20), None)).unwrap();
    drop(store);
    assert!(reported(cut.path()).contains("7 evaluations and"), "also when the mark was raised again");
    let store = open(cut.path(), &clock);
    assert_eq!(wait(store.repair()).unwrap().lost.evaluations, 7);
    drop(store);
    verify(cut.path()).unwrap();
    assert_eq!(open(cut.path(), &clock).lost(), None);
    drop(old);
}
