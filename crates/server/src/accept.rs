//! The accept loops: HTTP/1.1 and HTTP/2 on each port, and a shutdown that finishes accepted work.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use futures_util::future::select_all;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::api::{Api, OtlpPorts};
use crate::dispatch::{Arrival, Port, Routes};
use crate::limits::{HEAD_BYTES_MAX, HEADER_LIST_BYTES_ACCEPTED, STREAMS_MAX};
use crate::request;
use crate::socket::Socket;
use crate::work;

/// The listeners of a server. For a server without OTLP ports, convert the API's listener into this type.
#[derive(Debug)]
pub struct Listeners {
    /// The API. It also accepts telemetry below `/otlp`.
    pub api: TcpListener,
    /// OTLP over HTTP.
    pub otlp_http: Option<TcpListener>,
    /// OTLP over gRPC.
    pub otlp_grpc: Option<TcpListener>,
}

impl From<TcpListener> for Listeners {
    fn from(api: TcpListener) -> Self {
        Self { api, otlp_http: None, otlp_grpc: None }
    }
}

/// Serves until `end` completes, then finishes accepted work. Fails if no connection can ever be accepted.
pub async fn serve(
    api: Arc<Api>,
    listeners: impl Into<Listeners>,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let limits = api.limits;
    let routes = Arc::new(Routes::new(&api));
    let graceful = GracefulShutdown::new();
    let jobs = work::start(&api);
    let Listeners { api: main, otlp_http, otlp_grpc } = listeners.into();
    let port_of = |listener: &Option<TcpListener>| Some(listener.as_ref()?.local_addr().ok()?.port());
    let _ = api.otlp_ports.set(OtlpPorts { http: port_of(&otlp_http), grpc: port_of(&otlp_grpc) });
    let ports = [(Port::Api, Some(main)), (Port::OtlpHttp, otlp_http), (Port::OtlpGrpc, otlp_grpc)];
    let loops = ports.into_iter().filter_map(|(port, listener)| Some((port, listener?)));
    let open = Arc::new(AtomicUsize::new(0));
    let loops = loops.map(|(port, listener)| {
        Box::pin(listen(&api, &routes, port, listener, &graceful, Arc::clone(&open)))
    });
    // Dropping the loops closes the listeners.
    let served = tokio::select! {
        () = end => Ok(()),
        (error, ..) = select_all(loops) => Err(error),
    };
    api.changes.close();
    if tokio::time::timeout(limits.shutdown_time_max, graceful.shutdown()).await.is_err() {
        tracing::warn!("shutdown timed out; closing the connections that are still open");
    }
    drop(jobs);
    work::note_used_keys(&api).await;
    served
}

/// Accepts the connections of one port. Returns only if no connection can ever be accepted. `open` counts those of all ports.
async fn listen(
    api: &Arc<Api>,
    routes: &Arc<Routes>,
    port: Port,
    listener: TcpListener,
    graceful: &GracefulShutdown,
    open: Arc<AtomicUsize>,
) -> io::Error {
    let is_loopback = |address: SocketAddr| address.ip().to_canonical().is_loopback();
    let listener_is_loopback = listener.local_addr().is_ok_and(is_loopback);
    let connections = Arc::new(Semaphore::new(api.limits.connections_max));
    loop {
        let (stream, peer, permit) = match accept(&listener, &connections, &open).await {
            Ok(accepted) => accepted,
            Err(error) => return error,
        };
        open.fetch_add(1, Ordering::Relaxed);
        let open = Arc::clone(&open);
        let arrival = Arrival { port, listener_is_loopback, peer_is_loopback: is_loopback(peer) };
        let (api, routes, watcher) = (Arc::clone(api), Arc::clone(routes), graceful.watcher());
        tokio::spawn(async move {
            let _permit = permit;
            api.metrics.connection(true);
            connect(&api, &routes, arrival, stream, watcher).await;
            api.metrics.connection(false);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Answers the requests of one connection. Its first bytes distinguish HTTP/2 from HTTP/1.1. They are read once, not by a wrapper around
/// every read.
async fn connect(
    api: &Arc<Api>,
    routes: &Arc<Routes>,
    arrival: Arrival,
    stream: TcpStream,
    watcher: Watcher,
) {
    let time_max = api.limits.head_time_max;
    let first = tokio::select! {
        biased;
        first = tokio::time::timeout(time_max, first_bytes(&stream)) => first,
        // No request has arrived, so there is nothing to answer.
        () = api.changes.closed() => return,
    };
    let Ok(Ok(first)) = first else { return };
    let service = service_fn(|request: Request<Incoming>| {
        let answer = request::answer(Arc::clone(api), Arc::clone(routes), arrival, request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let socket = TokioIo::new(Socket::new(stream, Arc::clone(api)));
    // Errors of a connection concern its client only.
    if &first == b"PRI" {
        let mut http = http2::Builder::new(TokioExecutor::new());
        http.timer(TokioTimer::new()).max_concurrent_streams(STREAMS_MAX).keep_alive_interval(time_max);
        http.max_header_list_size(HEADER_LIST_BYTES_ACCEPTED);
        let _ = watcher.watch(http.serve_connection(socket, service)).await;
    } else {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(time_max).max_header_size(HEAD_BYTES_MAX);
        // A client may close its sending side and still read replies.
        http.half_close(true);
        let _ = watcher.watch(http.serve_connection(socket, service)).await;
    }
}

/// Peeks at the first three bytes of a connection. If fewer have arrived and they could be HTTP/2, waits up to a second for the rest.
async fn first_bytes(stream: &TcpStream) -> io::Result<[u8; 3]> {
    let mut first = [0; 3];
    let mut pause = Duration::from_millis(1);
    while stream.peek(&mut first).await? > 0
        && matches!(first, [b'P', 0 | b'R', 0])
        && pause < Duration::from_secs(1)
    {
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    Ok(first)
}

/// A connection, its peer, and its permit to be open.
type Accepted = (TcpStream, SocketAddr, Option<tokio::sync::OwnedSemaphorePermit>);

/// Accepts the next connection once there is room for it. When file descriptors run out, it waits for other connections to close. If none is
/// open, waiting cannot help and it fails.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    open: &AtomicUsize,
) -> io::Result<Accepted> {
    let permit = Arc::clone(connections).acquire_owned().await.ok();
    let mut hopeless = 0;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return Ok((stream, peer, permit));
            }
            Err(error) => {
                let is_out_of_files = matches!(error.raw_os_error(), Some(EMFILE | ENFILE));
                let is_hopeless = is_out_of_files && open.load(Ordering::Relaxed) == 0;
                hopeless = if is_hopeless { hopeless + 1 } else { 0 };
                if hopeless == HOPELESS_AFTER {
                    return Err(error);
                }
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Too many open files in this process, and in the system. The numbers are the same on Linux and macOS.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// How many times in a row a server without connections may run out of file descriptors.
const HOPELESS_AFTER: u32 = 10;
