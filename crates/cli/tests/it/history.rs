//! Does `renown judge` find and score the sessions that agents have left, with nothing set up?
//!
//! Each test has a home of its own, with the fixtures of `crates/telemetry/tests/transcripts`.

#![expect(clippy::indexing_slicing, reason = "a broken test fails loudly")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use renown_testing::Scratch;
use serde_json::Value;

use crate::receiver::Receiver;
use crate::telemetry::{Received, line};
use crate::{Run, root};

const CLAUDE: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const CODEX: &str = "019e6f2a-4c1b-7d30-9b52-6f0a7e84d1c9";

struct Home(Scratch);

impl Home {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn with(self, path: &str, fixture: &str) -> Self {
        self.write(path, text(fixture));
        self
    }

    /// A home with a session of each agent.
    fn with_all() -> Self {
        let home = Self::new()
            .with(&format!(".claude/projects/-home-dev-shop/{CLAUDE}.jsonl"), "claude-code")
            .with(
                &format!(".claude/projects/-home-dev-shop/{CLAUDE}/subagents/agent-a1.jsonl"),
                "claude-code-agent",
            )
            .with(&format!(".codex/sessions/2026/11/12/rollout-2026-11-12T10-00-00-{CODEX}.jsonl"), "codex")
            .with(".gemini/tmp/shop/chats/session-2026-11-12T11-00-e47a0d15.jsonl", "gemini-cli")
            .with(".qwen/projects/-site/chats/69f0814a-5b1c-4c55-8f0e-2d4a1f6f0b11.jsonl", "qwen-code")
            .with(".copilot/session-state/42d15dcf-0a1b-4c2d-8e3f-405162738495/events.jsonl", "copilot-cli")
            .with(".pi/agent/sessions/--home-dev-tool--/x_0199a8f2-7c1d-7e33-9d6a-2f4f5f1b8c21.jsonl", "pi");
        home.write(".gemini/tmp/shop/.project_root", "/home/dev/shop\n");
        home.opencode();
        home
    }

    /// Writes the database of OpenCode.
    fn opencode(&self) {
        let path = self.0.join(".local/share/opencode");
        fs::create_dir_all(&path).unwrap();
        let database = rusqlite::Connection::open(path.join("opencode.db")).unwrap();
        database
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT, time_created INTEGER);
                 CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
                 CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);",
            )
            .unwrap();
        for line in text("opencode-rows").lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| row[name].as_str();
            let time = row["time_created"].as_i64();
            let (id, session) = (text("id"), text("session_id"));
            match text("table").unwrap() {
                "session" => database.execute(
                    "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5)",
                    (id, text("parent_id"), text("directory"), text("version"), time),
                ),
                "message" => database.execute(
                    "INSERT INTO message VALUES (?1, ?2, ?3, ?4)",
                    (id, session, time, text("data")),
                ),
                _ => database.execute(
                    "INSERT INTO part VALUES (?1, ?2, ?3, ?4)",
                    (id, text("message_id"), session, text("data")),
                ),
            }
            .unwrap();
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
        command.args(args).current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        ran(self.command(args))
    }

    fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    }

    fn cache(&self) -> PathBuf {
        self.0.join(".local/share/renown/history.cache")
    }
}

fn ran(mut command: Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn text(fixture: &str) -> String {
    fs::read_to_string(root().join(format!("crates/telemetry/tests/transcripts/{fixture}.jsonl"))).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|session| session["session_id"].as_str().unwrap()).collect()
}

#[test]
fn each_agent_is_found_in_a_fresh_home() {
    let home = Home::with_all();
    for (agent, tools, prompts) in [
        ("claude", 5, 3),
        ("codex", 3, 1),
        ("gemini", 2, 1),
        ("qwen", 2, 1),
        ("opencode", 1, 1),
        ("copilot", 1, 1),
        ("pi", 2, 1),
    ] {
        let judged = home.json(&["judge", "--agent", agent]);
        assert_eq!(judged["stats"]["total_tools"], tools, "{agent}");
        assert_eq!(judged["stats"]["prompts"], prompts, "{agent}");
        assert_eq!(judged["coverage"]["signal"], "transcript");
        assert_eq!(judged["coverage"]["duration"], "active");
        let name = judged["agent"].as_str().unwrap();
        assert_eq!(judged["agent_id"], name, "the agent's name");
        assert_eq!(home.json(&["judge", "--agent", name])["session_id"], judged["session_id"]);
    }
    assert_eq!(ids(&home.json(&["judge", "--all"])).len(), 7);
}

#[test]
fn the_latest_session_is_the_one_with_the_latest_record() {
    let home = Home::with_all();
    let judged = home.json(&["judge"]);
    assert_eq!(judged["agent"], "opencode");
    assert_eq!(ids(&home.json(&["judge", "--last", "2"])).len(), 2);
    let run = home.run(&["judge"]);
    assert!(run.stdout.starts_with("masque: unknown\n"), "{run:?}");
    assert!(run.stderr.contains("of opencode 1.18.34"), "{run:?}");
    assert!(run.stderr.contains("read 8 files"), "{run:?}");
}

#[test]
fn sessions_are_selected_by_id_project_and_time() {
    let home = Home::with_all();
    assert_eq!(home.json(&["judge", "--session", "7c9e"])["session_id"], CLAUDE);
    assert_eq!(home.json(&["judge", "--session", CODEX])["session_id"], CODEX);
    let run = home.run(&["judge", "--session", "nope"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no session nope on this machine"), "{run:?}");
    assert_eq!(
        ids(&home.json(&["judge", "--all", "--project", "/home/dev/shop"])),
        [CLAUDE, "e47a0d15-2f86-4c93-8d1b-a95c60b3f72e"]
    );
    assert_eq!(ids(&home.json(&["judge", "--all", "--project", "/home/dev"])).len(), 7);
    assert_eq!(home.run(&["judge", "--project", "/home/de"]).code, 2);
    let cut = home.json(&["judge", "--session", CLAUDE, "--from", "2026-11-12T09:30:00Z"]);
    assert_eq!((&cut["stats"]["prompts"], &cut["stats"]["total_tools"]), (&1.into(), &1.into()));
}

#[test]
fn model_version_and_project_are_shown_and_estimates_are_marked() {
    let home = Home::with_all();
    let judged = home.json(&["judge", "--agent", "claude"]);
    assert_eq!(judged["models"], serde_json::json!(["claude-sonnet-4-5-20250929"]));
    assert_eq!(judged["agent_version"], "2.1.276");
    assert_eq!(judged["project"], "/home/dev/shop");
    assert_eq!(judged["coverage"]["cost_source"], "priced");
    let run = home.run(&["judge", "--agent", "claude"]);
    assert!(
        run.stderr.contains("claude-code 2.1.276 (claude-sonnet-4-5-20250929) in /home/dev/shop"),
        "{run:?}"
    );
    assert!(run.stderr.contains("costs are estimates, from prices of 20"), "{run:?}");
    let table = home.run(&["judge", "--all", "--format", "table"]);
    assert!(table.stdout.contains("AGENT") && table.stdout.contains("~$"), "{table:?}");
    assert!(table.stderr.contains("no price for coder-model"), "{table:?}");
    // A price of the user wins.
    home.write(
        "prices.toml",
        "[prices.\"claude-sonnet-4-5*\"]\ninput = 0\noutput = 0\ncache_read = 0\ncache_creation = 0\n",
    );
    let judged = home.json(&["judge", "--agent", "claude", "--config", "prices.toml"]);
    assert_eq!(judged["stats"]["total_cost"], serde_json::json!(0.0));
}

#[test]
fn a_warm_run_reads_the_cache_and_gives_the_same() {
    let home = Home::with_all();
    let cold = home.run(&["judge", "--all", "--format", "json"]);
    let first = fs::read(home.cache()).unwrap();
    assert_eq!(home.run(&["judge", "--all", "--format", "json"]), cold);
    assert_eq!(fs::read(home.cache()).unwrap(), first, "nothing has changed");
    // One agent leaves the entries of the others alone.
    home.run(&["judge", "--agent", "pi"]);
    assert_eq!(fs::read(home.cache()).unwrap(), first);
    // A damaged cache is read again.
    for damaged in [&b""[..], b"nonsense", &first[..first.len() / 2]] {
        fs::write(home.cache(), damaged).unwrap();
        assert_eq!(home.run(&["judge", "--all", "--format", "json"]), cold);
    }
    fs::remove_file(home.cache()).unwrap();
    assert_eq!(home.run(&["judge", "--all", "--format", "json"]), cold);
    // A grown file is read again.
    let path = format!(".claude/projects/-home-dev-shop/{CLAUDE}.jsonl");
    let more = text("claude-code")
        .lines()
        .nth(1)
        .unwrap()
        .replace("u01", "u99")
        .replace("\"p1\"", "\"p9\"")
        .replace("T09:00", "T09:59");
    home.write(&path, format!("{}{more}\n", text("claude-code")));
    assert_eq!(home.json(&["judge", "--session", CLAUDE])["stats"]["prompts"], 4);
    fs::remove_file(home.0.join(&path)).unwrap();
    assert_eq!(ids(&home.json(&["judge", "--all"])).len(), 7, "the sub-agent's file is left");
}

#[test]
fn the_variables_of_the_agents_are_followed() {
    let home =
        Home::new().with("elsewhere/projects/-x/7c9e6679-7425-40de-944b-e07fc1f90ae7.jsonl", "claude-code");
    assert_eq!(home.run(&["judge"]).code, 2);
    let mut command = home.command(&["judge", "--format", "json"]);
    command.env("CLAUDE_CONFIG_DIR", home.0.join("elsewhere"));
    let run = ran(command);
    assert!(run.stdout.contains(CLAUDE), "{run:?}");
}

#[test]
fn an_empty_home_says_what_to_do() {
    let home = Home::new();
    let run = home.run(&["judge"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: nothing to judge"), "{run:?}");
    let home = Home::with_all();
    let run = home.run(&["judge", "--no-history"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: nothing to judge"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn odd_files_are_counted_and_named_and_the_rest_is_judged() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let home = Home::with_all();
    let projects = home.0.join(".claude/projects");
    symlink(&projects, projects.join("loop")).unwrap();
    symlink("missing.jsonl", projects.join("-home-dev-shop/dangling.jsonl")).unwrap();
    home.write(".claude/projects/-x/foreign.jsonl", "{\"hello\":\"world\"}\nnot json\n");
    home.write(
        ".claude/projects/-x/half.jsonl",
        text("claude-code").replace(CLAUDE, "half").get(..1500).unwrap(),
    );
    home.write(".claude/projects/-x/binary.jsonl", [0xff, 0xfe, b'\n', 0]);
    let fifo = home.0.join(".claude/projects/-x/pipe.jsonl");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let closed = home.0.join(".claude/projects/-closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    let is_root = fs::read_dir(&closed).is_ok();
    home.write(".local/share/opencode/opencode-old.db", "no database");
    let run = home.run(&["judge", "--all", "--format", "json"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(ids(&serde_json::from_str(&run.stdout).unwrap()).len(), 8, "with the half session");
    let summary = run.stderr.lines().next().unwrap();
    for part in ["2 bad lines", "of an unfinished line", "files without a session", "not read"] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    if !is_root {
        assert!(summary.contains("2 files not read"), "{summary}");
    }
}

#[test]
fn a_session_with_telemetry_and_a_transcript_is_judged_from_telemetry() {
    // The log has one tool, the transcript five.
    let home = Home::with_all();
    let ok = [("success", "true"), ("tool_name", "Edit")];
    let lines =
        [line(CLAUDE, "claude_code.user_prompt", 0, &[]), line(CLAUDE, "claude_code.tool_result", 9, &ok)];
    Received::open(&home.0.join(".local/share/renown")).receive(&lines);
    let all = home.json(&["judge", "--all"]);
    let both: Vec<&Value> =
        all.as_array().unwrap().iter().filter(|judged| judged["session_id"] == CLAUDE).collect();
    let [one] = both.as_slice() else { panic!("{all}") };
    assert_eq!((&one["stats"]["total_tools"], &one["coverage"]["signal"]), (&1.into(), &"logs".into()));
    assert_eq!(all.as_array().unwrap().len(), 7);
    assert_eq!(home.json(&["judge"])["session_id"], CLAUDE, "the sessions of a server come first");
}

#[test]
fn stats_sum_up_the_sessions_by_agent_model_project_and_day() {
    let home = Home::with_all();
    let stats = home.json(&["stats"]);
    assert_eq!(stats["total"]["sessions"], 7);
    assert_eq!(stats["total"]["prompts"], 9);
    assert_eq!(stats["total"]["total_tools"], 16);
    assert_eq!(stats["total"]["tools_ok"], 10);
    assert_eq!(stats["total"]["total_tokens"], 67_059 + 11_200 + 17_415 + 1_125 + 71_425 + 1_092 + 22_126);
    assert_eq!(stats["total"]["cost_source"], "mixed");
    for by in ["agent", "model", "project", "day"] {
        let stats = home.json(&["stats", "--by", by]);
        let rows = stats["rows"].as_array().unwrap();
        for name in ["sessions", "prompts", "total_tools", "tools_ok", "total_tokens", "cache_tokens"] {
            let sum: u64 = rows.iter().map(|row| row[name].as_u64().unwrap()).sum();
            assert_eq!(sum, stats["total"][name].as_u64().unwrap(), "{by} {name}");
        }
    }
    let keys = |by: &str| {
        let stats = home.json(&["stats", "--by", by]);
        stats["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["key"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys("day"), ["2026-11-12"]);
    assert!(keys("model").contains(&"gpt-5-codex".to_owned()));
    assert_eq!(keys("project").len(), 6);
    assert_eq!(home.json(&["stats", "--agent", "codex"])["total"]["sessions"], 1);
    let csv = home.run(&["stats", "--format", "csv"]).stdout;
    assert!(csv.starts_with("key,sessions,prompts,"), "{csv}");
    assert_eq!(csv.lines().count(), 8);
    let table = home.run(&["stats"]);
    assert!(table.stdout.starts_with("AGENT") && table.stdout.contains("total"), "{table:?}");
    assert!(table.stderr.contains("~ marks estimates"), "{table:?}");
    assert_eq!(Home::new().run(&["stats"]).code, 2);
}

#[test]
fn the_database_of_opencode_is_read_beside_a_writer() {
    let home = Home::new();
    home.opencode();
    let path = home.0.join(".local/share/opencode/opencode.db");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; UPDATE session SET version = 'x';").unwrap();
    let judged = home.json(&["judge"]);
    assert_eq!((&judged["agent"], &judged["agent_version"]), (&"opencode".into(), &"1.18.34".into()));
    writer.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn an_import_gives_a_server_the_same_sessions_and_can_be_repeated() {
    let home = Home::with_all();
    let receiver = Receiver::start(&[("200 OK\r\nContent-Type: application/json", "{}")]);
    let args = ["judge", "--submit", &receiver.url, "--history"];
    let run = home.run(&args);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("imported 7 sessions"), "{run:?}");
    let sent = receiver.received()[0].text();
    assert!(!sent.contains("MARKER"), "payloads are not sent");
    assert_eq!(home.run(&args).code, 0);
    assert_eq!(receiver.received()[1].text(), sent, "the identities do not change");
    // A server stores what it receives, here twice.
    let lines: Vec<String> = sent.lines().map(str::to_owned).collect();
    let other = Home::new();
    let store = Received::open(&other.0.join(".local/share/renown"));
    store.receive(&lines).receive(&lines);
    let parts = |judged: &Value| {
        let mut judged = judged.clone();
        // Only a transcript has them.
        for name in ["models", "agent_version", "project"] {
            judged.as_object_mut().unwrap().remove(name);
        }
        judged
    };
    let list = |judged: Value| {
        let mut list: Vec<Value> = judged.as_array().unwrap().iter().map(parts).collect();
        list.sort_by_key(|judged| judged["session_id"].to_string());
        list
    };
    let expected = list(home.json(&["judge", "--all"]));
    assert_eq!(list(other.json(&["judge", "--all", "--no-history"])), expected);
    // A log of the same lines gives the same.
    other.write("import.jsonl", &sent);
    assert_eq!(list(other.json(&["judge", "--all", "import.jsonl"])), expected);
}
