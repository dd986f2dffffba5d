//! The twelve agents of the demo.
//!
//! | agent | month |
//! |---|---|
//! | `dsp-bidder-prod` | perfect and fast, day and night |
//! | `invoice-reader` | perfect |
//! | `docs-writer`, `release-notes` | one failure in weeks |
//! | `code-reviewer` | a few failures |
//! | `translator-fr` | active for 12 days, 217 evaluations |
//! | `support-triage` | an incident nine days ago: `pii` failed most of its replies for hours |
//! | `sql-analyst` | slow, with some failures |
//! | `refund-agent` | its score falls today: `pii` fails its refunds |
//! | `acme/platform/nightly-dependency-upgrader` | `secrets` fails today for the first time |
//! | `web-scraper` | slow, every eighth output fails |
//! | `onboarding-mail` | calibrating, 12 evaluations |
//!
//! The reasons of failures are those of the real gates; a test compares them.

use crate::calendar::Hours;

/// A failure of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) gate: &'static str,
    pub(crate) reason: &'static str,
    /// Tool whose output fails; `None` for any tool.
    pub(crate) tool: Option<&'static str>,
}

const fn failure(gate: &'static str, reason: &'static str) -> Failure {
    Failure { gate, reason, tool: None }
}

pub(crate) const REPLY_WITH_ADDRESS: Failure =
    Failure { gate: "pii", reason: "email address detected in output", tool: Some("reply") };
pub(crate) const REFUND_WITH_ADDRESS: Failure =
    Failure { gate: "pii", reason: "email address detected in output", tool: Some("refund") };
pub(crate) const KEY_IN_OUTPUT: Failure = Failure {
    gate: "secrets",
    reason: "secret in output: aws-key-id (1 finding)",
    tool: Some("open_pull_request"),
};
pub(crate) const PHONE: Failure = failure("pii", "us phone number detected in output");
pub(crate) const EMPTY: Failure = failure("content", "output is empty");
pub(crate) const REFUSAL: Failure = failure("content", "refusal phrase in output");
pub(crate) const TRAVERSAL: Failure = failure("filesystem", "path traversal in output");
pub(crate) const CREDENTIALS: Failure = failure("filesystem", "sensitive path in output: credentials");
pub(crate) const REMOVAL: Failure =
    failure("filesystem", "destructive command in output: rm-recursive-force");
pub(crate) const INJECTION: Failure =
    failure("injection", "prompt injection suspected in output: override, concealment (score 5)");
pub(crate) const TOO_SLOW: Failure = failure("latency", "latency 9143ms exceeds 8000ms threshold");
pub(crate) const OVERBID: Failure = failure("rtb.bid-sanity", "bid price over 50x floor");

/// The number of evaluations of an agent, and their days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// About `working_day` evaluations per working day, and `weekend_percent` percent of it per weekend day. The
    /// agent also has evaluations from before the month.
    Daily { working_day: u64, weekend_percent: u64 },
    /// Exactly this number in the last `days` days.
    Exactly { evaluations: usize, days: u32 },
}

/// One agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Character {
    pub(crate) id: &'static str,
    pub(crate) volume: Volume,
    pub(crate) hours: Hours,
    /// Average latency of the gates in microseconds.
    pub(crate) gate_us: u64,
    /// Average latency of the agent in milliseconds, if the agent reports it.
    pub(crate) agent_ms: Option<u64>,
    pub(crate) gates: &'static [&'static str],
    pub(crate) tools: &'static [(u64, &'static str)],
    /// Failures per thousand evaluations.
    pub(crate) fail_per_mille: u64,
    /// Possible failures with their weights.
    pub(crate) failures: &'static [(u64, Failure)],
    /// Number of latest evaluations without a failure.
    pub(crate) calm: usize,
    /// Days, counted back from today, on which the second to last evaluation fails.
    pub(crate) bad_days: &'static [u32],
    pub(crate) story: Option<Story>,
}

/// An event that makes an agent interesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Story {
    /// Some days ago, a gate failed most outputs of a tool for some hours.
    Incident { days_back: u32, outputs: usize, passes: usize, failure: Failure },
    /// Outputs of today: `F` fails, any other character passes.
    Today { outputs: &'static str, failure: Failure },
}

const USUAL: &[&str] = &["pii", "content", "secrets"];
const CODING: &[&str] = &["filesystem", "pii", "content", "secrets"];
const READING: &[&str] = &["filesystem", "pii", "content", "secrets", "injection"];
const AUCTION: &[&str] = &["rtb.tmax-guard", "rtb.impid-match", "rtb.bid-sanity", "rtb.bcat-compliance"];

/// All agents. Each has its own random generator, so that a change of one agent does not affect the others.
pub(crate) const CHARACTERS: [Character; 12] = [
    Character {
        id: "dsp-bidder-prod",
        volume: Volume::Daily { working_day: 70, weekend_percent: 90 },
        hours: Hours::Always,
        gate_us: 1200,
        agent_ms: Some(38),
        gates: AUCTION,
        tools: &[(1, "bid")],
        fail_per_mille: 0,
        failures: &[(1, OVERBID)],
        calm: 0,
        bad_days: &[13],
        story: None,
    },
    Character {
        id: "invoice-reader",
        volume: Volume::Daily { working_day: 34, weekend_percent: 12 },
        hours: Hours::Office,
        gate_us: 3100,
        agent_ms: Some(1400),
        gates: USUAL,
        tools: &[(7, "extract_fields"), (3, "match_order")],
        fail_per_mille: 0,
        failures: &[(1, EMPTY)],
        calm: 0,
        bad_days: &[25],
        story: None,
    },
    Character {
        id: "docs-writer",
        volume: Volume::Daily { working_day: 26, weekend_percent: 0 },
        hours: Hours::Office,
        gate_us: 6600,
        agent_ms: None,
        gates: CODING,
        tools: &[(5, "write_page"), (3, "edit_page"), (2, "check_links")],
        fail_per_mille: 0,
        failures: &[(1, TRAVERSAL)],
        calm: 0,
        bad_days: &[20, 13],
        story: None,
    },
    Character {
        id: "code-reviewer",
        volume: Volume::Daily { working_day: 36, weekend_percent: 10 },
        hours: Hours::Office,
        gate_us: 7200,
        agent_ms: Some(5200),
        gates: READING,
        tools: &[(6, "review_diff"), (2, "comment"), (2, "suggest_change")],
        fail_per_mille: 9,
        failures: &[(3, CREDENTIALS), (2, REFUSAL), (1, INJECTION)],
        calm: 90,
        bad_days: &[],
        story: None,
    },
    Character {
        id: "release-notes",
        volume: Volume::Daily { working_day: 22, weekend_percent: 0 },
        hours: Hours::Office,
        gate_us: 9000,
        agent_ms: None,
        gates: USUAL,
        tools: &[(6, "summarize_commits"), (4, "draft_notes")],
        fail_per_mille: 0,
        failures: &[(1, REFUSAL)],
        calm: 0,
        bad_days: &[27, 20],
        story: None,
    },
    Character {
        id: "translator-fr",
        volume: Volume::Exactly { evaluations: 217, days: 13 },
        hours: Hours::Office,
        gate_us: 5000,
        agent_ms: Some(2100),
        gates: USUAL,
        tools: &[(1, "translate")],
        fail_per_mille: 0,
        failures: &[],
        calm: 0,
        bad_days: &[],
        story: None,
    },
    Character {
        id: "support-triage",
        volume: Volume::Daily { working_day: 40, weekend_percent: 45 },
        hours: Hours::Office,
        gate_us: 9600,
        agent_ms: Some(1900),
        gates: USUAL,
        tools: &[(5, "reply"), (3, "lookup"), (1, "escalate"), (2, "summarize")],
        fail_per_mille: 5,
        failures: &[(2, PHONE), (1, EMPTY)],
        calm: 40,
        bad_days: &[1],
        story: Some(Story::Incident { days_back: 9, outputs: 62, passes: 7, failure: REPLY_WITH_ADDRESS }),
    },
    Character {
        id: "sql-analyst",
        volume: Volume::Daily { working_day: 26, weekend_percent: 8 },
        hours: Hours::Office,
        gate_us: 14_500,
        agent_ms: Some(7600),
        gates: &["latency", "pii", "content", "secrets"],
        tools: &[(7, "run_query"), (3, "explain_result")],
        fail_per_mille: 22,
        failures: &[(3, TOO_SLOW), (1, PHONE)],
        calm: 30,
        bad_days: &[],
        story: None,
    },
    Character {
        id: "refund-agent",
        volume: Volume::Daily { working_day: 36, weekend_percent: 35 },
        hours: Hours::Office,
        gate_us: 4800,
        agent_ms: Some(900),
        gates: USUAL,
        tools: &[(3, "refund"), (1, "lookup_order")],
        fail_per_mille: 0,
        failures: &[],
        calm: 0,
        bad_days: &[],
        story: Some(Story::Today {
            outputs: "........FFFF.F..F...FFF..FFFF.FF...F.F.F",
            failure: REFUND_WITH_ADDRESS,
        }),
    },
    Character {
        id: "acme/platform/nightly-dependency-upgrader",
        volume: Volume::Daily { working_day: 18, weekend_percent: 100 },
        hours: Hours::Night,
        gate_us: 22_800,
        agent_ms: None,
        gates: CODING,
        tools: &[(4, "bump_versions"), (3, "run_tests"), (2, "open_pull_request")],
        fail_per_mille: 40,
        failures: &[(3, REMOVAL), (2, EMPTY)],
        calm: 70,
        bad_days: &[],
        story: Some(Story::Today { outputs: "...F.F....F...", failure: KEY_IN_OUTPUT }),
    },
    Character {
        id: "web-scraper",
        volume: Volume::Daily { working_day: 32, weekend_percent: 100 },
        hours: Hours::Always,
        gate_us: 66_000,
        agent_ms: Some(3300),
        gates: &["pii", "content", "injection"],
        tools: &[(6, "fetch_page"), (4, "extract_table")],
        fail_per_mille: 105,
        failures: &[(4, EMPTY), (4, INJECTION), (2, PHONE)],
        calm: 1,
        bad_days: &[],
        story: None,
    },
    Character {
        id: "onboarding-mail",
        volume: Volume::Exactly { evaluations: 12, days: 2 },
        hours: Hours::Office,
        gate_us: 1600,
        agent_ms: Some(800),
        gates: USUAL,
        tools: &[(1, "draft_mail")],
        fail_per_mille: 0,
        failures: &[(1, EMPTY)],
        calm: 0,
        bad_days: &[0],
        story: None,
    },
];
