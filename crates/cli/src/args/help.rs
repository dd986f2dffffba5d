//! What `--help` prints: the grouped list of commands, and the details and examples of each command.
//!
//! Each text below ends with its examples. `--help` prints the whole text after the options, `-h` only the examples.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command, CommandFactory};

use super::Cli;

/// The groups of `renown --help`, in the order of their printing. A test compares them with the subcommands.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Judge and gate", &["judge", "stats", "gate", "proxy", "score"]),
    ("Scores and evidence", &["overview", "agents", "sessions", "eval", "runs", "run", "report", "export"]),
    ("Server and setup", &["serve", "setup", "open"]),
    ("Administration", &["keys", "doctor", "verify", "backup", "restore", "forget", "completions"]),
];

/// What every help text puts in front of its examples.
const EXAMPLES: &str = "Examples:\n";

/// Returns the command line of the program, with its help texts.
pub(crate) fn command() -> Command {
    let command = Cli::command().mut_subcommands(with_short_examples);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{}\n{{options}}{{after-help}}",
        groups(&command),
        heading(command.get_styles(), "Options"),
    );
    command
        .help_template(template)
        .after_help("`renown COMMAND --help` explains a command and shows examples.")
}

/// Adds the examples of the long help to the short help, for a command and its subcommands.
fn with_short_examples(command: Command) -> Command {
    let long = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let command = match long.rfind(EXAMPLES) {
        Some(at) => command.after_help(long.split_at(at).1.to_owned()),
        None => command,
    };
    command.mut_subcommands(with_short_examples)
}

/// Lists the commands by group, with the first line of their help.
fn groups(command: &Command) -> String {
    let styles = command.get_styles();
    let (name_style, mut text) = (styles.get_literal(), String::new());
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{}", heading(styles, title));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name_style}{name:<13}{name_style:#}{about}");
        }
    }
    text
}

fn heading(styles: &Styles, title: &str) -> String {
    let style = styles.get_header();
    format!("{style}{title}:{style:#}")
}

pub(super) const SERVE_HELP: &str = r#"The first start creates the data directory, readable by its owner only, the
organization `default` and two API keys. The keys are shown once.

--demo generates a month of data of twelve agents that ends now, and adds a new
evaluation every few seconds. The data is in a temporary directory that is
deleted when the server stops. Your own data is neither read nor changed.

Each setting has a variable RENOWN_… and a key in renown.toml:
  listen = "127.0.0.1:7070"
  store = "sqlite:"
  [limits]                       # per organization; 0 means no limit
  requests_per_minute = 0
  ingest_per_minute = 0
  [otlp]                         # telemetry of agents: an address, or off
  grpc = "127.0.0.1:4317"
  http = "127.0.0.1:4318"
  auth = "loopback"              # no key needed on this machine; or required
  [gates]                        # see `renown gate --help`

Logs go to standard error, as JSON unless it is a terminal. RENOWN_LOG sets the
level (error, warn, info, debug). Payloads and keys are never logged.

Examples:
  renown serve --demo
  renown serve --data ./data --listen 0.0.0.0:7070
  renown serve --otlp-grpc off --otlp-http 0.0.0.0:4318 --otlp-auth required"#;

pub(super) const OPEN_HELP: &str = r"The server keeps a one-time login link in its data directory, readable by its
owner only. If there is no browser, the link is printed.

Examples:
  renown open
  renown open --print
  renown open --data /var/lib/renown";

pub(super) const REPORT_HELP: &str = r"The report is made for readers outside the team: an agent with fewer than 50
evaluations is shown without a score.

Examples:
  renown report reviewer
  renown report reviewer --format html -o reviewer.html";

pub(super) const KEYS_HELP: &str = r"Works on the data directory while no server uses it. While a server runs, go
through it: --server URL, with a secret key in RENOWN_KEY.

Examples:
  renown keys create --kind secret --label ci
  RENOWN_KEY=rn_sec_… renown keys list --server http://127.0.0.1:7070
  renown keys revoke 0199a8f2-7c1d-7e33-9d6a-2f4f5f1b8c21";

pub(super) const KEYS_CREATE_HELP: &str = r"Examples:
  renown keys create --label laptop
  renown keys create --org team-a --kind secret --format json
  RENOWN_KEY=rn_sec_… renown keys create --server http://127.0.0.1:7070";

pub(super) const KEYS_LIST_HELP: &str = r"Examples:
  renown keys list
  RENOWN_KEY=rn_sec_… renown keys list --server http://127.0.0.1:7070";

pub(super) const KEYS_REVOKE_HELP: &str = r"Examples:
  renown keys revoke 0199a8f2-7c1d-7e33-9d6a-2f4f5f1b8c21
  RENOWN_KEY=rn_sec_… renown keys revoke 0199a8f2-7c1d-7e33-9d6a-2f4f5f1b8c21 \
    --server http://127.0.0.1:7070";

pub(super) const OVERVIEW_HELP: &str = r"Reads the store directly; a server may be running or not. Days are UTC days.
Agents that were calibrating when the day began are not listed under changes.
A failing gate is new if it did not fail on the seven days before.

Examples:
  renown overview
  renown overview --day 2026-11-15 --format json";

pub(super) const AGENTS_HELP: &str = r"Examples:
  renown agents list --sort score
  renown agents show reviewer";

pub(super) const AGENTS_LIST_HELP: &str = r"Columns (– means no evidence):
  SCORE     reputation, 0 to 1000; calibrating below 50 evaluations
  PASSED    share of the last 500 evaluations that passed
  LATENCY   average latency of the last 500 evaluations
  SESSION   performance of the latest session, 0 to 10, and the recommendation
  RUN       tier of the latest run that has a score
  IDENTITY  identity reputation, with its confidence from 0 to 1

Examples:
  renown agents list --sort score --limit 10
  renown agents list --search review --format json";

pub(super) const AGENTS_SHOW_HELP: &str = r"Examples:
  renown agents show reviewer
  renown agents show reviewer --format json";

pub(super) const SESSIONS_HELP: &str = r"Examples:
  renown sessions list --agent coder
  renown sessions records 0b1c2d3e";

pub(super) const SESSIONS_LIST_HELP: &str = r"Examples:
  renown sessions list
  renown sessions list --agent coder --limit 5";

pub(super) const SESSIONS_RECORDS_HELP: &str = r"Prompts, tool arguments, outputs and answers are not shown: they are never stored.

Examples:
  renown sessions records 0b1c2d3e
  renown sessions records 0b1c2d3e --limit 1000 --format json";

pub(super) const EVAL_HELP: &str = r"Works on the data directory while no server uses it, or through a server:
--server URL, with a secret key in RENOWN_KEY.

Examples:
  renown eval run --agent coder --from 2026-11-01T00:00:00Z
  renown eval list
  renown eval compare eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N eval_01KA1B2C3D4E5F6G7H8J9KMNPQ";

pub(super) const EVAL_RUN_HELP: &str = r"Evaluates all sessions that the filters select. The metrics are those of
`renown score session`. A sample is chosen by a random seed, which the run keeps.
Exit codes: 0 the run has ended or was started, 1 it failed or was cancelled.

Examples:
  renown eval run --agent coder --min-traces 3
  renown eval run --sample 0.1 --threshold agent_reliability=0.7
  renown eval run --server http://127.0.0.1:7070 --watch";

pub(super) const EVAL_LIST_HELP: &str = r"Examples:
  renown eval list
  renown eval list --status failed --format json";

pub(super) const EVAL_SHOW_HELP: &str = r"Examples:
  renown eval show eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N
  renown eval show eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N --format json";

pub(super) const EVAL_COMPARE_HELP: &str = r"Compares the sessions that both runs evaluated.

Examples:
  renown eval compare eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N eval_01KA1B2C3D4E5F6G7H8J9KMNPQ
  renown eval compare eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N eval_01KA1B2C3D4E5F6G7H8J9KMNPQ --format json";

pub(super) const EVAL_CANCEL_HELP: &str = r"Examples:
  renown eval cancel eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N
  renown eval cancel eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N --server http://127.0.0.1:7070";

pub(super) const EVAL_RETRY_HELP: &str = r"Examples:
  renown eval retry eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N
  renown eval retry eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N --server http://127.0.0.1:7070";

pub(super) const RUNS_HELP: &str = r"Works on the data directory while no server uses it (show, list and compare also
while one does), or through a server: --server URL, with a key in RENOWN_KEY.

Examples:
  renown runs submit runs.jsonl
  renown runs list --agent coder --tier Gold
  renown runs compare fix-login";

pub(super) const RUNS_SUBMIT_HELP: &str = r#"A run:
  {"agent_id": "coder", "outcome": "completed|blocked|failed",
   "run_id"?, "workspace"?, "spec_id"?, "branch"?, "pull_request"?,
   "started_at"?, "finished_at"?, "wall_ms"?, "stages"?, "resources"?}
`renown score --help` explains the stages and resources.

Examples:
  renown runs submit runs.jsonl
  RENOWN_KEY=rn_pub_… renown runs submit run.json --server http://127.0.0.1:7070"#;

pub(super) const RUNS_SHOW_HELP: &str = r"Examples:
  renown runs show nightly-42
  renown runs show nightly-42 --format json";

pub(super) const RUNS_LIST_HELP: &str = r"Examples:
  renown runs list --agent coder --limit 10
  renown runs list --spec fix-login --from 2026-11-01T00:00:00Z --format json";

pub(super) const RUNS_COMPARE_HELP: &str = r"Examples:
  renown runs compare fix-login
  renown runs compare fix-login --format json";

pub(super) const RUN_HELP: &str = r"The outcome is completed if COMMAND exits with 0, else failed. Exit code: that of
COMMAND, 128 + signal, 127 if it is not found, 126 if it cannot be started. A run
that cannot be submitted is written to a file.

Examples:
  renown run --agent coder -- make test
  renown run --agent coder --spec fix-login --stages stages.json -- ./agent.sh
  renown run --agent coder --output scorecard.txt -- npm test";

pub(super) const EXPORT_HELP: &str = r"Reads the store directly; a server may be running or not.

Examples:
  renown export evaluations --format csv -o evaluations.csv
  renown export runs --format parquet -o runs.parquet
  renown export sessions | jq .session_id";

pub(super) const FORGET_HELP: &str = r"The agent's evaluations, reputation events, runs, sessions and scores are erased
for good. Backups that exist still contain them.

Examples:
  renown forget reviewer
  RENOWN_KEY=rn_sec_… renown forget reviewer --yes --server http://127.0.0.1:7070";

pub(super) const VERIFY_HELP: &str = r"Exit codes: 0 every stored score is right, 1 some are not.

Examples:
  renown verify
  renown verify --repair
  renown verify --store sqlite:./copy.db";

pub(super) const BACKUP_HELP: &str = r"The copy is a consistent snapshot, also while a server runs. It is checked before
the command ends.

Examples:
  renown backup renown-2026-11-15.db
  renown backup /mnt/backups/renown.db --data /var/lib/renown";

pub(super) const RESTORE_HELP: &str = r"Never overwrites a store: the data directory must not have one.

Examples:
  renown restore renown-2026-11-15.db --data ./restored
  renown restore /mnt/backups/renown.db --data /var/lib/renown";

pub(super) const DOCTOR_HELP: &str = r"Exit codes: 0 nothing is wrong, 1 something is.

Examples:
  renown doctor
  renown doctor --data /var/lib/renown";

pub(super) const COMPLETIONS_HELP: &str = r"Examples:
  renown completions bash > ~/.local/share/bash-completion/completions/renown
  renown completions zsh > ~/.zfunc/_renown
  renown completions fish > ~/.config/fish/completions/renown.fish";

pub(super) const SCORE_HELP: &str = r#"Inputs (? marks optional fields):
  reputation
    {"evaluations": [{"passed": true, "latency_ms"?: 12.5}, …]}
    Oldest first; latency from 0 to 60000 ms.
  performance
    {"started_at", "ended_at", "prompts", "total_tools", "tools_ok",
     "total_cost", "total_tokens", "cache_tokens"}
    Times as RFC 3339 or whole milliseconds, cost in US dollars.
  run
    {"outcome": "completed|blocked|failed",
     "stages"?: [{"name": "lint", "passed": true, "attempts"?: 1}, …],
     "wall_ms"?, "baseline_wall_ms"?: [ …, newest last],
     "resources"?: {"memory_peak_bytes"?, "memory_limit_bytes"?,
       "cpu_periods"?, "cpu_throttled_periods"?, "cpu_throttled_ms"?}}
    Only an invalid outcome is an error. Other invalid parts count as
    absent and are named in "warnings".
  session
    {"traces": [{"trace_id": "t1", "signals"?: {"confidence"?: 0.9,
       "loop_detection"?, "tool_correctness"?, "coherence"?}}, …],
     "signal_weights"?: {…}}
    Signals from 0 to 1, weights from 0 to 10.
  identity
    {"as_of": "2026-11-15T00:00:00Z", "events": [{"event_id": UUID,
       "timestamp", "category", "event_type", "score_delta",
       "confidence"?}, …]}
    Categories task_quality, economic, identity_hygiene; deltas from
    -1000000 to 1000000.

An array of inputs gives an array of results, JSON Lines give JSON Lines, and
an input that spans several lines gives a result that spans several lines. An
invalid input gives {"error": …} in its place; the other inputs are still
scored, and the exit code is 2. The first three errors are also printed to
standard error. One input may have up to 64 MiB; the number of inputs is not
limited.

Examples:
  renown score run runs.jsonl
  renown score reputation --explain < evaluations.json"#;

pub(super) const GATE_HELP: &str = r#"Gates, and their options in [gate.NAME] of the configuration:
  latency     the tool took longer than max_ms
  schema      the output or input does not match a JSON schema
  filesystem  destructive commands, path traversal, system paths,
              credentials; roots
  pii         e-mail, US social security and phone numbers, cards, IBAN
  content     empty outputs, refusals
  secrets     keys, tokens and passwords; disable, extra
  injection   text that gives orders to a model; threshold
  rtb.*       bids that should not be made in an ad auction
filesystem, pii, content and secrets run by default. The time budget of 50 ms
(budget_ms) is CPU time: a busy machine does not change a verdict.

--report DIR reads every file in DIR: JSON Lines such as
  {"output": …, "gate": "pii.email", "label": "pass|fail"}
where "gate" is a gate or GATE.RULE, and the data sets presidio-research (for
pii) and NotInject (for injection). It prints true positives (TP), false
positives (FP) and misses (FN). Without --gates it runs the gates that the
labels name. Use "output_parts" (strings that are joined) instead of "output" to
keep literal secrets out of the file. --format json also lists every output that
was judged wrongly.

The output is never stored, logged or printed.

Exit codes: 0 passed, 1 failed, 2 bad usage or bad input.

Examples:
  renown gate output.json
  some-tool | renown gate --as text --strictness balanced
  renown gate --report labeled/ --gates pii,secrets"#;

pub(super) const PROXY_HELP: &str = r#"In the settings of an MCP client, put the proxy in front of the server's command:
  "command": "renown", "args": ["proxy", "--", "npx", "-y", "some-server"]

The gates filesystem, pii, content and secrets judge the server's messages. A
message that fails is replaced with error -32000. The gate injection only warns.
Input that is not one well-formed message per line is dropped. COMMAND gets no
variable RENOWN_*.
In the configuration, `proxy` of [gates] sets other gates, [gate.NAME] their
options.

The log is proxy/YYYY-MM-DD.jsonl in the data directory. With --server, every
verdict is sent there and counts for the agent; while the server is unreachable,
verdicts wait on disk. Arguments and results are never stored, logged or sent.

Exit code: that of COMMAND, 128 + signal, 127 if it cannot be started.

Examples:
  renown proxy -- npx -y @modelcontextprotocol/server-filesystem .
  RENOWN_KEY=rn_pub_… renown proxy --server http://127.0.0.1:7070 -- ./server
  renown proxy --upstream https://example.com/mcp --listen 127.0.0.1:7080"#;

pub(super) const SETUP_HELP: &str = r"Changes these settings (only those that differ, after asking):
  claude  env in ~/.claude/settings.json or $CLAUDE_CONFIG_DIR, and the
          command /performance in its commands directory
  codex   [otel] in ~/.codex/config.toml or $CODEX_HOME, and the agent's
          name in .env next to it
  gemini  telemetry in ~/.gemini/settings.json or under $GEMINI_CLI_HOME,
          and the agent's name in .env next to it

Other settings, their order and comments stay as they are. The previous file is
kept as FILE.renown-backup. The content of prompts, tool calls and answers is
never switched on; if it is on already, a warning says so.

--check changes nothing. It compares the settings with what would be written,
sends one test record to where they point (without a session, so that it is not
stored), and shows when a record of this agent last arrived in the store.
Exit codes of --check: 0 records arrive, 1 they do not; the output says what to do.

Examples:
  renown setup claude
  renown setup claude --check
  renown setup gemini --agent reviewer-1 --server https://renown.example/otlp --print";

pub(super) const JUDGE_HELP: &str = r"Without logs, and with nothing piped in, judges the latest session on this
machine: of Claude Code, Codex, Gemini CLI, Qwen Code, OpenCode, Copilot CLI or
pi, from the files in which they keep their sessions. Nothing has to be set up.
If a server has received telemetry here, its sessions come first; --all and
--last take both, and no session counts twice. --no-history, --store and --org
leave out the files of the agents. --session takes the beginning of an id.

Logs are OpenTelemetry logs and spans, also of agents that follow the GenAI
conventions. Several files are read as one stream; their order does not matter.
Prompts, arguments and outputs are never kept, in logs or files of agents.

The result goes to standard output, the summary of what was read to standard
error. Bad lines are skipped and counted; the first three are shown.

--submit also sends the good lines of the log to a server. Records with an id are
deduplicated. Records without one count again, unless the same unchanged log is
sent again within a day. A server on another machine needs a key in RENOWN_KEY.

With --history, it sends the sessions on this machine instead: what happened, not
what was said. It can be repeated; only what is new is added.

Exit codes: 0 judged, 1 below --min, 2 nothing to judge or bad input.

Examples:
  renown judge
  renown judge --all --agent claude --format table
  renown judge --min 7 logs.jsonl && git push";

pub(super) const STATS_HELP: &str = r"Sums up the sessions that `renown judge --all` judges: those on this machine and
those that a server has received, each once. Costs that the agent did not report
are estimates from public prices, marked with ~; [prices] in renown.toml sets
other prices.

Examples:
  renown stats
  renown stats --by model --agent claude
  renown stats --by day --from 2026-11-01T00:00:00Z --format csv";
