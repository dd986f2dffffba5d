//! The proxy in front of a streamable HTTP server.
//!
//! | part | rule |
//! |---|---|
//! | client | must be local: the listener is on loopback, and `Host` and `Origin` (if present) are loopback names; others get 403 |
//! | path | `/` is the address of the server; any other path is that path on the server's host |
//! | headers | pass, except those of a connection; `Host` is the server's, `Accept-Encoding` is `identity` |
//! | body of a POST | is a message or a batch, whatever its content type; above 64 MiB it is dropped and gets an error |
//! | reply to a message | is a message or a batch; a changed one has status 200, a malformed one becomes 502 |
//! | error (4xx, 5xx) that is not a message | is judged as text; if it fails, the status stays and the text is removed |
//! | body that is compressed, or not UTF-8 according to its type | cannot be judged: 415 for the client's, 502 for the server's |
//! | stream of events | is passed on event by event, as they arrive; the ids of events stay |
//! | redirect | leads to the proxy, or becomes 502 (`redirect.rs`) |
//! | headers of a reply that lead elsewhere | are removed: `Alt-Svc`, `Refresh`, `Link`, `Content-Location`; also the reason phrase and trailers |
//! | reply to a request that is not MCP, such as one for a token | passes unchanged, unless it looks like a message |
//!
//! A result is matched to its request by the session (`Mcp-Session-Id`) and the id, on whichever stream it arrives. A request without a
//! session gets a temporary session, which ends with the reply unless the reply names a session.

mod answer;
mod redirect;
mod sessions;
mod upstream;

use std::convert::Infallible;
use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::framing::MESSAGE_BYTES_MAX;
use crate::message::{Ids, LooseId};
use crate::pins::Pins;
use crate::session::{Build, Effects, Forward, Host, Policy, ProxySession};
use crate::storage::Storage;
use sessions::{Sessions, Shared};
use upstream::Upstream;
pub use upstream::UpstreamError;

/// How long requests may take after a shutdown was requested.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// The header with the revision of the protocol.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The body of a reply.
type ReplyBody = BoxBody<Bytes, hyper::Error>;

/// A proxy in front of a streamable HTTP server.
pub struct HttpProxy<H> {
    upstream: Upstream,
    policy: Arc<Policy>,
    build: Build,
    pins: Arc<Mutex<Pins>>,
    storage: Storage,
    host: H,
    sessions: Sessions,
}

impl<H: Host + Send + Sync + 'static> HttpProxy<H> {
    /// Creates a proxy in front of the server at an address.
    pub fn new(
        url: &str,
        policy: Arc<Policy>,
        build: Build,
        pins: Arc<Mutex<Pins>>,
        storage: Storage,
        host: H,
    ) -> Result<Self, UpstreamError> {
        let upstream = Upstream::new(url)?;
        Ok(Self { upstream, policy, build, pins, storage, host, sessions: Sessions::default() })
    }

    /// Serves until `end` completes.
    pub async fn serve(self, listener: TcpListener, end: impl Future<Output = ()>) {
        let proxy = Arc::new(self);
        let mut open = tokio::task::JoinSet::new();
        let (ending, ended) = tokio::sync::watch::channel(false);
        tokio::pin!(end);
        loop {
            let accepted = tokio::select! {
                () = &mut end => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // Probably out of file descriptors: wait until open connections close.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let (proxy, mut ended) = (Arc::clone(&proxy), ended.clone());
            open.spawn(async move {
                let service = service_fn(move |request| {
                    let proxy = Arc::clone(&proxy);
                    async move { Ok::<_, Infallible>(proxy.request(request).await) }
                });
                let mut http = hyper::server::conn::http1::Builder::new();
                let connection = http.half_close(true).serve_connection(TokioIo::new(stream), service);
                tokio::pin!(connection);
                // Errors of a connection are ignored: the client has disconnected.
                tokio::select! {
                    _ = connection.as_mut() => {}
                    _ = ended.changed() => {
                        // An idle connection ends at once, the others after their current request.
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            });
            while open.try_join_next().is_some() {}
        }
        drop(listener);
        let _ = ending.send(true);
        let _ =
            tokio::time::timeout(LAST_REQUESTS, async { while open.join_next().await.is_some() {} }).await;
        open.abort_all();
        while open.join_next().await.is_some() {}
        for session in proxy.sessions.drain() {
            proxy.end(&session);
        }
        proxy.storage.close(Duration::from_secs(2));
    }

    async fn request(self: Arc<Self>, request: Request<Incoming>) -> Response<ReplyBody> {
        if let Err(why) = check_local(request.headers()) {
            return text_reply(StatusCode::FORBIDDEN, why);
        }
        let named = request.headers().get(sessions::HEADER).cloned();
        let Some(session) = self.session(named.as_ref()) else {
            return text_reply(StatusCode::INTERNAL_SERVER_ERROR, "the gates cannot be built");
        };
        let is_message = *request.method() == Method::POST;
        if is_message && is_encoded(request.headers()) {
            return text_reply(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body is compressed, expected an uncompressed body",
            );
        }
        let is_delete = *request.method() == Method::DELETE;
        let (parts, body) = request.into_parts();
        let mut sent = ForwardedRequest::of(
            &parts,
            named.is_some(),
            self.upstream.address_of(parts.uri.path_and_query()),
        );
        let body: ReplyBody = if is_message {
            let effects = match read(body).await {
                Ok(Read::Whole(bytes)) => {
                    let effects = session.lock().from_client(&bytes, &self.host);
                    Some((effects, bytes))
                }
                Ok(Read::TooLarge(ids)) => {
                    Some((session.lock().oversized_from_client(&ids.finish()), Bytes::new()))
                }
                Err(_) => None,
            };
            let Some((effects, bytes)) = effects else {
                return text_reply(StatusCode::BAD_REQUEST, "the body ended before it was complete");
            };
            self.storage.effects(&effects, &self.pins);
            let Effects { forward, to_client, is_message, awaited, .. } = effects;
            sent.is_mcp |= is_message;
            (sent.answered, sent.awaited) = (to_client, awaited);
            match forward {
                Forward::AsIs => full(bytes),
                Forward::Changed(new) => full(new.into()),
                Forward::Nothing => return answer::reply_of(&sent.answered),
            }
        } else {
            body.boxed()
        };
        let reply = self.upstream.send(parts, body).await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                if named.is_none() {
                    self.end(&session);
                }
                return text_reply(StatusCode::BAD_GATEWAY, &upstream_error(&error));
            }
        };
        if !sessions::is_sound(reply.headers()) {
            let error = "the server sent an invalid session id, expected one id of visible ASCII characters";
            return text_reply(StatusCode::BAD_GATEWAY, error);
        }
        let session_id = reply.headers().get(sessions::HEADER).cloned().or(named);
        match session_id {
            Some(id) if is_delete && reply.status().is_success() => {
                if let Some(ended) = self.sessions.remove(&id) {
                    self.end(&ended);
                }
            }
            Some(id) => {
                if let Some(oldest) = self.sessions.insert(id, &session) {
                    self.end(&oldest);
                }
            }
            None => {}
        }
        self.answer(reply, session, sent).await
    }

    /// Sends messages to the server in the background: errors instead of answers of the client.
    fn send_to_server(self: &Arc<Self>, messages: Vec<Vec<u8>>, sent: &ForwardedRequest) {
        for message in messages {
            let mut request = Request::new(());
            *request.method_mut() = Method::POST;
            *request.uri_mut() = sent.path.clone();
            *request.headers_mut() = sent.headers.clone();
            let (parts, ()) = request.into_parts();
            let proxy = Arc::clone(self);
            tokio::spawn(async move { drop(proxy.upstream.send(parts, full(message.into())).await) });
        }
    }

    /// Returns the session with an id, or a new one. Returns `None` if the gates cannot be built.
    fn session(&self, id: Option<&HeaderValue>) -> Option<Arc<Shared>> {
        if let Some(known) = id.and_then(|id| self.sessions.get(id)) {
            return Some(known);
        }
        let session =
            ProxySession::new(Arc::clone(&self.policy), Arc::clone(&self.build), Arc::clone(&self.pins))?;
        Some(Arc::new(Shared::new(session)))
    }

    /// Ends a session: logs the calls that were never answered.
    fn end(&self, session: &Shared) {
        for record in session.lock().lost(&self.host) {
            self.storage.record(&record);
        }
    }
}

/// What is known about a request that was forwarded to the server.
struct ForwardedRequest {
    /// Answers of the proxy to some of its messages.
    answered: Vec<Vec<u8>>,
    /// Ids of the messages whose answers the client awaits.
    awaited: Vec<LooseId>,
    /// Whether the client will read the reply as MCP.
    is_mcp: bool,
    /// Address that the request was sent to.
    address: Uri,
    /// Path of the proxy that received the request.
    path: Uri,
    /// Headers for answers to requests of the server.
    headers: HeaderMap,
}

impl ForwardedRequest {
    fn of(parts: &Parts, has_session: bool, address: Uri) -> Self {
        let accepts = parts.headers.get_all(ACCEPT).iter();
        let accepts_events = accepts.into_iter().any(|value| {
            String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase().contains("text/event-stream")
        });
        let mut headers = HeaderMap::new();
        for name in [AUTHORIZATION, HeaderName::from_static(sessions::HEADER), PROTOCOL_VERSION] {
            if let Some(value) = parts.headers.get(&name) {
                headers.insert(name, value.clone());
            }
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let (answered, awaited, path) = (Vec::new(), Vec::new(), parts.uri.clone());
        Self { answered, awaited, is_mcp: accepts_events || has_session, address, path, headers }
    }
}

/// Describes why the server did not reply.
fn upstream_error(error: &hyper_util::client::legacy::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    if error.is_connect() {
        format!("the server cannot be reached{cause}")
    } else {
        format!("the server closed the connection before it answered{cause}")
    }
}

/// Checks that a request comes from this machine, and not from a web page in a browser.
fn check_local(headers: &HeaderMap) -> Result<(), &'static str> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_loopback) {
        return Err("the Host header is not a loopback name, expected localhost, 127.0.0.1 or [::1]");
    }
    match headers.get(ORIGIN).map(HeaderValue::to_str) {
        None => Ok(()),
        Some(Ok(origin)) if origin.split_once("://").is_some_and(|(_, host)| is_loopback(host)) => Ok(()),
        Some(_) => Err("the Origin header is not a loopback name, expected localhost, 127.0.0.1 or [::1]"),
    }
}

/// Returns whether a host, with or without a port, is a loopback name.
fn is_loopback(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns whether a body is compressed or otherwise encoded.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|encoding| encoding.as_bytes().trim_ascii() != b"identity")
}

/// A complete body.
enum Read {
    Whole(Bytes),
    TooLarge(Ids),
}

/// Reads a body to its end. If it is too long, keeps only its ids.
async fn read<B: Body<Data = Bytes, Error = hyper::Error> + Unpin>(
    mut body: B,
) -> Result<Read, hyper::Error> {
    let (mut bytes, mut drained) = (Vec::new(), None::<Ids>);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        match &mut drained {
            Some(ids) => ids.push(&data),
            None if bytes.len() + data.len() <= MESSAGE_BYTES_MAX => bytes.extend_from_slice(&data),
            None => {
                let ids = drained.insert(Ids::default());
                ids.push(&std::mem::take(&mut bytes));
                ids.push(&data);
            }
        }
    }
    Ok(drained.map_or_else(|| Read::Whole(bytes.into()), Read::TooLarge))
}

fn full(bytes: Bytes) -> ReplyBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed()
}

/// Builds a plain-text reply of the proxy itself.
fn text_reply(status: StatusCode, text: &str) -> Response<ReplyBody> {
    let mut reply = Response::new(full(format!("renown: {text}\n").into()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_requests_are_accepted() {
        for (host, origin, may) in [
            (Some("127.0.0.1:7080"), None, true),
            (Some("localhost"), None, true),
            (Some("[::1]:7080"), None, true),
            (Some("LOCALHOST:1"), Some("http://localhost:3000"), true),
            (Some("127.0.0.1"), Some("http://[::1]:5"), true),
            (Some("evil.example:7080"), None, false),
            (Some("localhost.evil.example"), None, false),
            (None, None, false),
            (Some("127.0.0.1"), Some("https://evil.example"), false),
            (Some("127.0.0.1"), Some("null"), false),
            (Some("127.0.0.1"), Some("http://127.0.0.1.evil.example"), false),
        ] {
            let mut headers = HeaderMap::new();
            host.map(|host| headers.insert(HOST, HeaderValue::from_static(host)));
            origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_static(origin)));
            assert_eq!(check_local(&headers).is_ok(), may, "{host:?} {origin:?}");
        }
    }
}
