//! Idempotency keys: a retry of a POST returns the first reply and changes nothing.
//!
//! The reply is kept by the store in the same transaction as what it answers, so there is no moment in which one is there
//! without the other. While the first request is in flight, and for another request under the same key, the answer is 409.
//! Refusals are not kept: a request that was refused may be corrected and sent again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::OrgId;
use renown_core::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use renown_store::{MakeReply, RequestKey, SavedReply};
use sha2::{Digest, Sha256};

use crate::api::Api;
use crate::body::read_json;
use crate::error::{ApiError, Code};
use crate::reply::json_bytes;

type Flights = Arc<Mutex<HashSet<(OrgId, String)>>>;

/// The requests with a key that are being answered.
#[derive(Default)]
pub(crate) struct InFlight(Flights);

/// What is to be done with a request.
pub(crate) enum Begun {
    /// It was answered before.
    Replay(SavedReply),
    /// It is new: its body, and a ticket that has the key, if one was sent.
    Fresh(Bytes, Ticket),
}

/// What is known of a request whose body was read.
pub(crate) enum Looked {
    /// It was answered before.
    Replay(SavedReply),
    /// It is new.
    Fresh(Ticket),
}

/// A request that is being answered. While this lives, the same key is refused.
pub(crate) struct Ticket(Option<Flight>);

struct Flight {
    flights: Flights,
    place: (OrgId, String),
    fingerprint: [u8; 32],
}

impl Ticket {
    /// What the store has to keep, if a key was sent.
    pub(crate) fn once<T: ?Sized>(&self, reply: impl FnOnce() -> MakeReply<T>) -> Option<RequestKey<T>> {
        let flight = self.0.as_ref()?;
        let (org, key) = flight.place.clone();
        Some(RequestKey { org, key, fingerprint: flight.fingerprint, reply: reply() })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.place);
    }
}

/// Begins to answer a POST: reads its body, and looks whether it was answered before.
pub(crate) async fn begin(
    api: &Api,
    org: &OrgId,
    route: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Begun, ApiError> {
    let body = read_json(headers, body, api.limits.body_time_max).await?;
    Ok(match look(api, org, route, headers, &body).await? {
        Looked::Replay(saved) => Begun::Replay(saved),
        Looked::Fresh(ticket) => Begun::Fresh(body, ticket),
    })
}

/// Looks whether a POST was answered before. What it asks for is its route and its body.
pub(crate) async fn look(
    api: &Api,
    org: &OrgId,
    route: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Looked, ApiError> {
    let Some(key) = read_key(headers)? else { return Ok(Looked::Fresh(Ticket(None))) };
    let fingerprint =
        Sha256::new().chain_update(route).chain_update([0]).chain_update(body).finalize().into();
    let place = (org.clone(), key);
    let flights = Arc::clone(&api.in_flight.0);
    if !flights.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone()) {
        return Err(ApiError::new(Code::Conflict, "a request with this Idempotency-Key is still in flight"));
    }
    let flight = Flight { flights, place, fingerprint };
    match api.store.saved_reply(org, &flight.place.1).await? {
        None => Ok(Looked::Fresh(Ticket(Some(flight)))),
        Some(saved) if saved.fingerprint == fingerprint => Ok(Looked::Replay(saved)),
        Some(_) => Err(ApiError::new(Code::Conflict, "this Idempotency-Key was used for another request")),
    }
}

/// The first reply again.
pub(crate) fn replay(saved: SavedReply) -> Response {
    let status = StatusCode::from_u16(saved.status).unwrap_or(StatusCode::OK);
    json_bytes(status, saved.body)
}

fn read_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut sent = headers.get_all("idempotency-key").iter();
    let Some(key) = sent.next() else { return Ok(None) };
    let refused = |found: &str| {
        ApiError::invalid(format!(
            "Idempotency-Key: {found}, expected one of 1 to {IDEMPOTENCY_KEY_CHARS_MAX} characters"
        ))
    };
    let key = std::str::from_utf8(key.as_bytes()).map_err(|_| refused("not UTF-8"))?;
    if sent.next().is_some() {
        return Err(refused("given twice"));
    }
    match key.chars().count() {
        1..=IDEMPOTENCY_KEY_CHARS_MAX => Ok(Some(key.to_owned())),
        chars => Err(refused(&format!("{chars} characters"))),
    }
}
