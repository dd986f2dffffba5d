//! A server in a child process, on standard input and output.
//!
//! | what happens | what the proxy does |
//! |---|---|
//! | the client closes its end | closes the server's input, reads its output to the end, waits for its exit |
//! | the server has not exited 5 s later | sends SIGTERM, and SIGKILL another 5 s later |
//! | SIGINT, SIGTERM or SIGHUP arrives | passes it on, sends SIGKILL after 5 s |
//! | the server exits | reads its output to the end; exits with its exit code, or 128 + signal |
//! | the server cannot be started | exits with 127 |
//!
//! The server has its own process group, so signals reach it and its children exactly once, from the proxy. Two threads carry messages, one
//! per direction. A message is released after its records are written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::framing::{Frame, Frames};
use crate::pins::Pins;
use crate::session::{Effects, Forward, Host, ProxySession};
use crate::storage::Storage;

/// How long a server may take to exit.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);

/// How long the delivery of the last verdicts may take.
const LAST_DELIVERY: Duration = Duration::from_secs(2);

/// The exit code if the server cannot be started.
const CANNOT_START: u8 = 127;

/// Number of bytes per read.
const READ_BYTES: usize = 128 << 10;

/// Capacity of the pipes, if the system allows it. With a larger pipe, the writer of a long message does not have to wait for its reader.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 << 10;

/// An event that the main thread of a conversation handles.
#[derive(Debug)]
pub enum ProcessEvent {
    /// A signal arrived that must be passed on.
    Signal(rustix::process::Signal),
    /// The client closed its end, or does not read any more.
    ClientClosed,
    /// The output of the server was read to its end.
    Drained,
    /// The server exited.
    Exited(io::Result<ExitStatus>),
}

/// A conversation between a client and a server.
pub struct Conversation<H> {
    session: Mutex<ProxySession>,
    pins: Arc<Mutex<Pins>>,
    storage: Storage,
    host: H,
    client: Mutex<File>,
    server: Mutex<Option<Box<dyn Write + Send>>>,
}

impl<H: Host + Send + Sync + 'static> Conversation<H> {
    /// Creates a conversation.
    pub fn new(
        session: ProxySession,
        pins: Arc<Mutex<Pins>>,
        storage: Storage,
        host: H,
        client: File,
    ) -> Self {
        let session = Mutex::new(session);
        Self { session, pins, storage, host, client: Mutex::new(client), server: Mutex::new(None) }
    }

    /// Starts the server and carries messages until it has exited. Returns the exit code. The caller sends signals to `events`.
    pub fn run(
        self,
        mut command: Command,
        input: File,
        events: (Sender<ProcessEvent>, Receiver<ProcessEvent>),
    ) -> u8 {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                let program = command.get_program().display();
                self.storage.print(&format!("error: cannot start {program}: {error}"));
                return CANNOT_START;
            }
        };
        let (sender, receiver) = events;
        let (Some(to_server), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return CANNOT_START;
        };
        enlarge(&[input.as_fd(), self.client().as_fd(), to_server.as_fd(), output.as_fd()]);
        *self.server() = Some(Box::new(to_server));
        let group = rustix::process::Pid::from_child(&child);
        let conversation = Arc::new(self);
        conversation.clone().in_thread(&sender, move |conversation, sender| {
            conversation.pump(input, Direction::FromClient);
            *conversation.server() = None;
            let _ = sender.send(ProcessEvent::ClientClosed);
        });
        conversation.clone().in_thread(&sender, move |conversation, sender| {
            let read_to_end = conversation.pump(output, Direction::FromServer);
            conversation.give_up();
            if !read_to_end {
                let _ = sender.send(ProcessEvent::ClientClosed);
            }
            let _ = sender.send(ProcessEvent::Drained);
        });
        wait_in_thread(child, sender);
        let status = supervise(&receiver, group, &conversation);
        for record in conversation.session().lost(&conversation.host) {
            conversation.storage.record(&record);
        }
        conversation.storage.close(LAST_DELIVERY);
        status.map_or(CANNOT_START, exit_code)
    }

    fn in_thread(
        self: Arc<Self>,
        sender: &Sender<ProcessEvent>,
        run: impl FnOnce(&Self, &Sender<ProcessEvent>) + Send + 'static,
    ) {
        let sender = sender.clone();
        thread::spawn(move || run(&self, &sender));
    }

    /// Carries messages until the stream ends. Returns `false` if a message could not be delivered.
    fn pump(&self, mut from: impl Read, direction: Direction) -> bool {
        let mut frames = Frames::default();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let length = match from.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut delivered = Ok(());
            let each = |frame: Frame<'_>| {
                if delivered.is_ok() {
                    delivered = self.carry(&frame, direction);
                }
            };
            if length == 0 {
                frames.finish(each);
                return delivered.is_ok();
            }
            frames.push(buffer.get(..length).unwrap_or_default(), each);
            if delivered.is_err() {
                return false;
            }
        }
    }

    /// At the end of the server's output: if messages were dropped, answers the requests that still wait.
    fn give_up(&self) {
        let effects = self.session().give_up(None, &self.host);
        self.storage.effects(&effects, &self.pins);
        for message in effects.to_client {
            // An error means that the client has disconnected.
            let _ = self.to_client(&with_newline(message));
        }
    }

    /// Handles a message and carries out its effects.
    fn carry(&self, frame: &Frame<'_>, direction: Direction) -> io::Result<()> {
        let mut session = self.session();
        let effects = match (direction, frame) {
            (Direction::FromClient, Frame::Message(bytes)) => session.from_client(bytes, &self.host),
            (Direction::FromServer, Frame::Message(bytes)) => session.from_server(bytes, &self.host),
            (Direction::FromClient, Frame::TooLarge(message)) => session.oversized_from_client(message),
            (Direction::FromServer, Frame::TooLarge(message)) => {
                session.oversized_from_server(message, &self.host)
            }
        };
        drop(session);
        self.storage.effects(&effects, &self.pins);
        let Effects { forward, to_client, to_server, .. } = effects;
        for message in to_client {
            self.to_client(&with_newline(message))?;
        }
        for message in to_server {
            self.to_server(&with_newline(message))?;
        }
        let bytes = match (&forward, frame) {
            (Forward::AsIs, Frame::Message(bytes)) => bytes,
            (Forward::Changed(bytes), _) => bytes.as_slice(),
            (Forward::AsIs, Frame::TooLarge(_)) | (Forward::Nothing, _) => return Ok(()),
        };
        match direction {
            Direction::FromClient => self.to_server(bytes),
            Direction::FromServer if bytes.ends_with(b"\n") => self.to_client(bytes),
            // An unfinished last line of the server gets a newline, so that it does not merge with what follows.
            Direction::FromServer => self.to_client(&with_newline(bytes.to_vec())),
        }
    }

    fn to_client(&self, bytes: &[u8]) -> io::Result<()> {
        self.client().write_all(bytes)
    }

    fn to_server(&self, bytes: &[u8]) -> io::Result<()> {
        self.server().as_mut().map_or(Ok(()), |server| server.write_all(bytes))
    }

    fn session(&self) -> MutexGuard<'_, ProxySession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> MutexGuard<'_, File> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self) -> MutexGuard<'_, Option<Box<dyn Write + Send>>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    FromClient,
    FromServer,
}

/// Enlarges pipes, if the system can. Files that are not pipes stay as they are.
fn enlarge(pipes: &[BorrowedFd<'_>]) {
    for pipe in pipes {
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
        #[cfg(not(target_os = "linux"))]
        let _ = pipe;
    }
}

fn with_newline(mut message: Vec<u8>) -> Vec<u8> {
    message.push(b'\n');
    message
}

/// Waits in a thread for the exit of the server.
fn wait_in_thread(mut child: Child, sender: Sender<ProcessEvent>) {
    thread::spawn(move || {
        let _ = sender.send(ProcessEvent::Exited(child.wait()));
    });
}

/// Waits until the server has exited and its output was read. Sends signals if it does not exit in time.
fn supervise<H>(
    events: &Receiver<ProcessEvent>,
    group: rustix::process::Pid,
    conversation: &Conversation<H>,
) -> Option<ExitStatus> {
    use rustix::process::{Signal, kill_process_group};

    let signal = |signal| {
        // An error means that the group has exited already.
        let _ = kill_process_group(group, signal);
    };
    let (mut status, mut drained) = (None, false);
    // The next signal for a server that does not exit, and its time.
    let mut next: Option<(Instant, Signal)> = None;
    loop {
        let wait = next.map_or(Duration::MAX, |(at, _)| at.saturating_duration_since(Instant::now()));
        match events.recv_timeout(wait.min(Duration::from_hours(24))) {
            Ok(ProcessEvent::Signal(passed)) => {
                signal(passed);
                next = Some((Instant::now() + EXIT_TIME_MAX, Signal::KILL));
            }
            Ok(ProcessEvent::ClientClosed) => {
                // A thread that is writing to the server closes the pipe later. This thread must not wait for it, because it passes on signals.
                if let Ok(mut server) = conversation.server.try_lock() {
                    *server = None;
                }
                next = next.or(Some((Instant::now() + EXIT_TIME_MAX, Signal::TERM)));
            }
            Ok(ProcessEvent::Drained) => drained = true,
            Ok(ProcessEvent::Exited(found)) => {
                status = Some(found.ok());
                // Children of the server may still keep its output open for a while.
                next = Some((Instant::now() + EXIT_TIME_MAX, Signal::KILL));
            }
            Err(RecvTimeoutError::Timeout) => {
                let Some((_, due)) = next.filter(|(at, _)| *at <= Instant::now()) else { continue };
                signal(due);
                next = Some((Instant::now() + EXIT_TIME_MAX, Signal::KILL));
                drained |= status.is_some();
            }
            Err(RecvTimeoutError::Disconnected) => return status.flatten(),
        }
        if drained && let Some(status) = status {
            // Ends the children of the server.
            signal(Signal::TERM);
            return status;
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
