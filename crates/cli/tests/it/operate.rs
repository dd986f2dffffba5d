//! The server and its commands, as a user and an operator run them.

mod agents;
mod backup;
mod config;
mod damage;
mod demo;
mod doctor;
mod eval;
mod failures;
mod first_start;
mod help;
mod keys;
mod mistakes;
mod overview;
mod pages;
mod runs;
mod sessions;
mod telemetry;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use renown_testing::{PATIENCE, Scratch};
use serde_json::{Value, json};

use crate::Run;

/// Servers of tests must not use the default ports: they would conflict.
const NO_TELEMETRY: [(&str, &str); 2] = [("RENOWN_OTLP_GRPC", "off"), ("RENOWN_OTLP_HTTP", "off")];

/// Returns `renown` with only these variables in its environment.
fn command(args: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
    command.args(args).env_clear().envs(NO_TELEMETRY).envs(environment.iter().copied()).stdin(Stdio::null());
    command
}

/// Runs `renown` to its end.
fn run_with(args: &[&str], environment: &[(&str, &str)]) -> Run {
    finish(&mut command(args, environment))
}

fn run(args: &[&str]) -> Run {
    run_with(args, &[])
}

fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Run {
    /// Checks success and returns the result.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.good()).unwrap()
    }

    /// Checks that the command failed with one error line, perhaps a hint, and no result. Returns the error.
    #[track_caller]
    fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(self.stderr.lines().skip(1).all(|line| line.starts_with("hint: ")), "{self:?}");
        self.stderr
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    /// Its standard output before it served.
    greeting: String,
    /// Its standard error before it served.
    before: String,
    pub(crate) url: String,
    /// Its standard error since then.
    log: Arc<Mutex<String>>,
    /// The keys of the first start, or those of `renown keys`.
    pub(crate) publishable: String,
    secret: String,
}

impl Server {
    /// Starts a server on a data directory.
    pub(crate) fn start(data: &str) -> Self {
        Self::start_with(&["--data", data])
    }

    pub(crate) fn start_with(args: &[&str]) -> Self {
        Self::start_after(0, args)
    }

    /// Starts a server that first logs this many other lines.
    fn start_after(lines_before: usize, args: &[&str]) -> Self {
        Self::start_under(lines_before, args, &[])
    }

    /// Starts a server with these variables, which first logs this many other lines.
    fn start_under(lines_before: usize, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let scratch = Scratch::new();
        let printed = scratch.at("stdout");
        // A flag overrides a variable.
        let mut command = command(&["serve"], &[("RENOWN_LOG", "info"), ("RENOWN_LISTEN", "127.0.0.1:0")]);
        command.args(args).envs(environment.iter().copied());
        command.stdout(File::create(&printed).unwrap()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let before: String = lines.by_ref().take(lines_before).map(Result::unwrap).collect();
        let mut first_line = String::new();
        // The next line has its address, or the error.
        let serving =
            lines.next().map(Result::unwrap).inspect(|line| first_line.push_str(line)).unwrap_or_default();
        let serving: Value = serde_json::from_str(&serving).unwrap_or_else(|_| panic!("{first_line}"));
        let url = format!("http://{}", serving.get("address").and_then(Value::as_str).unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let later = Arc::clone(&log);
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| *later.lock().unwrap() += &line));
        let greeting = fs::read_to_string(printed).unwrap();
        let key = |prefix: &str| {
            let word = greeting.split_whitespace().find(|word| word.starts_with(prefix));
            word.unwrap_or_default().to_owned()
        };
        let (publishable, secret) = (key("rn_pub_"), key("rn_sec_"));
        Self { child, greeting, before, url, log, publishable, secret }
    }

    /// Sends a request. Returns the status, `Retry-After` and body of the reply.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: &Value,
    ) -> (u16, Option<String>, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build()
            .into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("Authorization", format!("Bearer {key}"))
            .header("Content-Type", "application/json");
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut reply = agent.run(request.body(body).unwrap()).unwrap();
        let retry_after = reply.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        let text = reply.body_mut().read_to_string().unwrap();
        (reply.status().as_u16(), retry_after, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, _, body) = self.call("GET", path, &self.publishable, &Value::Null);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Sends this many evaluations of an agent. Every fifth one failed.
    fn ingest(&self, agent: &str, prefix: &str, count: usize) -> u16 {
        let event = |number: usize| {
            let id = format!("{prefix}-{number}");
            json!({"agent_id": agent, "passed": number % 5 != 4, "total_latency_ms": 2, "evaluation_id": id})
        };
        let events: Vec<Value> = (0..count).map(event).collect();
        self.call("POST", "/v1/ingest", &self.publishable, &json!({"events": events})).0
    }

    /// Stops it, and waits for its end.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
