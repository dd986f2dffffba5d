//! `/evaluations`: the list of evaluations.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::ids::{AgentId, ToolName};
use renown_core::time::Day;
use renown_pages::Section;
use renown_pages::evaluations::{EvaluationFilter, EvaluationList, ROWS, render};
use renown_store::{Cursor, EvaluationQuery};
use renown_view::EvaluationView;

use super::list_query::{A_CURSOR, AN_ID, ListQuery, last_moment};
use super::reply::{Page, html};
use super::{origin, shell, visitor};
use crate::api::Api;

/// Shows the list.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Evaluations);
    let mut parameters = ListQuery::of(query);
    let agent: Option<AgentId> = parameters.get("agent", AN_ID);
    let tool: Option<ToolName> = parameters.get("tool", "at most 200 characters");
    let gate: Option<String> = parameters.get("gate", "the name of a gate");
    let passed = parameters.read("verdict", "passed or failed", |text| match text {
        "passed" => Some(true),
        "failed" => Some(false),
        _ => None,
    });
    let (from, to) = (parameters.day("from"), parameters.day("to"));
    let before = parameters.read("cursor", A_CURSOR, Cursor::from_text);
    // With the verdict "failed", the gate filter selects evaluations that this gate failed, not all that have a result of it.
    let (failed_gate, has_result_of) =
        if passed == Some(false) { (gate.clone(), None) } else { (None, gate.clone()) };
    let query = EvaluationQuery {
        agent: agent.clone(),
        tool: tool.clone(),
        gate: has_result_of,
        failed_gate,
        passed,
        from: from.map(Day::start),
        to: to.map(last_moment),
        before,
        offset: 0,
        limit: ROWS,
    };
    let page = api.store.evaluations(&visit.org, query).await?;
    let evaluations: Vec<EvaluationView> = page.evaluations.iter().map(EvaluationView::of).collect();
    let next = page.next.map(|next| next.to_text());
    let shown = EvaluationList {
        evaluations: &evaluations,
        filter: EvaluationFilter {
            agent: agent.as_ref().map_or("", AgentId::as_str),
            tool: tool.as_ref().map_or("", ToolName::as_str),
            gate: gate.as_deref().unwrap_or_default(),
            passed,
            from,
            to,
        },
        ignored: parameters.ignored(),
        is_first: before.is_none(),
        next: next.as_deref(),
    };
    html(render(&shell, &shown))
}
