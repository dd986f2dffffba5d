//! Starts a server in this process, with a store that can be blocked and limits that a test chooses.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use renown_core::gates::{Choice, Engine, Place};
use renown_server::keys::KeyText;
use renown_server::{Api, Limits, Listeners, OtlpAuth, ServerSettings, serve};
use renown_store::sqlite::system_clock;
use renown_store::{Clock, Control, DEFAULT_ORG, KeyKind, Retention, Store};
use renown_telemetry::prices::Prices;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::blocking_store::BlockingStore;

/// A server in this process.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) otlp_http: SocketAddr,
    pub(crate) otlp_grpc: SocketAddr,
    pub(crate) store: Arc<BlockingStore>,
    pub(crate) secret: String,
    /// Requests the shutdown of the server.
    pub(crate) end: Arc<Notify>,
    /// Completes when the server has stopped.
    pub(crate) served: JoinHandle<()>,
}

/// The settings that a test chooses.
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    /// The clock of the store.
    pub(crate) store_clock: Clock,
    pub(crate) otlp_auth: OtlpAuth,
    pub(crate) prices: Prices,
    pub(crate) ingest_per_minute: u64,
    /// The address of the OTLP listeners.
    pub(crate) otlp_ip: Ipv4Addr,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            clock: system_clock(),
            store_clock: system_clock(),
            otlp_auth: OtlpAuth::default(),
            prices: Prices::default(),
            ingest_per_minute: 0,
            otlp_ip: Ipv4Addr::LOCALHOST,
        }
    }
}

/// A short limit, which a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);
/// Longer than any step of a test. A test that waits this long has failed.
pub(crate) const LONG: Duration = Duration::from_mins(1);

pub(crate) async fn start(limits: Limits, clock: Clock) -> Running {
    start_with(Setup { limits, clock, ..Setup::default() }).await
}

pub(crate) async fn start_with(setup: Setup) -> Running {
    let store = Arc::new(BlockingStore::new(setup.store_clock));
    let secret = KeyText::generate(KeyKind::Secret).unwrap();
    let new = secret.to_new(DEFAULT_ORG.parse().unwrap(), None, (system_clock())().unwrap()).unwrap();
    store.create_key(new, None).await.unwrap();
    let mut no_schemas = |_: &str| Err(String::new());
    let engine = Engine::new(
        &renown_core::gates::GateSettings::default(),
        &Choice::of(Place::Evaluate),
        &mut no_schemas,
    );
    let settings = ServerSettings {
        engine: engine.unwrap(),
        requests_per_minute: 0,
        ingest_per_minute: setup.ingest_per_minute,
        limits: setup.limits,
        retention: Retention::default(),
        otlp_auth: setup.otlp_auth,
        prices: setup.prices,
        pages: renown_server::PageSettings::default(),
    };
    let api = Api::new(Arc::clone(&store) as Arc<dyn Store>, settings, setup.clock).await.unwrap();
    let bind = async |ip: Ipv4Addr| {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.local_addr().unwrap().port()));
        (listener, address)
    };
    let (main, address) = bind(Ipv4Addr::LOCALHOST).await;
    let ((http, otlp_http), (grpc, otlp_grpc)) = (bind(setup.otlp_ip).await, bind(setup.otlp_ip).await);
    let listeners = Listeners { api: main, otlp_http: Some(http), otlp_grpc: Some(grpc) };
    let end = Arc::new(Notify::new());
    let asked = Arc::clone(&end);
    let served = tokio::spawn(async move {
        serve(api, listeners, async move { asked.notified().await }).await.unwrap();
    });
    Running { address, otlp_http, otlp_grpc, store, secret: secret.reveal().to_owned(), end, served }
}

impl Running {
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.secret,
            body.len()
        )
    }

    /// Sends bytes. Returns status and body of the reply.
    pub(crate) async fn send(&self, bytes: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        answer(&mut stream).await
    }

    /// Reads the whole reply to a GET as text.
    pub(crate) async fn text(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(self.request("GET", path, "Connection: close\r\n", "").as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        self.send(&self.request(method, path, &format!("Connection: close\r\n{headers}"), body)).await
    }
}

/// Reads until the server closes the connection. Returns status 0 without a reply.
pub(crate) async fn answer(stream: &mut TcpStream) -> (u16, Value) {
    let mut bytes = Vec::new();
    // A connection that is closed with unread bytes is reset. That is also an end.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let status = text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}
