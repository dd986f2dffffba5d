//! What the store does when its disk, its file, its process or its caller fails it.

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
use renown_store::{Outcome, Reply, RequestKey, Store};

use crate::support::{Scratch, default_org, evaluation};

/// Names the directory of the test that runs again in a process of its own.
const DIR: &str = "RENOWN_STORE_TEST_DIR";

/// The directory that this process was given by [`again`], if it is such a process.
fn given() -> Option<PathBuf> {
    std::env::var_os(DIR).map(PathBuf::from)
}

/// This program, running one test again on a directory.
fn again(mut command: Command, test: &str, dir: &std::path::Path) -> Command {
    command.env(DIR, dir).args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// A disk of so many bytes: inside the process that has it mounted, its directory. Outside, runs the test again in such a
/// process, which has mounts of its own that end with it.
fn on_small_disk(test: &str, size: usize) -> Option<PathBuf> {
    if let Some(dir) = given() {
        return Some(dir);
    }
    let scratch = Scratch::new("disk");
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

/// A write that keeps the writer busy until the returned end is dropped. It is taken when this returns.
fn hold<'a>(store: &'a Sqlite, id: &str) -> (Sender<()>, Reply<'a, Vec<Outcome>>) {
    let (taken, has_taken) = channel();
    let (release, released): (Sender<()>, Receiver<()>) = channel();
    let reply = Box::new(move |_: &[Outcome]| {
        taken.send(()).unwrap();
        let _ = released.recv();
        (200, Vec::new())
    });
    let request_key = RequestKey { org: default_org(), key: "held".to_owned(), fingerprint: [0; 32], reply };
    let held = store.append(&default_org(), vec![evaluation("held", id)], Some(request_key));
    has_taken.recv().unwrap();
    (release, held)
}
