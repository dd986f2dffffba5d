//! Is the result printed in the order and number format of the contract, and everything else to standard error?

use saphyr::{LoadableYamlNode as _, Yaml};
use serde_json::Value;

use super::{Judged, Record, SECOND, T0, bare, call, document, judge, lines, ok_tool, prompt};

/// One prompt, three tools (one failed), $0.345 and 1000 tokens, 250 of them cached, in 87 s.
fn sample() -> String {
    let failed = super::log("claude_code.tool_result", 50).with("success", "false");
    let call = call(60).with("cost_usd", "0.345").with("input_tokens", 700).with("output_tokens", 50);
    let call = call.with("cache_read_tokens", 250).with("masque.name", "Codesmith");
    document(&lines(&[prompt(0), ok_tool(40), failed, call, ok_tool(87)]))
}

/// 20 / 3 = 6.67; 2 · 3 = 6; 87 s = 1.45 → 1.5 min, 20 / 1.5 = 13.3 → 10; 2.5; 10 − 34.5 / 2 → 0;
/// 0.3 · 6.7 + 0.25 · 6 + 0.2 · 10 + 0.15 · 2.5 = 5.885.
const SAMPLE_YAML: &str = "\
masque: Codesmith
duration_min: 2
dimensions:
  quality: 6.7
  autonomy: 6.0
  productivity: 10.0
  token_efficiency: 2.5
  cost_efficiency: 0.0
composite: 5.9
recommendation: review
stats:
  total_cost: 0.35
  total_tools: 3
  tools_ok: 2
  tool_success_pct: 67
  prompts: 1
  total_tokens: 1000
  cache_tokens: 250
";

#[test]
fn yaml_is_the_default() {
    let run = judge(&[], sample());
    assert_eq!((run.code, run.stdout.as_str()), (0, SAMPLE_YAML), "{run:?}");
    assert_eq!(judge(&["--format", "yaml"], sample()), run);
}

#[test]
fn costs_and_percents_have_their_format_at_the_edges() {
    let run = judge(&[], document(&lines(&[prompt(0), call(1).with("cost_usd", 1234.5)])));
    for line in [
        "  total_cost: 1234.50\n",
        "  tool_success_pct: 0\n",
        "  cost_efficiency: 0.0\n",
        "masque: unknown\n",
    ] {
        assert!(run.stdout.contains(line), "{line} {}", run.stdout);
    }
    let run = judge(&[], document(&lines(&[prompt(0)])));
    assert!(run.stdout.contains("  total_cost: 0.00\n"), "{}", run.stdout);
}

#[test]
fn each_session_is_a_yaml_document() {
    let run = judge(&["--all"], document(&two_sessions()));
    let documents = Yaml::load_from_str(&run.stdout).unwrap();
    let scores: Vec<_> = documents.iter().map(|one| one["composite"].as_floating_point().unwrap()).collect();
    assert_eq!(scores, [1.0, 6.5], "{}", run.stdout);
    assert_eq!(run.stdout.matches("masque: unknown\n").count(), 2);
}

fn two_sessions() -> Vec<String> {
    let other = bare().field("timeUnixNano", (T0 - 60 * SECOND).to_string());
    lines(&[ok_tool(0), other.with("event.name", "claude_code.user_prompt").with("session.id", "s-0")])
}

#[test]
fn every_masque_is_valid_yaml() {
    for masque in [
        "Codesmith",
        "true",
        "7",
        "1e3",
        "null",
        "~",
        "a: b # c",
        "- x",
        "'q'",
        "\"q\"",
        "&a",
        "*a",
        "é 🎭",
        "@x",
        "a\nb",
        "no",
        "{}",
    ] {
        let run = judge(&[&format!("--masque={masque}")], document(&lines(&[prompt(0)])));
        assert_eq!(run.code, 0, "{run:?}");
        let documents = Yaml::load_from_str(&run.stdout).unwrap();
        assert_eq!(documents[0]["masque"].as_str(), Some(masque), "{}", run.stdout);
    }
}

/// Returns the keys of a JSON text, in their order.
fn keys(text: &str) -> Vec<&str> {
    let pieces: Vec<_> = text.split('"').collect();
    let is_key = |pair: &&[&str]| pair[1].trim_start().starts_with(':');
    pieces[1..].chunks(2).filter(|pair| pair.len() == 2).filter(is_key).map(|pair| pair[0]).collect()
}

const JSON_KEYS: &str = "masque duration_min dimensions quality autonomy productivity token_efficiency cost_efficiency \
    composite recommendation stats total_cost total_tools tools_ok tool_success_pct prompts total_tokens cache_tokens \
    session_id agent_id agent started_at ended_at formula_version coverage present missing partial signal cost_source \
    signals api_errors accepts rejects rejects_by_user feedback compactions refusals";

#[test]
fn json_has_the_fields_of_yaml_and_more_in_order() {
    let run = judge(&["--format", "json"], sample());
    assert_eq!(keys(&run.stdout).join(" "), JSON_KEYS);
    let one = Judged::from(&run);
    assert_eq!(one.brief(), "6.7, 6, 10, 2.5, 0 → 5.9 review");
    assert_eq!(one.evidence(), "tools=3 ok=2 prompts=1 tokens=1000 cached=250 cost=0.35");
    assert_eq!(one.document["duration_min"], 2);
    assert_eq!(one.document["stats"]["tool_success_pct"], 67);
    assert_eq!(one.text("formula_version"), "1");
    assert_eq!(one.text("ended_at"), "2026-09-21T14:14:47.000Z");
    assert_eq!(one.document["signals"]["feedback"], Value::Null);
}

#[test]
fn one_session_is_an_object_and_several_are_an_array() {
    for (args, length) in
        [(&[][..], None), (&["--session", "s-0"], None), (&["--all"], Some(2)), (&["--last", "1"], Some(1))]
    {
        let judged = super::judged_with(args, &two_sessions());
        assert_eq!(judged.document.as_array().map(Vec::len), length, "{args:?}");
    }
    // A log with one session gives the same shape.
    assert!(super::judged_with(&["--all"], &lines(&[prompt(0)])).document.is_array());
}

#[test]
fn the_table_has_one_line_per_session_and_no_color() {
    let run = judge(&["--format", "table", "--all"], document(&two_sessions()));
    let rows: Vec<_> = run.stdout.lines().collect();
    assert_eq!(rows.len(), 3, "{}", run.stdout);
    for (row, words) in rows.iter().zip([
        &["SESSION", "TOOLS", "PROMPTS", "COST", "SCORE"][..],
        &["s-0", "1.0", "doff"],
        &["s-1", "6.5", "review"],
    ]) {
        assert!(words.iter().all(|word| row.contains(word)), "{words:?} {row}");
    }
    assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "{run:?}");
}

#[test]
fn control_characters_of_a_session_id_do_not_reach_a_terminal() {
    let mut evil = prompt(0);
    evil.attributes.clear();
    let evil = evil.with("event.name", "claude_code.user_prompt").with("session.id", "a\u{1b}[31mb\nc");
    for args in [["--format", "table"], ["--format", "yaml"], ["--format", "json"], ["--session", "unknown"]]
    {
        let run = judge(&args, document(&lines(std::slice::from_ref(&evil))));
        assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "{run:?}");
    }
}

const ACCOUNT: &str = "lines records facts sessions bad_lines truncated_bytes unknown_events no_session no_time \
    bad_values duplicates shadowed";

/// Returns a record of each kind that the summary counts.
fn eventful() -> String {
    let timeless: Record = bare().with("event.name", "claude_code.user_prompt").with("session.id", "s-1");
    let numbered = prompt(1).with("event.sequence", 1);
    let mut lines = lines(&[
        ok_tool(0),
        timeless,
        numbered.clone(),
        numbered,
        super::log("claude_code.nonsense", 2),
        bare().with("event.name", "claude_code.user_prompt"),
        call(3).with("input_tokens", -1),
        super::span("execute_tool ls", 1, 1),
    ]);
    lines.push("{bad".to_owned());
    format!("{}{{\"resource", document(&lines))
}

#[test]
fn the_summary_is_a_json_line_with_format_json() {
    let run = judge(&["--format", "json"], eventful());
    let account = run.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    assert_eq!(keys(account).join(" "), ACCOUNT);
    let account = Judged::from(&run).account;
    let expected = [
        ("records", 8),
        ("facts", 3),
        ("sessions", 1),
        ("bad_lines", 1),
        ("truncated_bytes", 10),
        ("unknown_events", 1),
        ("no_session", 1),
        ("no_time", 1),
        ("bad_values", 1),
        ("duplicates", 1),
        ("shadowed", 1),
    ];
    for (what, count) in expected {
        assert_eq!(account[what], count, "{what} of {account}");
    }
}

#[test]
fn the_summary_is_text_with_other_formats() {
    let run = judge(&[], eventful());
    assert!(!run.stderr.contains('{'), "{run:?}");
    for words in ["8 records", "1 session", "1 bad line", "1 unknown event"] {
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
}

#[test]
fn quiet_prints_only_results_and_errors() {
    for format in ["yaml", "json", "table"] {
        let loud = judge(&["--format", format], eventful());
        let quiet = judge(&["--quiet", "--format", format], eventful());
        assert_eq!((quiet.stdout, quiet.stderr.as_str()), (loud.stdout, ""));
    }
    let failed = judge(&["-q", "--strict"], eventful());
    assert_eq!(failed.code, 2);
    assert!(failed.stderr.starts_with("error: standard input:"), "{failed:?}");
}

#[test]
fn prompts_and_other_user_text_are_never_printed() {
    let secret = "correct horse battery staple";
    let records = lines(&[
        prompt(0).with("prompt", secret).with("user.email", "a@example.org"),
        ok_tool(1).with("tool_parameters", secret).with("input_tokens", -1),
        call(2).with("input_tokens", secret).with("user.account_uuid", secret),
    ]);
    for format in ["yaml", "json", "table"] {
        let run = judge(&["--format", format], document(&records));
        assert!(!run.stdout.contains(secret) && !run.stdout.contains("example.org"), "{run:?}");
        assert!(!run.stderr.contains("example.org"), "{run:?}");
    }
}
