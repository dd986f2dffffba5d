//! A load generator: several connections on one thread, one request in flight on each, no pipelining.
//!
//! It treats every peer in the same way, so that a ratio of two rates compares the servers and not their clients. A
//! request costs it one read, one write and a share of a wait, and almost nothing else: requests are made before the
//! run, and of a reply it only looks for the end. Latency is measured from before the write to after the read.

mod http;
mod request;
mod resp;

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::process::Usage;

pub(crate) use http::{exchange, fetch, fetch_one_of, get, post, send};
pub(crate) use request::{Request, Requests, Slot};
pub(crate) use resp::command;

/// A server that sends nothing for this long counts as dead.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Bytes per read of a reply.
const READ_BYTES: usize = 64 * 1024;

/// Bytes of a wrong reply that are shown.
const SHOWN_BYTES: usize = 600;

/// Latencies are recorded up to a minute, with three digits.
const LATENCY_NS_MAX: u64 = 60_000_000_000;
const LATENCY_DIGITS: u8 = 3;

/// The protocol of a peer, and the reply that is not an error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Protocol {
    /// HTTP/1.1 with a `Content-Length` and this status.
    Http(u16),
    /// The same for a server that may refuse with 503: the connection retries after `Retry-After`.
    HttpOrBusy(u16),
    /// The protocol of Redis: a simple string or a bulk string.
    Resp,
}

/// The state of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Incomplete.
    Unfinished,
    /// Complete, with nothing after it.
    Whole,
    /// The server is busy: retry after this many seconds.
    Busy(u64),
    /// An error, or not a reply of the protocol.
    Wrong,
}

impl Protocol {
    fn reply(self, received: &[u8]) -> Reply {
        match self {
            Self::Http(status) => http::reply(received, status),
            Self::HttpOrBusy(status) => http::reply_or_busy(received, status),
            Self::Resp => resp::reply(received),
        }
    }
}

/// A run: the server, the number of connections, and the duration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    /// The process of the server, to measure its cost.
    pub(crate) pid: u32,
    pub(crate) protocol: Protocol,
    pub(crate) connections: usize,
    pub(crate) warm_up: Duration,
    pub(crate) time: Duration,
}

/// What was measured after the warm-up.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    pub(crate) usage: Usage,
    /// Number of refusals. They are not part of the latencies and the rate.
    pub(crate) refused: u64,
    latencies_ns: Histogram<u64>,
}

impl Measured {
    /// Returns the results of another program's measurement.
    pub(crate) fn new(seconds: f64, usage: Usage, each_us: impl Iterator<Item = u64>) -> Result<Self> {
        let mut latencies_ns = empty_histogram()?;
        each_us.for_each(|latency| latencies_ns.saturating_record(latency.saturating_mul(1000)));
        Ok(Self { seconds, usage, refused: 0, latencies_ns })
    }

    pub(crate) fn requests(&self) -> u64 {
        self.latencies_ns.len()
    }

    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub(crate) fn rate(&self) -> f64 {
        self.requests() as f64 / self.seconds
    }

    /// Returns the latency that this share of the requests did not exceed, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub(crate) fn quantile_ms(&self, share: f64) -> f64 {
        self.latencies_ns.value_at_quantile(share) as f64 / 1e6
    }
}

impl Load {
    /// Sends the requests in a cycle until the time is over, then waits for the remaining replies.
    pub(crate) fn run(&self, requests: &mut Requests) -> Result<Measured> {
        ensure!(self.connections > 0, "a load needs at least one connection");
        let mut run = Run::new(self)?;
        let start = Instant::now();
        let measure_from = start + self.warm_up;
        let measure_to = measure_from + self.time;
        run.send_first(requests)?;
        run.until(measure_from, requests)?;
        run.latencies_ns.reset();
        run.refused = 0;
        let before = Usage::so_far(self.pid)?;
        let began = Instant::now();
        run.until(measure_to, requests)?;
        let measured = Measured {
            seconds: began.elapsed().as_secs_f64(),
            usage: Usage::so_far(self.pid)?.since(&before),
            refused: run.refused,
            latencies_ns: run.latencies_ns.clone(),
        };
        run.drain()?;
        ensure!(measured.requests() > 0, "{} replied to nothing in {:?}", self.address, self.time);
        Ok(measured)
    }
}

fn empty_histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_max(LATENCY_NS_MAX, LATENCY_DIGITS)?)
}

struct Connection {
    stream: TcpStream,
    sent_at: Instant,
    /// The rest of a request that one write did not take.
    unsent: Vec<u8>,
    /// The beginning of a reply that one read did not end.
    received: Vec<u8>,
    waits: bool,
}

/// The result of a complete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Received {
    Good,
    /// A refusal, for this many seconds.
    Busy(u64),
}

/// A run in progress.
struct Run {
    protocol: Protocol,
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    scratch: Vec<u8>,
    /// Refused connections, and when each may send again. The server gives all the same delay, so they are in order.
    refused_until: VecDeque<(Instant, usize)>,
    refused: u64,
    latencies_ns: Histogram<u64>,
}

impl Run {
    fn new(load: &Load) -> Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(load.connections);
        for index in 0..load.connections {
            // Connecting is not measured, so it may block.
            let stream = std::net::TcpStream::connect(load.address)
                .with_context(|| format!("could not connect to {}", load.address))?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(index), Interest::READABLE | Interest::WRITABLE)?;
            connections.push(Connection {
                stream,
                sent_at: Instant::now(),
                unsent: Vec::new(),
                received: Vec::new(),
                waits: false,
            });
        }
        Ok(Self {
            protocol: load.protocol,
            poll,
            events: Events::with_capacity(load.connections),
            connections,
            scratch: vec![0; READ_BYTES],
            refused_until: VecDeque::new(),
            refused: 0,
            latencies_ns: empty_histogram()?,
        })
    }

    fn send_first(&mut self, requests: &mut Requests) -> Result<()> {
        for connection in &mut self.connections {
            connection.send(requests.next(), Instant::now())?;
        }
        Ok(())
    }

    /// Answers each reply with the next request, until a deadline.
    fn until(&mut self, end: Instant, requests: &mut Requests) -> Result<()> {
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(());
            }
            self.turn(end - now, Some(requests))?;
            let silent = |connection: &Connection| connection.waits && connection.sent_at + SILENCE_MAX < now;
            ensure!(!self.connections.iter().all(silent), "no reply within {SILENCE_MAX:?}");
        }
    }

    /// Waits for all remaining replies and sends nothing more.
    fn drain(&mut self) -> Result<()> {
        let start = Instant::now();
        while self.connections.iter().any(|connection| connection.waits) {
            ensure!(start.elapsed() < SILENCE_MAX, "no reply within {SILENCE_MAX:?}");
            self.turn(SILENCE_MAX, None)?;
        }
        Ok(())
    }

    /// Resumes refused connections whose delay is over. Returns how long the next one still waits.
    fn resume(&mut self, requests: &mut Requests) -> Result<Option<Duration>> {
        let now = Instant::now();
        while let Some((at, index)) = self.refused_until.front().copied() {
            if at > now {
                return Ok(Some(at - now));
            }
            self.refused_until.pop_front();
            if let Some(connection) = self.connections.get_mut(index) {
                connection.send(requests.next(), now)?;
            }
        }
        Ok(None)
    }

    /// Waits once and handles all events.
    fn turn(&mut self, mut timeout: Duration, mut requests: Option<&mut Requests>) -> Result<()> {
        if let Some(requests) = requests.as_deref_mut()
            && let Some(next) = self.resume(requests)?
        {
            timeout = timeout.min(next);
        }
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            result => result?,
        }
        for event in &self.events {
            let Some(connection) = self.connections.get_mut(event.token().0) else { continue };
            if event.is_writable() && !connection.unsent.is_empty() {
                connection.send_rest()?;
            }
            if !event.is_readable() {
                continue;
            }
            let received = connection.receive(self.protocol, &mut self.scratch)?;
            if let Some(Received::Busy(seconds)) = received {
                self.refused += 1;
                self.refused_until
                    .push_back((Instant::now() + Duration::from_secs(seconds), event.token().0));
            } else if received.is_some() {
                let now = Instant::now();
                let latency = now.duration_since(connection.sent_at).as_nanos();
                self.latencies_ns.saturating_record(u64::try_from(latency).unwrap_or(u64::MAX));
                if let Some(requests) = requests.as_deref_mut() {
                    connection.send(requests.next(), now)?;
                }
            }
        }
        Ok(())
    }
}

impl Connection {
    fn send(&mut self, request: &[u8], now: Instant) -> Result<()> {
        self.sent_at = now;
        self.waits = true;
        let sent = match self.stream.write(request) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            result => result.context("the server closed the connection")?,
        };
        self.unsent.extend_from_slice(request.get(sent..).unwrap_or_default());
        Ok(())
    }

    fn send_rest(&mut self) -> Result<()> {
        match self.stream.write(&self.unsent) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => drop(self.unsent.drain(..result?)),
        }
        Ok(())
    }

    /// Reads what has arrived. Returns the reply if it is complete: nothing can follow it, because no other request was
    /// sent.
    fn receive(&mut self, protocol: Protocol, scratch: &mut [u8]) -> Result<Option<Received>> {
        loop {
            let count = match self.stream.read(scratch) {
                Ok(0) => bail!("the server closed the connection"),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                result => result?,
            };
            let mut received = scratch.get(..count).unwrap_or_default();
            if !self.received.is_empty() {
                self.received.extend_from_slice(received);
                received = &self.received;
            }
            let reply = protocol.reply(received);
            match reply {
                Reply::Whole | Reply::Busy(_) if self.waits => {
                    self.received.clear();
                    self.waits = false;
                    let Reply::Busy(seconds) = reply else { return Ok(Some(Received::Good)) };
                    return Ok(Some(Received::Busy(seconds)));
                }
                Reply::Unfinished if self.received.is_empty() => self.received = received.to_vec(),
                Reply::Unfinished => {}
                Reply::Whole | Reply::Busy(_) | Reply::Wrong => bail!("wrong reply: {}", shown(received)),
            }
        }
    }
}

fn shown(reply: &[u8]) -> String {
    String::from_utf8_lossy(reply.get(..SHOWN_BYTES).unwrap_or(reply)).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    /// Starts a server that answers every line with these parts, each in its own write.
    fn server(parts: &'static [&'static str]) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                stream.set_nodelay(true).unwrap();
                thread::spawn(move || {
                    let mut writer = stream.try_clone().unwrap();
                    for _ in BufReader::new(stream).lines() {
                        for part in parts {
                            writer.write_all(part.as_bytes()).unwrap();
                        }
                    }
                });
            }
        });
        address
    }

    fn load(address: SocketAddr, protocol: Protocol) -> (Load, Requests) {
        let (warm_up, time) = (Duration::from_millis(10), Duration::from_millis(50));
        let load = Load { address, pid: std::process::id(), protocol, connections: 3, warm_up, time };
        (load, Requests::new(vec![b"hello\n".to_vec().into()], 0))
    }

    #[test]
    fn replies_are_counted_also_when_they_come_in_parts() {
        for parts in [&["+OK\r\n"][..], &["$5\r\nhe", "llo\r", "\n"]] {
            let (load, mut requests) = load(server(parts), Protocol::Resp);
            let mut run = Run::new(&load).unwrap();
            run.send_first(&mut requests).unwrap();
            let start = Instant::now();
            // Limited by count and not by time: a busy machine may be slow to answer.
            while run.latencies_ns.len() < 10 {
                assert!(start.elapsed() < Duration::from_mins(2), "no reply was counted in two minutes");
                run.until(Instant::now() + Duration::from_millis(10), &mut requests).unwrap();
            }
            assert!(run.latencies_ns.min() > 0);
            run.drain().unwrap();
        }
    }

    #[test]
    fn a_wrong_reply_ends_the_run_and_is_shown() {
        let address = server(&["HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\n", "busy"]);
        let (load, mut requests) = load(address, Protocol::Http(200));
        let error = load.run(&mut requests).unwrap_err().to_string();
        assert!(error.starts_with("wrong reply: HTTP/1.1 503 Busy") && error.ends_with("busy"), "{error}");
    }
}
