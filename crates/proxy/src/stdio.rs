//! A server on standard input and output, with a process of its own.
//!
//! | what happens | what follows |
//! |---|---|
//! | the client closes its end | the server's input is closed, its output drained, its exit awaited |
//! | the server has not exited 5 s after that | SIGTERM, and 5 s later SIGKILL |
//! | SIGINT, SIGTERM, SIGHUP | they are passed on, SIGKILL after 5 s |
//! | the server exits | its output is drained; its exit code is ours, 128 + signal if one ended it |
//! | the server cannot be started | 127 |
//!
//! The server has a process group of its own, so that signals reach it once, from us, and whatever it has started too. Two
//! threads carry messages, one a direction; a message is released when everything that it has to leave behind is written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::framing::{Frame, Frames};
use crate::keep::Keep;
use crate::pins::Pins;
use crate::session::{Effects, Forward, Host, Session};

/// How long a server may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long delivering the last verdicts may hold up the end.
const LAST_DELIVERY: Duration = Duration::from_secs(2);

/// The exit code where the server cannot be started.
const CANNOT_START: u8 = 127;

/// How much is read at once.
const READ_BYTES: usize = 128 << 10;

/// How much a pipe holds, where the system allows it: whoever writes a long message need not wait for its reader.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 << 10;

/// What happens to a conversation.
#[derive(Debug)]
pub enum Happening {
    /// A signal came in, which is to be passed on.
    Signal(rustix::process::Signal),
    /// The client closed its end, or is gone.
    ClientClosed,
    /// The server's output is at its end.
    Drained,
    /// The server is gone.
    Exited(io::Result<ExitStatus>),
}

/// A conversation between a client and a server.
pub struct Conversation<H> {
    session: Mutex<Session>,
    pins: Arc<Mutex<Pins>>,
    keep: Keep,
    host: H,
    client: Mutex<File>,
    server: Mutex<Option<Box<dyn Write + Send>>>,
}

impl<H: Host + Send + Sync + 'static> Conversation<H> {
    /// A conversation that is about to begin.
    pub fn new(session: Session, pins: Arc<Mutex<Pins>>, keep: Keep, host: H, client: File) -> Self {
        let session = Mutex::new(session);
        Self { session, pins, keep, host, client: Mutex::new(client), server: Mutex::new(None) }
    }

    /// Starts the server and carries messages until it is gone. Gives the exit code. Signals are sent to `happenings` by the
    /// caller.
    pub fn run(
        self,
        mut command: Command,
        input: File,
        happenings: (Sender<Happening>, Receiver<Happening>),
    ) -> u8 {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                self.keep.tell(&format!("error: cannot start {}: {error}", command.get_program().display()));
                return CANNOT_START;
            }
        };
        let (sender, receiver) = happenings;
        let (Some(to_server), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return CANNOT_START;
        };
        widen(&[input.as_fd(), self.client().as_fd(), to_server.as_fd(), output.as_fd()]);
        *self.server() = Some(Box::new(to_server));
        let group = rustix::process::Pid::from_child(&child);
        let talk = Arc::new(self);
        talk.clone().in_thread(&sender, move |talk, sender| {
            talk.pump(input, Direction::FromClient);
            *talk.server() = None;
            let _ = sender.send(Happening::ClientClosed);
        });
        talk.clone().in_thread(&sender, move |talk, sender| {
            let read_to_end = talk.pump(output, Direction::FromServer);
            talk.give_up();
            if !read_to_end {
                let _ = sender.send(Happening::ClientClosed);
            }
            let _ = sender.send(Happening::Drained);
        });
        in_thread_wait(child, sender);
        let status = attend(&receiver, group, &talk);
        for record in talk.session().lost(&talk.host) {
            talk.keep.record(&record);
        }
        talk.keep.close(LAST_DELIVERY);
        status.map_or(CANNOT_START, exit_code)
    }

    fn in_thread(
        self: Arc<Self>,
        sender: &Sender<Happening>,
        run: impl FnOnce(&Self, &Sender<Happening>) + Send + 'static,
    ) {
        let sender = sender.clone();
        thread::spawn(move || run(&self, &sender));
    }

    /// Carries messages until the stream ends. False if they cannot be delivered any more.
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

    /// Answers what the server can no longer answer, if some of what it said was dropped.
    fn give_up(&self) {
        let effects = self.session().give_up(None, &self.host);
        self.keep.effects(&effects, &self.pins);
        for message in effects.to_client {
            // A client that is gone does not wait.
            let _ = self.to_client(&with_newline(message));
        }
    }

    /// Looks at a message and carries out what follows.
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
        self.keep.effects(&effects, &self.pins);
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
            // The last line of the server has no end: whatever follows it must be another line.
            Direction::FromServer => self.to_client(&with_newline(bytes.to_vec())),
        }
    }

    fn to_client(&self, bytes: &[u8]) -> io::Result<()> {
        self.client().write_all(bytes)
    }

    fn to_server(&self, bytes: &[u8]) -> io::Result<()> {
        self.server().as_mut().map_or(Ok(()), |server| server.write_all(bytes))
    }

    fn session(&self) -> MutexGuard<'_, Session> {
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

/// Lets pipes hold more. What is no pipe stays as it is, and so does everything where there is no such call.
fn widen(pipes: &[BorrowedFd<'_>]) {
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

fn in_thread_wait(mut child: Child, sender: Sender<Happening>) {
    thread::spawn(move || {
        let _ = sender.send(Happening::Exited(child.wait()));
    });
}

/// Waits until the server is gone and its output drained, and sees to it that this happens.
fn attend<H>(
    happenings: &Receiver<Happening>,
    group: rustix::process::Pid,
    talk: &Conversation<H>,
) -> Option<ExitStatus> {
    use rustix::process::{Signal, kill_process_group};

    let signal = |signal| {
        // One that is gone already needs none.
        let _ = kill_process_group(group, signal);
    };
    let (mut status, mut drained) = (None, false);
    // When something is done about a server that does not end, and what.
    let mut next: Option<(Instant, Signal)> = None;
    loop {
        let wait = next.map_or(Duration::MAX, |(at, _)| at.saturating_duration_since(Instant::now()));
        match happenings.recv_timeout(wait.min(Duration::from_hours(24))) {
            Ok(Happening::Signal(passed)) => {
                signal(passed);
                next = Some((Instant::now() + PATIENCE, Signal::KILL));
            }
            Ok(Happening::ClientClosed) => {
                // Whoever is writing to it, perhaps in vain, closes it later. It must not be waited for: signals are passed on here.
                if let Ok(mut server) = talk.server.try_lock() {
                    *server = None;
                }
                next = next.or(Some((Instant::now() + PATIENCE, Signal::TERM)));
            }
            Ok(Happening::Drained) => drained = true,
            Ok(Happening::Exited(found)) => {
                status = Some(found.ok());
                // Whatever it started may still hold its output open, for a while.
                next = Some((Instant::now() + PATIENCE, Signal::KILL));
            }
            Err(RecvTimeoutError::Timeout) => {
                let Some((_, due)) = next.filter(|(at, _)| *at <= Instant::now()) else { continue };
                signal(due);
                next = Some((Instant::now() + PATIENCE, Signal::KILL));
                drained |= status.is_some();
            }
            Err(RecvTimeoutError::Disconnected) => return status.flatten(),
        }
        if drained && let Some(status) = status {
            // Nothing that it started outlives us.
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
