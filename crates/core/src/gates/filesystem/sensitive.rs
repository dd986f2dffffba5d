//! Paths of systems and credentials.
//!
//! | kind | paths |
//! |---|---|
//! | system | `/etc`, `/usr`, `/var`, `C:\Windows`, `C:\Program Files` |
//! | credentials | `.ssh .aws .gnupg .kube .netrc .git-credentials .config/gcloud` in a home |
//! | a home | `~`, `~name`, `$HOME`, `${HOME}`, `/home/<u>`, `/Users/<u>`, `/root`, `C:\Users\<u>`, `%USERPROFILE%` |
//!
//! A path has to begin where paths begin, and the name to end where names end: `https://host/etc/x`, `./etc`, `src/usr`
//! and `#!/usr/bin/env` pass. Slashes may be doubled. A path inside a root passes, one of credentials only if the root
//! itself lies in them.
//!
//! Balanced: credentials anywhere, system only as what a command writes to, see `filesystem/words.rs`.

use super::paths::{Roots, begins, is_border, name_ends, unquoted};
use super::shell::{self, How, Lines, Trouble};
use super::words::any_written;
use crate::gates::scan::{DONE, Deadline, TimedOut, each, run_end};

/// The kinds that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    system: bool,
    credentials: bool,
}

impl Kinds {
    /// Their names, if there are any.
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

/// One text that is searched.
pub(super) struct Search<'t> {
    pub(super) text: &'t str,
    /// Whether the text is a shell's by its key.
    pub(super) is_shell: bool,
    pub(super) roots: &'t Roots,
    pub(super) windows: bool,
    pub(super) balanced: bool,
}

impl Search<'_> {
    #[expect(clippy::needless_bitwise_bool, reason = "without branches this is vector code")]
    pub(super) fn run(&self, found: &mut Kinds, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        let bytes = self.text.as_bytes();
        // Most slashes stand inside of a path: only where a name does not end can one begin.
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
        // Up to where lines were already read as commands.
        let (mut read, mut lines) = (0, Lines::new(self.text, !self.is_shell));
        each(bytes, deadline, may_begin, |at| {
            if found.system && found.credentials {
                return Ok(DONE);
            }
            // A drive is found by its colon and begins a letter earlier.
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
            if !self.is_excused(path, kind) {
                match kind {
                    Kind::System => found.system = true,
                    Kind::Credentials => found.credentials = true,
                }
            }
            Ok(end)
        })
    }

    /// Reads a line as commands and looks at what they write to. Answers where the next line begins.
    fn read_line(
        &self,
        lines: &mut Lines<'_>,
        at: usize,
        found: &mut Kinds,
        deadline: &Deadline<'_>,
    ) -> Result<usize, TimedOut> {
        let line = lines.at(at, deadline)?;
        let how = How::balanced(&line, !self.is_shell, self.windows);
        let is_sure = self.is_shell || line.has_prompt;
        let is_system = |path: &str| {
            kind_of(path, self.windows) == Some(Kind::System) && !self.is_excused(path, Kind::System)
        };
        let read = shell::read_line(&line, how, deadline, &mut |command, _| {
            found.system = found.system || any_written(command, is_sure, deadline, &is_system)?;
            Ok(None)
        });
        match read {
            Err(Trouble::TimedOut) => Err(TimedOut),
            // The check of commands speaks of those that lie too deep.
            Ok(()) | Err(Trouble::TooDeep) => Ok(line.end),
        }
    }

    /// Whether a path lies in a root, and for credentials whether the root lies in credentials.
    fn is_excused(&self, path: &str, kind: Kind) -> bool {
        self.roots.around(path).any(|root| {
            kind == Kind::System || kind_of(&root.path(), self.windows) == Some(Kind::Credentials)
        })
    }
}

/// Where the path begins of `file://localhost/`, whose first slash stands here.
fn path_of_url(text: &str, at: usize) -> Option<usize> {
    const HOST: &str = "//localhost";
    let path = at + HOST.len();
    let scheme = at.checked_sub("file:".len()).and_then(|start| text.get(start..at))?;
    let is_file = || scheme.eq_ignore_ascii_case("file:");
    let is_host = || text.get(at..path).is_some_and(|host| host.eq_ignore_ascii_case(HOST));
    (is_file() && is_host() && text.as_bytes().get(path) == Some(&b'/')).then_some(path)
}

/// What the path is with which a text begins.
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

/// A path after the separators with which it begins, `.` as a component included.
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
    // These names are ASCII, and what is not ends them; that of a user may be anything.
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

/// Whether credentials stand below a home; `rest` is what follows the home. Windows knows no case.
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

/// What follows a name with which a path begins.
fn after<'t>(path: &'t str, known: &str, of_windows: bool) -> Option<&'t str> {
    let (found, rest) = path.split_at_checked(known.len())?;
    (found == known || of_windows && found.eq_ignore_ascii_case(known)).then_some(rest)
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '.' | '_' | '-')
}

/// Longest name of a user, in characters.
const NAME_CHARS_MAX: usize = 256;

/// The name with which a path begins, and what follows it. After one that is too long nothing does.
fn name(path: &str) -> (&str, &str) {
    let mut chars = path.char_indices().take(NAME_CHARS_MAX);
    let end = chars.find(|(_, char)| !is_name(*char)).map_or(path.len(), |(end, _)| end);
    path.split_at_checked(end).unwrap_or((path, ""))
}
