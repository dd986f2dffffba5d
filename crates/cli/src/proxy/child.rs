//! The server's process.
//!
//! A child must not outlive its proxy, also where the proxy is killed without a chance to do anything. Linux tells a process of
//! the death of its parent if it asks for that before it becomes the server. So what is started is this program again, which
//! asks, and then becomes the server.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::args::ChildArgs;
use crate::failure::{self, Failure};
use crate::judged::without_settings;

/// The name of the hidden command.
const EXEC: &str = "exec-child";

/// The exit code where a command cannot be started.
const CANNOT_START: u8 = 127;

/// What is started for a server. It has a process group of its own, so that a signal reaches it once.
pub(super) fn command(server: &[OsString]) -> Command {
    let itself = std::env::current_exe().ok().filter(|path| cfg!(target_os = "linux") && path.exists());
    let mut command = match (itself, server) {
        (Some(itself), server) => {
            let mut command = Command::new(itself);
            command.args([EXEC, "--parent", &std::process::id().to_string(), "--"]).args(server);
            command
        }
        (None, [program, arguments @ ..]) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        (None, []) => Command::new(""),
    };
    command.process_group(0);
    without_settings(&mut command);
    command
}

/// Becomes the server.
pub(crate) fn exec(args: &ChildArgs) -> Result<ExitCode, Failure> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(Failure::new("no command was given"));
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};

        let refused = |error| Failure::new(format!("cannot follow the proxy: {error}"));
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(refused)?;
        let parent = getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
        if parent != Some(args.parent) {
            return Err(Failure::new("the proxy is gone"));
        }
    }
    let error = Command::new(program).args(arguments).exec();
    failure::print(&Failure::new(format!("cannot start {}: {error}", program.display())));
    Ok(ExitCode::from(CANNOT_START))
}
