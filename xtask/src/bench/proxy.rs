//! `cargo xtask bench proxy`: the latency that `renown proxy` adds to a tool call, and its memory.
//!
//! A trivial server echoes its input, once behind the proxy and once without it. Both run at the same time and are
//! called in turns, so that other load on the machine affects both.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::renown::empty;
use crate::shell::{cargo, program, run, target_dir};

/// The lengths of the echoed texts.
const SIZES: [(&str, usize); 3] = [("200 B", 200), ("4 KiB", 4 << 10), ("64 KiB", 64 << 10)];

const CALLS: usize = 4000;
const WARM_UP_CALLS: usize = 200;

const ADDED_MS_MAX: f64 = 1.0;
const RESIDENT_MB_MAX: f64 = 20.0;

/// Ordinary output of a coding agent's tools, in which the gates find nothing.
const WORDS: &str =
    "fn area(width: u32, height: u32) -> u32 { width * height } // see docs/shapes.md, tests pass in 12 ms; ";

/// Latencies are recorded up to ten seconds, with three digits.
const LATENCY_NS_MAX: u64 = 10_000_000_000;

/// Measures both, and prints the difference.
pub(crate) fn proxy() -> Result<()> {
    run(cargo().args(["build", "--locked", "--release", "--package", "renown"]))?;
    let target = target_dir()?;
    let folder = target.join("xtask/bench-proxy");
    empty(&folder)?;
    println!("\n{:<8} {:>20} {:>20} {:>12}", "length", "without, p50 p99", "with, p50 p99", "added p99");
    let mut resident_mb: f64 = 0.0;
    for (name, bytes) in SIZES {
        let mut direct = Talk::start(echo_command()?)?;
        let mut proxied = Talk::start(proxy_command(&target.join("release/renown"), &folder)?)?;
        let text = WORDS.repeat(bytes / WORDS.len() + 1);
        let text = text.get(..bytes).context("words are ASCII")?;
        let (mut without, mut with) = (histogram()?, histogram()?);
        for call in 0..WARM_UP_CALLS + CALLS {
            let (one, other) = (direct.call(call, text)?, proxied.call(call, text)?);
            if call >= WARM_UP_CALLS {
                without.saturating_record(one);
                with.saturating_record(other);
            }
        }
        let added_ms = ms(&with, 0.99) - ms(&without, 0.99);
        let pair =
            |histogram: &Histogram<u64>| format!("{:.3} {:.3} ms", ms(histogram, 0.5), ms(histogram, 0.99));
        println!(
            "{name:<8} {:>20} {:>20} {added_ms:>9.3} ms  (target < {ADDED_MS_MAX} ms: {})",
            pair(&without),
            pair(&with),
            verdict(added_ms < ADDED_MS_MAX)
        );
        resident_mb = resident_mb.max(peak_mb(proxied.child.id())?);
        direct.end()?;
        proxied.end()?;
    }
    let met = verdict(resident_mb < RESIDENT_MB_MAX);
    println!("resident, at most: {resident_mb:.1} MB (target < {RESIDENT_MB_MAX} MB: {met})");
    Ok(())
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_max(LATENCY_NS_MAX, 3)?)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ms(latencies_ns: &Histogram<u64>, share: f64) -> f64 {
    latencies_ns.value_at_quantile(share) as f64 / 1e6
}

/// Returns the peak memory of a process in RAM.
fn peak_mb(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024.0 / 1e6)
}

/// Returns this program as the server.
fn echo_command() -> Result<Command> {
    let mut command = program(std::env::current_exe()?);
    command.args(["bench", "echo"]);
    Ok(command)
}

fn proxy_command(renown: &Path, data: &Path) -> Result<Command> {
    let mut command = program(renown);
    command
        .arg("proxy")
        .arg("--data")
        .arg(data)
        .arg("--")
        .arg(std::env::current_exe()?)
        .args(["bench", "echo"]);
    Ok(command)
}

/// A client and its server.
struct Talk {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Talk {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take().context("no pipe")?, child.stdout.take().context("no pipe")?);
        Ok(Self { child, to, from: BufReader::with_capacity(1 << 20, from), line: Vec::new() })
    }

    /// Calls the tool. Returns the time until its result was read, in nanoseconds.
    fn call(&mut self, id: usize, text: &str) -> Result<u64> {
        let params = json!({"name": "echo", "arguments": {"text": text}});
        let mut request =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
        request.push('\n');
        self.line.clear();
        let sent = Instant::now();
        self.to.write_all(request.as_bytes())?;
        self.from.read_until(b'\n', &mut self.line)?;
        let latency = sent.elapsed().as_nanos();
        let answer = str::from_utf8(&self.line)?;
        ensure!(answer.contains("\"result\"") && answer.len() > text.len(), "wrong answer: {answer}");
        Ok(u64::try_from(latency)?)
    }

    /// Closes the client's end and waits.
    fn end(self) -> Result<()> {
        let Self { mut child, to, from, .. } = self;
        drop((to, from));
        let status = child.wait()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }
}

#[derive(Deserialize)]
struct Asked<'m> {
    #[serde(borrow)]
    id: &'m RawValue,
    #[serde(borrow)]
    params: Params<'m>,
}

#[derive(Deserialize)]
struct Params<'m> {
    #[serde(borrow)]
    arguments: Arguments<'m>,
}

#[derive(Deserialize)]
struct Arguments<'m> {
    #[serde(borrow)]
    text: &'m RawValue,
}

/// Serves standard input and output. The only tool echoes a text.
pub(crate) fn echo() -> Result<()> {
    let (mut input, mut output) = (BufReader::new(io::stdin()), BufWriter::new(io::stdout()));
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let asked: Asked<'_> = serde_json::from_str(&line)?;
        let (id, text) = (asked.id.get(), asked.params.arguments.text.get());
        writeln!(
            output,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}"
        )?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
