//! Sends one request to `/v1/ingest`, and interprets the reply.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::{HeaderMap, StatusCode};

/// Maximum duration of one request.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum length of a reply. The reply to a full batch names up to a hundred agents.
const REPLY_BYTES_MAX: u64 = 1 << 20;

/// Maximum length of an error text in a notice.
const ERROR_CHARS_MAX: usize = 200;

/// A server and a key.
#[derive(Clone)]
pub struct Destination {
    /// Address of the server, for example `http://127.0.0.1:7070`.
    pub server: String,
    /// API key. A publishable key is enough.
    pub key: String,
}

/// Prints the server, but never the key.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("server", &self.server).finish_non_exhaustive()
    }
}

/// The meaning of a reply for the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerReply {
    /// The server has stored the batch.
    Accepted,
    /// The server rejected the content of the batch. A retry would be rejected again.
    Rejected {
        /// Error text of the server.
        why: String,
    },
    /// The batch may be accepted later.
    Later {
        /// Reason of the failure.
        why: String,
        /// Wait that the server asks for.
        after: Option<Duration>,
    },
}

/// Delivers batches.
pub trait Transport: Send {
    /// Sends a request to `/v1/ingest` and waits for the reply. `body` has this number of verdicts.
    fn post(&self, body: &str, verdicts: usize) -> ServerReply;
}

/// The transport over HTTP or HTTPS, as the address says.
#[derive(Debug)]
pub struct Http {
    agent: ureq::Agent,
    url: String,
    bearer: String,
}

impl Http {
    /// Creates a transport to a server.
    pub fn new(destination: &Destination) -> Self {
        // A redirect could lead to another server, which must not receive the key.
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
    fn post(&self, body: &str, verdicts: usize) -> ServerReply {
        let reply = self
            .agent
            .post(&self.url)
            .header("Authorization", &self.bearer)
            .header("Content-Type", "application/json")
            .send(body);
        match reply {
            Err(error) => ServerReply::Later { why: error.to_string(), after: None },
            Ok(mut reply) => {
                let (status, after) = (reply.status(), retry_after(reply.headers()));
                let text = reply.body_mut().with_config().limit(REPLY_BYTES_MAX).read_to_string();
                meaning(status, &text.unwrap_or_default(), after, verdicts)
            }
        }
    }
}

/// Interprets a reply. A batch is accepted only if the reply counts all its verdicts, and rejected only if the reply
/// is an error of the API about the content. Any other reply may come from something in between, such as a login
/// portal or another program on the port, so the batch is retried.
fn meaning(status: StatusCode, text: &str, after: Option<Duration>, verdicts: usize) -> ServerReply {
    #[derive(Deserialize)]
    struct ErrorBody {
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
            Some(counted) if counted == verdicts => ServerReply::Accepted,
            _ => {
                let why =
                    format!("HTTP status {}, but the reply does not confirm the verdicts", status.as_u16());
                ServerReply::Later { why, after }
            }
        };
    }
    let error = serde_json::from_str(text).map(|ErrorBody { error }| error);
    let why = match &error {
        Ok(error) => {
            format!("{}: {}", status.as_u16(), error.chars().take(ERROR_CHARS_MAX).collect::<String>())
        }
        Err(_) => format!("HTTP status {}", status.as_u16()),
    };
    match status {
        // Without an error of the API, the reply may be about something else than the verdicts.
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
            if error.is_ok() =>
        {
            ServerReply::Rejected { why }
        }
        _ => ServerReply::Later { why, after },
    }
}

/// Returns the value of `Retry-After` in seconds. A date counts as absent.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_api_error_about_the_content_rejects_a_batch() {
        let error = r#"{"error":"events[3].agent_id: empty text","code":"validation_error","status":400}"#;
        let why = "400: events[3].agent_id: empty text".to_owned();
        assert_eq!(meaning(StatusCode::BAD_REQUEST, error, None, 1), ServerReply::Rejected { why });
        let after = Some(Duration::from_secs(3));
        for status in [302, 307, 401, 403, 404, 408, 409, 429, 500, 502, 503] {
            let status = StatusCode::from_u16(status).unwrap();
            let reply = meaning(status, error, after, 1);
            assert!(matches!(&reply, ServerReply::Later { after: found, .. } if *found == after), "{status}");
        }
        let portal = meaning(StatusCode::BAD_REQUEST, "<html>", None, 1);
        assert_eq!(portal, ServerReply::Later { why: "HTTP status 400".to_owned(), after: None });
    }

    #[test]
    fn a_batch_is_accepted_only_if_all_verdicts_are_counted() {
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
                assert_eq!(reply == ServerReply::Accepted, accepted, "{text}");
                assert!(accepted || matches!(reply, ServerReply::Later { .. }), "{text}");
            }
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let destination = Destination { server: "http://s".to_owned(), key: "hidden".to_owned() };
        assert!(!format!("{destination:?}").contains("hidden"));
    }
}
