//! Replies to the client: an unchanged reply, a judged message, or a stream of events that are judged as they arrive.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};

use super::sessions::Shared;
use super::{ForwardedRequest, HttpProxy, Read, ReplyBody, full, read, redirect, text_reply};
use crate::framing::Oversized;
use crate::session::{Effects, Forward, Host, ProxySession};
use crate::sse::{self, Event, Events, event_of};

/// Builds a reply of the proxy itself: one message, or a batch.
pub(super) fn reply_of(messages: &[Vec<u8>]) -> Response<ReplyBody> {
    let (status, body) = match messages {
        [] => (StatusCode::ACCEPTED, Bytes::new()),
        [one] => (StatusCode::OK, one.clone().into()),
        several => (StatusCode::OK, batch(several)),
    };
    let mut reply = Response::new(full(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

fn batch(messages: &[Vec<u8>]) -> Bytes {
    [b"[".as_slice(), &messages.join(&b','), b"]"].concat().into()
}

/// Headers with which a reply can send a client to another address.
const REDIRECTING: [&str; 5] = ["alt-svc", "refresh", "link", "content-location", "location"];

impl<H: Host + Send + Sync + 'static> HttpProxy<H> {
    /// Judges a reply of the server.
    pub(super) async fn answer(
        self: Arc<Self>,
        reply: Response<Incoming>,
        session: Arc<Shared>,
        sent: ForwardedRequest,
    ) -> Response<ReplyBody> {
        let (mut parts, body) = reply.into_parts();
        // The reason phrase is text of the server that no gate has seen.
        parts.extensions.clear();
        let location = redirect::location(&parts.headers, &self.upstream.address, &sent.address);
        for name in REDIRECTING {
            parts.headers.remove(name);
        }
        let refused = |why: &str| {
            self.end_if_unshared(&session);
            text_reply(StatusCode::BAD_GATEWAY, why)
        };
        if parts.status == StatusCode::NOT_MODIFIED {
            return Response::from_parts(parts, full(Bytes::new()));
        }
        if parts.status.is_redirection() {
            let Some(location) = location.and_then(|location| HeaderValue::try_from(location).ok()) else {
                return refused("the server redirects to another origin");
            };
            self.end_if_unshared(&session);
            parts.headers.insert(LOCATION, location);
            parts.headers.remove(CONTENT_LENGTH);
            return Response::from_parts(parts, full(Bytes::new()));
        }
        if parts.status.is_informational() {
            return refused("the server's reply switches the protocol");
        }
        match ReplyKind::of(&parts.headers) {
            ReplyKind::Events => {
                parts.headers.remove(CONTENT_LENGTH);
                return Response::from_parts(parts, self.events(body, session, sent));
            }
            ReplyKind::Unclear => {
                return refused("the server's reply is compressed, not UTF-8, or has several content types");
            }
            ReplyKind::Other => {}
        }
        let Ok(read) = read(body).await else {
            return refused("the server's reply ended before it was complete");
        };
        self.whole(parts, read, &session, sent)
    }

    /// Judges a reply that is not a stream.
    fn whole(
        self: &Arc<Self>,
        parts: Parts,
        read: Read,
        session: &Arc<Shared>,
        sent: ForwardedRequest,
    ) -> Response<ReplyBody> {
        let (effects, bytes) = match read {
            Read::Whole(bytes) if bytes.trim_ascii().is_empty() => (Effects::default(), bytes),
            Read::Whole(bytes) if !sent.is_mcp && !looks_like_message(&bytes) => {
                return unchanged(parts, bytes);
            }
            Read::Whole(bytes) if parts.status.as_u16() >= 400 && !ProxySession::is_message(&bytes) => {
                return self.error_text(parts, &bytes, session);
            }
            Read::Whole(bytes) => (session.lock().from_server(&bytes, &self.host), bytes),
            Read::TooLarge(ids) => {
                (session.lock().oversized_from_server(&ids.finish(), &self.host), Bytes::new())
            }
        };
        self.storage.effects(&effects, &self.pins);
        let is_malformed = effects.malformed.is_some();
        let Effects { forward, to_client, to_server, .. } = effects;
        self.send_to_server(to_server, &sent);
        let ForwardedRequest { answered: mut messages, awaited, .. } = sent;
        let (body, mut parts) = match forward {
            Forward::AsIs => (bytes, parts),
            Forward::Changed(new) => {
                let mut parts = parts;
                // An error of the proxy has status 200. A rewritten message keeps its status.
                parts.status = if parts.status.is_success() { parts.status } else { StatusCode::OK };
                (new.into(), parts)
            }
            Forward::Nothing => {
                messages.extend(to_client);
                if is_malformed {
                    let given_up = session.lock().give_up(Some(&awaited), &self.host);
                    self.storage.effects(&given_up, &self.pins);
                    messages.extend(given_up.to_client);
                }
                self.end_if_unshared(session);
                if messages.is_empty() && is_malformed {
                    return text_reply(
                        StatusCode::BAD_GATEWAY,
                        "the server's reply is not a well-formed message",
                    );
                }
                return reply_of(&messages);
            }
        };
        self.end_if_unshared(session);
        let body = if messages.is_empty() { body } else { join_batch(messages, &body) };
        parts.headers.insert(CONTENT_LENGTH, body.len().into());
        Response::from_parts(parts, full(body))
    }

    /// Judges an error that is not a message. Many clients show its text.
    fn error_text(&self, parts: Parts, bytes: &Bytes, session: &Arc<Shared>) -> Response<ReplyBody> {
        let passes = str::from_utf8(bytes).is_ok_and(|text| session.lock().lets_pass(text, &self.host));
        self.end_if_unshared(session);
        if passes {
            return unchanged(parts, bytes.clone());
        }
        let mut reply = text_reply(parts.status, "the text of the server's error was removed by the gates");
        reply
            .headers_mut()
            .extend(parts.headers.get(WWW_AUTHENTICATE).map(|value| (WWW_AUTHENTICATE, value.clone())));
        reply
    }

    /// Ends a session that only this request uses.
    fn end_if_unshared(&self, session: &Arc<Shared>) {
        if Arc::strong_count(session) == 1 {
            self.end(session);
        }
    }

    /// Judges a stream of events. Answers of the proxy itself come first.
    fn events(self: Arc<Self>, body: Incoming, session: Arc<Shared>, sent: ForwardedRequest) -> ReplyBody {
        let ready: Vec<u8> = sent.answered.iter().flat_map(|message| event_of(message)).collect();
        let events = Some(Events::default());
        let judged = JudgedStream { proxy: self, body, session, sent, events, ready, has_dropped: false };
        let frames = stream::unfold(judged, |mut judged| async move {
            let frame = judged.next().await?;
            Some((frame, judged))
        });
        StreamBody::new(frames).boxed()
    }
}

/// Builds a reply that passes byte for byte.
fn unchanged(mut parts: Parts, bytes: Bytes) -> Response<ReplyBody> {
    parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
    Response::from_parts(parts, full(bytes))
}

/// Returns whether some client could read a message in a reply to a request that is not MCP. Honest replies to such requests, for example
/// with a token, never contain the words of a message.
fn looks_like_message(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    // UTF-16 has a NUL next to every ASCII letter.
    text.contains("jsonrpc") || text.contains('\0')
}

/// The content of a reply, according to its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyKind {
    Events,
    /// A message, or something that is not MCP.
    Other,
    /// A client could read a message that the proxy cannot read. The request asked for unencoded bytes of one type.
    Unclear,
}

impl ReplyKind {
    /// Determines the kind. Some clients search the whole header for a type, or join several headers, so every possible reading counts.
    fn of(headers: &HeaderMap) -> Self {
        let values =
            |name| headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let types = values(CONTENT_TYPE).collect::<Vec<_>>().join(",").to_ascii_lowercase();
        let is_encoded = values(CONTENT_ENCODING).any(|value| !value.trim().eq_ignore_ascii_case("identity"));
        let is_events = types.contains("text/event-stream");
        if is_encoded || !is_utf8(&types) || (is_events && types.contains("json")) {
            return Self::Unclear;
        }
        if is_events { Self::Events } else { Self::Other }
    }
}

/// Returns whether every charset in the content types is UTF-8 or a subset of it.
fn is_utf8(types: &str) -> bool {
    types.split("charset").skip(1).all(|rest| {
        let value = rest.trim_start_matches(['=', ' ', '\t', '"', '\'']);
        let value = value.split(['"', '\'', ';', ',', ' ', '\t']).next().unwrap_or_default();
        matches!(value, "utf-8" | "utf8" | "us-ascii" | "ascii")
    })
}

/// Joins messages of the proxy and the server's answer into one batch.
fn join_batch(mut messages: Vec<Vec<u8>>, body: &[u8]) -> Bytes {
    let body = body.trim_ascii();
    let inner = body.strip_prefix(b"[").and_then(|body| body.strip_suffix(b"]")).unwrap_or(body);
    if !inner.trim_ascii().is_empty() {
        messages.push(inner.to_vec());
    }
    batch(&messages)
}

/// A stream of events that is being judged.
struct JudgedStream<H: Host + Send + Sync + 'static> {
    proxy: Arc<HttpProxy<H>>,
    body: Incoming,
    session: Arc<Shared>,
    sent: ForwardedRequest,
    /// `None` after the end of the stream.
    events: Option<Events>,
    /// Bytes that may be sent to the client.
    ready: Vec<u8>,
    /// Whether an event was dropped.
    has_dropped: bool,
}

/// At the end of the stream, or when the client disconnects.
impl<H: Host + Send + Sync + 'static> Drop for JudgedStream<H> {
    fn drop(&mut self) {
        self.proxy.end_if_unshared(&self.session);
    }
}

impl<H: Host + Send + Sync + 'static> JudgedStream<H> {
    async fn next(&mut self) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        loop {
            if !self.ready.is_empty() {
                return Some(Ok(Frame::data(std::mem::take(&mut self.ready).into())));
            }
            let mut events = self.events.take()?;
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    let mut found = Vec::new();
                    if let Ok(data) = frame.into_data() {
                        events.push(&data, |event| found.push(event));
                    }
                    self.events = Some(events);
                    for event in found {
                        self.carry(event);
                    }
                }
                ended => {
                    if let Some(event) = events.finish() {
                        self.carry(event);
                    }
                    self.give_up();
                    if let Some(Err(error)) = ended {
                        return Some(Err(error));
                    }
                }
            }
        }
    }

    /// Judges an event, and appends the resulting bytes to `ready`.
    fn carry(&mut self, event: Event) {
        let (effects, parts, event) = match event {
            Event::Whole(event) => {
                let parts = sse::Parts::of(&event);
                let data = parts.data.as_deref().unwrap_or_default();
                let effects = self.session.lock().from_server(data, &self.proxy.host);
                (effects, parts, event)
            }
            Event::TooLarge(oversized, others) => {
                (self.oversized(&oversized), sse::Parts::of(&others), others)
            }
        };
        self.proxy.storage.effects(&effects, &self.proxy.pins);
        self.has_dropped |= effects.malformed.is_some();
        self.proxy.send_to_server(effects.to_server, &self.sent);
        match effects.forward {
            Forward::AsIs if parts.is_plain || self.proxy.policy.observe => self.ready.extend(event),
            Forward::AsIs => self.ready.extend(parts.written(parts.data.as_deref())),
            Forward::Changed(new) => self.ready.extend(parts.written(Some(&new))),
            // The event id stays, so that a client can resume the stream after it.
            Forward::Nothing if effects.to_client.is_empty() => self.ready.extend(parts.written(None)),
            Forward::Nothing => {
                for message in &effects.to_client {
                    self.ready.extend(parts.written(Some(message)));
                }
            }
        }
    }

    /// At the end of the stream: if events were dropped, answers the requests that are still waiting.
    fn give_up(&mut self) {
        if !self.has_dropped {
            return;
        }
        let effects = self.session.lock().give_up(Some(&self.sent.awaited), &self.proxy.host);
        self.proxy.storage.effects(&effects, &self.proxy.pins);
        self.ready.extend(effects.to_client.iter().flat_map(|message| event_of(message)));
    }

    fn oversized(&self, oversized: &Oversized) -> Effects {
        self.session.lock().oversized_from_server(oversized, &self.proxy.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_clients_could_read_differently_is_unclear() {
        for (types, encoding, kind) in [
            (&[][..], None, ReplyKind::Other),
            (&["application/json; charset=utf-8"], None, ReplyKind::Other),
            (&["application/json; charset=\"UTF-8\"; x=y"], None, ReplyKind::Other),
            (&["Application/JSON-RPC"], Some("identity"), ReplyKind::Other),
            (&["text/event-stream"], None, ReplyKind::Events),
            (&["text/event-stream;charset=UTF-8"], None, ReplyKind::Events),
            (&["text/plain; x=text/event-stream"], None, ReplyKind::Events),
            (&["text/plain", "application/json"], None, ReplyKind::Other),
            (&["text/html"], Some("gzip"), ReplyKind::Unclear),
            (&["application/json"], Some("gzip"), ReplyKind::Unclear),
            (&["text/event-stream"], Some("br"), ReplyKind::Unclear),
            (&["application/json", "text/event-stream"], None, ReplyKind::Unclear),
            (&["application/json; charset=utf-16"], None, ReplyKind::Unclear),
            (&["application/json; charset = utf-7"], None, ReplyKind::Unclear),
            (&["text/event-stream; charset=utf-16le"], None, ReplyKind::Unclear),
            (&["application/json; charset=utf-8", "text/plain; charset=utf-16"], None, ReplyKind::Unclear),
        ] {
            let mut headers = HeaderMap::new();
            for value in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            encoding.map(|value| headers.insert(CONTENT_ENCODING, HeaderValue::from_static(value)));
            assert_eq!(ReplyKind::of(&headers), kind, "{types:?} {encoding:?}");
        }
    }
}
