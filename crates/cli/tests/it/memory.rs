//! Does memory use stay constant for long streams?

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::thread;

const MEGABYTE: usize = 1 << 20;

/// Returns the peak memory of a process, in bytes.
fn peak_bytes(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Writes `megabytes` of `item`, and waits until the program has read all but the content of the pipe.
fn feed(stdin: &mut ChildStdin, item: &str, megabytes: usize) {
    let block = item.repeat(MEGABYTE / item.len() + 1);
    for _ in 0..megabytes {
        stdin.write_all(block.as_bytes()).unwrap();
    }
}

/// The peak memory of a run over 26 MB, and the length of its output, in bytes.
struct Held {
    after_2_mb: usize,
    at_the_end: usize,
    printed: usize,
}

/// Writes a stream: a start, followed by many of an item.
fn held(args: &[&str], open: &str, item: &str) -> Held {
    let mut child = Command::new(env!("CARGO_BIN_EXE_renown"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let (mut buffer, mut total) = (vec![0; MEGABYTE], 0);
        while let Ok(read @ 1..) = stdout.read(&mut buffer) {
            total += read;
        }
        total
    });
    stdin.write_all(open.as_bytes()).unwrap();
    feed(&mut stdin, item, 2);
    let after_2_mb = peak_bytes(child.id());
    feed(&mut stdin, item, 24);
    let at_the_end = peak_bytes(child.id());
    drop(stdin);
    child.wait().unwrap();
    Held { after_2_mb, at_the_end, printed: reader.join().unwrap() }
}

#[test]
fn a_long_log_does_not_use_more_memory() {
    let log = include_str!("../../../../examples/claude-code.jsonl");
    let Held { after_2_mb, at_the_end, .. } = held(&["judge"], "", log);
    assert!(at_the_end < after_2_mb + 8 * MEGABYTE, "{after_2_mb} bytes grew to {at_the_end} over 24 MB");
}

#[test]
fn a_long_stream_does_not_use_more_memory() {
    let run = r#"{"outcome":"completed","stages":[{"name":"lint","passed":true}],"wall_ms":61000,"baseline_wall_ms":[58000,64000]}"#;
    for (open, item) in
        [("", format!("{run}\n")), ("[", format!("{run},")), ("", run.replacen('{', "{\n", 1) + "\n")]
    {
        let Held { after_2_mb, at_the_end, printed } = held(&["score", "run"], open, &item);
        assert!(printed > 24 * MEGABYTE, "every input is answered");
        assert!(at_the_end < after_2_mb + 4 * MEGABYTE, "{after_2_mb} bytes grew to {at_the_end} over 24 MB");
    }
}
