//! `/keys`: API keys, for administrators.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use hyper::{HeaderMap, Uri};
use renown_pages::Section;
use renown_pages::keys::{KeyRow, KeysPage, render};
use renown_store::{ApiKey, KeyKind};
use uuid::Uuid;

use super::form::Form;
use super::reply::{Page, PageError, html, redirect};
use super::visits::Visit;
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::error::ApiError;
use crate::routes::keys;
use crate::routes::paths::{Segment, segment};

/// Shows the page.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    visit.check_administers()?;
    show(&api, &headers, &visit, None).await
}

/// Creates a key and shows it once.
pub(super) async fn create(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap, body: Body) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let form = Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    let kind = form.get("kind").unwrap_or_default().parse::<KeyKind>();
    let kind = kind.map_err(|error| ApiError::invalid(format!("kind: {error}")))?;
    let label = form.get("label").map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned);
    let (key, new) = keys::make(&api, visit.org.clone(), kind, label)?;
    keys::add(&api, new, None).await?;
    show(&api, &headers, &visit, Some(key.reveal())).await
}

/// Revokes a key at once.
pub(super) async fn revoke(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    let id: Uuid = segment(path, "id")?;
    if !keys::revoke_now(&api, &visit.org, id).await? {
        return Err(PageError::not_found("there is no such key"));
    }
    Ok(redirect("/keys"))
}

async fn show(api: &Api, headers: &HeaderMap, visit: &Visit, made: Option<&str>) -> Page {
    let rows: Vec<KeyRow> = keys::of_org(api, &visit.org).await?.into_iter().rev().map(row).collect();
    let origin = origin(headers);
    let shell = shell(api, Some(visit), &origin, Section::Keys);
    html(render(&shell, &KeysPage { keys: &rows, made, problem: None }))
}

fn row(key: ApiKey) -> KeyRow {
    KeyRow {
        id: key.key.id.to_string(),
        kind: key.key.kind.name(),
        label: key.key.label,
        last_four: key.key.last_four,
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        revoked_at: key.revoked_at,
    }
}
