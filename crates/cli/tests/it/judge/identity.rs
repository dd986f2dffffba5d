//! Are the agent, its kind and its masque recognized?

use serde_json::json;

use super::{Record, call, judged, lines, log, prompt, span};

fn bare_prompt() -> Record {
    log("user_prompt", 0)
}

#[test]
fn the_kind_comes_from_the_prefix_the_service_the_scope_or_the_conventions() {
    for (name, service, scope, agent) in [
        ("claude_code.user_prompt", "gemini-cli", "", "claude-code"),
        ("codex.user_prompt", "", "", "codex"),
        ("gemini_cli.user_prompt", "", "", "gemini-cli"),
        ("qwen-code.user_prompt", "", "", "qwen-code"),
        ("opencode.user_prompt", "", "", "opencode"),
        ("user_prompt", "claude-code", "", "claude-code"),
        ("user_prompt", "codex_cli_rs", "", "codex"),
        ("user_prompt", "codex_exec", "", "codex"),
        ("user_prompt", "codex_tui", "", "codex"),
        ("user_prompt", "codex-cli", "", "codex"),
        ("user_prompt", "gemini-cli", "", "gemini-cli"),
        ("user_prompt", "qwen-code", "", "qwen-code"),
        ("user_prompt", "opencode", "", "opencode"),
        ("user_prompt", "gemini-cli", "com.anthropic.claude_code", "gemini-cli"),
        ("user_prompt", "", "com.anthropic.claude_code", "claude-code"),
        ("user_prompt", "", "com.anthropic.claude_code.events", "claude-code"),
        ("user_prompt", "my-service", "com.anthropic.claude_code.events", "claude-code"),
        ("user_prompt", "my-service", "", "unknown"),
        ("user_prompt", "", "", "unknown"),
    ] {
        let line = log(name, 0).within(&[("service.name", service)], &json!({ "name": scope }));
        let judged = judged(&[line]);
        assert_eq!(judged.text("agent"), agent, "{name} {service:?} {scope:?}");
        assert_eq!(judged.evidence(), "prompts=1", "{name} {service:?} {scope:?}");
        let agent_id = if service.is_empty() { "unknown" } else { service };
        assert_eq!(judged.text("agent_id"), agent_id, "{name} {service:?} {scope:?}");
    }
}

#[test]
fn the_kind_of_a_span() {
    let tool = span("execute_tool a", 1, 1).with("gen_ai.tool.name", "a");
    for (service, agent) in
        [("copilot-chat", "copilot"), ("github-copilot", "copilot"), ("my-service", "genai"), ("", "genai")]
    {
        assert_eq!(judged(&[tool.below(&[("service.name", service)])]).text("agent"), agent, "{service:?}");
    }
}

#[test]
fn the_agent_id_comes_from_five_sources_in_order() {
    let own = |pairs: &[(&str, &str)]| bare_prompt().with_all(pairs);
    for (record, resource, agent_id) in [
        (own(&[("renown.agent_id", "record")]), &[("renown.agent_id", "resource")][..], "resource"),
        (own(&[("renown.agent_id", "record")]), &[("service.name", "svc")], "record"),
        (own(&[("gen_ai.agent.id", "id"), ("gen_ai.agent.name", "name")]), &[("service.name", "svc")], "id"),
        (own(&[("gen_ai.agent.id", "id")]), &[("renown.agent_id", "resource")], "resource"),
        (own(&[("gen_ai.agent.name", "name")]), &[("service.name", "svc")], "name"),
        (own(&[]), &[("service.name", "svc"), ("gen_ai.agent.name", "name")], "name"),
        (own(&[]), &[("service.name", " svc ")], "svc"),
        (own(&[("renown.agent_id", "")]), &[("service.name", "svc")], "svc"),
        (own(&[]), &[], "unknown"),
    ] {
        assert_eq!(
            judged(&[record.below(resource)]).text("agent_id"),
            agent_id,
            "{}",
            record.below(resource)
        );
    }
}

#[test]
fn the_agent_id_is_cut_at_200_characters() {
    for (id, shown) in
        [("é".repeat(200), "é".repeat(200)), (format!("{}x", "é".repeat(200)), "é".repeat(200))]
    {
        assert_eq!(judged(&lines(&[prompt(0).with("renown.agent_id", id.as_str())])).text("agent_id"), shown);
    }
}

#[test]
fn if_records_differ_the_higher_source_wins_then_the_earliest() {
    let tagged = |key: &str, value: &str, seconds| call(seconds).with(key, value);
    for (records, agent_id) in [
        ([tagged("gen_ai.agent.name", "name", 0), tagged("gen_ai.agent.id", "id", 9)], "id"),
        ([tagged("renown.agent_id", "mine", 9), tagged("gen_ai.agent.id", "id", 0)], "mine"),
        ([tagged("renown.agent_id", "late", 9), tagged("renown.agent_id", "early", 0)], "early"),
        ([tagged("renown.agent_id", "early", 0), tagged("renown.agent_id", "late", 9)], "early"),
    ] {
        assert_eq!(judged(&lines(&records)).text("agent_id"), agent_id);
    }
}

#[test]
fn the_masque_comes_from_the_record_before_the_resource() {
    for (record, resource, masque) in [
        (&[("masque.name", "M")][..], &[][..], "M"),
        (&[("persona.id", "P")], &[], "P"),
        (&[("persona.id", "P"), ("masque.name", "M")], &[], "M"),
        (&[("masque.name", "M")], &[("masque.name", "R")], "M"),
        (&[], &[("masque.name", "R"), ("persona.id", "P")], "R"),
        (&[], &[("persona.id", "P")], "P"),
        (&[("masque.name", "")], &[("persona.id", "P")], "P"),
        (&[], &[], "unknown"),
    ] {
        let record = bare_prompt().with_all(record);
        assert_eq!(judged(&[record.below(resource)]).text("masque"), masque, "{}", record.below(resource));
    }
}

#[test]
fn if_masques_differ_the_higher_source_wins_then_the_earliest() {
    let tagged = |key: &str, value: &str, seconds| call(seconds).with(key, value);
    for (records, masque) in [
        ([tagged("persona.id", "P", 0), tagged("masque.name", "M", 9)], "M"),
        ([tagged("masque.name", "late", 9), tagged("masque.name", "early", 0)], "early"),
    ] {
        assert_eq!(judged(&lines(&records)).text("masque"), masque);
    }
}
