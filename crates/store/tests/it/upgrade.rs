//! Databases of older releases open and give the same scores.
//!
//! `fixtures/v<n>.db` was written by the release with that schema version, and `fixtures/v<n>.json` is what that
//! release answered about it. Neither is ever rebuilt: a later release has to find in the old file what the old
//! release found. Only what is in the JSON is compared, so a later release may answer more.
//!
//! **A new schema version** needs a fixture of its own: `RENOWN_STORE_FIXTURE=1 cargo test -p renown-store upgrade`
//! makes it, from the same writes, if it does not exist; then add it to `VERSIONS`. The test fails until then. A
//! version that stores more gets more writes and more answers here; older fixtures need not know them.

use std::fs;
use std::path::{Path, PathBuf};

use renown_core::eval::SentSettings;
use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId};
use renown_core::json::parse;
use renown_core::reputation::ReputationSummary;
use renown_core::session_metrics::{Signals, Trace};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, Unit, Whole};
use renown_store::sqlite::{FILE, Reader};
use renown_store::{
    AgentQuery, AgentSort, EvalFilter, EvalResultQuery, EvalRunQuery, EvalTargets, EvaluationQuery,
    EvaluationsReceipt, Evidence, HistorySteps, KnownRequest, LatencySource, NewEvalRun, NewSchedule,
    NewSignals, NewTrace, OrgSettings, PublicationChange, Reads, Receipt, Retention, RunQuery, SessionQuery,
    SessionSummary, Store, StoredSession, advance_eval_runs,
};
use serde_json::{Value, json};

use crate::support::{
    Rng, Scratch, TestClock, at, default_org, evaluation, event, fresh, key, open, request_key, run, verify,
    wait,
};
use crate::telemetry::{batch, call, logs, prompt, spans, tool};

/// Every version that a release has written.
const VERSIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// The first version that keeps what was accepted for a request key. The replies that older ones saved are dropped.
const RECEIPTS_FROM: i64 = 7;

fn fixture(version: i64, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/v{version}.{extension}"))
}

/// Writes every kind of data: two organizations; an agent with more evaluations than its window holds, one with few,
/// and one without any; API keys; a request key of each kind; runs in two workspaces; reputation events; sessions, one
/// of them closed; an erased agent, and a public one.
fn write(store: &dyn Store, clock: &TestClock) {
    let mut rng = Rng::new(1);
    let other: OrgId = "other".parse().unwrap();
    let agent = OrgSettings { latency_source: LatencySource::Agent };
    wait(store.set_settings(&default_org(), agent)).unwrap();
    wait(store.create_key(key("default", 1), None)).unwrap();
    wait(store.create_key(key("other", 2), None)).unwrap();
    wait(store.revoke_key(&other, key("other", 2).id)).unwrap();
    wait(store.touch_keys(vec![(key("default", 1).id, at(60_000))])).unwrap();
    for number in 0..560 {
        clock.set(1000 * number);
        let agent = if number % 20 == 7 { "über-agent" } else { "busy" };
        let mut new = evaluation(agent, &format!("e{number}"));
        new.passed = !rng.one_in(9);
        new.gate_latency = Micros::from_us(rng.below(30_000) as u32).unwrap();
        new.agent_latency = rng.sometimes(3, |rng| Micros::from_us(rng.below(50_000) as u32).unwrap());
        new.tool = rng.sometimes(2, |_| "sh".parse().unwrap());
        new.gates = rng.pick(&["[]", r#"[{"name":"size","passed":true,"latency_ms":0.02}]"#]).into();
        new.timestamp = rng.sometimes(4, |rng| at(1000 * number - rng.below(100_000) as i64));
        wait(store.append(&default_org(), vec![new], None)).unwrap();
    }
    wait(store.add_agent(&default_org(), "named".parse().unwrap(), Some(request_key("agent")))).unwrap();
    wait(store.append(&other, vec![evaluation("busy", "e0")], None)).unwrap();
    for number in 0..30 {
        let agent = rng.pick(&["busy", "named"]);
        let outcome = rng.pick(&["completed", "completed", "blocked"]);
        let workspace = rng.pick(&["default", "shop"]);
        let text = format!(
            r#"{{"agent_id":"{agent}","outcome":"{outcome}","workspace":"{workspace}","spec_id":"login","wall_ms":{},"finished_at":{},"branch":"b{number}","stages":[{{"name":"test","passed":true,"attempts":2}}],"resources":{{"memory_peak_bytes":-1}}}}"#,
            rng.below(5000),
            at(1000 * rng.below(60) as i64).millis(),
        );
        wait(store.add_run(&default_org(), run(&format!("r{number}"), &text), None)).unwrap();
    }
    write_sessions(store);
    write_request_keys(store);
    write_evals(store);
    let days_ago = |number: i64| -86_400_000 * number / 3 + number;
    let events = (0..200).map(|number| event("busy", number, days_ago(number)));
    wait(store.add_reputation_events(&default_org(), events.collect(), None)).unwrap();
    let publication =
        PublicationChange { public: Some(true), spare: None, slug: Some("busy-one".parse().unwrap()) };
    wait(store.publish(&default_org(), &"busy".parse().unwrap(), publication)).unwrap();
    clock.turn(10_000);
    assert_eq!(wait(store.close_sessions()).unwrap().len(), 1);
    wait(store.append(&other, vec![evaluation("erased", "gone")], None)).unwrap();
    wait(store.erase(&other, &"erased".parse().unwrap())).unwrap();
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
}

fn write_sessions(store: &dyn Store) {
    for (session, ms) in [("closed", -7_200_000), ("open", -1000), ("spans", -2000)] {
        let mut all = vec![prompt(session, 1, ms), tool(session, 2, ms + 60_000, "Edit", true)];
        all.push(tool(session, 3, ms + 61_000, "Bash", false));
        all.push(call(session, 4, ms + 62_000, "0.05"));
        let records = if session == "spans" { spans(session, ms) } else { logs("busy", &all) };
        wait(store.add_records(&default_org(), batch(&records), None)).unwrap();
    }
    let signals = Signals { confidence: Some(Unit::HALF), ..Signals::default() };
    let trace = Trace { trace_id: "t1".parse().unwrap(), signals, source: None };
    let traces = vec![NewTrace { trace, started_at: Some(at(5)) }];
    let signals = NewSignals { agent: Some("named".parse().unwrap()), traces };
    wait(store.add_signals(&default_org(), &"signals".parse().unwrap(), signals, None)).unwrap();
}

/// Writes an eval run that has ended, one that waits, and a schedule.
fn write_evals(store: &dyn Store) {
    let org = default_org();
    let settings = || parse::<SentSettings>(b"{}").unwrap().try_into().unwrap();
    let new = |id: &str, targets| NewEvalRun {
        id: id.parse().unwrap(),
        name: Some(format!("run {id}")),
        settings: settings(),
        targets,
        seed: 7,
    };
    let listed = ["closed", "signals", "unknown"].map(|id| id.parse().unwrap()).to_vec();
    wait(store.create_eval_run(&org, new("ended", EvalTargets::Sessions(listed)), None)).unwrap();
    while wait(advance_eval_runs(store)).unwrap().is_some() {}
    let filter = EvalFilter { agent: Some("named".parse().unwrap()), min_traces: 1, ..EvalFilter::default() };
    wait(store.create_eval_run(&org, new("waiting", EvalTargets::Filter(filter.clone())), None)).unwrap();
    let schedule = NewSchedule {
        id: "weekly".parse().unwrap(),
        name: "every week".to_owned(),
        cadence: "weekly".parse().unwrap(),
        settings: settings(),
        filter,
        only_if_changed: true,
    };
    wait(store.create_schedule(&org, schedule, None)).unwrap();
}

/// Describes eval runs and schedules.
fn describe_evals(store: &dyn Store, org: &OrgId) -> Value {
    let runs = wait(store.eval_runs(org, EvalRunQuery { limit: 9, ..EvalRunQuery::default() })).unwrap().runs;
    let runs: Vec<Value> = runs
        .iter()
        .map(|run| {
            let query = EvalResultQuery { limit: 9, ..EvalResultQuery::default() };
            let results = wait(store.eval_results(org, &run.id, query)).unwrap().unwrap().results;
            let results: Vec<Value> = results
                .iter()
                .map(|result| json!([result.session, result.agent, result.outcome.parts()]))
                .collect();
            json!([run.id, format!("{:?}", run.filter), run.state, results])
        })
        .collect();
    let schedules = wait(store.schedules(org, None, 9)).unwrap().schedules;
    let schedules: Vec<Value> = schedules
        .iter()
        .map(|known| {
            let next = known.next_tick().map(Timestamp::millis);
            json!([known.id, known.cadence.to_string(), format!("{:?}", known.filter), next, known.state])
        })
        .collect();
    json!({ "runs": runs, "schedules": schedules })
}

/// Describes everything that a caller can see.
fn describe(store: &dyn Store) -> Value {
    let orgs = ["default", "other"].map(|name| {
        let org: OrgId = name.parse().unwrap();
        let query = AgentQuery { sort: AgentSort::Name, limit: 100, ..AgentQuery::default() };
        let agents = wait(store.agents(&org, query)).unwrap().agents;
        let agents: Vec<Value> = agents.iter().map(|agent| {
            let steps = HistorySteps::new(at(-200_000), at(600_000), 16).unwrap();
            let window = wait(store.window(&org, &agent.agent)).unwrap();
            assert_eq!(window.tally(), agent.tally);
            assert_eq!(wait(store.tally(&org, &agent.agent)).unwrap(), agent.tally);
            let history = wait(store.history(&org, &agent.agent, steps)).unwrap();
            json!({
                "agent_id": agent.agent,
                "first_seen": agent.first_seen.millis(),
                "last_seen": agent.last_seen.millis(),
                "record": agent.tally.record(),
                "explanation": window.explain(),
                "history": history.iter().map(|point| json!([point.at.millis(), point.score, point.evaluations])).collect::<Vec<_>>(),
            })
        }).collect();
        let page = wait(store.evaluations(&org, EvaluationQuery { limit: 1000, ..EvaluationQuery::default() })).unwrap();
        let events: Vec<Value> = page.evaluations.iter().map(|event| json!([
            event.id, event.agent, event.tool, event.passed, event.gate_latency.us(), event.agent_latency.map(Micros::us),
            event.latency.us(), event.gates, event.standing.score, event.standing.eval_count,
            event.created_at.millis(), event.accepted_at.millis(),
        ])).collect();
        let erased: Vec<Value> = wait(store.tombstones(&org)).unwrap().iter().map(|tombstone| json!([
            tombstone.digest, tombstone.asked_at.millis(), tombstone.erased, tombstone.done_at.map(Timestamp::millis),
        ])).collect();
        json!({
            "org": name, "agents": agents, "events": events, "runs": describe_runs(store, &org),
            "identity": describe_identity(store, &org), "erased": erased, "sessions": describe_sessions(store, &org),
            "evals": describe_evals(store, &org),
            "latency_source": wait(store.settings(&org)).unwrap().latency_source.name(),
        })
    });
    let keys: Vec<Value> = wait(store.keys()).unwrap().iter().map(|key| json!({
        "id": key.key.id.to_string(), "org": key.key.org, "kind": key.key.kind, "label": key.key.label,
        "hash": key.key.hash, "last_four": key.key.last_four, "created_at": key.created_at.millis(),
        "last_used_at": key.last_used_at.map(Timestamp::millis),
        "revoked_at": key.revoked_at.map(Timestamp::millis),
    })).collect();
    let receipts: Vec<Value> = REQUEST_KEYS.iter().map(|name| describe_receipt(store, name)).collect();
    json!({ "orgs": orgs, "keys": keys, "receipts": receipts })
}

const REQUEST_KEYS: [&str; 9] =
    ["agent", "one", "repeated", "batch", "run", "events", "records", "signals", "api-key"];

/// Writes the request keys, beside `agent`.
fn write_request_keys(store: &dyn Store) {
    let org = default_org();
    let key_of = |name: &str| Some(request_key(name));
    let append = |name: &str, batch| wait(store.append(&org, batch, key_of(name))).unwrap();
    append("one", vec![evaluation("keyed", "keyed-1")]);
    append("repeated", vec![evaluation("unknown", "keyed-1")]);
    append("batch", vec![evaluation("keyed", "keyed-2"), evaluation("named", "keyed-1")]);
    let text = r#"{"agent_id":"keyed","outcome":"blocked"}"#;
    wait(store.add_run(&org, run("keyed", text), key_of("run"))).unwrap();
    let events = vec![event("keyed", 5000, 0), event("keyed", 5000, 0)];
    wait(store.add_reputation_events(&org, events, key_of("events"))).unwrap();
    let records = batch(&logs("keyed", &[prompt("keyed", 1, 0)]));
    wait(store.add_records(&org, records, key_of("records"))).unwrap();
    let trace = Trace { trace_id: "t1".parse().unwrap(), signals: Signals::default(), source: None };
    let signals = NewSignals { agent: None, traces: vec![NewTrace { trace, started_at: None }] };
    wait(store.add_signals(&org, &"keyed".parse().unwrap(), signals, key_of("signals"))).unwrap();
    wait(store.create_key(key("default", 3), key_of("api-key"))).unwrap();
}

/// Describes what is known about a request key.
fn describe_receipt(store: &dyn Store, name: &str) -> Value {
    let receipt = match wait(store.known_request(request_key(name))).unwrap() {
        Some(KnownRequest::Replayed(receipt)) => receipt,
        Some(KnownRequest::Conflict) => panic!("{name} has another fingerprint"),
        None => return Value::Null,
    };
    match receipt {
        Receipt::Evaluations(EvaluationsReceipt { counted, repeated, standings, only }) => {
            let standing =
                |(agent, at): &(AgentId, ReputationSummary)| json!([agent, at.score, at.eval_count]);
            let standings: Vec<Value> = standings.iter().map(standing).collect();
            let only =
                only.map(|only| json!([only.id, only.agent, only.standing.score, only.created_at.millis()]));
            json!(["evaluations", counted, repeated, standings, only])
        }
        Receipt::Agent { new } => json!(["agent", new]),
        Receipt::Run { new, run } => json!(["run", new, run.id, run.tier(), run.accepted_at.millis()]),
        Receipt::ReputationEvents(recorded) => json!(["events", recorded.accepted, recorded.duplicates]),
        Receipt::Records => json!("records"),
        Receipt::Signals => json!("signals"),
        Receipt::ApiKey(id) => json!(["api key", id.to_string()]),
        Receipt::EvalRun(_) => json!("eval run"),
        Receipt::Schedule(_) => json!("schedule"),
    }
}

/// Describes every run, and a competition.
fn describe_runs(store: &dyn Store, org: &OrgId) -> Value {
    let all = wait(store.runs(org, RunQuery { limit: 100, ..RunQuery::default() })).unwrap().runs;
    let runs: Vec<Value> = all
        .iter()
        .map(|run| {
            json!([
                run.id,
                run.agent,
                run.workspace,
                run.spec,
                run.report.outcome.name(),
                run.report.wall_ms.map(Whole::get),
                run.stages,
                run.finished_at.millis(),
                run.branch,
                run.warnings,
                run.accepted_at.millis(),
                run.tier(),
                run.scored.as_ref().map(|scored| json!([
                    scored.score,
                    scored.axes,
                    scored.defaulted,
                    scored.formula_version,
                    scored.baseline.shown(),
                ])),
            ])
        })
        .collect();
    let ranked = wait(store.competition(org, &"login".parse().unwrap())).unwrap();
    json!({ "runs": runs, "ranking": ranked.attempts.iter().map(|attempt| &attempt.run.id).collect::<Vec<_>>() })
}

/// Describes every session with its traces.
fn describe_sessions(store: &dyn Store, org: &OrgId) -> Value {
    let query = SessionQuery { limit: 100, ..SessionQuery::default() };
    let all = wait(store.sessions(org, query)).unwrap().sessions;
    let session = |listed: &StoredSession| {
        let session = wait(store.session(org, &listed.id, true)).unwrap().unwrap();
        assert_eq!(SessionSummary::of(&session.traces), listed.summary, "{}", listed.id);
        let traces: Vec<String> = session.traces.iter().map(|trace| format!("{trace:?}")).collect();
        let report = session.ledger.as_ref().map(|ledger| json!(ledger.report()));
        json!([
            session.id,
            session.agent,
            session.began_at,
            session.last_seen,
            session.closed_at,
            report,
            traces
        ])
    };
    all.iter().map(session).collect()
}

/// Describes the reputation of an agent's identity, and its publication.
fn describe_identity(store: &dyn Store, org: &OrgId) -> Value {
    let busy = "busy".parse().unwrap();
    let identity = identity_of(org, &busy);
    let as_of = at(12_345);
    let windows = wait(store.identity_windows(org, identity, as_of)).unwrap();
    let events = wait(store.reputation_events(org, identity, None, 500)).unwrap().events;
    let events: Vec<Value> = events
        .iter()
        .map(|event| {
            json!([
                event.event.event_id,
                event.event.timestamp,
                event.event.category,
                event.event.event_type,
                event.event.score_delta,
                event.event.reference_id,
                event.accepted_at.millis(),
            ])
        })
        .collect();
    let shown = wait(store.publication(org, &busy)).unwrap().map(|shown| json!([shown.public, shown.slug]));
    json!({ "standing": windows.breakdown().standing(as_of), "events": events, "shown": shown })
}

/// Makes the fixture of this version, if it does not exist.
fn make_missing() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    write(&*store, &clock);
    let answers = describe(&*store);
    // Copied while the store is open, so that the rows of the last agents are not settled yet.
    let reader = Reader::open(scratch.path()).unwrap();
    let version = reader.describe().unwrap().0;
    if !fixture(version, "db").exists() {
        // A copy is a single file, whatever mode the database was in.
        reader.backup(&fixture(version, "db"), &mut |_| {}).unwrap();
        fs::write(fixture(version, "json"), serde_json::to_string(&answers).unwrap() + "\n").unwrap();
    }
}

#[test]
fn databases_of_all_versions_answer_as_before() {
    if std::env::var_os("RENOWN_STORE_FIXTURE").is_some() {
        make_missing();
    }
    for version in VERSIONS {
        let scratch = Scratch::new();
        fs::copy(fixture(version, "db"), scratch.join(FILE)).unwrap();
        let clock = TestClock::at_noon();
        let store = open(scratch.path(), &clock);
        let expected: Value = serde_json::from_slice(&fs::read(fixture(version, "json")).unwrap()).unwrap();
        let found = describe(&*store);
        assert_contains(&found, &without_reply(expected), &format!("v{version}"));
        let is_dropped = found["receipts"].as_array().unwrap().iter().all(Value::is_null);
        assert_eq!(is_dropped, version < RECEIPTS_FROM, "v{version}");
        // It can also be written: evaluations continue where they ended.
        let before = wait(store.tally(&default_org(), &"busy".parse().unwrap())).unwrap();
        wait(store.append(&default_org(), vec![evaluation("busy", "after")], None)).unwrap();
        let after = wait(store.tally(&default_org(), &"busy".parse().unwrap())).unwrap();
        assert_eq!((before.evaluations(), after.evaluations()), (500, 500));
        let repeated = fresh(wait(store.append(&default_org(), vec![evaluation("busy", "e0")], None)));
        assert_eq!(repeated[0].tally(), after, "an old id is still known");
        drop(store);

        let reader = Reader::open(scratch.path()).unwrap();
        let newest = reader.describe().unwrap().0;
        assert!(newest >= version && VERSIONS.contains(&newest), "version {newest} has no fixture");
        let keyed = if version < RECEIPTS_FROM { 0 } else { 2 };
        assert_eq!(verify(scratch.path()).unwrap().evaluations, 562 + keyed);
        let copy = scratch.path().join(format!("{FILE}.before-{version}"));
        assert_eq!(copy.exists(), newest > version, "an upgrade keeps a copy");
        if copy.exists() {
            let kept = rusqlite::Connection::open(copy).unwrap();
            let kept: i64 = kept.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(kept, version, "the copy has the old version");
        }
    }
}

/// Removes the reply that an older version had saved.
fn without_reply(mut expected: Value) -> Value {
    expected.as_object_mut().unwrap().remove("reply");
    expected
}

/// Checks that everything that was answered then is answered now. New fields are allowed.
fn assert_contains(now: &Value, then: &Value, path: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            for (name, value) in then {
                let path = format!("{path}.{name}");
                assert_contains(now.get(name).unwrap_or_else(|| panic!("{path} is gone")), value, &path);
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{path}");
            for (index, (now, then)) in now.iter().zip(then).enumerate() {
                assert_contains(now, then, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(now, then, "{path}"),
    }
}
