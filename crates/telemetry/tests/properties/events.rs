//! The events of all dialects with their attributes, and some unknown events.

/// The kind of values that an attribute has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Count,
    Usd,
    Millis,
    Flag,
    One(&'static [&'static str]),
    Reasons,
}

use Kind::{Count, Flag, Millis, One, Reasons, Usd};

/// A log event or a span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) prefix: &'static str,
    pub(crate) service: &'static str,
    /// Attribute with the session id.
    pub(crate) session: &'static str,
    pub(crate) name: &'static str,
    pub(crate) attributes: &'static [(&'static str, Kind)],
}

type Attributes = &'static [(&'static str, Kind)];

const fn claude(name: &'static str, attributes: Attributes) -> Event {
    Event { prefix: "claude_code.", service: "claude-code", session: "session.id", name, attributes }
}

const fn codex(name: &'static str, attributes: Attributes) -> Event {
    Event { prefix: "codex.", service: "codex_cli_rs", session: "conversation.id", name, attributes }
}

const fn gemini(name: &'static str, attributes: Attributes) -> Event {
    Event { prefix: "gemini_cli.", service: "gemini-cli", session: "session.id", name, attributes }
}

const fn qwen(name: &'static str, attributes: Attributes) -> Event {
    Event { prefix: "qwen-code.", service: "qwen-code", session: "session.id", name, attributes }
}

const fn gen_ai(name: &'static str, attributes: Attributes) -> Event {
    Event { prefix: "", service: "github-copilot", session: "gen_ai.conversation.id", name, attributes }
}

const TOOLS: Kind = One(&["Edit", "Bash", "7"]);
const ERRORS: Kind = One(&["timeout", "Error:ENOENT", "prose, which is not kept"]);
const MODELS: Kind = One(&["claude-x", "gpt-5-mini", "gemini-x"]);
const TOOL: Attributes =
    &[("tool_name", TOOLS), ("success", Flag), ("duration_ms", Millis), ("error_type", ERRORS)];
const CLAUDE_REQUEST: Attributes = &[
    ("model", MODELS),
    ("input_tokens", Count),
    ("output_tokens", Count),
    ("cache_read_tokens", Count),
    ("cache_creation_tokens", Count),
    ("cost_usd", Usd),
    ("cost_usd_micros", Count),
    ("duration_ms", Millis),
];
const CLAUDE_DECISION: Attributes = &[
    ("tool_name", TOOLS),
    ("decision", One(&["accept", "reject", "later"])),
    ("source", One(&["config", "hook", "user_temporary", "other"])),
];
const CODEX_CALL: Attributes =
    &[("http.response.status_code", One(&["200", "399", "400", "529"])), ("success", Flag)];
const GEMINI_TOOL: Attributes = &[
    ("function_name", TOOLS),
    ("success", Flag),
    ("status", One(&["success", "error", "cancelled"])),
    ("duration_ms", Millis),
    ("error_type", ERRORS),
    ("decision", One(&["auto_accept", "accept", "modify", "reject"])),
];
const GEMINI_RESPONSE: Attributes = &[
    ("model", MODELS),
    ("input_token_count", Count),
    ("output_token_count", Count),
    ("cached_content_token_count", Count),
    ("thoughts_token_count", Count),
    ("tool_token_count", Count),
    ("total_token_count", Count),
    ("duration_ms", Millis),
];

pub(crate) const EVENTS: &[Event] = &[
    claude("tool_result", TOOL),
    claude("tool_result", TOOL),
    claude("user_prompt", &[]),
    claude("api_request", CLAUDE_REQUEST),
    claude("api_request", CLAUDE_REQUEST),
    claude("api_error", &[("error_type", ERRORS)]),
    claude("api_retries_exhausted", &[]),
    claude("api_refusal", &[]),
    claude("tool_decision", CLAUDE_DECISION),
    claude(
        "feedback_survey",
        &[
            ("event_type", One(&["responded", "appeared"])),
            ("survey_type", One(&["session", "other"])),
            ("response", One(&["bad", "fine", "good", "dismissed"])),
        ],
    ),
    claude("compaction", &[("pre_tokens", Count), ("post_tokens", Count)]),
    claude("something_new", &[]),
    Event { prefix: "opencode.", service: "opencode", ..claude("tool_result", TOOL) },
    codex("tool_result", TOOL),
    codex("user_prompt", &[]),
    codex(
        "tool_decision",
        &[
            ("tool_name", TOOLS),
            ("decision", One(&["approved", "approved_for_session", "denied", "abort", "?"])),
            ("source", One(&["user", "config"])),
        ],
    ),
    codex(
        "sse_event",
        &[
            ("event.kind", One(&["response.completed", "response.created"])),
            ("input_token_count", Count),
            ("cached_token_count", Count),
            ("output_token_count", Count),
            ("tool_token_count", Count),
            ("model", MODELS),
        ],
    ),
    codex(
        "sse_event",
        &[("event.kind", One(&["response.failed"])), ("error.message", One(&["prose of an error"]))],
    ),
    codex("api_request", CODEX_CALL),
    codex("websocket_request", CODEX_CALL),
    gemini("tool_call", GEMINI_TOOL),
    gemini("user_prompt", &[]),
    gemini("api_response", GEMINI_RESPONSE),
    gemini("api_response", &[("error", One(&["prose of an error"])), ("input_token_count", Count)]),
    gemini("api_error", &[("error_type", ERRORS)]),
    gemini("api_request", &[("model", MODELS)]),
    gemini("chat_compression", &[]),
    qwen("tool_call", GEMINI_TOOL),
    qwen("api_response", GEMINI_RESPONSE),
    qwen("user_feedback", &[("rating", One(&["0", "1", "2", "3"]))]),
    gen_ai("gen_ai.client.inference.operation.details", &[("gen_ai.usage.input_tokens", Count)]),
    gen_ai("unheard_of", &[]),
];

const USAGE: Attributes = &[
    ("gen_ai.request.model", MODELS),
    ("gen_ai.response.model", MODELS),
    ("gen_ai.usage.input_tokens", Count),
    ("gen_ai.usage.output_tokens", Count),
    ("gen_ai.usage.cache_read.input_tokens", Count),
    ("gen_ai.usage.cache_creation.input_tokens", Count),
    ("gen_ai.usage.cost", Usd),
    ("gen_ai.response.finish_reasons", Reasons),
];
const OLD_USAGE: Attributes = &[
    ("gen_ai.usage.prompt_tokens", Count),
    ("gen_ai.usage.completion_tokens", Count),
    ("gen_ai.usage.cache_read_input_tokens", Count),
    ("gen_ai.usage.cache_creation_input_tokens", Count),
    ("gen_ai.response.finish_reasons", Reasons),
];

pub(crate) const SPANS: &[Event] = &[
    claude("llm_request", CLAUDE_REQUEST),
    claude("llm_request", &[("success", Flag), ("error_type", ERRORS)]),
    claude("tool.execution", TOOL),
    claude("interaction", &[]),
    claude("tool.blocked_on_user", CLAUDE_DECISION),
    gen_ai("execute_tool run", &[("gen_ai.tool.name", TOOLS)]),
    gen_ai("execute_tool", &[("gen_ai.tool.name", TOOLS), ("error.type", ERRORS)]),
    gen_ai("chat gpt-5", USAGE),
    gen_ai("text_completion", OLD_USAGE),
    gen_ai("any name", &[("gen_ai.operation.name", One(&["generate_content", "chat", "embeddings"]))]),
    gen_ai("invoke_agent", USAGE),
    gen_ai("invoke_agent sub", &[]),
    gen_ai("unheard of", &[]),
];
