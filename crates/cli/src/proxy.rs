//! `renown proxy`: stands before an MCP server and gates what its tools give back.
//!
//! The conversation is in `renown-proxy`; this brings the command line, the settings, the clock, chance and signals.

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

use renown_proxy::{Conversation, Happening, Host, HttpProxy, Keep, Session, load_pins};
use renown_shipping::{Http, Settings, Telemetry};
use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::ProxyArgs;
use crate::failure::{self, Failure};
use crate::judged::close_to_others;
use crate::settings::Listen;
pub(crate) use child::exec;
pub(crate) use settings::ProxyTable;
use settings::{ProxySettings, Server};

/// How long verdicts are collected before they are sent.
const INTERVAL: Duration = Duration::from_secs(1);

/// Runs the proxy until its server is gone.
pub(crate) fn run(args: &ProxyArgs, quiet: bool) -> Result<ExitCode, Failure> {
    close_to_others();
    let settings = ProxySettings::read(args)?;
    let folder = settings.folder();
    let unusable = |error: &io::Error| Failure::new(format!("pinned tools in {}: {error}", folder.display()));
    let pins =
        load_pins(&folder, &settings.identity, &settings.policy.server).map_err(|error| unusable(&error))?;
    if args.accept_pins {
        return pins::accept(pins, &folder, &settings.identity);
    }
    keep_to_owner(&folder);
    let pins = Arc::new(Mutex::new(pins));
    let policy = Arc::new(settings.policy.clone());
    let build = settings.build()?;
    let keep = keep(&settings, quiet)?;
    match &settings.server {
        Server::Command(command) => {
            let session = Session::new(policy, build, Arc::clone(&pins));
            let session = session.ok_or_else(|| Failure::new("the gates cannot be built"))?;
            let (sender, receiver) = channel();
            pass_signals(sender.clone())?;
            let open = |fd: &dyn Fn() -> io::Result<File>| {
                fd().map_err(|error| Failure::new(format!("standard streams: {error}")))
            };
            let client = open(&|| io::stdout().as_fd().try_clone_to_owned().map(File::from))?;
            let input = open(&|| io::stdin().as_fd().try_clone_to_owned().map(File::from))?;
            let conversation = Conversation::new(session, pins, keep, Machine::new(), client);
            Ok(conversation.run(child::command(command), input, (sender, receiver)).into())
        }
        Server::Upstream { url, listen } => {
            let proxy = HttpProxy::new(url, policy, build, pins, keep, Machine::new());
            let proxy = proxy.map_err(|error| Failure::new(format!("--upstream: {error}")))?;
            serve(proxy, *listen, quiet)
        }
    }
}

/// Makes the folder of everything that is kept, for its owner only. Whoever writes there tells it if that cannot be.
fn keep_to_owner(folder: &Path) {
    let mut builder = std::fs::DirBuilder::new();
    let _ = builder.recursive(true).mode(0o700).create(folder);
}

/// Serves clients of an HTTP server until a signal ends it.
fn serve(proxy: HttpProxy<Machine>, listen: Listen, quiet: bool) -> Result<ExitCode, Failure> {
    if !listen.0.ip().is_loopback() {
        let hint =
            "whoever reaches it speaks as its clients do: put something that asks who they are before it";
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

/// What is kept on disk and sent to the server of Renown.
fn keep(settings: &ProxySettings, quiet: bool) -> Result<Keep, Failure> {
    let telemetry = settings.destination.as_ref().map(|destination| {
        let shipping = Settings {
            interval: INTERVAL,
            spool: Some(settings.folder().join("spool")),
            spool_first: true,
            ..Settings::default()
        };
        let tell = |notice: renown_shipping::Notice| failure::warn(&notice.to_string());
        Telemetry::start(Box::new(Http::new(destination)), &shipping, tell)
    });
    let telemetry = telemetry.transpose().map_err(|error| Failure::new(format!("no thread: {error}")))?;
    let tell = move |line: &str| {
        if !quiet || line.starts_with("error") {
            failure::note(line);
        }
    };
    Ok(Keep::new(settings.folder(), settings.identity.clone(), telemetry, settings.verbose, Box::new(tell)))
}

/// Tells of signals that are for the server, and keeps them from ending us before it.
fn pass_signals(sender: Sender<Happening>) -> Result<(), Failure> {
    let refused = |error: io::Error| Failure::new(format!("signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(refused)?;
    let listen = |kind| {
        let _inside = runtime.enter();
        signal(kind).map_err(refused)
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    // A file that has reached a limit is told by the write that fails too; the signal would end us.
    drop(listen(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let signal = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hangup.recv() => Signal::HUP,
                };
                if sender.send(Happening::Signal(signal)).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

/// The clock and the chance of this machine.
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
        // Without chance, ids of one millisecond may repeat: the clock's nanoseconds are better than nothing.
        getrandom::u64().unwrap_or_else(|_| u64::from(self.elapsed().subsec_nanos()))
    }
}
