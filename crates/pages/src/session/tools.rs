//! The tools of a session, with their calls and failures.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use renown_view::records::FactKind;

use super::Timeline;

/// Maximum number of tools.
const SHOWN: usize = 12;

/// The tools of the drawn part.
pub(super) struct Tools<'a> {
    pub(super) rows: Vec<Tool<'a>>,
    pub(super) left_out: usize,
    /// Number of calls of the most used tool, for the scale.
    pub(super) most: u64,
    /// Number of calls without a reported result.
    pub(super) unclear: u64,
    /// Whether the part is the whole session.
    pub(super) is_whole: bool,
}

/// A tool.
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) calls: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
}

impl<'a> Tools<'a> {
    pub(super) fn of(timeline: &Timeline<'a>) -> Self {
        let mut by_name: BTreeMap<&str, Tool<'a>> = BTreeMap::new();
        let calls = timeline.facts.iter().filter(|happened| happened.fact.kind == FactKind::ToolResult);
        for happened in calls {
            let name = happened.fact.tool.as_deref().unwrap_or("unnamed");
            let tool = by_name.entry(name).or_insert(Tool { name, calls: 0, ok: 0, failed: 0 });
            tool.calls += 1;
            tool.ok += u64::from(happened.fact.ok == Some(true));
            tool.failed += u64::from(happened.fact.ok == Some(false));
        }
        let mut rows: Vec<Tool<'a>> = by_name.into_values().collect();
        rows.sort_by_key(|tool| (Reverse(tool.calls), tool.name));
        let unclear = rows.iter().map(|tool| tool.calls - tool.ok - tool.failed).sum();
        let most = rows.first().map_or(1, |tool| tool.calls);
        let left_out = rows.len().saturating_sub(SHOWN);
        rows.truncate(SHOWN);
        Self { rows, left_out, most, unclear, is_whole: timeline.is_whole }
    }
}
