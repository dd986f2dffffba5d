//! Codex: logs without a body, often without an event time, and with many events per stream.
//!
//! The fields come from a tracing library: formatted values are text, numeric values are numbers.

use std::collections::VecDeque;

use super::line::{Iso, Line, Log, quote};
use super::{AgentLog, Habits};
use crate::random::Random;

const SHELL: &str = "shell_command";

const TOOLS: [(u64, &str); 6] = [
    (60, SHELL),
    (20, "apply_patch"),
    (8, "update_plan"),
    (6, "read_file"),
    (3, "view_image"),
    (3, "web_search"),
];

/// A decision, who made it, and whether the call is executed.
const DECISIONS: [(u64, (&str, &str, bool)); 6] = [
    (800, ("approved", "config", true)),
    (90, ("approved", "user", true)),
    (60, ("approved_for_session", "user", true)),
    (30, ("denied", "user", false)),
    (10, ("abort", "user", false)),
    (10, ("denied", "config", false)),
];

/// The events of a stream between its start and its end.
const STREAM: [&str; 7] = [
    "response.in_progress",
    "response.output_item.added",
    "response.reasoning_summary_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.function_call_arguments.done",
    "response.output_item.done",
];

enum Step {
    Start,
    Prompt,
    Request,
    RequestFailed,
    Stream(&'static str),
    StreamFailed,
    Completed,
    Decision,
    Result { tool: &'static str, id: u64 },
    DispatchFailed,
}

pub(super) struct Session {
    random: Random,
    now_ns: u64,
    steps: VecDeque<Step>,
    id: String,
    standard: String,
    resource: String,
    habits: Habits,
    context: u64,
}

impl Session {
    pub(super) fn new(random: &mut Random, start_ns: u64, attributes: &[(&str, &str)]) -> Self {
        let mut random = random.fork();
        let id = random.uuid();
        let standard = Line::prepare(&[
            ("conversation.id", &id),
            ("app.version", "0.98.0"),
            ("auth_mode", "Chatgpt"),
            ("originator", "codex_cli_rs"),
            ("user.account_id", &random.uuid()),
            ("user.email", "dev@example.com"),
            ("terminal.type", "WezTerm/20240203"),
            ("model", "gpt-5.3-codex"),
            ("slug", "gpt-5.3-codex"),
        ]);
        let own = [
            ("service.name", random.weighted(&[(8, "codex_cli_rs"), (2, "codex_exec")])),
            ("service.version", "0.98.0"),
            ("env", "dev"),
            ("host.name", "devbox.example.com"),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.name", "opentelemetry"),
            ("telemetry.sdk.version", "0.31.0"),
        ];
        let resource = Line::prepare(&[&own, attributes].concat());
        Self {
            now_ns: start_ns,
            steps: VecDeque::from([Step::Start]),
            id,
            standard,
            resource,
            habits: Habits {
                fail_per_mille: random.pick(&[0, 20, 50, 100]),
                requests: (1, 10),
                ..Habits::default()
            },
            context: random.between(6000, 12_000),
            random,
        }
    }

    /// Plans a turn: a prompt, then responses. A response is a request, its stream, and the tool calls that it
    /// contains.
    fn plan_turn(&mut self) {
        let random = &mut self.random;
        self.steps.push_back(Step::Prompt);
        let (least, most) = self.habits.requests;
        for _ in 0..random.between(least, most) {
            if random.chance(15) {
                self.steps.push_back(Step::RequestFailed);
            }
            self.steps.push_back(Step::Request);
            self.steps.push_back(Step::Stream("response.created"));
            for _ in 0..random.between(1, 7) {
                self.steps.push_back(Step::Stream(random.pick(&STREAM)));
            }
            if random.chance(10) {
                self.steps.push_back(Step::StreamFailed);
                continue;
            }
            // The end of a stream is reported twice: as an event of the stream, and with its token counts.
            self.steps.push_back(Step::Stream("response.completed"));
            self.steps.push_back(Step::Completed);
            for _ in 0..random.between(0, 2) {
                self.steps.push_back(if random.chance(8) { Step::DispatchFailed } else { Step::Decision });
            }
        }
    }

    /// Begins a record and writes the attributes that all records have.
    fn begin(&mut self, line: &mut Line, name: &str, after_ms: u64) {
        self.now_ns += after_ms * 1_000_000 + self.random.draw() % 1_000_000;
        let stated = self.random.chance(200);
        line.log(&Log {
            time_ns: if stated { self.now_ns } else { 0 },
            observed_ns: self.now_ns,
            severity: true,
            event_name: Some("event otel/src/traces/otel_manager.rs:531"),
            ..Log::default()
        });
        line.plain("event.name", format_args!("codex.{name}"));
        line.plain("event.timestamp", format_args!("{}", Iso(self.now_ns)));
        line.prepared(&self.standard);
    }

    fn conversation_starts(&mut self, line: &mut Line) {
        self.begin(line, "conversation_starts", 5);
        line.text("provider_name", "OpenAI");
        line.text("reasoning_effort", "medium");
        line.text("reasoning_summary", "auto");
        line.int("context_window", 272_000);
        line.text("approval_policy", "on-request");
        line.text("sandbox_policy", "workspace-write");
        line.text("mcp_servers", "");
    }

    fn user_prompt(&mut self, line: &mut Line) {
        let (least, most) = self.habits.think_ms;
        let after_ms = self.random.between(least, most);
        self.begin(line, "user_prompt", after_ms);
        line.counted("prompt_length", self.random.between(8, 900));
        line.text("prompt", "[REDACTED]");
    }

    fn api_request(&mut self, line: &mut Line, failed: bool) {
        let duration_ms = self.random.between(200, 4000);
        self.begin(line, "api_request", duration_ms);
        line.counted("duration_ms", duration_ms);
        if failed {
            let (status, error) =
                self.random.pick(&[(429, "Too Many Requests"), (500, "Internal Server Error")]);
            line.int("http.response.status_code", status);
            line.text("error.message", error);
        } else {
            line.int("http.response.status_code", 200);
        }
        line.int("attempt", u64::from(!failed));
        line.text("endpoint", "/responses");
    }

    fn sse_event(&mut self, line: &mut Line, kind: &str, error: Option<&str>) {
        let duration_ms = self.random.between(1, 1500);
        self.begin(line, "sse_event", duration_ms);
        line.text("event.kind", kind);
        line.counted("duration_ms", duration_ms);
        if let Some(error) = error {
            line.text("error.message", error);
        }
    }

    fn completed(&mut self, line: &mut Line) {
        let random = &mut self.random;
        // Caching works in blocks, and never covers the newest tokens.
        let cached = if random.chance(900) { self.context / 128 * 128 } else { 0 };
        let input = self.context + random.between(20, 4000);
        let (output, reasoning) = (random.between(20, 2500), random.between(0, 900));
        self.context = if input > 240_000 { 20_000 } else { input };
        self.begin(line, "sse_event", 1);
        line.text("event.kind", "response.completed");
        line.counted("input_token_count", input);
        line.counted("output_token_count", output + reasoning);
        line.int("cached_token_count", cached);
        line.int("reasoning_token_count", reasoning);
        line.counted("tool_token_count", input + output + reasoning);
    }

    fn tool_decision(&mut self, line: &mut Line) {
        let (mut tool, id) = (self.random.weighted(&TOOLS), self.random.draw());
        let (mut decision, mut source, mut runs) = self.random.weighted(&DECISIONS);
        if self.habits.is_stuck {
            (tool, decision, source, runs) = (SHELL, "approved", "config", true);
        }
        let after_ms =
            if source == "user" { self.random.between(900, 40_000) } else { self.random.between(1, 20) };
        self.begin(line, "tool_decision", after_ms);
        line.text("tool_name", tool);
        line.plain("call_id", format_args!("call_{id:016x}"));
        line.text("decision", decision);
        line.text("source", source);
        if runs {
            self.steps.push_front(Step::Result { tool, id });
        }
    }

    fn tool_result(&mut self, line: &mut Line, tool: &str, id: Option<u64>) {
        let failed = id.is_none() || self.random.chance(self.habits.fail_per_mille) || self.habits.is_stuck;
        let duration_ms = if id.is_some() { self.random.between(1, 9000) } else { 0 };
        let words = self.random.between(4, 20);
        let mut arguments = String::from(r#"{"command":"#);
        quote(&mut arguments, &format!("rg -n \"{}\" {}", self.random.words(words), self.random.path()));
        arguments.push_str(r#","workdir":"/home/dev/project","timeout_ms":120000}"#);
        let words = self.random.between(10, 160);
        let output = self.random.words(words);
        self.begin(line, "tool_result", duration_ms);
        line.text("tool_name", tool);
        // A call that could not be dispatched has no id.
        if let Some(id) = id {
            line.plain("call_id", format_args!("call_{id:016x}"));
        }
        line.text("arguments", &arguments);
        line.counted("duration_ms", duration_ms);
        line.text("success", if failed { "false" } else { "true" });
        line.text("output", if id.is_some() { &output } else { "unsupported call" });
        line.text("tool_origin", "builtin");
    }
}

impl AgentLog for Session {
    fn resource(&self) -> &str {
        &self.resource
    }

    fn scope(&self) -> &'static str {
        r#"{"name":"codex_otel"}"#
    }

    fn record(&mut self, line: &mut Line) {
        if self.steps.is_empty() {
            self.plan_turn();
        }
        match self.steps.pop_front() {
            Some(Step::Start) | None => self.conversation_starts(line),
            Some(Step::Prompt) => self.user_prompt(line),
            Some(Step::Request) => self.api_request(line, false),
            Some(Step::RequestFailed) => self.api_request(line, true),
            Some(Step::Stream(kind)) => self.sse_event(line, kind, None),
            Some(Step::StreamFailed) => {
                self.sse_event(line, "response.failed", Some("stream disconnected before completion"));
            }
            Some(Step::Completed) => self.completed(line),
            Some(Step::Decision) => self.tool_decision(line),
            Some(Step::Result { tool, id }) => self.tool_result(line, tool, Some(id)),
            Some(Step::DispatchFailed) => self.tool_result(line, "unknown_tool", None),
        }
        line.end_log(None);
    }
    fn session_id(&self) -> &str {
        &self.id
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn is_between_turns(&self) -> bool {
        self.steps.is_empty()
    }

    fn set_habits(&mut self, habits: Habits) {
        self.habits = habits;
    }
}
