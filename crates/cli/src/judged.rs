//! Processes that Renown judges: the server behind `renown proxy`, the command of `renown run`.
//!
//! Such a process must not learn how Renown is set up, least of all its key. So it gets the environment without every variable
//! that begins with `RENOWN_`, and on Linux it cannot read the environment or the memory of the program that judges it, although
//! both run as the same user. What it can still read are files of that user: a key in `renown.toml` is one.

use std::ffi::OsStr;
use std::process::Command;

/// The prefix of every variable that this program reads.
const PREFIX: &[u8] = b"RENOWN_";

/// Takes every variable of Renown out of the environment of a command.
pub(crate) fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if is_setting(&name) {
            command.env_remove(name);
        }
    }
}

/// Whether a variable is one of Renown's, in any case: some systems do not tell them apart.
fn is_setting(name: &OsStr) -> bool {
    name.as_encoded_bytes().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// Closes this process to others of the same user: `/proc/PID/environ` holds the key as long as the process lives. A process that
/// is started from here is open again as soon as it runs its own program.
pub(crate) fn close_to_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};

        // The kernel refuses this only for values that it does not know.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_by_their_prefix() {
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
