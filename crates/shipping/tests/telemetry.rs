//! `Telemetry` from the view of its users, with a scripted server.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails loudly")]

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use renown_core::gates::GateResult;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_shipping::{
    EncodedVerdict, Notice, ServerReply, ShippedVerdict, ShippingSettings, Spool, Telemetry, Transport,
};
use renown_testing::Scratch;

/// A timeout that no passing test reaches.
const LONG: Duration = Duration::from_mins(1);

/// A server that sends the scripted replies, then accepts everything. While it is paused, it does not answer.
#[derive(Clone, Default)]
struct Server(Arc<(Mutex<ServerState>, Condvar)>);

#[derive(Default)]
struct ServerState {
    replies: VecDeque<ServerReply>,
    always: Option<ServerReply>,
    paused: bool,
    /// Ids of the verdicts in each request.
    requests: Vec<Vec<String>>,
}

impl Server {
    fn configure(&self, change: impl FnOnce(&mut ServerState)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    fn requests(&self) -> Vec<Vec<String>> {
        self.0.0.lock().unwrap().requests.clone()
    }

    fn wait_until(&self, is: impl Fn(&ServerState) -> bool) {
        let state = self.0.0.lock().unwrap();
        let (_state, late) = self.0.1.wait_timeout_while(state, LONG, |state| !is(state)).unwrap();
        assert!(!late.timed_out(), "the expected state was not reached");
    }
}

impl Transport for Server {
    fn post(&self, body: &str, verdicts: usize) -> ServerReply {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["events"].as_array().unwrap().len(), verdicts);
        let id = |verdict: &serde_json::Value| verdict["evaluation_id"].as_str().unwrap().to_owned();
        let mut state = self.0.0.lock().unwrap();
        state.requests.push(body["events"].as_array().unwrap().iter().map(id).collect());
        self.0.1.notify_all();
        let mut state = self.0.1.wait_while(state, |state| state.paused).unwrap();
        state.replies.pop_front().or(state.always.clone()).unwrap_or(ServerReply::Accepted)
    }
}

fn verdict(id: &str) -> EncodedVerdict {
    let gates: [GateResult; 0] = [];
    EncodedVerdict::new(&ShippedVerdict {
        evaluation_id: &id.parse().unwrap(),
        agent_id: &"a".parse().unwrap(),
        tool: None,
        passed: true,
        gates: &gates,
        total: Micros::default(),
        latency: None,
        timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
    })
}

type Notices = Arc<Mutex<Vec<Notice>>>;

fn started(server: &Server, settings: &ShippingSettings) -> (Telemetry, Notices) {
    let notices = Notices::default();
    let reported = Arc::clone(&notices);
    let notify = move |notice| reported.lock().unwrap().push(notice);
    (Telemetry::start(Box::new(server.clone()), settings, notify).unwrap(), notices)
}

fn only_full_batches() -> ShippingSettings {
    ShippingSettings { interval: LONG, ..ShippingSettings::default() }
}

fn later() -> ServerReply {
    ServerReply::Later { why: "503: busy".to_owned(), after: None }
}

#[test]
fn a_full_batch_is_sent_immediately_and_the_rest_by_a_flush() {
    let server = Server::default();
    let (telemetry, _) = started(&server, &ShippingSettings { batch: 3, ..only_full_batches() });
    for id in ["1", "2", "3"] {
        telemetry.track(verdict(id));
    }
    server.wait_until(|state| state.requests == [["1", "2", "3"]]);
    telemetry.track(verdict("4"));
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests(), [vec!["1", "2", "3"], vec!["4"]]);
    assert!(telemetry.flush(Duration::ZERO), "a flush without waiting verdicts returns at once");
}

#[test]
fn a_verdict_waits_no_longer_than_the_interval() {
    let server = Server::default();
    let (telemetry, _) =
        started(&server, &ShippingSettings { interval: Duration::from_millis(20), ..only_full_batches() });
    telemetry.track(verdict("1"));
    server.wait_until(|state| state.requests == [["1"]]);
}

#[test]
fn an_unavailable_server_is_reported_once_and_nothing_is_lost() {
    let server = Server::default();
    server.configure(|state| state.replies = [later(), later()].into());
    let (telemetry, notices) = started(&server, &only_full_batches());
    telemetry.track(verdict("1"));
    assert!(!telemetry.flush(Duration::from_millis(50)) || server.requests().len() == 3);
    telemetry.track(verdict("2"));
    assert!(telemetry.flush(LONG), "the flush waits for the back-off");
    telemetry.shutdown(LONG);
    let notices = notices.lock().unwrap().clone();
    assert_eq!(notices, [Notice::Waiting { why: "503: busy".to_owned() }, Notice::Delivering]);
    assert_eq!(server.requests().last().unwrap().last().unwrap(), "2");
    assert_eq!(telemetry.dropped(), 0);
}

#[test]
fn a_flush_respects_retry_after() {
    let server = Server::default();
    let after = Some(Duration::from_hours(1));
    server.configure(|state| state.always = Some(ServerReply::Later { why: "429".to_owned(), after }));
    let (telemetry, _) = started(&server, &only_full_batches());
    telemetry.track(verdict("1"));
    let began = std::time::Instant::now();
    for _ in 0..5 {
        assert!(!telemetry.flush(LONG));
    }
    assert_eq!(server.requests().len(), 1);
    assert!(began.elapsed() < LONG / 2, "the flush returns at once if it cannot succeed in time");
}

#[test]
fn a_full_buffer_drops_the_oldest_verdicts_and_counts_them() {
    let server = Server::default();
    server.configure(|state| state.paused = true);
    let (telemetry, notices) =
        started(&server, &ShippingSettings { batch: 2, buffer: 3, ..only_full_batches() });
    telemetry.track(verdict("1"));
    telemetry.track(verdict("2"));
    server.wait_until(|state| state.requests.len() == 1);
    for id in ["3", "4", "5"] {
        telemetry.track(verdict(id));
    }
    assert_eq!(telemetry.dropped(), 2, "3 and 4: the first two are being sent");
    server.configure(|state| state.paused = false);
    assert!(!telemetry.flush(LONG), "two were dropped");
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests(), [vec!["1", "2"], vec!["5"]]);
    assert_eq!(*notices.lock().unwrap(), [Notice::Dropping]);
}

#[test]
fn with_a_spool_a_full_buffer_drops_nothing() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.paused = true);
    let settings =
        ShippingSettings { batch: 2, buffer: 2, spool: Some(folder.join("spool")), ..only_full_batches() };
    let (telemetry, _) = started(&server, &settings);
    for id in ["1", "2", "3", "4", "5"] {
        telemetry.track(verdict(id));
    }
    server.configure(|state| state.paused = false);
    assert!(telemetry.flush(LONG));
    let mut arrived = server.requests().concat();
    arrived.sort();
    assert_eq!((arrived, telemetry.dropped()), (["1", "2", "3", "4", "5"].map(str::to_owned).to_vec(), 0));
    telemetry.shutdown(LONG);
    assert_eq!(std::fs::read_dir(folder.join("spool")).unwrap().count(), 0, "an empty spool is removed");
}

#[test]
fn shutdown_sends_the_rest_and_may_be_repeated() {
    let server = Server::default();
    let (telemetry, notices) = started(&server, &only_full_batches());
    telemetry.track(verdict("1"));
    telemetry.shutdown(LONG);
    telemetry.shutdown(LONG);
    assert_eq!(server.requests(), [["1"]]);
    telemetry.track(verdict("2"));
    assert_eq!((telemetry.dropped(), telemetry.waiting(), telemetry.flush(Duration::ZERO)), (1, 0, false));
    telemetry.track(verdict("2"));
    assert_eq!((telemetry.dropped(), notices.lock().unwrap().as_slice()), (2, &[Notice::Ended][..]));
    drop(telemetry);
    let (telemetry, _) = started(&server, &only_full_batches());
    telemetry.track(verdict("3"));
    drop(telemetry);
    assert_eq!(server.requests(), [["1"], ["3"]], "dropping the handle shuts it down");
}

#[test]
fn shutdown_retries_once_after_a_failure() {
    let server = Server::default();
    server.configure(|state| {
        state.always = Some(ServerReply::Later { why: "429".to_owned(), after: Some(LONG) });
    });
    let (telemetry, _) = started(&server, &only_full_batches());
    telemetry.track(verdict("1"));
    assert!(!telemetry.flush(Duration::from_millis(50)));
    server.configure(|state| state.always = None);
    telemetry.shutdown(LONG);
    assert_eq!((server.requests(), telemetry.dropped()), (vec![vec!["1".to_owned()]; 2], 0));
}

#[test]
fn a_request_that_fails_when_shutdown_begins_is_retried() {
    let server = Server::default();
    server.configure(|state| (state.paused, state.replies) = (true, [later()].into()));
    let (telemetry, _) = started(&server, &ShippingSettings { batch: 1, ..only_full_batches() });
    telemetry.track(verdict("1"));
    server.wait_until(|state| state.requests.len() == 1);
    telemetry.begin_shutdown();
    server.configure(|state| state.paused = false);
    telemetry.shutdown(LONG);
    assert_eq!((server.requests().len(), telemetry.dropped()), (2, 0));
}

#[test]
fn undelivered_verdicts_are_sent_by_the_next_process() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.always = Some(later()));
    let settings = ShippingSettings { spool: Some(folder.join("spool")), ..only_full_batches() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(verdict("1"));
    telemetry.track(verdict("2"));
    telemetry.shutdown(LONG);
    assert_eq!((server.requests().len(), telemetry.dropped()), (1, 0), "one attempt");
    assert_eq!(
        (telemetry.waiting(), telemetry.flush(LONG)),
        (0, false),
        "the verdicts are on disk, not on the server"
    );
    server.configure(|state| (state.always, state.requests) = (None, Vec::new()));
    let (telemetry, _) = started(&server, &settings);
    server.wait_until(|state| state.requests == [["1", "2"]]);
    telemetry.shutdown(LONG);
    assert_eq!(std::fs::read_dir(folder.join("spool")).unwrap().count(), 0);
    // Without a spool, the verdicts are dropped and counted.
    server.configure(|state| state.always = Some(later()));
    let (telemetry, notices) = started(&server, &only_full_batches());
    telemetry.track(verdict("1"));
    telemetry.track(verdict("2"));
    telemetry.shutdown(LONG);
    assert_eq!((telemetry.dropped(), telemetry.waiting()), (2, 0), "each verdict is counted once");
    let said: Vec<String> = notices.lock().unwrap().iter().map(ToString::to_string).collect();
    let expected =
        ["verdicts wait for the server: 503: busy", "2 verdicts were not delivered before shutdown"];
    assert_eq!(said, expected);
}

#[test]
fn a_server_that_never_answers_does_not_block_shutdown() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.paused = true);
    let settings = ShippingSettings { spool: Some(folder.join("spool")), ..only_full_batches() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(verdict("1"));
    telemetry.shutdown(Duration::from_millis(50));
    let [left] = <[Spool; 1]>::try_from(Spool::adopt(&folder.join("spool"))).unwrap();
    assert_eq!(left.first(9, usize::MAX).unwrap().verdicts, [verdict("1")]);
    server.configure(|state| state.paused = false);
}

#[test]
fn several_handles_shut_down_at_the_same_time() {
    let servers: Vec<Server> = (0..4).map(|_| Server::default()).collect();
    let all: Vec<Telemetry> = servers.iter().map(|server| started(server, &only_full_batches()).0).collect();
    for (server, telemetry) in servers.iter().zip(&all) {
        server.configure(|state| state.paused = true);
        telemetry.track(verdict("1"));
    }
    all.iter().for_each(Telemetry::begin_shutdown);
    for server in &servers {
        server.wait_until(|state| state.requests.len() == 1);
    }
    for (server, telemetry) in servers.iter().zip(&all) {
        server.configure(|state| state.paused = false);
        telemetry.shutdown(LONG);
        assert_eq!(telemetry.dropped(), 0);
    }
}

#[test]
fn with_spool_first_the_spool_has_the_verdict_before_track_returns() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.paused = true);
    let settings =
        ShippingSettings { spool: Some(folder.join("spool")), spool_first: true, ..only_full_batches() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(verdict("1"));
    // Reads the file directly: this is what a killed process would leave.
    let entry = std::fs::read_dir(folder.join("spool")).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(entry.path().join("0000000001.spool")).unwrap();
    assert!(text.ends_with(&format!(" {}\n", verdict("1").json())), "{text}");
    server.configure(|state| state.paused = false);
    assert!(telemetry.flush(LONG));
}

#[test]
fn a_rejected_verdict_is_saved_and_the_others_arrive() {
    let (server, folder) = (Server::default(), Scratch::new());
    let rejected = || ServerReply::Rejected { why: "400: bad".to_owned() };
    server.configure(|state| state.replies = [rejected(), ServerReply::Accepted, rejected()].into());
    let settings = ShippingSettings { spool: Some(folder.join("spool")), ..only_full_batches() };
    let (telemetry, notices) = started(&server, &settings);
    telemetry.track(verdict("1"));
    telemetry.track(verdict("2"));
    assert!(!telemetry.flush(LONG), "one was rejected");
    let saved = std::fs::read_to_string(folder.join("spool/rejected.jsonl")).unwrap();
    assert_eq!(saved, format!("{{\"reason\":\"400: bad\",\"event\":{}}}\n", verdict("2").json()));
    assert_eq!(*notices.lock().unwrap(), [Notice::Rejected { why: "400: bad".to_owned(), is_saved: true }]);
    assert_eq!(telemetry.dropped(), 0);
}

#[test]
fn a_broken_spool_is_reported_once_and_verdicts_wait_in_memory() {
    let (server, folder) = (Server::default(), Scratch::new());
    folder.write("spool", "a file where a folder should be");
    let settings =
        ShippingSettings { spool: Some(folder.join("spool")), spool_first: true, ..only_full_batches() };
    let (telemetry, notices) = started(&server, &settings);
    telemetry.track(verdict("1"));
    telemetry.track(verdict("2"));
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests().concat(), ["1", "2"]);
    assert!(matches!(notices.lock().unwrap().as_slice(), [Notice::SpoolBroken { .. }]));
}

#[test]
fn a_full_spool_drops_the_oldest_verdicts_and_reports_it() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.always = Some(later()));
    let settings = ShippingSettings {
        spool: Some(folder.join("spool")),
        spool_first: true,
        spool_bytes_max: 5 << 20,
        ..only_full_batches()
    };
    let (telemetry, notices) = started(&server, &settings);
    let count = (6 << 20) / verdict("00000").json().len();
    for number in 0..count {
        telemetry.track(verdict(&format!("{number:05}")));
    }
    let (dropped, waiting) = (telemetry.dropped(), telemetry.waiting());
    assert_eq!(dropped + waiting, count as u64, "each verdict is counted once");
    telemetry.shutdown(LONG);
    let lost =
        notices.lock().unwrap().iter().find_map(|notice| {
            if let Notice::SpoolFull { verdicts } = notice { Some(*verdicts) } else { None }
        });
    let [left] = <[Spool; 1]>::try_from(Spool::adopt(&folder.join("spool"))).unwrap();
    let first = left.first(1, usize::MAX).unwrap().verdicts;
    let lost = usize::try_from(lost.unwrap()).unwrap();
    assert_eq!(first, [verdict(&format!("{lost:05}"))]);
    assert!(left.bytes() <= 5 << 20 && lost < count);
    assert_eq!(dropped, lost as u64);
}

#[test]
fn a_verdict_that_is_dropped_while_it_is_sent_is_counted_once() {
    let (server, folder) = (Server::default(), Scratch::new());
    server.configure(|state| state.paused = true);
    let settings = ShippingSettings {
        spool: Some(folder.join("spool")),
        spool_first: true,
        spool_bytes_max: 5 << 20,
        ..only_full_batches()
    };
    let (telemetry, _) = started(&server, &settings);
    for number in 0..100 {
        telemetry.track(verdict(&format!("{number:05}")));
    }
    server.wait_until(|state| state.requests.len() == 1);
    let count = (6 << 20) / verdict("00000").json().len();
    for number in 100..count {
        telemetry.track(verdict(&format!("{number:05}")));
    }
    let dropped = telemetry.dropped();
    assert!(dropped > 100);
    server.configure(|state| state.paused = false);
    telemetry.flush(LONG);
    let arrived: std::collections::BTreeSet<String> = server.requests().concat().into_iter().collect();
    assert_eq!(
        arrived.len() as u64,
        100 + count as u64 - dropped,
        "the flush waited for all verdicts that were not dropped"
    );
    assert_eq!((telemetry.waiting(), telemetry.dropped()), (0, dropped));
}
