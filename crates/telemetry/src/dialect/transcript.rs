//! # Transcripts that were imported
//!
//! Logs, `renown.transcript.*`, that `renown judge --submit URL --history` sends. They are the facts of transcripts,
//! and are scored as such: by active time, and only if the session has no telemetry with a tool result.
//!
//! | event | fact | attributes |
//! |---|---|---|
//! | `tool_result` | tool result | `tool_name`, `success`, `duration_ms`, `error_type` |
//! | `prompt` | prompt | |
//! | `api_request` | API request | `model`, the four token counts, `cost_usd`; `source` priced if the cost is an estimate |
//! | `api_error` | API error | `error_type` |
//! | `tool_decision` | tool decision | `tool_name`, `decision`, `source` config, hook or user |
//! | `compaction` | compaction | `pre_tokens`, `post_tokens` |
//! | `refusal` | refusal | |
//! | `activity` | none: the session was active | |
//!
//! `call_id` is the identity of a record. The time is not part of it: a response that has grown since the last import
//! has another time.

use super::claude_code;
use crate::attributes::Key;
use crate::facts::{Cost, Fact};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// The prefix of the event names, after which the name of the event comes.
pub const PREFIX: &str = "renown.transcript.";

/// Returns the reader of a log event.
pub(super) fn log(name: &str) -> Option<Reader> {
    Some(match name.strip_prefix(PREFIX)? {
        "tool_result" => claude_code::tool_result,
        "prompt" => claude_code::prompt,
        "api_request" => api_request,
        "api_error" => claude_code::api_error,
        "tool_decision" => claude_code::tool_decision,
        "compaction" => claude_code::compaction,
        "refusal" => claude_code::refusal,
        "activity" => nothing,
        _ => return None,
    })
}

type Read = Result<(), BadValue>;

fn api_request<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let before = facts.len();
    claude_code::api_request(fields, facts)?;
    if fields.word(Key::Source).as_deref() == Some("priced") {
        for fact in facts.iter_mut().skip(before) {
            if let Fact::ApiRequest(request) = fact
                && let Some(Cost::Reported(cost)) = request.cost
            {
                request.cost = Some(Cost::Priced(cost));
            }
        }
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn nothing<'a>(_: &Fields<'_, 'a>, _: &mut Vec<ReadFact<'a>>) -> Read {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::{call, log, tool};
    use crate::facts::{ApiRequest, Decider};
    use renown_core::units::NanoUsd;

    #[test]
    fn log_events_become_facts() {
        let counts = "input_tokens=1 output_tokens=2 cache_read_tokens=3 cache_creation_tokens=4";
        let request = |cost: &dyn Fn(NanoUsd) -> Cost| {
            let cost = Some(cost("0.5".parse().unwrap()));
            vec![Fact::ApiRequest(ApiRequest { cost, ..call(Some([1, 2, 3, 4])) })]
        };
        for (name, attributes, expected) in [
            ("tool_result", "tool_name=\"Edit\" success=true", vec![tool("Edit", Some(true), None, None)]),
            ("tool_result", "tool_name=\"Edit\"", vec![tool("Edit", None, None, None)]),
            ("prompt", "", vec![Fact::Prompt { trace: None }]),
            ("api_request", &format!("{counts} cost_usd=0.5"), request(&Cost::Reported)),
            ("api_request", &format!("{counts} cost_usd=0.5 source=\"priced\""), request(&Cost::Priced)),
            (
                "tool_decision",
                "tool_name=\"Edit\" decision=\"reject\" source=\"user_reject\"",
                vec![Fact::ToolDecision {
                    tool: Some("Edit".to_owned()),
                    accepted: false,
                    by: Decider::User,
                }],
            ),
            ("refusal", "", vec![Fact::Refusal]),
            ("activity", "", vec![]),
        ] {
            assert_eq!(log(&format!("{PREFIX}{name}"), attributes), expected, "{name} {attributes}");
        }
    }
}
