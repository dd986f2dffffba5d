//! `/runs` and `/runs/{run_id}`: the list of runs, and the page of a run.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{FORMULA_VERSION, Tier};
use renown_pages::Section;
use renown_pages::run::RunPage;
use renown_pages::runs::{ROWS, RunFilter, RunList, render};
use renown_store::{Cursor, RunQuery};
use renown_view::RunView;

use super::list_query::{A_CURSOR, AN_ID, ListQuery};
use super::reply::{Page, PageError, html};
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::routes::paths::{Segment, segment};

/// Shows the list.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Runs);
    let mut parameters = ListQuery::of(query);
    let agent: Option<AgentId> = parameters.get("agent", AN_ID);
    let workspace: Option<Workspace> = parameters.get("workspace", AN_ID);
    let spec: Option<SpecId> = parameters.get("spec", AN_ID);
    let tier: Option<Tier> = parameters.get("tier", "Unranked, Bronze, Silver, Gold or Elite");
    let before = parameters.read("cursor", A_CURSOR, Cursor::from_text);
    let query = RunQuery {
        agent: agent.clone(),
        workspace: workspace.clone(),
        spec: spec.clone(),
        tier,
        before,
        limit: ROWS,
        ..RunQuery::default()
    };
    let page = api.store.runs(&visit.org, query).await?;
    let runs: Vec<RunView<'_>> = page.runs.iter().map(RunView::of).collect();
    let next = page.next.map(|next| next.to_text());
    let shown = RunList {
        runs: &runs,
        filter: RunFilter {
            agent: agent.as_ref().map_or("", AgentId::as_str),
            workspace: workspace.as_ref().map_or("", Workspace::as_str),
            spec: spec.as_ref().map_or("", SpecId::as_str),
            tier,
        },
        ignored: parameters.ignored(),
        is_first: before.is_none(),
        next: next.as_deref(),
    };
    html(render(&shell, &shown))
}

/// Shows one run.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap, path: Segment) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Runs);
    let unknown = || PageError::not_found("there is no run with this id");
    let id: RunId = segment(path, "run_id").map_err(|_| unknown())?;
    let run = api.store.run(&visit.org, &id).await?.ok_or_else(unknown)?;
    // This version of the formula cannot explain a score of another version.
    let scored = run.scored.as_ref().filter(|scored| scored.formula_version == FORMULA_VERSION);
    let explanation = scored.map(|scored| run.report.breakdown(scored.baseline).explain());
    html(renown_pages::run::render(&shell, &RunPage { run: &RunView::of(&run), explanation }))
}
