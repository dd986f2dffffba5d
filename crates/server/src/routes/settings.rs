//! `/v1/settings`: what an organization has chosen. All of it takes a secret key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::json::{self, Found};
use renown_store::{LatencySource, OrgSettings};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::Refused;
use crate::api::Api;
use crate::body::read_json;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::reply::json as reply;

/// The settings of an organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsReply {
    #[schema(value_type = LatencySourceName)]
    latency_source: &'static str,
}

/// Whose latency counts for reputations: that of the gates, or that of the agent where the caller says it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = LatencySource)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum LatencySourceName {
    Gate,
    Agent,
}

/// Settings that change; what is absent stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsRequest {
    #[serde(default, deserialize_with = "source")]
    #[schema(value_type = Option<LatencySourceName>)]
    latency_source: Option<LatencySource>,
}

fn source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LatencySource>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let refused =
        || serde::de::Error::custom(format_args!("{}, expected gate or agent", Found::quoted(&text)));
    LatencySource::named(&text).map(Some).ok_or_else(refused)
}

fn shown(settings: OrgSettings) -> Response {
    reply(StatusCode::OK, &SettingsReply { latency_source: settings.latency_source.name() })
}

/// Read the settings
#[utoipa::path(
    get,
    path = "/v1/settings",
    operation_id = "get_settings",
    tag = "operations",
    responses((status = 200, description = "The settings of the caller's organization", body = SettingsReply), Refused)
)]
pub(crate) async fn read(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Result<Response, ApiError> {
    caller.administers()?;
    Ok(shown(api.store.settings(&caller.org).await?))
}

/// Change the settings
///
/// They count from the next evaluation on; no score that was given changes.
#[utoipa::path(
    patch,
    path = "/v1/settings",
    operation_id = "update_settings",
    tag = "operations",
    request_body = SettingsRequest,
    responses((status = 200, description = "The settings as they are now", body = SettingsReply), Refused)
)]
pub(crate) async fn change(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.administers()?;
    let body = read_json(&headers, body, api.limits.body_time_max).await?;
    let SettingsRequest { latency_source } = json::parse_strict(&body)?;
    let Some(latency_source) = latency_source else {
        return Ok(shown(api.store.settings(&caller.org).await?));
    };
    let settings = OrgSettings { latency_source };
    api.store.set_settings(&caller.org, settings).await?;
    Ok(shown(settings))
}
