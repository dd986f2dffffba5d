//! `renown judge LOGS --submit URL`: sends the good lines of a log to a server while judging them.
//!
//! The reader passes lines on in the order of the log. They are sent in bodies of whole lines, one body at a time. A slow server
//! slows the reader down, so that memory holds only a few bodies. If the server fails, the log is still judged.
//!
//! The `Idempotency-Key` of a body is its hash. So the server recognizes an unchanged log that is sent again, even if its records
//! have no ids.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};
use ureq::http::{Response, StatusCode};
use uuid::Uuid;

use crate::client::{self, Key};
use crate::failure::{self, Failure};
use crate::setup::server::ServerUrl;
use crate::table::counted;

/// Maximum bytes of lines per body. A longer line is sent alone.
const BODY_BYTES: usize = 4 << 20;

/// Maximum length of a line: the server's limit for a body.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Maximum number of parts of the log in the queue.
const PARTS_WAITING: usize = 2;

/// Timeout of a request.
const TIME_MAX: Duration = Duration::from_mins(1);

/// Maximum number of attempts per body if the server is busy.
const TRIES: u32 = 5;

/// Time between attempts: the default without a `Retry-After`, and the maximum.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A log that is being sent.
pub(super) struct Submission {
    sender: JoinHandle<Result<Sent, Failure>>,
    url: String,
}

/// Totals of what was sent.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sent {
    lines: u64,
    bytes: u64,
    too_long: u64,
    rejected: u64,
    /// The server's reason for the first rejection.
    reason: Option<String>,
}

impl Submission {
    /// Starts to send what arrives in the channel: whole lines with their line ends.
    pub(super) fn begin(
        server: &ServerUrl,
        key: Option<&str>,
        quiet: bool,
    ) -> Result<(Self, SyncSender<Vec<u8>>), Failure> {
        let key = Key::find(key)?;
        let receiver = if key.is_some() { server.clone() } else { client::receiver_without_key(server) };
        // The address of the OTLP receiver works as well as that of the API.
        let url = format!("{}/otlp/v1/logs", receiver.api());
        let receiver = Server { agent: client::agent(TIME_MAX), url, key, quiet };
        let (lines, parts) = sync_channel(PARTS_WAITING);
        let sender = thread::spawn(move || send(&parts, &receiver));
        Ok((Self { sender, url: server.as_str().to_owned() }, lines))
    }

    /// Waits until everything is sent, and reports the result.
    pub(super) fn finish(self, quiet: bool) -> Result<(), Failure> {
        let sent = self.sender.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug))?;
        let url = &self.url;
        // Data loss is reported even with `--quiet`.
        if sent.rejected > 0 {
            let reason = sent.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            failure::warn(&format!("{url} rejected {}{reason}", counted(sent.rejected, "record")));
        }
        if !quiet {
            failure::note(&format!(
                "submitted {} ({}) to {url}",
                counted(sent.lines, "line"),
                size(sent.bytes)
            ));
        }
        if sent.too_long > 0 {
            let lines = counted(sent.too_long, "line");
            let error = format!("{url}: {lines} not sent, longer than {} MiB", LINE_BYTES_MAX >> 20);
            return Err(Failure::new(error)
                .hint("all other lines were sent; a collector with a smaller send_batch_max_size writes shorter lines"));
        }
        Ok(())
    }
}

/// Sends everything that arrives in the channel.
fn send(parts: &Receiver<Vec<u8>>, server: &Server) -> Result<Sent, Failure> {
    let (mut sent, mut body) = (Sent::default(), Body::default());
    for part in parts {
        for line in part.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if line.len() > LINE_BYTES_MAX {
                sent.too_long += 1;
                continue;
            }
            if body.lines > 0 && body.bytes.len() + line.len() >= BODY_BYTES {
                server.post(&body, &mut sent)?;
                body.clear();
            }
            body.push(line);
        }
    }
    if body.lines > 0 {
        server.post(&body, &mut sent)?;
    }
    Ok(sent)
}

/// Lines, separated by line ends. There is none after the last line, so that the longest line fits.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    lines: u64,
}

impl Body {
    fn push(&mut self, line: &[u8]) {
        if self.lines > 0 {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(line);
        self.lines += 1;
    }

    fn clear(&mut self) {
        self.bytes.clear();
        // Free the memory of a long line: the next ones are probably shorter.
        self.bytes.shrink_to(BODY_BYTES);
        self.lines = 0;
    }

    fn compressed(&self) -> io::Result<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&self.bytes)?;
        gzip.finish()
    }
}

/// The server that receives the lines.
struct Server {
    agent: ureq::Agent,
    url: String,
    key: Option<Key>,
    quiet: bool,
}

impl Server {
    /// Sends a body, retries while the server is busy, and counts it.
    fn post(&self, body: &Body, sent: &mut Sent) -> Result<(), Failure> {
        let compressed = body.compressed().map_err(|error| Failure::new(error.to_string()))?;
        let mut tries = 1;
        loop {
            let mut reply = self.post_once(&compressed)?;
            let is_busy =
                matches!(reply.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            if !is_busy || tries == TRIES {
                let text = reply.body_mut().read_to_string().map_err(|error| self.failure(&error))?;
                let (rejected, reason) = rejected(&self.accepted(&reply, &text, sent)?);
                sent.rejected += rejected;
                sent.reason = sent.reason.take().or(reason);
                sent.lines += body.lines;
                sent.bytes += body.bytes.len() as u64;
                return Ok(());
            }
            tries += 1;
            let wait = retry_after(&reply);
            if !self.quiet && !wait.is_zero() {
                failure::note(&format!("{} is busy, retrying in {} s", self.url, wait.as_secs()));
            }
            wait_for(wait);
        }
    }

    fn post_once(&self, compressed: &[u8]) -> Result<Response<ureq::Body>, Failure> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/x-ndjson")
            .header("Content-Encoding", "gzip")
            .header("Idempotency-Key", Uuid::new_v5(&Uuid::NAMESPACE_OID, compressed).to_string());
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.bearer());
        }
        request.send(compressed).map_err(|error| self.failure(&error).hint(client::unreachable(&self.url)))
    }

    fn failure(&self, what: &dyn std::fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", self.url))
    }

    /// Returns the server's reply if it accepted the body, else an error with a hint.
    fn accepted(
        &self,
        reply: &Response<ureq::Body>,
        text: &str,
        sent: &Sent,
    ) -> Result<Map<String, Value>, Failure> {
        let status = reply.status();
        let reply_fields: Map<String, Value> = match serde_json::from_str(text) {
            Ok(fields) if status == StatusCode::OK => return Ok(fields),
            fields => fields.unwrap_or_default(),
        };
        let why = reply_fields.get("error").or_else(|| reply_fields.get("message")).and_then(Value::as_str);
        let error = why.map_or_else(|| client::answered(reply), str::to_owned);
        let failure = match sent.lines {
            0 => self.failure(&error),
            lines => self.failure(&format_args!("{error}, after {}", counted(lines, "line"))),
        };
        Err(failure.hint(match (status, &self.key) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => {
                "set RENOWN_KEY to a key of this server: without a key, it accepts records only from its own machine, on its OTLP port"
            }
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, Some(_)) => {
                "expected a key of this server that is not revoked"
            }
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _) => {
                "the server is busy: send the log again later, accepted records are not counted twice"
            }
            (StatusCode::BAD_REQUEST, _) => "is it a Renown server of this release or a later one?",
            (status, _) if status.is_server_error() && why.is_some() => {
                "the server's log has the cause: send the log again later, accepted records are not counted twice"
            }
            _ => "is this the address of a Renown server, such as http://127.0.0.1:7070?",
        }))
    }
}

/// Returns the wait that the server asks for.
fn retry_after(reply: &Response<ureq::Body>) -> Duration {
    let seconds =
        reply.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.map_or(WAIT_DEFAULT, Duration::from_secs).min(WAIT_MAX)
}

#[expect(clippy::disallowed_methods, reason = "the server asked for it")]
fn wait_for(time: Duration) {
    thread::sleep(time);
}

/// Returns the number of rejected records in a reply, and the reason.
fn rejected(reply: &Map<String, Value>) -> (u64, Option<String>) {
    let Some(partial) = reply.get("partialSuccess").and_then(Value::as_object) else { return (0, None) };
    // 64-bit numbers are strings in OTLP JSON.
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let counts = partial.iter().filter(|(name, _)| name.starts_with("rejected"));
    let count = counts.filter_map(|(_, value)| number(value)).sum();
    let reason = partial.get("errorMessage").and_then(Value::as_str).filter(|reason| !reason.is_empty());
    (count, reason.map(str::to_owned))
}

/// Formats a size for people, rounded to a tenth.
fn size(bytes: u64) -> String {
    let unit = |unit: u64, name: &str| {
        let tenths = (bytes / (unit / 100) + 5) / 10;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..1000 => counted(bytes, "byte"),
        1000..1_000_000 => unit(1000, "kB"),
        1_000_000..1_000_000_000 => unit(1_000_000, "MB"),
        _ => unit(1_000_000_000, "GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_a_tenth() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (1_234, "1.2 kB"),
            (5_649_999, "5.6 MB"),
            (5_650_000, "5.7 MB"),
            (12_000_000_000, "12.0 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn rejected_records_are_found_in_any_reply() {
        for (reply, expected) in [
            ("{}", (0, None)),
            (r#"{"partialSuccess":{}}"#, (0, None)),
            (
                r#"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"cost_usd"}}"#,
                (2, Some("cost_usd".to_owned())),
            ),
            (
                r#"{"partialSuccess":{"rejectedSpans":1,"rejectedLogRecords":"2","errorMessage":""}}"#,
                (3, None),
            ),
        ] {
            assert_eq!(rejected(&serde_json::from_str(reply).unwrap()), expected, "{reply}");
        }
    }

    #[test]
    fn a_body_has_line_ends_only_between_lines() {
        let mut body = Body::default();
        body.push(b"a");
        assert_eq!(body.bytes, b"a");
        body.push(b"b");
        assert_eq!((body.bytes.as_slice(), body.lines), (b"a\nb".as_slice(), 2));
        body.clear();
        body.push(b"c");
        assert_eq!((body.bytes.as_slice(), body.lines), (b"c".as_slice(), 1));
    }
}
