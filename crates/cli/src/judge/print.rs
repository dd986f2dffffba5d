//! Prints sessions as YAML, JSON or a table.
//!
//! The YAML is written by hand, because the contract defines its order and number format.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use renown_core::performance::{Performance, Recommendation};
use renown_telemetry::account::Account;
use renown_telemetry::report::{CostSource, SessionReport};
use serde::Serialize;

use crate::args::FormatArg;
use crate::table::counted;

/// A session, with what only its transcript says.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    #[serde(flatten)]
    pub(super) report: SessionReport<'a>,
    #[serde(flatten)]
    pub(super) transcript: Option<TranscriptDetails<'a>>,
}

/// What only a transcript says.
#[derive(Serialize)]
pub(crate) struct TranscriptDetails<'a> {
    pub(super) models: &'a [String],
    pub(super) agent_version: Option<&'a str>,
    pub(super) project: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// Shows a session from telemetry.
    pub(super) fn of(report: SessionReport<'a>) -> Self {
        Self { report, transcript: None }
    }
}

/// Prints one session, or several in order.
pub(super) fn write(
    out: impl Write + IsTerminal,
    reports: &[Shown<'_>],
    format: FormatArg,
    is_one: bool,
) -> io::Result<()> {
    let color = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // Without a buffer, standard output flushes at every line.
    let mut out = io::BufWriter::new(out);
    match (format, reports) {
        (FormatArg::Json, [report]) if is_one => {
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        (FormatArg::Json, reports) => {
            serde_json::to_writer_pretty(&mut out, reports)?;
            writeln!(out)?;
        }
        (FormatArg::Yaml, reports) => {
            for (index, report) in reports.iter().enumerate() {
                if index > 0 {
                    writeln!(out, "---")?;
                }
                out.write_all(yaml(&report.report).as_bytes())?;
            }
        }
        (FormatArg::Table, reports) => {
            out.write_all(table(reports, color).as_bytes())?;
        }
    }
    out.flush()
}

/// Formats one session in the order and number format of the contract.
pub(super) fn yaml(report: &SessionReport<'_>) -> String {
    let Performance { duration_min, dimensions: d, composite, recommendation, stats: s, .. } =
        &report.performance;
    format!(
        "masque: {masque}
duration_min: {duration_min}
dimensions:
  quality: {}
  autonomy: {}
  productivity: {}
  token_efficiency: {}
  cost_efficiency: {}
composite: {composite}
recommendation: {recommendation}
stats:
  total_cost: {}
  total_tools: {}
  tools_ok: {}
  tool_success_pct: {}
  prompts: {}
  total_tokens: {}
  cache_tokens: {}
",
        d.quality,
        d.autonomy,
        d.productivity,
        d.token_efficiency,
        d.cost_efficiency,
        s.total_cost,
        s.total_tools,
        s.tools_ok,
        s.tool_success_pct,
        s.prompts,
        s.total_tokens,
        s.cache_tokens,
        masque = scalar(&report.masque),
    )
}

/// Formats a text as YAML: unquoted if YAML can only read it as a text, else quoted as JSON, which is valid YAML too.
fn scalar(text: &str) -> String {
    let is_word =
        |char: char| char.is_alphanumeric() || matches!(char, ' ' | '_' | '-' | '.' | '/' | '(' | ')');
    let is_plain = text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && text.chars().all(is_word)
        && !RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_plain {
        return text.to_owned();
    }
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let shown = |char| if is_invisible(char) { format!("\\u{:04x}", u32::from(char)) } else { char.into() };
    quoted.chars().map(shown).collect()
}

/// Returns whether a terminal could obey a character or YAML forbids it: controls, line separators, direction marks.
fn is_invisible(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Words that some YAML readers do not read as a text.
const RESERVED: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

/// Maximum length of a session id in the table, in characters.
const ID_CHARS_MAX: usize = 36;
/// Length of the bar, in characters.
const BAR_CHARS: usize = 10;

/// Formats one line per session.
///
/// If transcripts are among them, the table has the agent too, and an estimated cost begins with `~`.
pub(super) fn table(shown: &[Shown<'_>], color: bool) -> String {
    let reports = || shown.iter().map(|shown| &shown.report);
    let width = reports().map(|report| shown_id(report).chars().count()).max().unwrap_or(0).max(7);
    let has_agents = shown.iter().any(|shown| shown.transcript.is_some());
    let agent = |name: &str| if has_agents { format!("  {name:<11}") } else { String::new() };
    let mut text = format!(
        "{:<width$}{}  {:<16}  {:>5}  {:>6}  {:>4}  {:>7}  {:>9}  SCORE\n",
        "SESSION",
        agent("AGENT"),
        "START (UTC)",
        "MIN",
        "TOOLS",
        "OK",
        "PROMPTS",
        "COST"
    );
    for report in reports() {
        let Performance { duration_min, composite, recommendation, stats, .. } = &report.performance;
        let start = report.started_at.map(|at| at.to_string().replace('T', " "));
        let start = start.as_deref().and_then(|start| start.get(..16)).unwrap_or("-");
        let filled = usize::try_from(composite.units() / 10).unwrap_or(0).min(BAR_CHARS);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR_CHARS - filled));
        let (on, off) = if color { (escape(*recommendation), "\u{1b}[0m") } else { ("", "") };
        let is_known = |evidence| report.coverage.present.contains(&evidence);
        let is_estimate = has_agents && report.coverage.cost_source != CostSource::Reported;
        let sign = if is_estimate { "~" } else { "" };
        let cost = if is_known("cost") { format!("{sign}${}", stats.total_cost) } else { "-".to_owned() };
        let ok = if is_known("tools") { format!("{}%", stats.tool_success_pct) } else { "-".to_owned() };
        let composite = composite.to_string();
        let _ = writeln!(
            text,
            "{:<width$}{}  {start:<16}  {duration_min:>5}  {:>6}  {ok:>4}  {:>7}  {cost:>9}  {on}{bar} {composite:>4} {recommendation}{off}",
            shown_id(report),
            agent(report.agent.name()),
            stats.total_tools,
            stats.prompts,
        );
    }
    text
}

/// Returns the session's id without control characters, cut to the column's width.
fn shown_id(report: &SessionReport<'_>) -> String {
    let clean = report.session_id.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char });
    let mut shown: Vec<char> = clean.take(ID_CHARS_MAX + 1).collect();
    if shown.len() > ID_CHARS_MAX {
        shown.truncate(ID_CHARS_MAX - 1);
        shown.push('…');
    }
    shown.into_iter().collect()
}

fn escape(recommendation: Recommendation) -> &'static str {
    match recommendation {
        Recommendation::Keep => "\u{1b}[32m",
        Recommendation::Review => "\u{1b}[33m",
        Recommendation::Doff => "\u{1b}[31m",
    }
}

/// Summarizes what was read on one line: the first four counts always, the others if they are not 0.
pub(super) fn account(account: &Account) -> String {
    let always = [
        (account.lines, "line", ""),
        (account.records, "record", ""),
        (account.facts, "fact", ""),
        (account.sessions, "session", ""),
    ];
    let odd = [
        (account.bad_lines, "bad line", ""),
        (account.truncated_bytes, "byte", " of an unfinished line"),
        (account.unknown_events, "unknown event", ""),
        (account.no_session, "record", " without a session"),
        (account.no_time, "record", " without a time"),
        (account.bad_values, "rejected record", ""),
        (account.duplicates, "duplicate", ""),
        (account.shadowed, "shadowed record", ""),
    ];
    let list = |counts: &mut dyn Iterator<Item = (u64, &str, &str)>| {
        counts.map(|(count, what, which)| counted(count, what) + which).collect::<Vec<_>>().join(", ")
    };
    let odd = list(&mut odd.into_iter().filter(|(count, ..)| *count > 0));
    format!("read {}{}{odd}", list(&mut always.into_iter()), if odd.is_empty() { "" } else { "; " })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masque_is_always_a_text_in_yaml() {
        for (text, yaml) in [
            ("Codesmith", "Codesmith"),
            ("Code Smith (v2.1)", "Code Smith (v2.1)"),
            ("Äbtissin", "Äbtissin"),
            ("null", "\"null\""),
            ("True", "\"True\""),
            ("42", "\"42\""),
            ("1.5", "\"1.5\""),
            ("- x", "\"- x\""),
            ("a: b", "\"a: b\""),
            ("a #b", "\"a #b\""),
            ("a\nb", "\"a\\nb\""),
            ("", "\"\""),
            ("trailing ", "\"trailing \""),
            ("\"", "\"\\\"\""),
            ("a\u{9b}31m\u{7f}\u{202e}", "\"a\\u009b31m\\u007f\\u202e\""),
        ] {
            assert_eq!(scalar(text), yaml);
        }
    }

    #[test]
    fn the_summary_lists_problems_after_the_usual_counts() {
        let usual = Account { lines: 1, records: 2, facts: 2, sessions: 1, ..Account::default() };
        assert_eq!(account(&usual), "read 1 line, 2 records, 2 facts, 1 session");
        let odd = Account { no_session: 2, duplicates: 1, shadowed: 3, ..usual };
        assert_eq!(
            account(&odd),
            "read 1 line, 2 records, 2 facts, 1 session; 2 records without a session, 1 duplicate, 3 shadowed records"
        );
    }
}
