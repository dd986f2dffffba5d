//! Idempotency keys: a retry of a POST returns the first reply and changes nothing.
//!
//! The store saves the reply in the same transaction as the change, so neither exists without the other. The server answers 409 while the
//! first request is in flight, and if a different request uses the same key. Error replies are not saved: a refused request may be
//! corrected and sent again with the same key.

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

type KeysInFlight = Arc<Mutex<HashSet<(OrgId, String)>>>;

/// The keys of the requests that are being answered.
#[derive(Default)]
pub(crate) struct InFlight(KeysInFlight);

/// The result of looking up the key of a request.
pub(crate) enum Lookup<T> {
    /// The request was answered before.
    Replay(SavedReply),
    /// The request is new, or it has no key.
    Fresh(T),
}

/// Keeps the key of a request in flight. Until it is dropped, other requests with the same key get 409. Empty if no key was sent.
pub(crate) struct Guard(Option<KeyInFlight>);

struct KeyInFlight {
    in_flight: KeysInFlight,
    key: (OrgId, String),
    fingerprint: [u8; 32],
}

impl Guard {
    /// Returns what the store needs to save the reply, if a key was sent.
    pub(crate) fn once<T: ?Sized>(&self, reply: impl FnOnce() -> MakeReply<T>) -> Option<RequestKey<T>> {
        let held = self.0.as_ref()?;
        let (org, key) = held.key.clone();
        Some(RequestKey { org, key, fingerprint: held.fingerprint, reply: reply() })
    }
}

impl Drop for KeyInFlight {
    fn drop(&mut self) {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Reads the body of a POST and looks up its key.
pub(crate) async fn begin(
    api: &Api,
    org: &OrgId,
    route: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Lookup<(Bytes, Guard)>, ApiError> {
    let body = read_json(headers, body, api.limits.body_time_max).await?;
    Ok(match look_up(api, org, route, headers, &body).await? {
        Lookup::Replay(saved) => Lookup::Replay(saved),
        Lookup::Fresh(guard) => Lookup::Fresh((body, guard)),
    })
}

/// Looks up the key of a POST. Route and body must be the same as in the first request.
pub(crate) async fn look_up(
    api: &Api,
    org: &OrgId,
    route: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Lookup<Guard>, ApiError> {
    let Some(key) = read_key(headers)? else { return Ok(Lookup::Fresh(Guard(None))) };
    let fingerprint =
        Sha256::new().chain_update(route).chain_update([0]).chain_update(body).finalize().into();
    let key = (org.clone(), key);
    let in_flight = Arc::clone(&api.in_flight.0);
    if !in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
        return Err(ApiError::new(Code::Conflict, "a request with this Idempotency-Key is still in flight"));
    }
    let held = KeyInFlight { in_flight, key, fingerprint };
    match api.store.saved_reply(org, &held.key.1).await? {
        None => Ok(Lookup::Fresh(Guard(Some(held)))),
        Some(saved) if saved.fingerprint == fingerprint => Ok(Lookup::Replay(saved)),
        Some(_) => Err(ApiError::new(Code::Conflict, "this Idempotency-Key was used for another request")),
    }
}

/// Builds the first reply again.
pub(crate) fn replay(saved: SavedReply) -> Response {
    let status = StatusCode::from_u16(saved.status).unwrap_or(StatusCode::OK);
    json_bytes(status, saved.body)
}

/// Reads the `Idempotency-Key` header.
fn read_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut sent = headers.get_all("idempotency-key").iter();
    let Some(key) = sent.next() else { return Ok(None) };
    let refused = |found: &str| {
        ApiError::invalid(format!(
            "Idempotency-Key: {found}, expected one key of 1 to {IDEMPOTENCY_KEY_CHARS_MAX} characters"
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
