//! The accept loops: HTTP/1.1 and HTTP/2 on each port, with limits, and a shutdown that finishes accepted work.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
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
use crate::otlp::{Arrival, Port};
use crate::socket::Wire;
use crate::{door, routes};

/// The largest head of a request of HTTP/1.1, with its first line.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The largest header list of a request of HTTP/2.
pub(crate) const HEADER_LIST_BYTES_MAX: usize = 16 * 1024;

/// The largest header list that HTTP/2 takes in: the door refuses one above its limit with words, which the protocol, past
/// this, can only do with a status.
const HEADER_LIST_BYTES_TAKEN: u32 = 64 * 1024;

/// How many requests may be in flight on one connection of HTTP/2.
const STREAMS_MAX: u32 = 200;

/// How often what runs beside the requests is done.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// How often it is looked for sessions that are over.
const CLOSE_EVERY: Duration = Duration::from_secs(1);

/// How often old evidence is looked for.
const TEND_EVERY: Duration = Duration::from_mins(1);

/// How often the last use of keys is written down: every so many upkeeps.
const NOTE_KEYS_EVERY: u64 = 12;

/// What a server allows its clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections of a port. Further ones wait to be accepted.
    pub connections_max: usize,
    /// How long a client may take to send the head of a request; also how long an idle connection is kept.
    pub head_time_max: Duration,
    /// How long a client may take to send a body.
    pub body_time_max: Duration,
    /// How long a client may read nothing of what is sent to it.
    pub write_time_max: Duration,
    /// How long accepted work may take after the end was asked for.
    pub shutdown_time_max: Duration,
    /// The memory of all outputs that are being judged, in bytes. Past it a client is asked to come back.
    pub judging_bytes_max: usize,
    /// Evaluations that are judged and written at once. Past it a client is asked to come back.
    pub evaluations_max: usize,
    /// The same for batches.
    pub ingests_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 20_000,
            head_time_max: Duration::from_secs(30),
            body_time_max: Duration::from_secs(30),
            write_time_max: Duration::from_secs(30),
            shutdown_time_max: Duration::from_secs(10),
            judging_bytes_max: 128 * 1024 * 1024,
            evaluations_max: 256,
            ingests_max: 128,
        }
    }
}

/// Where a server listens. One that listens only for the API is made from that listener.
#[derive(Debug)]
pub struct Listeners {
    /// The API, which takes telemetry below `/otlp` too.
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

/// Serves until the end is asked for, then finishes what was accepted. Fails when no connection can ever be accepted.
pub async fn serve(
    api: Arc<Api>,
    listeners: impl Into<Listeners>,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let limits = api.limits;
    let router = routes::router(&api);
    let graceful = GracefulShutdown::new();
    let upkeep = [
        tokio::spawn(keep_up(Arc::clone(&api))),
        tokio::spawn(tend(Arc::clone(&api))),
        tokio::spawn(close_sessions(Arc::clone(&api))),
    ];
    let Listeners { api: main, otlp_http, otlp_grpc } = listeners.into();
    let port_of = |listener: &Option<TcpListener>| Some(listener.as_ref()?.local_addr().ok()?.port());
    let _ = api.otlp_ports.set(OtlpPorts { http: port_of(&otlp_http), grpc: port_of(&otlp_grpc) });
    let ports = [(Port::Api, Some(main)), (Port::OtlpHttp, otlp_http), (Port::OtlpGrpc, otlp_grpc)];
    let loops = ports.into_iter().filter_map(|(port, listener)| Some((port, listener?)));
    let open = Arc::new(AtomicUsize::new(0));
    let loops = loops.map(|(port, listener)| {
        Box::pin(listen(&api, &router, port, listener, &graceful, Arc::clone(&open)))
    });
    // The listeners are closed with their loops.
    let served = tokio::select! {
        () = end => Ok(()),
        (error, ..) = select_all(loops) => Err(error),
    };
    api.feed.close();
    if tokio::time::timeout(limits.shutdown_time_max, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections were still open and are cut");
    }
    upkeep.iter().for_each(tokio::task::JoinHandle::abort);
    api.note_used_keys().await;
    served
}

/// Takes the connections of one port. Ends only when none can ever be accepted. `open` counts those of all ports.
async fn listen(
    api: &Arc<Api>,
    router: &Router,
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
        let (api, router, watcher) = (Arc::clone(api), router.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _permit = permit;
            api.measures.connection(true);
            connect(&api, router, arrival, stream, watcher).await;
            api.measures.connection(false);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Answers the requests of one connection. How its first bytes begin tells HTTP/2 from HTTP/1.1, once, instead of with a
/// reader that is asked on every request.
async fn connect(api: &Arc<Api>, router: Router, arrival: Arrival, stream: TcpStream, watcher: Watcher) {
    let time_max = api.limits.head_time_max;
    let first = tokio::select! {
        biased;
        first = tokio::time::timeout(time_max, first_bytes(&stream)) => first,
        // Nothing was asked yet, and nothing will be answered.
        () = api.feed.end() => return,
    };
    let Ok(Ok(first)) = first else { return };
    let service = service_fn(|request: Request<Incoming>| {
        let answer = door::answer(Arc::clone(api), router.clone(), arrival, request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let wire = TokioIo::new(Wire::new(stream, Arc::clone(api)));
    // A connection that breaks is its client's affair.
    if &first == b"PRI" {
        let mut http = http2::Builder::new(TokioExecutor::new());
        http.timer(TokioTimer::new()).max_concurrent_streams(STREAMS_MAX).keep_alive_interval(time_max);
        http.max_header_list_size(HEADER_LIST_BYTES_TAKEN);
        let _ = watcher.watch(http.serve_connection(wire, service)).await;
    } else {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(time_max).max_header_size(HEAD_BYTES_MAX);
        // A client that has nothing more to say still reads.
        http.half_close(true);
        let _ = watcher.watch(http.serve_connection(wire, service)).await;
    }
}

/// The three bytes with which a connection begins. Where one or two are too few to tell, the others are given a second.
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

/// A connection, whose it is, and its place among those that may be open.
type Accepted = (TcpStream, SocketAddr, Option<tokio::sync::OwnedSemaphorePermit>);

/// The next connection, when there is room for it. Out of file descriptors, others have to close before it gets better; where none
/// is open, it never will.
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

/// Too many files are open: in this process, and in the system. The same on Linux and macOS.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// How often in a row a server without a connection may run out of file descriptors.
const HOPELESS_AFTER: u32 = 10;

/// Deletes what is to be forgotten: at the start what a process before has left, then whenever something is erased, and once in
/// a while what has grown too old.
async fn tend(api: Arc<Api>) {
    loop {
        api.tend().await;
        let _ = tokio::time::timeout(TEND_EVERY, api.erased.notified()).await;
    }
}

/// Closes the sessions that are over.
async fn close_sessions(api: Arc<Api>) {
    let mut ticks = tokio::time::interval(CLOSE_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        api.close_sessions().await;
    }
}

async fn keep_up(api: Arc<Api>) {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
    for count in 0_u64.. {
        ticks.tick().await;
        api.measures.upkeep();
        if count.is_multiple_of(NOTE_KEYS_EVERY) {
            api.note_used_keys().await;
        }
    }
}
