//! Do the fixtures of each agent give the facts that were counted by hand, wherever the file is cut, and nothing else?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken test fails loudly"
)]

use renown_telemetry::dialect::Agent;
use renown_telemetry::ledger::TimeRange;
use renown_telemetry::prices::Prices;
use renown_telemetry::transcript::opencode::{OpenCodeReader, OpenCodeSession};
use renown_telemetry::transcript::{Transcript, TranscriptMerge, TranscriptPath, TranscriptReader};
use serde_json::{Value, json};

/// Every payload in the fixtures has this text.
const MARKER: &str = "MARKER-5f1d";

struct Fixture {
    agent: Agent,
    text: &'static str,
    is_subagent: bool,
}

macro_rules! fixture {
    ($agent:expr, $name:literal) => {
        Fixture {
            agent: $agent,
            text: include_str!(concat!("transcripts/", $name, ".jsonl")),
            is_subagent: $name == "claude-code-agent",
        }
    };
}

fn fixtures() -> [Fixture; 7] {
    [
        fixture!(Agent::ClaudeCode, "claude-code"),
        fixture!(Agent::ClaudeCode, "claude-code-agent"),
        fixture!(Agent::Codex, "codex"),
        fixture!(Agent::GeminiCli, "gemini-cli"),
        fixture!(Agent::QwenCode, "qwen-code"),
        fixture!(Agent::Copilot, "copilot-cli"),
        fixture!(Agent::Pi, "pi"),
    ]
}

fn read(fixture: &Fixture, text: &[u8]) -> Transcript {
    let path = TranscriptPath { stem: "stem", is_subagent: fixture.is_subagent, ..TranscriptPath::default() };
    let mut reader = TranscriptReader::new(fixture.agent, path).unwrap();
    let mut lines = text.split(|byte| *byte == b'\n');
    let last = lines.next_back().unwrap();
    lines.for_each(|line| reader.line(line));
    reader.last_line(last);
    reader.finish()
}

/// Returns the rows of the fixture of OpenCode as they come from its database.
fn opencode() -> Transcript {
    let mut reader = OpenCodeReader::default();
    for line in include_str!("transcripts/opencode-rows.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        match text("table") {
            "session" => reader.session(&OpenCodeSession {
                id: text("id"),
                parent: row["parent_id"].as_str(),
                directory: row["directory"].as_str(),
                version: row["version"].as_str(),
                created_ms: row["time_created"].as_i64(),
            }),
            "message" => reader.message(text("id"), text("session_id"), text("data")),
            "part" => reader.part(text("message_id"), text("data")),
            table => panic!("{table}"),
        }
    }
    reader.finish()
}

/// Returns each session's stats and signals, in the order of their ids.
fn judged(files: impl IntoIterator<Item = (Agent, Transcript)>) -> Vec<Value> {
    let prices = Prices::default();
    let mut merge = TranscriptMerge::new(TimeRange::default(), &prices);
    files.into_iter().for_each(|(agent, file)| merge.add(agent, file));
    let mut sessions = merge.finish();
    sessions.sort_by(|a, b| a.session.id().cmp(b.session.id()));
    let report = |judged: &renown_telemetry::transcript::JudgedTranscript| {
        let report = serde_json::to_value(judged.report()?).unwrap();
        Some(json!({
            "agent": report["agent"], "stats": report["stats"], "signals": report["signals"],
            "minutes": report["duration_min"], "models": judged.models, "version": judged.agent_version,
            "project": judged.project,
        }))
    };
    sessions.iter().filter_map(report).collect()
}

#[test]
fn each_fixture_gives_the_facts_that_were_counted_by_hand() {
    // [prompts, tools, ok, tokens, cached] and [errors, accepts, rejects, by the user, compactions]
    for (agent, stats, signals) in [
        ("claude-code", [3, 5, 4, 67_059, 63_700], [1, 0, 1, 1, 1]),
        ("codex", [1, 3, 1, 11_200, 9_216], [1, 0, 1, 1, 1]),
        ("gemini-cli", [1, 2, 1, 17_415, 16_000], [0, 0, 1, 1, 0]),
        ("qwen-code", [1, 2, 1, 1_125, 50], [0, 1, 0, 0, 1]),
        ("copilot", [1, 1, 1, 71_425, 35_495], [1, 0, 1, 0, 1]),
        ("pi", [1, 2, 1, 1_092, 900], [1, 0, 0, 0, 1]),
        ("opencode", [1, 1, 1, 22_126, 21_415], [1, 0, 1, 1, 1]),
    ] {
        let files =
            fixtures().into_iter().map(|fixture| (fixture.agent, read(&fixture, fixture.text.as_bytes())));
        let files = files.chain([(Agent::OpenCode, opencode())]);
        let found = judged(files.filter(|(found, _)| found.name() == agent));
        let [found] = found.as_slice() else { panic!("{agent}: {found:?}") };
        let numbers =
            |object: &str, names: [&str; 5]| names.map(|name| found[object][name].as_u64().unwrap());
        let names = ["prompts", "total_tools", "tools_ok", "total_tokens", "cache_tokens"];
        assert_eq!(numbers("stats", names), stats, "{agent}");
        let names = ["api_errors", "accepts", "rejects", "rejects_by_user", "compactions"];
        assert_eq!(numbers("signals", names), signals, "{agent}");
        if !matches!(agent, "gemini-cli") {
            assert!(found["project"].as_str().unwrap().starts_with("/home/dev/"), "{agent}");
        }
        assert_eq!(found["models"].as_array().unwrap().len(), 1, "{agent}");
    }
}

#[test]
fn a_cut_at_any_byte_keeps_all_complete_lines() {
    for fixture in fixtures() {
        let bytes = fixture.text.as_bytes();
        let mut whole = 0;
        for cut in 0..=bytes.len() {
            let counts = read(&fixture, &bytes[..cut]).counts;
            let rest = bytes[..cut].rsplit(|byte| *byte == b'\n').next().unwrap();
            let is_whole = serde_json::from_slice::<Value>(rest).is_ok();
            assert_eq!(counts.lines, whole + u64::from(is_whole), "{} at {cut}", fixture.agent.name());
            let truncated = if is_whole { 0 } else { rest.len() as u64 };
            assert_eq!((counts.bad_lines, counts.truncated_bytes), (0, truncated), "at {cut}");
            whole += u64::from(bytes.get(cut) == Some(&b'\n'));
        }
    }
}

#[test]
fn no_line_depends_on_the_rest_of_the_file_being_valid() {
    for fixture in fixtures() {
        let expected = judged([(fixture.agent, read(&fixture, fixture.text.as_bytes()))]);
        let broken = fixture.text.replace('\n', "\nnot json\n{\"type\":\n\0\0\n[]\n");
        let file = read(&fixture, broken.as_bytes());
        assert_eq!(file.counts.bad_lines, 3 * fixture.text.lines().count() as u64);
        assert_eq!(judged([(fixture.agent, file)]), expected, "{}", fixture.agent.name());
    }
}

#[test]
fn payloads_are_never_kept() {
    let files =
        fixtures().into_iter().map(|fixture| (fixture.agent, read(&fixture, fixture.text.as_bytes())));
    let files: Vec<(Agent, Transcript)> = files.chain([(Agent::OpenCode, opencode())]).collect();
    let keeps = |bytes: &[u8]| bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
    for fixture in fixtures() {
        assert!(keeps(fixture.text.as_bytes()), "the fixture has payloads");
    }
    for (agent, file) in &files {
        assert!(!keeps(&file.to_bytes()), "{}", agent.name());
        assert_eq!(Transcript::from_bytes(&file.to_bytes()).as_ref(), Some(file));
    }
    assert!(!keeps(serde_json::to_string(&judged(files)).unwrap().as_bytes()));
}

#[test]
fn the_order_of_files_does_not_matter() {
    let files = || -> Vec<(Agent, Transcript)> {
        let files =
            fixtures().into_iter().map(|fixture| (fixture.agent, read(&fixture, fixture.text.as_bytes())));
        files.chain([(Agent::OpenCode, opencode())]).collect()
    };
    let expected = judged(files());
    assert_eq!(expected.len(), 7);
    let mut rng = renown_testing::Rng::new(11);
    for _ in 0..20 {
        let mut shuffled = files();
        rng.shuffle(&mut shuffled);
        // A file that is read twice counts once.
        shuffled.extend(files());
        assert_eq!(judged(shuffled), expected);
    }
}

#[test]
fn damaged_bytes_of_a_cache_are_rejected_without_a_panic() {
    for fixture in fixtures() {
        let bytes = read(&fixture, fixture.text.as_bytes()).to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Transcript::from_bytes(&bytes[..end]), None);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            if let Some(file) = Transcript::from_bytes(&damaged) {
                judged([(fixture.agent, file)]);
            }
        }
    }
}
