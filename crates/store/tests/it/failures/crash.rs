//! Processes: two that open one directory, and one that is killed while it writes.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use renown_store::sqlite::{Reader, Sqlite};
use renown_store::{AgentQuery, Evidence, OpenError, Reads};

use super::{again, given};
use crate::support::{Scratch, TestClock, clock_of, default_org, evaluation, ids, open, verify, wait};

/// The beginning of a line with an acknowledged write. The test harness prints lines of its own.
const DONE: &str = "done: ";

/// Runs a test again in another process. Returns the process and its output.
fn start(test: &str, scratch: &Scratch) -> (Child, Lines<BufReader<ChildStdout>>) {
    let command = Command::new(std::env::current_exe().unwrap());
    let mut command = again(command, test, scratch.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn next_done(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    lines.map_while(Result::ok).find_map(|line| line.split_once(DONE).map(|(_, id)| id.to_owned()))
}

#[test]
fn a_directory_has_one_process_and_any_number_of_readers() {
    const TEST: &str = "failures::crash::a_directory_has_one_process_and_any_number_of_readers";
    if let Some(dir) = given() {
        let store = open(&dir, &TestClock::at_noon());
        wait(store.append(&default_org(), vec![evaluation("a", "x")], None)).unwrap();
        println!("\n{DONE}x");
        // Until the process is killed.
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let (mut child, mut lines) = start(TEST, &scratch);
    assert_eq!(next_done(&mut lines).as_deref(), Some("x"));

    let error = Sqlite::open(scratch.path(), "the second", clock_of(&clock)).err().unwrap();
    let OpenError::InUse { holder, .. } = &error else { panic!("{error:?}") };
    assert_eq!(holder.to_string(), format!("process {} (a test)", child.id()));
    let reader = Reader::open(scratch.path()).unwrap();
    let query = AgentQuery { limit: 9, ..AgentQuery::default() };
    assert_eq!(wait(reader.agents(&default_org(), query)).unwrap().agents.len(), 1);
    assert!(reader.verify(&mut |_, _| {}).unwrap().is_ok());

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(ids(&*open(scratch.path(), &clock), &default_org()), ["x"]);
}

#[test]
fn a_killed_process_loses_no_acknowledged_write() {
    const TEST: &str = "failures::crash::a_killed_process_loses_no_acknowledged_write";
    if let Some(dir) = given() {
        let store = open(&dir, &TestClock::at_noon());
        for number in 0.. {
            let id = format!("e{number}");
            wait(store.append(&default_org(), vec![evaluation(&format!("a{}", number % 7), &id)], None))
                .unwrap();
            println!("\n{DONE}{id}");
        }
    }
    for kills in 1..=3 {
        let fresh = Scratch::new();
        let (mut child, mut lines) = start(TEST, &fresh);
        let mut acknowledged: Vec<String> =
            (0..150 * kills).map(|_| next_done(&mut lines).unwrap()).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        // Lines that it printed before it died.
        acknowledged.extend(std::iter::from_fn(|| next_done(&mut lines)));
        let mut kept = ids(&*open(fresh.path(), &TestClock::at_noon()), &default_org());
        kept.reverse();
        assert!(kept.starts_with(&acknowledged), "{} {}", kept.len(), acknowledged.len());
        assert!(
            kept.len() <= acknowledged.len() + 1,
            "only the write in flight may exist without an acknowledgment"
        );
        verify(fresh.path()).unwrap();
    }
}
