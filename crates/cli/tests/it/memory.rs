//! Does memory stay flat however long the stream is?

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::thread;

const MEGABYTE: usize = 1 << 20;

/// The most memory that a process has held so far, in bytes.
fn peak_bytes(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Feeds `megabytes` of `item`, and waits until the program has taken all but what fits in the pipe.
fn feed(stdin: &mut ChildStdin, item: &str, megabytes: usize) {
    let block = item.repeat(MEGABYTE / item.len() + 1);
    for _ in 0..megabytes {
        stdin.write_all(block.as_bytes()).unwrap();
    }
}

#[test]
fn a_long_stream_does_not_grow_it() {
    let run = r#"{"outcome":"completed","stages":[{"name":"lint","passed":true}],"wall_ms":61000,"baseline_wall_ms":[58000,64000]}"#;
    for (open, item) in
        [("", format!("{run}\n")), ("[", format!("{run},")), ("", run.replacen('{', "{\n", 1) + "\n")]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_renown"))
            .args(["score", "run"])
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
        feed(&mut stdin, &item, 2);
        let before = peak_bytes(child.id());
        feed(&mut stdin, &item, 24);
        let after = peak_bytes(child.id());
        drop(stdin);
        child.wait().unwrap();
        assert!(reader.join().unwrap() > 24 * MEGABYTE, "every input is answered");
        assert!(after < before + 4 * MEGABYTE, "{before} bytes grew to {after} over 24 MB");
    }
}
