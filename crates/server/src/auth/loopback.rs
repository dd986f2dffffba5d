//! Who may send telemetry without a key.
//!
//! ```text
//! accepted  ⇔  the server does not require a key
//!           ∧  the port is an OTLP port                      (the API's port may be behind a reverse proxy, which is a local peer)
//!           ∧  the listener is bound to a loopback address   (other machines cannot reach it)
//!           ∧  the peer has a loopback address               (the connection was not routed here)
//!           ∧  every Host and :authority is a loopback name  (protects against DNS rebinding)
//!           ∧  there is no Origin header                     (a web page did not send it)
//!           ∧  there is no header that a reverse proxy adds  (a proxy did not forward it)
//! ```
//!
//! The headers that a reverse proxy adds are `Forwarded`, every `X-Forwarded-*`, `X-Real-IP`, `Via`, `CF-Connecting-IP` and
//! `True-Client-IP`. A proxy that adds none of them, such as nginx with a bare `proxy_pass`, looks like a local agent: do not point it at
//! an OTLP port.
//!
//! A loopback name is `localhost`, an address in 127.0.0.0/8 or `[::1]`, with or without a port. One dot at the end is allowed. Names
//! below `localhost` are not: this server does not know how the client resolved them.
//!
//! Every refusal is 401 `auth_missing`, also because of an `Origin`: with a key, each of these requests would be accepted.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Uri};
use renown_core::json::Found;

use crate::dispatch::{Arrival, Port};

/// Whether the server accepts telemetry without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpAuth {
    /// Accepted from this machine, by the rule of the module.
    #[default]
    Loopback,
    /// Every request needs a key.
    Required,
}

/// Returns whether a header shows that a web page or a reverse proxy sent the request.
fn is_foreign(name: &HeaderName) -> bool {
    let known = ["origin", "forwarded", "x-real-ip", "via", "cf-connecting-ip", "true-client-ip"];
    known.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-")
}

/// Why a request needs a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyNeeded {
    KeyRequired,
    ApiPort,
    OpenListener,
    RemotePeer,
    NoHost,
    OtherHost(String),
    Foreign(HeaderName),
}

impl fmt::Display for KeyNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no Authorization header, and ")?;
        match self {
            Self::KeyRequired => {
                f.write_str("this server accepts telemetry only with a key (--otlp-auth required)")
            }
            Self::ApiPort => f.write_str(
                "this port never accepts telemetry without a key; the OTLP ports may (GET /health names them)",
            ),
            Self::OpenListener => f.write_str(
                "telemetry without a key is accepted only on a loopback address, and this port listens on another address",
            ),
            Self::RemotePeer => f.write_str("telemetry without a key is accepted only from this machine"),
            Self::NoHost => f.write_str("no Host header, expected localhost, 127.0.0.1 or [::1]"),
            Self::OtherHost(host) => write!(
                f,
                "the Host is {}, expected localhost, 127.0.0.1 or [::1]",
                Found::quoted(host)
            ),
            Self::Foreign(name) if *name == ORIGIN => {
                f.write_str("requests from web pages (an Origin header is present) need a key")
            }
            Self::Foreign(name) => write!(
                f,
                "requests through a proxy (the header {name} is present) need a key"
            ),
        }?;
        f.write_str(": send `Authorization: Bearer` and a key, as in OTEL_EXPORTER_OTLP_HEADERS=\"Authorization=Bearer KEY\"")
    }
}

/// Checks whether a request may come without a key. Returns the first reason against it.
pub(super) fn without_key(
    auth: OtlpAuth,
    arrival: Arrival,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), KeyNeeded> {
    if auth == OtlpAuth::Required {
        return Err(KeyNeeded::KeyRequired);
    }
    if arrival.port == Port::Api {
        return Err(KeyNeeded::ApiPort);
    }
    if !arrival.listener_is_loopback {
        return Err(KeyNeeded::OpenListener);
    }
    if !arrival.peer_is_loopback {
        return Err(KeyNeeded::RemotePeer);
    }
    let sent = headers.get_all(HOST).iter().map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    let mut hosts = sent.chain(uri.authority().map(ToString::to_string)).peekable();
    hosts.peek().ok_or(KeyNeeded::NoHost)?;
    if let Some(other) = hosts.find(|host| !is_loopback_name(host)) {
        return Err(KeyNeeded::OtherHost(other));
    }
    headers.keys().find(|name| is_foreign(name)).map_or(Ok(()), |name| Err(KeyNeeded::Foreign(name.clone())))
}

/// Returns whether a host, with or without a port, is a loopback name.
fn is_loopback_name(host: &str) -> bool {
    let is_port = |rest: &str| {
        rest.is_empty()
            || rest
                .strip_prefix(':')
                .is_some_and(|port| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if let Some((address, rest)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        return address.parse() == Ok(Ipv6Addr::LOCALHOST) && is_port(rest);
    }
    let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_address = || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_port(port) && (name.eq_ignore_ascii_case("localhost") || is_address())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Arrival =
        Arrival { port: Port::OtlpHttp, listener_is_loopback: true, peer_is_loopback: true };

    #[test]
    fn loopback_names_are_recognized() {
        for (host, expected) in [
            ("localhost", true),
            ("LocalHost:4318", true),
            ("localhost.", true),
            ("localhost.:4318", true),
            ("localhost:", true),
            ("127.0.0.1", true),
            ("127.0.0.1.:1", true),
            ("127.255.3.4:65535", true),
            ("[::1]", true),
            ("[::1]:4318", true),
            ("[0:0:0:0:0:0:0:1]", true),
            ("", false),
            (".", false),
            ("localhost..", false),
            ("localhost:4318:1", false),
            ("localhost:http", false),
            ("localhost:123456", false),
            ("a.localhost", false),
            ("localhost.evil.example", false),
            ("evil@localhost", false),
            ("localhost@evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("127.1", false),
            ("2130706433", false),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
            ("::1", false),
            ("[::1", false),
            ("[::1]x", false),
            ("[::2]", false),
            ("[::ffff:127.0.0.1]", false),
            ("192.168.1.5:4318", false),
        ] {
            assert_eq!(is_loopback_name(host), expected, "{host}");
        }
    }

    /// The setting, the arrival, the request's target and headers, and the expected result.
    type Row =
        (OtlpAuth, Arrival, &'static str, &'static [(&'static str, &'static str)], Result<(), KeyNeeded>);

    #[test]
    fn without_a_key_every_condition_must_hold() {
        use OtlpAuth::{Loopback, Required};

        const LOCAL: &[(&str, &str)] = &[("host", "localhost:4318")];
        let open = Arrival { listener_is_loopback: false, ..HERE };
        let remote = Arrival { peer_is_loopback: false, ..HERE };
        let foreign = |name| Err(KeyNeeded::Foreign(HeaderName::from_static(name)));
        let other = |host: &str| Err(KeyNeeded::OtherHost(host.to_owned()));
        let api = Arrival { port: Port::Api, ..HERE };
        let grpc = Arrival { port: Port::OtlpGrpc, ..HERE };
        let rows: [Row; 16] = [
            (Loopback, HERE, "/v1/logs", LOCAL, Ok(())),
            (Loopback, HERE, "http://127.0.0.1:4317/x", &[], Ok(())),
            (Loopback, HERE, "/v1/logs", &[("host", "[::1]"), ("x-forward", "https")], Ok(())),
            (Loopback, grpc, "/v1/logs", LOCAL, Ok(())),
            (Loopback, api, "/otlp/v1/logs", LOCAL, Err(KeyNeeded::ApiPort)),
            (Required, HERE, "/v1/logs", LOCAL, Err(KeyNeeded::KeyRequired)),
            (Loopback, open, "/v1/logs", LOCAL, Err(KeyNeeded::OpenListener)),
            (Loopback, remote, "/v1/logs", LOCAL, Err(KeyNeeded::RemotePeer)),
            (Loopback, HERE, "/v1/logs", &[], Err(KeyNeeded::NoHost)),
            (Loopback, HERE, "/v1/logs", &[("host", "evil.example")], other("evil.example")),
            // Both names must be loopback names, whichever of them a client would use.
            (Loopback, HERE, "http://evil.example/x", LOCAL, other("evil.example")),
            (Loopback, HERE, "http://localhost/x", &[("host", "evil.example")], other("evil.example")),
            (Loopback, HERE, "/", &[("host", "localhost"), ("host", "evil.example")], other("evil.example")),
            (
                Loopback,
                HERE,
                "/",
                &[("host", "localhost"), ("origin", "http://localhost")],
                foreign("origin"),
            ),
            (
                Loopback,
                HERE,
                "/",
                &[("host", "localhost"), ("forwarded", "for=1.2.3.4")],
                foreign("forwarded"),
            ),
            (
                Loopback,
                HERE,
                "/",
                &[("host", "localhost"), ("x-forwarded-for", "")],
                foreign("x-forwarded-for"),
            ),
        ];
        for (auth, arrival, uri, headers, expected) in rows {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let found = without_key(auth, arrival, &uri.parse().unwrap(), &map);
            assert_eq!(found, expected, "{auth:?} {arrival:?} {uri} {headers:?}");
            if let Err(reason) = found {
                assert!(reason.to_string().contains("Bearer"), "{reason}");
            }
        }
    }

    #[test]
    fn without_a_key_every_header_of_a_reverse_proxy_is_refused() {
        for name in [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-forwarded-host",
            "x-forwarded-anything",
            "x-real-ip",
            "via",
            "cf-connecting-ip",
            "true-client-ip",
        ] {
            let mut headers = HeaderMap::new();
            headers.append(HOST, "localhost:4318".parse().unwrap());
            assert_eq!(
                without_key(OtlpAuth::Loopback, HERE, &Uri::from_static("/v1/logs"), &headers),
                Ok(())
            );
            headers.append(name, "".parse().unwrap());
            let found = without_key(OtlpAuth::Loopback, HERE, &Uri::from_static("/v1/logs"), &headers);
            assert_eq!(found, Err(KeyNeeded::Foreign(HeaderName::from_static(name))));
        }
    }
}
