//! The socket of a connection. It handles what hyper leaves open.
//!
//! - **Clients that do not read** their replies lose their connection after a time limit. The timer starts when a write has to wait, so a
//!   client that reads costs none.
//! - **Malformed heads** never become a request: hyper answers 400 or 431 without a body, as its last write on the connection. This
//!   socket recognizes such a write by its status line and by the missing `X-Request-Id`, which all our replies have. It replaces the write
//!   with an error in our usual shape. The continuation of one of our own replies cannot be mistaken for it: no body of ours
//!   has a line that ends in CR LF.
//! - **Clients that are still sending** when they are refused would lose the error, because closing a socket with unread data resets it. So
//!   the rest is read and dropped, up to a limit.
//!
//! Left as hyper does it: an error that follows a reply which the client has not read yet has no body. HTTP/2 ends a stream with malformed
//! headers without a reply, as the protocol demands. An HTTP/2 client that reads the socket but never opens its window keeps that one
//! stream.

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
use crate::limits::HEAD_DRAINED_BYTES_MAX;
use crate::request;

/// The status lines of hyper's own error replies.
const REFUSALS: [(&[u8], StatusCode); 4] = [
    (b"HTTP/1.1 400 Bad Request\r\n", StatusCode::BAD_REQUEST),
    (b"HTTP/1.0 400 Bad Request\r\n", StatusCode::BAD_REQUEST),
    (b"HTTP/1.1 431 Request Header Fields Too Large\r\n", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    (b"HTTP/1.0 431 Request Header Fields Too Large\r\n", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
];

/// The socket of a connection.
pub(crate) struct Socket {
    stream: TcpStream,
    api: Arc<Api>,
    /// Deadline of the pending read or write. `None` while nothing is pending.
    deadline: Option<Pin<Box<Sleep>>>,
    refusal: Option<Refusal>,
}

/// The reply that is sent instead of hyper's own.
struct Refusal {
    bytes: Vec<u8>,
    sent: usize,
    drained: usize,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, api: Arc<Api>) -> Self {
        Self { stream, api, deadline: None, refusal: None }
    }

    /// Returns the result of a write, or a timeout if it was pending for too long.
    fn written(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.deadline = None;
            return wrote;
        }
        ready!(self.wait(cx, self.api.limits.write_time_max));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Waits for the deadline. The first call sets it.
    fn wait(&mut self, cx: &mut Context<'_>, time_max: Duration) -> Poll<()> {
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time_max)));
        deadline.as_mut().poll(cx)
    }

    /// Sends our reply. Reports hyper's bytes as written once all of ours are sent.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, hyper_len: usize) -> Poll<io::Result<usize>> {
        while let Some(refusal) = &mut self.refusal
            && let Some(rest) = refusal.bytes.get(refusal.sent..).filter(|rest| !rest.is_empty())
        {
            let wrote = Pin::new(&mut self.stream).poll_write(cx, rest);
            let wrote = ready!(self.written(cx, wrote))?;
            if let Some(refusal) = &mut self.refusal {
                refusal.sent += wrote;
            }
        }
        Poll::Ready(Ok(hyper_len))
    }

    /// Returns whether a write is one of hyper's own error replies. If so, prepares the replacement.
    fn is_refused(&mut self, bytes: &[u8]) -> bool {
        // The tenth byte rules out nearly every write.
        if bytes.get(9) == Some(&b'4')
            && let Some((_, status)) = REFUSALS.iter().find(|(line, _)| bytes.starts_with(line))
            && self.refusal.is_none()
            && let Ok(head) = std::str::from_utf8(bytes)
            && !head.contains("\r\nx-request-id: ")
        {
            let bytes = request::refuse_head(&self.api, *status, head);
            self.refusal = Some(Refusal { bytes, sent: 0, drained: 0 });
        }
        self.refusal.is_some()
    }

    /// Reads and drops what a refused client still sends.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 4096];
        while let Some(refusal) = &mut self.refusal
            && refusal.drained < HEAD_DRAINED_BYTES_MAX
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

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
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
        // hyper's error replies have no body, so they are a single slice.
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
