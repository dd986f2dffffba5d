//! What goes back to the client: a reply as it is, a message that was judged, or a stream of events, each judged as it arrives.

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
use super::{HttpProxy, Read, ReplyBody, Sent, full, read, redirect, said};
use crate::framing::Oversized;
use crate::session::{Effects, Forward, Host, Session};
use crate::sse::{self, Event, Events, event_of};

/// A reply that was made here: one message, or a batch.
pub(super) fn made(messages: &[Vec<u8>]) -> Response<ReplyBody> {
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

/// Headers by which a reply leads a client elsewhere.
const LEADING: [&str; 5] = ["alt-svc", "refresh", "link", "content-location", "location"];

impl<H: Host + Send + Sync + 'static> HttpProxy<H> {
    /// A reply of the server, judged.
    pub(super) async fn answer(
        self: Arc<Self>,
        reply: Response<Incoming>,
        session: Arc<Shared>,
        sent: Sent,
    ) -> Response<ReplyBody> {
        let (mut parts, body) = reply.into_parts();
        // A reason in the server's own words is one of them.
        parts.extensions.clear();
        let led = redirect::location(&parts.headers, &self.upstream.address, &sent.address);
        for name in LEADING {
            parts.headers.remove(name);
        }
        let refused = |why: &str| {
            self.end_alone(&session);
            said(StatusCode::BAD_GATEWAY, why)
        };
        if parts.status == StatusCode::NOT_MODIFIED {
            return Response::from_parts(parts, full(Bytes::new()));
        }
        if parts.status.is_redirection() {
            let Some(led) = led.and_then(|led| HeaderValue::try_from(led).ok()) else {
                return refused("the server's redirect leads elsewhere");
            };
            self.end_alone(&session);
            parts.headers.insert(LOCATION, led);
            parts.headers.remove(CONTENT_LENGTH);
            return Response::from_parts(parts, full(Bytes::new()));
        }
        if parts.status.is_informational() {
            return refused("the server's reply is of another protocol");
        }
        match Kind::of(&parts.headers) {
            Kind::Events => {
                parts.headers.remove(CONTENT_LENGTH);
                return Response::from_parts(parts, self.events(body, session, sent));
            }
            Kind::Unclear => return refused("the server's reply is encoded or of several types"),
            Kind::Other => {}
        }
        let Ok(read) = read(body).await else { return refused("the server's reply broke off") };
        self.whole(parts, read, &session, sent)
    }

    /// A reply that is not a stream, judged.
    fn whole(
        self: &Arc<Self>,
        parts: Parts,
        read: Read,
        session: &Arc<Shared>,
        sent: Sent,
    ) -> Response<ReplyBody> {
        let (effects, bytes) = match read {
            Read::Whole(bytes) if bytes.trim_ascii().is_empty() => (Effects::default(), bytes),
            Read::Whole(bytes) if !sent.is_mcp && !looks_like_message(&bytes) => {
                return passed(parts, bytes);
            }
            Read::Whole(bytes) if parts.status.as_u16() >= 400 && !Session::is_message(&bytes) => {
                return self.error_text(parts, &bytes, session);
            }
            Read::Whole(bytes) => (session.lock().from_server(&bytes, &self.host), bytes),
            Read::TooLarge(ids) => {
                (session.lock().oversized_from_server(&ids.finish(), &self.host), Bytes::new())
            }
        };
        self.keep.effects(&effects, &self.pins);
        let is_malformed = effects.malformed.is_some();
        let Effects { forward, to_client, to_server, .. } = effects;
        self.tell_server(to_server, &sent);
        let Sent { answered: mut messages, asked, .. } = sent;
        let (body, mut parts) = match forward {
            Forward::AsIs => (bytes, parts),
            Forward::Changed(new) => {
                let mut parts = parts;
                // An error of ours is an answer; what only changed its form keeps its status.
                parts.status = if parts.status.is_success() { parts.status } else { StatusCode::OK };
                (new.into(), parts)
            }
            Forward::Nothing => {
                messages.extend(to_client);
                if is_malformed {
                    let given_up = session.lock().give_up(Some(&asked), &self.host);
                    self.keep.effects(&given_up, &self.pins);
                    messages.extend(given_up.to_client);
                }
                self.end_alone(session);
                if messages.is_empty() && is_malformed {
                    return said(StatusCode::BAD_GATEWAY, "the server's reply is not a well-formed message");
                }
                return made(&messages);
            }
        };
        self.end_alone(session);
        let body = if messages.is_empty() { body } else { together(messages, &body) };
        parts.headers.insert(CONTENT_LENGTH, body.len().into());
        Response::from_parts(parts, full(body))
    }

    /// An error that is not a message. Its text is shown by many clients, so it is judged.
    fn error_text(&self, parts: Parts, bytes: &Bytes, session: &Arc<Shared>) -> Response<ReplyBody> {
        let passes = str::from_utf8(bytes).is_ok_and(|text| session.lock().lets_pass(text, &self.host));
        self.end_alone(session);
        if passes {
            return passed(parts, bytes.clone());
        }
        let mut reply = said(parts.status, "the text of the server's error is left out");
        reply
            .headers_mut()
            .extend(parts.headers.get(WWW_AUTHENTICATE).map(|value| (WWW_AUTHENTICATE, value.clone())));
        reply
    }

    /// Nobody else can ask about a session that only this request knows.
    fn end_alone(&self, session: &Arc<Shared>) {
        if Arc::strong_count(session) == 1 {
            self.end(session);
        }
    }

    /// A stream of events. What was answered here comes first.
    fn events(self: Arc<Self>, body: Incoming, session: Arc<Shared>, sent: Sent) -> ReplyBody {
        let ready: Vec<u8> = sent.answered.iter().flat_map(|message| event_of(message)).collect();
        let events = Some(Events::default());
        let reading = Reading { proxy: self, body, session, sent, events, ready, has_dropped: false };
        let frames = stream::unfold(reading, |mut reading| async move {
            let frame = reading.next().await?;
            Some((frame, reading))
        });
        // Only one task reads it.
        StreamBody::new(frames).boxed()
    }
}

/// A reply that passes byte for byte.
fn passed(mut parts: Parts, bytes: Bytes) -> Response<ReplyBody> {
    parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
    Response::from_parts(parts, full(bytes))
}

/// Whether some client could read a message in a reply to a request that was not one of MCP. The words of such a reply, as in one
/// with a token, are never those of a message.
fn looks_like_message(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    // UTF-16 has a NUL beside every letter.
    text.contains("jsonrpc") || text.contains('\0')
}

/// What a reply holds, as its headers say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Events,
    /// A message, or something that is not MCP.
    Other,
    /// A client may read a message where we cannot: it was asked for plain bytes of one type.
    Unclear,
}

impl Kind {
    /// Some clients look for a type anywhere in the header, or join several headers: whatever one of them may see counts.
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

/// Whether every charset that a type names is UTF-8 or part of it.
fn is_utf8(types: &str) -> bool {
    types.split("charset").skip(1).all(|rest| {
        let value = rest.trim_start_matches(['=', ' ', '\t', '"', '\'']);
        let value = value.split(['"', '\'', ';', ',', ' ', '\t']).next().unwrap_or_default();
        matches!(value, "utf-8" | "utf8" | "us-ascii" | "ascii")
    })
}

/// Messages of ours beside what the server answered.
fn together(mut messages: Vec<Vec<u8>>, body: &[u8]) -> Bytes {
    let body = body.trim_ascii();
    let inner = body.strip_prefix(b"[").and_then(|body| body.strip_suffix(b"]")).unwrap_or(body);
    if !inner.trim_ascii().is_empty() {
        messages.push(inner.to_vec());
    }
    batch(&messages)
}

/// A stream of events that is being judged.
struct Reading<H: Host + Send + Sync + 'static> {
    proxy: Arc<HttpProxy<H>>,
    body: Incoming,
    session: Arc<Shared>,
    sent: Sent,
    /// None after the end.
    events: Option<Events>,
    /// Bytes that may leave.
    ready: Vec<u8>,
    /// Whether an event was dropped.
    has_dropped: bool,
}

/// The end of the stream, or a client that goes away before it.
impl<H: Host + Send + Sync + 'static> Drop for Reading<H> {
    fn drop(&mut self) {
        self.proxy.end_alone(&self.session);
    }
}

impl<H: Host + Send + Sync + 'static> Reading<H> {
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

    /// Judges an event, and makes ready what leaves in its place.
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
        self.proxy.keep.effects(&effects, &self.proxy.pins);
        self.has_dropped |= effects.malformed.is_some();
        self.proxy.tell_server(effects.to_server, &self.sent);
        match effects.forward {
            Forward::AsIs if parts.is_plain || self.proxy.policy.observe => self.ready.extend(event),
            Forward::AsIs => self.ready.extend(parts.written(parts.data.as_deref())),
            Forward::Changed(new) => self.ready.extend(parts.written(Some(&new))),
            // The id stays, so that the stream can be resumed after it.
            Forward::Nothing if effects.to_client.is_empty() => self.ready.extend(parts.written(None)),
            Forward::Nothing => {
                for message in &effects.to_client {
                    self.ready.extend(parts.written(Some(message)));
                }
            }
        }
    }

    /// The end of the stream: what it should have answered and did not is answered here, if some of it was dropped.
    fn give_up(&mut self) {
        if !self.has_dropped {
            return;
        }
        let effects = self.session.lock().give_up(Some(&self.sent.asked), &self.proxy.host);
        self.proxy.keep.effects(&effects, &self.proxy.pins);
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
    fn a_reply_that_some_client_could_read_otherwise_is_unclear() {
        for (types, encoding, kind) in [
            (&[][..], None, Kind::Other),
            (&["application/json; charset=utf-8"], None, Kind::Other),
            (&["application/json; charset=\"UTF-8\"; x=y"], None, Kind::Other),
            (&["Application/JSON-RPC"], Some("identity"), Kind::Other),
            (&["text/event-stream"], None, Kind::Events),
            (&["text/event-stream;charset=UTF-8"], None, Kind::Events),
            (&["text/plain; x=text/event-stream"], None, Kind::Events),
            (&["text/plain", "application/json"], None, Kind::Other),
            (&["text/html"], Some("gzip"), Kind::Unclear),
            (&["application/json"], Some("gzip"), Kind::Unclear),
            (&["text/event-stream"], Some("br"), Kind::Unclear),
            (&["application/json", "text/event-stream"], None, Kind::Unclear),
            (&["application/json; charset=utf-16"], None, Kind::Unclear),
            (&["application/json; charset = utf-7"], None, Kind::Unclear),
            (&["text/event-stream; charset=utf-16le"], None, Kind::Unclear),
            (&["application/json; charset=utf-8", "text/plain; charset=utf-16"], None, Kind::Unclear),
        ] {
            let mut headers = HeaderMap::new();
            for value in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            encoding.map(|value| headers.insert(CONTENT_ENCODING, HeaderValue::from_static(value)));
            assert_eq!(Kind::of(&headers), kind, "{types:?} {encoding:?}");
        }
    }
}
