//! `/`: the overview of an organization.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::ids::OrgId;
use renown_core::reputation::Lifecycle;
use renown_core::time::{Day, Timestamp};
use renown_pages::attention::{self, Cause, Count};
use renown_pages::overview::{Attention, Filter, OverviewPage, ROWS, render};
use renown_pages::{Section, text};
use renown_store::{AgentCursor, AgentQuery, AgentSort, Cursor, EvaluationQuery, OVERVIEW_DAYS};
use renown_view::{AgentsPage, EvaluationView, Overview};

use super::reply::{Page, PageError, html};
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::routes::agents;

/// Number of latest evaluations that an item shows.
const MARKS: usize = 50;

/// Number of agents with the lowest scores that are considered for attention.
const LOWEST: usize = 8;

/// Shows the page.
pub(super) async fn page(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Overview);
    let parameters = OverviewQuery::of(query.as_deref().unwrap_or_default());
    let (now, today) = (shell.now, Day::of(shell.now));
    let days = Some((today.back(OVERVIEW_DAYS - 1), today));
    let lowest = AgentQuery { sort: AgentSort::Lowest, limit: LOWEST, ..AgentQuery::default() };
    let (found, page, lowest) = tokio::join!(
        api.store.overview(&visit.org, today),
        agents::page(&api, &visit.org, parameters.query(now)?, days, now),
        agents::page(&api, &visit.org, lowest, None, now),
    );
    let (found, page) = (found?, page?);
    let overview = Overview::of(today, found, Vec::new());
    let attention = attention(&api, &visit.org, &overview, &lowest?).await?;
    let ports = api.otlp_ports.get().copied().unwrap_or_default();
    let next = page.next_cursor.as_deref().map(|cursor| parameters.next(cursor, page.agents.len()));
    let shown = OverviewPage {
        overview: &overview,
        attention,
        threshold: api.attention_below,
        agents: &page.agents,
        first: parameters.first,
        next,
        filter: Filter {
            q: &parameters.q,
            sort: &parameters.sort,
            lifecycle: &parameters.lifecycle,
            seen: &parameters.seen,
        },
        otlp: [ports.grpc, ports.http],
    };
    html(render(&shell, &shown))
}

/// Chooses what needs attention, and reads the latest evaluations of these agents. Also counts all that needs attention.
async fn attention(
    api: &Api,
    org: &OrgId,
    overview: &Overview,
    lowest: &AgentsPage,
) -> Result<(Vec<Attention>, Count), PageError> {
    let has_more = lowest.next_cursor.is_some();
    let (causes, count) = attention::choose(overview, &lowest.agents, has_more, api.attention_below);
    let mut items = Vec::with_capacity(causes.len());
    for cause in causes {
        items.push(detail(api, org, cause).await?);
    }
    Ok((items, count))
}

async fn detail(api: &Api, org: &OrgId, cause: Cause) -> Result<Attention, PageError> {
    let Some(agent) = cause.agent().cloned() else {
        return Ok(Attention { cause, latest: Vec::new(), parts: None });
    };
    let query = EvaluationQuery { agent: Some(agent.clone()), limit: MARKS, ..EvaluationQuery::default() };
    let (latest, tally) = tokio::join!(api.store.evaluations(org, query), api.store.tally(org, &agent));
    let latest = latest?.evaluations.iter().map(EvaluationView::of).collect();
    Ok(Attention { cause, latest, parts: Some(tally?.breakdown().explain()) })
}

/// The query parameters of the overview.
struct OverviewQuery {
    q: String,
    sort: String,
    lifecycle: String,
    seen: String,
    cursor: Option<String>,
    /// Rank of the first agent on the page, from 1.
    first: usize,
}

impl OverviewQuery {
    fn of(query: &str) -> Self {
        let get = |name: &str| {
            form_urlencoded::parse(query.as_bytes())
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.into_owned())
        };
        let one_of = |name: &str, known: &[&str]| {
            get(name).filter(|value| known.contains(&value.as_str())).unwrap_or_default()
        };
        let sort = one_of("sort", &["score", "last_seen", "name", "evaluations"]);
        Self {
            q: get("q").unwrap_or_default(),
            sort: if sort.is_empty() { "score".to_owned() } else { sort },
            lifecycle: one_of("lifecycle", &["new", "calibrating", "active", "mature"]),
            seen: one_of("seen", &["today", "30d"]),
            cursor: get("cursor"),
            first: get("first").and_then(|first| first.parse().ok()).filter(|first| *first > 0).unwrap_or(1),
        }
    }

    fn query(&self, now: Timestamp) -> Result<AgentQuery, PageError> {
        let today = Day::of(now);
        let after = match &self.cursor {
            None => None,
            Some(text) => {
                let bad =
                    || PageError::not_found("cursor: not a cursor of this list; open the first page again");
                Some(AgentCursor::from_text(text).ok_or_else(bad)?)
            }
        };
        Ok(AgentQuery {
            text: Some(self.q.clone()).filter(|q| !q.is_empty()),
            sort: match self.sort.as_str() {
                "last_seen" => AgentSort::LastSeen,
                "name" => AgentSort::Name,
                "evaluations" => AgentSort::Evaluations,
                _ => AgentSort::Score,
            },
            lifecycle: match self.lifecycle.as_str() {
                "new" => Some(Lifecycle::New),
                "calibrating" => Some(Lifecycle::Calibrating),
                "active" => Some(Lifecycle::Active),
                "mature" => Some(Lifecycle::Mature),
                _ => None,
            },
            seen_since: match self.seen.as_str() {
                "today" => Some(today.start()),
                "30d" => Some(today.back(OVERVIEW_DAYS - 1).start()),
                _ => None,
            },
            after,
            limit: ROWS,
        })
    }

    /// Returns the address of the next page.
    fn next(&self, cursor: &str, shown: usize) -> String {
        let first = (self.first + shown).to_string();
        let parts = [
            ("q", self.q.as_str()),
            ("sort", &self.sort),
            ("lifecycle", &self.lifecycle),
            ("seen", &self.seen),
            ("cursor", cursor),
            ("first", &first),
        ];
        let pairs: Vec<String> = parts
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", text::segment(value)))
            .collect();
        format!("/?{}", pairs.join("&"))
    }
}
