//! Overwrites what deleted rows leave in the database file, while it is in use.
//!
//! SQLite removes a deleted row from its page but leaves its bytes: in the free blocks of the page, in the gap that
//! a page keeps after its rows were moved to its neighbors, in pages on the free list, behind the end of a long
//! value. `PRAGMA secure_delete` clears what a `DELETE` frees, but not what ordinary writes moved around before: of
//! 20 erased agents 17 could still be read. `VACUUM` leaves nothing but copies the whole store.
//!
//! So after an erasure the file is read once from beginning to end, and every unused byte is set to zero, in place.
//! Cost: one sequential read of the file (211 MB in 0.4 s), and writes of the pages with something to clear (4 s if
//! every page has some). Ordinary writes cost nothing more.
//!
//! **Why this is safe.** Only bytes that no reader of the page looks at are written, so a crash or a reader in the
//! middle sees the same rows before and after. The page in the file decides which bytes are unused, so nothing else
//! may write to the file meanwhile: a step runs on the writer's thread between two transactions, after the whole
//! write-ahead log was moved into the database and emptied. Then the file is the latest state, no reader uses an
//! older one, and the checkpointer has nothing to move.
//!
//! **Why nothing comes back.** The writer drops its cached pages before each step, so what it writes afterwards is
//! based on cleared pages. Rows are copied between pages one by one. Only the root of a table is copied with its
//! unused bytes, to or from a page below it, so these pages are cleared again at the end.
//!
//! **Locks.** When a process closes any handle of a file, the system drops all its locks on that file, also those
//! of SQLite. So this handle is opened once and outlives every connection ([`DatabaseFile`]).
//!
//! A page that does not parse is left alone: it is damaged, and `renown verify` reports it. Files above 128 GiB are
//! refused: there the first byte no longer distinguishes a page of a tree from a page of a long value.

mod page;

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use self::page::{Kind, Parsed};
use crate::error::StoreError;

/// Number of bytes that are read between two transactions.
const STEP_BYTES: u64 = 16 << 20;

/// Below this many pages, no page number has a first byte that is also the kind of a tree page.
const PAGES_MAX: u32 = 1 << 25;

/// Number of pages that are read at once.
const BLOCK_PAGES: u32 = 256;

/// The database file, beside the connections to it. It must not be closed before they are.
pub(super) struct DatabaseFile {
    file: File,
    shown: String,
}

/// What page 1 says about the file.
#[derive(Clone, Copy)]
struct Layout {
    page_size: usize,
    /// The number of bytes of a page that SQLite uses.
    usable: usize,
    pages: u32,
    first_trunk: u32,
}

impl DatabaseFile {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        let file =
            OpenOptions::new().read(true).write(true).open(path).map_err(StoreError::io(shown.clone()))?;
        Ok(Self { file, shown })
    }

    /// Returns the handle, to compare it with its path.
    pub(super) fn handle(&self) -> &File {
        &self.file
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(buffer));
        read.map_err(StoreError::io(self.shown.clone()))
    }

    fn clear(&self, at: u64, length: usize) -> Result<(), StoreError> {
        let mut file = &self.file;
        let cleared = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(&vec![0; length]));
        cleared.map_err(StoreError::io(self.shown.clone()))
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io(self.shown.clone()))
    }

    fn layout(&self) -> Result<Layout, StoreError> {
        let mut header = [0; 100];
        self.read(0, &mut header)?;
        let page_size = match page::u16_at(&header, 16) {
            Some(1) => 65_536,
            Some(size) if size >= 512 && size.is_power_of_two() => size.into(),
            _ => return Err(unsound("its page size")),
        };
        let reserved = header.get(20).copied().unwrap_or_default();
        let length = self.file.metadata().map_err(StoreError::io(self.shown.clone()))?.len();
        let pages = u32::try_from(length / page_size as u64).unwrap_or(u32::MAX);
        if pages >= PAGES_MAX {
            let error = std::io::Error::other("is above 128 GiB, in which erased bytes are not overwritten");
            return Err(StoreError::io(self.shown.clone())(error));
        }
        Ok(Layout {
            page_size,
            usable: page_size - usize::from(reserved),
            pages,
            first_trunk: page::u32_at(&header, 32).unwrap_or_default(),
        })
    }

    fn page(&self, layout: Layout, number: u32) -> Result<Vec<u8>, StoreError> {
        self.pages(layout, number, number.saturating_add(1))
    }

    /// Reads the pages from one number up to another, not included.
    fn pages(&self, layout: Layout, from: u32, end: u32) -> Result<Vec<u8>, StoreError> {
        let count = usize::try_from(end.saturating_sub(from)).unwrap_or_default();
        let mut bytes = vec![0; layout.page_size * count];
        self.read(layout.start(from), &mut bytes)?;
        Ok(bytes)
    }
}

impl Layout {
    fn start(self, number: u32) -> u64 {
        u64::from(number.saturating_sub(1)) * self.page_size as u64
    }

    fn has(self, number: u32) -> bool {
        (1..=self.pages).contains(&number)
    }
}

fn unsound(what: &str) -> StoreError {
    StoreError::Damaged(format!("{what} cannot be read, so that erased bytes cannot be overwritten"))
}

/// A pass over a file. It ends where the file ended when the pass began: rows that are written meanwhile go to
/// cleared pages, so a file that grows faster than it is read does not make the pass endless.
pub(super) struct Scrub {
    /// The next page to check.
    next: u32,
    /// The last page, once the pass has begun.
    last: Option<u32>,
}

impl Scrub {
    pub(super) fn new() -> Self {
        Self { next: 1, last: None }
    }

    /// Clears the next part of the file. Returns whether that was the last one. `roots` are the first pages of all
    /// tables and indexes. Nothing else may write to the file meanwhile, and the write-ahead log has to be empty.
    pub(super) fn step(&mut self, file: &DatabaseFile, roots: &[u32]) -> Result<bool, StoreError> {
        let layout = file.layout()?;
        let (leaves, trunks) = free_list(file, layout)?;
        let count = u32::try_from(STEP_BYTES / layout.page_size as u64).unwrap_or(u32::MAX);
        let last = layout.pages.min(*self.last.get_or_insert(layout.pages));
        let end = self.next.saturating_add(count).min(last.saturating_add(1));
        let mut number = self.next;
        while number < end {
            let block = file.pages(layout, number, end.min(number.saturating_add(BLOCK_PAGES)))?;
            for bytes in block.chunks_exact(layout.page_size) {
                if leaves.contains(&number) {
                    clear_all(file, layout, number, bytes)?;
                } else if trunks.contains(&number) {
                    clear_trunk(file, layout, number, bytes)?;
                } else {
                    clear_page(file, layout, number, bytes)?;
                }
                number += 1;
            }
        }
        self.next = end;
        let is_last = end > last;
        if is_last {
            clear_roots(file, layout, roots)?;
        }
        file.sync()?;
        Ok(is_last)
    }
}

/// Clears a file that no other process has open.
pub(super) fn whole(path: &Path) -> Result<(), StoreError> {
    let (file, mut scrub) = (DatabaseFile::open(path)?, Scrub::new());
    while !scrub.step(&file, &[])? {}
    Ok(())
}

/// Reads the free list: the unused pages, and the pages that contain the list.
fn free_list(file: &DatabaseFile, layout: Layout) -> Result<(HashSet<u32>, HashSet<u32>), StoreError> {
    let (mut leaves, mut trunks, mut next) = (HashSet::new(), HashSet::new(), layout.first_trunk);
    while next != 0 {
        if !layout.has(next) || !trunks.insert(next) {
            return Err(unsound("the list of free pages"));
        }
        let trunk = file.page(layout, next)?;
        let listed = page::trunk(&trunk, layout.usable).ok_or_else(|| unsound("the list of free pages"))?;
        for leaf in listed.leaves {
            if !layout.has(leaf) || !leaves.insert(leaf) {
                return Err(unsound("the list of free pages"));
            }
        }
        next = listed.next;
    }
    Ok((leaves, trunks))
}

fn clear_trunk(file: &DatabaseFile, layout: Layout, number: u32, bytes: &[u8]) -> Result<(), StoreError> {
    let Some(listed) = page::trunk(bytes, layout.usable) else { return Ok(()) };
    let used = 8 + 4 * listed.leaves.len();
    clear_range(file, layout, number, bytes, used..layout.usable)
}

fn clear_all(file: &DatabaseFile, layout: Layout, number: u32, bytes: &[u8]) -> Result<(), StoreError> {
    clear_range(file, layout, number, bytes, 0..layout.page_size)
}

/// Clears part of a page, unless it is clear.
fn clear_range(
    file: &DatabaseFile,
    layout: Layout,
    number: u32,
    bytes: &[u8],
    range: std::ops::Range<usize>,
) -> Result<(), StoreError> {
    if bytes.get(range.clone()).is_some_and(|unused| unused.iter().any(|byte| *byte != 0)) {
        file.clear(layout.start(number) + range.start as u64, range.len())?;
    }
    Ok(())
}

/// Clears the unused bytes of a tree page, and those behind the ends of the long values that begin there.
fn clear_page(
    file: &DatabaseFile,
    layout: Layout,
    number: u32,
    bytes: &[u8],
) -> Result<Option<Parsed>, StoreError> {
    let Some(parsed) = page::parse(bytes, number, layout.usable) else { return Ok(None) };
    for unused in &parsed.unused {
        clear_range(file, layout, number, bytes, unused.clone())?;
    }
    for long in &parsed.long_values {
        clear_tail(file, layout, long)?;
    }
    Ok(Some(parsed))
}

/// Clears the rest of the last page of a long value.
fn clear_tail(file: &DatabaseFile, layout: Layout, long: &page::LongValue) -> Result<(), StoreError> {
    let room = layout.usable - 4;
    let (pages, rest) = (long.bytes.div_ceil(room), long.bytes % room);
    if rest == 0 {
        return Ok(());
    }
    let mut number = long.first;
    for _ in 1..pages {
        if !layout.has(number) {
            return Ok(());
        }
        let mut next = [0; 4];
        file.read(layout.start(number), &mut next)?;
        number = u32::from_be_bytes(next);
    }
    // The last page has no next one. Anything else is damage, and must not be written to.
    if !layout.has(number) {
        return Ok(());
    }
    let bytes = file.page(layout, number)?;
    if page::u32_at(&bytes, 0) != Some(0) {
        return Ok(());
    }
    clear_range(file, layout, number, &bytes, 4 + rest..layout.usable)
}

/// Clears the roots again, and the pages right below them.
fn clear_roots(file: &DatabaseFile, layout: Layout, roots: &[u32]) -> Result<(), StoreError> {
    for root in roots.iter().copied().filter(|root| layout.has(*root)) {
        let bytes = file.page(layout, root)?;
        let Some(parsed) = clear_page(file, layout, root, &bytes)? else { continue };
        if parsed.kind == Kind::Leaf {
            continue;
        }
        for child in parsed.children.into_iter().filter(|child| layout.has(*child)) {
            let bytes = file.page(layout, child)?;
            clear_page(file, layout, child, &bytes)?;
        }
    }
    Ok(())
}
