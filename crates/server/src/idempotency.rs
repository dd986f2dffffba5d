//! Idempotency keys: a retry of a POST returns the first reply and changes nothing.
//!
//! The store keeps what was accepted in the same transaction as the change, and recognizes the key there ([`Accepted`]). A route renders what
//! was kept with the function that rendered the first reply. What follows from the request alone, such as warnings, is computed again,
//! because a retry has the same body.
//!
//! The server also looks a key up before the work for a write, and answers 409 while the first request is in flight, and if a different
//! request uses the same key. Refused requests are not kept: they may be corrected and sent again with the same key.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use hyper::HeaderMap;
use renown_core::ids::OrgId;
use renown_core::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use renown_store::{Accepted, KnownRequest, Receipt, RequestKey};
use sha2::{Digest, Sha256};

use crate::api::Api;
use crate::body::read_json;
use crate::error::{ApiError, Code};

type KeysInFlight = Arc<Mutex<HashSet<(OrgId, String)>>>;

/// The keys of the requests that are being answered.
#[derive(Default)]
pub(crate) struct InFlight(KeysInFlight);

/// The result of looking up the key of a request.
pub(crate) enum Lookup {
    /// The same request was accepted before.
    Replay(Receipt),
    /// The request is new, or it has no key.
    Fresh(Guard),
}

/// Keeps the key of a request in flight. Until it is dropped, other requests with the same key get 409. Empty if no key was sent.
pub(crate) struct Guard(Option<KeyInFlight>);

struct KeyInFlight {
    in_flight: KeysInFlight,
    key: (OrgId, String),
    fingerprint: [u8; 32],
}

impl KeyInFlight {
    fn request_key(&self) -> RequestKey {
        let (org, key) = self.key.clone();
        RequestKey { org, key, fingerprint: self.fingerprint }
    }
}

impl Guard {
    /// Returns the request key for the write, if a key was sent.
    pub(crate) fn request_key(&self) -> Option<RequestKey> {
        self.0.as_ref().map(KeyInFlight::request_key)
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
) -> Result<(Bytes, Lookup), ApiError> {
    let body = read_json(headers, body, api.limits.body_time_max).await?;
    let lookup = look_up(api, org, route, headers, &body).await?;
    Ok((body, lookup))
}

/// Looks up the key of a POST. Route and body must be the same as in the first request.
pub(crate) async fn look_up(
    api: &Api,
    org: &OrgId,
    route: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Lookup, ApiError> {
    let Some(key) = read_key(headers)? else { return Ok(Lookup::Fresh(Guard(None))) };
    let fingerprint =
        Sha256::new().chain_update(route).chain_update([0]).chain_update(body).finalize().into();
    let key = (org.clone(), key);
    let in_flight = Arc::clone(&api.in_flight.0);
    if !in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
        return Err(ApiError::new(Code::Conflict, "a request with this Idempotency-Key is still in flight"));
    }
    let held = KeyInFlight { in_flight, key, fingerprint };
    match api.store.known_request(held.request_key()).await? {
        None => Ok(Lookup::Fresh(Guard(Some(held)))),
        Some(KnownRequest::Replayed(receipt)) => Ok(Lookup::Replay(receipt)),
        Some(KnownRequest::Conflict) => Err(conflict()),
    }
}

/// Returns what a write accepted, or what the same request accepted before, as `replayed` reads it from the receipt.
pub(crate) fn outcome<T>(
    accepted: Accepted<T>,
    replayed: impl FnOnce(Receipt) -> Option<T>,
) -> Result<T, ApiError> {
    match accepted {
        Accepted::Fresh(outcome) => Ok(outcome),
        Accepted::Replayed(receipt) => replayed(receipt).ok_or_else(foreign_receipt),
        Accepted::Conflict => Err(conflict()),
    }
}

/// Builds the error for a key that belongs to another request.
pub(crate) fn conflict() -> ApiError {
    ApiError::new(Code::Conflict, "this Idempotency-Key was used for another request")
}

/// Builds the error for a receipt of another route. It cannot occur, because the fingerprint of a request contains its route.
pub(crate) fn foreign_receipt() -> ApiError {
    ApiError::new(Code::Internal, "the receipt of another route")
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
