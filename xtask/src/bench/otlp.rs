//! `cargo xtask bench otlp`: how many log records per second `renown serve` stores, by transport, and the memory for
//! ten million of them.
//!
//! Every record is different and has the shape that Claude Code sends. A body has 512 records, as SDKs batch them;
//! there are eight connections. All bodies are made before the clock starts, so that making them uses no processor time
//! of the measurement. The peer is a plain SQLite table in this process: one row per record and one transaction per
//! body, with the same durability, but without network and parsing.

mod bodies;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rusqlite::Connection;
use tokio::net::TcpStream;

use crate::process::{Says, Server, resident_mb};
use crate::renown::{empty, free_address};
use crate::shell::{cargo, program, run, target_dir};
use bodies::{Bodies, Encoding};

const CONNECTIONS: usize = 8;
const BODIES: usize = 400;
const RECORDS_A_BODY: usize = 512;
const TARGET_A_SECOND: f64 = 50_000.0;
const MEMORY_RECORDS: usize = 10_000_000;
const REPORT_EVERY: usize = 1_000_000;

/// A transport.
#[derive(Clone, Copy)]
struct Transport {
    name: &'static str,
    encoding: Encoding,
    grpc: bool,
    gzip: bool,
}

const TRANSPORTS: [Transport; 5] = [
    Transport { name: "HTTP, protobuf", encoding: Encoding::Protobuf, grpc: false, gzip: false },
    Transport { name: "HTTP, protobuf, gzip", encoding: Encoding::Protobuf, grpc: false, gzip: true },
    Transport { name: "HTTP, JSON", encoding: Encoding::Json, grpc: false, gzip: false },
    Transport { name: "gRPC", encoding: Encoding::Protobuf, grpc: true, gzip: false },
    Transport { name: "gRPC, gzip", encoding: Encoding::Protobuf, grpc: true, gzip: true },
];

/// A server that accepts telemetry.
struct Receiver {
    server: Server,
    http: SocketAddr,
    grpc: SocketAddr,
}

/// Builds the program, then prints the rate of every transport and the memory while records arrive.
pub(crate) fn otlp() -> Result<()> {
    run(cargo().args(["build", "--release", "--locked", "--package", "renown"]))?;
    let folder = target_dir()?.join("xtask/bench-otlp");
    empty(&folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let peer = peer(&folder)?;
    println!("{:<22} {:>9.0} records/s", "SQLite, a row each", peer);
    for transport in TRANSPORTS {
        let receiver = start(&folder.join("rate"))?;
        let (rate, mb) = runtime.block_on(rate(&receiver, transport))?;
        let verdict = if rate >= TARGET_A_SECOND { "met" } else { "MISSED" };
        println!(
            "{:<22} {rate:>9.0} records/s ({verdict}, {:.2} times the table), {mb:.0} MB",
            transport.name,
            rate / peer
        );
    }
    runtime.block_on(memory(&start(&folder.join("memory"))?, &folder.join("memory")))?;
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn start(data: &Path) -> Result<Receiver> {
    empty(data)?;
    let (main, http, grpc) = (free_address()?, free_address()?, free_address()?);
    let mut command = program(target_dir()?.join("release/renown"));
    command.arg("serve").arg("--data").arg(data).args(["--listen", &main.to_string()]);
    command.args(["--otlp-http", &http.to_string(), "--otlp-grpc", &grpc.to_string()]);
    let server = Server::start_ready(&mut command, Says::Stderr("gRPC"), "TERM")?;
    Ok(Receiver { server, http, grpc })
}

/// Returns how many records per second a plain table stores.
fn peer(folder: &Path) -> Result<f64> {
    let database = Connection::open(folder.join("peer.db"))?;
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "full")?;
    database
        .execute_batch("CREATE TABLE records (session TEXT, sequence INTEGER, at INTEGER, record TEXT)")?;
    let started = Instant::now();
    let (bodies, record) = (BODIES / 4, "x".repeat(300));
    for body in 0..bodies {
        let transaction = database.unchecked_transaction()?;
        let mut insert = transaction.prepare_cached("INSERT INTO records VALUES (?1, ?2, ?3, ?4)")?;
        for number in 0..RECORDS_A_BODY {
            insert.execute((format!("session-{}", number / 64), number, body, &record))?;
        }
        drop(insert);
        transaction.commit()?;
    }
    Ok(records(bodies) / started.elapsed().as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn records(bodies: usize) -> f64 {
    (bodies * RECORDS_A_BODY) as f64
}

/// Sends all bodies of a transport. Returns the records per second, and the memory of the server afterwards.
async fn rate(receiver: &Receiver, transport: Transport) -> Result<(f64, f64)> {
    let mut bodies = Bodies::new(transport.encoding, RECORDS_A_BODY);
    let made =
        (0..BODIES).map(|_| bodies.next(transport.grpc, transport.gzip)).collect::<Result<Vec<_>>>()?;
    let started = Instant::now();
    send(receiver, transport, made).await?;
    let rate = records(BODIES) / started.elapsed().as_secs_f64();
    Ok((rate, resident_mb(receiver.server.pid())?))
}

/// Sends bodies over all connections. Each connection waits for the reply before it sends the next body.
async fn send(receiver: &Receiver, transport: Transport, bodies: Vec<Bytes>) -> Result<()> {
    let share = bodies.len().div_ceil(CONNECTIONS);
    let connections = bodies.chunks(share).map(|bodies| connection(receiver, transport, bodies.to_vec()));
    for done in futures_util::future::join_all(connections).await {
        done?;
    }
    Ok(())
}

async fn connection(receiver: &Receiver, transport: Transport, bodies: Vec<Bytes>) -> Result<()> {
    let address = if transport.grpc { receiver.grpc } else { receiver.http };
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    if transport.grpc {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        for body in bodies {
            answered(sender.send_request(request(address, transport, body)?).await?, true).await?;
        }
    } else {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        for body in bodies {
            answered(sender.send_request(request(address, transport, body)?).await?, false).await?;
        }
    }
    Ok(())
}

fn request(address: SocketAddr, transport: Transport, body: Bytes) -> Result<Request<Full<Bytes>>> {
    let path = if transport.grpc {
        format!("http://{address}/opentelemetry.proto.collector.logs.v1.LogsService/Export")
    } else {
        "/v1/logs".to_owned()
    };
    let content_type = match (transport.grpc, transport.encoding) {
        (true, _) => "application/grpc",
        (false, Encoding::Protobuf) => "application/x-protobuf",
        (false, Encoding::Json) => "application/json",
    };
    let mut request = Request::post(path).header(CONTENT_TYPE, content_type);
    if !transport.grpc {
        request = request.header(HOST, address.to_string());
    }
    if transport.gzip {
        let name = if transport.grpc { HeaderName::from_static("grpc-encoding") } else { CONTENT_ENCODING };
        request = request.header(name, "gzip");
    }
    Ok(request.body(Full::new(body))?)
}

/// Returns whether all records of a request were accepted.
async fn answered(response: Response<hyper::body::Incoming>, is_grpc: bool) -> Result<()> {
    ensure!(response.status() == 200, "the server answers {}", response.status());
    let body = response.into_body().collect().await?;
    if is_grpc {
        let status = body.trailers().and_then(|trailers| trailers.get("grpc-status"));
        ensure!(status.context("no status")? == "0", "the server answers {status:?}");
    }
    Ok(())
}

/// Sends ten million records and prints the memory of the server while they arrive.
async fn memory(receiver: &Receiver, data: &Path) -> Result<()> {
    let [transport, ..] = TRANSPORTS;
    let mut bodies = Bodies::new(transport.encoding, RECORDS_A_BODY);
    let at_once = 2 * CONNECTIONS;
    let (mut sent, mut reported) = (0, 0);
    let started = Instant::now();
    while reported < MEMORY_RECORDS {
        let made = (0..at_once).map(|_| bodies.next(false, false)).collect::<Result<Vec<_>>>()?;
        send(receiver, transport, made).await?;
        sent += at_once * RECORDS_A_BODY;
        if sent - reported >= REPORT_EVERY {
            reported = sent;
            let mb = resident_mb(receiver.server.pid())?;
            println!("{sent:>10} records: {mb:.0} MB, after {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    let bytes = fs::metadata(data.join("renown.db"))?.len();
    println!("{:>10} bytes of disk a record", bytes / u64::try_from(sent)?);
    Ok(())
}
