//! Sessions as YAML, JSON or a table.
//!
//! The YAML is written by hand: its order and number format are the contract.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use renown_core::performance::{Performance, Recommendation};
use renown_telemetry::account::Account;
use renown_telemetry::report::Report;

use crate::args::FormatArg;
use crate::table::counted;

/// Prints the sessions: one alone, or all in order.
pub(super) fn write(
    out: impl Write + IsTerminal,
    reports: &[Report<'_>],
    format: FormatArg,
    is_one: bool,
) -> io::Result<()> {
    let colour = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // Standard output flushes at every line by itself.
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
                out.write_all(yaml(report).as_bytes())?;
            }
        }
        (FormatArg::Table, reports) => {
            out.write_all(table(reports, colour).as_bytes())?;
        }
    }
    out.flush()
}

/// One session in the order and number format of the contract.
pub(super) fn yaml(report: &Report<'_>) -> String {
    let Performance { duration_min, dimensions: d, composite, recommendation, stats: s, .. } =
        &report.performance.0;
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

/// A text as YAML: as it is where that cannot be anything but a text, else quoted as JSON, which YAML reads too.
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

/// Whether a terminal could obey a character, or YAML not have it: controls, line separators, marks of direction.
fn is_invisible(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Words that some reader of YAML takes for something else than a text.
const RESERVED: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

/// Characters of a session id that are shown.
const ID_CHARS_MAX: usize = 36;
/// Characters of the bar.
const BAR_CHARS: usize = 10;

/// One line a session.
pub(super) fn table(reports: &[Report<'_>], colour: bool) -> String {
    let width = reports.iter().map(|report| shown_id(report).chars().count()).max().unwrap_or(0).max(7);
    let mut text = format!(
        "{:<width$}  {:<16}  {:>5}  {:>6}  {:>4}  {:>7}  {:>9}  SCORE\n",
        "SESSION", "START (UTC)", "MIN", "TOOLS", "OK", "PROMPTS", "COST"
    );
    for report in reports {
        let Performance { duration_min, composite, recommendation, stats, .. } = &report.performance.0;
        let start = report.started_at.map(|at| at.to_string().replace('T', " "));
        let start = start.as_deref().and_then(|start| start.get(..16)).unwrap_or("-");
        let filled = usize::try_from(composite.units() / 10).unwrap_or(0).min(BAR_CHARS);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR_CHARS - filled));
        let (on, off) = if colour { (escape(*recommendation), "\u{1b}[0m") } else { ("", "") };
        let is_known = |evidence| report.coverage.present.contains(&evidence);
        let cost = if is_known("cost") { format!("${}", stats.total_cost) } else { "-".to_owned() };
        let ok = if is_known("tools") { format!("{}%", stats.tool_success_pct) } else { "-".to_owned() };
        let composite = composite.to_string();
        let _ = writeln!(
            text,
            "{:<width$}  {start:<16}  {duration_min:>5}  {:>6}  {ok:>4}  {:>7}  {cost:>9}  {on}{bar} {composite:>4} {recommendation}{off}",
            shown_id(report),
            stats.total_tools,
            stats.prompts,
        );
    }
    text
}

/// The session's id without anything that a terminal would obey, cut to a column.
fn shown_id(report: &Report<'_>) -> String {
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

/// What became of everything that was read, on one line: the first four always, the others where there are any.
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
        (account.bad_values, "refused record", ""),
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
    fn masques_are_texts_in_yaml() {
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
    fn the_account_names_what_is_odd() {
        let usual = Account { lines: 1, records: 2, facts: 2, sessions: 1, ..Account::default() };
        assert_eq!(account(&usual), "read 1 line, 2 records, 2 facts, 1 session");
        let odd = Account { no_session: 2, duplicates: 1, shadowed: 3, ..usual };
        assert_eq!(
            account(&odd),
            "read 1 line, 2 records, 2 facts, 1 session; 2 records without a session, 1 duplicate, 3 shadowed records"
        );
    }
}
