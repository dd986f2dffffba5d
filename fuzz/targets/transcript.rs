//! Transcripts: the first byte of the input is the agent, the rest is a file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_fuzz::prices;
use renown_telemetry::dialect::Agent;
use renown_telemetry::ledger::TimeRange;
use renown_telemetry::transcript::opencode::{OpenCodeReader, OpenCodeSession};
use renown_telemetry::transcript::{Transcript, TranscriptMerge, TranscriptPath, TranscriptReader};

const AGENTS: [Agent; 6] =
    [Agent::ClaudeCode, Agent::Codex, Agent::GeminiCli, Agent::QwenCode, Agent::Copilot, Agent::Pi];

fuzz_target!(|input: &[u8]| {
    let Some((first, text)) = input.split_first() else { return };
    let agent = AGENTS.get(usize::from(first.wrapping_sub(b'0'))).copied();
    let (agent, file) = match agent {
        Some(agent) => (agent, lines(agent, text)),
        None => (Agent::OpenCode, rows(text)),
    };
    let again = Transcript::from_bytes(&file.to_bytes());
    assert_eq!(again.as_ref(), Some(&file), "the encoding is exact");
    let counts = file.counts;
    assert!(counts.bad_lines <= counts.lines && counts.unknown <= counts.lines);
    let once = reports(agent, [file.clone()]);
    // A file and its copy are the file.
    assert_eq!(once, reports(agent, [file.clone(), file]));
});

fn lines(agent: Agent, text: &[u8]) -> Transcript {
    let path = TranscriptPath { stem: "stem", ..TranscriptPath::default() };
    let Some(mut reader) = TranscriptReader::new(agent, path) else { return Transcript::default() };
    let mut lines = text.split(|byte| *byte == b'\n');
    let last = lines.next_back().unwrap_or_default();
    lines.for_each(|line| reader.line(line));
    reader.last_line(last);
    reader.finish()
}

fn rows(text: &[u8]) -> Transcript {
    let mut reader = OpenCodeReader::default();
    reader.session(&OpenCodeSession { id: "s", ..OpenCodeSession::default() });
    for (number, row) in text.split(|byte| *byte == b'\n').enumerate() {
        let Ok(row) = std::str::from_utf8(row) else {
            reader.bad();
            continue;
        };
        match number % 3 {
            0 => reader.message("m", "s", row),
            1 => reader.part("m", row),
            _ => reader.session_file(row),
        }
    }
    reader.finish()
}

/// Returns the reports of all sessions, in order. Asserts that scores are in range.
fn reports<const FILES: usize>(agent: Agent, files: [Transcript; FILES]) -> Vec<String> {
    let prices = prices();
    let mut merge = TranscriptMerge::new(TimeRange::default(), &prices);
    files.into_iter().for_each(|file| merge.add(agent, file));
    let mut found: Vec<String> = Vec::new();
    for judged in merge.finish() {
        let Some(report) = judged.report() else { continue };
        assert!((0..=100).contains(&report.performance.composite.units()));
        let stats = &report.performance.stats;
        assert!(stats.tools_ok <= stats.total_tools && stats.cache_tokens <= stats.total_tokens);
        assert!(report.started_at <= report.ended_at);
        found.push(serde_json::to_string(&report).expect("a report is JSON"));
    }
    found.sort();
    found
}
