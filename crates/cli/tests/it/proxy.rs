//! Tests of `renown proxy`: the real program between a test client and a server that the test controls.

#![expect(clippy::indexing_slicing, reason = "what is missing fails the test")]

mod bypass;
mod life;
mod limits;
mod log;
mod shipping;
mod transparency;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use renown_testing::{PATIENCE, Scratch, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A client of a running proxy.
struct Proxy {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    /// Standard error so far, and the thread that reads it.
    errors: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
}

/// Returns the command of `server.py` with these arguments.
fn python(args: &[&str]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/proxy/server.py");
    let mut command = vec!["python3".to_owned(), script.to_str().unwrap().to_owned()];
    command.extend(args.iter().map(|arg| (*arg).to_owned()));
    command
}

/// Returns a proxy in front of a server, with a data directory in a folder. It is not started yet.
fn command(scratch: &Scratch, options: &[&str], server: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(["proxy", "--data", &scratch.at("data")]).args(options).arg("--").args(server);
    command
}

impl Proxy {
    /// Starts the proxy in front of `server.py`.
    fn start(scratch: &Scratch, options: &[&str]) -> Self {
        Self::spawn(&mut command(scratch, options, &python(&[])))
    }

    fn spawn(command: &mut Command) -> Self {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let mut stdout = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                if stdout.read_until(b'\n', &mut line).unwrap_or(0) == 0 || sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let errors = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&errors);
        let listener = thread::spawn(move || {
            for line in stderr.lines().map(Result::unwrap) {
                *shared.lock().unwrap() += &(line + "\n");
            }
        });
        Self { stdin: child.stdin.take(), child, lines, errors, listener: Some(listener) }
    }

    /// Returns standard error so far.
    fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Sends bytes unchanged.
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes.as_ref()).unwrap();
        stdin.flush().unwrap();
    }

    /// Calls a tool, without waiting for the reply.
    fn call(&mut self, id: &Value, tool: &str, arguments: &Value) {
        self.send(request(id, tool, arguments) + "\n");
    }

    /// Reads the next line, with its line end.
    #[track_caller]
    fn line(&self) -> Vec<u8> {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    #[track_caller]
    fn message(&self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&line)))
    }

    /// Makes the tool return a text. Returns what the client gets.
    #[track_caller]
    fn say(&mut self, id: u64, text: &str) -> Value {
        self.call(&json!(id), "say", &json!({"text": text}));
        self.message()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes the client's end.
    fn close(&mut self) {
        self.stdin = None;
    }

    /// Closes the client's end and waits. Returns the exit code, the remaining output, and standard error.
    #[track_caller]
    fn end(mut self) -> (i32, Vec<u8>, String) {
        self.close();
        let status = self.wait();
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.extend(line);
        }
        self.listener.take().unwrap().join().unwrap();
        (status.code().unwrap(), rest, self.errors())
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a call of a tool.
fn request(id: &Value, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Returns the code and message of an error.
#[track_caller]
fn error(message: &Value) -> (i64, &str) {
    let error = message.get("error").unwrap_or_else(|| panic!("no error: {message}"));
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap())
}

/// Returns the text of a result.
#[track_caller]
fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {message}"))
}

/// Reads the log of a proxy.
fn logged(scratch: &Scratch) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(scratch.at("data/proxy")) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let text: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn actions(scratch: &Scratch) -> Vec<String> {
    logged(scratch).iter().map(|line| line["action"].as_str().unwrap().to_owned()).collect()
}

/// Encodes bytes for a tool that writes them.
fn base64(bytes: impl AsRef<[u8]>) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.as_ref().chunks(3) {
        let number = chunk.iter().fold(0, |number, byte| (number << 8) | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place)) & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}
