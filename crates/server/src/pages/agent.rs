//! `/agents/{id}`: the page of an agent, and the switch that shows it to everybody.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use hyper::{HeaderMap, Uri};
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::{Day, Timestamp};
use renown_pages::agent::{AgentPage, Audience, render};
use renown_pages::{Section, Shell, text};
use renown_store::EventQuery;
use renown_view::{AgentBreakdown, AgentFacts, EvaluationView};

use super::form::Form;
use super::reply::{Page, PageError, html, see};
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::routes::paths::Segment;
use crate::routes::reputation::agent_of;
use crate::routes::standing;

/// Days of the chart, and of a week.
const MONTH: u32 = 30;
const WEEK: u32 = 7;

/// The page.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, path: Segment, headers: HeaderMap) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Overview);
    let agent = agent_of(path)?;
    show(&api, &shell, &visit.org, agent, Audience::Member).await
}

/// The page of an agent for some audience.
pub(super) async fn show(
    api: &Api,
    shell: &Shell<'_>,
    org: &OrgId,
    agent: AgentId,
    audience: Audience,
) -> Page {
    let read = Read::of(api, org, agent, shell.now).await?;
    if read.facts.known.is_none() {
        return Err(PageError::not_found(format!("there is no agent {:?}", read.facts.agent.as_str())));
    }
    let (standing, why) = (read.facts.standing(), read.window.explain());
    let identity = read.facts.identity.breakdown().explain();
    let page = AgentPage {
        audience,
        standing: &standing,
        why: &why,
        latest: &read.latest,
        month: &read.month,
        week: &read.week,
        identity: &identity,
    };
    html(render(shell, &page))
}

/// What the page reads of the store.
struct Read {
    facts: AgentFacts,
    window: renown_core::reputation::Window,
    latest: Vec<EvaluationView>,
    month: AgentBreakdown,
    week: AgentBreakdown,
}

impl Read {
    async fn of(api: &Api, org: &OrgId, agent: AgentId, now: Timestamp) -> Result<Self, PageError> {
        let today = Day::of(now);
        let (month, week) = (today.back(MONTH - 1), today.back(WEEK - 1));
        let query = EventQuery { agent: Some(agent.clone()), limit: WINDOW_SIZE, ..EventQuery::default() };
        let (facts, latest, window, in_month, in_week) = tokio::join!(
            standing::facts(api, org, agent.clone(), now),
            api.store.events(org, query),
            api.store.window(org, &agent),
            api.store.agent_days(org, &agent, month, today),
            api.store.agent_days(org, &agent, week, today),
        );
        Ok(Self {
            facts: facts?,
            window: window?,
            latest: latest?.events.iter().map(EvaluationView::of).collect(),
            month: AgentBreakdown::of(agent.clone(), month, today, in_month?),
            week: AgentBreakdown::of(agent, week, today, in_week?),
        })
    }
}

/// Shows an agent to everybody, or no longer.
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
    Ok(see(&format!("/agents/{}", text::segment(agent.as_str()))))
}
