//! `/v1/reputation-events` and `/v1/identities/{identity_id}`: the long-term reputation of identities.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::identity::{Category, Event, Reference, ScoreDelta, bridge_id, identity_of};
use renown_core::ids::{EventType, IdentityId, OrgId};
use renown_core::json::{self, Strict};
use renown_core::limits::{REPUTATION_EVENT_DAYS_MAX, REPUTATION_EVENTS_MAX};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::{Accepted, Cursor, NewReputationEvent, Receipt, Recorded, ReputationEvent};
use renown_view::IdentityView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::ErrorReplies;
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::error::ApiError;
use crate::idempotency::{self, Lookup};
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json as reply;

const DAY_MS: i64 = 86_400_000;

/// An alias, because utoipa would add the parameter to the name of the schema.
type StrictEvent = Strict<Event>;

/// Reputation events.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReputationEventsRequest {
    /// List of 1 to 1000 events.
    #[schema(min_items = 1, max_items = 1000)]
    events: Vec<StrictEvent>,
}

/// The result of a batch of events.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReputationEventsReply {
    /// Number of events that were counted.
    accepted: usize,
    /// Number of events that had been counted before.
    duplicates: usize,
}

/// Count reputation events
///
/// All or nothing: if one event is invalid, the whole batch is refused and the error names the index of the event. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/reputation-events",
    operation_id = "add_reputation_events",
    tag = "identities",
    request_body = ReputationEventsRequest,
    responses((status = 202, description = "The events are counted", body = ReputationEventsReply), ErrorReplies)
)]
pub(crate) async fn add(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let route = "POST /v1/reputation-events";
    let (body, lookup) = idempotency::begin(&api, &caller.org, route, &headers, body).await?;
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            let ReputationEventsRequest { events } = json::parse_strict(&body)?;
            let events = check(&caller.org, events, api.now()?)?;
            api.store.add_reputation_events(&caller.org, events, guard.request_key()).await?
        }
    };
    if let Accepted::Fresh(recorded) = &accepted {
        api.metrics.reputation_events(recorded.accepted);
    }
    let Recorded { accepted, duplicates, refused } = idempotency::outcome(accepted, |receipt| {
        if let Receipt::ReputationEvents(recorded) = receipt { Some(recorded) } else { None }
    })?;
    match refused {
        Some(index) => Err(derived(index)),
        None => Ok(reply(StatusCode::ACCEPTED, &ReputationEventsReply { accepted, duplicates })),
    }
}

/// Builds the error for an event with the id of an event that the server derives from a session.
fn derived(index: usize) -> ApiError {
    ApiError::invalid(format!(
        "events[{index}].event_id: the id is reserved for an event that is derived from a session, expected another id"
    ))
}

/// Checks the events of a batch.
fn check(
    org: &OrgId,
    events: Vec<Strict<Event>>,
    now: Timestamp,
) -> Result<Vec<NewReputationEvent>, ApiError> {
    if !(1..=REPUTATION_EVENTS_MAX).contains(&events.len()) {
        let found = events.len();
        return Err(ApiError::invalid(format!(
            "events: {found} events, expected 1 to {REPUTATION_EVENTS_MAX}"
        )));
    }
    let bound = |days: i64| Timestamp::from_millis(now.millis() + days * DAY_MS).unwrap_or(now);
    let (earliest, latest) = (bound(-REPUTATION_EVENT_DAYS_MAX), bound(1));
    let event = |(index, Strict(event)): (usize, Strict<Event>)| {
        let refused =
            |field: &str, error: String| Err(ApiError::invalid(format!("events[{index}]{field}: {error}")));
        if !(earliest..=latest).contains(&event.timestamp) {
            let found = event.timestamp;
            return refused(".timestamp", format!("{found}, expected a time from {earliest} to {latest}"));
        }
        let own = event.agent_id.as_ref().map(|agent| identity_of(org, agent));
        let identity = match (event.identity_id, own) {
            (Some(named), Some(own)) if named != own => {
                return refused(".identity_id", format!("{named}, expected {own}, the identity of agent_id"));
            }
            (Some(identity), _) | (None, Some(identity)) => identity,
            (None, None) => {
                return refused("", "neither identity_id nor agent_id, expected one of them".to_owned());
            }
        };
        // The server will derive an event with this id when the session closes, even if the session is not known yet.
        let session = event.reference_id.as_deref().and_then(|id| id.parse().ok());
        if session.is_some_and(|session| bridge_id(identity, &session) == event.event_id) {
            return Err(derived(index));
        }
        Ok(NewReputationEvent { identity, agent: event.agent_id.clone(), event })
    };
    events.into_iter().enumerate().map(event).collect()
}

/// Reads the reputation of an identity as of a time.
pub(crate) async fn standing(
    api: &Api,
    org: &OrgId,
    identity_id: IdentityId,
    as_of: Timestamp,
) -> Result<IdentityView, ApiError> {
    let windows = api.store.identity_windows(org, identity_id, as_of).await?;
    Ok(IdentityView::of(identity_id, &windows.breakdown().standing(as_of)))
}

/// Read the reputation of an identity
///
/// For an unknown identity, all values are 0.
#[utoipa::path(
    get,
    path = "/v1/identities/{identity_id}/reputation",
    operation_id = "get_identity_reputation",
    tag = "identities",
    params(
        ("identity_id" = IdentityId, Path, description = "The identity"),
        ("as_of" = Option<Timestamp>, Query, description = "Time of the reputation; default: now"),
    ),
    responses((status = 200, description = "Scores, counts, confidence and trends", body = IdentityView), ErrorReplies)
)]
pub(crate) async fn reputation(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let identity = segment(path, "identity_id")?;
    let as_of = match query.time("as_of")? {
        Some(as_of) => as_of,
        None => api.now()?,
    };
    Ok(reply(StatusCode::OK, &standing(&api, &caller.org, identity, as_of).await?))
}

/// A page of reputation events.
#[derive(Serialize, ToSchema)]
pub(crate) struct IdentityEventsReply<'e> {
    /// Events, newest first.
    data: Vec<IdentityEventReply<'e>>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// A reputation event of an identity.
#[derive(Serialize, ToSchema)]
pub(crate) struct IdentityEventReply<'e> {
    event_id: Uuid,
    timestamp: Timestamp,
    identity_id: IdentityId,
    category: Category,
    event_type: &'e EventType,
    score_delta: ScoreDelta,
    confidence: Unit,
    reference_type: Reference,
    reference_id: Option<&'e str>,
    attributes: &'e std::collections::BTreeMap<String, String>,
    accepted_at: Timestamp,
}

impl<'e> IdentityEventReply<'e> {
    fn of(kept: &'e ReputationEvent) -> Self {
        let event = &kept.event;
        Self {
            event_id: event.event_id,
            timestamp: event.timestamp,
            identity_id: kept.identity,
            category: event.category,
            event_type: &event.event_type,
            score_delta: event.score_delta,
            confidence: event.confidence,
            reference_type: event.reference_type,
            reference_id: event.reference_id.as_deref(),
            attributes: &event.attributes,
            accepted_at: kept.accepted_at,
        }
    }
}

/// List the reputation events of an identity
///
/// Returns the newest event first.
#[utoipa::path(
    get,
    path = "/v1/identities/{identity_id}/events",
    operation_id = "list_identity_events",
    tag = "identities",
    params(
        ("identity_id" = IdentityId, Path, description = "The identity"),
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page", format = "time-cursor"),
    ),
    responses((status = 200, description = "A page of events", body = IdentityEventsReply<'_>), ErrorReplies)
)]
pub(crate) async fn events(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let identity = segment(path, "identity_id")?;
    let (after, limit) = (query.cursor()?, query.limit()?);
    let page = api.store.reputation_events(&caller.org, identity, after, limit).await?;
    let data = page.events.iter().map(IdentityEventReply::of).collect();
    let next_cursor = page.next.map(|next| next.to_text());
    Ok(reply(StatusCode::OK, &IdentityEventsReply { data, next_cursor }))
}
