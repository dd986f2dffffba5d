//! Paths as texts: where one begins and ends, and where it leads.

use crate::gates::scan::{char_at, char_before};
use crate::gates::settings::Links;

/// Longest path of any system, in bytes: that of Windows. A place costs more memory than its path, so longer ones have none.
const PATH_BYTES_MAX: usize = 32_767;

/// A place in a file system, as the names on the way to it. A drive is the first of them, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place(Vec<String>);

impl Place {
    /// The place of an absolute path; none if no system takes a path that long.
    pub(super) fn absolute(path: &str) -> Option<Self> {
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let (drive, rest) = match path.as_bytes() {
            [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => path.split_at(2),
            [b'/' | b'\\', ..] => ("", path),
            _ => return None,
        };
        let mut place = Self(Vec::new());
        if !drive.is_empty() {
            place.0.push(drive.to_ascii_lowercase());
        }
        place.go(rest);
        Some(place)
    }

    /// Follows a relative path. Above the top there is nothing.
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

    /// The names on the way to it.
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    fn is_in(&self, root: &Self) -> bool {
        self.0.starts_with(&root.0)
    }

    /// The place as a path with `/`, for looking at it as at any other path.
    pub(super) fn path(&self) -> String {
        let drive = self.0.first().is_some_and(|first| first.ends_with(':'));
        format!("{}{}", if drive { "" } else { "/" }, self.0.join("/"))
    }
}

/// Directories in which an agent may work.
#[derive(Debug, Default)]
pub(super) struct Roots {
    named: Vec<Place>,
    /// The roots, and where their links lead.
    real: Vec<Place>,
    cwd: Option<Place>,
    links: Option<Links>,
}

impl Roots {
    pub(super) fn new(roots: Vec<Place>, cwd: Option<Place>, links: Option<Links>) -> Self {
        let mut real = roots.clone();
        if let Some(links) = &links {
            real.extend(roots.iter().filter_map(|root| Place::absolute(&links.follow(&root.path())?)));
        }
        Self { named: roots, real, cwd, links }
    }

    pub(super) fn are_none(&self) -> bool {
        self.named.is_empty()
    }

    /// Where a path leads, if there are roots and it does not begin in somebody's home: where that is, is not known.
    fn place(&self, path: &str) -> Option<Place> {
        if self.are_none() || path.starts_with(['~', '$', '%']) {
            return None;
        }
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        Place::absolute(path).or_else(|| {
            let mut place = self.cwd.clone()?;
            place.go(path);
            Some(place)
        })
    }

    /// The roots in which a path lies.
    pub(super) fn around(&self, path: &str) -> impl Iterator<Item = &Place> {
        let place = self.place(path).filter(|place| self.stays(place));
        self.named.iter().filter(move |root| place.as_ref().is_some_and(|place| place.is_in(root)))
    }

    /// Whether a place lies in a root when links are followed, as far as that is known. Most places lie in none anyway, and
    /// of those nobody asks.
    fn stays(&self, place: &Place) -> bool {
        let Some(links) = &self.links else { return true };
        if !self.named.iter().any(|root| place.is_in(root)) {
            return false;
        }
        let real = links.follow(&place.path()).and_then(|path| Place::absolute(&path));
        real.is_none_or(|real| self.real.iter().any(|root| real.is_in(root)))
    }

    /// Whether a path lies below a root and is none itself.
    pub(super) fn hold(&self, path: &str) -> bool {
        let names = |path: &str| self.place(path).map(|place| place.names().len());
        self.around(path).any(|root| names(path).is_some_and(|count| count > root.names().len()))
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.around(path).next().is_some()
    }
}

/// Bytes after which a path may begin and at which it ends, beside white space.
pub(super) fn is_border(byte: u8) -> bool {
    const BORDERS: &[u8] = b"\"'`=:([{<>,;|)]}";
    byte.is_ascii_whitespace() || BORDERS.contains(&byte)
}

/// Quotes of printers.
const PRINTED_QUOTES: [char; 8] = ['“', '”', '„', '‘', '’', '‚', '«', '»'];

/// Whether a character is a quote, of whatever shape.
pub(super) fn is_quote(char: char) -> bool {
    matches!(char, '"' | '\'' | '`') || PRINTED_QUOTES.contains(&char)
}

/// The part of a path between quotes of printers that lies around a place in it; what else ends a path is one byte.
pub(super) fn unquoted(path: &str, at: usize) -> &str {
    if path.len() > PATH_BYTES_MAX {
        return path;
    }
    let (head, tail) = path.split_at_checked(at).unwrap_or((path, ""));
    let start = head.rfind(PRINTED_QUOTES).map_or(0, |quote| {
        quote + head.get(quote..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    });
    let end = tail.find(PRINTED_QUOTES).map_or(path.len(), |quote| head.len() + quote);
    path.get(start..end).unwrap_or(path)
}

/// Whether a path may begin here: at the beginning, after a blank, a quote, `= : ( [ { < > , ; |` or `file://`.
pub(super) fn begins(text: &str, at: usize) -> bool {
    match char_before(text, at) {
        // What follows `://` is the name of a host.
        Some(':') => !text.get(at..).is_some_and(|rest| rest.starts_with("//")),
        Some('/') => {
            let scheme = at.checked_sub("file://".len()).and_then(|start| text.get(start..at));
            scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
        }
        None | Some('=' | '(' | '[' | '{' | '<' | '>' | ',' | ';' | '|') => true,
        Some(char) => char.is_whitespace() || is_quote(char),
    }
}

/// Whether a name ends here: at a separator or at a character that names seldom have.
pub(super) fn name_ends(text: &str, at: usize) -> bool {
    let goes_on = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
    !char_at(text, at).is_some_and(goes_on)
}
