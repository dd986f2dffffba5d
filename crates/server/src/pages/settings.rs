//! `/settings`: the settings of an organization, for administrators.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use hyper::{HeaderMap, Uri};
use renown_pages::Section;
use renown_pages::settings::{SettingsPage, render};
use renown_store::{LatencySource, OrgSettings};

use super::form::Form;
use super::reply::{Page, html};
use super::visits::Visit;
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::error::ApiError;

/// Shows the page.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    visit.check_administers()?;
    show(&api, &headers, &visit, false).await
}

/// Changes the settings.
pub(super) async fn change(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap, body: Body) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let form = Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    let latency_source = form.get("latency_source").and_then(LatencySource::named);
    let bad = || ApiError::invalid("latency_source: expected gate or agent");
    let settings = OrgSettings { latency_source: latency_source.ok_or_else(bad)? };
    api.store.set_settings(&visit.org, settings).await?;
    show(&api, &headers, &visit, true).await
}

async fn show(api: &Api, headers: &HeaderMap, visit: &Visit, saved: bool) -> Page {
    let settings = api.store.settings(&visit.org).await?;
    let origin = origin(headers);
    let shell = shell(api, Some(visit), &origin, Section::Settings);
    let page = SettingsPage {
        org: visit.org.as_str(),
        latency_source: settings.latency_source.name(),
        saved,
        server: &server(api),
    };
    html(render(&shell, &page))
}

/// Lists the settings of the server, by their names in `renown.toml`.
fn server(api: &Api) -> Vec<(&'static str, String)> {
    let days = |days: Option<u32>| days.map_or("for ever".to_owned(), |days| format!("{days} days"));
    let port = |port: Option<u16>| port.map_or("off".to_owned(), |port| format!("port {port}"));
    let ports = api.otlp_ports.get().copied().unwrap_or_default();
    vec![
        ("pages.attention_below", api.attention_below.to_string()),
        ("gates.evaluate", api.engine.names().collect::<Vec<_>>().join(", ")),
        ("otlp.grpc", port(ports.grpc)),
        ("otlp.http", port(ports.http)),
        ("retention.evaluations", days(api.retention.evaluations_days)),
        ("retention.sessions", days(api.retention.sessions_days)),
        ("retention.runs", days(api.retention.runs_days)),
    ]
}
