//! What goes back to the client: a reply as it is, a message that was judged, or a stream of events, each judged as it arrives.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use super::sessions::Shared;
use super::{HttpProxy, Read, ReplyBody, full, read, said};
use crate::framing::Oversized;
use crate::session::{Effects, Forward, Host};
use crate::sse::{Event, Events, data, event_of, with_data};

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

impl<H: Host + Send + Sync + 'static> HttpProxy<H> {
    /// A reply of the server, judged. `answered` are messages that were answered here, for the same client; `to_message` whether
    /// a message was sent.
    pub(super) async fn answer(
        self: Arc<Self>,
        reply: Response<Incoming>,
        session: Arc<Shared>,
        answered: Vec<Vec<u8>>,
        to_message: bool,
    ) -> Response<ReplyBody> {
        let (mut parts, body) = reply.into_parts();
        match Kind::of(&parts.headers) {
            Kind::Events => {
                parts.headers.remove(CONTENT_LENGTH);
                return Response::from_parts(parts, self.events(body, session, &answered));
            }
            // A message that is called something else is one for a client that does not look.
            Kind::Other if to_message => {}
            Kind::Other => return Response::from_parts(parts, body.boxed()),
            Kind::Unclear => {
                self.end_alone(&session);
                return said(StatusCode::BAD_GATEWAY, "the server's reply is encoded or of several types");
            }
            Kind::Message => {}
        }
        let Ok(read) = read(body).await else {
            self.end_alone(&session);
            return said(StatusCode::BAD_GATEWAY, "the server's reply broke off");
        };
        let (effects, bytes) = match read {
            Read::Whole(bytes) => (session.lock().from_server(&bytes, &self.host), bytes),
            Read::TooLarge(ids) => {
                (session.lock().oversized_from_server(&ids.finish(), &self.host), Bytes::new())
            }
        };
        self.keep.effects(&effects, &self.pins);
        let Effects { forward, to_client, .. } = effects;
        let mut messages = answered;
        let is_changed = matches!(forward, Forward::Changed(_));
        let body = match forward {
            Forward::AsIs => bytes,
            Forward::Changed(new) => new.into(),
            Forward::Nothing => {
                messages.extend(to_client);
                return made(&messages);
            }
        };
        self.end_alone(&session);
        let body = if messages.is_empty() { body } else { together(messages, &body) };
        if is_changed {
            parts.status = StatusCode::OK;
        }
        parts.headers.insert(CONTENT_LENGTH, body.len().into());
        Response::from_parts(parts, full(body))
    }

    /// Nobody else can ask about a session that only this request knows.
    fn end_alone(&self, session: &Arc<Shared>) {
        if Arc::strong_count(session) == 1 {
            self.end(session);
        }
    }

    /// A stream of events. What was answered here comes first.
    fn events(self: Arc<Self>, body: Incoming, session: Arc<Shared>, answered: &[Vec<u8>]) -> ReplyBody {
        let first: Vec<u8> = answered.iter().flat_map(|message| event_of(message)).collect();
        let reading = Reading { proxy: self, body, session, events: Some(Events::default()), ready: first };
        let frames = stream::unfold(reading, |mut reading| async move {
            let frame = reading.next().await?;
            Some((frame, reading))
        });
        // Only one task reads it.
        StreamBody::new(frames).boxed()
    }
}

/// What a reply holds, as its headers say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Events,
    /// Nothing that a client of MCP reads.
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
        let encoded = values(CONTENT_ENCODING).any(|value| !value.trim().eq_ignore_ascii_case("identity"));
        let is_message = types.is_empty() || types.contains("json");
        match (types.contains("text/event-stream"), is_message) {
            (false, false) => Self::Other,
            (true, true) => Self::Unclear,
            _ if encoded => Self::Unclear,
            (true, false) => Self::Events,
            (false, true) => Self::Message,
        }
    }
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
    /// None after the end.
    events: Option<Events>,
    /// Bytes that may leave.
    ready: Vec<u8>,
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
                    if let Some(Err(error)) = ended {
                        return Some(Err(error));
                    }
                }
            }
        }
    }

    /// Judges an event, and makes ready what leaves in its place.
    fn carry(&mut self, event: Event) {
        let (effects, event) = match event {
            Event::Whole(event) => match data(&event) {
                None => return self.ready.extend(event),
                Some(data) => (self.session.lock().from_server(&data, &self.proxy.host), event),
            },
            Event::TooLarge(oversized, others) => {
                let effects = self.oversized(&oversized);
                (effects, [others.as_slice(), b"data:\n\n"].concat())
            }
        };
        self.proxy.keep.effects(&effects, &self.proxy.pins);
        match effects.forward {
            Forward::AsIs => self.ready.extend(event),
            Forward::Changed(new) => self.ready.extend(with_data(&event, &new)),
            Forward::Nothing => {
                for message in &effects.to_client {
                    self.ready.extend(with_data(&event, message));
                }
            }
        }
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
            (&[][..], None, Kind::Message),
            (&["application/json; charset=utf-8"], None, Kind::Message),
            (&["Application/JSON-RPC"], Some("identity"), Kind::Message),
            (&["text/event-stream"], None, Kind::Events),
            (&["text/html"], Some("gzip"), Kind::Other),
            (&["application/json"], Some("gzip"), Kind::Unclear),
            (&["text/event-stream"], Some("br"), Kind::Unclear),
            (&["text/plain; x=text/event-stream"], None, Kind::Events),
            (&["text/plain", "application/json"], None, Kind::Message),
            (&["application/json", "text/event-stream"], None, Kind::Unclear),
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
