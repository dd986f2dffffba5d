//! `/v1/sessions`: sessions of agents, scored as they happen, and the metrics of their traces.

pub(crate) mod metrics;
pub(crate) mod shapes;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::json::{self, Strict};
use renown_core::session_metrics::{Session, Signals, Trace};
use renown_core::time::Timestamp;
use renown_store::{NewSignals, NewTrace, RecordCursor, SessionQuery, StoredSession};
use renown_view::sessions::{self, PerformanceShape};
use renown_view::{RecordsPage, SessionDetail, SessionView, SessionsPage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refused;
use super::paths::{Segment, segment};
use super::shapes::{AgentName, TimeText};
use crate::api::Api;
use crate::changes::Changed;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Begun};
use crate::keys::Caller;
use crate::query::{Query, time_cursor, time_cursor_text};
use crate::reply::{json as reply, json_bytes};
use shapes::{SessionName, SignalsRequest};

/// List sessions
///
/// The last to begin first. `from` and `to` look at when a session began; where nothing says so, at when it was first heard of.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "list_sessions",
    tag = "sessions",
    params(
        ("limit" = Option<u32>, Query, description = "How many at most", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before", format = "time-cursor"),
        ("agent_id" = Option<AgentName>, Query, description = "Only of this agent"),
        ("from" = Option<TimeText>, Query, description = "Only those that began at this time or later"),
        ("to" = Option<TimeText>, Query, description = "Only those that began at this time or earlier"),
    ),
    responses((status = 200, description = "A page of sessions", body = SessionsPage<'_>), Refused)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let query = SessionQuery {
        agent: query.get("agent_id")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.cursor(time_cursor)?,
        limit: query.limit()?,
    };
    let page = api.store.sessions(&caller.org, query).await?;
    let data = page.sessions.iter().map(SessionView::of).collect();
    Ok(reply(StatusCode::OK, &SessionsPage { data, next_cursor: page.next.map(time_cursor_text) }))
}

/// Read a session
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}",
    operation_id = "get_session",
    tag = "sessions",
    params(("session_id" = SessionName, Path, description = "The session, percent-encoded")),
    responses((status = 200, description = "The session with its performance, metrics and traces", body = SessionDetail<'_>), Refused)
)]
pub(crate) async fn session(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let session = find(&api, &caller, path, true).await?;
    Ok(reply(StatusCode::OK, &SessionDetail::of(&session)))
}

/// Read how well a session went
///
/// As of now: an open session is scored as it happens. A session without a tool result, a prompt or an API request has no
/// performance: 404.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/performance",
    operation_id = "get_session_performance",
    tag = "sessions",
    params(("session_id" = SessionName, Path, description = "The session, percent-encoded")),
    responses((status = 200, description = "Its performance", body = PerformanceShape), Refused)
)]
pub(crate) async fn performance(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let session = find(&api, &caller, path, false).await?;
    let report = sessions::report(&session).ok_or_else(|| {
        let error =
            format!("session {:?} has no tool result, prompt or API request to score", session.id.as_str());
        ApiError::new(Code::NotFound, error)
    })?;
    Ok(reply(StatusCode::OK, &report))
}

/// Read the records of a session
///
/// What happened in it, one record at a time: tool calls, prompts, model calls, errors, decisions. Log records come by their time; spans, and
/// records without a time, come first. A record that was sent twice is there once. Prompts, arguments and outputs are never kept.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/records",
    operation_id = "list_session_records",
    tag = "sessions",
    params(
        ("session_id" = SessionName, Path, description = "The session, percent-encoded"),
        ("limit" = Option<u32>, Query, description = "How many at most", minimum = 1, maximum = 1000),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before", format = "record-cursor"),
    ),
    responses((status = 200, description = "A page of records", body = RecordsPage), Refused)
)]
pub(crate) async fn records(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let id: SessionId = segment(path, "session_id")?;
    let limit = query.number("limit", 1..=RECORDS_MAX)?.unwrap_or(RECORDS_DEFAULT);
    let found = api.store.session_records(&caller.org, &id, query.cursor(record_cursor)?, limit).await?;
    let page = found.ok_or_else(|| unknown(&id))?;
    let next_cursor = page.next.map(record_cursor_text);
    Ok(reply(StatusCode::OK, &RecordsPage::of(page, next_cursor)))
}

/// How many records a page has at most, and if nobody says.
const RECORDS_MAX: usize = 1000;
const RECORDS_DEFAULT: usize = 100;

fn record_cursor_text(cursor: RecordCursor) -> String {
    format!("{:x}.{:x}", cursor.at_ns, cursor.key.cast_unsigned())
}

fn record_cursor(text: &str) -> Option<RecordCursor> {
    let (at_ns, key) = text.split_once('.')?;
    // Only as it was written: no signs, no upper case.
    let written = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'.'));
    let at_ns = i64::from_str_radix(at_ns, 16).ok().filter(|_| written)?;
    let key = u64::from_str_radix(key, 16).ok()?.cast_signed();
    Some(RecordCursor { at_ns, key })
}

fn unknown(id: &SessionId) -> ApiError {
    ApiError::new(Code::NotFound, format!("there is no session {:?}", id.as_str()))
}

/// The session of a path.
async fn find(
    api: &Api,
    caller: &Caller,
    path: Segment,
    with_traces: bool,
) -> Result<StoredSession, ApiError> {
    let id: SessionId = segment(path, "session_id")?;
    let session = api.store.session(&caller.org, &id, with_traces).await?;
    session.ok_or_else(|| unknown(&id))
}

/// Signals as they are sent.
#[derive(Deserialize)]
struct Sent {
    agent_id: Option<AgentId>,
    traces: Vec<Strict<SentTrace>>,
}

#[derive(Deserialize)]
struct SentTrace {
    trace_id: TraceId,
    started_at: Option<Timestamp>,
    #[serde(default)]
    signals: Strict<Signals>,
}

/// What was kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignalsReply {
    /// How many traces.
    accepted: usize,
}

/// Send signals of a session's traces
///
/// A trace that was sent before is replaced with all its signals. What is sent wins over what is derived from telemetry. An
/// `agent_id` says whose session it is, unless its telemetry does.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/signals",
    operation_id = "add_signals",
    tag = "sessions",
    params(("session_id" = SessionName, Path, description = "The session, percent-encoded")),
    request_body = SignalsRequest,
    responses((status = 202, description = "They are kept", body = SignalsReply), Refused)
)]
pub(crate) async fn add_signals(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session: SessionId = segment(path, "session_id")?;
    let route = format!("POST /v1/sessions/{session}/signals");
    let (body, ticket) = match idempotency::begin(&api, &caller.org, &route, &headers, body).await? {
        Begun::Replay(saved) => return Ok(idempotency::replay(saved)),
        Begun::Fresh(body, ticket) => (body, ticket),
    };
    let Sent { agent_id, traces } = json::parse_strict(&body)?;
    if traces.is_empty() {
        return Err(ApiError::invalid("traces: none, expected at least one"));
    }
    let accepted = traces.len();
    let signals = NewSignals { agent: agent_id, traces: check(traces)? };
    let rendered = move || serde_json::to_vec(&SignalsReply { accepted }).unwrap_or_default();
    let once = ticket.once::<()>(|| Box::new(move |()| (202, rendered())));
    api.store.add_signals(&caller.org, &session, signals, once).await?;
    api.feed.tell(&caller.org, || Changed::Evidence);
    Ok(json_bytes(StatusCode::ACCEPTED, rendered()))
}

/// The traces of a request, if each is there once.
fn check(traces: Vec<Strict<SentTrace>>) -> Result<Vec<NewTrace>, ApiError> {
    let trace = |Strict(SentTrace { trace_id, started_at, signals })| NewTrace {
        trace: Trace { trace_id, signals: signals.0, source: None },
        started_at,
    };
    let traces: Vec<NewTrace> = traces.into_iter().map(trace).collect();
    let named = traces.iter().map(|new| new.trace.clone()).collect();
    Session::new(named).map_err(|repeated| ApiError::invalid(repeated.to_string()))?;
    Ok(traces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_of_records_comes_back_as_it_went() {
        for (at_ns, key) in [(0, 1), (1_794_744_000_000_000_000, -5), (7, i64::MIN)] {
            let cursor = RecordCursor { at_ns, key };
            assert_eq!(record_cursor(&record_cursor_text(cursor)), Some(cursor));
        }
        for refused in ["", "1", "1.", ".1", "-1.1", "1.-1", "1.F", "1.1.1", "1.11111111111111111"] {
            assert_eq!(record_cursor(refused), None, "{refused}");
        }
    }
}
