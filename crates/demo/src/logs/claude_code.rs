//! Claude Code: logs with sequence numbers; numbers are typed in API events and text in tool events.

use std::collections::VecDeque;

use super::line::{Iso, Line, Log, TenMillionths, quote};
use super::{AgentLog, Habits};
use crate::random::Random;

/// A model, and its price in ten-millionths of a dollar per token: input, then output.
type Model = (&'static str, u64, u64);

/// The differences between the agents of this family.
#[derive(Debug)]
pub(super) struct Flavor {
    pub(super) service: &'static str,
    pub(super) version: &'static str,
    pub(super) prefix: &'static str,
    pub(super) scope: &'static str,
    pub(super) shell: &'static str,
    pub(super) models: &'static [(u64, Model)],
    pub(super) kinds: &'static [(u64, Tools)],
}

pub(super) const CLAUDE: Flavor = Flavor {
    service: "claude-code",
    version: "2.1.226",
    prefix: "claude_code",
    scope: r#"{"name":"com.anthropic.claude_code.events","version":"2.1.226"}"#,
    shell: "Bash",
    models: &[
        (1, ("claude-opus-4-8", 150, 750)),
        (3, ("claude-sonnet-5", 30, 150)),
        (1, ("claude-haiku-4-5-20251001", 10, 50)),
    ],
    kinds: &[(55, EDITING), (17, REVIEWING), (13, OPERATING), (15, STARTING)],
};

/// The tools of a kind of session, with their weights.
pub(super) type Tools = &'static [(u64, &'static str)];

const EDITING: Tools = &[
    (24, "Read"),
    (18, "Edit"),
    (5, "Write"),
    (28, "Bash"),
    (8, "Grep"),
    (4, "Glob"),
    (5, "TodoWrite"),
    (2, "WebFetch"),
    (2, "WebSearch"),
    (2, "Task"),
    (2, "mcp__github__get_issue"),
];
const REVIEWING: Tools = &[(50, "Read"), (25, "Grep"), (10, "Glob"), (15, "Bash")];
const OPERATING: Tools = &[(75, "Bash"), (20, "Read"), (5, "Edit")];
const STARTING: Tools = &[(30, "Write"), (15, "Edit"), (35, "Bash"), (20, "Read")];

const ERRORS: [&str; 4] = ["ShellError", "Error:ENOENT", "Error:EACCES", "InputValidationError"];

/// Who decided on a tool call. Only the user rejects calls.
const SOURCES: [(u64, &str); 6] = [
    (820, "config"),
    (50, "hook"),
    (60, "user_temporary"),
    (40, "user_permanent"),
    (22, "user_reject"),
    (8, "user_abort"),
];

/// Size of the context in tokens from which it is compacted.
const CONTEXT_MAX: u64 = 190_000;

enum Step {
    Prompt,
    Request,
    Error,
    Refusal,
    Hook,
    Decision,
    Result { tool: &'static str, id: u128, source: &'static str },
    Compaction,
    Survey,
}

pub(super) struct Session {
    random: Random,
    now_ns: u64,
    sequence: u64,
    steps: VecDeque<Step>,
    flavor: &'static Flavor,
    id: String,
    standard: String,
    resource: String,
    prompt: String,
    tools: Tools,
    model: Model,
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
        let user = format!("{:032x}{:032x}", random.wide(), random.wide());
        let id = random.uuid();
        let standard = Line::prepare(&[
            ("user.id", &user),
            ("session.id", &id),
            ("organization.id", &random.uuid()),
            ("user.email", "dev@example.com"),
            ("user.account_uuid", &random.uuid()),
            ("user.account_id", &format!("user_01{:022x}", random.wide() >> 40)),
            ("terminal.type", random.pick(&["WezTerm", "iTerm.app", "vscode", "xterm-256color"])),
        ]);
        let own = [
            ("host.arch", "arm64"),
            ("os.type", "darwin"),
            ("os.version", "25.3.0"),
            ("service.name", flavor.service),
            ("service.version", flavor.version),
        ];
        let resource = Line::prepare(&[&own, attributes].concat());
        Self {
            // The agent's clock has a resolution of milliseconds.
            now_ns: start_ns / 1_000_000 * 1_000_000,
            sequence: 0,
            steps: VecDeque::new(),
            flavor,
            id,
            standard,
            resource,
            prompt: random.uuid(),
            tools: random.weighted(flavor.kinds),
            model: random.weighted(flavor.models),
            habits: Habits { fail_per_mille: random.pick(&[0, 10, 30, 50, 80, 150]), ..Habits::default() },
            context: random.between(8000, 20_000),
            random,
        }
    }

    /// Plans a turn: a prompt, then model calls and tool calls until the model calls no more tools.
    fn plan_turn(&mut self) {
        let random = &mut self.random;
        self.steps.push_back(Step::Prompt);
        let (least, most) = self.habits.requests;
        for _ in 0..random.between(least, most) {
            self.steps.push_back(Step::Request);
            for _ in 0..random.between(0, 2) {
                if random.chance(40) {
                    self.steps.push_back(Step::Hook);
                }
                self.steps.push_back(Step::Decision);
            }
            if random.chance(10) {
                self.steps.push_back(Step::Error);
            }
        }
        self.steps.push_back(if random.chance(3) { Step::Refusal } else { Step::Request });
        if self.context > CONTEXT_MAX {
            self.steps.push_back(Step::Compaction);
        }
        if random.chance(20) {
            self.steps.push_back(Step::Survey);
        }
    }

    /// Begins a record and writes the attributes that all records have.
    fn begin(&mut self, line: &mut Line, name: &str, after_ms: u64) {
        self.now_ns += after_ms * 1_000_000;
        line.log(&Log {
            time_ns: self.now_ns,
            observed_ns: self.now_ns,
            body: Some(&format!("{}.{name}", self.flavor.prefix)),
            ..Log::default()
        });
        line.prepared(&self.standard);
        line.text("event.name", name);
        line.plain("event.timestamp", format_args!("{}", Iso(self.now_ns)));
        line.int("event.sequence", self.sequence);
        line.text("prompt.id", &self.prompt);
        self.sequence += 1;
    }

    fn user_prompt(&mut self, line: &mut Line) {
        self.prompt = self.random.uuid();
        let (least, most) = self.habits.think_ms;
        let after_ms = self.random.between(least, most);
        self.begin(line, "user_prompt", after_ms);
        line.counted("prompt_length", self.random.between(8, 900));
        line.text("prompt", "<REDACTED>");
    }

    fn api_request(&mut self, line: &mut Line) {
        let random = &mut self.random;
        let (model, input_price, output_price) = self.model;
        let (input, output) = (random.between(2, 900), random.between(20, 2500));
        let (read, created) = (self.context, random.between(0, 4000));
        self.context = (self.context + created).min(CONTEXT_MAX + 1);
        let id = random.draw();
        let duration_ms = random.between(900, 26_000);
        // Reading a cached token costs a tenth of an input token, writing one costs five quarters.
        let cost = input * input_price
            + output * output_price
            + read * input_price / 10
            + created * input_price * 5 / 4;
        self.begin(line, "api_request", duration_ms);
        line.text("model", model);
        line.int("input_tokens", input);
        line.int("output_tokens", output);
        line.int("cache_read_tokens", read);
        line.int("cache_creation_tokens", created);
        line.double("cost_usd", TenMillionths(cost));
        line.int("cost_usd_micros", (cost + 5) / 10);
        line.int("duration_ms", duration_ms);
        line.plain("request_id", format_args!("req_011C{id:016x}"));
        line.text("speed", "normal");
        line.text("query_source", "repl_main_thread");
    }

    fn api_error(&mut self, line: &mut Line) {
        let duration_ms = self.random.between(100, 9000);
        let (status, error) =
            self.random.pick(&[(529, "Overloaded"), (429, "Rate limited"), (500, "Internal")]);
        self.begin(line, "api_error", duration_ms);
        line.text("model", self.model.0);
        line.text("error", error);
        line.int("status_code", status);
        line.int("duration_ms", duration_ms);
        line.int("attempt", self.random.between(1, 10));
        line.text("speed", "normal");
        line.text("query_source", "repl_main_thread");
    }

    fn tool_decision(&mut self, line: &mut Line) {
        let (mut tool, id) = (self.random.weighted(self.tools), self.random.wide() >> 40);
        let mut source = self.random.weighted(&SOURCES);
        if self.habits.is_stuck {
            (tool, source) = (self.flavor.shell, "config");
        }
        let rejected = matches!(source, "user_reject" | "user_abort");
        let after_ms = match source {
            "config" | "hook" => self.random.between(1, 400),
            _ => self.random.between(900, 40_000),
        };
        self.begin(line, "tool_decision", after_ms);
        line.text("tool_name", tool);
        line.plain("tool_use_id", format_args!("toolu_01{id:022x}"));
        line.text("decision", if rejected { "reject" } else { "accept" });
        line.text("source", source);
        // A rejected call is not executed.
        if !rejected {
            self.steps.push_front(Step::Result { tool, id, source });
        }
    }

    fn tool_result(&mut self, line: &mut Line, tool: &str, id: u128, source: &str) {
        let failed = self.random.chance(self.habits.fail_per_mille) || self.habits.is_stuck;
        let duration_ms = self.random.between(1, 9000);
        self.begin(line, "tool_result", duration_ms);
        line.text("tool_name", tool);
        line.plain("tool_use_id", format_args!("toolu_01{id:022x}"));
        line.text("success", if failed { "false" } else { "true" });
        line.counted("duration_ms", duration_ms);
        if failed {
            line.text("error_type", self.random.pick(&ERRORS));
        }
        if tool == self.flavor.shell {
            let words = self.random.between(3, 14);
            let command = format!("rg --max-count 3 \"{}\" src", self.random.words(words));
            let mut parameters = String::from(r#"{"bash_command":"rg","full_command":"#);
            quote(&mut parameters, &command);
            parameters.push_str(r#","timeout":120000,"description":"Search the sources"}"#);
            line.text("tool_parameters", &parameters);
        }
        line.text("decision_source", source);
        line.text("decision_type", "accept");
        line.counted("tool_input_size_bytes", self.random.between(40, 3000));
        line.counted("tool_result_size_bytes", self.random.between(0, 60_000));
    }

    fn compaction(&mut self, line: &mut Line) {
        let (before, after) = (self.context, self.random.between(9000, 30_000));
        let duration_ms = self.random.between(20_000, 90_000);
        self.context = after;
        self.begin(line, "compaction", duration_ms);
        line.text("trigger", "auto");
        line.text("success", "true");
        line.counted("duration_ms", duration_ms);
        line.int("pre_tokens", before);
        line.int("post_tokens", after);
    }

    fn api_refusal(&mut self, line: &mut Line) {
        let id = self.random.draw();
        let after_ms = self.random.between(900, 9000);
        self.begin(line, "api_refusal", after_ms);
        line.text("model", self.model.0);
        line.plain("request_id", format_args!("req_011C{id:016x}"));
        line.text("query_source", "repl_main_thread");
    }

    fn feedback_survey(&mut self, line: &mut Line) {
        let after_ms = self.random.between(500, 5000);
        let appearance = self.random.uuid();
        let response = self.random.weighted(&[(60, "good"), (25, "fine"), (10, "bad"), (5, "dismissed")]);
        self.begin(line, "feedback_survey", after_ms);
        line.text("event_type", "responded");
        line.text("appearance_id", &appearance);
        line.text("survey_type", "session");
        line.text("response", response);
    }

    fn hook(&mut self, line: &mut Line) {
        self.begin(line, "hook_execution_start", 1);
        line.text("hook_event", "PreToolUse");
        line.text("hook_name", "PreToolUse:Bash");
        line.counted("num_hooks", 1);
        line.text("managed_only", "false");
        line.text("hook_source", "merged");
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
            Some(Step::Prompt) => self.user_prompt(line),
            Some(Step::Request) | None => self.api_request(line),
            Some(Step::Error) => self.api_error(line),
            Some(Step::Refusal) => self.api_refusal(line),
            Some(Step::Hook) => self.hook(line),
            Some(Step::Decision) => self.tool_decision(line),
            Some(Step::Result { tool, id, source }) => self.tool_result(line, tool, id, source),
            Some(Step::Compaction) => self.compaction(line),
            Some(Step::Survey) => self.feedback_survey(line),
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
