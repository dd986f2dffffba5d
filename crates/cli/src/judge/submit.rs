//! `renown judge LOGS --submit URL`: the good lines of a log, sent to a server while they are judged.
//!
//! Lines arrive in the order of the log from whoever reads it, and leave in bodies of whole lines, one after the other. A server
//! that is slow slows the reading down, so that only a few bodies are ever held. One that fails does not keep the log from
//! being judged.
//!
//! A body is named by its own hash, as its `Idempotency-Key`: a log that is sent again just as it was is recognised, also where its
//! records do not say which they are.

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

/// How many bytes of lines are sent at once. A longer line goes alone.
const BODY_BYTES: usize = 4 << 20;

/// The longest line that a server takes: the largest body.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How many parts of the log may wait.
const PARTS_WAITING: usize = 2;

/// How long a server may take for a body.
const TIME_MAX: Duration = Duration::from_mins(1);

/// How often a body is sent to a server that is busy.
const TRIES: u32 = 5;

/// How long is waited where the server does not say, and at most.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A log on its way.
pub(super) struct Submission {
    sender: JoinHandle<Result<Sent, Failure>>,
    url: String,
}

/// What has been sent.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sent {
    lines: u64,
    bytes: u64,
    too_long: u64,
    rejected: u64,
    /// Why, in the words of the server.
    reason: Option<String>,
}

impl Submission {
    /// Begins to send what is put into the channel: whole lines, each with its end.
    pub(super) fn begin(
        server: &ServerUrl,
        key: Option<&str>,
        quiet: bool,
    ) -> Result<(Self, SyncSender<Vec<u8>>), Failure> {
        let key = Key::find(key)?;
        let receiver = if key.is_some() { server.clone() } else { client::receiver_without_key(server) };
        // The address of its receiver is as good as its own.
        let url = format!("{}/otlp/v1/logs", receiver.api());
        let receiver = Server { agent: client::agent(TIME_MAX), url, key, quiet };
        let (lines, parts) = sync_channel(PARTS_WAITING);
        let sender = thread::spawn(move || send(&parts, &receiver));
        Ok((Self { sender, url: server.as_str().to_owned() }, lines))
    }

    /// Waits until all of it is sent, and tells what became of it.
    pub(super) fn finish(self, quiet: bool) -> Result<(), Failure> {
        let sent = self.sender.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug))?;
        let url = &self.url;
        // Also when it is to be quiet: what is lost is told.
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
                .hint("the rest was; a collector writes shorter lines with a smaller send_batch_max_size"));
        }
        Ok(())
    }
}

/// Sends everything that arrives.
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

/// Lines with ends between them, and none after the last: so the longest line fits.
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
        // It held a long line, and the next ones probably are not.
        self.bytes.shrink_to(BODY_BYTES);
        self.lines = 0;
    }

    fn packed(&self) -> io::Result<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&self.bytes)?;
        gzip.finish()
    }
}

/// Where lines go.
struct Server {
    agent: ureq::Agent,
    url: String,
    key: Option<Key>,
    quiet: bool,
}

impl Server {
    /// Sends a body, again and again while the server is busy, and counts it.
    fn post(&self, body: &Body, sent: &mut Sent) -> Result<(), Failure> {
        let packed = body.packed().map_err(|error| Failure::new(error.to_string()))?;
        let mut tries = 1;
        loop {
            let mut reply = self.post_once(&packed)?;
            let is_busy =
                matches!(reply.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            if !is_busy || tries == TRIES {
                let text = reply.body_mut().read_to_string().map_err(|error| self.refused(&error))?;
                let (rejected, reason) = rejected(&self.taken(&reply, &text, sent)?);
                sent.rejected += rejected;
                sent.reason = sent.reason.take().or(reason);
                sent.lines += body.lines;
                sent.bytes += body.bytes.len() as u64;
                return Ok(());
            }
            tries += 1;
            let wait = retry_after(&reply);
            if !self.quiet && !wait.is_zero() {
                failure::note(&format!("{} is busy, trying again in {} s", self.url, wait.as_secs()));
            }
            wait_for(wait);
        }
    }

    fn post_once(&self, packed: &[u8]) -> Result<Response<ureq::Body>, Failure> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/x-ndjson")
            .header("Content-Encoding", "gzip")
            .header("Idempotency-Key", Uuid::new_v5(&Uuid::NAMESPACE_OID, packed).to_string());
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.bearer());
        }
        request.send(packed).map_err(|error| self.refused(&error).hint(client::unreachable(&self.url)))
    }

    fn refused(&self, what: &dyn std::fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", self.url))
    }

    /// What the server says of records that it took; if it did not, what to do.
    fn taken(
        &self,
        reply: &Response<ureq::Body>,
        text: &str,
        sent: &Sent,
    ) -> Result<Map<String, Value>, Failure> {
        let status = reply.status();
        let said: Map<String, Value> = match serde_json::from_str(text) {
            Ok(said) if status == StatusCode::OK => return Ok(said),
            said => said.unwrap_or_default(),
        };
        let why = said.get("error").or_else(|| said.get("message")).and_then(Value::as_str);
        let error = why.map_or_else(|| client::answered(reply), str::to_owned);
        let failure = match sent.lines {
            0 => self.refused(&error),
            lines => self.refused(&format_args!("{error}, after {}", counted(lines, "line"))),
        };
        Err(failure.hint(match (status, &self.key) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => {
                "set RENOWN_KEY to a key of this server: without one it takes records only from its own machine, on its OTLP port"
            }
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, Some(_)) => {
                "expected a key of this server, one that is not revoked"
            }
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _) => {
                "the server is busy: send the log again later, what was taken counts once"
            }
            (StatusCode::BAD_REQUEST, _) => "is it a server of Renown, of this release or a later one?",
            (status, _) if status.is_server_error() && why.is_some() => {
                "its log says why: send the log again later, what was taken counts once"
            }
            _ => "is this the address of a server of Renown, such as http://127.0.0.1:7070?",
        }))
    }
}

/// How long the server asks to wait.
fn retry_after(reply: &Response<ureq::Body>) -> Duration {
    let seconds =
        reply.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.map_or(WAIT_DEFAULT, Duration::from_secs).min(WAIT_MAX)
}

#[expect(clippy::disallowed_methods, reason = "the server asked for it")]
fn wait_for(time: Duration) {
    thread::sleep(time);
}

/// How many records a reply says were rejected, and why.
fn rejected(reply: &Map<String, Value>) -> (u64, Option<String>) {
    let Some(partial) = reply.get("partialSuccess").and_then(Value::as_object) else { return (0, None) };
    // Numbers of 64 bits are texts in OTLP JSON.
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let counts = partial.iter().filter(|(name, _)| name.starts_with("rejected"));
    let count = counts.filter_map(|(_, value)| number(value)).sum();
    let reason = partial.get("errorMessage").and_then(Value::as_str).filter(|reason| !reason.is_empty());
    (count, reason.map(str::to_owned))
}

/// A size for people, to a tenth.
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
    fn sizes_are_told_to_a_tenth() {
        for (bytes, told) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (1_234, "1.2 kB"),
            (5_649_999, "5.6 MB"),
            (5_650_000, "5.7 MB"),
            (12_000_000_000, "12.0 GB"),
        ] {
            assert_eq!(size(bytes), told);
        }
    }

    #[test]
    fn what_was_rejected_is_found_in_any_reply() {
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
