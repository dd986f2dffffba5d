//! A server for one test: the real program, a new data directory, and a port that the system chose.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

use renown_testing::Scratch;
use rustix::process::{Pid, Signal, kill_process};

use super::http::{Reply, Request, send};

/// A running server. It is killed at the end of the test.
pub(super) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(super) address: SocketAddr,
    pub(super) data: Arc<Scratch>,
    /// The keys of the first start; empty on later starts.
    pub(super) publishable: String,
    pub(super) secret: String,
}

/// Returns the program, without the developer's settings.
pub(super) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RENOWN_") {
            command.env_remove(name);
        }
    }
    command.env("RENOWN_DATA", "no such directory");
    // Servers of tests must not use the default ports: they would conflict.
    command.envs([("RENOWN_OTLP_GRPC", "off"), ("RENOWN_OTLP_HTTP", "off")]);
    command
}

impl Server {
    /// Starts a server on a new data directory.
    pub(super) fn start() -> Self {
        Self::start_with(Arc::new(Scratch::new()), &[])
    }

    /// Starts a server on a data directory, with these variables. It logs to the file `log` in that directory.
    pub(super) fn start_with(data: Arc<Scratch>, variables: &[(&str, &str)]) -> Self {
        let log = File::options().create(true).append(true).open(data.join("log")).unwrap();
        let mut child = program()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "the server ended: {}", fs::read_to_string(data.join("log")).unwrap());
            line
        };
        let first = !data.join("keys-shown").exists();
        let address = line().rsplit("http://").next().unwrap().trim().parse().unwrap();
        let (mut publishable, mut secret) = (String::new(), String::new());
        while first && secret.is_empty() {
            let line = line();
            if let Some(key) = line.trim().strip_prefix("publishable ") {
                key.trim().clone_into(&mut publishable);
            } else if let Some(key) = line.trim().strip_prefix("secret ") {
                key.trim().clone_into(&mut secret);
            }
        }
        data.write("keys-shown", "");
        Self { child, stdout, address, data, publishable, secret }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request on a new connection.
    pub(super) fn send(&self, request: &Request) -> Reply {
        send(self.address, request).unwrap()
    }

    /// Evaluates a good output of an agent with the publishable key.
    pub(super) fn evaluate(&self, agent: &str) -> Reply {
        let body = serde_json::json!({"agent_id": agent, "output": "done"}).to_string();
        self.send(&Request::post("/v1/evaluate", body).key(&self.publishable))
    }

    /// Returns the number of evaluations of an agent.
    pub(super) fn eval_count(&self, agent: &str) -> u64 {
        let path = format!("/v1/reputation/{agent}");
        let reply = self.send(&Request::get(&path).key(&self.publishable));
        reply.json().get("eval_count").and_then(serde_json::Value::as_u64).unwrap()
    }

    /// Creates a key with `renown keys create` through the server.
    pub(super) fn create_key(&self, kind: &str, org: &str) -> String {
        let output = program()
            .args([
                "keys",
                "create",
                "--kind",
                kind,
                "--org",
                org,
                "--format",
                "json",
                "--server",
                &self.url(),
            ])
            .env("RENOWN_KEY", &self.secret)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let created: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        created.get("key").and_then(serde_json::Value::as_str).unwrap().to_owned()
    }

    /// Stops the server, without waiting for its end.
    pub(super) fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits for the end. Returns the log.
    pub(super) fn wait(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, fs::read_to_string(self.data.join("log")).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
