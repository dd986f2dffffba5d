//! Reads the system calls of a server under load, as recorded by `strace`: does a reply ever leave too early?
//!
//! For each acknowledged write there must be a `fdatasync` or `fsync` of the write-ahead log that began after the write
//! of a page with that evaluation, and ended before the reply was passed to the socket. To prove that the check works,
//! the same load runs on a server that does not wait for the disk, and must fail.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::load::{fetch, post};
use crate::renown::{Renown, empty};
use crate::shell::{install, program, succeeds};

const CLIENTS: usize = 4;
const EACH: usize = 25;

/// Traces a durable server, and one that is not durable.
pub(super) fn run(renown: &Path, folder: &Path) -> Result<()> {
    if !succeeds(program("strace").arg("--version")) {
        install(&["strace"])?;
    }
    let durable = early(&traced(renown, &folder.join("full"), false)?)?;
    ensure!(durable.is_empty(), "replies left before their evaluation was on disk: {durable:?}");
    let careless = early(&traced(renown, &folder.join("off"), true)?)?;
    ensure!(
        careless.len() == CLIENTS * EACH,
        "without fsync only {} early replies were noticed",
        careless.len()
    );
    println!(
        "traced {} writes: no reply left before its fsync; with synchronous=OFF all {} did",
        CLIENTS * EACH,
        careless.len()
    );
    Ok(())
}

/// Returns the system calls of a server during some evaluations.
fn traced(renown: &Path, data: &Path, synchronous_off: bool) -> Result<String> {
    empty(data)?;
    let log = data.join("strace.txt");
    let renown = Renown { program: renown.to_owned(), data: data.to_owned() };
    let key = renown.create_key()?;
    let mut strace = program("strace");
    // The server is the process and the tracer its child, so that signals reach the server.
    // `-s`: a whole page of the log, so that the id is found wherever it is in its page.
    strace.args(["-D", "-f", "-y", "-s", "10000", "-e"]);
    strace.arg("trace=pwrite64,write,writev,sendto,sendmsg,fdatasync,fsync").arg("-o").arg(&log);
    if synchronous_off {
        strace.env("RENOWN_TEST_SYNCHRONOUS_OFF", "1");
    }
    strace.arg(&renown.program);
    let (peer, _) = renown.serve_as(strace, "TERM")?;
    let address = peer.address;
    let loads: Vec<Result<()>> = thread::scope(|scope| {
        let clients = (0..CLIENTS).map(|client| {
            scope.spawn({
                let key = &key;
                move || load(client, address, key)
            })
        });
        let clients: Vec<_> = clients.collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a client panicked"))))
            .collect()
    });
    loads.into_iter().collect::<Result<()>>()?;
    drop(peer);
    std::fs::read_to_string(&log).with_context(|| format!("{}", log.display()))
}

fn load(client: usize, address: SocketAddr, key: &str) -> Result<()> {
    for number in 0..EACH {
        let body = format!(r#"{{"agent_id":"a","output":"fine","evaluation_id":"{}"}}"#, id(client, number));
        fetch(address, &post("/v1/evaluate", key, &body), 200)?;
    }
    Ok(())
}

/// Returns an id that is not part of any other.
fn id(client: usize, number: usize) -> String {
    format!("marked_{client}_{number}_end")
}

/// A system call: the lines on which it began and ended, and what it was.
#[derive(Debug)]
struct Call {
    began: usize,
    ended: usize,
    text: String,
}

/// Returns the calls of a trace in the order in which they ended. `strace` splits a call if another thread's call came
/// between.
fn calls(trace: &str) -> Vec<Call> {
    let mut unfinished: HashMap<&str, (usize, String)> = HashMap::new();
    let mut calls = Vec::new();
    for (line_number, line) in trace.lines().enumerate() {
        let Some((thread, text)) = line.split_once(' ') else { continue };
        let text = text.trim_start();
        if let Some(begun) = text.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, (line_number, begun.to_owned()));
        } else if text.starts_with("<... ") {
            if let Some((began, begun)) = unfinished.remove(thread) {
                calls.push(Call { began, ended: line_number, text: begun + text });
            }
        } else {
            calls.push(Call { began: line_number, ended: line_number, text: text.to_owned() });
        }
    }
    calls
}

/// Returns the evaluations whose reply left before they were on disk.
fn early(trace: &str) -> Result<Vec<String>> {
    let calls = calls(trace);
    let of = |names: &'static [&'static str], about: &'static str| {
        let fits = move |call: &&Call| {
            names.iter().any(|name| call.text.starts_with(name)) && call.text.contains(about)
        };
        calls.iter().filter(fits).collect::<Vec<&Call>>()
    };
    let pages = of(&["pwrite64("], "renown.db-wal>");
    let syncs = of(&["fdatasync(", "fsync("], "renown.db-wal>");
    let replies = of(&["write(", "writev(", "sendto(", "sendmsg("], "HTTP/1.1 200");
    let mut early = Vec::new();
    for id in (0..CLIENTS).flat_map(|client| (0..EACH).map(move |number| id(client, number))) {
        let first = |calls: &[&Call]| {
            calls.iter().find(|call| call.text.contains(&id)).map(|call| (call.began, call.ended))
        };
        let (answered, _) = first(&replies).with_context(|| format!("no reply for {id}"))?;
        let (_, written) = first(&pages).with_context(|| format!("no page with {id}"))?;
        if !syncs.iter().any(|sync| sync.began > written && sync.ended < answered) {
            early.push(id);
        }
    }
    Ok(early)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a trace in which every evaluation is written, synced and answered as in `one`.
    fn trace(one: &str) -> String {
        let ids = (0..CLIENTS).flat_map(|client| (0..EACH).map(move |number| id(client, number)));
        ids.map(|id| one.replace("ID", &id)).collect()
    }

    #[test]
    fn a_sync_between_page_and_reply_is_wanted() {
        let (page, sync) = (
            "1 pwrite64(5</d/renown.db-wal>, \"ID\", 4096, 0) = 4096\n",
            "1 fdatasync(5</d/renown.db-wal>) = 0\n",
        );
        let reply = "2  writev(9<socket:[1]>, \"HTTP/1.1 200 OK ID\") = 9\n";
        let count = |one: &str| early(&trace(one)).unwrap().len();
        assert_eq!(count(&[page, sync, reply].concat()), 0);
        assert_eq!(count(&[page, reply].concat()), CLIENTS * EACH);
        let other = "1 fdatasync(6</d/renown.db>) = 0\n";
        assert_eq!(count(&[page, other, reply].concat()), CLIENTS * EACH, "another file does not help");
        let begun_before = "3 fdatasync(5</d/renown.db-wal> <unfinished ...>\n";
        let ended = "3 <... fdatasync resumed>) = 0\n";
        assert_eq!(count(&[begun_before, page, ended, reply].concat()), CLIENTS * EACH);
        assert_eq!(count(&[page, begun_before, ended, reply].concat()), 0);
        assert_eq!(count(&[page, begun_before, reply, ended].concat()), CLIENTS * EACH);
    }

    #[test]
    fn a_trace_without_the_writes_proves_nothing() {
        assert!(early("").is_err());
    }
}
