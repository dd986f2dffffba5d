//! Helpers for the tests of the dialects: they read one record and return its facts.

use crate::facts::{ApiRequest, Batch, Cost, Fact, Tokens};
use crate::json;
use crate::prices::Prices;

/// Returns the facts of a log record with this name. Attributes are `key=value` pairs with JSON values:
/// `success=true model="m"`.
pub(super) fn log(name: &str, attributes: &str) -> Vec<Fact<String>> {
    read(&format!(
        r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"eventName":"{name}","attributes":[{}]}}]}}]}}]}}"#,
        list(attributes)
    ))
}

/// Returns the facts of a span that takes 2.5 s. `status` is the status code.
pub(super) fn span(name: &str, status: u8, attributes: &str) -> Vec<Fact<String>> {
    read(&format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"name":"{name}","traceId":"{}","spanId":"01",
            "startTimeUnixNano":"1790000000000000000","endTimeUnixNano":"1790000002500000000",
            "status":{{"code":{status}}},"attributes":[{}]}}]}}]}}]}}"#,
        TRACE,
        list(attributes)
    ))
}

/// The trace id of every span in these tests.
pub(super) const TRACE: &str = "7c1f0e6a92b84d3fa5d0c9e817264b3a";

/// Converts `key=value` pairs, separated by blanks, to JSON attributes. A number without a point is an integer.
fn list(attributes: &str) -> String {
    let one = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap();
        let kind = match value.as_bytes()[0] {
            b'"' => "stringValue",
            b't' | b'f' => "boolValue",
            b'[' => return format!(r#"{{"key":"{key}","value":{{"arrayValue":{{"values":{value}}}}}}}"#),
            _ if value.contains('.') => "doubleValue",
            _ => "intValue",
        };
        format!(r#"{{"key":"{key}","value":{{"{kind}":{value}}}}}"#)
    };
    ["session.id=\"s\""]
        .into_iter()
        .chain(attributes.split_whitespace())
        .map(one)
        .collect::<Vec<_>>()
        .join(",")
}

fn read(line: &str) -> Vec<Fact<String>> {
    let mut batch = Batch::default();
    json::read(line.as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
    assert_eq!(batch.account.bad_values, 0, "{line}");
    let (origin, facts) = batch.records().next().unwrap();
    assert!(origin.known, "{line}");
    facts.map(|fact| fact.map(str::to_owned)).collect()
}

/// Creates a tool result.
pub(super) fn tool(
    tool: &str,
    ok: Option<bool>,
    duration_us: Option<u64>,
    error_type: Option<&str>,
) -> Fact<String> {
    Fact::ToolResult {
        tool: Some(tool.to_owned()),
        ok,
        duration_us,
        error_type: error_type.map(str::to_owned),
    }
}

/// Creates a model call with these tokens: input, output, cache read, cache creation.
pub(super) fn call(tokens: Option<[u64; 4]>) -> ApiRequest<String> {
    let tokens = tokens.map(|[input, output, cache_read, cache_creation]| Tokens {
        input,
        output,
        cache_read,
        cache_creation,
    });
    ApiRequest { model: None, tokens, cost: None, duration_us: None, is_sum: false }
}

/// Creates a reported cost.
pub(super) fn usd(text: &str) -> Cost {
    Cost::Reported(text.parse().unwrap())
}
