//! The socket of a connection, with what hyper leaves open.
//!
//! - **A client that does not read** its answers holds its connection only so long. A timer is made when a write has to wait, so
//!   a client that reads costs none.
//! - **A head that hyper refuses** never becomes a request: it answers 400 or 431 without a body, as the last thing it writes.
//!   Such a head is told by its status line and by having no `X-Request-Id`, which every reply of ours has, and is replaced by a
//!   refusal in the shape of all others. A reply of ours that is cut by a slow client cannot go on with the same bytes, since no
//!   body of ours has a line that ends in CR and LF.
//! - **A client that still sends** when it is refused would lose the refusal: closing a socket with something unread resets it.
//!   So the rest is read and thrown away, up to a limit.
//!
//! What stays as hyper has it: a refusal behind an answer that the client does not read yet has no body, and HTTP/2 ends a
//! stream whose headers are malformed without a reply, as it has to. A client of HTTP/2 that reads the socket but never makes
//! room for an answer keeps that one stream.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::api::Api;
use crate::door;

/// How much a client may still send after it was refused.
const DRAINED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The lines with which hyper begins its own refusals.
const REFUSALS: [(&[u8], StatusCode); 4] = [
    (b"HTTP/1.1 400 Bad Request\r\n", StatusCode::BAD_REQUEST),
    (b"HTTP/1.0 400 Bad Request\r\n", StatusCode::BAD_REQUEST),
    (b"HTTP/1.1 431 Request Header Fields Too Large\r\n", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    (b"HTTP/1.0 431 Request Header Fields Too Large\r\n", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
];

/// The socket of a connection.
pub(crate) struct Wire {
    stream: TcpStream,
    api: Arc<Api>,
    /// When whoever is waited for has waited long enough; there while something waits.
    patience: Option<Pin<Box<Sleep>>>,
    refusal: Option<Refusal>,
}

/// What is sent in the place of hyper's own words.
struct Refusal {
    bytes: Vec<u8>,
    sent: usize,
    drained: usize,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, api: Arc<Api>) -> Self {
        Self { stream, api, patience: None, refusal: None }
    }

    /// What a write came to, or that it was waited for too long.
    fn written(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.patience = None;
            return wrote;
        }
        ready!(self.wait(cx, self.api.limits.write_time_max));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Waits for so long from the first time that this is asked.
    fn wait(&mut self, cx: &mut Context<'_>, time_max: Duration) -> Poll<()> {
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(time_max)));
        patience.as_mut().poll(cx)
    }

    /// Sends the refusal, of which hyper learns when all of it is sent.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, hypers_len: usize) -> Poll<io::Result<usize>> {
        while let Some(refusal) = &mut self.refusal
            && let Some(rest) = refusal.bytes.get(refusal.sent..).filter(|rest| !rest.is_empty())
        {
            let wrote = Pin::new(&mut self.stream).poll_write(cx, rest);
            let wrote = ready!(self.written(cx, wrote))?;
            if let Some(refusal) = &mut self.refusal {
                refusal.sent += wrote;
            }
        }
        Poll::Ready(Ok(hypers_len))
    }

    /// Whether a write is a refusal of hyper's own, which from then on has its replacement.
    fn is_refused(&mut self, bytes: &[u8]) -> bool {
        // Nearly every write is seen to be none by its tenth byte.
        if bytes.get(9) == Some(&b'4')
            && let Some((_, status)) = REFUSALS.iter().find(|(line, _)| bytes.starts_with(line))
            && self.refusal.is_none()
            && let Ok(head) = std::str::from_utf8(bytes)
            && !head.contains("\r\nx-request-id: ")
        {
            let bytes = door::refuse_head(&self.api, *status, head);
            self.refusal = Some(Refusal { bytes, sent: 0, drained: 0 });
        }
        self.refusal.is_some()
    }

    /// Reads what a refused client still sends.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 4096];
        while let Some(refusal) = &mut self.refusal
            && refusal.drained < DRAINED_BYTES_MAX
        {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    refusal.drained += buffer.filled().len();
                }
                Poll::Ready(_) => break,
                Poll::Pending => return self.wait(cx, self.api.limits.head_time_max),
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_refused(bytes) {
            return self.poll_refuse(cx, bytes.len());
        }
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A refusal has no body, so it is alone.
        if let [only] = slices
            && self.is_refused(only)
        {
            return self.poll_refuse(cx, only.len());
        }
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        ready!(self.poll_drain(cx));
        Poll::Ready(Ok(()))
    }
}
