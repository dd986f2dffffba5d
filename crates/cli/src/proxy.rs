//! `renown proxy`: runs in front of an MCP server and gates its tools' results.
//!
//! The protocol is in `renown-proxy`. This module adds the command line, the settings, the clock, randomness and signals.

mod child;
mod pins;
mod settings;
mod shown;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use renown_proxy::{Conversation, Host, HttpProxy, ProcessEvent, ProxySession, Storage, load_pins};
use renown_shipping::{Http, ShippingSettings, Telemetry};
use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::ProxyArgs;
use crate::failure::{self, Failure};
use crate::judged::hide_from_others;
use crate::settings::Listen;
pub(crate) use child::exec;
pub(crate) use settings::ProxyTable;
use settings::{ProxySettings, Server};

/// Time for which verdicts are collected before they are sent.
const INTERVAL: Duration = Duration::from_secs(1);

/// Runs the proxy until its server ends.
pub(crate) fn run(args: &ProxyArgs, quiet: bool) -> Result<ExitCode, Failure> {
    hide_from_others();
    let settings = ProxySettings::read(args)?;
    let folder = settings.folder();
    let unusable = |error: &io::Error| Failure::new(format!("pinned tools in {}: {error}", folder.display()));
    let pins =
        load_pins(&folder, &settings.identity, &settings.policy.server).map_err(|error| unusable(&error))?;
    if args.accept_pins {
        return pins::accept(pins, &folder, &settings.identity);
    }
    create_private(&folder);
    let pins = Arc::new(Mutex::new(pins));
    let policy = Arc::new(settings.policy.clone());
    let build = settings.build()?;
    let storage = storage(&settings, quiet)?;
    match &settings.server {
        Server::Command(command) => {
            let session = ProxySession::new(policy, build, Arc::clone(&pins));
            let session = session.ok_or_else(|| Failure::new("could not build the gates"))?;
            let (sender, receiver) = channel();
            pass_signals(sender.clone())?;
            let open = |fd: &dyn Fn() -> io::Result<File>| {
                fd().map_err(|error| Failure::new(format!("standard streams: {error}")))
            };
            let client = open(&|| io::stdout().as_fd().try_clone_to_owned().map(File::from))?;
            let input = open(&|| io::stdin().as_fd().try_clone_to_owned().map(File::from))?;
            let conversation = Conversation::new(session, pins, storage, Machine::new(), client);
            Ok(conversation.run(child::command(command), input, (sender, receiver)).into())
        }
        Server::Upstream { url, listen } => {
            let proxy = HttpProxy::new(url, policy, build, pins, storage, Machine::new());
            let proxy = proxy.map_err(|error| Failure::new(format!("--upstream: {error}")))?;
            serve(proxy, *listen, quiet)
        }
    }
}

/// Creates the directory of the log, the pins and the spool, readable by its owner only. If that fails, their writers report it.
fn create_private(folder: &Path) {
    let mut builder = std::fs::DirBuilder::new();
    let _ = builder.recursive(true).mode(0o700).create(folder);
}

/// Serves the clients of an HTTP server until a signal arrives.
fn serve(proxy: HttpProxy<Machine>, listen: Listen, quiet: bool) -> Result<ExitCode, Failure> {
    if !listen.0.ip().is_loopback() {
        let hint = "the proxy does not authenticate clients: put a proxy that does in front of it";
        return Err(Failure::new(format!("--listen {listen}: not a loopback address")).hint(hint));
    }
    let refused = |error: io::Error| Failure::new(format!("--listen {listen}: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(refused)?.block_on(async {
        let listener = TcpListener::bind(listen.0).await.map_err(refused)?;
        let (mut interrupt, mut terminate) = (
            signal(SignalKind::interrupt()).map_err(refused)?,
            signal(SignalKind::terminate()).map_err(refused)?,
        );
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map_err(refused)?);
        if !quiet {
            let address = listener.local_addr().map_err(refused)?;
            failure::note(&format!("listening on http://{address}/"));
        }
        let end = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        proxy.serve(listener, end).await;
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns the storage: the log on disk, and the connection to the Renown server.
fn storage(settings: &ProxySettings, quiet: bool) -> Result<Storage, Failure> {
    let telemetry = settings.destination.as_ref().map(|destination| {
        let shipping = ShippingSettings {
            interval: INTERVAL,
            spool: Some(settings.folder().join("spool")),
            spool_first: true,
            ..ShippingSettings::default()
        };
        let warn = |notice: renown_shipping::Notice| failure::warn(&notice.to_string());
        Telemetry::start(Box::new(Http::new(destination)), &shipping, warn)
    });
    let telemetry =
        telemetry.transpose().map_err(|error| Failure::new(format!("could not start a thread: {error}")))?;
    let print = move |line: &str| {
        if !quiet || line.starts_with("error") {
            failure::note(line);
        }
    };
    Ok(Storage::new(
        settings.folder(),
        settings.identity.clone(),
        telemetry,
        settings.verbose,
        Box::new(print),
    ))
}

/// Passes signals on to the server, and keeps them from ending the proxy first.
fn pass_signals(sender: Sender<ProcessEvent>) -> Result<(), Failure> {
    let refused = |error: io::Error| Failure::new(format!("signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(refused)?;
    let listen = |kind| {
        let _inside = runtime.enter();
        signal(kind).map_err(refused)
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    // Ignore the signal for a file size limit, which would end the proxy: the failing write reports it too.
    drop(listen(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let signal = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hangup.recv() => Signal::HUP,
                };
                if sender.send(ProcessEvent::Signal(signal)).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

/// The clock and the randomness of this machine.
struct Machine {
    started: Instant,
}

impl Machine {
    fn new() -> Self {
        Self { started: Instant::now() }
    }
}

impl Host for Machine {
    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn ran(&self) -> Duration {
        renown_clock::thread_time().unwrap_or_else(|| self.elapsed())
    }

    fn wall_millis(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    fn random(&self) -> u64 {
        // Without randomness, ids of one millisecond may repeat: the clock's nanoseconds are better than nothing.
        getrandom::u64().unwrap_or_else(|_| u64::from(self.elapsed().subsec_nanos()))
    }
}
