//! `OTEL_RESOURCE_ATTRIBUTES`: a list `key=value,key=value` with percent-encoded values, like W3C baggage.

use std::fmt::Write as _;

use renown_core::ids::AgentId;

/// The environment variable.
pub(crate) const VARIABLE: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// The attribute with the id of the agent.
const AGENT_ID: &str = "renown.agent_id";

/// Returns the list with this agent in it. Other attributes and their order stay unchanged.
pub(crate) fn with_agent(list: Option<&str>, agent: &AgentId) -> String {
    let ours = format!("{AGENT_ID}={}", encode(agent.as_str()));
    let mut entries: Vec<&str> = Vec::new();
    let mut placed = false;
    for entry in list.unwrap_or_default().split(',') {
        if !is_agent(entry) {
            entries.push(entry);
        } else if !placed {
            entries.push(&ours);
            placed = true;
        }
    }
    entries.retain(|entry| !entry.trim().is_empty());
    if !placed {
        entries.push(&ours);
    }
    entries.join(",")
}

/// Returns whether the list names an agent.
pub(crate) fn has_agent(list: Option<&str>) -> bool {
    list.unwrap_or_default().split(',').any(is_agent)
}

fn is_agent(entry: &str) -> bool {
    entry.split_once('=').is_some_and(|(key, value)| key.trim() == AGENT_ID && !value.trim().is_empty())
}

/// Percent-encodes everything except ASCII letters, digits and `-._~`. Strict readers need that for commas, equal signs, spaces,
/// quotes, backslashes, percent signs and non-ASCII characters. For other characters it does no harm, and the result needs no
/// quotes in any settings file or shell.
pub(crate) fn encode(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agent_is_replaced() {
        let agent: AgentId = "reviewer-1".parse().unwrap();
        for (list, expected) in [
            (None, "renown.agent_id=reviewer-1"),
            (Some(""), "renown.agent_id=reviewer-1"),
            (Some("team=a b,env=dev"), "team=a b,env=dev,renown.agent_id=reviewer-1"),
            (Some("a=1, renown.agent_id = old ,b=2"), "a=1,renown.agent_id=reviewer-1,b=2"),
            (Some("renown.agent_id=x,renown.agent_id=y,"), "renown.agent_id=reviewer-1"),
            (Some("renown.agent_id=,a=1"), "renown.agent_id=,a=1,renown.agent_id=reviewer-1"),
            (Some("xrenown.agent_id=1"), "xrenown.agent_id=1,renown.agent_id=reviewer-1"),
        ] {
            let written = with_agent(list, &agent);
            assert_eq!(written, expected);
            assert_eq!(with_agent(Some(&written), &agent), written, "a second run changes nothing");
            assert!(has_agent(Some(&written)));
        }
        assert!(!has_agent(None) && !has_agent(Some("team=a")) && !has_agent(Some("renown.agent_id=")));
    }

    #[test]
    fn values_are_percent_encoded() {
        for (value, encoded) in [
            ("Az09-._~", "Az09-._~"),
            ("a b", "a%20b"),
            ("a,b=c;d", "a%2Cb%3Dc%3Bd"),
            ("100%", "100%25"),
            ("é\"\\'", "%C3%A9%22%5C%27"),
        ] {
            assert_eq!(encode(value), encoded);
        }
    }
}
