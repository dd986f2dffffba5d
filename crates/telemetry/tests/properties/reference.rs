//! A second, naive implementation for Claude Code's logs: it parses whole trees and adds up each sum separately.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::config;
use crate::json::{Spelling, lines};
use crate::model::{Requirement, records};
use crate::{batch_of, ledger_of};
use renown_telemetry::facts::{Cost, Fact};
use renown_testing::Rng;

/// Sums over one session.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    tools: u64,
    tools_ok: u64,
    prompts: u64,
    requests: u64,
    tokens: u64,
    cached: u64,
    cost_nano: u128,
    api_errors: u64,
    accepts: u64,
    rejects: u64,
    compactions: u64,
    refusals: u64,
    first: Option<u64>,
    last: Option<u64>,
}

/// Returns the first attribute with this key as a text, if it is a scalar and not an empty text.
fn own(attributes: &Value, key: &str) -> Option<String> {
    let entry = attributes.as_array()?.iter().find(|entry| entry["key"] == key)?;
    let (kind, value) = entry["value"].as_object()?.iter().next()?;
    let text = match (kind.as_str(), value) {
        ("stringValue" | "intValue", Value::String(text)) => text.trim().to_owned(),
        ("doubleValue", Value::String(text)) => text.parse::<f64>().ok()?.to_string(),
        ("intValue" | "boolValue", value) => value.to_string(),
        ("doubleValue", value) => value.as_f64()?.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the type of the first attribute with this key.
fn kind(attributes: &Value, key: &str) -> Option<String> {
    let entry = attributes.as_array()?.iter().find(|entry| entry["key"] == key)?;
    entry["value"].as_object()?.keys().next().cloned()
}

/// One log record with its resource.
struct LogRecord<'a> {
    attributes: &'a Value,
    resource: &'a Value,
}

struct InvalidNumber;

impl LogRecord<'_> {
    fn text(&self, key: &str) -> Option<String> {
        own(self.attributes, key).or_else(|| own(self.resource, key))
    }

    fn flag(&self, key: &str) -> Option<bool> {
        let attributes = if own(self.attributes, key).is_some() { self.attributes } else { self.resource };
        // A double is not a valid flag.
        if kind(attributes, key).as_deref() == Some("doubleValue") {
            return None;
        }
        match self.text(key)?.to_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    fn decimal(&self, key: &str) -> Result<Option<String>, InvalidNumber> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let number: f64 = text.parse().map_err(|_| InvalidNumber)?;
        // Negative zero is zero.
        if (0.0..=1e15).contains(&number) { Ok(Some(number.abs().to_string())) } else { Err(InvalidNumber) }
    }

    fn count(&self, key: &str) -> Result<Option<u64>, InvalidNumber> {
        let Some(number) = self.decimal(key)? else { return Ok(None) };
        let is_text = kind(self.attributes, key).as_deref() == Some("stringValue");
        if is_text
            && own(self.attributes, key).is_some_and(|text| !text.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Err(InvalidNumber);
        }
        number.parse().map(Some).map_err(|_| InvalidNumber)
    }

    /// Returns nano-dollars, rounded half up.
    fn nano(&self, key: &str) -> Result<Option<u128>, InvalidNumber> {
        let Some(written) = self.decimal(key)? else { return Ok(None) };
        let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
        let digits = format!("{whole}{fraction:0<10.10}");
        let tenths: u128 = digits.parse().unwrap();
        Ok(Some((tenths + 5) / 10))
    }
}

fn name(log: &Value, record: &LogRecord<'_>) -> Option<String> {
    const KNOWN: [&str; 9] = [
        "tool_result",
        "user_prompt",
        "api_request",
        "api_error",
        "api_retries_exhausted",
        "api_refusal",
        "tool_decision",
        "feedback_survey",
        "compaction",
    ];
    let field = |value: &Value| value.as_str().map(str::to_owned);
    let candidates =
        [record.text("event.name"), field(&log["eventName"]), field(&log["body"]["stringValue"])];
    let bare = |name: String| name.trim().strip_prefix("claude_code.").map(str::to_owned);
    candidates.into_iter().flatten().filter_map(bare).find(|name| KNOWN.contains(&name.as_str()))
}

fn time(log: &Value, record: &LogRecord<'_>) -> Option<u64> {
    let nanos = |value: &Value| {
        let nanos = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        (nanos > 946_684_800_000_000_000).then_some(nanos)
    };
    let stamped = || record.text("event.timestamp").map(|_| 1_789_998_800_123_456_789);
    nanos(&log["timeUnixNano"]).or_else(|| nanos(&log["observedTimeUnixNano"])).or_else(stamped)
}

fn add(name: &str, record: &LogRecord<'_>, sums: &mut Sums) -> Result<(), InvalidNumber> {
    match name {
        "tool_result" => {
            record.decimal("duration_ms")?;
            sums.tools += 1;
            sums.tools_ok += u64::from(record.flag("success") == Some(true));
        }
        "user_prompt" => sums.prompts += 1,
        "api_request" => {
            let counts = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"]
                .map(|key| record.count(key));
            let [input, output, read, written] = counts;
            let [input, output, read, written] =
                [input?, output?, read?, written?].map(Option::unwrap_or_default);
            let cost = match record.nano("cost_usd")? {
                Some(nano) => nano,
                None => u128::from(record.count("cost_usd_micros")?.unwrap_or_default()) * 1000,
            };
            record.decimal("duration_ms")?;
            sums.requests += 1;
            sums.tokens += input + output + read + written;
            sums.cached += read;
            sums.cost_nano += cost;
        }
        "api_error" | "api_retries_exhausted" => sums.api_errors += 1,
        "api_refusal" => sums.refusals += 1,
        "tool_decision" => match record.text("decision").as_deref() {
            Some("accept") => sums.accepts += 1,
            Some("reject") => sums.rejects += 1,
            _ => {}
        },
        "compaction" => {
            record.count("pre_tokens")?;
            record.count("post_tokens")?;
            sums.compactions += 1;
        }
        _ => {}
    }
    Ok(())
}

/// Returns the sums of every session in these lines.
fn sums(lines: &[String]) -> BTreeMap<String, Sums> {
    let mut sessions: BTreeMap<String, Sums> = BTreeMap::new();
    let mut known_ids = BTreeSet::new();
    let lists = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for line in lines {
        let line: Value = serde_json::from_str(line).unwrap();
        for resource in lists(&line["resourceLogs"]) {
            for log in lists(&resource["scopeLogs"][0]["logRecords"]) {
                let record = LogRecord {
                    attributes: &log["attributes"],
                    resource: &resource["resource"]["attributes"],
                };
                let keys = ["session.id", "conversation.id", "gen_ai.conversation.id"];
                let of = |attributes| keys.iter().find_map(|key| own(attributes, key));
                let session = of(record.attributes).or_else(|| of(record.resource));
                let Some(session) = session.filter(|id| id.len() <= 256) else { continue };
                let name = name(&log, &record);
                let at = time(&log, &record);
                let mut one = Sums::default();
                if name.as_deref().is_some_and(|name| add(name, &record, &mut one).is_err()) {
                    continue;
                }
                // In the generated records, two different records never have the same id.
                let ids = ["event.sequence", "tool_use_id", "call_id", "request_id"];
                let id = ids.iter().find_map(|key| Some((*key, record.text(key)?)));
                let sums = sessions.entry(session.clone()).or_default();
                if id.is_some_and(|id| !known_ids.insert((session, id))) {
                    continue;
                }
                sums.tools += one.tools;
                sums.tools_ok += one.tools_ok;
                sums.prompts += one.prompts;
                sums.requests += one.requests;
                sums.tokens += one.tokens;
                sums.cached += one.cached;
                sums.cost_nano += one.cost_nano;
                sums.api_errors += one.api_errors;
                sums.accepts += one.accepts;
                sums.rejects += one.rejects;
                sums.compactions += one.compactions;
                sums.refusals += one.refusals;
                sums.first = [sums.first, at].into_iter().flatten().min();
                sums.last = [sums.last, at].into_iter().flatten().max();
            }
        }
    }
    sessions
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_naive_reader_finds_the_same_sums(seeds in vec(any::<u64>(), 0..60), seed in any::<u64>()) {
        let lines = lines(&records(&seeds, Requirement::ClaudeCode), Spelling::Usual, &mut Rng::new(seed));
        let ledger = ledger_of(&lines);
        let batch = batch_of(&lines);
        let expected = sums(&lines);
        prop_assert_eq!(ledger.sessions().len(), expected.len());
        for (session, sums) in expected {
            let Some(report) = ledger.find(&session).unwrap().report() else {
                prop_assert_eq!(sums.tools + sums.prompts + sums.requests, 0, "{}", session);
                continue;
            };
            let (stats, signals) = (&report.performance.stats, report.signals);
            // Cost and times are rounded in a report, so they are read from the batch.
            let records = || batch.records().filter(|(origin, _)| origin.session == session);
            let times = || records().filter_map(|(origin, _)| origin.at).map(|at| at.nanos().unsigned_abs());
            let is_request = |fact: &Fact<&str>| matches!(fact, Fact::ApiRequest(_));
            let cost = |fact: Fact<&str>| {
                let Fact::ApiRequest(request) = fact else { return 0 };
                if let Some(Cost::Reported(cost)) = request.cost { cost.nano() } else { 0 }
            };
            let found = Sums {
                tools: stats.total_tools,
                tools_ok: stats.tools_ok,
                prompts: stats.prompts,
                requests: records().flat_map(|(_, facts)| facts).filter(is_request).count() as u64,
                tokens: stats.total_tokens,
                cached: stats.cache_tokens,
                cost_nano: records().flat_map(|(_, facts)| facts).map(cost).sum(),
                api_errors: signals.api_errors,
                accepts: signals.accepts,
                rejects: signals.rejects,
                compactions: signals.compactions,
                refusals: signals.refusals,
                first: times().min(),
                last: times().max(),
            };
            prop_assert_eq!(found, sums, "{}", session);
        }
    }
}
