//! What the store does when its disk, its file, its process or its caller fails.

mod crash;
mod damage;
mod disk;
mod flips;
mod queue;
mod restart;
mod vanished;

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use renown_store::sqlite::Sqlite;
use renown_store::{EvaluationOutcome, Reply, RequestKey, Store};

use crate::support::{Scratch, default_org, evaluation};

/// The environment variable with the directory of a test that runs again in another process.
const DIR: &str = "RENOWN_STORE_TEST_DIR";

/// Returns the directory that this process got from [`again`], if it is such a process.
fn given() -> Option<PathBuf> {
    std::env::var_os(DIR).map(PathBuf::from)
}

/// Makes a command that runs one test of this program again, on a directory.
fn again(mut command: Command, test: &str, dir: &std::path::Path) -> Command {
    command.env(DIR, dir).args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// Mounts a disk of this size. In the process with the disk, returns its directory. Otherwise runs the test again
/// in such a process, whose mounts end with it.
fn on_small_disk(test: &str, size: usize) -> Option<PathBuf> {
    if let Some(dir) = given() {
        return Some(dir);
    }
    let scratch = Scratch::new();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg(format!("mount -t tmpfs -o size={size} renown \"${DIR}\" && exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap());
    let done = again(command, test, scratch.path()).output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr)
    );
    None
}

/// Sends a write that blocks the writer until the returned sender is dropped. The writer has begun it when this
/// returns.
fn block_writer<'a>(store: &'a Sqlite, id: &str) -> (Sender<()>, Reply<'a, Vec<EvaluationOutcome>>) {
    let (begun, has_begun) = channel();
    let (release, released): (Sender<()>, Receiver<()>) = channel();
    let reply = Box::new(move |_: &[EvaluationOutcome]| {
        begun.send(()).unwrap();
        let _ = released.recv();
        (200, Vec::new())
    });
    let request_key =
        RequestKey { org: default_org(), key: "blocked".to_owned(), fingerprint: [0; 32], reply };
    let reply = store.append(&default_org(), vec![evaluation("blocked", id)], Some(request_key));
    has_begun.recv().unwrap();
    (release, reply)
}
