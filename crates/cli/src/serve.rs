//! `renown serve`: opens the store, creates the first keys, and runs the server.

mod demo;
pub(crate) mod login;
mod otlp;
pub(crate) mod settings;

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use renown_core::gates::Engine;
use renown_server::keys::KeyText;
use renown_server::{Api, Limits, Listeners, PageSettings, ServerSettings, serve};
use renown_store::{ApiKey, KeyKind, LockPurpose, OpenError, Retention, Store, system_clock};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::ServeArgs;
use crate::failure::{self, Failure};
use crate::printed;
use crate::store_location::{self, default_org};
use demo::Demo;
use login::LoginLink;
use otlp::Otlp;
use settings::ServeSettings;

/// Maximum number of connections in the accept queue. The system may allow fewer.
const WAITING_MAX: u32 = 4096;

/// What the lock file says about this process.
const PURPOSE: &str = "renown serve";

/// Runs the server until a signal stops it.
pub(crate) fn run(args: &ServeArgs, quiet: bool) -> Result<ExitCode, Failure> {
    // Dropped last, after everything that uses its files.
    let demo = if args.demo { Some(Demo::create()?) } else { None };
    let settings = match &demo {
        Some(demo) => ServeSettings::of_demo(args, demo.path())?,
        None => ServeSettings::read(args)?,
    };
    let engine = settings.engine()?;
    if args.print_config {
        let mut out = io::stdout().lock();
        return printed(out.write_all(settings.print(&engine).as_bytes()).and_then(|()| out.flush()));
    }
    log(quiet);
    allow_many_files();
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One core is left for the writer thread: every reply to a write waits for it.
        .worker_threads(workers)
        .thread_name("renown-http")
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("could not start: {error}")))?;
    runtime.block_on(start(settings, engine, demo.as_ref(), quiet))
}

async fn start(
    settings: ServeSettings,
    engine: Engine,
    demo: Option<&Demo>,
    quiet: bool,
) -> Result<ExitCode, Failure> {
    let mut end = Box::pin(ended()?);
    // Bind the port first: if that fails, the server must not create a data directory and keys that are never shown.
    let listen = settings.listen.value.0;
    let listener = bind(listen).map_err(|error| {
        let hint = if error.kind() == io::ErrorKind::AddrInUse {
            "a server may be running already; stop it, or choose another address with --listen"
        } else {
            "choose another address with --listen"
        };
        Failure::new(format!("could not listen on {listen}: {error}")).hint(hint)
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new(format!("{listen}: {error}")))?;
    let otlp = Otlp::bind(&settings)?;
    let url = format!("http://{address}");
    // Other processes that want the data directory see the URL of this server.
    let purpose = format!("{PURPOSE} on {url}");
    let purpose = LockPurpose::Server(&purpose);
    let store: Arc<dyn Store> = match demo {
        None => open(&settings, purpose)?,
        Some(demo) => tokio::select! {
            biased;
            () = &mut end => return Ok(ExitCode::SUCCESS),
            filled = demo.open(purpose) => filled?,
        },
    };
    let keys = first_keys(store.as_ref()).await?;
    let link = LoginLink::new(&settings.data.value.0, &url);
    let api = Api::new(store, api_settings(&settings, engine, demo.is_some(), &link), system_clock()).await;
    let api = api.map_err(|error| store_location::failure(&error))?;
    let token = api.new_login_token().map_err(|error| Failure::new(format!("no random bytes: {error}")))?;
    if !quiet || keys.is_some() {
        let pages = login::address(&url, &token);
        greet(&url, &settings, &otlp, demo.is_some(), keys.as_ref(), &pages);
    }
    let live = demo.map(|_| tokio::spawn(demo::live(Arc::clone(&api))));
    tracing::info!(%address, "serving");
    otlp.log(settings.otlp_auth.value.0);
    let listeners = Listeners { api: listener, otlp_http: otlp.http, otlp_grpc: otlp.grpc };
    let served = serve(api, listeners, end).await;
    live.inspect(tokio::task::JoinHandle::abort);
    tracing::info!("stopped");
    served.map(|()| ExitCode::SUCCESS).map_err(|error| {
        Failure::new(format!("cannot accept connections: {error}"))
            .hint("`ulimit -n` shows and raises the limit of open files")
    })
}

/// Opens the store of the settings.
fn open(settings: &ServeSettings, purpose: LockPurpose<'_>) -> Result<Arc<dyn Store>, Failure> {
    let (store, lost) = settings.location().serve(purpose, |error| {
        let failure = store_location::failure(error);
        if matches!(error, OpenError::InUse { .. }) {
            failure.hint("use that server, stop it, or choose another data directory with --data DIR")
        } else {
            failure
        }
    })?;
    if let Some(lost) = lost {
        failure::warn(&format!(
            "{lost}; the write-ahead log was truncated or deleted, or the database was replaced by an older copy; \
             `renown verify --repair` accepts the loss"
        ));
    }
    Ok(store)
}

/// Returns the settings of the API.
fn api_settings(settings: &ServeSettings, engine: Engine, demo: bool, link: &LoginLink) -> ServerSettings {
    ServerSettings {
        engine,
        requests_per_minute: settings.requests_per_minute.value.0,
        ingest_per_minute: settings.ingest_per_minute.value.0,
        limits: Limits::default(),
        retention: Retention {
            evaluations_days: settings.evaluations_days.value.limit(),
            runs_days: settings.runs_days.value.limit(),
            sessions_days: settings.sessions_days.value.limit(),
            ..Retention::default()
        },
        otlp_auth: settings.otlp_auth.value.0,
        prices: settings.prices().clone(),
        pages: PageSettings {
            demo,
            attention_below: settings.attention_below.value.0,
            on_token: link.keeper(),
        },
    }
}

/// Binds an address with a long accept queue: a client that finds the queue full waits a second before it retries.
fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As usual for servers: a restart must not wait for connections of the previous process.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

/// Creates a publishable and a secret key, if the default organization has never had a secret key.
async fn first_keys(store: &dyn Store) -> Result<Option<[KeyText; 2]>, Failure> {
    let default = default_org()?;
    let administers = |key: &ApiKey| key.key.org == default && key.key.kind == KeyKind::Secret;
    if store.keys().await.map_err(|error| store_location::failure(&error))?.iter().any(administers) {
        return Ok(None);
    }
    let make = async |kind, label: &str| {
        let no_randomness = |error| Failure::new(format!("no random bytes for a key: {error}"));
        let key = KeyText::generate(kind).map_err(no_randomness)?;
        let new = key
            .to_new(default.clone(), Some(label.to_owned()), store_location::now()?)
            .map_err(no_randomness)?;
        store.create_key(new, None).await.map_err(|error| store_location::failure(&error))?;
        Ok::<KeyText, Failure>(key)
    };
    // The secret key is created last: if the start is interrupted in between, the next start is still a first start.
    Ok(Some([make(KeyKind::Publishable, "first start").await?, make(KeyKind::Secret, "first start").await?]))
}

/// Prints the address of the server and, on the first start, how to use it.
fn greet(
    url: &str,
    settings: &ServeSettings,
    otlp: &Otlp,
    demo: bool,
    keys: Option<&[KeyText; 2]>,
    pages: &str,
) {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("renown {version} on {url}\ndata in {}\n", settings.data.value.0.display());
    if demo {
        text += "demo: all data is generated, and deleted when the server stops\n";
    }
    text += &otlp.greeting();
    let _ = writeln!(
        text,
        "pages: {pages}\n  this link logs you in once; `renown open` opens the pages with a new one"
    );
    if let Some([publishable, secret]) = keys {
        let (publishable, secret) = (publishable.reveal(), secret.reveal());
        let _ = write!(
            text,
            "\nkeys, shown only now (`renown keys create` creates more):\n  publishable  {publishable}\n  secret       {secret}\n\
             \ntry it:\n  curl -s {url}/v1/evaluate -H 'Authorization: Bearer {publishable}' -H 'Content-Type: application/json' \
             -d '{{\"agent_id\":\"my-agent\",\"output\":\"All 14 tests pass.\"}}'\n\
             \nreference: {url}/docs\n"
        );
    }
    let mut out = io::stdout().lock();
    let shown = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    // A closed standard output is fine, but then the keys are lost.
    if let (Err(error), true) = (shown, keys.is_some()) {
        tracing::warn!(%error, "could not print the first keys: create others with `renown keys create`");
    }
}

/// Returns a future that waits for Ctrl-C or SIGTERM.
fn ended() -> Result<impl Future<Output = ()>, Failure> {
    let listen =
        |kind| signal(kind).map_err(|error| Failure::new(format!("could not listen to signals: {error}")));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Logs to standard error: as text on a terminal, else as JSON. `RENOWN_LOG` sets the level.
fn log(quiet: bool) {
    let default = if quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    let level = std::env::var("RENOWN_LOG").ok().and_then(|level| level.parse().ok());
    // Only our own lines: lower levels of libraries log headers, which contain keys.
    let filter = Targets::new().with_target("renown", level.unwrap_or(default));
    // The message of a panic may contain a payload, so only its location is logged.
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "internal error (panic)");
    }));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    if io::stderr().is_terminal() {
        let color = std::env::var_os("NO_COLOR").is_none();
        tracing_subscriber::registry().with(filter).with(lines.with_ansi(color)).init();
    } else {
        tracing_subscriber::registry()
            .with(filter)
            .with(lines.json().flatten_event(true).with_span_list(false))
            .init();
    }
}

/// Raises the limit of open files to the maximum: every connection is an open file.
fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if setrlimit(Resource::Nofile, limit).is_err() {
        failure::warn("could not raise the limit of open files");
    }
}
