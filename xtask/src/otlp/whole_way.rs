//! The whole way: an agent sends telemetry without a key, and gets a reputation.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use uuid::Uuid;

use super::receiver::{Receiver, equal};
use super::story::{self, AGENT};
use crate::load::get;

/// Sessions end half an hour after their last event. These are older.
const AGE_S: i64 = 2 * 3600;
const DAY_S: i64 = 86_400;

/// A session that is old enough closes by itself within seconds.
const CLOSING_MAX: Duration = Duration::from_mins(1);
const ASK_EVERY: Duration = Duration::from_millis(50);

const SESSION: &str = "whole-way";
const OLDER: &str = "whole-way-older";

/// Follows an agent from its first record to its trend.
pub(super) fn check(renown: &Path, scratch: &Path) -> Result<()> {
    let receiver = Receiver::first(renown, &scratch.join("whole-way"), "TERM")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    let start_s = i64::try_from(now.as_secs())? - AGE_S;
    let mut agent = Agent::new(&receiver)?;
    first_close(&mut agent, start_s).context("a session that closes")?;
    late(&mut agent, start_s).context("a record that arrives late")?;
    older(&mut agent, start_s - 10 * DAY_S).context("a session of ten days before")?;
    println!("telemetry without a key: scored live, closed, reopened, and in the reputation once");
    Ok(())
}

/// The agent of the story, as the API shows it.
struct Agent<'r> {
    receiver: &'r Receiver,
    identity: Uuid,
    stream: Stream,
}

impl<'r> Agent<'r> {
    fn new(receiver: &'r Receiver) -> Result<Self> {
        let organization = Uuid::new_v5(&Uuid::NAMESPACE_OID, b"renown:default");
        let identity = Uuid::new_v5(&organization, AGENT.as_bytes());
        Ok(Self { receiver, identity, stream: Stream::listen(receiver)? })
    }

    fn session(&self, session: &str) -> Result<Value> {
        self.receiver.read(&format!("/v1/sessions/{session}"))
    }

    /// Checks that the session is scored while it is open.
    fn is_live(&self, session: &str, expected: &Value) -> Result<()> {
        let found = self.session(session)?;
        ensure!(found.get("open") == Some(&json!(true)), "not open right after a record: {found}");
        self.receiver.performs(session, expected)
    }

    /// Waits until a session is closed and the stream reports it.
    fn closes(&mut self, session: &str, expected: &Value) -> Result<()> {
        let start = Instant::now();
        loop {
            let found = self.session(session)?;
            if found.get("open") == Some(&json!(false)) {
                equal("the performance of the closed session", field(&found, "performance")?, expected)?;
                break;
            }
            ensure!(start.elapsed() < CLOSING_MAX, "still open after {CLOSING_MAX:?}: {found}");
            pause();
        }
        let streamed = self.stream.scored().context("GET /v1/stream")?;
        equal("session.scored, its session", field(&streamed, "session_id")?, &json!(session))?;
        equal("session.scored, its performance", field(&streamed, "performance")?, expected)
    }

    /// Returns the events of its identity, without their times of acceptance.
    fn events(&self) -> Result<Vec<Value>> {
        let mut page = self.receiver.read(&format!("/v1/identities/{}/events", self.identity))?;
        let events = page.get_mut("data").and_then(Value::as_array_mut).context("no data")?;
        for event in events.iter_mut().filter_map(Value::as_object_mut) {
            event.remove("accepted_at");
        }
        Ok(std::mem::take(events))
    }

    /// Returns the event that a session must become.
    fn event(&self, session: &str, ended_s: i64, delta: f64, confidence: f64) -> Result<Value> {
        Ok(json!({
            "event_id": Uuid::new_v5(&self.identity, format!("session:{session}").as_bytes()),
            "timestamp": story::moment(ended_s)?,
            "identity_id": self.identity,
            "category": "task_quality",
            "event_type": "session_scored",
            "score_delta": delta,
            "confidence": confidence,
            "reference_type": "session",
            "reference_id": session,
            "attributes": {},
        }))
    }

    /// Checks its reputation, except for the time of the request.
    fn has_reputation(&self, expected: &Value) -> Result<()> {
        let path = format!("/v1/identities/{}/reputation", self.identity);
        let mut found = self.receiver.read(&path)?;
        found.as_object_mut().context("no object")?.remove("as_of").context("no as_of")?;
        equal(&format!("GET {path}"), &found, expected)
    }
}

/// The story, live and then closed: (7.3 − 5) / 5 = 0.46, with a confidence of 4 / 20; 0.40 · 0.46 = 0.184.
fn first_close(agent: &mut Agent<'_>, start_s: i64) -> Result<()> {
    let expected = story::performance(SESSION, start_s)?;
    let sent = story::collected(&story::records(SESSION, start_s));
    agent.receiver.takes("logs", &sent.to_string())?;
    agent.is_live(SESSION, &expected)?;
    equal("the events of an open session", &json!(agent.events()?), &json!([]))?;
    agent.closes(SESSION, &expected)?;
    let event = agent.event(SESSION, start_s + 180, 0.46, 0.2)?;
    equal("the events", &json!(agent.events()?), &json!([event]))?;
    agent.has_reputation(&reputation(agent.identity, &[0.184, 0.46], 1, &[json!(0.0), json!(null)]))?;
    let standing = agent.receiver.read(&format!("/v1/agents/{AGENT}"))?;
    let sessions = field(&standing, "sessions")?.as_array().context("no list of sessions")?;
    let shown: Vec<_> =
        sessions.iter().map(|session| (session.get("session_id"), session.get("open"))).collect();
    ensure!(shown == [(Some(&json!(SESSION)), Some(&json!(false)))], "the sessions of the agent: {standing}");
    let overall = standing.pointer("/identity_reputation/overall_score");
    ensure!(overall == Some(&json!(0.184)), "the standing of the agent: {standing}");
    Ok(())
}

/// It opens again, and its event is replaced: (7.8 − 5) / 5 = 0.56, with a confidence of 5 / 20; 0.40 · 0.56 = 0.224.
fn late(agent: &mut Agent<'_>, start_s: i64) -> Result<()> {
    let expected = story::late_performance(SESSION, start_s)?;
    let sent = story::collected(&[story::late_record(SESSION, start_s)]);
    agent.receiver.takes("logs", &sent.to_string())?;
    agent.is_live(SESSION, &expected)?;
    agent.closes(SESSION, &expected)?;
    let event = agent.event(SESSION, start_s + 240, 0.56, 0.25)?;
    equal("the events", &json!(agent.events()?), &json!([event]))?;
    agent.has_reputation(&reputation(agent.identity, &[0.224, 0.56], 1, &[json!(0.0), json!(null)]))
}

/// The mean of 0.56 and 0.46 is 0.51, and 0.40 · 0.51 = 0.204. Seven days ago there was only the older one, 0.184: a trend of 0.02.
fn older(agent: &mut Agent<'_>, start_s: i64) -> Result<()> {
    let expected = story::performance(OLDER, start_s)?;
    agent.receiver.takes("logs", &story::collected(&story::records(OLDER, start_s)).to_string())?;
    agent.closes(OLDER, &expected)?;
    let event = agent.event(OLDER, start_s + 180, 0.46, 0.2)?;
    let events = agent.events()?;
    ensure!(events.len() == 2 && events.contains(&event), "the events: {}", json!(events));
    agent.has_reputation(&reputation(agent.identity, &[0.204, 0.51], 2, &[json!(0.184), json!(0.02)]))
}

/// Returns the reputation after good work only: overall and quality, the number of events, and the score of seven days
/// ago with the trend. The score of thirty days ago is zero.
fn reputation(identity: Uuid, scores: &[f64; 2], events: u32, week: &[Value; 2]) -> Value {
    let ([overall, quality], [week_ago, trend]) = (scores, week);
    json!({
        "identity_id": identity,
        "overall_score": overall,
        "task_quality_score": quality,
        "economic_score": 0.0,
        "identity_hygiene_score": 0.0,
        "total_events": events,
        "positive_events": events,
        "negative_events": 0,
        "confidence": f64::from(events) / 100.0,
        "score_7d_ago": week_ago,
        "score_30d_ago": 0.0,
        "trend_7d": trend,
        "trend_30d": null,
        "formula_version": "1",
    })
}

/// The stream of events from now on.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn listen(receiver: &Receiver) -> Result<Self> {
        let mut socket = TcpStream::connect(receiver.api)?;
        socket.set_read_timeout(Some(CLOSING_MAX))?;
        socket.write_all(&get("/v1/stream", &receiver.key))?;
        let mut stream = Self(BufReader::new(socket));
        // The server sends the head only after it has subscribed to changes.
        while !stream.line()?.is_empty() {}
        Ok(stream)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.0.read_line(&mut line)? > 0, "the stream ended");
        Ok(line.trim_end().to_owned())
    }

    /// Returns the data of the next `session.scored`. Skips chunk lengths, comments and other events.
    fn scored(&mut self) -> Result<Value> {
        while self.line()? != "event: session.scored" {}
        let line = self.line()?;
        let data = line.strip_prefix("data: ").with_context(|| format!("no data after the name: {line}"))?;
        Ok(serde_json::from_str(data)?)
    }
}

fn field<'v>(value: &'v Value, name: &str) -> Result<&'v Value> {
    value.get(name).with_context(|| format!("no {name} in {value}"))
}

#[expect(clippy::disallowed_methods, reason = "only asking tells when a session is over")]
fn pause() {
    thread::sleep(ASK_EVERY);
}
