//! `renown sessions records`: shows the records of a session in order of time.

use std::fmt::Write as _;

use renown_core::decimal::Decimal;
use renown_core::ids::{OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_store::{ReadError, ReadOnlyStore, SessionRecord, StoredSession};
use renown_telemetry::facts::{ApiRequest, Cost, Decider, Fact, Signal, Tokens};
use renown_telemetry::ledger::Session as Ledger;
use renown_view::RecordView;

use crate::args::{ReadArgs, TextFormatArg};
use crate::as_json;
use crate::failure::{Failure, printable};
use crate::numbers::{dollars, milliseconds};
use crate::store_location::ask;
use crate::table::{cell, counted, fitted, left, right, terminal_width};

/// Number of records per read.
const PAGE: usize = 1000;

pub(super) fn show(session: &SessionId, limit: usize, read: &ReadArgs) -> Result<String, Failure> {
    let store = read.location.resolve()?.read()?;
    let found = ask(find(&*store, &read.org, session))?;
    let (session, records) = found.ok_or_else(|| {
        Failure::new(format!("no session {:?} in {}", session.as_str(), read.org))
            .hint("`renown sessions list` lists them")
    })?;
    match read.format {
        TextFormatArg::Json => {
            as_json(&records.into_iter().take(limit).map(RecordView::of).collect::<Vec<_>>())
        }
        TextFormatArg::Text => {
            let rows: Vec<RecordRow> = records.iter().take(limit).flat_map(rows).collect();
            Ok(text(&session, &records, &rows, records.len().saturating_sub(limit)))
        }
    }
}

/// Reads a session and all its records, by time. The store has spans in another order, so all records are read before sorting.
async fn find(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    id: &SessionId,
) -> Result<Option<(StoredSession, Vec<SessionRecord>)>, ReadError> {
    let Some(session) = store.session(org, id, false).await? else { return Ok(None) };
    let (mut records, mut after) = (Vec::new(), None);
    while let Some(page) = store.session_records(org, id, after, PAGE).await? {
        records.extend(page.records);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    records.sort_by_key(|record| record.at);
    Ok(Some((session, records)))
}

/// One line of the timeline: a fact of a record.
#[derive(Debug, Default)]
struct RecordRow {
    at: Option<Timestamp>,
    kind: &'static str,
    /// The tool, or the model.
    name: Option<String>,
    ok: Option<bool>,
    duration_ms: Option<Decimal<3>>,
    cost_usd: Option<Decimal<9>>,
    tokens: Option<u64>,
    note: Option<String>,
}

/// Returns one row per fact of a record. A record without facts has one row too.
fn rows(record: &SessionRecord) -> Vec<RecordRow> {
    let of_kind = |kind| RecordRow { at: record.at, kind, ..RecordRow::default() };
    let ms = |us: &u64| Decimal::from_units(i128::from(*us));
    let row = |fact: &Fact<String>| match fact {
        Fact::ToolResult { tool, ok, duration_us, error_type } => RecordRow {
            name: tool.clone(),
            ok: *ok,
            duration_ms: duration_us.as_ref().map(ms),
            note: error_type.clone(),
            ..of_kind("tool_result")
        },
        Fact::Prompt { .. } => of_kind("prompt"),
        Fact::ApiRequest(ApiRequest { model, tokens, cost, duration_us, is_sum }) => RecordRow {
            name: model.clone(),
            ok: Some(true),
            duration_ms: duration_us.as_ref().map(ms),
            cost_usd: cost.map(usd),
            tokens: tokens.map(total),
            note: is_sum.then(|| "sum of calls".to_owned()),
            ..of_kind("api_request")
        },
        Fact::ApiError { status, error_type } => RecordRow {
            ok: Some(false),
            note: error_type.clone().or_else(|| status.map(|status| format!("HTTP {status}"))),
            ..of_kind("api_error")
        },
        Fact::ToolDecision { tool, accepted, by } => RecordRow {
            name: tool.clone(),
            ok: Some(*accepted),
            note: decider(*by)
                .map(|by| format!("{} by {by}", if *accepted { "allowed" } else { "rejected" })),
            ..of_kind("tool_decision")
        },
        Fact::Feedback { rating } => RecordRow { note: Some(format!("{rating:+}")), ..of_kind("feedback") },
        Fact::Compaction { before, after } => RecordRow {
            note: before.zip(*after).map(|(before, after)| format!("{before} to {after} tokens")),
            ..of_kind("compaction")
        },
        Fact::Refusal => RecordRow { ok: Some(false), ..of_kind("refusal") },
    };
    if record.facts.is_empty() { vec![of_kind("other")] } else { record.facts.iter().map(row).collect() }
}

fn usd(cost: Cost) -> Decimal<9> {
    let (Cost::Reported(cost) | Cost::Priced(cost)) = cost;
    Decimal::from_units(i128::try_from(cost.nano()).unwrap_or(i128::MAX))
}

fn total(Tokens { input, output, cache_read, cache_creation }: Tokens) -> u64 {
    [output, cache_read, cache_creation].into_iter().fold(input, u64::saturating_add)
}

fn decider(by: Decider) -> Option<&'static str> {
    match by {
        Decider::User => Some("the user"),
        Decider::Policy => Some("a setting"),
        Decider::Hook => Some("a hook"),
        Decider::Unknown => None,
    }
}

fn text(session: &StoredSession, records: &[SessionRecord], rows: &[RecordRow], left_out: usize) -> String {
    let mut text = super::listed(std::slice::from_ref(session));
    if rows.is_empty() {
        text.push_str("\nno records: only signals were sent\n");
        return text;
    }
    let _ = write!(text, "\n{}", timeline(rows));
    if left_out > 0 {
        let _ = writeln!(text, "… and {}: --limit N shows them", counted(left_out as u64, "more record"));
    }
    let scored = session.ledger.as_ref().map(Ledger::signal);
    let unscored = records.iter().filter(|record| Some(record.signal) != scored).count();
    match scored {
        Some(Signal::Logs) if unscored > 0 => {
            let _ = writeln!(text, "the score counts logs; {} not counted", spelled(unscored, "span"));
        }
        Some(Signal::Spans) if unscored > 0 => {
            let _ = writeln!(text, "the score counts spans; {} not counted", spelled(unscored, "log record"));
        }
        _ => {}
    }
    text
}

/// Formats a count as the subject of a sentence.
fn spelled(count: usize, what: &str) -> String {
    format!("{} {}", counted(count as u64, what), if count == 1 { "is" } else { "are" })
}

fn timeline(rows: &[RecordRow]) -> String {
    let head = [
        left("TIME (UTC)"),
        left("KIND"),
        left("TOOL OR MODEL").cut_to(16),
        left("OK"),
        right("DURATION"),
        right("COST"),
        right("TOKENS"),
        left("NOTE").cut_to(12),
    ];
    let row = |row: &RecordRow| {
        [
            cell(row.at.map(second)),
            row.kind.to_owned(),
            cell(row.name.as_deref().map(printable)),
            cell(row.ok.map(|ok| if ok { "yes" } else { "no" })),
            cell(row.duration_ms.map(milliseconds)),
            cell(row.cost_usd.map(dollars)),
            cell(row.tokens),
            row.note.as_deref().map(printable).unwrap_or_default(),
        ]
    };
    fitted(head, &rows.iter().map(row).collect::<Vec<_>>(), terminal_width())
}

/// Formats a time to the second, without the year.
fn second(time: Timestamp) -> String {
    let text = time.to_string().replace('T', " ");
    text.get("2026-".len().."2026-11-15 12:00:00".len()).unwrap_or(&text).to_owned()
}
