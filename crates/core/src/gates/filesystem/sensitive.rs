//! Paths of the system and of credentials.
//!
//! | kind | paths |
//! |---|---|
//! | system | `/etc`, `/usr`, `/var`, `C:\Windows`, `C:\Program Files` |
//! | credentials | `.ssh .aws .gnupg .kube .netrc .git-credentials .config/gcloud` in a home |
//! | a home | `~`, `~name`, `$HOME`, `${HOME}`, `/home/<u>`, `/Users/<u>`, `/root`, `C:\Users\<u>`, `%USERPROFILE%` |
//!
//! A path has to begin where paths begin, and its name has to end where names end: `https://host/etc/x`, `./etc`,
//! `src/usr` and `#!/usr/bin/env` pass. Slashes may be doubled. A path inside a root passes; a path of credentials
//! passes only if the root itself is inside credentials.
//!
//! Balanced: credentials count anywhere, system paths only if a command writes to them, see `filesystem/words.rs`.

use super::paths::{Roots, begins, is_border, name_ends, unquoted};
use super::shell::{self, Lines, ReadOptions, Trouble};
use super::words::any_written;
use crate::gates::scan::{DONE, Deadline, TimedOut, each, run_end};

/// The kinds that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    system: bool,
    credentials: bool,
}

impl Kinds {
    /// Returns the names of the kinds, if there are any.
    pub(super) fn names(self) -> Option<&'static str> {
        match (self.system, self.credentials) {
            (true, true) => Some("system, credentials"),
            (true, false) => Some("system"),
            (false, true) => Some("credentials"),
            (false, false) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    System,
    Credentials,
}

const CREDENTIALS: [&str; 7] =
    [".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".git-credentials", ".config/gcloud"];

/// The search of one text.
pub(super) struct Search<'t> {
    pub(super) text: &'t str,
    /// Whether the key of the text says that it is shell text.
    pub(super) is_shell: bool,
    pub(super) roots: &'t Roots,
    pub(super) windows: bool,
    pub(super) balanced: bool,
}

impl Search<'_> {
    #[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
    pub(super) fn run(&self, found: &mut Kinds, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        let bytes = self.text.as_bytes();
        // Most slashes are inside a path. A path can begin only where no name ends.
        let is_in_name = |byte: u8| {
            ((byte | 0x20).wrapping_sub(b'a') < 26)
                | (byte.wrapping_sub(b'0') < 10)
                | (byte == b'.')
                | (byte == b'_')
                | (byte == b'-')
        };
        let may_begin = |before: u8, byte: u8| {
            let is_first = (byte == b'/') | (byte == b'~') | (byte == b'$') | (byte == b'%');
            (is_first & !is_in_name(before)) | ((byte == b':') & ((before | 0x20) == b'c'))
        };
        // End of the lines that were already read as commands.
        let (mut read, mut lines) = (0, Lines::new(self.text, !self.is_shell));
        each(bytes, deadline, may_begin, |at| {
            if found.system && found.credentials {
                return Ok(DONE);
            }
            // A drive is found by its colon and begins one letter earlier.
            let drive = bytes.get(at) == Some(&b':');
            let start = if drive { at.saturating_sub(1) } else { at };
            let (start, is_path) = match path_of_url(self.text, at) {
                Some(path) => (path, true),
                None => (start, begins(self.text, start)),
            };
            if !is_path {
                return Ok(at + 1);
            }
            let Some(kind) = kind_of(self.text.get(start..).unwrap_or_default(), self.windows) else {
                return Ok(at + 1);
            };
            if kind == Kind::System && self.balanced {
                if start >= read && !found.system {
                    read = self.read_line(&mut lines, start, found, deadline)?;
                }
                return Ok(at + 1);
            }
            let body = if drive { at + 1 } else { at };
            let end = run_end(bytes, body, deadline, |byte| !is_border(byte))?;
            let path = unquoted(self.text.get(start..end).unwrap_or_default(), 0);
            if !self.is_allowed(path, kind) {
                match kind {
                    Kind::System => found.system = true,
                    Kind::Credentials => found.credentials = true,
                }
            }
            Ok(end)
        })
    }

    /// Reads a line as commands and checks the files that they write to. Returns the start of the next line.
    fn read_line(
        &self,
        lines: &mut Lines<'_>,
        at: usize,
        found: &mut Kinds,
        deadline: &Deadline<'_>,
    ) -> Result<usize, TimedOut> {
        let line = lines.at(at, deadline)?;
        let options = ReadOptions::balanced(&line, !self.is_shell, self.windows);
        let is_sure = self.is_shell || line.has_prompt;
        let is_system = |path: &str| {
            kind_of(path, self.windows) == Some(Kind::System) && !self.is_allowed(path, Kind::System)
        };
        let read = shell::read_line(&line, options, deadline, &mut |command, _| {
            found.system = found.system || any_written(command, is_sure, deadline, &is_system)?;
            Ok(None)
        });
        match read {
            Err(Trouble::TimedOut) => Err(TimedOut),
            // The check for destructive commands reports commands that are nested too deep.
            Ok(()) | Err(Trouble::TooDeep) => Ok(line.end),
        }
    }

    /// Returns whether a path is in a root and, for credentials, whether that root is inside credentials.
    fn is_allowed(&self, path: &str, kind: Kind) -> bool {
        self.roots.around(path).any(|root| {
            kind == Kind::System || kind_of(&root.path(), self.windows) == Some(Kind::Credentials)
        })
    }
}

/// Returns the start of the path in `file://localhost/`, whose first slash is here.
fn path_of_url(text: &str, at: usize) -> Option<usize> {
    const HOST: &str = "//localhost";
    let path = at + HOST.len();
    let scheme = at.checked_sub("file:".len()).and_then(|start| text.get(start..at))?;
    let is_file = || scheme.eq_ignore_ascii_case("file:");
    let is_host = || text.get(at..path).is_some_and(|host| host.eq_ignore_ascii_case(HOST));
    (is_file() && is_host() && text.as_bytes().get(path) == Some(&b'/')).then_some(path)
}

/// Returns the kind of the path at the start of a text.
fn kind_of(text: &str, windows: bool) -> Option<Kind> {
    match text.as_bytes() {
        [b'/', ..] => rooted(separated(text)?),
        [b'~', ..] => credentials(name(text.trim_start_matches('~')).1, false),
        [b'$', ..] => {
            let rest = text.strip_prefix("$HOME").or_else(|| text.strip_prefix("${HOME}"))?;
            credentials(rest, false)
        }
        [b'%', ..] if windows => {
            const PROFILE: &str = "%USERPROFILE%";
            let (profile, rest) = text.split_at_checked(PROFILE.len())?;
            if profile.eq_ignore_ascii_case(PROFILE) { credentials(rest, true) } else { None }
        }
        [b'c' | b'C', b':', ..] if windows => on_drive(separated(text.get(2..)?)?),
        _ => None,
    }
}

/// Returns a path without its leading separators and `.` components.
fn separated(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix(['/', '\\'])?;
    while let Some(next) = rest
        .strip_prefix(['/', '\\'])
        .or_else(|| rest.strip_prefix("./"))
        .or_else(|| rest.strip_prefix(".\\"))
    {
        rest = next;
    }
    Some(rest)
}

fn rooted(path: &str) -> Option<Kind> {
    // These names are ASCII, and any other character ends them. The name of a user may be anything.
    let first = ["etc", "usr", "var", "root", "home", "Users"]
        .into_iter()
        .find(|known| path.starts_with(known) && name_ends(path, known.len()))?;
    let rest = path.get(first.len()..)?;
    match first {
        "etc" | "usr" | "var" => Some(Kind::System),
        "root" => credentials(rest, false),
        _ => credentials(name(separated(rest)?).1, false),
    }
}

fn on_drive(path: &str) -> Option<Kind> {
    let begins_with = |known: &str| {
        let (found, _) = path.split_at_checked(known.len())?;
        (found.eq_ignore_ascii_case(known) && name_ends(path, known.len())).then_some(())
    };
    if begins_with("Windows").is_some() || begins_with("Program Files").is_some() {
        return Some(Kind::System);
    }
    begins_with("Users")?;
    credentials(name(separated(path.get("Users".len()..)?)?).1, true)
}

/// Returns whether a path in a home directory leads to credentials. `rest` follows the home directory. Windows
/// ignores case.
fn credentials(rest: &str, of_windows: bool) -> Option<Kind> {
    let path = separated(rest)?;
    let is_one = |known: &&str| {
        let below = match known.split_once('/') {
            None => after(path, known, of_windows),
            Some((first, second)) => {
                let rest = after(path, first, of_windows).and_then(separated);
                rest.and_then(|rest| after(rest, second, of_windows))
            }
        };
        below.is_some_and(|below| name_ends(below, 0))
    };
    CREDENTIALS.iter().any(is_one).then_some(Kind::Credentials)
}

/// Returns the text after a name at the start of a path.
fn after<'t>(path: &'t str, known: &str, of_windows: bool) -> Option<&'t str> {
    let (found, rest) = path.split_at_checked(known.len())?;
    (found == known || of_windows && found.eq_ignore_ascii_case(known)).then_some(rest)
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '.' | '_' | '-')
}

/// Longest name of a user, in characters.
const NAME_CHARS_MAX: usize = 256;

/// Splits a path after its first name. The rest is empty if the name is too long.
fn name(path: &str) -> (&str, &str) {
    let mut chars = path.char_indices().take(NAME_CHARS_MAX);
    let end = chars.find(|(_, char)| !is_name(*char)).map_or(path.len(), |(end, _)| end);
    path.split_at_checked(end).unwrap_or((path, ""))
}
