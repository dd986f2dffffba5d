//! Who may send telemetry without a key.
//!
//! ```text
//! taken  ⇔  the server does not require a key
//!        ∧  the port is one for OTLP                      (the API's port may be behind a reverse proxy, which is a local peer)
//!        ∧  the listener is bound to a loopback address   (others cannot reach it)
//!        ∧  the peer has a loopback address               (nobody was routed to it)
//!        ∧  every Host and :authority is a loopback name  (no name of elsewhere that was made to point here)
//!        ∧  no Origin                                     (no web page sends it)
//!        ∧  no header that a reverse proxy adds           (no proxy sends it for somebody else)
//! ```
//!
//! The headers that a reverse proxy adds are `Forwarded`, every `X-Forwarded-*`, `X-Real-IP`, `Via`, `CF-Connecting-IP` and
//! `True-Client-IP`. A proxy that adds none of them, such as nginx with a bare `proxy_pass`, cannot be told from a local agent: it must
//! not be pointed at an OTLP port.
//!
//! A loopback name is `localhost`, an address of 127.0.0.0/8 or `[::1]`, with or without a port; one dot at the end is fine.
//! Names below `localhost` are not: who resolves them is not known here.
//!
//! Every refusal is 401 `auth_missing`, also that of an `Origin`: with a key each of these requests would be taken.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Uri};
use renown_core::json::Found;

use crate::dispatch::{Arrival, Port};

/// Whether telemetry may come without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpAuth {
    /// From this machine, see the module.
    #[default]
    Loopback,
    /// Never.
    Required,
}

/// Whether a header only comes from elsewhere: from a web page, or through a reverse proxy.
fn is_foreign(name: &HeaderName) -> bool {
    let known = ["origin", "forwarded", "x-real-ip", "via", "cf-connecting-ip", "true-client-ip"];
    known.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-")
}

/// What a request without a key lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Barred {
    KeyRequired,
    ApiPort,
    OpenListener,
    RemotePeer,
    NoHost,
    OtherHost(String),
    Foreign(HeaderName),
}

impl fmt::Display for Barred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no Authorization header, and ")?;
        match self {
            Self::KeyRequired => {
                f.write_str("this server takes telemetry only with a key (--otlp-auth required)")
            }
            Self::ApiPort => f.write_str(
                "without a key telemetry is only taken on the OTLP ports (GET /health names them), never on this one",
            ),
            Self::OpenListener => f.write_str(
                "without a key telemetry is only taken where the server listens on a loopback address, which this port does not",
            ),
            Self::RemotePeer => f.write_str("without a key telemetry is only taken from this machine"),
            Self::NoHost => f.write_str("without a key a Host is expected: localhost, 127.0.0.1 or [::1]"),
            Self::OtherHost(host) => write!(
                f,
                "without a key the Host has to be localhost, 127.0.0.1 or [::1], found {}",
                Found::quoted(host)
            ),
            Self::Foreign(name) if *name == ORIGIN => {
                f.write_str("without a key nothing is taken from a web page, which the Origin header tells")
            }
            Self::Foreign(name) => write!(
                f,
                "without a key nothing is taken through a proxy, which the header {name} tells"
            ),
        }?;
        f.write_str(": send `Authorization: Bearer` and a key, as in OTEL_EXPORTER_OTLP_HEADERS=\"Authorization=Bearer KEY\"")
    }
}

/// Whether a request without a key is taken, or the first thing that it lacks.
pub(super) fn without_key(
    auth: OtlpAuth,
    arrival: Arrival,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Barred> {
    if auth == OtlpAuth::Required {
        return Err(Barred::KeyRequired);
    }
    if arrival.port == Port::Api {
        return Err(Barred::ApiPort);
    }
    if !arrival.listener_is_loopback {
        return Err(Barred::OpenListener);
    }
    if !arrival.peer_is_loopback {
        return Err(Barred::RemotePeer);
    }
    let sent = headers.get_all(HOST).iter().map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    let mut hosts = sent.chain(uri.authority().map(ToString::to_string)).peekable();
    hosts.peek().ok_or(Barred::NoHost)?;
    if let Some(other) = hosts.find(|host| !is_loopback_name(host)) {
        return Err(Barred::OtherHost(other));
    }
    headers.keys().find(|name| is_foreign(name)).map_or(Ok(()), |name| Err(Barred::Foreign(name.clone())))
}

/// Whether a host, with or without a port, is this machine by its name.
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
    fn names_of_this_machine() {
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

    /// The arrival, the target of the request, its headers, and what it lacks.
    type Row = (OtlpAuth, Arrival, &'static str, &'static [(&'static str, &'static str)], Result<(), Barred>);

    #[test]
    fn without_a_key_each_condition_has_to_hold() {
        use OtlpAuth::{Loopback, Required};

        const LOCAL: &[(&str, &str)] = &[("host", "localhost:4318")];
        let open = Arrival { listener_is_loopback: false, ..HERE };
        let remote = Arrival { peer_is_loopback: false, ..HERE };
        let foreign = |name| Err(Barred::Foreign(HeaderName::from_static(name)));
        let other = |host: &str| Err(Barred::OtherHost(host.to_owned()));
        let api = Arrival { port: Port::Api, ..HERE };
        let grpc = Arrival { port: Port::OtlpGrpc, ..HERE };
        let rows: [Row; 16] = [
            (Loopback, HERE, "/v1/logs", LOCAL, Ok(())),
            (Loopback, HERE, "http://127.0.0.1:4317/x", &[], Ok(())),
            (Loopback, HERE, "/v1/logs", &[("host", "[::1]"), ("x-forward", "https")], Ok(())),
            (Loopback, grpc, "/v1/logs", LOCAL, Ok(())),
            (Loopback, api, "/otlp/v1/logs", LOCAL, Err(Barred::ApiPort)),
            (Required, HERE, "/v1/logs", LOCAL, Err(Barred::KeyRequired)),
            (Loopback, open, "/v1/logs", LOCAL, Err(Barred::OpenListener)),
            (Loopback, remote, "/v1/logs", LOCAL, Err(Barred::RemotePeer)),
            (Loopback, HERE, "/v1/logs", &[], Err(Barred::NoHost)),
            (Loopback, HERE, "/v1/logs", &[("host", "evil.example")], other("evil.example")),
            // Whichever of two names a reader would follow, both have to be of here.
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
            if let Err(barred) = found {
                assert!(barred.to_string().contains("Bearer"), "{barred}");
            }
        }
    }

    #[test]
    fn without_a_key_no_header_of_a_reverse_proxy_is_taken() {
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
            assert_eq!(found, Err(Barred::Foreign(HeaderName::from_static(name))));
        }
    }
}
