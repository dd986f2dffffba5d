//! The facts of files that were read before, so that an unchanged file is not read again.
//!
//! ```text
//! history.cache:  magic, version of the program | entries: path, size, time of the last change, facts
//! ```
//!
//! It is one file in the data directory, readable by its owner only, and can be deleted at any time. It holds what the
//! reader keeps of a transcript: counts, names of tools, models and projects. It is written only if something changed,
//! and replaced as a whole. Whatever is wrong with it, the files are read again.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use renown_telemetry::transcript::Transcript;

use super::find::{Kind, Source};
use super::read::ReadFile;

const NAME: &str = "history.cache";
const MAGIC: &[u8] = concat!("renown history ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// Facts of files, by path.
pub(crate) struct Cache {
    path: Option<PathBuf>,
    bytes: Vec<u8>,
    /// Where the facts are in `bytes`.
    known: HashMap<Vec<u8>, Known>,
    /// The entries of the next cache.
    next: Vec<Next>,
    has_changed: bool,
}

#[derive(Clone, Copy)]
struct Known {
    size: u64,
    changed_ns: i128,
    start: usize,
    end: usize,
}

struct Next {
    key: Vec<u8>,
    size: u64,
    changed_ns: i128,
    /// The encoded facts; `None` if those of the last cache still hold.
    facts: Option<Vec<u8>>,
}

impl Cache {
    /// Opens the cache in a data directory.
    pub(crate) fn open(data: Option<&Path>) -> Self {
        let path = data.map(|data| data.join(NAME));
        let bytes = path.as_deref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
        let known = entries(&bytes).unwrap_or_default();
        Self { path, bytes, known, next: Vec::new(), has_changed: false }
    }

    /// Returns the facts of a file if it has not changed.
    pub(crate) fn get(&self, source: &Source) -> Option<Transcript> {
        let known = self.known.get(key(source).as_slice())?;
        let is_same = known.size == source.size && known.changed_ns == source.changed_ns;
        Transcript::from_bytes(self.bytes.get(known.start..known.end).filter(|_| is_same)?)
    }

    /// Adds the facts of a file to the next cache.
    pub(crate) fn put(&mut self, source: &Source, read: &ReadFile) {
        // The files below a directory change without it.
        if self.path.is_none() || source.kind == Kind::Tree {
            return;
        }
        self.has_changed |= !read.is_cached;
        let facts = (!read.is_cached).then(|| read.transcript.to_bytes());
        let &Source { size, changed_ns, .. } = source;
        self.next.push(Next { key: key(source), size, changed_ns, facts });
    }

    /// Writes the next cache, if it differs. `is_whole` tells that files without an entry do not exist any more. A cache
    /// that cannot be written is only slower the next time.
    pub(crate) fn save(mut self, is_whole: bool) {
        let Some(path) = self.path.take() else { return };
        let mut bytes = MAGIC.to_vec();
        let mut add = |key: &[u8], size: u64, changed_ns: i128, facts: &[u8]| {
            for length in [key.len(), facts.len()] {
                bytes.extend((length as u64).to_le_bytes());
            }
            bytes.extend(size.to_le_bytes());
            bytes.extend(changed_ns.to_le_bytes());
            bytes.extend(key);
            bytes.extend(facts);
        };
        let mut others = std::mem::take(&mut self.known);
        if !(self.has_changed || (is_whole && self.next.len() < others.len())) {
            return;
        }
        for Next { key, size, changed_ns, facts } in &self.next {
            let known = others.remove(key);
            let known = known.and_then(|known| self.bytes.get(known.start..known.end));
            if let Some(facts) = facts.as_deref().or(known) {
                add(key, *size, *changed_ns, facts);
            }
        }
        for (key, known) in others.iter().filter(|_| !is_whole) {
            let facts = self.bytes.get(known.start..known.end).unwrap_or_default();
            add(key, known.size, known.changed_ns, facts);
        }
        let _ = write(&path, &bytes);
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new(""));
    make_private_dir(dir)?;
    let new = path.with_extension(format!("cache.{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let written =
        options.open(&new).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

fn make_private_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir)
}

/// Returns what identifies a file: its agent, its path, and the project beside it.
fn key(source: &Source) -> Vec<u8> {
    let project = source.project.as_deref().unwrap_or_default();
    [source.agent.name().as_bytes(), source.path.as_os_str().as_encoded_bytes(), project.as_bytes()].join(&0)
}

fn entries(bytes: &[u8]) -> Option<HashMap<Vec<u8>, Known>> {
    let mut known = HashMap::new();
    let mut rest = bytes.strip_prefix(MAGIC)?;
    while !rest.is_empty() {
        let (key_length, after) = rest.split_first_chunk()?;
        let (facts_length, after) = after.split_first_chunk()?;
        let (size, after) = after.split_first_chunk()?;
        let (changed_ns, after) = after.split_first_chunk()?;
        let length = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
        let (key, after) = after.split_at_checked(length(key_length)?)?;
        let start = bytes.len() - after.len();
        let (facts, after) = after.split_at_checked(length(facts_length)?)?;
        let size = u64::from_le_bytes(*size);
        let changed_ns = i128::from_le_bytes(*changed_ns);
        known.insert(key.to_vec(), Known { size, changed_ns, start, end: start + facts.len() });
        rest = after;
    }
    Some(known)
}
