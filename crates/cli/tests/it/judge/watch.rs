//! Does `--watch` follow a log that grows, is rotated, is truncated, or is written in pieces?

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, document, judge, lines, ok_tool, prompt};

const DEADLINE: Duration = Duration::from_secs(30);

/// A running `renown judge --watch`. It ends with the test.
pub(super) struct Watch {
    child: Child,
    lines: Receiver<String>,
    seen: String,
}

impl Watch {
    fn start(folder: &Folder) -> Self {
        Self::start_with(folder, &["--watch", "log.jsonl"])
    }

    pub(super) fn start_with(folder: &Folder, args: &[&str]) -> Self {
        let mut command = folder.command(args);
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            // Ends when the child closes the pipe.
            for line in stdout.lines() {
                if line.is_err() || sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, seen: String::new() }
    }

    /// Reads until this line is printed.
    #[track_caller]
    pub(super) fn until(&mut self, line: &str) {
        let start = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(found) if found.trim() == line => return,
                Ok(found) => self.seen.extend([found.as_str(), "\n"]),
                Err(error) => panic!("{error} before {line:?}, after:\n{}", self.seen),
            }
        }
    }

    /// Ends the program. Returns its standard error.
    pub(super) fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        stderr
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append(folder: &Folder, name: &str, text: &str) {
    OpenOptions::new().append(true).open(folder.path(name)).unwrap().write_all(text.as_bytes()).unwrap();
}

fn prompts(range: std::ops::Range<u64>) -> String {
    document(&lines(&range.map(prompt).collect::<Vec<_>>()))
}

#[test]
fn a_growing_log_is_followed() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..1));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    append(&folder, "log.jsonl", &prompts(1..2));
    watch.until("prompts: 2");
    append(&folder, "log.jsonl", &document(&lines(&[ok_tool(9)])));
    watch.until("tools_ok: 1");
    assert!(!watch.stop().contains("warning: "));
}

#[test]
fn a_log_rotated_by_rename_is_followed() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..1));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    // The last line of the old file comes right before the rename: it must not be lost.
    append(&folder, "log.jsonl", &prompts(1..2));
    fs::rename(folder.path("log.jsonl"), folder.path("log-1.jsonl")).unwrap();
    folder.write("log.jsonl", prompts(2..3));
    watch.until("prompts: 3");
    append(&folder, "log.jsonl", &prompts(3..4));
    watch.until("prompts: 4");
}

#[test]
fn a_truncated_log_is_read_from_its_start() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..3));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 3");
    folder.write("log.jsonl", prompts(3..4));
    watch.until("prompts: 4");
    append(&folder, "log.jsonl", &prompts(4..5));
    watch.until("prompts: 5");
}

#[test]
fn a_line_written_in_pieces_counts_once_complete() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..1));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    let line = prompts(1..2);
    let (head, tail) = line.split_at(64);
    append(&folder, "log.jsonl", head);
    append(&folder, "log.jsonl", tail);
    watch.until("prompts: 2");
    let stderr = watch.stop();
    assert!(!stderr.contains("warning: ") && !stderr.contains("bad line"), "{stderr}");
}

#[test]
fn a_log_that_starts_with_an_unfinished_line_is_followed() {
    let folder = Folder::new();
    let line = prompts(1..2);
    let (head, tail) = line.split_at(64);
    folder.write("log.jsonl", format!("{}{head}", prompts(0..1)));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    append(&folder, "log.jsonl", tail);
    watch.until("prompts: 2");
}

#[test]
fn the_current_session_has_the_latest_start() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..2));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 2");
    let mut other = prompt(600);
    other.attributes.retain(|attribute| attribute["key"] != "session.id");
    append(&folder, "log.jsonl", &document(&lines(&[other.with("session.id", "s-2")])));
    watch.until("prompts: 1");
}

#[test]
fn an_unfinished_line_is_not_joined_with_the_next_file() {
    let folder = Folder::new();
    let half = &prompts(1..2)[..64];
    folder.write("log.jsonl", prompts(0..1));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    append(&folder, "log.jsonl", half);
    fs::rename(folder.path("log.jsonl"), folder.path("log-1.jsonl")).unwrap();
    folder.write("log.jsonl", prompts(2..3));
    watch.until("prompts: 2");
    let stderr = watch.stop();
    assert!(!stderr.contains("not JSON") && !stderr.contains("bad line"), "{stderr}");
    assert!(stderr.contains("warning: log.jsonl: ignored 64 bytes of an unfinished last line"), "{stderr}");
}

#[test]
fn a_writer_may_still_use_the_old_file_after_the_rename() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..1));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    fs::rename(folder.path("log.jsonl"), folder.path("log-1.jsonl")).unwrap();
    append(&folder, "log-1.jsonl", &prompts(1..2));
    watch.until("prompts: 2");
    folder.write("log.jsonl", prompts(2..3));
    watch.until("prompts: 3");
}

#[test]
fn standard_input_is_followed_to_its_end() {
    let run = judge(&["--watch", "-"], prompts(0..2));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("  prompts: 2\n"), "{run:?}");
}

#[test]
fn only_one_log_can_be_followed() {
    let folder = Folder::new();
    folder.write("a.jsonl", prompts(0..1)).write("b.jsonl", prompts(0..1));
    let run = folder.judge(&["--watch", "a.jsonl", "b.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.starts_with("error: "), "{run:?}");
}

#[test]
fn a_last_line_without_a_line_end_survives_a_rotation() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompts(0..2).trim_end());
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    fs::rename(folder.path("log.jsonl"), folder.path("log-1.jsonl")).unwrap();
    folder.write("log.jsonl", prompts(2..3));
    watch.until("prompts: 3");
    assert!(!watch.stop().contains("warning: "));
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let folder = Folder::new();
    folder.write("log.jsonl", format!("\u{feff}{}", prompts(0..1)));
    let mut watch = Watch::start(&folder);
    watch.until("prompts: 1");
    assert!(!watch.stop().contains("warning: "));
}

#[test]
fn a_compressed_log_cannot_be_followed() {
    let folder = Folder::new();
    for bytes in [&b"\x1f\x8b\x08\x00"[..], b"\x28\xb5\x2f\xfd", b"\x00\x00\x00\x02{}"] {
        let run = folder.write("log", bytes).judge(&["--watch", "log"]);
        let error = "error: log: compressed or framed, which --watch cannot follow\n";
        assert_eq!((run.code, run.stderr.as_str()), (2, error));
    }
}

#[test]
fn a_pipe_that_ends_without_a_session_is_an_error() {
    let run = judge(&["--watch", "-"], "");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("error: no records in standard input"), "{run:?}");
    let run = judge(&["--watch", "--session", "nope", "-"], prompts(0..1));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("error: no session nope in standard input"), "{run:?}");
}
