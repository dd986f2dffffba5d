//! `renown judge --submit URL --history`: sends the sessions on this machine to a server.
//!
//! The facts are sent, not the transcripts: log records of the dialect `renown.transcript.*`
//! (`crates/telemetry/src/dialect/transcript.rs`). Each has an identity that does not change, so a second import adds only
//! what is new, and an import that broke off is continued by repeating it.
//!
//! Of the times at which a session was active, only as many are sent as its active time needs: from one to the next at
//! most 30 minutes pass, or the session was idle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::mpsc::SyncSender;

use renown_core::time::Timestamp;
use renown_telemetry::dialect::{Agent, TRANSCRIPT_PREFIX};
use renown_telemetry::facts::{ApiRequest, Cost, Decider, Fact, RecordOrigin, Tokens};

use super::local::data;
use super::submit::Submission;
use super::{Judge, no_logs};
use crate::failure::{self, Failure};
use crate::history::{self, Wanted, prices};
use crate::setup::server::ServerUrl;
use crate::table::counted;

/// The longest time without a sign of activity, as in the rule of active time.
const GAP_NS: i64 = 30 * 60 * 1_000_000_000;

/// Number of records per line.
const RECORDS_PER_LINE: usize = 500;

pub(super) fn run(judge: &Judge<'_>, server: &ServerUrl) -> Result<ExitCode, Failure> {
    let args = judge.args;
    let found = history::find(args.agent_kind());
    if found.sources.is_empty() {
        return Err(no_logs());
    }
    let (prices, _) = prices::with_common(&judge.prices);
    let wanted = Wanted {
        agent: args.agent_kind(),
        range: judge.cut,
        data: data(args),
        quiet: judge.quiet,
        is_watching: false,
        agent_id: args.agent_id.as_ref().map(ToString::to_string),
    };
    let (submission, lines) = Submission::begin(server, args.key.as_deref(), judge.quiet)?;
    let mut import = Import { lines, records: Vec::new(), active: BTreeMap::new() };
    let history = history::load_into(&wanted, found, &prices, &mut |origin, facts| import.add(origin, facts));
    import.finish();
    submission.finish(judge.quiet)?;
    if !judge.quiet {
        failure::note(&history.summary.line(history.sessions.len()));
        failure::note(&format!("imported {}", counted(history.sessions.len() as u64, "session")));
    }
    Ok(ExitCode::SUCCESS)
}

struct Import {
    lines: SyncSender<Vec<u8>>,
    records: Vec<String>,
    /// Times at which sessions were active, by agent, agent id and session.
    active: BTreeMap<(Agent, String, String), Vec<i64>>,
}

impl Import {
    fn add(&mut self, origin: &RecordOrigin<&str>, facts: &[Fact<&str>]) {
        if let Some(at) = origin.at {
            let key = (origin.agent.value, origin.agent_id.value.to_owned(), origin.session.to_owned());
            self.active.entry(key).or_default().push(at.nanos());
        }
        for fact in facts {
            let mut record = Record::new(origin.session, origin.agent.value, origin.agent_id.value);
            record.fact(fact);
            let id = origin.repeat.map_or(0, std::num::NonZero::get);
            self.push(record.finish(origin.at.map(Timestamp::nanos), &format!("{id:016x}")));
        }
    }

    fn push(&mut self, record: String) {
        self.records.push(record);
        if self.records.len() == RECORDS_PER_LINE {
            self.send();
        }
    }

    fn send(&mut self) {
        let records = std::mem::take(&mut self.records).join(",");
        let line = format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{records}]}}]}}]}}"#);
        // If the receiver has stopped, it reports why.
        let _ = self.lines.send((line + "\n").into_bytes());
    }

    fn finish(mut self) {
        for ((agent, agent_id, session), mut times) in std::mem::take(&mut self.active) {
            times.sort_unstable();
            for at in thinned(&times) {
                let mut record = Record::new(&session, agent, &agent_id);
                record.name = "activity";
                self.push(record.finish(Some(at), &format!("t{at}")));
            }
        }
        if !self.records.is_empty() {
            self.send();
        }
    }
}

/// Returns as few of the sorted times as have the same gaps of more than 30 minutes, and the same ends.
fn thinned(times: &[i64]) -> Vec<i64> {
    let mut kept: Vec<i64> = Vec::new();
    let mut last = None;
    for &at in times {
        let start = *kept.last().unwrap_or(&i64::MIN);
        match last {
            // The next one is too far away from the last one that was kept, so the one in between is needed.
            Some(last) if last > start && at.saturating_sub(start) > GAP_NS => {
                kept.push(last);
                if at - last > GAP_NS {
                    kept.push(at);
                }
            }
            Some(_) if at.saturating_sub(start) <= GAP_NS => {}
            Some(_) | None => kept.push(at),
        }
        last = Some(at);
    }
    kept.extend(last.filter(|last| kept.last() != Some(last)));
    kept
}

/// A log record in the making.
struct Record {
    name: &'static str,
    attributes: String,
}

impl Record {
    fn new(session: &str, agent: Agent, agent_id: &str) -> Self {
        let mut record = Self { name: "", attributes: String::new() };
        record.text("session.id", session);
        record.text("service.name", agent.service_name());
        record.text("renown.agent_id", agent_id);
        record
    }

    fn text(&mut self, key: &str, text: &str) {
        let text = serde_json::to_string(text).unwrap_or_default();
        self.value(key, &format!(r#"{{"stringValue":{text}}}"#));
    }

    fn number(&mut self, key: &str, number: u64) {
        self.value(key, &format!(r#"{{"intValue":"{number}"}}"#));
    }

    fn value(&mut self, key: &str, value: &str) {
        let comma = if self.attributes.is_empty() { "" } else { "," };
        let _ = write!(self.attributes, r#"{comma}{{"key":"{key}","value":{value}}}"#);
    }

    fn fact(&mut self, fact: &Fact<&str>) {
        match fact {
            Fact::ToolResult { tool, ok, duration_us, error_type } => {
                self.name = "tool_result";
                self.optional("tool_name", *tool);
                self.optional("error_type", *error_type);
                if let Some(ok) = ok {
                    self.value("success", &format!(r#"{{"boolValue":{ok}}}"#));
                }
                if let Some(micros) = duration_us {
                    self.text("duration_ms", &format!("{}.{:03}", micros / 1000, micros % 1000));
                }
            }
            Fact::Prompt { .. } => self.name = "prompt",
            Fact::ApiRequest(request) => self.request(request),
            Fact::ApiError { error_type, .. } => {
                self.name = "api_error";
                self.optional("error_type", *error_type);
            }
            Fact::ToolDecision { tool, accepted, by } => {
                self.name = "tool_decision";
                self.optional("tool_name", *tool);
                self.text("decision", if *accepted { "accept" } else { "reject" });
                self.text(
                    "source",
                    match by {
                        Decider::User => "user_decision",
                        Decider::Policy => "config",
                        Decider::Hook => "hook",
                        Decider::Unknown => "unknown",
                    },
                );
            }
            Fact::Compaction { before, after } => {
                self.name = "compaction";
                for (key, count) in [("pre_tokens", before), ("post_tokens", after)] {
                    if let Some(count) = count {
                        self.number(key, *count);
                    }
                }
            }
            Fact::Refusal => self.name = "refusal",
            // No transcript has a rating.
            Fact::Feedback { .. } => self.name = "activity",
        }
    }

    fn request(&mut self, request: &ApiRequest<&str>) {
        self.name = "api_request";
        self.optional("model", request.model);
        if let Some(Tokens { input, output, cache_read, cache_creation }) = request.tokens {
            self.number("input_tokens", input);
            self.number("output_tokens", output);
            self.number("cache_read_tokens", cache_read);
            self.number("cache_creation_tokens", cache_creation);
        }
        let (cost, is_estimate) = match request.cost {
            Some(Cost::Reported(cost)) => (cost.nano(), false),
            Some(Cost::Priced(cost)) => (cost.nano(), true),
            None => return,
        };
        self.text("cost_usd", &format!("{}.{:09}", cost / 1_000_000_000, cost % 1_000_000_000));
        if is_estimate {
            self.text("source", "priced");
        }
    }

    fn optional(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn finish(mut self, at: Option<i64>, id: &str) -> String {
        self.text("call_id", id);
        let Self { name, attributes } = self;
        let time = at.map(|at| format!(r#""timeUnixNano":"{at}","#)).unwrap_or_default();
        format!(r#"{{{time}"eventName":"{TRANSCRIPT_PREFIX}{name}","attributes":[{attributes}]}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_times_have_the_same_ends_and_the_same_long_gaps() {
        let minutes = |list: &[i64]| list.iter().map(|minute| minute * 60_000_000_000).collect::<Vec<_>>();
        for (times, expected) in [
            (&[][..], &[][..]),
            (&[5], &[5]),
            (&[0, 1, 2, 3], &[0, 3]),
            (&[0, 10, 20, 30, 40, 50, 60], &[0, 30, 60]),
            (&[0, 20, 40, 60], &[0, 20, 40, 60]),
            (&[0, 5, 50, 51, 90], &[0, 5, 50, 51, 90]),
            (&[0, 31], &[0, 31]),
            (&[7, 7, 7], &[7]),
        ] {
            assert_eq!(thinned(&minutes(times)), minutes(expected), "{times:?}");
        }
    }
}
