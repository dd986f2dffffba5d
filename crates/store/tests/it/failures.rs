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
use std::sync::mpsc::Sender;

use renown_store::sqlite::Sqlite;
use renown_store::{Accepted, EvaluationOutcome, Evidence, WriteReply};

use crate::support::{Scratch, TestClock, default_org, evaluation};

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

/// Sends a write, and blocks the writer at its beginning until the returned sender is dropped.
fn block_writer<'a>(
    store: &'a Sqlite,
    clock: &TestClock,
    id: &str,
) -> (Sender<()>, WriteReply<'a, Accepted<Vec<EvaluationOutcome>>>) {
    let (release, has_begun) = clock.hold_next();
    let reply = store.append(&default_org(), vec![evaluation("blocked", id)], None);
    has_begun.recv().unwrap();
    (release, reply)
}
