//! Questions about competitions, eval runs and schedules.

use renown_core::eval::{EvalScores, EvalStatus, SentSettings};
use renown_core::ids::{EvalRunId, ScheduleId, SessionId};
use renown_core::scorecard::BaselineSource;
use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::{
    Accepted, EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome, EvalResult, EvalResultQuery,
    EvalRun, EvalRunQuery, EvalStep, EvalTargets, Fire, Fired, KnownRequest, NewEvalRun, NewSchedule,
    NewSignals, NewTrace, Receipt, Retention, Schedule, ScheduleChange, ScheduleChanged, SessionMark, Store,
    advance_eval_runs,
};

use crate::support::{TestClock, at, default_org, request_key, run, wait};

const DAY_MS: i64 = 86_400_000;

fn settings(json: &str) -> renown_core::eval::EvalSettings {
    renown_core::json::parse::<SentSettings>(json.as_bytes()).unwrap().try_into().unwrap()
}

/// Adds a session with one trace per confidence.
fn session(store: &dyn Store, agent: &str, id: &str, confidences: &[f64]) {
    let trace = |(number, &confidence): (usize, &f64)| {
        let signals = Signals { confidence: Some(Unit::new(confidence).unwrap()), ..Signals::default() };
        let trace_id = format!("t{number}").parse().unwrap();
        NewTrace { trace: Trace { trace_id, signals, source: None }, started_at: None }
    };
    let traces = confidences.iter().enumerate().map(trace).collect();
    let signals = NewSignals { agent: Some(agent.parse().unwrap()), traces };
    wait(store.add_signals(&default_org(), &id.parse().unwrap(), signals, None)).unwrap();
}

fn list(ids: &[&str]) -> EvalTargets {
    EvalTargets::Sessions(ids.iter().map(|id| id.parse().unwrap()).collect())
}

fn of_agent(agent: &str) -> EvalFilter {
    EvalFilter { agent: Some(agent.parse().unwrap()), ..EvalFilter::default() }
}

fn new_run(id: &str, targets: EvalTargets) -> NewEvalRun {
    NewEvalRun { id: id.parse().unwrap(), name: None, settings: settings("{}"), targets, seed: 7 }
}

fn create(store: &dyn Store, new: NewEvalRun) -> EvalRun {
    match wait(store.create_eval_run(&default_org(), new, None)).unwrap().fresh() {
        Some(EvalCreated::Created(run)) => *run,
        other => panic!("{other:?}"),
    }
}

fn find(store: &dyn Store, id: &str) -> EvalRun {
    wait(store.eval_run(&default_org(), &id.parse().unwrap())).unwrap().unwrap()
}

/// Carries out all runs.
fn finish(store: &dyn Store) {
    while wait(advance_eval_runs(store)).unwrap().is_some() {}
}

/// Returns the sessions of a run with their outcomes: a score in ten-thousandths, or the reason why it has no score.
fn results(store: &dyn Store, id: &str) -> Vec<(String, Result<i128, String>)> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let query = EvalResultQuery { state: None, after, limit: 2 };
        let page = wait(store.eval_results(&default_org(), &id.parse().unwrap(), query)).unwrap().unwrap();
        found.extend(page.results.into_iter().map(shown));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

fn shown(result: EvalResult) -> (String, Result<i128, String>) {
    let outcome = match result.outcome {
        EvalOutcome::Pending => Err("pending".to_owned()),
        EvalOutcome::Failed(reason) => Err(reason),
        EvalOutcome::Scored(metrics) => {
            Ok(EvalScores::brief(&metrics).unwrap().first().unwrap().score.units())
        }
    };
    (result.session.as_str().to_owned(), outcome)
}

fn expected(rows: &[(&str, Result<i128, &str>)]) -> Vec<(String, Result<i128, String>)> {
    rows.iter().map(|(id, outcome)| ((*id).to_owned(), outcome.map_err(str::to_owned))).collect()
}

const UNKNOWN: &str = "there is no session with this id";

pub(super) fn a_competition_compares_all_attempts_with_one_baseline(store: &dyn Store, clock: &TestClock) {
    let mut now = 0;
    let mut submit = |id: &str, agent: &str, workspace: &str, spec: &str, outcome: &str, wall_ms: u64| {
        now += 1000;
        clock.set(now);
        let text = format!(
            r#"{{"agent_id":"{agent}","workspace":"{workspace}","spec_id":"{spec}","outcome":"{outcome}","wall_ms":{wall_ms}}}"#
        );
        wait(store.add_run(&default_org(), run(id, &text), None)).unwrap();
    };
    // Three equal runs in a new workspace: 40 + 15 + 16 + 5 = 76 each, whatever they got when they were accepted.
    for (id, agent) in [("f1", "a"), ("f2", "b"), ("f3", "c")] {
        submit(id, agent, "new", "fair", "completed", 1000);
    }
    let ranking = wait(store.competition(&default_org(), &"fair".parse().unwrap())).unwrap();
    let own: Vec<u8> =
        ranking.attempts.iter().map(|attempt| attempt.run.scored.as_ref().unwrap().score).collect();
    let ranked: Vec<u8> =
        ranking.attempts.iter().map(|attempt| attempt.scored.as_ref().unwrap().score).collect();
    assert_eq!((own, ranked), (vec![70, 76, 76], vec![76, 76, 76]));
    assert_eq!(ranking.common.source, BaselineSource::Contenders);
    // The workspace has three completed runs now. They are the baseline of a later spec, also for its second attempt.
    submit("s1", "a", "new", "second", "completed", 500);
    submit("s2", "b", "new", "second", "completed", 2000);
    submit("s3", "b", "new", "second", "failed", 10);
    let ranking = wait(store.competition(&default_org(), &"second".parse().unwrap())).unwrap();
    assert_eq!(ranking.common.source, BaselineSource::Workspace);
    assert_eq!(ranking.common.baseline.shown().p50_ms.unwrap().to_string(), "1000.0");
    let ranked: Vec<(&str, u8)> = ranking
        .attempts
        .iter()
        .map(|attempt| (attempt.run.id.as_str(), attempt.scored.as_ref().unwrap().score))
        .collect();
    // 40 + 15 + 20 + 5, and 40 + 15 + 8 + 5.
    assert_eq!(ranked, [("s1", 80), ("s2", 68)]);
}

pub(super) fn an_eval_run_over_a_list_evaluates_each_session_once(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    session(store, "b", "s2", &[0.2]);
    let created = create(store, new_run("e", list(&["s1", "s2", "gone"])));
    assert_eq!((created.state.status, created.state.progress.targets), (EvalStatus::Pending, 3));
    assert_eq!(
        results(store, "e"),
        expected(&[("gone", Err(UNKNOWN)), ("s1", Err("pending")), ("s2", Err("pending"))])
    );
    finish(store);
    let done = find(store, "e");
    assert_eq!(done.state.status, EvalStatus::Completed);
    let progress = done.state.progress;
    assert_eq!((progress.targets, progress.scored, progress.failed, progress.skipped), (3, 2, 1, 0));
    assert_eq!(results(store, "e"), expected(&[("gone", Err(UNKNOWN)), ("s1", Ok(9000)), ("s2", Ok(2000))]));
    assert_eq!(done.state.sums.agent_reliability.mean().unwrap().to_string(), "0.5500");
    // A result stays as it was computed.
    session(store, "a", "s1", &[0.1]);
    assert_eq!(results(store, "e").get(1), Some(&("s1".to_owned(), Ok(9000))));
}

pub(super) fn a_retry_evaluates_only_what_failed(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    create(store, new_run("e", list(&["s1", "late"])));
    let change = |change| {
        let changed = store.change_eval_run(&default_org(), &"e".parse().unwrap(), change, None);
        wait(changed).unwrap().fresh().unwrap()
    };
    assert_eq!(change(EvalChange::Retry), EvalChanged::Refused(EvalStatus::Pending));
    finish(store);
    assert_eq!(change(EvalChange::Cancel), EvalChanged::Refused(EvalStatus::Completed));
    session(store, "a", "s1", &[0.1]);
    session(store, "a", "late", &[0.6]);
    assert!(matches!(change(EvalChange::Retry), EvalChanged::Changed(_)));
    finish(store);
    assert_eq!(results(store, "e"), expected(&[("late", Ok(6000)), ("s1", Ok(9000))]));
    assert_eq!(find(store, "e").state.progress.failed, 0);
    assert_eq!(change(EvalChange::Retry), EvalChanged::Refused(EvalStatus::Completed));
    let unknown: EvalRunId = "unknown".parse().unwrap();
    assert_eq!(
        wait(store.change_eval_run(&default_org(), &unknown, EvalChange::Cancel, None)).unwrap(),
        Accepted::Fresh(EvalChanged::Unknown)
    );
}

pub(super) fn an_eval_run_follows_its_filter_to_the_end(store: &dyn Store, _: &TestClock) {
    for number in 0..120 {
        let agent = if number % 3 == 0 { "other" } else { "a" };
        let confidences = if number % 5 == 0 { &[0.5][..] } else { &[0.5, 0.5] };
        session(store, agent, &format!("s{number:03}"), confidences);
    }
    let filter = EvalFilter { min_traces: 2, ..of_agent("a") };
    create(store, new_run("all", EvalTargets::Filter(filter)));
    let mut half = new_run("half", EvalTargets::Filter(EvalFilter::default()));
    half.settings = settings(r#"{"sampling_rate":0.5}"#);
    create(store, half.clone());
    finish(store);
    let progress = find(store, "all").state.progress;
    assert_eq!((progress.targets, progress.scored, progress.skipped, progress.failed), (80, 64, 16, 0));
    let sampled: Vec<String> = results(store, "half").into_iter().map(|(id, _)| id).collect();
    let expected: Vec<String> = (0..120)
        .map(|number| format!("s{number:03}"))
        .filter(|id| half.settings.is_sampled(half.seed, &id.parse().unwrap()))
        .collect();
    assert_eq!(sampled, expected, "the stored seed chooses the sample");
    assert!((30..90).contains(&sampled.len()), "{}", sampled.len());
}

pub(super) fn a_step_that_is_written_twice_counts_once(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    let run = create(store, new_run("e", list(&["s1"])));
    let scored = EvalOutcome::Scored(
        r#"{"agent_reliability":{"score":0.5,"passed":true,"evaluable":true}}"#.to_owned(),
    );
    let result =
        EvalResult { session: "s1".parse().unwrap(), agent: Some("a".parse().unwrap()), outcome: scored };
    let step = EvalStep { version: run.state.version, results: vec![result], ..EvalStep::default() };
    let write = |step: EvalStep| wait(store.advance_eval_run(&default_org(), &run.id, step)).unwrap();
    let after = write(step.clone()).unwrap();
    assert_eq!(write(step.clone()), None, "the run has moved on");
    // A later step that evaluates the same session again changes nothing of its result.
    let again = write(EvalStep { version: after.state.version, ..step.clone() }).unwrap();
    assert_eq!((again.state.progress.scored, again.state.sums.agent_reliability.evaluated), (1, 1));
    let cancelled = wait(store.change_eval_run(&default_org(), &run.id, EvalChange::Cancel, None)).unwrap();
    let Accepted::Fresh(EvalChanged::Changed(cancelled)) = cancelled else { panic!("{cancelled:?}") };
    assert_eq!(write(EvalStep { version: cancelled.state.version, ..step }), None, "the run is cancelled");
    assert_eq!(wait(store.next_eval_run()).unwrap(), None);
}

pub(super) fn eval_runs_are_listed_and_belong_to_their_organization(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    for id in ["e1", "e2", "e3"] {
        create(store, new_run(id, list(&["s1"])));
    }
    finish(store);
    create(store, new_run("e4", list(&["s1"])));
    let ids = |query: EvalRunQuery| -> Vec<String> {
        let page = wait(store.eval_runs(&default_org(), query)).unwrap();
        page.runs.iter().map(|run| run.id.as_str().to_owned()).collect()
    };
    let query = EvalRunQuery { limit: 2, ..EvalRunQuery::default() };
    let page = wait(store.eval_runs(&default_org(), query.clone())).unwrap();
    assert_eq!(ids(query.clone()), ["e4", "e3"]);
    assert_eq!(ids(EvalRunQuery { before: page.next, ..query.clone() }), ["e2", "e1"]);
    assert_eq!(ids(EvalRunQuery { status: Some(EvalStatus::Pending), ..query }), ["e4"]);
    let first = find(store, "e1");
    assert_eq!(wait(store.eval_run_at(&default_org(), first.position)).unwrap(), Some(first));
    wait(store.create_key(crate::support::key("other", 9), None)).unwrap();
    let other = "other".parse().unwrap();
    assert_eq!(wait(store.eval_run(&other, &"e1".parse().unwrap())).unwrap(), None);
    assert_eq!(
        wait(store.eval_runs(&other, EvalRunQuery { limit: 9, ..EvalRunQuery::default() })).unwrap().runs,
        []
    );
    wait(store.eval_run(&"nowhere".parse().unwrap(), &"e1".parse().unwrap())).unwrap_err();
}

pub(super) fn a_request_key_creates_one_eval_run_and_one_schedule(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    let org = default_org();
    let first =
        wait(store.create_eval_run(&org, new_run("e1", list(&["s1"])), Some(request_key("k")))).unwrap();
    let Accepted::Fresh(EvalCreated::Created(first)) = first else { panic!("{first:?}") };
    let second =
        wait(store.create_eval_run(&org, new_run("e2", list(&["s1"])), Some(request_key("k")))).unwrap();
    assert_eq!(second, Accepted::Replayed(Receipt::EvalRun(first.position)));
    assert_eq!(wait(store.eval_run(&org, &"e2".parse().unwrap())).unwrap(), None);
    let made =
        wait(store.create_schedule(&org, new_schedule("s1", "daily", of_agent("a")), Some(request_key("s"))));
    let Some(ScheduleChanged::Changed(made)) = made.unwrap().fresh() else { panic!("no schedule") };
    let known = wait(store.known_request(request_key("s"))).unwrap();
    assert_eq!(known, Some(KnownRequest::Replayed(Receipt::Schedule(made.position))));
    // A run that was refused keeps no key.
    let refused = new_run("e3", EvalTargets::Filter(of_agent("unknown")));
    let refused = wait(store.create_eval_run(&org, refused, Some(request_key("refused")))).unwrap();
    assert_eq!(refused, Accepted::Fresh(EvalCreated::NoAgent));
    assert_eq!(wait(store.known_request(request_key("refused"))).unwrap(), None);
}

pub(super) fn an_erased_agent_is_removed_from_eval_runs_and_schedules(store: &dyn Store, _: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    session(store, "b", "s2", &[0.2]);
    create(store, new_run("both", list(&["s1", "s2"])));
    create(store, new_run("only", EvalTargets::Filter(of_agent("b"))));
    schedule(store, new_schedule("of-b", "daily", of_agent("b")));
    schedule(store, new_schedule("of-all", "daily", EvalFilter::default()));
    finish(store);
    assert!(wait(store.erase(&default_org(), &"b".parse().unwrap())).unwrap());
    let check = || {
        assert_eq!(results(store, "both"), expected(&[("s1", Ok(9000))]));
        assert_eq!(wait(store.eval_run(&default_org(), &"only".parse().unwrap())).unwrap(), None);
        let left = wait(store.schedules(&default_org(), None, 9)).unwrap().schedules;
        assert_eq!(left.iter().map(|schedule| schedule.id.as_str()).collect::<Vec<_>>(), ["of-all"]);
    };
    check();
    let keep = Retention { evaluations_days: None, runs_days: None, events_days: None, sessions_days: None };
    while wait(store.delete_some(keep)).unwrap().is_more() {}
    check();
    let both = find(store, "both").state;
    assert_eq!((both.progress.targets, both.progress.scored), (1, 1));
    assert_eq!(both.sums.agent_reliability.mean().unwrap().to_string(), "0.9000");
}

fn new_schedule(id: &str, cadence: &str, filter: EvalFilter) -> NewSchedule {
    NewSchedule {
        id: id.parse().unwrap(),
        name: id.to_owned(),
        cadence: cadence.parse().unwrap(),
        settings: settings("{}"),
        filter,
        only_if_changed: true,
    }
}

fn schedule(store: &dyn Store, new: NewSchedule) -> Schedule {
    match wait(store.create_schedule(&default_org(), new, None)).unwrap().fresh() {
        Some(ScheduleChanged::Changed(schedule)) => *schedule,
        other => panic!("{other:?}"),
    }
}

/// Does what the job of a server does at a time. Returns what became of each due tick.
fn tick(store: &dyn Store, now_ms: i64) -> Vec<Fired> {
    let mut fired = Vec::new();
    for (org, schedule) in wait(store.next_schedules(9)).unwrap() {
        let Some(tick) = schedule.due(at(now_ms)) else { continue };
        let mark = wait(store.session_mark(&org, schedule.filter.clone())).unwrap();
        fired.push(fire(store, &schedule, Some(tick), mark, &format!("run-{now_ms}")));
    }
    fired
}

fn fire(
    store: &dyn Store,
    schedule: &Schedule,
    tick: Option<renown_core::time::Timestamp>,
    mark: SessionMark,
    run: &str,
) -> Fired {
    let fire = Fire { version: schedule.state.version, tick, mark, run: run.parse().unwrap(), seed: 1 };
    wait(store.fire_schedule(&default_org(), &schedule.id, fire, None)).unwrap().fresh().unwrap()
}

pub(super) fn a_tick_starts_one_run_and_only_if_something_has_changed(store: &dyn Store, clock: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    let daily = schedule(store, new_schedule("daily", "daily", of_agent("a")));
    assert_eq!(tick(store, 1000), [], "it is noon, and the first tick is midnight");
    clock.set(DAY_MS);
    let fired = tick(store, DAY_MS);
    assert!(
        matches!(fired.as_slice(), [Fired::Started(run)] if run.schedule == Some(daily.id.clone())),
        "{fired:?}"
    );
    assert_eq!(tick(store, DAY_MS), [], "the tick is used up");
    // Two servers read the same schedule: the second one finds that it has moved.
    let stale = fire(store, &daily, Some(at(DAY_MS)), SessionMark::default(), "twice");
    assert_eq!(stale, Fired::Moved);
    clock.set(2 * DAY_MS);
    assert_eq!(tick(store, 2 * DAY_MS), [Fired::Unchanged], "nothing has arrived since");
    // Evidence of another agent changes nothing for this one.
    session(store, "b", "s2", &[0.9]);
    clock.set(3 * DAY_MS);
    assert_eq!(tick(store, 3 * DAY_MS), [Fired::Unchanged]);
    session(store, "a", "s1", &[0.8, 0.7]);
    // Ten ticks were missed. They collapse into one.
    clock.set(13 * DAY_MS);
    assert!(matches!(tick(store, 13 * DAY_MS).as_slice(), [Fired::Started(_)]));
    assert_eq!(tick(store, 13 * DAY_MS), []);
    finish(store);
    let runs = wait(store.eval_runs(
        &default_org(),
        EvalRunQuery { schedule: Some(daily.id), limit: 9, ..EvalRunQuery::default() },
    ));
    assert_eq!(runs.unwrap().runs.len(), 2);
}

pub(super) fn a_schedule_can_be_paused_changed_and_deleted(store: &dyn Store, clock: &TestClock) {
    session(store, "a", "s1", &[0.9]);
    let org = default_org();
    let id: ScheduleId = "daily".parse().unwrap();
    schedule(store, new_schedule("daily", "daily", of_agent("a")));
    let change = |change: ScheduleChange| match wait(store.change_schedule(&org, &id, change, None))
        .unwrap()
        .fresh()
    {
        Some(ScheduleChanged::Changed(schedule)) => *schedule,
        other => panic!("{other:?}"),
    };
    let paused = change(ScheduleChange { paused: Some(true), ..ScheduleChange::default() });
    assert_eq!(paused.next_tick(), None);
    clock.set(5 * DAY_MS);
    assert_eq!(tick(store, 5 * DAY_MS), []);
    // A client can start a run meanwhile.
    let asked = fire(store, &paused, None, SessionMark::default(), "asked");
    assert!(matches!(asked, Fired::Started(_)), "{asked:?}");
    change(ScheduleChange { paused: Some(false), ..ScheduleChange::default() });
    assert_eq!(tick(store, 5 * DAY_MS), [], "ticks of the pause are not made up for");
    let hourly = "cron:0 * * * *".parse().unwrap();
    let changed = change(ScheduleChange {
        cadence: Some(hourly),
        only_if_changed: Some(false),
        ..ScheduleChange::default()
    });
    assert_eq!(changed.cadence.to_string(), "cron:0 * * * *");
    clock.set(5 * DAY_MS + 3_600_000);
    assert!(matches!(tick(store, 5 * DAY_MS + 3_600_000).as_slice(), [Fired::Started(_)]));
    let unknown = ScheduleChange { filter: Some(of_agent("unknown")), ..ScheduleChange::default() };
    let refused = wait(store.change_schedule(&org, &id, unknown, None)).unwrap();
    assert!(matches!(refused, Accepted::Fresh(ScheduleChanged::NoAgent)));
    assert!(wait(store.delete_schedule(&org, &id)).unwrap());
    assert!(!wait(store.delete_schedule(&org, &id)).unwrap());
    assert!(wait(store.schedule(&org, &id)).unwrap().is_none());
    let session: SessionId = "s1".parse().unwrap();
    finish(store);
    let query = EvalResultQuery { state: Some("scored"), after: None, limit: 9 };
    let kept = wait(store.eval_results(&org, &"asked".parse().unwrap(), query)).unwrap().unwrap();
    assert_eq!(kept.results.first().map(|result| &result.session), Some(&session), "its runs stay");
}
