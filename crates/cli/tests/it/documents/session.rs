//! A reader who pastes the blocks of a document into a shell, one after the other.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use renown_testing::Scratch;

use crate::root;

/// What a script printed.
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The directory, the store and the ports of one document.
pub(super) struct Session {
    scratch: Scratch,
    api: String,
    otlp: String,
}

impl Session {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        for folder in ["work", "home"] {
            fs::create_dir(scratch.at(folder)).unwrap();
        }
        symlink(root().join("examples").canonicalize().unwrap(), scratch.at("work/examples")).unwrap();
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { scratch, api: free(), otlp: free() }
    }

    /// Runs each command of a `console` block, and compares what it prints with the lines below it.
    pub(super) fn console(&self, place: &str, block: &str) {
        let mut commands: Vec<(&str, String)> = Vec::new();
        for line in block.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command, String::new())),
                (None, Some((_, expected))) => expected.extend([line, "\n"]),
                (None, None) => panic!("{place}: a console block begins with `$ command`, found {line}"),
            }
        }
        for (command, expected) in commands {
            let (Output { stdout, stderr }, _) = self.shell(command);
            assert_eq!(stdout + &stderr, expected, "{place}: $ {command}");
        }
    }

    /// Runs a script, which has to succeed, and stops the server that it leaves in the background.
    pub(super) fn script(&self, place: &str, block: &str) -> Output {
        // A shell without a terminal has no `%1`.
        let stop = r#"if [ -n "$!" ]; then kill $! 2>/dev/null; wait; fi"#;
        let script = format!("trap '{stop}' EXIT\nset -e\n{block}");
        let (output, is_success) = self.shell(&script);
        assert!(is_success, "{place}:\n{block}\n{}\n{}", output.stdout, output.stderr);
        output
    }

    /// Writes `renown.toml`, which a server has to accept.
    pub(super) fn configuration(&self, place: &str, block: &str) {
        self.scratch.write("work/renown.toml", block);
        let (output, is_success) = self.shell("renown serve --print-config --config renown.toml");
        assert!(is_success && output.stderr.is_empty(), "{place}:\n{block}\n{}", output.stderr);
    }

    /// Runs shell text with the program under test as `renown`. The default ports are replaced by free ones.
    fn shell(&self, text: &str) -> (Output, bool) {
        let text = text
            .replace("127.0.0.1:7070", &self.api)
            .replace("127.0.0.1:4318", &self.otlp)
            .replace("renown setup claude", &format!("renown setup claude --server http://{}", self.otlp));
        let program = Path::new(env!("CARGO_BIN_EXE_renown")).parent().unwrap();
        let path = [program.as_os_str(), &env::var_os("PATH").unwrap()].join(":".as_ref());
        let output = Command::new("sh")
            .args(["-c", &text])
            .current_dir(self.scratch.at("work"))
            .stdin(Stdio::null())
            .env_clear()
            .envs([("PATH", path.as_os_str()), ("LC_ALL", "C.UTF-8".as_ref())])
            .envs([("HOME", self.scratch.at("home")), ("RENOWN_DATA", self.scratch.at("data"))])
            .envs([
                ("RENOWN_LISTEN", &*self.api),
                ("RENOWN_OTLP_HTTP", &*self.otlp),
                ("RENOWN_OTLP_GRPC", "off"),
            ])
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (Output { stdout: text(output.stdout), stderr: text(output.stderr) }, output.status.success())
    }
}
