//! The page of a session, rendered from made-up views.

use std::borrow::Cow;

use renown_core::decimal::Decimal;
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::performance::SessionTotals;
use renown_core::session_metrics::{
    SessionTraces, SignalWeights, Signals as TraceSignals, Source, Summary, Thresholds, Trace,
};
use renown_core::units::{NanoUsd, Unit};
use renown_view::SessionView;
use renown_view::records::FactView;
use renown_view::sessions::{Agent, Coverage, MetricsSummary, OtherCounts, Signal, TraceView};

use super::*;
use crate::Section;

/// The data that a page borrows.
struct Made {
    id: SessionId,
    agent: AgentId,
    totals: Option<SessionTotals>,
    coverage: Coverage,
    signals: OtherCounts,
    open: bool,
    masque: &'static str,
    traces: Vec<(TraceId, Option<Timestamp>, TraceSignals)>,
    records: Vec<RecordView>,
    part: DrawnPart,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(Timestamp::parse("2026-11-17T14:07:00Z").unwrap().millis() + 1000 * seconds)
        .unwrap()
}

fn unit(value: f64) -> Option<Unit> {
    Unit::new(value).ok()
}

fn record(seconds: i64, fact: FactView) -> RecordView {
    RecordView {
        at: Some(at(seconds)),
        until: None,
        signal: Signal::Logs,
        agent: Agent::ClaudeCode,
        facts: vec![fact],
    }
}

fn tool(seconds: i64, name: &str, ok: bool) -> RecordView {
    let fact = FactView { tool: Some(name.to_owned()), ok: Some(ok), ..FactView::bare(FactKind::ToolResult) };
    record(seconds, fact)
}

fn call(seconds: i64, new: u64, cached: u64, nano: i128) -> RecordView {
    record(
        seconds,
        FactView {
            input_tokens: Some(new),
            output_tokens: Some(0),
            cache_read_tokens: Some(cached),
            cost_usd: Some(Decimal::from_units(nano)),
            ..FactView::bare(FactKind::ApiRequest)
        },
    )
}

fn made(id: &str, agent: &str) -> Made {
    Made {
        id: id.parse().unwrap(),
        agent: agent.parse().unwrap(),
        totals: None,
        coverage: Coverage {
            present: vec!["tools", "prompts", "cost", "tokens"],
            missing: vec![],
            partial: vec![],
            signal: Signal::Logs,
            duration: None,
            cost_source: CostSource::Reported,
        },
        signals: OtherCounts {
            api_errors: 0,
            accepts: 0,
            rejects: 0,
            rejects_by_user: 0,
            feedback: None,
            compactions: 0,
            refusals: 0,
        },
        open: false,
        masque: UNKNOWN_MASQUE,
        traces: Vec::new(),
        records: Vec::new(),
        part: DrawnPart::default(),
    }
}

/// Returns a session with three turns in ten minutes: 4 of 8 calls succeed, and one tool fails four times in a row.
fn ordinary() -> Made {
    let mut made = made("s1", "support-triage");
    made.totals = Some(SessionTotals {
        duration_ns: 600_000_000_000,
        prompts: 3,
        total_tools: 8,
        tools_ok: 4,
        total_cost: NanoUsd::from_nano(200_000_000),
        total_tokens: 4000,
        cache_tokens: 3000,
    });
    made.masque = "Codesmith";
    made.signals =
        OtherCounts { api_errors: 1, rejects: 2, rejects_by_user: 2, compactions: 1, ..made.signals };
    let signals = |confidence, looping, tools| TraceSignals {
        confidence,
        loop_detection: unit(looping),
        tool_correctness: unit(tools),
        coherence: None,
    };
    made.traces = vec![
        ("s1#1".parse().unwrap(), Some(at(0)), signals(unit(0.9), 1.0, 1.0)),
        ("s1#2".parse().unwrap(), Some(at(200)), signals(unit(0.4), 0.25, 0.2)),
        ("s1#3".parse().unwrap(), Some(at(500)), signals(None, 1.0, 1.0)),
    ];
    made.records = vec![
        record(0, FactView::bare(FactKind::Prompt)),
        tool(10, "Read", true),
        tool(20, "Read", true),
        call(15, 500, 1500, 50_000_000),
        record(200, FactView::bare(FactKind::Prompt)),
        tool(210, "Bash", false),
        tool(220, "Bash", false),
        tool(230, "Bash", false),
        tool(240, "Bash", false),
        tool(250, "Read", true),
        call(245, 500, 1500, 150_000_000),
        record(255, FactView { status: Some(529), ..FactView::bare(FactKind::ApiError) }),
        record(500, FactView::bare(FactKind::Prompt)),
        tool(600, "Edit", true),
    ];
    made
}

fn page(made: &Made) -> String {
    let session = SessionTraces::new(
        made.traces
            .iter()
            .map(|(trace_id, _, signals)| Trace {
                trace_id: trace_id.clone(),
                signals: *signals,
                source: Some(Source::Mixed),
            })
            .collect(),
    )
    .unwrap();
    let summary = Summary::of(made.traces.iter().map(|(_, _, signals)| *signals));
    let report = made.totals.map(|totals| SessionReport {
        masque: Cow::Borrowed(made.masque),
        performance: totals.performance(),
        session_id: made.id.as_str(),
        agent_id: made.agent.as_str(),
        agent: Agent::ClaudeCode,
        started_at: Some(at(0)),
        ended_at: Some(at(600)),
        formula_version: "1",
        coverage: made.coverage.clone(),
        signals: made.signals,
    });
    let view = SessionView {
        session_id: &made.id,
        agent_id: &made.agent,
        open: made.open,
        started_at: Some(at(0)),
        ended_at: Some(at(600)),
        last_seen: at(600),
        closed_at: None,
        performance: report,
        metrics: MetricsSummary {
            agent_reliability: summary.agent_reliability().into(),
            agent_consistency: summary.agent_consistency().into(),
        },
        trace_count: made.traces.len() as u64,
    };
    let traces = made.traces.iter().map(|(trace_id, started_at, signals)| {
        let named = [
            ("confidence", signals.confidence),
            ("loop_detection", signals.loop_detection),
            ("tool_correctness", signals.tool_correctness),
            ("coherence", signals.coherence),
        ];
        let signals = named.into_iter().filter_map(|(name, signal)| Some((name, signal?))).collect();
        TraceView { trace_id, started_at: *started_at, signals, source: Some(Source::Mixed) }
    });
    let detail = SessionDetail { session: view, traces: traces.collect() };
    let metrics = session.metrics(&SignalWeights::default(), &Thresholds::default());
    let shell = Shell { now: at(660), origin: "http://127.0.0.1:7070", ..Shell::bare(Section::Sessions) };
    let page = SessionPage {
        detail: &detail,
        metrics: &metrics,
        session: &session,
        records: &made.records,
        part: made.part,
    };
    render(&shell, &page).unwrap()
}

fn contains(html: &str, sentence: &str) {
    assert!(html.contains(sentence), "{sentence:?} is missing");
}

#[test]
fn a_session_page_says_what_to_do_and_why() {
    let html = page(&ordinary());
    // 5.0·0.3 + 5.3·0.25 + 4.0·0.2 + 7.5·0.15 + 5.0·0.1 = 5.25 → 5.3
    contains(&html, "<b>5.3</b><span>of 10</span>");
    contains(&html, "Review before you continue");
    contains(
        &html,
        "4 of 8 tool calls succeeded. <code>Bash</code> failed four times in a row in turn 2. 1.7 points more would be keep.",
    );
    contains(&html, "masque <i><bdi>Codesmith</bdi></i>");
    contains(&html, "8 tool calls for 3 prompts; 5 per prompt earn all");
    contains(&html, "4 successful calls in 10.0 min; 1 per minute earns all");
    contains(&html, "3\u{202f}000 of 4\u{202f}000 tokens came from the cache");
    contains(&html, "$0.20 for 4 successful calls; 10 cents per call earn nothing");
    contains(&html, "× 25 %");
    contains(&html, "1.325");
    contains(&html, "<h2 id=\"h-turns\">Three turns");
    contains(
        &html,
        "1 API error, 1 compaction and 2 tool calls rejected by the user. They do not change any score.",
    );
    contains(&html, "coherence in every trace, confidence in turn 3 and user feedback");
    contains(&html, "Claude Code");
    assert!(!html.contains("was reported"), "nothing is missing\n{html}");
}

#[test]
fn turns_show_calls_and_risks() {
    let html = page(&ordinary());
    contains(&html, "Turn 1: Read ok 2×");
    contains(&html, "Turn 2: Bash failed 4×, Read ok, API error 529");
    contains(&html, "<td role=\"cell\" class=\"n\" data-k=\"ok\">1 of 5</td>");
    // The largest weighted risk of turn 2 is that of its loop, 1 − 0.25.
    contains(&html, "<b class=\"bad\">flagged</b> <code>loop_detection</code>");
    contains(&html, "data-k=\"risk\">0.75</td>");
    assert_eq!(html.matches("class=\"flag\"").count(), 1);
    contains(&html, "data-tip=\"@29915410hm  Bash failed\"");
    contains(&html, "title=\"not sent\">–");
    // Reliability: 0.9·0.75 + 0.1·0.75 = 0.75 at risk. Consistency: 0.1 and 0.6·(1 + 0.75 + 0.64), rms 1.0165 → 0.
    contains(&html, "Unreliable and unstable");
    contains(&html, "Reliability <b class=\"bad\">0.25</b>");
    contains(
        &html,
        "Elevated risk in 1 of 3 traces. The worst 15 % decide; the worst is turn 2 with a risk of 0.75.",
    );
    contains(&html, "Without turn 2, reliability would be 0.90 and consistency 0.90.");
    contains(&html, "1 trace without a confidence is left out.");
}

#[test]
fn cost_and_tokens_are_drawn_and_in_the_table() {
    let html = page(&ordinary());
    contains(&html, "Cost and tokens over 10 min 00 s");
    contains(&html, "tokens in 30 seconds");
    // 14:07:00 is minute 29915407; the first call is in the first half of it.
    contains(&html, "@29915407hm  2\u{202f}000 tokens, 75 % from the cache; $0.0500 so far|");
    contains(&html, "; $0.2000 so far");
    contains(&html, "<td class=\"n\">$0.1500</td><td class=\"n\">$0.2000</td>");
    contains(&html, ">turn 2</text>");
}

#[test]
fn missing_evidence_is_reported_next_to_the_number() {
    let mut made = ordinary();
    made.coverage.missing = vec!["prompts", "cost", "tokens"];
    made.coverage.present = vec!["tools"];
    made.coverage.cost_source = CostSource::None;
    made.totals = made.totals.map(|totals| SessionTotals {
        prompts: 0,
        total_cost: NanoUsd::from_nano(0),
        total_tokens: 0,
        cache_tokens: 0,
        ..totals
    });
    made.records.retain(|record| record.facts.iter().all(|fact| fact.kind == FactKind::ToolResult));
    made.masque = UNKNOWN_MASQUE;
    let html = page(&made);
    contains(&html, "<b>10.0</b>");
    contains(&html, "<b>No cost was reported</b>, which counts as no cost and earns all");
    contains(&html, "<b>No prompt was reported</b>, one is assumed");
    contains(&html, "<b>No tokens were reported</b>");
    contains(&html, "title=\"no cost was reported\">–</span></dd><dd>not reported</dd>");
    contains(&html, "No model call with tokens or cost was reported.");
    contains(&html, "prompts, cost, tokens, coherence in every trace");
    assert!(!html.contains("masque <i>"), "no record names a masque");
}

#[test]
fn a_session_of_signals_alone_has_no_performance() {
    let mut made = made("s2", "framework");
    let confident = TraceSignals { confidence: unit(0.9), ..TraceSignals::default() };
    made.traces = vec![
        ("t/1".parse().unwrap(), None, confident),
        ("t/2".parse().unwrap(), None, TraceSignals::default()),
    ];
    let html = page(&made);
    contains(&html, "<b class=\"none\">–</b><span>of 10</span>");
    contains(&html, "Only signals were sent");
    contains(&html, "Two traces");
    contains(&html, "title=\"only its signals were sent\">–");
    contains(&html, "title=\"no signal, so no risk\">–");
    contains(&html, "Reliable and consistent");
    assert!(!html.contains("id=\"h-dim\""));
    made.traces.clear();
    let html = page(&made);
    contains(&html, "Neither is known: no trace has a signal.");
    contains(&html, "title=\"No traces or signals to evaluate.\">–");
}

#[test]
fn an_open_session_is_marked() {
    let mut made = ordinary();
    made.open = true;
    let html = page(&made);
    contains(&html, "Still open, so far: 4 of 8 tool calls succeeded.");
    contains(&html, "<b>open</b>, last seen");
    contains(&html, "1 min</time> ago");
    assert_eq!(html.matches("data-live=").count(), 6);
}

#[test]
fn texts_of_senders_are_escaped() {
    let evil = "<script>alert(\"x\")</script>";
    let mut made = ordinary();
    made.id = evil.parse().unwrap();
    made.agent = format!("a/'{evil}'|@1hm").parse().unwrap();
    made.masque = "<script>alert(\"x\")</script>";
    made.traces.push((format!("t{evil}").parse().unwrap(), None, TraceSignals::default()));
    made.records.push(tool(300, evil, false));
    let html = page(&made);
    assert!(!html.contains("<script>alert"), "{html}");
    contains(&html, "&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;");
    contains(&html, "/agents/a%2F%27%3Cscript%3Ealert%28%22x%22%29%3C%2Fscript%3E%27%7C%401hm");
}

/// Returns a session with 4000 records, mostly tool calls that often fail, and with names of the maximum length.
fn largest() -> Made {
    let id = "i".repeat(180);
    let mut made = made(&id, &"a".repeat(200));
    made.totals = Some(SessionTotals {
        total_tools: 100_000,
        tools_ok: 90_000,
        prompts: 3000,
        ..SessionTotals::default()
    });
    let signals = TraceSignals {
        confidence: unit(0.1),
        loop_detection: unit(0.2),
        tool_correctness: unit(0.3),
        coherence: unit(0.4),
    };
    for turn in 0..3000 {
        made.traces.push((format!("{id}#{}", turn + 1).parse().unwrap(), Some(at(turn * 100)), signals));
    }
    for number in 0..4000_i64 {
        let name = format!("mcp__{}__{}", "x".repeat(180), number % 30);
        made.records.push(if number % 10 == 0 {
            call(number, 900, 90_000, 1_234_567)
        } else {
            tool(number, &name, number % 2 == 0)
        });
    }
    made.part = DrawnPart { first: 0, until: Some(at(5000)), is_cut: true };
    made
}

#[test]
fn the_largest_session_is_a_small_page_that_reports_what_it_omits() {
    let html = page(&largest());
    assert!(html.len() < 100_000, "{} bytes", html.len());
    contains(&html, "Turns 1–50 of 3\u{202f}000");
    contains(&html, "Only 4\u{202f}000 records of this part were read");
    contains(&html, "?turn=51#h-turns\" rel=\"next\">Later turns");
    assert!(!html.contains("Earlier turns"));
    // The last record that was read is at second 3999: later turns have no lane.
    assert_eq!(html.matches("title=\"its records were not read\"").count(), 10);
    contains(&html, "15 more tools are not shown.");
    contains(&html, "in the turns above");
}

#[test]
fn the_first_drawn_turn_depends_on_the_request_and_the_state() {
    assert_eq!(first_drawn(7, None, false), 0);
    assert_eq!(first_drawn(130, None, false), 0);
    assert_eq!(first_drawn(130, None, true), 80, "the latest turns of an open session");
    assert_eq!(first_drawn(130, Some(51), true), 50);
    assert_eq!(first_drawn(130, Some(0), false), 0);
    assert_eq!(first_drawn(130, Some(9999), false), 129);
    assert_eq!(first_drawn(0, Some(3), true), 0);
}

#[test]
fn the_distance_to_the_next_recommendation_is_shown() {
    assert_eq!(to_next_band(70, Recommendation::Keep), "It is just above the limit of 7.0.");
    assert_eq!(to_next_band(85, Recommendation::Keep), "It is 1.5 points above the limit of 7.0.");
    assert_eq!(to_next_band(68, Recommendation::Review), "0.2 points more would be keep.");
    assert_eq!(to_next_band(0, Recommendation::Doff), "4.0 points more would be review.");
}
