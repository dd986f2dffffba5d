//! Gemini CLI and its fork Qwen Code: logs whose body is prose, with typed counts.

use std::collections::VecDeque;

use super::line::{Iso, Line, Log, quote};
use super::{AgentLog, Habits};
use crate::random::Random;

/// The differences between the agents of this family.
#[derive(Debug)]
pub(super) struct Flavor {
    pub(super) service: &'static str,
    pub(super) prefix: &'static str,
    pub(super) scope: &'static str,
    pub(super) auth_type: &'static str,
    pub(super) models: &'static [&'static str],
    pub(super) tools: &'static [(u64, &'static str)],
    pub(super) has_feedback: bool,
    pub(super) has_status: bool,
}

/// The name of the shell tool in both.
const SHELL: &str = "run_shell_command";

pub(super) const GEMINI: Flavor = Flavor {
    service: "gemini-cli",
    prefix: "gemini_cli",
    scope: r#"{"name":"gemini-cli"}"#,
    auth_type: "oauth-personal",
    models: &["gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
    tools: &[
        (30, "read_file"),
        (25, "run_shell_command"),
        (20, "replace"),
        (8, "write_file"),
        (8, "search_file_content"),
        (5, "glob"),
        (2, "google_web_search"),
        (2, "save_memory"),
    ],
    has_feedback: false,
    has_status: false,
};

/// The decision on a call, and whether it was executed.
const DECISIONS: [(u64, (&str, bool)); 4] =
    [(850, ("auto_accept", true)), (100, ("accept", true)), (20, ("modify", true)), (30, ("reject", false))];

const ERRORS: [&str; 4] =
    ["invalid_tool_params", "shell_execute_error", "file_not_found", "edit_no_occurrence_found"];

enum Step {
    Config,
    Prompt,
    Request,
    Response,
    Error,
    Tool,
    Compression,
    Feedback,
}

pub(super) struct Session {
    random: Random,
    now_ns: u64,
    steps: VecDeque<Step>,
    id: String,
    standard: String,
    resource: String,
    flavor: &'static Flavor,
    model: &'static str,
    turn: u64,
    prompt: String,
    habits: Habits,
    context: u64,
}

impl Session {
    pub(super) fn new(
        random: &mut Random,
        start_ns: u64,
        flavor: &'static Flavor,
        attributes: &[(&str, &str)],
    ) -> Self {
        let mut random = random.fork();
        let session = random.uuid();
        let standard = Line::prepare(&[
            ("session.id", &session),
            ("installation.id", &random.uuid()),
            ("user.email", "dev@example.com"),
        ]);
        let own = [
            ("service.name", flavor.service),
            ("service.version", "v22.14.0"),
            ("session.id", session.as_str()),
            ("host.name", "devbox.example.com"),
            ("host.arch", "amd64"),
            ("process.pid", "48213"),
            ("process.executable.path", "/usr/local/bin/node"),
            ("process.owner", "dev"),
        ];
        let resource = Line::prepare(&[&own, attributes].concat());
        Self {
            now_ns: start_ns / 1_000_000 * 1_000_000,
            steps: VecDeque::from([Step::Config]),
            standard,
            resource,
            flavor,
            model: random.pick(flavor.models),
            turn: 0,
            prompt: session.clone(),
            habits: Habits { fail_per_mille: random.pick(&[0, 20, 60, 120]), ..Habits::default() },
            id: session,
            context: random.between(7000, 15_000),
            random,
        }
    }

    fn plan_turn(&mut self) {
        let random = &mut self.random;
        self.steps.push_back(Step::Prompt);
        if self.context > 700_000 {
            self.steps.push_back(Step::Compression);
        }
        let (least, most) = self.habits.requests;
        for _ in 0..random.between(least, most) {
            self.steps.push_back(Step::Request);
            self.steps.push_back(if random.chance(15) { Step::Error } else { Step::Response });
            for _ in 0..random.between(0, 2) {
                self.steps.push_back(Step::Tool);
            }
        }
        if self.flavor.has_feedback && random.chance(50) {
            self.steps.push_back(Step::Feedback);
        }
    }

    /// Begins a record and writes the attributes that all records have.
    fn begin(&mut self, line: &mut Line, name: &str, body: &str, after_ms: u64) {
        self.now_ns += after_ms * 1_000_000;
        let (time_ns, observed_ns) = (self.now_ns, self.now_ns + 1_000_000);
        line.log(&Log { time_ns, observed_ns, body: Some(body), ..Log::default() });
        line.prepared(&self.standard);
        line.flag("interactive", true);
        line.plain("event.name", format_args!("{}.{name}", self.flavor.prefix));
        line.plain("event.timestamp", format_args!("{}", Iso(self.now_ns)));
    }

    fn end(&self, line: &mut Line) {
        line.text("prompt_id", &self.prompt);
        line.text("auth_type", self.flavor.auth_type);
    }

    fn config(&mut self, line: &mut Line) {
        self.begin(line, "config", "CLI configuration loaded.", 5);
        line.text("model", self.model);
        line.flag("sandbox_enabled", false);
        line.text("core_tools_enabled", "");
        line.text("approval_mode", "default");
        line.flag("debug_mode", false);
        line.flag("log_user_prompts_enabled", false);
        line.flag("file_filtering_respect_git_ignore", true);
        line.int("mcp_servers_count", 0);
        line.text("output_format", "text");
    }

    fn user_prompt(&mut self, line: &mut Line) {
        self.turn += 1;
        self.prompt = format!("{:016x}########{}", self.random.draw(), self.turn);
        let length = self.random.between(8, 900);
        let (least, most) = self.habits.think_ms;
        let after_ms = self.random.between(least, most);
        self.begin(line, "user_prompt", &format!("User prompt. Length: {length}."), after_ms);
        line.int("prompt_length", length);
        line.text("prompt", "[REDACTED]");
        self.end(line);
    }

    fn api_request(&mut self, line: &mut Line) {
        let body = format!("API request to {}.", self.model);
        self.begin(line, "api_request", &body, 20);
        line.text("model", self.model);
        let words = self.random.between(60, 140);
        let mut contents = String::from(r#"[{"role":"user","parts":[{"text":"#);
        quote(&mut contents, &self.random.words(words));
        contents.push_str("}]}]");
        line.text("request_text", &contents);
        self.end(line);
    }

    fn api_response(&mut self, line: &mut Line) {
        let random = &mut self.random;
        let cached = if random.chance(850) { self.context * 9 / 10 } else { 0 };
        let input = self.context + random.between(20, 3000);
        let (output, thoughts) = (random.between(10, 1800), random.between(0, 900));
        let tool = if random.chance(100) { random.between(10, 300) } else { 0 };
        let duration_ms = random.between(900, 26_000);
        let words = random.between(30, 120);
        let text = random.words(words);
        self.context = input;
        let body = format!("API response from {}. Status: 200. Duration: {duration_ms}ms.", self.model);
        self.begin(line, "api_response", &body, duration_ms);
        line.text("model", self.model);
        line.int("duration_ms", duration_ms);
        line.int("status_code", 200);
        line.int("input_token_count", input);
        line.int("output_token_count", output);
        line.int("cached_content_token_count", cached);
        line.int("thoughts_token_count", thoughts);
        line.int("tool_token_count", tool);
        line.int("total_token_count", input + output + thoughts + tool);
        line.text("response_text", &text);
        line.list("finish_reasons", "STOP");
        self.end(line);
    }

    fn api_error(&mut self, line: &mut Line) {
        let duration_ms = self.random.between(100, 9000);
        let (status, kind) =
            self.random.pick(&[(429, "RateLimitError"), (503, "ApiError"), (500, "ApiError")]);
        let body = format!("API error for {}. Error: {kind}. Duration: {duration_ms}ms.", self.model);
        self.begin(line, "api_error", &body, duration_ms);
        line.text("model", self.model);
        line.text("error", "The service is busy, try again later.");
        line.text("error.message", "The service is busy, try again later.");
        line.text("error_type", kind);
        line.text("model_name", self.model);
        line.int("status_code", status);
        line.int("duration_ms", duration_ms);
        line.int("duration", duration_ms);
        self.end(line);
    }

    fn tool_call(&mut self, line: &mut Line) {
        let random = &mut self.random;
        let mut tool = random.weighted(self.flavor.tools);
        let (mut decision, mut runs) = random.weighted(&DECISIONS);
        if self.habits.is_stuck {
            (tool, decision, runs) = (SHELL, "auto_accept", true);
        }
        let failed = !runs || random.chance(self.habits.fail_per_mille) || self.habits.is_stuck;
        let duration_ms = random.between(1, 9000);
        let words = random.between(10, 60);
        let mut args = String::from(r#"{"file_path":"#);
        quote(&mut args, &format!("/home/dev/project/{}", random.path()));
        args.push_str(r#","new_string":"#);
        quote(&mut args, &random.words(words));
        args.push('}');
        let body = format!(
            "Tool call: {tool}. Decision: {decision}. Success: {}. Duration: {duration_ms}ms.",
            !failed
        );
        self.begin(line, "tool_call", &body, duration_ms);
        line.text("function_name", tool);
        line.text("function_args", &args);
        line.int("duration_ms", duration_ms);
        if self.flavor.has_status {
            let status = if !runs {
                "cancelled"
            } else if failed {
                "error"
            } else {
                "success"
            };
            line.text("status", status);
        }
        line.flag("success", !failed);
        line.text("decision", decision);
        if failed && runs {
            line.text("error", "The tool could not do what was asked.");
            line.text("error_type", self.random.pick(&ERRORS));
        }
        line.text("tool_type", "native");
        line.int("content_length", self.random.between(0, 60_000));
        self.end(line);
    }

    fn chat_compression(&mut self, line: &mut Line) {
        let (before, after) = (self.context, self.random.between(20_000, 60_000));
        self.context = after;
        let body = format!("Chat compression (Saved {} tokens)", before.saturating_sub(after));
        self.begin(line, "chat_compression", &body, 9000);
        line.int("tokens_before", before);
        line.int("tokens_after", after);
    }

    fn user_feedback(&mut self, line: &mut Line) {
        let rating = self.random.weighted(&[(1, 1), (3, 2), (6, 3)]);
        self.begin(line, "user_feedback", &format!("User feedback: Rating {rating}."), 3000);
        line.int("rating", rating);
        line.text("model", self.model);
        line.text("approval_mode", "default");
        self.end(line);
    }
}

impl AgentLog for Session {
    fn resource(&self) -> &str {
        &self.resource
    }

    fn scope(&self) -> &str {
        self.flavor.scope
    }

    fn record(&mut self, line: &mut Line) {
        if self.steps.is_empty() {
            self.plan_turn();
        }
        match self.steps.pop_front() {
            Some(Step::Config) | None => self.config(line),
            Some(Step::Prompt) => self.user_prompt(line),
            Some(Step::Request) => self.api_request(line),
            Some(Step::Response) => self.api_response(line),
            Some(Step::Error) => self.api_error(line),
            Some(Step::Tool) => self.tool_call(line),
            Some(Step::Compression) => self.chat_compression(line),
            Some(Step::Feedback) => self.user_feedback(line),
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
