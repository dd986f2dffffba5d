//! Paths as text: finds their start and end, and resolves them.

use crate::gates::scan::{char_at, char_before};
use crate::gates::settings::Links;

/// Longest path of any system, in bytes: that of Windows. A location needs more memory than its path, so longer paths
/// have none.
const PATH_BYTES_MAX: usize = 32_767;

/// A location in a file system, as the names on the way to it. A drive is the first name, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location(Vec<String>);

impl Location {
    /// Returns the location of an absolute path. Returns `None` if the path is too long for any system.
    pub(super) fn absolute(path: &str) -> Option<Self> {
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let (drive, rest) = match path.as_bytes() {
            [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => path.split_at(2),
            [b'/' | b'\\', ..] => ("", path),
            _ => return None,
        };
        let mut location = Self(Vec::new());
        if !drive.is_empty() {
            location.0.push(drive.to_ascii_lowercase());
        }
        location.go(rest);
        Some(location)
    }

    /// Follows a relative path. The parent of the top is the top.
    fn go(&mut self, path: &str) {
        let has_drive = self.0.first().is_some_and(|first| first.ends_with(':'));
        for name in path.split(['/', '\\']) {
            match name {
                ".." if self.0.len() > usize::from(has_drive) => drop(self.0.pop()),
                "" | "." | ".." => {}
                name => self.0.push(name.to_owned()),
            }
        }
    }

    /// Returns the names on the way to it.
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    fn is_in(&self, root: &Self) -> bool {
        self.0.starts_with(&root.0)
    }

    /// Returns the location as a path with `/`.
    pub(super) fn path(&self) -> String {
        let drive = self.0.first().is_some_and(|first| first.ends_with(':'));
        format!("{}{}", if drive { "" } else { "/" }, self.0.join("/"))
    }
}

/// Directories in which an agent may work.
#[derive(Debug, Default)]
pub(super) struct Roots {
    named: Vec<Location>,
    /// The roots, and the targets of their symbolic links.
    real: Vec<Location>,
    cwd: Option<Location>,
    links: Option<Links>,
}

impl Roots {
    pub(super) fn new(roots: Vec<Location>, cwd: Option<Location>, links: Option<Links>) -> Self {
        let mut real = roots.clone();
        if let Some(links) = &links {
            real.extend(roots.iter().filter_map(|root| Location::absolute(&links.follow(&root.path())?)));
        }
        Self { named: roots, real, cwd, links }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns the location of a path, if there are roots and it does not begin in a home directory, whose location
    /// is unknown.
    fn locate(&self, path: &str) -> Option<Location> {
        if self.is_empty() || path.starts_with(['~', '$', '%']) {
            return None;
        }
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        Location::absolute(path).or_else(|| {
            let mut location = self.cwd.clone()?;
            location.go(path);
            Some(location)
        })
    }

    /// Returns the roots that contain a path.
    pub(super) fn around(&self, path: &str) -> impl Iterator<Item = &Location> {
        let location = self.locate(path).filter(|location| self.stays(location));
        self.named.iter().filter(move |root| location.as_ref().is_some_and(|location| location.is_in(root)))
    }

    /// Returns whether a location is still in a root after symbolic links are followed, as far as that is known.
    /// Links are followed only for locations that are in a root as text: most are not.
    fn stays(&self, location: &Location) -> bool {
        let Some(links) = &self.links else { return true };
        if !self.named.iter().any(|root| location.is_in(root)) {
            return false;
        }
        let real = links.follow(&location.path()).and_then(|path| Location::absolute(&path));
        real.is_none_or(|real| self.real.iter().any(|root| real.is_in(root)))
    }

    /// Returns whether a path is below a root and not a root itself.
    pub(super) fn hold(&self, path: &str) -> bool {
        let names = |path: &str| self.locate(path).map(|location| location.names().len());
        self.around(path).any(|root| names(path).is_some_and(|count| count > root.names().len()))
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.around(path).next().is_some()
    }
}

/// Returns whether a path may begin after this byte and ends at it. White space does the same.
pub(super) fn is_border(byte: u8) -> bool {
    const BORDERS: &[u8] = b"\"'`=:([{<>,;|)]}";
    byte.is_ascii_whitespace() || BORDERS.contains(&byte)
}

/// Typographic quotes.
const TYPOGRAPHIC_QUOTES: [char; 8] = ['“', '”', '„', '‘', '’', '‚', '«', '»'];

/// Returns whether a character is a quote of any form.
pub(super) fn is_quote(char: char) -> bool {
    matches!(char, '"' | '\'' | '`') || TYPOGRAPHIC_QUOTES.contains(&char)
}

/// Returns the part of a path around `at` between typographic quotes. All other borders of a path are single bytes.
pub(super) fn unquoted(path: &str, at: usize) -> &str {
    if path.len() > PATH_BYTES_MAX {
        return path;
    }
    let (head, tail) = path.split_at_checked(at).unwrap_or((path, ""));
    let start = head.rfind(TYPOGRAPHIC_QUOTES).map_or(0, |quote| {
        quote + head.get(quote..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    });
    let end = tail.find(TYPOGRAPHIC_QUOTES).map_or(path.len(), |quote| head.len() + quote);
    path.get(start..end).unwrap_or(path)
}

/// Returns whether a path may begin here: at the start, or after a blank, a quote, `= : ( [ { < > , ; |` or `file://`.
pub(super) fn begins(text: &str, at: usize) -> bool {
    match char_before(text, at) {
        // A host name follows `://`.
        Some(':') => !text.get(at..).is_some_and(|rest| rest.starts_with("//")),
        Some('/') => {
            let scheme = at.checked_sub("file://".len()).and_then(|start| text.get(start..at));
            scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
        }
        None | Some('=' | '(' | '[' | '{' | '<' | '>' | ',' | ';' | '|') => true,
        Some(char) => char.is_whitespace() || is_quote(char),
    }
}

/// Returns whether a name ends here: at a separator, or at a character that is rare in names.
pub(super) fn name_ends(text: &str, at: usize) -> bool {
    let goes_on = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
    !char_at(text, at).is_some_and(goes_on)
}
