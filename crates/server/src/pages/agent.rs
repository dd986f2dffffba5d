//! `/agents/{agent_id}`: the page of an agent, and the form that publishes it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use hyper::{HeaderMap, Uri};
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::Day;
use renown_pages::agent::{Audience, render};
use renown_pages::{Section, Shell, text};
use renown_store::EvaluationQuery;
use renown_view::AgentHistory;

use super::form::Form;
use super::reply::{Page, PageError, html, redirect};
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::routes::paths::Segment;
use crate::routes::reputation::agent_of;
use crate::routes::standing;

/// Shows the page to a logged-in user.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, path: Segment, headers: HeaderMap) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Overview);
    let agent = agent_of(path)?;
    show(&api, &shell, &visit.org, agent, Audience::Member).await
}

/// Renders the page of an agent for an audience.
pub(super) async fn show(
    api: &Api,
    shell: &Shell<'_>,
    org: &OrgId,
    agent: AgentId,
    audience: Audience,
) -> Page {
    let today = Day::of(shell.now);
    let [month, week] = AgentHistory::first_days(today);
    let query =
        EvaluationQuery { agent: Some(agent.clone()), limit: WINDOW_SIZE, ..EvaluationQuery::default() };
    let (facts, latest, in_month, in_week) = tokio::join!(
        standing::facts(api, org, agent.clone(), shell.now),
        api.store.evaluations(org, query),
        api.store.agent_days(org, &agent, month, today),
        api.store.agent_days(org, &agent, week, today),
    );
    let facts = facts?;
    if facts.known.is_none() {
        return Err(PageError::not_found(format!("there is no agent {:?}", agent.as_str())));
    }
    let history = AgentHistory::of(&agent, today, &latest?.evaluations, in_month?, in_week?);
    html(render(shell, &facts, &history, audience))
}

/// Publishes or unpublishes an agent.
pub(super) async fn set_public(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let form = Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    let agent = agent_of(path)?;
    let public = form.get("public").is_some();
    standing::set_public(&api, &visit.org, &agent, Some(public), None).await?;
    Ok(redirect(&format!("/agents/{}", text::segment(agent.as_str()))))
}
