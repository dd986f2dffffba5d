//! Isolation from the processes that Renown judges: the server behind `renown proxy`, the command of `renown run`.
//!
//! Such a process must not learn the settings of Renown, least of all its key. So its environment has no variable that begins
//! with `RENOWN_`. On Linux it cannot read the environment or the memory of the program that judges it, although both run as the
//! same user. It can still read that user's files, including a key in `renown.toml`.

use std::ffi::OsStr;
use std::process::Command;

/// The prefix of every variable that this program reads.
const PREFIX: &[u8] = b"RENOWN_";

/// Removes every variable of Renown from the environment of a command.
pub(crate) fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if is_setting(&name) {
            command.env_remove(name);
        }
    }
}

/// Returns whether a variable belongs to Renown. Ignores case, because some systems do.
fn is_setting(name: &OsStr) -> bool {
    name.as_encoded_bytes().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// Hides the memory and environment of this process from other processes of the same user: `/proc/PID/environ` contains the key
/// as long as the process lives. A child process is readable again as soon as it runs its own program.
pub(crate) fn hide_from_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};

        // The kernel rejects only unknown values.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_renown_has_its_prefix() {
        for (name, is) in [
            ("RENOWN_KEY", true),
            ("RENOWN_", true),
            ("renown_key", true),
            ("RENOWN", false),
            ("MY_RENOWN_KEY", false),
            ("PATH", false),
            ("", false),
        ] {
            assert_eq!(is_setting(OsStr::new(name)), is, "{name}");
        }
    }
}
