//! The GenAI conventions as used by Copilot: spans, and logs that repeat them.
//!
//! A turn is a trace: chats and tool calls under one agent span, which ends last and has the sum of the chats' usage.
//! Cached tokens are included in the input. The id of the window is on the resource, the id of the conversation on
//! the records.

use std::collections::VecDeque;

use super::line::{Iso, Line, LineSignal, Log, Span, quote};
use super::{AgentLog, Habits};
use crate::random::Random;

const MODELS: [(&str, &str); 3] = [
    ("gpt-5.3-codex", "gpt-5.3-codex-2026-02-05"),
    ("claude-sonnet-5", "claude-sonnet-5"),
    ("gpt-5-mini", "gpt-5-mini-2025-08-07"),
];

const SHELL: &str = "runInTerminal";

const TOOLS: [(u64, &str); 8] = [
    (28, "readFile"),
    (20, SHELL),
    (18, "applyPatch"),
    (10, "findTextInFiles"),
    (8, "runTests"),
    (6, "findFiles"),
    (5, "getErrors"),
    (5, "listDirectory"),
];

// Kinds of spans, by their number in OTLP.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

/// The tokens of a call or of a turn.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    input: u64,
    cached: u64,
    output: u64,
}

enum Step {
    Start,
    Chat,
    Tool,
    Agent,
    /// Records that the logs repeat, with their time and span.
    Details {
        at_ns: u64,
        span: u64,
        usage: Usage,
    },
    ToolCalled {
        at_ns: u64,
        span: u64,
        tool: &'static str,
        failed: bool,
        duration_ms: u64,
    },
    Turned {
        at_ns: u64,
        span: u64,
        usage: Usage,
    },
}

pub(super) struct Session {
    random: Random,
    now_ns: u64,
    steps: VecDeque<Step>,
    conversation: String,
    resource: String,
    model: (&'static str, &'static str),
    habits: Habits,
    context: u64,
    turn: u64,
    chats: u64,
    trace: u128,
    agent_span: u64,
    turn_start_ns: u64,
    turn_usage: Usage,
}

impl Session {
    pub(super) fn new(random: &mut Random, start_ns: u64, attributes: &[(&str, &str)]) -> Self {
        let mut random = random.fork();
        let window = random.uuid();
        let own = [
            ("service.name", "copilot-chat"),
            ("service.version", "0.41.0"),
            ("session.id", window.as_str()),
            ("host.name", "devbox.example.com"),
            ("telemetry.sdk.language", "nodejs"),
            ("telemetry.sdk.name", "opentelemetry"),
            ("telemetry.sdk.version", "2.2.0"),
        ];
        let resource = Line::prepare(&[&own, attributes].concat());
        Self {
            now_ns: start_ns,
            steps: VecDeque::from([Step::Start]),
            conversation: random.uuid(),
            resource,
            model: random.pick(&MODELS),
            habits: Habits { fail_per_mille: random.pick(&[0, 20, 60, 120]), ..Habits::default() },
            context: random.between(9000, 18_000),
            turn: 0,
            chats: 0,
            trace: random.wide(),
            agent_span: random.draw(),
            turn_start_ns: start_ns,
            turn_usage: Usage::default(),
            random,
        }
    }

    /// Begins a trace. The logs of a turn follow its spans, because logs and spans are exported separately.
    fn plan_turn(&mut self) {
        let (least, most) = self.habits.think_ms;
        self.now_ns += self.random.between(least, most) * 1_000_000;
        self.turn_start_ns = self.now_ns;
        self.turn_usage = Usage::default();
        self.turn += 1;
        let (least, most) = self.habits.requests;
        self.chats = self.random.between(least, most);
        self.trace = self.random.wide();
        self.agent_span = self.random.draw();
        for _ in 0..self.chats {
            self.steps.push_back(Step::Chat);
            for _ in 0..self.random.between(0, 2) {
                self.steps.push_back(Step::Tool);
            }
        }
        self.steps.push_back(Step::Agent);
    }

    /// Advances the time and begins a span that covers it. Returns the span id.
    fn begin_span(&mut self, line: &mut Line, name: &str, kind: u8, duration_ms: u64) -> u64 {
        let start_ns = self.now_ns + self.random.between(1000, 9_000_000);
        let span = self.random.draw();
        self.now_ns = start_ns + duration_ms * 1_000_000 + self.random.draw() % 1_000_000;
        let (trace, parent, end_ns) = (self.trace, Some(self.agent_span), self.now_ns);
        line.span(&Span { trace, id: span, parent, name, kind, start_ns, end_ns });
        span
    }

    fn chat(&mut self, line: &mut Line) {
        let random = &mut self.random;
        let (requested, answered) = self.model;
        let duration_ms = random.between(900, 26_000);
        let failed = random.chance(10);
        let refused = random.chance(3);
        let input = self.context + random.between(20, 3000);
        let usage = Usage { input, cached: self.context * 9 / 10, output: random.between(20, 2500) };
        let response = random.wide();
        let first_token_ms = random.between(300, duration_ms);
        self.context = if input > 120_000 { 16_000 } else { input };
        let span = self.begin_span(line, &format!("chat {requested}"), CLIENT, duration_ms);
        line.text("gen_ai.operation.name", "chat");
        line.text("gen_ai.provider.name", "github");
        line.text("gen_ai.request.model", requested);
        line.text("gen_ai.conversation.id", &self.conversation);
        line.int("gen_ai.request.max_tokens", 64_000);
        line.int("copilot_chat.request.max_prompt_tokens", 128_000);
        line.text("server.address", "api.githubcopilot.com");
        line.text(
            "gen_ai.input.messages",
            r#"[{"role":"user","parts":[{"type":"text","content":"[REDACTED]"}]}]"#,
        );
        if failed {
            line.text("error.type", "RateLimitError");
            return line.end_span(Some("429 Too Many Requests"));
        }
        line.text("gen_ai.response.model", answered);
        line.plain("gen_ai.response.id", format_args!("resp_{response:032x}"));
        let reason = if refused { "content_filter" } else { "stop" };
        line.list("gen_ai.response.finish_reasons", reason);
        write_usage(line, usage);
        line.int("copilot_chat.time_to_first_token", first_token_ms);
        line.end_span(None);
        self.turn_usage.input += usage.input;
        self.turn_usage.cached += usage.cached;
        self.turn_usage.output += usage.output;
        self.steps.push_back(Step::Details { at_ns: self.now_ns, span, usage });
    }

    fn tool(&mut self, line: &mut Line) {
        let random = &mut self.random;
        let drawn = random.weighted(&TOOLS);
        let tool = if self.habits.is_stuck { SHELL } else { drawn };
        let failed = random.chance(self.habits.fail_per_mille) || self.habits.is_stuck;
        let duration_ms = random.between(1, 9000);
        let call = random.wide() >> 32;
        let words = random.between(10, 60);
        let mut arguments = String::from(r#"{"filePath":"#);
        quote(&mut arguments, &format!("/home/dev/project/{}", random.path()));
        arguments.push_str(r#","explanation":"#);
        quote(&mut arguments, &random.words(words));
        arguments.push('}');
        let span = self.begin_span(line, &format!("execute_tool {tool}"), INTERNAL, duration_ms);
        line.text("gen_ai.operation.name", "execute_tool");
        line.text("gen_ai.tool.name", tool);
        line.text("gen_ai.tool.type", "function");
        line.plain("gen_ai.tool.call.id", format_args!("call_{call:024x}"));
        line.text("gen_ai.conversation.id", &self.conversation);
        line.text(
            "gen_ai.tool.description",
            "Works on the files of the workspace and reports what it found.",
        );
        line.text("gen_ai.tool.call.arguments", &arguments);
        if failed {
            line.text("error.type", self.random.pick(&["Error", "TimeoutError", "FileNotFound"]));
        }
        line.end_span(failed.then_some("The tool could not do what was asked."));
        self.steps.push_back(Step::ToolCalled { at_ns: self.now_ns, span, tool, failed, duration_ms });
    }

    fn agent(&mut self, line: &mut Line) {
        let (start_ns, span) = (self.turn_start_ns, self.agent_span);
        self.now_ns += 1_000_000;
        line.span(&Span {
            trace: self.trace,
            id: span,
            parent: None,
            name: "invoke_agent GitHub Copilot Chat",
            kind: INTERNAL,
            start_ns,
            end_ns: self.now_ns,
        });
        line.text("gen_ai.operation.name", "invoke_agent");
        line.text("gen_ai.provider.name", "github");
        line.text("gen_ai.agent.name", "GitHub Copilot Chat");
        line.text("gen_ai.conversation.id", &self.conversation);
        line.text("gen_ai.request.model", self.model.0);
        line.text("gen_ai.response.model", self.model.1);
        write_usage(line, self.turn_usage);
        line.int("copilot_chat.turn_count", self.chats);
        line.text("copilot_chat.repo.head_branch_name", "main");
        line.text("copilot_chat.user_request", "[REDACTED]");
        line.end_span(None);
        self.steps.push_back(Step::Turned { at_ns: self.now_ns, span, usage: self.turn_usage });
    }

    fn begin_log(line: &mut Line, name: &str, body: &str, at_ns: u64) {
        let observed_ns = at_ns + 1_000_000;
        line.log(&Log { time_ns: at_ns, observed_ns, body: Some(body), ..Log::default() });
        line.text("event.name", name);
    }

    fn session_start(&mut self, line: &mut Line) {
        let name = "copilot_chat.session.start";
        Self::begin_log(line, name, name, self.now_ns);
        line.text("gen_ai.agent.name", "GitHub Copilot Chat");
        line.text("gen_ai.request.model", self.model.0);
        line.plain("started_at", format_args!("{}", Iso(self.now_ns)));
        line.end_log(None);
    }

    fn details(&self, line: &mut Line, at_ns: u64, span: u64, usage: Usage) {
        let (requested, answered) = self.model;
        let body = format!("GenAI inference: {requested}");
        Self::begin_log(line, "gen_ai.client.inference.operation.details", &body, at_ns);
        line.text("gen_ai.operation.name", "chat");
        line.text("gen_ai.request.model", requested);
        line.text("gen_ai.response.model", answered);
        line.text("gen_ai.conversation.id", &self.conversation);
        line.list("gen_ai.response.finish_reasons", "stop");
        write_usage(line, usage);
        line.end_log(Some((self.trace, span)));
    }

    fn tool_called(&self, line: &mut Line, of: (u64, u64), tool: &str, failed: bool, duration_ms: u64) {
        let (at_ns, span) = of;
        let name = "copilot_chat.tool.call";
        Self::begin_log(line, name, &format!("{name}: {tool}"), at_ns);
        line.text("gen_ai.tool.name", tool);
        line.int("duration_ms", duration_ms);
        line.flag("success", !failed);
        line.end_log(Some((self.trace, span)));
    }

    fn turned(&self, line: &mut Line, at_ns: u64, span: u64, usage: Usage) {
        let name = "copilot_chat.agent.turn";
        Self::begin_log(line, name, &format!("{name}: {}", self.turn), at_ns);
        line.int("turn.index", self.turn);
        write_usage(line, usage);
        line.int("tool_call_count", self.chats);
        line.end_log(Some((self.trace, span)));
    }
}

fn write_usage(line: &mut Line, usage: Usage) {
    line.int("gen_ai.usage.input_tokens", usage.input);
    line.int("gen_ai.usage.output_tokens", usage.output);
    line.int("gen_ai.usage.cache_read.input_tokens", usage.cached);
}

impl AgentLog for Session {
    fn signal(&mut self) -> LineSignal {
        if self.steps.is_empty() {
            self.plan_turn();
        }
        match self.steps.front() {
            Some(Step::Chat | Step::Tool | Step::Agent) => LineSignal::Spans,
            Some(Step::Start | Step::Details { .. } | Step::ToolCalled { .. } | Step::Turned { .. })
            | None => LineSignal::Logs,
        }
    }

    fn resource(&self) -> &str {
        &self.resource
    }

    fn scope(&self) -> &'static str {
        r#"{"name":"copilot-chat","version":"0.41.0"}"#
    }

    fn record(&mut self, line: &mut Line) {
        if self.steps.is_empty() {
            self.plan_turn();
        }
        match self.steps.pop_front() {
            Some(Step::Start) | None => self.session_start(line),
            Some(Step::Chat) => self.chat(line),
            Some(Step::Tool) => self.tool(line),
            Some(Step::Agent) => self.agent(line),
            Some(Step::Details { at_ns, span, usage }) => self.details(line, at_ns, span, usage),
            Some(Step::ToolCalled { at_ns, span, tool, failed, duration_ms }) => {
                self.tool_called(line, (at_ns, span), tool, failed, duration_ms);
            }
            Some(Step::Turned { at_ns, span, usage }) => self.turned(line, at_ns, span, usage),
        }
    }
    fn session_id(&self) -> &str {
        &self.conversation
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
