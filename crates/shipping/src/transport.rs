//! One request to `/v1/ingest`, and what its reply means for the events in it.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::{HeaderMap, StatusCode};

/// How long one request may take.
const TIME_MAX: Duration = Duration::from_secs(10);

/// How much of a reply is read: one to a full batch names a hundred agents. And how much of a refusal is shown.
const SAID_BYTES_MAX: u64 = 1 << 20;
const SAID_CHARS_MAX: usize = 200;

/// A server and the key for it.
#[derive(Clone)]
pub struct Destination {
    /// The address, e.g. `http://127.0.0.1:7070`.
    pub server: String,
    /// An API key; a publishable one will do.
    pub key: String,
}

/// A key is never printed.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("server", &self.server).finish_non_exhaustive()
    }
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is durable on the server.
    Accepted,
    /// It was refused for what is in it: sent again it would be refused again.
    Refused {
        /// What the server said.
        why: String,
    },
    /// It may be accepted later.
    Later {
        /// What is in the way.
        why: String,
        /// How long the server asks to wait.
        after: Option<Duration>,
    },
}

/// Delivers batches.
pub trait Transport: Send {
    /// Sends the body of a request to `/v1/ingest`, which has so many events, and waits for the reply.
    fn post(&self, body: &str, events: usize) -> Reply;
}

/// HTTP, or HTTPS where the address says so.
#[derive(Debug)]
pub struct Http {
    agent: ureq::Agent,
    url: String,
    bearer: String,
}

impl Http {
    /// A transport to a server.
    pub fn new(destination: &Destination) -> Self {
        // Where a redirect leads, somebody else would answer.
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIME_MAX))
            .http_status_as_error(false)
            .max_redirects(0);
        Self {
            agent: config.build().into(),
            url: format!("{}/v1/ingest", destination.server.trim_end_matches('/')),
            bearer: format!("Bearer {}", destination.key),
        }
    }
}

impl Transport for Http {
    fn post(&self, body: &str, events: usize) -> Reply {
        let reply = self
            .agent
            .post(&self.url)
            .header("Authorization", &self.bearer)
            .header("Content-Type", "application/json")
            .send(body);
        match reply {
            Err(error) => Reply::Later { why: error.to_string(), after: None },
            Ok(mut reply) => {
                let (status, after) = (reply.status(), retry_after(reply.headers()));
                let text = reply.body_mut().with_config().limit(SAID_BYTES_MAX).read_to_string();
                meaning(status, &text.unwrap_or_default(), after, events)
            }
        }
    }
}

/// What a reply means. Only a server that counts all the events has them, and only what says that the events themselves are bad
/// gives them up: whatever else stands in between (a portal, another program on the port) knows nothing about them.
fn meaning(status: StatusCode, text: &str, after: Option<Duration>, events: usize) -> Reply {
    #[derive(Deserialize)]
    struct Said {
        error: String,
    }
    #[derive(Deserialize)]
    struct Counted {
        accepted: usize,
        duplicates: usize,
    }
    if status.is_success() {
        let counted = serde_json::from_str(text)
            .ok()
            .and_then(|Counted { accepted, duplicates }| accepted.checked_add(duplicates));
        return match counted {
            Some(counted) if counted == events => Reply::Accepted,
            _ => {
                let why = format!("it answered {} without taking the verdicts", status.as_u16());
                Reply::Later { why, after }
            }
        };
    }
    let said = serde_json::from_str(text).map(|Said { error }| error);
    let why = match &said {
        Ok(error) => {
            format!("{}: {}", status.as_u16(), error.chars().take(SAID_CHARS_MAX).collect::<String>())
        }
        Err(_) => format!("it answered {}", status.as_u16()),
    };
    match status {
        // Something in between that speaks of its own troubles is no verdict on the events.
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
            if said.is_ok() =>
        {
            Reply::Refused { why }
        }
        _ => Reply::Later { why, after },
    }
}

/// Whole seconds; a date is not understood and counts as absent.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_of_the_events_gives_them_up() {
        let error = r#"{"error":"events[3].agent_id: empty text","code":"validation_error","status":400}"#;
        let why = "400: events[3].agent_id: empty text".to_owned();
        assert_eq!(meaning(StatusCode::BAD_REQUEST, error, None, 1), Reply::Refused { why });
        let after = Some(Duration::from_secs(3));
        for status in [302, 307, 401, 403, 404, 408, 409, 429, 500, 502, 503] {
            let status = StatusCode::from_u16(status).unwrap();
            let reply = meaning(status, error, after, 1);
            assert!(matches!(&reply, Reply::Later { after: found, .. } if *found == after), "{status}");
        }
        let portal = meaning(StatusCode::BAD_REQUEST, "<html>", None, 1);
        assert_eq!(portal, Reply::Later { why: "it answered 400".to_owned(), after: None });
    }

    #[test]
    fn only_a_server_that_counts_all_events_has_them() {
        for (text, accepted) in [
            (r#"{"accepted":2,"duplicates":1,"reputation_updates":[]}"#, true),
            (r#"{"accepted":0,"duplicates":3}"#, true),
            (r#"{"accepted":2,"duplicates":0}"#, false),
            (r#"{"accepted":4,"duplicates":0}"#, false),
            (r#"{"accepted":3}"#, false),
            (r#"{"accepted":18446744073709551615,"duplicates":4}"#, false),
            ("<html>portal</html>", false),
            ("", false),
        ] {
            for status in [StatusCode::OK, StatusCode::ACCEPTED] {
                let reply = meaning(status, text, None, 3);
                assert_eq!(reply == Reply::Accepted, accepted, "{text}");
                assert!(accepted || matches!(reply, Reply::Later { .. }), "{text}");
            }
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let destination = Destination { server: "http://s".to_owned(), key: "hidden".to_owned() };
        assert!(!format!("{destination:?}").contains("hidden"));
    }
}
