//! `/v1/settings`: the settings of an organization. All routes need a secret key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::json::{self, Found};
use renown_store::{LatencySource, OrgSettings};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::ErrorReplies;
use crate::api::Api;
use crate::body::read_json;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::reply::json as reply;

/// The settings of an organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsReply {
    latency_source: LatencySource,
}

/// The settings to change. Absent settings stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsRequest {
    #[serde(default, deserialize_with = "source")]
    latency_source: Option<LatencySource>,
}

fn source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LatencySource>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let refused =
        || serde::de::Error::custom(format_args!("{}, expected gate or agent", Found::quoted(&text)));
    LatencySource::named(&text).map(Some).ok_or_else(refused)
}

fn shown(settings: OrgSettings) -> Response {
    reply(StatusCode::OK, &SettingsReply { latency_source: settings.latency_source })
}

/// Read the settings
#[utoipa::path(
    get,
    path = "/v1/settings",
    operation_id = "get_settings",
    tag = "operations",
    responses((status = 200, description = "The settings of the caller's organization", body = SettingsReply), ErrorReplies)
)]
pub(crate) async fn read(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    Ok(shown(api.store.settings(&caller.org).await?))
}

/// Change the settings
///
/// The new settings apply from the next evaluation on. Existing scores do not change.
#[utoipa::path(
    patch,
    path = "/v1/settings",
    operation_id = "update_settings",
    tag = "operations",
    request_body = SettingsRequest,
    responses((status = 200, description = "The new settings", body = SettingsReply), ErrorReplies)
)]
pub(crate) async fn change(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let body = read_json(&headers, body, api.limits.body_time_max).await?;
    let SettingsRequest { latency_source } = json::parse_strict(&body)?;
    let Some(latency_source) = latency_source else {
        return Ok(shown(api.store.settings(&caller.org).await?));
    };
    let settings = OrgSettings { latency_source };
    api.store.set_settings(&caller.org, settings).await?;
    Ok(shown(settings))
}
