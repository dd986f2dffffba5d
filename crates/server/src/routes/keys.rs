//! `/v1/keys`: API keys. All routes need a secret key.
//!
//! A key is shown once and never stored; the store has only its hash. So a retry with the same `Idempotency-Key` creates nothing and cannot
//! show the key again. It gets 409 with the id of the first key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use renown_core::ids::OrgId;
use renown_core::json::{self, Found};
use renown_core::time::Timestamp;
use renown_store::{Accepted, ApiKey, DEFAULT_ORG, KeyKind, NewKey, Receipt, RequestKey};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::ErrorReplies;
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Lookup};
use crate::keys::{Caller, KeyText};
use crate::query::Query;
use crate::reply::json as reply;
use crate::work::note_used_keys;

const LABEL_CHARS_MAX: usize = 200;

/// The key to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CreateKeyRequest)]
pub(crate) struct CreateRequest {
    #[serde(deserialize_with = "kind")]
    kind: KeyKind,
    /// Label for people.
    #[schema(max_length = 200)]
    label: Option<String>,
    /// Organization of the key, which is created if it does not exist; default: the caller's organization.
    org: Option<OrgId>,
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyKind, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(|error| serde::de::Error::custom(format_args!("{}, {error}", Found::quoted(&text))))
}

/// A new key. It is shown only in this reply.
#[derive(Serialize, ToSchema)]
#[schema(as = CreateKeyReply)]
pub(crate) struct CreateReply {
    id: Uuid,
    key: String,
    kind: KeyKind,
    org: OrgId,
}

/// Create a key
///
/// A secret key of the default organization may name any organization, other keys only their own. The key itself is never stored, so a
/// retry with the same `Idempotency-Key` cannot return it: the reply is 409 with the id of the key that the first request created.
#[utoipa::path(
    post,
    path = "/v1/keys",
    operation_id = "create_key",
    tag = "keys",
    request_body = CreateRequest,
    responses((status = 201, description = "The new key", body = CreateReply), ErrorReplies)
)]
pub(crate) async fn create(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let (parts, body) = request.into_parts();
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/keys", &parts.headers, body).await?;
    let guard = match lookup {
        Lookup::Replay(receipt) => return Err(created_before(&receipt)),
        Lookup::Fresh(guard) => guard,
    };
    let request: CreateRequest = json::parse_strict(&body)?;
    let org = resolve_org(&caller, request.org)?;
    let (key, new) = make(&api, org, request.kind, request.label)?;
    let shown =
        CreateReply { id: new.id, key: key.reveal().to_owned(), kind: request.kind, org: new.org.clone() };
    add(&api, new, guard.request_key()).await?;
    Ok(reply(StatusCode::CREATED, &shown))
}

/// Generates a key and the record to store.
pub(crate) fn make(
    api: &Api,
    org: OrgId,
    kind: KeyKind,
    label: Option<String>,
) -> Result<(KeyText, NewKey), ApiError> {
    let label_chars = label.as_ref().map_or(0, |label| label.chars().count());
    if label_chars > LABEL_CHARS_MAX {
        return Err(ApiError::invalid(format!(
            "label: {label_chars} characters, expected at most {LABEL_CHARS_MAX}"
        )));
    }
    let key = KeyText::generate(kind)?;
    let new = key.to_new(org, label, api.now()?)?;
    Ok((key, new))
}

/// Stores a new key and adds it to the key ring. From then on it is valid.
pub(crate) async fn add(api: &Api, new: NewKey, request_key: Option<RequestKey>) -> Result<(), ApiError> {
    let _changing = api.keys.changing.lock().await;
    match api.store.create_key(new, request_key).await? {
        Accepted::Fresh(added) => {
            api.keys.set(&added);
            Ok(())
        }
        Accepted::Replayed(receipt) => Err(created_before(&receipt)),
        Accepted::Conflict => Err(idempotency::conflict()),
    }
}

/// Returns the named organization, by default the caller's. Fails if the caller may not name it.
fn resolve_org(caller: &Caller, named: Option<OrgId>) -> Result<OrgId, ApiError> {
    match named {
        Some(org) if org != caller.org && caller.org.as_str() != DEFAULT_ORG => {
            let (found, own) = (Found::quoted(org.as_str()), &caller.org);
            let error = format!("org: {found}, expected {own}: a key may name only its own organization");
            Err(ApiError::new(Code::Forbidden, error))
        }
        Some(org) => Ok(org),
        None => Ok(caller.org.clone()),
    }
}

/// Builds the reply to a retry. Only the id of the key is kept with the `Idempotency-Key`.
fn created_before(receipt: &Receipt) -> ApiError {
    let Receipt::ApiKey(id) = receipt else { return idempotency::foreign_receipt() };
    let error = format!(
        "this Idempotency-Key created the key {id}, which is shown only once: revoke it and create another, with another Idempotency-Key"
    );
    ApiError::new(Code::Conflict, error)
}

/// A page of keys.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeysReply {
    /// Keys, oldest first.
    data: Vec<KeyReply>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// A key in a list, without the key itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeyReply {
    id: Uuid,
    kind: KeyKind,
    label: Option<String>,
    org: OrgId,
    /// Last four characters of the key.
    last_four: String,
    created_at: Timestamp,
    /// Time of the last use, to the minute.
    last_used_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

impl KeyReply {
    fn of(key: ApiKey) -> Self {
        Self {
            id: key.key.id,
            kind: key.key.kind,
            label: key.key.label,
            org: key.key.org,
            last_four: key.key.last_four,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
        }
    }
}

/// List keys
///
/// Lists the keys of the caller's organization. A secret key of the default organization may name another one.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "list_keys",
    tag = "keys",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<Uuid>, Query, description = "`next_cursor` of the previous page"),
        ("org" = Option<OrgId>, Query, description = "The organization"),
    ),
    responses((status = 200, description = "A page of keys", body = KeysReply), ErrorReplies)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let limit = query.limit()?;
    let after = query.cursor_of(|text| Uuid::parse_str(text).ok())?;
    let org = resolve_org(&caller, query.get("org")?)?;
    let mut keys = of_org(&api, &org).await?;
    keys.retain(|key| after.is_none_or(|after| key.key.id > after));
    let more = keys.len() > limit;
    keys.truncate(limit);
    let next_cursor = keys.last().filter(|_| more).map(|last| last.key.id.to_string());
    let data = keys.into_iter().map(KeyReply::of).collect();
    Ok(reply(StatusCode::OK, &KeysReply { data, next_cursor }))
}

/// Reads the keys of an organization, oldest first.
pub(crate) async fn of_org(api: &Api, org: &OrgId) -> Result<Vec<ApiKey>, ApiError> {
    note_used_keys(api).await;
    let mut keys: Vec<ApiKey> =
        api.store.keys().await?.into_iter().filter(|key| key.key.org == *org).collect();
    // An id begins with the time of its creation, so this order is oldest first, and the cursor of a deleted key still works.
    keys.sort_unstable_by_key(|key| key.key.id);
    Ok(keys)
}

/// Revoke a key
///
/// Revokes a key of the caller's organization at once. A secret key of the default organization may revoke any key.
#[utoipa::path(
    delete,
    path = "/v1/keys/{id}",
    operation_id = "revoke_key",
    tag = "keys",
    params(("id" = String, Path, description = "Id of the key")),
    responses((status = 204, description = "The key is revoked"), ErrorReplies)
)]
pub(crate) async fn revoke(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let unknown = || ApiError::new(Code::NotFound, "there is no such key");
    let Path(text) = path.map_err(|_| unknown())?;
    let id = Uuid::parse_str(&text).map_err(|_| unknown())?;
    let known = api.store.keys().await?.into_iter().find(|key| key.key.id == id).ok_or_else(unknown)?;
    if resolve_org(&caller, Some(known.key.org.clone())).is_err() {
        return Err(unknown());
    }
    if !revoke_now(&api, &known.key.org, id).await? {
        return Err(unknown());
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Revokes a key of an organization at once, and ends every stream that it opened. Returns `false` if there is no such key.
pub(crate) async fn revoke_now(api: &Api, org: &OrgId, id: Uuid) -> Result<bool, ApiError> {
    let _changing = api.keys.changing.lock().await;
    let is_revoked = api.store.revoke_key(org, id).await?;
    if is_revoked {
        api.keys.revoke(id);
        api.changes.recheck_keys();
    }
    Ok(is_revoked)
}
