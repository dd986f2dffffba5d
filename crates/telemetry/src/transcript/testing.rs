//! Shows the facts of transcripts as lines, so that tests compare tables.

use std::collections::BTreeMap;

use renown_core::time::Timestamp;

use super::{JudgedTranscript, Transcript, TranscriptMerge, TranscriptPath, TranscriptReader};
use crate::dialect::Agent;
use crate::facts::{Cost, Decider, Fact};
use crate::ledger::TimeRange;
use crate::prices::{Price, Prices};

/// Reads a file from its lines.
pub(super) fn read(agent: Agent, path: TranscriptPath<'_>, text: &str) -> Transcript {
    let mut reader = TranscriptReader::new(agent, path).unwrap();
    let (lines, last) = text.rsplit_once('\n').unwrap_or(("", text));
    lines.split('\n').for_each(|line| reader.line(line.as_bytes()));
    reader.last_line(last.as_bytes());
    reader.finish()
}

/// A file named `stem`.
pub(super) fn named(stem: &str) -> TranscriptPath<'_> {
    TranscriptPath { stem, ..TranscriptPath::default() }
}

/// $1, $2, $3 and $4 per token: input, output, read and written.
fn prices() -> Prices {
    let dollars = |millions: u32| format!("{millions}000000").parse().unwrap();
    let price = Price {
        input: dollars(1),
        output: dollars(2),
        cache_read: dollars(3),
        cache_creation: dollars(4),
        cache_creation_1h: dollars(9),
    };
    Prices::new([("priced".to_owned(), price)])
}

pub(super) type Facts = BTreeMap<String, Vec<String>>;

/// Returns the facts of each session in the order of time, and the sessions.
pub(super) fn merged(files: &[(Agent, Transcript)], range: TimeRange) -> (Facts, Vec<JudgedTranscript>) {
    let prices = prices();
    let mut merge = TranscriptMerge::new(range, &prices);
    for (agent, file) in files {
        // What a cache holds is what was read.
        let file = Transcript::from_bytes(&file.to_bytes()).unwrap();
        merge.add(*agent, file);
    }
    let mut facts: BTreeMap<String, Vec<(Option<Timestamp>, String)>> = BTreeMap::new();
    let sessions = merge.finish_into(&mut |origin, found| {
        let list = facts.entry(origin.session.to_owned()).or_default();
        list.extend(found.iter().map(|fact| (origin.at, shown(fact))));
    });
    let sorted = facts.into_iter().map(|(session, mut list)| {
        list.sort();
        (session, list.into_iter().map(|(_, text)| text).collect())
    });
    (sorted.collect(), sessions)
}

/// Checks the facts of one file with one session.
#[track_caller]
pub(super) fn check(agent: Agent, text: &str, expected: &[&str]) {
    let (facts, _) = merged(&[(agent, read(agent, named("s"), text))], TimeRange::default());
    let found: Vec<String> = facts.into_values().flatten().collect();
    assert_eq!(found, expected, "{text}");
}

fn shown(fact: &Fact<&str>) -> String {
    let by = |by: &Decider| match by {
        Decider::User => "user",
        Decider::Policy => "policy",
        Decider::Hook => "hook",
        Decider::Unknown => "unknown",
    };
    let named = |name: Option<&str>| name.map(|name| format!(" {name}")).unwrap_or_default();
    match fact {
        Fact::ToolResult { tool, ok, .. } => {
            let ok = match ok {
                Some(true) => "ok",
                Some(false) => "failed",
                None => "unknown",
            };
            format!("tool{} {ok}", named(*tool))
        }
        Fact::Prompt { .. } => "prompt".to_owned(),
        Fact::ApiRequest(request) => {
            let tokens = request
                .tokens
                .map(|t| format!(" {}+{}+{}+{}", t.input, t.output, t.cache_read, t.cache_creation));
            let cost = match request.cost {
                None => String::new(),
                Some(Cost::Reported(cost)) => format!(" ${}", cost.nano()),
                Some(Cost::Priced(cost)) => format!(" ~${}", cost.nano()),
            };
            format!("request{}{}{cost}", named(request.model), tokens.unwrap_or_default())
        }
        Fact::ApiError { status, error_type } => {
            let status = status.map(|status| format!(" {status}")).unwrap_or_default();
            format!("error{status}{}", named(*error_type))
        }
        Fact::ToolDecision { tool, accepted, by: who } => {
            let what = if *accepted { "accept" } else { "reject" };
            format!("{what}{} by {}", named(*tool), by(who))
        }
        Fact::Feedback { rating } => format!("feedback {rating}"),
        Fact::Compaction { before, .. } => {
            format!("compaction{}", before.map(|before| format!(" {before}")).unwrap_or_default())
        }
        Fact::Refusal => "refusal".to_owned(),
    }
}
