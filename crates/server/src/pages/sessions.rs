//! `/sessions` and `/sessions/{session_id}`: the list of sessions, and the page of a session.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::session_metrics::{SignalWeights, Thresholds};
use renown_core::time::Timestamp;
use renown_pages::Section;
use renown_pages::session::{DrawnPart, RECORDS, SessionPage, TURNS, first_drawn};
use renown_pages::sessions::{ROWS, SessionFilter, SessionList, render};
use renown_store::{Cursor, RecordCursor, SessionQuery, StoredSession, TimeCursor};
use renown_view::sessions::{Signal, session_of};
use renown_view::{RecordView, SessionDetail, SessionView};

use super::list_query::{A_CURSOR, AN_ID, ListQuery, last_moment};
use super::reply::{Page, PageError, html};
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::routes::paths::{Segment, segment};

/// Shows the list.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Sessions);
    let mut parameters = ListQuery::of(query);
    let agent: Option<AgentId> = parameters.get("agent", AN_ID);
    let (from, to) = (parameters.day("from"), parameters.day("to"));
    let after = parameters.read("cursor", A_CURSOR, TimeCursor::from_text);
    let query = SessionQuery {
        agent: agent.clone(),
        from: from.map(renown_core::time::Day::start),
        to: to.map(last_moment),
        after,
        limit: ROWS,
    };
    let page = api.store.sessions(&visit.org, query).await?;
    let sessions: Vec<SessionView<'_>> = page.sessions.iter().map(SessionView::of).collect();
    let next = page.next.map(|next| next.to_text());
    let shown = SessionList {
        sessions: &sessions,
        filter: SessionFilter { agent: agent.as_ref().map_or("", AgentId::as_str), from, to },
        ignored: parameters.ignored(),
        is_first: after.is_none(),
        next: next.as_deref(),
    };
    html(render(&shell, &shown))
}

/// Shows one session.
pub(super) async fn page(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    path: Segment,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Sessions);
    let unknown = || PageError::not_found("there is no session with this id");
    let id: SessionId = segment(path, "session_id").map_err(|_| unknown())?;
    let session = api.store.session(&visit.org, &id, true).await?.ok_or_else(unknown)?;
    let turn = ListQuery::of(query).get("turn", "the number of a turn");
    let (part, records) = records(&api, &visit.org, &session, turn).await?;
    let traces = session_of(&session);
    let shown = SessionPage {
        detail: &SessionDetail::of(&session),
        metrics: &traces.metrics(&SignalWeights::default(), &Thresholds::default()),
        session: &traces,
        records: &records,
        part,
    };
    html(renown_pages::session::render(&shell, &shown))
}

/// Number of records per read from the store.
const AT_ONCE: usize = 1000;

/// Reads the records of the turns that the page shows. `turn` is the turn in the address.
async fn records(
    api: &Api,
    org: &OrgId,
    session: &StoredSession,
    turn: Option<usize>,
) -> Result<(DrawnPart, Vec<RecordView>), PageError> {
    let Some(ledger) = &session.ledger else { return Ok((DrawnPart::default(), Vec::new())) };
    let traces = &session.traces;
    let first = first_drawn(traces.len(), turn, session.closed_at.is_none());
    let start_of = |index: usize| traces.get(index).and_then(|trace| trace.started_at);
    let until = start_of(first + TURNS);
    // Log records are ordered by time, so reading can begin at the first shown turn. Spans have no order.
    let from = match ledger.signal() {
        Signal::Logs => start_of(first).into_iter().chain(ledger.started_at().filter(|_| first == 0)).min(),
        Signal::Spans | Signal::Transcript => None,
    };
    let mut after = from.map(|from| RecordCursor { at_ns: from.nanos() - 1, key: i64::MAX });
    let mut found: Vec<RecordView> = Vec::new();
    let is_cut = loop {
        let page = api.store.session_records(org, &session.id, after, AT_ONCE).await?.unwrap_or_default();
        let is_past = |at: Option<Timestamp>| at.zip(until).is_some_and(|(at, until)| at >= until);
        let past_end = page.records.last().is_some_and(|last| from.is_some() && is_past(last.at));
        found.extend(page.records.into_iter().filter(|record| !is_past(record.at)).map(RecordView::of));
        after = page.next;
        if after.is_none() || past_end {
            break false;
        }
        if found.len() >= RECORDS {
            break true;
        }
    };
    Ok((DrawnPart { first, until, is_cut }, found))
}
