//! Telemetry as its users see it, with a server that does what a test says.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails loudly")]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use renown_core::gates::GateResult;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_shipping::{Event, Notice, Reply, Settings, Spool, Telemetry, Transport, Verdict};

/// Long enough for anything that happens at all; nothing waits for it to pass.
const LONG: Duration = Duration::from_mins(1);

/// A server that answers as it is told, then accepts everything. While it is held it answers nobody.
#[derive(Clone, Default)]
struct Server(Arc<(Mutex<Told>, Condvar)>);

#[derive(Default)]
struct Told {
    replies: VecDeque<Reply>,
    always: Option<Reply>,
    held: bool,
    /// The ids in each request.
    requests: Vec<Vec<String>>,
}

impl Server {
    fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    fn requests(&self) -> Vec<Vec<String>> {
        self.0.0.lock().unwrap().requests.clone()
    }

    fn until(&self, is: impl Fn(&Told) -> bool) {
        let told = self.0.0.lock().unwrap();
        let (_told, late) = self.0.1.wait_timeout_while(told, LONG, |told| !is(told)).unwrap();
        assert!(!late.timed_out(), "it never happened");
    }
}

impl Transport for Server {
    fn post(&self, body: &str, events: usize) -> Reply {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["events"].as_array().unwrap().len(), events);
        let id = |event: &serde_json::Value| event["evaluation_id"].as_str().unwrap().to_owned();
        let mut told = self.0.0.lock().unwrap();
        told.requests.push(body["events"].as_array().unwrap().iter().map(id).collect());
        self.0.1.notify_all();
        let mut told = self.0.1.wait_while(told, |told| told.held).unwrap();
        told.replies.pop_front().or(told.always.clone()).unwrap_or(Reply::Accepted)
    }
}

fn event(id: &str) -> Event {
    let gates: [GateResult; 0] = [];
    Event::new(&Verdict {
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

fn started(server: &Server, settings: &Settings) -> (Telemetry, Notices) {
    let notices = Notices::default();
    let told = Arc::clone(&notices);
    let tell = move |notice| told.lock().unwrap().push(notice);
    (Telemetry::start(Box::new(server.clone()), settings, tell).unwrap(), notices)
}

fn patient() -> Settings {
    Settings { interval: LONG, ..Settings::default() }
}

fn later() -> Reply {
    Reply::Later { why: "503: busy".to_owned(), after: None }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("renown-telemetry-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_full_batch_is_sent_at_once_and_the_rest_when_it_is_asked_for() {
    let server = Server::default();
    let (telemetry, _) = started(&server, &Settings { batch: 3, ..patient() });
    for id in ["1", "2", "3"] {
        telemetry.track(event(id));
    }
    server.until(|told| told.requests == [["1", "2", "3"]]);
    telemetry.track(event("4"));
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests(), [vec!["1", "2", "3"], vec!["4"]]);
    assert!(telemetry.flush(Duration::ZERO), "there is nothing to wait for");
}

#[test]
fn an_event_waits_no_longer_than_the_interval() {
    let server = Server::default();
    let (telemetry, _) = started(&server, &Settings { interval: Duration::from_millis(20), ..patient() });
    telemetry.track(event("1"));
    server.until(|told| told.requests == [["1"]]);
}

#[test]
fn a_server_that_is_away_is_told_of_once_and_nothing_is_lost() {
    let server = Server::default();
    server.tell(|told| told.replies = [later(), later()].into());
    let (telemetry, notices) = started(&server, &patient());
    telemetry.track(event("1"));
    assert!(!telemetry.flush(Duration::from_millis(50)) || server.requests().len() == 3);
    telemetry.track(event("2"));
    assert!(telemetry.flush(LONG), "it waits for the back-off");
    telemetry.shutdown(LONG);
    let notices = notices.lock().unwrap().clone();
    assert_eq!(notices, [Notice::Waiting { why: "503: busy".to_owned() }, Notice::Delivering]);
    assert_eq!(server.requests().last().unwrap().last().unwrap(), "2");
    assert_eq!(telemetry.dropped(), 0);
}

#[test]
fn a_flush_does_not_override_what_the_server_asks_for() {
    let server = Server::default();
    let after = Some(Duration::from_hours(1));
    server.tell(|told| told.always = Some(Reply::Later { why: "429".to_owned(), after }));
    let (telemetry, _) = started(&server, &patient());
    telemetry.track(event("1"));
    let began = std::time::Instant::now();
    for _ in 0..5 {
        assert!(!telemetry.flush(LONG));
    }
    assert_eq!(server.requests().len(), 1);
    assert!(began.elapsed() < LONG / 2, "there is nothing to wait for");
}

#[test]
fn without_room_the_oldest_goes_and_is_counted() {
    let server = Server::default();
    server.tell(|told| told.held = true);
    let (telemetry, notices) = started(&server, &Settings { batch: 2, buffer: 3, ..patient() });
    telemetry.track(event("1"));
    telemetry.track(event("2"));
    server.until(|told| told.requests.len() == 1);
    for id in ["3", "4", "5"] {
        telemetry.track(event(id));
    }
    assert_eq!(telemetry.dropped(), 2, "3 and 4: the first two are on their way");
    server.tell(|told| told.held = false);
    assert!(!telemetry.flush(LONG), "two did not arrive");
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests(), [vec!["1", "2"], vec!["5"]]);
    assert_eq!(*notices.lock().unwrap(), [Notice::Dropping]);
}

#[test]
fn with_a_spool_nothing_goes() {
    let (server, folder) = (Server::default(), Folder::new("overflow"));
    server.tell(|told| told.held = true);
    let settings = Settings { batch: 2, buffer: 2, spool: Some(folder.0.clone()), ..patient() };
    let (telemetry, _) = started(&server, &settings);
    for id in ["1", "2", "3", "4", "5"] {
        telemetry.track(event(id));
    }
    server.tell(|told| told.held = false);
    assert!(telemetry.flush(LONG));
    let mut arrived = server.requests().concat();
    arrived.sort();
    assert_eq!((arrived, telemetry.dropped()), (["1", "2", "3", "4", "5"].map(str::to_owned).to_vec(), 0));
    telemetry.shutdown(LONG);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "an empty spool is removed");
}

#[test]
fn the_end_sends_once_more_and_may_be_repeated() {
    let server = Server::default();
    let (telemetry, notices) = started(&server, &patient());
    telemetry.track(event("1"));
    telemetry.shutdown(LONG);
    telemetry.shutdown(LONG);
    assert_eq!(server.requests(), [["1"]]);
    telemetry.track(event("2"));
    assert_eq!((telemetry.dropped(), telemetry.waiting(), telemetry.flush(Duration::ZERO)), (1, 0, false));
    telemetry.track(event("2"));
    assert_eq!((telemetry.dropped(), notices.lock().unwrap().as_slice()), (2, &[Notice::Ended][..]));
    drop(telemetry);
    let (telemetry, _) = started(&server, &patient());
    telemetry.track(event("3"));
    drop(telemetry);
    assert_eq!(server.requests(), [["1"], ["3"]], "dropping it is an end too");
}

#[test]
fn the_end_tries_once_more_after_a_failure() {
    let server = Server::default();
    server.tell(|told| told.always = Some(Reply::Later { why: "429".to_owned(), after: Some(LONG) }));
    let (telemetry, _) = started(&server, &patient());
    telemetry.track(event("1"));
    assert!(!telemetry.flush(Duration::from_millis(50)));
    server.tell(|told| told.always = None);
    telemetry.shutdown(LONG);
    assert_eq!((server.requests(), telemetry.dropped()), (vec![vec!["1".to_owned()]; 2], 0));
}

#[test]
fn an_attempt_that_fails_while_the_end_begins_is_not_the_last() {
    let server = Server::default();
    server.tell(|told| (told.held, told.replies) = (true, [later()].into()));
    let (telemetry, _) = started(&server, &Settings { batch: 1, ..patient() });
    telemetry.track(event("1"));
    server.until(|told| told.requests.len() == 1);
    telemetry.begin_shutdown();
    server.tell(|told| told.held = false);
    telemetry.shutdown(LONG);
    assert_eq!((server.requests().len(), telemetry.dropped()), (2, 0));
}

#[test]
fn what_the_end_cannot_deliver_is_there_for_the_next_process() {
    let (server, folder) = (Server::default(), Folder::new("next"));
    server.tell(|told| told.always = Some(later()));
    let settings = Settings { spool: Some(folder.0.clone()), ..patient() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(event("1"));
    telemetry.track(event("2"));
    telemetry.shutdown(LONG);
    assert_eq!((server.requests().len(), telemetry.dropped()), (1, 0), "one attempt");
    assert_eq!(
        (telemetry.waiting(), telemetry.flush(LONG)),
        (0, false),
        "they are on disk, not on the server"
    );
    server.tell(|told| (told.always, told.requests) = (None, Vec::new()));
    let (telemetry, _) = started(&server, &settings);
    server.until(|told| told.requests == [["1", "2"]]);
    telemetry.shutdown(LONG);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
    // Without a spool they are gone, and counted.
    server.tell(|told| told.always = Some(later()));
    let (telemetry, notices) = started(&server, &patient());
    telemetry.track(event("1"));
    telemetry.track(event("2"));
    telemetry.shutdown(LONG);
    assert_eq!((telemetry.dropped(), telemetry.waiting()), (2, 0), "each once");
    let said: Vec<String> = notices.lock().unwrap().iter().map(ToString::to_string).collect();
    let expected = ["verdicts wait for the server: 503: busy", "2 verdicts were not delivered at the end"];
    assert_eq!(said, expected);
}

#[test]
fn a_network_that_never_answers_does_not_hold_up_the_end() {
    let (server, folder) = (Server::default(), Folder::new("hangs"));
    server.tell(|told| told.held = true);
    let settings = Settings { spool: Some(folder.0.clone()), ..patient() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(event("1"));
    telemetry.shutdown(Duration::from_millis(50));
    let [left] = <[Spool; 1]>::try_from(Spool::adopt(&folder.0)).unwrap();
    assert_eq!(left.first(9, usize::MAX).unwrap().events, [event("1")]);
    server.tell(|told| told.held = false);
}

#[test]
fn several_end_in_the_time_of_one() {
    let servers: Vec<Server> = (0..4).map(|_| Server::default()).collect();
    let all: Vec<Telemetry> = servers.iter().map(|server| started(server, &patient()).0).collect();
    for (server, telemetry) in servers.iter().zip(&all) {
        server.tell(|told| told.held = true);
        telemetry.track(event("1"));
    }
    all.iter().for_each(Telemetry::begin_shutdown);
    for server in &servers {
        server.until(|told| told.requests.len() == 1);
    }
    for (server, telemetry) in servers.iter().zip(&all) {
        server.tell(|told| told.held = false);
        telemetry.shutdown(LONG);
        assert_eq!(telemetry.dropped(), 0);
    }
}

#[test]
fn the_spool_has_it_before_track_returns() {
    let (server, folder) = (Server::default(), Folder::new("first"));
    server.tell(|told| told.held = true);
    let settings = Settings { spool: Some(folder.0.clone()), spool_first: true, ..patient() };
    let (telemetry, _) = started(&server, &settings);
    telemetry.track(event("1"));
    // As a process that is killed leaves it: what it holds is copied, without its lock.
    let entry = std::fs::read_dir(&folder.0).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(entry.path().join("0000000001.spool")).unwrap();
    assert!(text.ends_with(&format!(" {}\n", event("1").json())), "{text}");
    server.tell(|told| told.held = false);
    assert!(telemetry.flush(LONG));
}

#[test]
fn a_refused_event_is_kept_apart_and_the_others_arrive() {
    let (server, folder) = (Server::default(), Folder::new("refused"));
    let refused = || Reply::Refused { why: "400: bad".to_owned() };
    server.tell(|told| told.replies = [refused(), Reply::Accepted, refused()].into());
    let settings = Settings { spool: Some(folder.0.clone()), ..patient() };
    let (telemetry, notices) = started(&server, &settings);
    telemetry.track(event("1"));
    telemetry.track(event("2"));
    assert!(!telemetry.flush(LONG), "one was refused");
    let kept = std::fs::read_to_string(folder.0.join("rejected.jsonl")).unwrap();
    assert_eq!(kept, format!("{{\"reason\":\"400: bad\",\"event\":{}}}\n", event("2").json()));
    assert_eq!(*notices.lock().unwrap(), [Notice::Rejected { why: "400: bad".to_owned(), kept: true }]);
    assert_eq!(telemetry.dropped(), 0);
}

#[test]
fn a_spool_that_cannot_be_written_is_told_of_once_and_memory_takes_over() {
    let (server, folder) = (Server::default(), Folder::new("broken"));
    std::fs::write(&folder.0, "a file where a folder should be").unwrap();
    let settings = Settings { spool: Some(folder.0.clone()), spool_first: true, ..patient() };
    let (telemetry, notices) = started(&server, &settings);
    telemetry.track(event("1"));
    telemetry.track(event("2"));
    assert!(telemetry.flush(LONG));
    assert_eq!(server.requests().concat(), ["1", "2"]);
    assert!(matches!(notices.lock().unwrap().as_slice(), [Notice::SpoolBroken { .. }]));
    std::fs::remove_file(&folder.0).unwrap();
}

#[test]
fn a_full_spool_gives_up_the_oldest_and_says_so() {
    let (server, folder) = (Server::default(), Folder::new("full"));
    server.tell(|told| told.always = Some(later()));
    let settings =
        Settings { spool: Some(folder.0.clone()), spool_first: true, spool_bytes_max: 5 << 20, ..patient() };
    let (telemetry, notices) = started(&server, &settings);
    let count = (6 << 20) / event("00000").json().len();
    for number in 0..count {
        telemetry.track(event(&format!("{number:05}")));
    }
    let (dropped, waiting) = (telemetry.dropped(), telemetry.waiting());
    assert_eq!(dropped + waiting, count as u64, "each is counted once");
    telemetry.shutdown(LONG);
    let lost = notices
        .lock()
        .unwrap()
        .iter()
        .find_map(|notice| if let Notice::SpoolFull { events } = notice { Some(*events) } else { None });
    let [left] = <[Spool; 1]>::try_from(Spool::adopt(&folder.0)).unwrap();
    let first = left.first(1, usize::MAX).unwrap().events;
    let lost = usize::try_from(lost.unwrap()).unwrap();
    assert_eq!(first, [event(&format!("{lost:05}"))]);
    assert!(left.bytes() <= 5 << 20 && lost < count);
    assert_eq!(dropped, lost as u64);
}

#[test]
fn what_a_full_spool_gives_up_while_it_is_on_its_way_is_counted_once() {
    let (server, folder) = (Server::default(), Folder::new("full-on-its-way"));
    server.tell(|told| told.held = true);
    let settings =
        Settings { spool: Some(folder.0.clone()), spool_first: true, spool_bytes_max: 5 << 20, ..patient() };
    let (telemetry, _) = started(&server, &settings);
    for number in 0..100 {
        telemetry.track(event(&format!("{number:05}")));
    }
    server.until(|told| told.requests.len() == 1);
    let count = (6 << 20) / event("00000").json().len();
    for number in 100..count {
        telemetry.track(event(&format!("{number:05}")));
    }
    let dropped = telemetry.dropped();
    assert!(dropped > 100);
    server.tell(|told| told.held = false);
    telemetry.flush(LONG);
    let arrived: std::collections::BTreeSet<String> = server.requests().concat().into_iter().collect();
    assert_eq!(arrived.len() as u64, 100 + count as u64 - dropped, "flush has waited for all that are left");
    assert_eq!((telemetry.waiting(), telemetry.dropped()), (0, dropped));
}
