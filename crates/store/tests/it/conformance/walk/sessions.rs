//! The steps of the walk with sessions: records of every kind, repeats, signals, and their end.

use renown_core::ids::{OrgId, SessionId};
use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::{
    NewSignals, NewTrace, ReadError, SessionQuery, SessionTrace, Sessions, Store, StoredSession, TimeCursor,
};
use serde_json::{Value, json};

use super::{ORGS, Subject, Walk, accepted};
use crate::support::{NOON_MS, wait};
use crate::telemetry::batch;

const SESSIONS: [&str; 5] = ["s-1", "s-2", "s-2", "a/b", "кот#1"];
const SERVICES: [&str; 4] = ["claude-code", "claude-code", "hot", "warm"];

impl<S: Subject> Walk<S> {
    fn session_id(&mut self) -> SessionId {
        self.rng.pick(&SESSIONS).parse().unwrap()
    }

    /// Makes a log record or a span as in OTLP. It may be a repeat.
    fn record(&mut self) -> (bool, Value) {
        let number = if self.ids > 0 && self.rng.one_in(4) { self.rng.below(self.ids) } else { self.ids };
        self.ids += 1;
        let ms = NOON_MS + self.now_ms - self.rng.below(4_000_000) as i64 + self.rng.below(60_000) as i64;
        let ms = if self.rng.one_in(9) { 0 } else { ms };
        let session = self.session_id();
        let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let mut attributes = vec![attribute("session.id", session.as_str())];
        if self.rng.one_in(9) {
            attributes.push(attribute("renown.agent_id", self.rng.pick(&["hot", "cold"])));
        }
        if self.rng.one_in(3) {
            let trace = format!("{:032x}", self.rng.below(6) + 1);
            attributes.push(attribute("gen_ai.usage.input_tokens", "5"));
            let name = self.rng.pick(&["chat m", "execute_tool sh", "invoke_agent a"]);
            let (start, end) = (ms * 1_000_000, (ms + 500) * 1_000_000);
            return (
                true,
                json!({"traceId": trace, "spanId": format!("{number:016x}"), "name": name, "attributes": attributes,
                "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string()}),
            );
        }
        if !self.rng.one_in(3) {
            attributes.push(attribute("event.sequence", &number.to_string()));
        }
        let name =
            self.rng.pick(&["user_prompt", "tool_result", "tool_result", "api_request", "something_new"]);
        attributes.push(attribute("tool_name", self.rng.pick(&["Edit", "Bash"])));
        attributes.push(attribute("success", self.rng.pick(&["true", "false"])));
        attributes.push(attribute("cost_usd", self.rng.pick(&["0.01", "-1"])));
        (
            false,
            json!({"timeUnixNano": (ms * 1_000_000).to_string(), "eventName": name, "attributes": attributes}),
        )
    }

    pub(super) fn add_records(&mut self) {
        let (mut logs, mut spans) = (Vec::new(), Vec::new());
        for _ in 0..self.rng.below(12) {
            let (is_span, record) = self.record();
            if is_span { spans.push(record) } else { logs.push(record) }
        }
        let service = json!({"attributes": [{"key": "service.name", "value": {"stringValue": self.rng.pick(&SERVICES)}}]});
        let line = json!({
            "resourceLogs": [{"resource": service, "scopeLogs": [{"logRecords": logs}]}],
            "resourceSpans": [{"resource": service, "scopeSpans": [{"spans": spans}]}],
        });
        let (org, batch) = (self.org(), batch(&line));
        let key = self.request_key(&org);
        self.both_write(|store| {
            let written = wait(store.add_records(&org, batch.clone(), key.clone()))?;
            Ok(accepted(written, |account| account))
        });
    }

    pub(super) fn add_signals(&mut self) {
        let (org, session) = (self.org(), self.session_id());
        let agent = self.rng.sometimes(3, |rng| rng.pick(&["warm", "signaled"]).parse().unwrap());
        let mut traces: Vec<NewTrace> = Vec::new();
        for number in 0..self.rng.below(4) {
            let id = if self.rng.one_in(2) { format!("{session}#{number}") } else { format!("t{number}") };
            let mut signal =
                || self.rng.sometimes(2, |rng| Unit::new(f64::from(rng.below(101) as u32) / 100.0).unwrap());
            let signals = Signals {
                confidence: signal(),
                loop_detection: signal(),
                tool_correctness: signal(),
                coherence: signal(),
            };
            let trace = Trace { trace_id: id.parse().unwrap(), signals, source: None };
            let started_at = if self.rng.one_in(2) { Some(self.time()) } else { None };
            traces.push(NewTrace { trace, started_at });
        }
        let signals = NewSignals { agent, traces };
        let key = self.request_key(&org);
        self.both_write(|store| {
            let written = wait(store.add_signals(&org, &session, signals.clone(), key.clone()))?;
            Ok(accepted(written, |()| ()))
        });
    }

    pub(super) fn close_sessions(&mut self) {
        self.both_write(|store| {
            let mut closed = wait(store.close_sessions())?;
            closed.sort_by(|a, b| (&a.org, &a.session).cmp(&(&b.org, &b.session)));
            Ok(closed)
        });
    }

    pub(super) fn sessions(&mut self) {
        let (org, session, with_traces) = (self.org(), self.session_id(), self.rng.one_in(2));
        self.both(|store| {
            wait(store.session(&org, &session, with_traces)).map(|found| found.as_ref().map(describe))
        });
        let query = SessionQuery {
            agent: if self.rng.one_in(2) { Some(self.agent()) } else { None },
            from: if self.rng.one_in(4) { Some(self.time()) } else { None },
            to: if self.rng.one_in(4) { Some(self.time()) } else { None },
            after: None,
            limit: self.rng.below(4) + 1,
        };
        self.both(|store| all(&query, |query| wait(store.sessions(&org, query))));
        let limit = self.rng.below(20) + 1;
        self.both(|store| all_records(store, &org, &session, limit));
    }

    /// Compares all sessions of every organization at the end.
    pub(super) fn all_sessions(&mut self) {
        for org in ORGS {
            let org: OrgId = org.parse().unwrap();
            let query = SessionQuery { limit: 2, ..SessionQuery::default() };
            let found = self.both(|store| all(&query, |query| wait(store.sessions(&org, query))));
            assert!(org.as_str() != "default" || !found.unwrap().is_empty(), "sessions are there");
            for session in SESSIONS {
                let session: SessionId = session.parse().unwrap();
                self.both(|store| {
                    wait(store.session(&org, &session, true)).map(|found| found.as_ref().map(describe))
                });
                self.both(|store| all_records(store, &org, &session, 7));
            }
        }
    }
}

/// Reads all pages of a query. Cursors differ between stores.
fn all(
    query: &SessionQuery,
    ask: impl Fn(SessionQuery) -> Result<Sessions, ReadError>,
) -> Result<Vec<String>, ReadError> {
    let (mut query, mut found) = (query.clone(), Vec::new());
    loop {
        let page = ask(query.clone())?;
        found.extend(page.sessions.iter().map(describe));
        let Some(next): Option<TimeCursor> = page.next else { return Ok(found) };
        query.after = Some(next);
    }
}

/// Reads all records of a session, page by page.
fn all_records(
    store: &dyn Store,
    org: &OrgId,
    session: &SessionId,
    limit: usize,
) -> Result<Option<Vec<String>>, ReadError> {
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let Some(page) = wait(store.session_records(org, session, after, limit))? else { return Ok(None) };
        assert!(page.records.len() == limit || page.next.is_none());
        found.extend(page.records.iter().map(|record| format!("{record:?}")));
        after = page.next;
        if after.is_none() {
            return Ok(Some(found));
        }
    }
}

/// Describes everything that can be seen of a session.
fn describe(session: &StoredSession) -> String {
    let StoredSession { position: _, id, agent, ledger, began_at, last_seen, closed_at, summary, traces } =
        session;
    let report = ledger.as_ref().map(|ledger| serde_json::to_string(&ledger.report()).unwrap());
    let traces: Vec<String> =
        traces.iter().map(|SessionTrace { trace, started_at }| format!("{trace:?} {started_at:?}")).collect();
    format!("{id} {agent} {began_at} {last_seen} {closed_at:?} {report:?} {summary:?} {traces:#?}")
}
