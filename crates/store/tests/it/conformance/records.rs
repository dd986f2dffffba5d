//! Questions about the records of a session, page by page.

use renown_core::ids::SessionId;
use renown_store::{SessionRecord, Store};
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Signal};

use crate::support::{TestClock, at, default_org, wait};
use crate::telemetry::{batch, call, logs, prompt, spans, tool};

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

fn send(store: &dyn Store, records: &[serde_json::Value]) {
    wait(store.add_records(&default_org(), batch(&logs("a", records)), None)).unwrap();
}

fn all(store: &dyn Store, id: &str, limit: usize) -> Vec<SessionRecord> {
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let page = wait(store.session_records(&default_org(), &session(id), after, limit)).unwrap().unwrap();
        assert!(page.records.len() <= limit && (page.next.is_none() || page.records.len() == limit));
        found.extend(page.records);
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

pub(super) fn an_unknown_session_has_no_page(store: &dyn Store, _: &TestClock) {
    send(store, &[prompt("s", 1, 0)]);
    assert_eq!(wait(store.session_records(&default_org(), &session("t"), None, 10)).unwrap(), None);
    wait(store.session_records(&"nowhere".parse().unwrap(), &session("s"), None, 10)).unwrap_err();
    let signals = renown_store::NewSignals { agent: None, traces: Vec::new() };
    wait(store.add_signals(&default_org(), &session("signals"), signals, None)).unwrap();
    assert_eq!(all(store, "signals", 10), [], "a session without records");
    assert!(wait(store.erase(&default_org(), &"a".parse().unwrap())).unwrap());
    assert_eq!(wait(store.session_records(&default_org(), &session("s"), None, 10)).unwrap(), None);
}

pub(super) fn the_pages_add_up_to_all_records_in_order(store: &dyn Store, _: &TestClock) {
    let mut timeless = tool("s", 9, 0, "Read", true);
    timeless["timeUnixNano"] = "0".into();
    send(store, &[tool("s", 3, 30, "Bash", false), prompt("s", 1, 10), timeless, call("s", 2, 20, "0.05")]);
    // A repeat is not a record of its own.
    send(store, &[prompt("s", 1, 10)]);
    wait(store.add_records(&default_org(), batch(&spans("s", 5)), None)).unwrap();
    let found = all(store, "s", 100);
    for limit in 1..8 {
        assert_eq!(all(store, "s", limit), found, "{limit} at a time");
    }
    // Spans and records without a time come first.
    let (first, timed) = found.split_at(3);
    assert_eq!(first.iter().filter(|record| record.signal == Signal::Spans).count(), 2);
    assert_eq!(first.iter().filter(|record| record.at.is_none()).count(), 1);
    let span = first.iter().find(|record| record.signal == Signal::Spans).unwrap();
    assert_eq!((span.at, span.until, span.agent), (Some(at(5)), Some(at(505)), Agent::GenAi));
    assert_eq!(timed.iter().map(|record| record.at).collect::<Vec<_>>(), [10, 20, 30].map(|ms| Some(at(ms))));
    let [prompted, called, failed] = timed else { panic!("three with a time") };
    assert_eq!(prompted.facts, [Fact::Prompt { trace: None }]);
    assert!(matches!(&called.facts[..], [Fact::ApiRequest(request)] if request.cost.is_some()));
    let tool = Some("Bash".to_owned());
    assert_eq!(
        failed.facts,
        [Fact::ToolResult { tool, ok: Some(false), duration_us: None, error_type: None }]
    );
    assert_eq!((failed.agent, failed.until), (Agent::ClaudeCode, None));
}

pub(super) fn a_cursor_stays_valid_when_records_arrive(store: &dyn Store, _: &TestClock) {
    send(store, &[prompt("s", 1, 10), prompt("s", 2, 20), prompt("s", 3, 30), prompt("s", 4, 40)]);
    let page = wait(store.session_records(&default_org(), &session("s"), None, 2)).unwrap().unwrap();
    // One before the cursor and one after it.
    send(store, &[prompt("s", 5, 15), prompt("s", 6, 35)]);
    let rest = wait(store.session_records(&default_org(), &session("s"), page.next, 10)).unwrap().unwrap();
    let times: Vec<_> = page.records.iter().chain(&rest.records).map(|record| record.at).collect();
    assert_eq!(times, [10, 20, 30, 35, 40].map(|ms| Some(at(ms))));
    assert_eq!(rest.next, None);
}
