//! `/v1/keys`: API keys. All of it takes a secret key.
//!
//! A key is shown once and never stored: the store has its hash. So a retry with the same `Idempotency-Key` creates nothing, and cannot show
//! the key again either. It is refused with the id of the first key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use renown_core::ids::OrgId;
use renown_core::json::{self, Found};
use renown_core::time::Timestamp;
use renown_store::{ApiKey, DEFAULT_ORG, KeyKind, NewKey, RequestKey, SavedReply};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::Refused;
use super::shapes::OrgName;
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Begun};
use crate::keys::{Caller, KeyText};
use crate::query::Query;
use crate::reply::json as reply;

const LABEL_CHARS_MAX: usize = 200;

/// A key that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CreateKeyRequest)]
pub(crate) struct CreateRequest {
    #[serde(deserialize_with = "kind")]
    #[schema(value_type = Kind)]
    kind: KeyKind,
    /// What its owner calls it.
    #[schema(max_length = 200)]
    label: Option<String>,
    /// Its organization, which is made when it is new; the caller's own if absent.
    #[schema(value_type = Option<OrgName>)]
    org: Option<OrgId>,
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyKind, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(|error| serde::de::Error::custom(format_args!("{}, {error}", Found::quoted(&text))))
}

/// What a key may do: send evidence and read scores, or also administer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(as = KeyKind)]
pub(crate) enum Kind {
    Publishable,
    Secret,
}

/// A new key. It is shown this once.
#[derive(Serialize, ToSchema)]
#[schema(as = CreateKeyReply)]
pub(crate) struct CreateReply {
    #[schema(value_type = String, format = Uuid)]
    id: Uuid,
    key: String,
    #[schema(value_type = Kind)]
    kind: KeyKind,
    #[schema(value_type = String)]
    org: OrgId,
}

/// Make a key
///
/// A secret key of the default organization may name any organization, others only their own. The key itself is never stored, so a retry
/// with the same `Idempotency-Key` cannot return it: it is 409 with the id of the key that the first request created.
#[utoipa::path(
    post,
    path = "/v1/keys",
    operation_id = "create_key",
    tag = "keys",
    request_body = CreateRequest,
    responses((status = 201, description = "The key, shown this once", body = CreateReply), Refused)
)]
pub(crate) async fn create(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    caller.administers()?;
    let (parts, body) = request.into_parts();
    let (body, ticket) =
        match idempotency::begin(&api, &caller.org, "POST /v1/keys", &parts.headers, body).await? {
            Begun::Replay(saved) => return Err(created_before(&saved)),
            Begun::Fresh(body, ticket) => (body, ticket),
        };
    let request: CreateRequest = json::parse_strict(&body)?;
    let org = reach(&caller, request.org)?;
    let (key, new) = make(&api, org, request.kind, request.label)?;
    let shown =
        CreateReply { id: new.id, key: key.reveal().to_owned(), kind: request.kind, org: new.org.clone() };
    let id = new.id;
    let once = ticket.once::<ApiKey>(|| Box::new(move |_| (201, id.to_string().into_bytes())));
    add(&api, new, once).await?;
    Ok(reply(StatusCode::CREATED, &shown))
}

/// A new key, and what is to be kept of it.
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
    let no_randomness = |_| ApiError::new(Code::StoreUnavailable, "there is no randomness for a key now");
    let key = KeyText::generate(kind).map_err(no_randomness)?;
    let new = key.to_new(org, label, api.now()?).map_err(no_randomness)?;
    Ok((key, new))
}

/// Keeps a new key; from here on it can be used.
pub(crate) async fn add(api: &Api, new: NewKey, once: Option<RequestKey<ApiKey>>) -> Result<(), ApiError> {
    let _changing = api.keys.changing.lock().await;
    let added = api.store.create_key(new, once).await?;
    api.keys.set(&added);
    Ok(())
}

/// The organization that is meant, if the caller may reach it.
fn reach(caller: &Caller, named: Option<OrgId>) -> Result<OrgId, ApiError> {
    match named {
        Some(org) if org != caller.org && caller.org.as_str() != DEFAULT_ORG => {
            let (found, own) = (Found::quoted(org.as_str()), &caller.org);
            let error = format!("org: {found}, expected {own}: a key may name its own organization only");
            Err(ApiError::new(Code::Forbidden, error))
        }
        Some(org) => Ok(org),
        None => Ok(caller.org.clone()),
    }
}

/// The reply to a retry. Only the id of the key was stored with the `Idempotency-Key`.
fn created_before(saved: &SavedReply) -> ApiError {
    let id = String::from_utf8_lossy(&saved.body);
    let error = format!(
        "this Idempotency-Key created the key {id}, which is shown only once: revoke it and create another, with another Idempotency-Key"
    );
    ApiError::new(Code::Conflict, error)
}

/// A page of keys.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeysReply {
    /// The oldest first.
    data: Vec<KeyReply>,
    /// Where the next page begins; null on the last one.
    next_cursor: Option<String>,
}

/// A key as it is listed: never the key itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeyReply {
    #[schema(value_type = String, format = Uuid)]
    id: Uuid,
    #[schema(value_type = Kind)]
    kind: KeyKind,
    label: Option<String>,
    #[schema(value_type = String)]
    org: OrgId,
    /// Its last four characters.
    last_four: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// To the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
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
/// Of the caller's organization; a secret key of the default organization may name another.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "list_keys",
    tag = "keys",
    params(
        ("limit" = Option<u32>, Query, description = "How many at most", minimum = 1, maximum = 100),
        ("cursor" = Option<Uuid>, Query, description = "The `next_cursor` of the page before"),
        ("org" = Option<OrgName>, Query, description = "The organization"),
    ),
    responses((status = 200, description = "A page of keys", body = KeysReply), Refused)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    caller.administers()?;
    let limit = query.limit()?;
    let after = query.cursor(|text| Uuid::parse_str(text).ok())?;
    let org = reach(&caller, query.get("org")?)?;
    let mut keys = of_org(&api, &org).await?;
    keys.retain(|key| after.is_none_or(|after| key.key.id > after));
    let more = keys.len() > limit;
    keys.truncate(limit);
    let next_cursor = keys.last().filter(|_| more).map(|last| last.key.id.to_string());
    let data = keys.into_iter().map(KeyReply::of).collect();
    Ok(reply(StatusCode::OK, &KeysReply { data, next_cursor }))
}

/// The keys of an organization, the oldest first.
pub(crate) async fn of_org(api: &Api, org: &OrgId) -> Result<Vec<ApiKey>, ApiError> {
    api.note_used_keys().await;
    let mut keys: Vec<ApiKey> =
        api.store.keys().await?.into_iter().filter(|key| key.key.org == *org).collect();
    // An id begins with the time when it was made, so this is the oldest first, and a page goes on after a key that is gone.
    keys.sort_unstable_by_key(|key| key.key.id);
    Ok(keys)
}

/// Revoke a key
///
/// At once. Of the caller's organization; a secret key of the default organization may revoke any.
#[utoipa::path(
    delete,
    path = "/v1/keys/{id}",
    operation_id = "revoke_key",
    tag = "keys",
    params(("id" = String, Path, description = "The id of the key")),
    responses((status = 204, description = "The key is revoked"), Refused)
)]
pub(crate) async fn revoke(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Response, ApiError> {
    caller.administers()?;
    let unknown = || ApiError::new(Code::NotFound, "there is no such key");
    let Path(text) = path.map_err(|_| unknown())?;
    let id = Uuid::parse_str(&text).map_err(|_| unknown())?;
    let known = api.store.keys().await?.into_iter().find(|key| key.key.id == id).ok_or_else(unknown)?;
    if reach(&caller, Some(known.key.org.clone())).is_err() {
        return Err(unknown());
    }
    if !end(&api, &known.key.org, id).await? {
        return Err(unknown());
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Ends a key of an organization at once, and every stream that it opened; whether there was such a key.
pub(crate) async fn end(api: &Api, org: &OrgId, id: Uuid) -> Result<bool, ApiError> {
    let _changing = api.keys.changing.lock().await;
    let ended = api.store.revoke_key(org, id).await?;
    if ended {
        api.keys.revoke(id);
        api.feed.look_again();
    }
    Ok(ended)
}
