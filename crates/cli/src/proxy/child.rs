//! Starts the process of the MCP server.
//!
//! The server must not outlive its proxy, even if the proxy is killed. Linux sends a process a signal when its parent dies, if the
//! process asks for it before it becomes the server. So the proxy starts this program again, which asks for the signal and then
//! becomes the server.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::args::ChildArgs;
use crate::failure::{self, Failure};
use crate::judged::without_settings;

/// The name of the hidden command.
const EXEC: &str = "exec-child";

/// The exit code if a command cannot be started.
const CANNOT_START: u8 = 127;

/// Returns the command that starts a server. It has its own process group, so that a signal reaches it only once.
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
