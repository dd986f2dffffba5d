//! Tests of the program, as its users run it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken test fails loudly")]

mod api;
mod bad_input;
mod documents;
mod gate;
mod history;
mod judge;
mod memory;
mod operate;
mod proxy;
mod receiver;
mod score;
mod setup;
mod telemetry;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The result of a run of the program.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `renown` with these arguments and this standard input, in the root of the workspace.
fn renown(args: &[&str], stdin: impl Into<Vec<u8>>) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_renown"))
        .args(args)
        .current_dir(root())
        // The tests must not use the configuration of the developer.
        .env_remove("RENOWN_CONFIG")
        .env("RENOWN_DATA", "no such directory")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, bytes) = (child.stdin.take().unwrap(), stdin.into());
    // In its own thread, because the program answers before it has read everything.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
