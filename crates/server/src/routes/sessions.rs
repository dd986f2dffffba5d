//! `/v1/sessions`: sessions of agents with their live performance, and the metrics of their traces.

pub(crate) mod metrics;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::json::{self, Strict};
use renown_core::schema::Moment;
use renown_core::session_metrics::{SessionTraces, Signals, Trace};
use renown_core::time::Timestamp;
use renown_store::{Accepted, Cursor, NewSignals, NewTrace, Receipt, SessionQuery, StoredSession};
use renown_view::sessions::{self, SessionReport};
use renown_view::{RecordsPage, SessionDetail, SessionView, SessionsPage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ErrorReplies;
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Lookup};
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json as reply;

/// List sessions
///
/// Returns the session that began last first. `from` and `to` filter by the start of a session; if it is unknown, by the time when its
/// first record arrived.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "list_sessions",
    tag = "sessions",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page", format = "time-cursor"),
        ("agent_id" = Option<AgentId>, Query, description = "Only sessions of this agent"),
        ("from" = Option<Timestamp>, Query, description = "Only sessions that began at this time or later"),
        ("to" = Option<Timestamp>, Query, description = "Only sessions that began at this time or earlier"),
    ),
    responses((status = 200, description = "A page of sessions", body = SessionsPage<'_>), ErrorReplies)
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
        after: query.cursor()?,
        limit: query.limit()?,
    };
    let page = api.store.sessions(&caller.org, query).await?;
    let data = page.sessions.iter().map(SessionView::of).collect();
    Ok(reply(StatusCode::OK, &SessionsPage { data, next_cursor: page.next.map(|next| next.to_text()) }))
}

/// Read a session
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}",
    operation_id = "get_session",
    tag = "sessions",
    params(("session_id" = SessionId, Path, description = "The session, percent-encoded")),
    responses((status = 200, description = "The session with its performance, metrics and traces", body = SessionDetail<'_>), ErrorReplies)
)]
pub(crate) async fn session(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let session = find(&api, &caller, path, true).await?;
    Ok(reply(StatusCode::OK, &SessionDetail::of(&session)))
}

/// Read the performance of a session
///
/// The score is current, also while the session is open. A session without a tool result, a prompt or an API request has no performance:
/// the reply is 404.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/performance",
    operation_id = "get_session_performance",
    tag = "sessions",
    params(("session_id" = SessionId, Path, description = "The session, percent-encoded")),
    responses((status = 200, description = "The performance", body = SessionReport<'_>), ErrorReplies)
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
/// Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans and records without a time come first, then
/// log records by time. Repeated records appear once. Prompts, arguments and outputs are never stored.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/records",
    operation_id = "list_session_records",
    tag = "sessions",
    params(
        ("session_id" = SessionId, Path, description = "The session, percent-encoded"),
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 1000),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page", format = "record-cursor"),
    ),
    responses((status = 200, description = "A page of records", body = RecordsPage), ErrorReplies)
)]
pub(crate) async fn records(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let id: SessionId = segment(path, "session_id")?;
    let limit = query.number("limit", 1..=RECORDS_MAX)?.unwrap_or(RECORDS_DEFAULT);
    let found = api.store.session_records(&caller.org, &id, query.cursor()?, limit).await?;
    let page = found.ok_or_else(|| unknown(&id))?;
    let next_cursor = page.next.map(|next| next.to_text());
    Ok(reply(StatusCode::OK, &RecordsPage::of(page, next_cursor)))
}

/// Maximum number of records per page.
const RECORDS_MAX: usize = 1000;

/// Number of records per page without `limit`.
const RECORDS_DEFAULT: usize = 100;

fn unknown(id: &SessionId) -> ApiError {
    ApiError::new(Code::NotFound, format!("there is no session {:?}", id.as_str()))
}

/// Reads the session that a path names.
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

/// Signals of the traces of a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SignalsRequest)]
pub(crate) struct SentSignals {
    /// Agent of the session. Used only if its telemetry names no agent.
    agent_id: Option<AgentId>,
    /// Traces with their signals. Each trace may appear only once.
    #[schema(min_items = 1)]
    traces: Vec<StrictTrace>,
}

/// An alias, because utoipa would add the parameter to the name of the schema.
type StrictTrace = Strict<SentTrace>;
/// An alias for the same reason.
type StrictSignals = Strict<Signals>;

/// A trace.
#[derive(Deserialize, ToSchema)]
#[schema(as = TraceRequest)]
pub(crate) struct SentTrace {
    /// Id of the trace: 1 to 512 bytes.
    trace_id: TraceId,
    /// Start of the trace. It determines the order of the traces.
    #[schema(value_type = Option<Moment>)]
    started_at: Option<Timestamp>,
    /// Signals of the trace. Without signals, the trace is stored but the metrics skip it.
    #[serde(default)]
    signals: StrictSignals,
}

/// The result of sending signals.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignalsReply {
    /// Number of traces that were stored.
    accepted: usize,
}

/// Send signals of the traces of a session
///
/// A trace that was sent before is replaced with all its signals. Sent signals override those that are derived from telemetry. `agent_id`
/// names the agent of the session, unless its telemetry does.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/signals",
    operation_id = "add_signals",
    tag = "sessions",
    params(("session_id" = SessionId, Path, description = "The session, percent-encoded")),
    request_body = SentSignals,
    responses((status = 202, description = "The signals are stored", body = SignalsReply), ErrorReplies)
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
    let (body, lookup) = idempotency::begin(&api, &caller.org, &route, &headers, body).await?;
    let SentSignals { agent_id, traces } = json::parse_strict(&body)?;
    if traces.is_empty() {
        return Err(ApiError::invalid("traces: empty, expected at least one trace"));
    }
    let count = traces.len();
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            let signals = NewSignals { agent: agent_id, traces: check(traces)? };
            api.store.add_signals(&caller.org, &session, signals, guard.request_key()).await?
        }
    };
    if accepted == Accepted::Fresh(()) {
        api.changes.evidence(&caller.org);
    }
    idempotency::outcome(accepted, |receipt| (receipt == Receipt::Signals).then_some(()))?;
    Ok(reply(StatusCode::ACCEPTED, &SignalsReply { accepted: count }))
}

/// Checks that no trace is repeated, and converts the traces.
fn check(traces: Vec<Strict<SentTrace>>) -> Result<Vec<NewTrace>, ApiError> {
    let trace = |Strict(SentTrace { trace_id, started_at, signals })| NewTrace {
        trace: Trace { trace_id, signals: signals.0, source: None },
        started_at,
    };
    let traces: Vec<NewTrace> = traces.into_iter().map(trace).collect();
    let named = traces.iter().map(|new| new.trace.clone()).collect();
    SessionTraces::new(named).map_err(|repeated| ApiError::invalid(repeated.to_string()))?;
    Ok(traces)
}
