//! The pages of lists, a run and a competition, rendered from made-up views: their texts, missing evidence, and their
//! size.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

use renown_core::ids::{AgentId, EvaluationId, RunId, SessionId, SpecId, Workspace};
use renown_core::reputation::ReputationSummary;
use renown_core::scorecard::{
    Axes, Baseline, BaselineSource, Report, Resources, RunCoverage, RunOutcome, Stages, Tier,
};
use renown_core::session_metrics::Summary;
use renown_core::time::Timestamp;
use renown_core::units::{Micros, Whole};
use renown_pages::evaluations::{self, EvaluationList};
use renown_pages::lists::Ignored;
use renown_pages::run::{self, RunPage};
use renown_pages::runs::{self, RunList};
use renown_pages::sessions::{self, SessionList};
use renown_pages::specs::{self, SpecList, SpecPage, SpecRow};
use renown_pages::{Member, Section, Shell};
use renown_view::runs::{Competition, RankedRun, TieBreak};
use renown_view::sessions::MetricsSummary;
use renown_view::{EvaluationView, GateView, RunView, ScoreView, SessionView};
use serde_json::value::RawValue;

const EVIL: &str = "<script>alert(\"x\")</script>'|&";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(Timestamp::parse("2026-11-17T14:07:00Z").unwrap().millis() + 1000 * seconds)
        .unwrap()
}

fn shell(section: Section) -> Shell<'static> {
    let member = Some(Member { administers: true, csrf: "token" });
    Shell { now: at(600), origin: "http://127.0.0.1:7191", member, ..Shell::bare(section) }
}

fn contains(html: &str, sentence: &str) {
    assert!(html.contains(sentence), "{sentence:?} is missing");
}

fn is_safe(html: &str) {
    assert!(!html.contains("<script>alert"), "a text became markup");
    contains(html, "&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;");
}

fn evaluation(agent: &str, passed: bool, count: u64, gates: Vec<GateView>) -> EvaluationView {
    EvaluationView {
        id: "e1".parse::<EvaluationId>().unwrap(),
        agent_id: agent.parse().unwrap(),
        tool: Some("refund".parse().unwrap()),
        passed,
        gates,
        latency: Micros::from_ms(12.345).unwrap(),
        standing: ReputationSummary::new(764, count),
        created_at: at(0),
    }
}

fn gate(name: &str, passed: bool, reason: Option<&str>) -> GateView {
    GateView { name: name.to_owned(), passed, reason: reason.map(str::to_owned), skipped: None }
}

fn evaluations_page(found: &[EvaluationView], filter: evaluations::EvaluationFilter<'_>) -> String {
    let page = EvaluationList { evaluations: found, filter, ignored: &[], is_first: true, next: Some("1f") };
    evaluations::render(&shell(Section::Evaluations), &page).unwrap()
}

#[test]
fn evaluations_show_failed_gates_and_reasons() {
    let found = [
        evaluation("refund-agent", true, 50, vec![gate("pii", false, Some("only observes"))]),
        evaluation(
            "refund-agent",
            false,
            49,
            vec![gate("schema", true, None), gate("pii", false, Some("email address detected in output"))],
        ),
        evaluation("refund-agent", false, 500, Vec::new()),
    ];
    let filter = evaluations::EvaluationFilter { gate: "pii", agent: "refund-agent", ..Default::default() };
    let html = evaluations_page(&found, filter);
    contains(&html, "<h1 data-live=\"answer\">Two of these three evaluations failed.</h1>");
    contains(&html, "Only evaluations of agent refund-agent and with gate pii. ");
    contains(&html, "<code>pii</code> email address detected in output");
    assert!(!html.contains("only observes"), "the first one passed");
    contains(&html, "title=\"its gates were not sent\">–");
    contains(&html, "12.34 ms");
    contains(&html, "title=\"No score below 50 evaluations\">49/50");
    assert_eq!(html.matches(">764<").count(), 2);
    contains(&html, "href=\"/evaluations?agent=refund-agent&#38;gate=pii&#38;cursor=1f\" rel=\"next\"");
    contains(&html, "<tbody role=\"rowgroup\" data-live=\"rows\">");
}

#[test]
fn an_empty_list_names_the_next_command() {
    let html = evaluations_page(&[], evaluations::EvaluationFilter::default());
    contains(&html, "No evaluation yet.");
    contains(&html, "curl -s http://127.0.0.1:7191/v1/evaluate");
    let html = evaluations_page(&[], evaluations::EvaluationFilter { tool: "x", ..Default::default() });
    contains(&html, "No evaluation matches.");
    contains(&html, "<a href=\"/evaluations\">Show all</a>");
    let page = SessionList {
        sessions: &[],
        filter: sessions::SessionFilter::default(),
        ignored: &[],
        is_first: true,
        next: None,
    };
    let html = sessions::render(&shell(Section::Sessions), &page).unwrap();
    contains(&html, "renown judge logs.jsonl --submit http://127.0.0.1:7191");
    let page =
        RunList { runs: &[], filter: runs::RunFilter::default(), ignored: &[], is_first: true, next: None };
    contains(
        &runs::render(&shell(Section::Runs), &page).unwrap(),
        "renown runs submit runs.jsonl --server http://127.0.0.1:7191",
    );
    let page = SpecList { specs: &[], ignored: &[], is_first: true, next: None };
    contains(&specs::render(&shell(Section::Specs), &page).unwrap(), "No competition yet.");
}

#[test]
fn an_invalid_filter_is_reported() {
    let ignored = [Ignored { name: "tier", value: EVIL.to_owned(), expected: "Bronze" }];
    let page = RunList {
        runs: &[],
        filter: runs::RunFilter::default(),
        ignored: &ignored,
        is_first: false,
        next: None,
    };
    let html = runs::render(&shell(Section::Runs), &page).unwrap();
    contains(&html, "Not understood and ignored: tier “&#60;script");
    is_safe(&html);
}

#[test]
fn the_longest_evaluations_are_a_small_page() {
    let agent = format!("{EVIL}{}", "x".repeat(200 - EVIL.len()));
    let long = "y".repeat(500);
    let gates: Vec<GateView> = (0..50).map(|_| gate(&"g".repeat(60), false, Some(&long))).collect();
    let found: Vec<EvaluationView> = (0..50).map(|_| evaluation(&agent, false, 500, gates.clone())).collect();
    let html =
        evaluations_page(&found, evaluations::EvaluationFilter { agent: &agent, ..Default::default() });
    assert!(html.len() < 100_000, "{} bytes", html.len());
    contains(&html, "and 47 more");
    is_safe(&html);
}

#[test]
fn a_session_without_telemetry_has_dashes_with_a_reason() {
    let (session_id, agent_id): (SessionId, AgentId) = (EVIL.parse().unwrap(), EVIL.parse().unwrap());
    let summary = Summary::default();
    let session = SessionView {
        session_id: &session_id,
        agent_id: &agent_id,
        open: false,
        started_at: None,
        ended_at: None,
        last_seen: at(0),
        closed_at: None,
        performance: None,
        metrics: MetricsSummary {
            agent_reliability: summary.agent_reliability().into(),
            agent_consistency: summary.agent_consistency().into(),
        },
        trace_count: 0,
    };
    let page = SessionList {
        sessions: &[session],
        filter: sessions::SessionFilter { from: Some("2026-11-15".parse().unwrap()), ..Default::default() },
        ignored: &[],
        is_first: true,
        next: Some("18e.1"),
    };
    let html = sessions::render(&shell(Section::Sessions), &page).unwrap();
    contains(&html, "Nothing to review in this session.");
    contains(&html, "title=\"no telemetry, only signals were sent\">–");
    contains(&html, "title=\"No traces or signals to evaluate.\">–");
    contains(&html, "value=\"2026-11-15\"");
    contains(&html, "/sessions?from=2026-11-15&#38;cursor=18e.1");
    assert!(!html.contains("class=\"n bad\""), "an unknown metric is not red");
    is_safe(&html);
}

/// The data that a run borrows.
struct Made {
    id: RunId,
    agent: AgentId,
    workspace: Workspace,
    spec: SpecId,
    report: Report,
    baseline: Baseline,
    stages: Box<RawValue>,
    attributes: Box<RawValue>,
    warnings: Vec<String>,
    defaulted: Vec<String>,
    pull_request: String,
}

/// Returns a run that was blocked after 9 seconds, where 6 are usual. One of two stages passed at the first attempt.
/// Memory is known, CPU is not.
fn made() -> Made {
    let stages = r#"[{"name":"lint","passed":true},{"name":"<b>test</b>","passed":false,"attempts":3}]"#;
    Made {
        id: "run/1".parse().unwrap(),
        agent: EVIL.parse().unwrap(),
        workspace: "shop".parse().unwrap(),
        spec: "login".parse().unwrap(),
        report: Report {
            outcome: RunOutcome::Blocked,
            stages: Some(Stages::of_json(stages).unwrap()),
            wall_ms: Whole::new(9000),
            resources: Resources {
                memory_peak_bytes: Whole::new(268_435_456),
                memory_limit_bytes: Whole::new(536_870_912),
                ..Resources::default()
            },
        },
        baseline: Baseline::new(&[5000, 6000, 7000].map(|ms| Whole::new(ms).unwrap())),
        stages: RawValue::from_string(stages.to_owned()).unwrap(),
        attributes: RawValue::from_string(format!(
            "{{\"model\":{:?},\"n\":[1,2]}}",
            "<script>alert(\"x\")</script>"
        ))
        .unwrap(),
        warnings: vec!["colour: unknown field".to_owned()],
        defaulted: Vec::new(),
        pull_request: "https://git.example.com/shop/pull/17".to_owned(),
    }
}

fn view(made: &Made) -> RunView<'_> {
    let scorecard = made.report.breakdown(made.baseline).scorecard(Vec::new());
    RunView {
        score: ScoreView {
            run_id: &made.id,
            agent_id: &made.agent,
            workspace: &made.workspace,
            spec_id: Some(&made.spec),
            score: Some(scorecard.score),
            tier: scorecard.tier,
            formula_version: "2",
            axes: Some(scorecard.axes),
            defaulted: &made.defaulted,
            warnings: &made.warnings,
            baseline: Some(made.baseline.shown()),
            coverage: RunCoverage::of(&made.report, made.baseline, true),
            scored_at: at(10),
        },
        outcome: made.report.outcome,
        wall_ms: made.report.wall_ms.map(Whole::get),
        stages: Some(&made.stages),
        resources: made.report.resources,
        started_at: None,
        finished_at: at(9),
        branch: Some("feat/login"),
        pull_request: Some(&made.pull_request),
        attributes: Some(&made.attributes),
    }
}

/// Returns the run as the first of a ranking. Its latency was not measured.
fn ranked(made: &Made) -> RankedRun<'_> {
    let score = view(made).score;
    RankedRun {
        rank: 1,
        agent_id: &made.agent,
        run_id: &made.id,
        score: score.score,
        tier: score.tier,
        axes: score.axes,
        ranked_score: score.score,
        ranked_axes: Some(Axes { latency: 50, ..score.axes.unwrap() }),
        defaulted: &made.defaulted,
        tie_decided_by: None,
        wall_ms: Some(10),
        branch: Some("login/<b>"),
        pull_request: Some("https://x.example/1"),
    }
}

fn run_page(made: &Made) -> String {
    let explanation = Some(made.report.breakdown(made.baseline).explain());
    run::render(&shell(Section::Runs), &RunPage { run: &view(made), explanation }).unwrap()
}

#[test]
fn a_run_shows_where_points_were_lost() {
    let html = run_page(&made());
    // (4·30 + 3·50 + 2·60 + 50 + 5) / 10 = 44.5
    contains(&html, "<b>44</b>");
    contains(&html, "Silver: only a part of the work was done");
    contains(&html, "Most points were lost on completion: 28.0 of 40. 26 points more would be Gold.");
    contains(&html, "1 of 2 stages passed at the first attempt");
    contains(&html, "9.0 s against a median of 6.0 s over 3 runs");
    contains(
        &html,
        "256.0 MiB of 512.0 MiB memory; CPU throttling was not reported, so that half counts as 50",
    );
    contains(&html, "× 40 %");
    contains(&html, "<td class=\"bad\">failed</td><td class=\"n\">3</td>");
    contains(&html, "&#60;b&#62;test&#60;/b&#62;");
    contains(&html, "colour: unknown field");
    contains(
        &html,
        "<a href=\"https://git.example.com/shop/pull/17\" rel=\"noopener noreferrer\">git.example.com/shop/pull/17</a>",
    );
    contains(&html, "<dd class=\"wrap\"><bdi>[1,2]</bdi></dd>");
    is_safe(&html);
}

#[test]
fn axes_that_were_not_measured_are_reported() {
    let mut made = made();
    made.report =
        Report { outcome: RunOutcome::Failed, stages: None, wall_ms: None, resources: Resources::default() };
    made.defaulted = ["error_rate", "latency", "resource_efficiency"].map(str::to_owned).to_vec();
    made.pull_request = "javascript:alert(1)".to_owned();
    let html = run_page(&made);
    contains(&html, "Bronze: there is no usable result");
    contains(&html, "Three axes could not be measured and count as 50 each.");
    for reason in [
        "no stages were reported",
        "no wall time was reported",
        "neither a memory limit nor CPU throttling was reported",
    ] {
        contains(&html, &format!("<b>counted as 50:</b> {reason}"));
    }
    assert!(!html.contains("href=\"javascript:"), "only HTTP addresses are links");
    made.report.wall_ms = Whole::new(5);
    made.baseline = Baseline::default();
    contains(&run_page(&made), "there is no earlier completed run with a wall time in this workspace");
    let page = RunList {
        runs: &[view(&made)],
        filter: runs::RunFilter { tier: Some(Tier::Bronze), ..Default::default() },
        ignored: &[],
        is_first: true,
        next: None,
    };
    let html = runs::render(&shell(Section::Runs), &page).unwrap();
    contains(&html, "<h1 data-live=\"answer\">This run failed.</h1>");
    contains(&html, "error rate, latency, resource efficiency");
    contains(&html, "<a class=\"cut\" href=\"/runs/run%2F1\"");
    contains(&html, "<option selected>Bronze</option>");
    is_safe(&html);
}

#[test]
fn a_competition_names_its_winner_and_what_decides_a_tie() {
    let (mut made, spec): (Made, SpecId) = (made(), "login".parse().unwrap());
    made.defaulted = vec!["latency".to_owned()];
    let agents: Vec<AgentId> = ["codex", "claude", "gemini"].map(|name| name.parse().unwrap()).to_vec();
    let attempt = |rank: usize, score: u8, wall_ms, tie_decided_by| RankedRun {
        rank,
        agent_id: agents.get(rank - 1).unwrap(),
        ranked_score: Some(score),
        wall_ms,
        tie_decided_by,
        ..ranked(&made)
    };
    let tie = Some(TieBreak::WallMs);
    let mut competition = Competition {
        spec_id: &spec,
        winner: Some(agents.first().unwrap()),
        baseline: Baseline::default().shown(),
        baseline_source: BaselineSource::Contenders,
        ranking: vec![
            attempt(1, 89, Some(10), None),
            attempt(2, 80, Some(20), tie),
            attempt(3, 80, Some(30), tie),
        ],
    };
    let render = |competition: &Competition<'_>| {
        specs::render_one(&shell(Section::Specs), &SpecPage { competition }).unwrap()
    };
    let html = render(&competition);
    contains(&html, "<h1>codex won, with 89 of 100.</h1>");
    contains(&html, "9 points ahead of claude. The winning branch is <code>login/&#60;b&#62;</code>.");
    assert_eq!(html.matches("tie, the wall time decides").count(), 2);
    contains(&html, "<small>when accepted 44, Silver</small>");
    contains(&html, "<span>50 <small>by default</small></span>");
    contains(&html, "the latency of every attempt counts as 50.");
    competition.baseline = Baseline::new(&[Whole::new(471_000).unwrap()]).shown();
    contains(&render(&competition), "is compared with 7 min 51 s, the median of the agents&#39; shortest");
    competition.baseline_source = BaselineSource::Workspace;
    contains(
        &render(&competition),
        "the median of the 1 completed run in the workspace before the first attempt",
    );
    competition.winner = None;
    let html = render(&competition);
    contains(&html, "No agent has completed this spec yet.");
    contains(&html, "codex came furthest, with 89 of 100.");
    competition.ranking.clear();
    contains(&render(&competition), "No agent has attempted this spec.");
}

#[test]
fn the_list_of_specs_shows_contested_specs() {
    let (made, spec): (Made, SpecId) = (made(), EVIL.parse().unwrap());
    let row = |agents| SpecRow {
        spec: &spec,
        runs: 1200,
        agents,
        finished_at: at(0),
        best: ranked(&made),
        outcome: "blocked",
    };
    let page = SpecList { specs: &[row(1), row(2)], ignored: &[], is_first: true, next: Some(&spec) };
    let html = specs::render(&shell(Section::Specs), &page).unwrap();
    contains(&html, "Agents compete on one of these two specs.");
    contains(&html, "1\u{202f}200");
    contains(&html, "href=\"/specs?after=%3Cscript%3E");
    is_safe(&html);
}

#[test]
fn the_longest_runs_are_a_small_page() {
    let mut made = made();
    let long = "x".repeat(200);
    (made.id, made.agent) = (long.parse().unwrap(), long.parse().unwrap());
    (made.spec, made.workspace) = (long.parse().unwrap(), long.parse().unwrap());
    let many: Vec<String> = (0..2000)
        .map(|number| format!(r#"{{"name":"{number}{}","passed":true}}"#, "n".repeat(190)))
        .collect();
    made.stages = RawValue::from_string(format!("[{}]", many.join(","))).unwrap();
    let many: Vec<String> = (0..2000).map(|number| format!(r#""{number}":"{}""#, "v".repeat(900))).collect();
    made.attributes = RawValue::from_string(format!("{{{}}}", many.join(","))).unwrap();
    made.warnings = vec!["w".repeat(900); 500];
    let html = run_page(&made);
    assert!(html.len() < 100_000, "{} bytes", html.len());
    contains(&html, "1\u{202f}900 more stages are not shown; all of them count.");
    contains(&html, "1\u{202f}950 more are not shown");
    contains(&html, "and 480 more");
    let runs: Vec<RunView<'_>> = (0..runs::ROWS).map(|_| view(&made)).collect();
    let page =
        RunList { runs: &runs, filter: runs::RunFilter::default(), ignored: &[], is_first: true, next: None };
    let html = runs::render(&shell(Section::Runs), &page).unwrap();
    assert!(html.len() < 100_000, "{} bytes", html.len());
}
