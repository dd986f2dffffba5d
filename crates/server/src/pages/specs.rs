//! `/specs` and `/specs/{spec_id}`: the list of specs, and the page of a spec.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::ids::SpecId;
use renown_pages::Section;
use renown_pages::specs::{ROWS, SpecList, SpecPage, SpecRow, render, render_one};
use renown_view::runs::{Competition, RankedRun};

use super::list_query::{A_CURSOR, ListQuery};
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
    let shell = shell(&api, Some(&visit), &origin, Section::Specs);
    let mut parameters = ListQuery::of(query);
    let after: Option<SpecId> = parameters.get("after", A_CURSOR);
    let is_first = after.is_none();
    let page = api.store.specs(&visit.org, after, ROWS).await?;
    let rows: Vec<SpecRow<'_>> = page
        .specs
        .iter()
        .map(|spec| SpecRow {
            spec: &spec.spec,
            runs: spec.runs,
            agents: spec.agents,
            finished_at: spec.finished_at,
            best: RankedRun::first(&spec.best),
            outcome: spec.best.run.report.outcome.name(),
        })
        .collect();
    let shown = SpecList { specs: &rows, ignored: parameters.ignored(), is_first, next: page.next.as_ref() };
    html(render(&shell, &shown))
}

/// Shows one spec.
pub(super) async fn page(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap, path: Segment) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Specs);
    let unknown = || PageError::not_found("there is no run for a spec with this id");
    let spec: SpecId = segment(path, "spec_id").map_err(|_| unknown())?;
    let ranking = api.store.competition(&visit.org, &spec).await?;
    if ranking.attempts.is_empty() {
        return Err(unknown());
    }
    html(render_one(&shell, &SpecPage { competition: &Competition::of(&spec, &ranking) }))
}
