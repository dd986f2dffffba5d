//! The client of a Renown server: `--server URL`, and the key from `RENOWN_KEY` or `--key`.

use std::env;
use std::time::Duration;

use renown_server::keys::KeyText;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Response, StatusCode};

use crate::args::ServerArgs;
use crate::failure::Failure;
use crate::setup::server::ServerUrl;

/// Timeout of a request.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Timeout of a health check on this machine.
const HEALTH_TIME_MAX: Duration = Duration::from_secs(5);

/// A server and its key.
pub(crate) struct Client {
    agent: ureq::Agent,
    base: String,
    key: Key,
}

/// A key, and the name of the flag or variable that set it.
pub(crate) struct Key {
    text: KeyText,
    name: &'static str,
}

impl Key {
    /// Returns the key of the flag, else of `RENOWN_KEY`, else `None`.
    pub(crate) fn find(flag: Option<&str>) -> Result<Option<Self>, Failure> {
        let (name, key) = match flag {
            Some(key) => ("--key", Some(key.to_owned())),
            None => ("RENOWN_KEY", env::var("RENOWN_KEY").ok().filter(|key| !key.is_empty())),
        };
        // Errors never repeat a key, not even an invalid one: it may be a valid key with a typo.
        let key = key.map(|key| key.trim().parse()).transpose();
        let key = key.map_err(|error| Failure::new(format!("{name}: not a key, {error}")))?;
        Ok(key.map(|text| Self { text, name }))
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.text.reveal())
    }
}

/// Returns the HTTP agent. It returns replies of every status, and does not follow redirects: a redirected request would lose its
/// body.
pub(crate) fn agent(time_max: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder().timeout_global(Some(time_max)).max_redirects(0);
    config.http_status_as_error(false).build().into()
}

/// Returns the URL that accepts records without a key. For a server on this machine, that is its OTLP port, which `/health`
/// reports. Otherwise it is the given URL.
pub(crate) fn receiver_without_key(server: &ServerUrl) -> ServerUrl {
    #[derive(serde::Deserialize)]
    struct Health {
        otlp_http_port: Option<u16>,
    }
    let named = server.is_loopback().then(|| {
        let asked = agent(HEALTH_TIME_MAX).get(format!("{}/health", server.api())).call();
        let health: Health = serde_json::from_slice(&asked.ok()?.body_mut().read_to_vec().ok()?).ok()?;
        health.otlp_http_port
    });
    named.flatten().map_or_else(|| server.clone(), |port| server.at_port(port))
}

/// Describes a reply without an error text: its status, and the target of a redirect.
pub(crate) fn answered(reply: &Response<ureq::Body>) -> String {
    let target = reply.headers().get("location").and_then(|target| target.to_str().ok());
    let target = target.map(|target| format!(", a redirect to {target}")).unwrap_or_default();
    format!("answered {}{target}", reply.status())
}

/// Returns the hint for a server that cannot be reached.
pub(crate) fn unreachable(url: &str) -> &'static str {
    if url.starts_with("https:") {
        "is the server running, is this its address, and does it speak https?"
    } else {
        "is the server running, and is this its address?"
    }
}

impl Client {
    /// Returns the client of the server in the arguments, or `None` if they name none.
    pub(crate) fn of(args: &ServerArgs) -> Result<Option<Self>, Failure> {
        let Some(url) = &args.server else { return Ok(None) };
        let key = Key::find(args.key.as_deref())?.ok_or_else(|| {
            Failure::new("no key for the server").hint("set RENOWN_KEY to a key of the server")
        })?;
        Ok(Some(Self { agent: agent(TIME_MAX), base: url.as_str().to_owned(), key }))
    }

    /// Sends a GET request.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let request = self.agent.get(self.url(path)).header("Authorization", self.key.bearer()).call();
        self.read(request)
    }

    /// Returns whether a path exists. Returns false if the server cannot be reached.
    pub(crate) fn has(&self, path: &str) -> Result<bool, Failure> {
        let request = self.agent.get(self.url(path)).header("Authorization", self.key.bearer()).call();
        match request {
            Err(_) => Ok(false),
            Ok(reply) if reply.status() == StatusCode::NOT_FOUND => Ok(false),
            found => self.read::<Value>(found).map(|_| true),
        }
    }

    /// Sends a POST request.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.post_text(path, body.to_string().as_bytes())
    }

    /// Sends a POST request with unchanged JSON text.
    pub(crate) fn post_text<T: DeserializeOwned>(&self, path: &str, json: &[u8]) -> Result<T, Failure> {
        let request = self
            .agent
            .post(self.url(path))
            .header("Authorization", self.key.bearer())
            .header("Content-Type", "application/json")
            .send(json);
        self.read(request)
    }

    /// Sends a DELETE request.
    pub(crate) fn delete(&self, path: &str) -> Result<(), Failure> {
        let request = self.agent.delete(self.url(path)).header("Authorization", self.key.bearer()).call();
        self.read::<Value>(request).map(|_| ())
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn read<T: DeserializeOwned>(
        &self,
        reply: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<T, Failure> {
        let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", self.base));
        let mut reply = reply.map_err(|error| refused(&error).hint(unreachable(&self.base)))?;
        let (status, answered) = (reply.status(), answered(&reply));
        let text = reply.body_mut().read_to_string().map_err(|error| refused(&error))?;
        if !status.is_success() {
            let body: Option<Value> = serde_json::from_str(&text).ok();
            let error = body.as_ref().and_then(|body| body.get("error")).and_then(Value::as_str);
            return Err(match error {
                Some(error) if status == StatusCode::UNAUTHORIZED => {
                    refused(&format_args!("{}: {error}", self.key.name))
                        .hint("expected a key of this server that is not revoked")
                }
                Some(error) if status == StatusCode::FORBIDDEN => {
                    refused(&format_args!("{}: {error}", self.key.name))
                        .hint("secret keys begin with rn_sec_; the first start of the server showed one")
                }
                Some(error) => refused(&error),
                None => refused(&answered).hint("is this the address of a Renown server?"),
            });
        }
        let text = if text.is_empty() { "null" } else { &text };
        serde_json::from_str(text).map_err(|error| {
            refused(&format_args!("an unexpected reply: {error}"))
                .hint("is this the address of a Renown server?")
        })
    }
}

/// Percent-encodes a text for a path or a query: every byte except ASCII letters, digits, `-`, `_` and `~`.
pub(crate) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_can_be_part_of_a_path() {
        for (text, expected) in
            [("a-b_c~9", "a-b_c~9"), ("ci/bot é", "ci%2Fbot%20%C3%A9"), ("a.b?&=%", "a%2Eb%3F%26%3D%25")]
        {
            assert_eq!(encoded(text), expected);
        }
    }
}
