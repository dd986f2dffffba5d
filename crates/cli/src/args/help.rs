//! What `--help` says after the flags.

pub(super) const SERVE_HELP: &str = r#"On the first start a data directory is made, for its owner only, with the
organization `default` and two keys, which are shown once.

With --demo everything is made up: a month of twelve agents that ends now, and a
new evaluation every few seconds. It lies in a temporary directory, which is
removed when the server ends; your own data is neither read nor written.

Every value can also be set by its variable RENOWN_… or in renown.toml:
  listen = "127.0.0.1:7070"
  store = "sqlite:"
  [limits]                       # per organization; 0 is no limit
  requests_per_minute = 0
  ingest_per_minute = 0
  [otlp]                         # telemetry of agents: an address, or off
  grpc = "127.0.0.1:4317"
  http = "127.0.0.1:4318"
  auth = "loopback"              # from this machine without a key; or required
  [gates]                        # see `renown gate --help`

The log goes to standard error, as JSON where that is no terminal; RENOWN_LOG
(error, warn, info, debug) chooses how much. Payloads and keys are never in it.

Examples:
  renown serve
  renown serve --demo
  renown serve --data ./data --listen 0.0.0.0:7070
  renown serve --otlp-grpc off --otlp-http 0.0.0.0:4318 --otlp-auth required
  renown serve --print-config"#;

pub(super) const KEYS_HELP: &str = r"Works on the data directory when no server holds it, and through the server
otherwise: --server URL, with a secret key in RENOWN_KEY.

Examples:
  renown keys create --kind secret --label ci
  RENOWN_KEY=rn_sec_… renown keys list --server http://127.0.0.1:7070
  renown keys revoke 0199…";

pub(super) const OVERVIEW_HELP: &str = r"Reads the store beside a running server, and without one. Days are UTC days.
Changes of scores leave out agents that were calibrating when the day began.
A failing gate is new if it failed on none of the seven days before.

Examples:
  renown overview
  renown overview --day 2026-11-15 --format json";

pub(super) const AGENTS_HELP: &str = r"Examples:
  renown agents list --sort score
  renown agents show reviewer";

pub(super) const AGENTS_LIST_HELP: &str = r"Columns (– where there is no evidence):
  SCORE     reputation, 0 to 1000; calibrating below 50 evaluations
  PASSED    share of the last 500 evaluations that passed
  LATENCY   their average latency
  SESSION   performance of the latest session, 0 to 10, and what to do
  RUN       tier of the latest run that has a score
  IDENTITY  long-term reputation, with its confidence from 0 to 1

Examples:
  renown agents list --sort score --limit 10
  renown agents list --search review --format json";

pub(super) const OPEN_HELP: &str = r"The server keeps a one-time link in its data directory, which only its owner can read.
Where there is no browser, the link is printed.

Examples:
  renown open
  renown open --print
  renown open --data /var/lib/renown";

pub(super) const REPORT_HELP: &str = r"An external view: an agent with fewer than 50 evaluations has no score in it.

Examples:
  renown report reviewer --format md
  renown report reviewer --format html -o reviewer.html";

pub(super) const AGENTS_SHOW_HELP: &str = r"Examples:
  renown agents show reviewer
  renown agents show reviewer --format json";

pub(super) const SESSIONS_HELP: &str = r"Examples:
  renown sessions list --agent coder
  renown sessions records 0b1c…";

pub(super) const SESSIONS_LIST_HELP: &str = r"Examples:
  renown sessions list
  renown sessions list --agent coder --limit 5";

pub(super) const SESSIONS_RECORDS_HELP: &str = r"The store keeps no prompts, arguments, outputs or answers, so none are shown.

Examples:
  renown sessions records 0b1c…
  renown sessions records 0b1c… --limit 1000 --format json";

pub(super) const SCORE_HELP: &str = r#"Inputs (? marks what may be left out):
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
    Only a bad outcome is refused: other bad parts count as absent and
    are named in "warnings".
  session
    {"traces": [{"trace_id": "t1", "signals": {"confidence"?: 0.9,
       "loop_detection"?, "tool_correctness"?, "coherence"?}}, …],
     "signal_weights"?: {…}}
    Signals from 0 to 1, weights from 0 to 10.
  identity
    {"as_of": "2026-11-15T00:00:00Z", "events": [{"event_id": UUID,
       "timestamp", "category", "event_type", "score_delta",
       "confidence"?}, …]}
    Categories task_quality, economic, identity_hygiene; deltas from
    -1000000 to 1000000.

An array gives an array, JSON Lines give JSON Lines, and a document over
several lines is answered over several lines. A bad input is answered by
{"error": …} in its place, the first three are also told on standard error,
the others are still scored, and the exit code is 2. One input may have up
to 64 MiB; a stream of them has no limit.

Examples:
  renown score run runs.jsonl
  renown score reputation --explain < evaluations.json"#;

pub(super) const GATE_HELP: &str = r#"Gates, with their options in [gate.NAME] of the configuration:
  latency     the tool took longer than max_ms
  schema      the output, or input, does not fit a JSON schema
  filesystem  commands that destroy, paths that climb, system paths,
              credentials; roots
  pii         e-mail, US social security and phone numbers, cards, IBAN
  content     empty outputs, refusals
  secrets     keys, tokens and passwords; disable, extra
  injection   text that gives orders to a model; threshold
  rtb.*       bids of an auction that should not be made
filesystem, pii, content and secrets are the default. The budget of 50 ms
(budget_ms) is CPU time: a busy machine changes no verdict.

--report DIR reads every file of DIR: JSON Lines
  {"output": …, "gate": "pii.email", "label": "pass|fail"}
with the name of a gate or GATE.RULE, and the data sets of presidio-research
(for pii) and NotInject (for injection). It prints what was rightly found (TP),
wrongly found (FP) and missed (FN). Without --gates, the gates run that the
labels name. "output_parts", a list of texts to join, may stand for "output",
so that a file of secrets is none. --format json also names every output that
was judged wrongly.

Nothing of the output is kept, logged or printed.

Exit codes: 0 passed, 1 failed, 2 bad usage or bad input.

Examples:
  renown gate output.json
  some-tool | renown gate --as text --strictness balanced
  renown gate --gates pii,content --format json output.json
  renown gate --report labelled/ --strictness balanced"#;

pub(super) const PROXY_HELP: &str = r#"In the settings of an MCP client, put the proxy before the server's command:
  "command": "renown", "args": ["proxy", "--", "npx", "-y", "some-server"]

What the server says is judged by filesystem, pii, content and secrets; what
fails is answered with error -32000 in its place. injection only warns.
What is not one well-formed message per line is dropped. COMMAND gets no
variable RENOWN_*.
[gates] proxy of the configuration names other gates, gate.NAME their options.

The log is proxy/YYYY-MM-DD.jsonl in the data directory. With --server every
verdict is counted there for the agent; while the server is away they wait on
disk. Nothing of arguments and results is kept, logged or sent.

Exit code: that of COMMAND, 128 + signal, 127 if it cannot be started.

Examples:
  renown proxy -- npx -y @modelcontextprotocol/server-filesystem .
  renown proxy --observe --verbose --pre -- python server.py
  RENOWN_KEY=rn_pub_… renown proxy --server http://127.0.0.1:7070 -- ./server
  renown proxy --upstream https://example.com/mcp --listen 127.0.0.1:7080"#;

pub(super) const SETUP_HELP: &str = r"What is changed (only what differs, after asking):
  claude  env in ~/.claude/settings.json or $CLAUDE_CONFIG_DIR, and the
          command /performance in its commands folder
  codex   [otel] in ~/.codex/config.toml or $CODEX_HOME, and the agent's
          name in .env beside it
  gemini  telemetry in ~/.gemini/settings.json or under $GEMINI_CLI_HOME,
          and the agent's name in .env beside it

Other settings, their order and comments stay. The file as it was is kept
beside it as FILE.renown-backup. The content of prompts, tool calls and
answers is never switched on; where it already is, a warning names it.

--check changes nothing. It compares the settings with what would be written,
sends one record exactly where they point to (without a session, so that it is
kept nowhere), and says when something of this agent last arrived in the store.
Exit codes: 0 records arrive, 1 they do not, and what to do.

Examples:
  renown setup claude
  renown setup claude --check
  renown setup codex --agent reviewer-1 --yes
  renown setup gemini --server https://renown.example/otlp --print";

pub(super) const JUDGE_HELP: &str = r"Reads logs and spans of Claude Code, Codex, Gemini CLI, Qwen Code, OpenCode,
Copilot and agents that follow the GenAI conventions of OpenTelemetry. Several
files are one stream, in any order. Prompts, arguments and outputs are never
read.

Without logs, and with nothing piped in, the sessions are judged that a server
has received, also while it runs; --data, --store and --org say whose, and
always mean the store.

The result goes to standard output, the account of what was read to standard
error. Bad lines are skipped, counted, and the first three are named.

--submit also sends the good lines of the log to a server. Records that say which
they are count once however often they are sent. The others count again, unless
the log is sent again within a day just as it was. A server on another machine
wants a key in RENOWN_KEY.

Exit codes: 0 judged, 1 below --min, 2 nothing to judge or bad input.

Examples:
  renown judge
  renown judge logs.jsonl
  renown judge --all --format table 'logs/*.jsonl.gz'
  renown judge --session 0b1c… --format json logs.jsonl
  renown judge --min 7 logs.jsonl && git push
  renown judge --watch logs.jsonl
  renown judge logs.jsonl --submit http://127.0.0.1:7070";
