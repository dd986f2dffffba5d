//! The URL of an OTLP/HTTP receiver, validated when it is parsed.

use std::fmt;
use std::str::FromStr;

/// The default address of the OTLP/HTTP receiver of `renown serve`.
pub(crate) const LOCAL: &str = "http://127.0.0.1:4318";

/// The end of every error: what is allowed.
const ALLOWED: &str = "expected http://HOST[:PORT][/PREFIX] or https://…";

/// The base URL of a receiver, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl(String);

/// Why a URL is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerUrlError {
    Scheme,
    Host,
    Port,
    /// A user name or a password, which would be stored in a settings file in plain text.
    Credentials,
    /// A query or a fragment.
    Query,
    Character(char),
    /// The address of one signal, such as `/v1/logs`.
    Signal,
}

impl fmt::Display for ServerUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => write!(f, "no http:// or https://, {ALLOWED}"),
            Self::Host => write!(f, "no usable host, {ALLOWED}"),
            Self::Port => write!(f, "the port is not a number from 1 to 65535, {ALLOWED}"),
            Self::Credentials => {
                write!(f, "a user name or password would be stored in plain text, {ALLOWED}")
            }
            Self::Query => write!(f, "a query or fragment is not allowed, {ALLOWED}"),
            Self::Character(char) => write!(f, "the character {char:?} must be percent-encoded, {ALLOWED}"),
            Self::Signal => f.write_str("the address of one signal, expected the base URL in front of /v1/"),
        }
    }
}

impl std::error::Error for ServerUrlError {}

impl ServerUrl {
    /// Returns the base URL. An OpenTelemetry SDK appends the path of each signal.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the host is a name or address of this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }

    fn host(&self) -> &str {
        let authority =
            self.0.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        match authority.split_once(']') {
            Some((address, _)) => authority.get(..=address.len()).unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        }
    }

    /// Returns the URL of the same host with another port, without a path.
    pub(crate) fn at_port(&self, port: u16) -> Self {
        let scheme = self.0.split("://").next().unwrap_or_default();
        Self(format!("{scheme}://{}:{port}", self.host()))
    }

    /// Returns the base URL of the API. The URL may be that of the server or of its receiver below `/otlp`.
    pub(crate) fn api(&self) -> &str {
        self.0.strip_suffix("/otlp").unwrap_or(&self.0)
    }

    /// Returns the full URL for log records, for settings that need it.
    pub(crate) fn logs(&self) -> String {
        format!("{}/v1/logs", self.0)
    }
}

impl Default for ServerUrl {
    fn default() -> Self {
        Self(LOCAL.to_owned())
    }
}

impl FromStr for ServerUrl {
    type Err = ServerUrlError;

    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(ServerUrlError::Scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return Err(ServerUrlError::Scheme);
        }
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        if rest.contains(['?', '#']) {
            return Err(ServerUrlError::Query);
        }
        check_authority(authority)?;
        if let Some(found) = path.chars().find(|&char| !is_path(char)) {
            return Err(ServerUrlError::Character(found));
        }
        let path = path.trim_end_matches('/');
        if ["/v1/logs", "/v1/traces", "/v1/metrics"].iter().any(|signal| path.ends_with(signal)) {
            return Err(ServerUrlError::Signal);
        }
        Ok(Self(format!("{scheme}://{authority}{path}")))
    }
}

fn check_authority(authority: &str) -> Result<(), ServerUrlError> {
    if authority.contains('@') {
        return Err(ServerUrlError::Credentials);
    }
    // An IPv6 address contains colons, and is in brackets.
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => {
            address.parse::<std::net::Ipv6Addr>().map_err(|_| ServerUrlError::Host)?;
            ("ipv6", port.strip_prefix(':').or(if port.is_empty() { None } else { Some("") }))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_host = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
    if host.is_empty() || !host.chars().all(is_host) {
        return Err(ServerUrlError::Host);
    }
    let is_port = |port: &str| {
        port.chars().all(|char| char.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    if port.is_some_and(|port| !is_port(port)) { Err(ServerUrlError::Port) } else { Ok(()) }
}

/// Returns whether RFC 3986 allows a character in a path. Quotes are excluded, because some settings files cannot contain them.
fn is_path(char: char) -> bool {
    char.is_ascii_alphanumeric() || "/-._~%!$&()*+,;=:@".contains(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailing_slash_is_removed() {
        for (given, base) in [
            (LOCAL, LOCAL),
            ("HTTPS://renown.example", "https://renown.example"),
            ("https://host/otlp", "https://host/otlp"),
            ("https://host/otlp//", "https://host/otlp"),
            ("http://[::1]:4318/", "http://[::1]:4318"),
            ("http://[::1]", "http://[::1]"),
            ("http://localhost:65535", "http://localhost:65535"),
        ] {
            let server: ServerUrl = given.parse().unwrap();
            assert_eq!(server.as_str(), base, "{given}");
            assert_eq!(server.logs(), format!("{base}/v1/logs"));
        }
        assert_eq!(LOCAL.parse(), Ok(ServerUrl::default()));
    }

    #[test]
    fn names_and_addresses_of_this_machine_are_recognized() {
        for (given, is_loopback, at_port) in [
            ("http://localhost:7070/otlp", true, "http://localhost:4318"),
            ("http://LOCALHOST", true, "http://LOCALHOST:4318"),
            ("http://127.0.0.2:1", true, "http://127.0.0.2:4318"),
            ("http://[::1]:7070", true, "http://[::1]:4318"),
            ("https://renown.example/otlp", false, "https://renown.example:4318"),
            ("http://localhost.example:1", false, "http://localhost.example:4318"),
            ("http://10.0.0.1:7070", false, "http://10.0.0.1:4318"),
        ] {
            let server: ServerUrl = given.parse().unwrap();
            assert_eq!(
                (server.is_loopback(), server.at_port(4318).as_str()),
                (is_loopback, at_port),
                "{given}"
            );
        }
    }

    #[test]
    fn an_invalid_url_is_an_error_with_the_reason() {
        for (given, problem) in [
            ("", ServerUrlError::Scheme),
            ("127.0.0.1:4318", ServerUrlError::Scheme),
            ("ftp://host", ServerUrlError::Scheme),
            ("http://", ServerUrlError::Host),
            ("http:///otlp", ServerUrlError::Host),
            ("http://a b", ServerUrlError::Host),
            ("http://[::g]:1", ServerUrlError::Host),
            ("http://:4318", ServerUrlError::Host),
            ("http://host:", ServerUrlError::Port),
            ("http://host:0", ServerUrlError::Port),
            ("http://host:65536", ServerUrlError::Port),
            ("http://host:+1", ServerUrlError::Port),
            ("http://[::1]4318", ServerUrlError::Port),
            ("http://user:secret@host", ServerUrlError::Credentials),
            ("http://host/?a=b", ServerUrlError::Query),
            ("http://host#x", ServerUrlError::Query),
            ("http://host/a b", ServerUrlError::Character(' ')),
            ("http://host/é", ServerUrlError::Character('é')),
            ("http://host/\"", ServerUrlError::Character('"')),
            ("http://host/v1/logs/", ServerUrlError::Signal),
        ] {
            assert_eq!(given.parse::<ServerUrl>(), Err(problem), "{given}");
        }
    }
}
