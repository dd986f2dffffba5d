//! Does `renown setup` make the announced changes, and no others?

mod check;

use std::fs;
use std::process::{Command, Stdio};

use renown_testing::Scratch;
use serde_json::{Value, json};

use crate::Run;

/// A home directory for one test.
struct Home(Scratch);

impl Home {
    fn new() -> Self {
        Self(Scratch::new())
    }

    /// Runs `renown setup` with only this home in its environment.
    fn setup(&self, args: &[&str]) -> Run {
        self.setup_with(args, &[])
    }

    fn setup_with(&self, args: &[&str], env: &[(&str, &str)]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
        command.arg("setup").args(args).env_clear().env("HOME", self.0.path()).envs(env.iter().copied());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(self.0.path().to_str().unwrap(), "~");
        Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Returns every file below the home, by name.
    fn files(&self) -> Vec<String> {
        let (mut folders, mut files) = (vec![self.0.path().to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        files
    }
}

#[track_caller]
fn refused(run: &Run, error: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.starts_with(&format!("error: {error}")), "{run:?}");
}

#[test]
fn claude_is_set_up_once_and_a_second_run_changes_nothing() {
    let home = Home::new();
    let run = home.setup(&["claude", "--yes"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert_eq!(home.files(), [".claude/commands/performance.md", ".claude/settings.json"]);
    assert_eq!(
        home.json(".claude/settings.json"),
        json!({"env": {
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
            "OTEL_RESOURCE_ATTRIBUTES": "renown.agent_id=claude-code",
        }})
    );
    let command = home.read(".claude/commands/performance.md");
    assert!(
        command.starts_with("---\ndescription: ") && command.contains("\n!`renown judge --org default`\n"),
        "{command}"
    );
    assert!(run.stderr.contains("~/.claude/settings.json: env.OTEL_LOGS_EXPORTER = otlp\n"), "{run:?}");
    assert!(
        run.stderr.ends_with(
            "next: start `renown serve`, then restart Claude Code; `--check` tests that records arrive\n"
        ),
        "{run:?}"
    );

    let again = home.setup(&["claude"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, "Claude Code is already set up\n"));
    assert_eq!(home.setup(&["claude", "--yes", "--quiet"]).stderr, "");
    assert_eq!(home.files().len(), 2, "and no backup");
}

#[test]
fn existing_settings_stay_and_a_backup_is_written() {
    let home = Home::new();
    let before = "{\n  // mine\n  \"z\": 1,\n  \"env\": {\n    \"OTEL_LOG_USER_PROMPTS\": \"1\",\n    \"OTEL_RESOURCE_ATTRIBUTES\": \"team=a\"\n  },\n  \"a\": [ ]\n}\n";
    home.write(".claude/settings.json", before);
    home.write(".claude/settings.json.renown-backup", "older");
    home.write(".claude/commands/performance.md", "my own");
    let run = home.setup(&["claude", "--yes", "--agent", "a, é", "--server", "https://host/otlp/"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        home.read(".claude/settings.json"),
        before.replace("\"team=a\"\n", "\"team=a,renown.agent_id=a%2C%20%C3%A9\",\n    \"CLAUDE_CODE_ENABLE_TELEMETRY\": \"1\",\n    \"OTEL_LOGS_EXPORTER\": \"otlp\",\n    \"OTEL_EXPORTER_OTLP_PROTOCOL\": \"http/protobuf\",\n    \"OTEL_EXPORTER_OTLP_ENDPOINT\": \"https://host/otlp\"\n")
    );
    assert_eq!(home.read(".claude/settings.json.renown-backup"), "older");
    assert_eq!(home.read(".claude/settings.json.renown-backup.1"), before);
    assert_eq!(home.read(".claude/commands/performance.md"), "my own");
    for message in [
        "warning: ~/.claude/settings.json: env.OTEL_LOG_USER_PROMPTS is on",
        "warning: ~/.claude/commands/performance.md: differs from the file that renown writes",
        " (was team=a)\n",
    ] {
        assert!(run.stderr.contains(message), "{message}: {run:?}");
    }
    let kept = home.setup(&["claude", "--yes", "--server", "https://host/otlp"]);
    assert!(
        kept.stderr.ends_with("Claude Code is already set up\n"),
        "without --agent it keeps its name: {kept:?}"
    );
}

#[test]
fn codex_and_gemini_are_set_up() {
    let home = Home::new();
    home.write(".codex/config.toml", "model = 'x' # why\n");
    assert_eq!(home.setup(&["codex", "--yes", "--agent", "reviewer-1"]).code, 0);
    assert_eq!(
        home.read(".codex/config.toml"),
        "model = 'x' # why\n\n[otel]\nexporter = { otlp-http = { endpoint = \"http://127.0.0.1:4318/v1/logs\", protocol = \"binary\", headers = {} } }\nlog_user_prompt = false\n"
    );
    assert_eq!(home.read(".codex/.env"), "OTEL_RESOURCE_ATTRIBUTES=renown.agent_id=reviewer-1\n");
    let encoded = home.setup(&["codex", "--yes", "--agent", "a b"]);
    assert!(encoded.stderr.contains("the id of this agent will be a%20b\n"), "{encoded:?}");

    assert_eq!(home.setup(&["gemini", "--yes"]).code, 0);
    assert_eq!(
        home.json(".gemini/settings.json"),
        json!({"telemetry": {"enabled": true, "target": "local", "otlpEndpoint": "http://127.0.0.1:4318",
            "otlpProtocol": "http", "logPrompts": false}})
    );
    assert_eq!(home.read(".gemini/.env"), "OTEL_RESOURCE_ATTRIBUTES=renown.agent_id=gemini-cli\n");
    for agent in ["codex", "gemini"] {
        let again = home.setup(&[agent]);
        assert!(again.code == 0 && again.stderr.contains(" is already set up\n"), "{again:?}");
    }
}

#[test]
fn a_new_env_file_never_hides_the_existing_one() {
    let home = Home::new();
    home.write(".env", "GEMINI_API_KEY=k\n");
    let run = home.setup(&["gemini", "--yes", "--agent", "r 1"]);
    assert!(run.stderr.contains("export OTEL_RESOURCE_ATTRIBUTES=renown.agent_id=r%201\n"), "{run:?}");
    assert_eq!(home.files(), [".env", ".gemini/settings.json"]);
}

#[test]
fn variables_choose_the_directories_of_agents() {
    let home = Home::new();
    let folder = |name: &str| home.0.at(name);
    for (agent, variable, name, expected) in [
        ("claude", "CLAUDE_CONFIG_DIR", "x", "x/settings.json"),
        ("codex", "CODEX_HOME", "y", "y/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "z", "z/.gemini/settings.json"),
    ] {
        let run = home.setup_with(&[agent, "--yes"], &[(variable, &folder(name))]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(home.files().contains(&expected.to_owned()), "{:?}", home.files());
    }
}

#[test]
fn print_changes_no_file() {
    let home = Home::new();
    home.write(".claude/settings.json", "{ broken");
    for (agent, expected) in [
        ("claude", "\"OTEL_EXPORTER_OTLP_ENDPOINT\": \"https://host/p\""),
        ("codex", "endpoint = \"https://host/p/v1/logs\""),
        ("gemini", "\"otlpEndpoint\": \"https://host/p\""),
    ] {
        let run = home.setup(&[agent, "--print", "--server", "https://host/p", "--agent", "me"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains(expected) && run.stdout.contains("renown.agent_id=me"), "{run:?}");
    }
    let claude = home.setup(&["claude", "--print"]).stdout;
    let (settings, command) = claude.split_once("\n\n---\n").unwrap();
    assert!(serde_json::from_str::<Value>(settings).unwrap()["env"].is_object());
    assert!(command.contains("allowed-tools: Bash(renown judge:*)"));
    assert_eq!(home.files(), [".claude/settings.json"]);
    let lost = home.setup_with(&["codex", "--print"], &[("HOME", "")]);
    assert_eq!((lost.code, lost.stderr.lines().next()), (0, Some("# ~/.codex/config.toml")));
}

#[test]
fn errors_are_reported_and_nothing_is_changed() {
    let home = Home::new();
    let run = home.setup(&["claude"]);
    refused(&run, "standard input is not a terminal");
    assert!(run.stderr.contains("--yes") && run.stderr.contains("--print"), "{run:?}");
    assert_eq!(home.files(), Vec::<String>::new());

    refused(&home.setup_with(&["claude", "--yes"], &[("HOME", "")]), "HOME is not set");
    for (name, agent, broken, error) in [
        (".claude/settings.json", "claude", "{\n  \"a\": 1,\n}", "~/.claude/settings.json:3: trailing comma"),
        (".gemini/settings.json", "gemini", "{\"telemetry\": 1}", "~/.gemini/settings.json:1: telemetry: "),
        (".codex/config.toml", "codex", "a = 1\nb =\n", "~/.codex/config.toml:2: "),
    ] {
        home.write(name, broken);
        let run = home.setup(&[agent, "--yes"]);
        refused(&run, error);
        assert!(run.stderr.contains("\nhint: ") && run.stderr.contains("--print"), "{run:?}");
        assert_eq!(home.read(name), broken);
    }
    assert_eq!(home.files().len(), 3, "{:?}", home.files());

    let other = Home::new();
    fs::create_dir_all(other.0.join(".claude/settings.json")).unwrap();
    refused(&other.setup(&["claude", "--yes"]), "~/.claude/settings.json: is a directory, expected a file");
    other.write(".codex", "a file where a folder should be");
    refused(&other.setup(&["codex", "--yes"]), "~/.codex/config.toml: ");
}

#[test]
fn bad_arguments() {
    let home = Home::new();
    for (args, message) in [
        (&["cursor"][..], "invalid value 'cursor'"),
        (&[], "the following required arguments"),
        (&["claude", "--server", "127.0.0.1:4318"], "no http:// or https://"),
        (&["claude", "--server", "http://host/v1/logs"], "the address of one signal"),
        (&["claude", "--agent", ".."], "expected 1 to 200 characters"),
        (&["claude", "--agent", "a\nb"], "expected 1 to 200 characters"),
        (&["claude", "--print", "--yes"], "cannot be used with"),
    ] {
        let run = home.setup(args);
        refused(&run, "");
        assert!(run.stderr.lines().next().unwrap().contains(message), "{run:?}");
    }
    assert_eq!(home.files(), Vec::<String>::new());
}

#[test]
#[cfg(unix)]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let home = Home::new();
    home.write("dotfiles/claude.json", "{}\n");
    let target = home.0.join("dotfiles/claude.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.0.join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", home.0.join(".claude/settings.json")).unwrap();
    assert_eq!(home.setup(&["claude", "--yes"]).code, 0);
    assert!(home.0.join(".claude/settings.json").is_symlink());
    assert!(home.json("dotfiles/claude.json")["env"].is_object());
    for name in ["dotfiles/claude.json", ".claude/settings.json.renown-backup"] {
        assert_eq!(fs::metadata(home.0.join(name)).unwrap().permissions().mode() & 0o777, 0o640, "{name}");
    }

    let text = home.read("dotfiles/claude.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o440)).unwrap();
    let run = home.setup(&["claude", "--yes", "--agent", "other"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("\nerror: ~/.claude/settings.json: is read-only\nhint: "), "{run:?}");
    assert_eq!(home.read("dotfiles/claude.json"), text);
    assert_eq!(home.files().len(), 4, "no second backup: {:?}", home.files());
}

/// Runs the program on a terminal, types the answers, and prints the content of the terminal.
#[cfg(target_os = "linux")]
const ON_A_TERMINAL: &str = r"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode())
shown = b''
try:
    while part := os.read(terminal, 4096):
        shown += part
except OSError:
    pass
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_each_file_needs_confirmation() {
    for (answers, files) in [
        ("y\nn\n", vec![".claude/settings.json"]),
        ("\nYES\n", vec![".claude/commands/performance.md"]),
        ("n\nn\n", vec![]),
    ] {
        let home = Home::new();
        let output = Command::new("python3")
            .args(["-c", ON_A_TERMINAL, answers, env!("CARGO_BIN_EXE_renown"), "setup", "claude"])
            .env("HOME", home.0.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .output()
            .unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{shown}");
        assert_eq!(shown.matches("? [y/N] ").count(), 2, "{shown}");
        assert_eq!(home.files(), files, "{shown}");
    }
}
