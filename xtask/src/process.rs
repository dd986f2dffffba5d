//! Servers that a bench starts and stops, and their cost according to `/proc`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{self, Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell::{program, succeeds};

/// Timeout of starting and of stopping a server.
const PATIENCE: Duration = Duration::from_secs(30);

/// `/proc` counts processor time in hundredths of a second on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Where a server prints that it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    Stdout(&'static str),
    Stderr(&'static str),
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Its output. Closed when it ends.
    lines: Receiver<String>,
    stop_signal: &'static str,
}

impl Server {
    /// Starts a server. It is stopped with the signal that makes it end orderly and at once.
    pub(crate) fn start(command: &mut Command, prints_to: Says, stop_signal: &'static str) -> Result<Self> {
        command.stdin(Stdio::null());
        match prints_to {
            Says::Stdout(_) => command.stdout(Stdio::piped()).stderr(Stdio::null()),
            Says::Stderr(_) => command.stdout(Stdio::null()).stderr(Stdio::piped()),
        };
        let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
        let output: Option<Box<dyn Read + Send>> = match prints_to {
            Says::Stdout(_) => child.stdout.take().map(|output| Box::new(output) as _),
            Says::Stderr(_) => child.stderr.take().map(|output| Box::new(output) as _),
        };
        let (sender, lines) = channel();
        // Read to the end even if there is no reader: a full pipe would stop the server.
        thread::spawn(move || {
            for line in BufReader::new(output.context("not piped")?).lines() {
                drop(sender.send(line?));
            }
            anyhow::Ok(())
        });
        Ok(Self { child, lines, stop_signal })
    }

    /// Starts a server and waits until it prints that it is ready.
    pub(crate) fn start_ready(command: &mut Command, says: Says, stop_signal: &'static str) -> Result<Self> {
        let server = Self::start(command, says, stop_signal)?;
        let (Says::Stdout(text) | Says::Stderr(text)) = says;
        let mut printed = String::new();
        let deadline = Instant::now() + PATIENCE;
        loop {
            match server.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(text) => return Ok(server),
                Ok(line) => printed = printed + &line + "\n",
                Err(RecvTimeoutError::Timeout) => {
                    bail!("{command:?} is not ready after {PATIENCE:?}: {printed}")
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("{command:?} ended before it was ready: {printed}")
                }
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its output since the last call. Fails if the server has ended.
    pub(crate) fn still_runs(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            let printed: Vec<String> = self.lines.iter().collect();
            bail!("the server ended with {status}: {}", printed.join("\n"));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        succeeds(program("kill").args(["-s", self.stop_signal]).arg(self.pid().to_string()));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("process {} does not stop, so it is killed", self.pid());
                    drop(self.child.kill());
                    break;
                }
            }
        }
        drop(self.child.wait());
    }
}

/// Processor time of a bench, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// The server, with all its processes.
    pub(crate) server: f64,
    /// This process, or the client that it started.
    pub(crate) client: f64,
    /// Everything else on the machine. If this is large, the figures mean little.
    pub(crate) others: f64,
}

impl Usage {
    /// Measures what was used so far.
    pub(crate) fn so_far(server: u32) -> Result<Self> {
        let (server, client) = (with_children(server)?, own_and_waited_for(process::id())?);
        Ok(Self { server, client, others: machine()? - server - client })
    }

    /// Returns what was used since then.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            server: self.server - before.server,
            client: self.client - before.client,
            others: (self.others - before.others).max(0.0),
        }
    }
}

/// Returns the time of a process and of the children that it has waited for.
fn own_and_waited_for(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The second field is the name of the program, in parentheses, and may contain anything.
    let (_, fields) = stat.rsplit_once(')').context("a process without a name")?;
    seconds(fields.split_ascii_whitespace().skip(11).take(4))
}

/// The same including running children, for a server of many processes.
fn with_children(pid: u32) -> Result<f64> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    // If a child ends while it is read, its time is added to its parent.
    let children =
        children.split_ascii_whitespace().filter_map(|child| own_and_waited_for(child.parse().ok()?).ok());
    Ok(children.sum::<f64>() + own_and_waited_for(pid)?)
}

/// All processors: user, nice and system, then without idle and waiting, interrupts and what other machines took.
fn machine() -> Result<f64> {
    let stat = fs::read_to_string("/proc/stat")?;
    let fields = || stat.split_ascii_whitespace().skip(1);
    Ok(seconds(fields().take(3))? + seconds(fields().skip(5).take(3))?)
}

fn seconds<'a>(ticks: impl Iterator<Item = &'a str>) -> Result<f64> {
    Ok(ticks.map(str::parse::<f64>).sum::<Result<f64, _>>()? / TICKS_PER_SECOND)
}

/// Returns the memory of a process in RAM, in MB.
pub(crate) fn resident_mb(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("a process without memory")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_cost() {
        let pid = process::id();
        assert!(resident_mb(pid).unwrap() > 0.5);
        let before = Usage::so_far(pid).unwrap();
        let used = Usage::so_far(pid).unwrap().since(&before);
        assert!(used.server >= 0.0 && used.client >= 0.0 && used.others >= 0.0, "{used:?}");
    }

    #[test]
    fn a_server_is_waited_for_and_stopped() {
        let script = "echo one; echo ready; exec sleep 1000";
        let start = || Server::start_ready(program("sh").args(["-c", script]), Says::Stdout("ready"), "TERM");
        let pid = start().unwrap().pid();
        assert!(!fs::exists(format!("/proc/{pid}/stat")).unwrap());
    }

    #[test]
    fn a_server_that_ends_says_why() {
        let mut command = program("sh");
        command.args(["-c", "echo no disk >&2"]);
        let error = Server::start_ready(&mut command, Says::Stderr("ready"), "TERM").unwrap_err();
        assert!(error.to_string().contains("ended before it was ready: no disk"), "{error}");
    }
}
