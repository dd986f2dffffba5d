//! The high-water mark: how much was acknowledged, in a small file beside the database.
//!
//! If the end of a write-ahead log is cut off, or the log is deleted, the database opens without an error: SQLite
//! takes what is left for everything there was. So after every commit the counts of what is durable are written to
//! `renown.db-mark`. The file is not synced. After a crash of the machine it may be old, or torn and then ignored;
//! it is never ahead of what was acknowledged. A database with less than its mark has lost acknowledged writes.
//!
//! | count | in the database | grows with |
//! |---|---|---|
//! | positions | the sum of the last positions of all organizations | each evaluation, so that the hot path writes no additional page |
//! | writes | `marks.writes` | each transaction that did anything else |
//!
//! The mark names the database by `marks.id`, so that a file of another database is ignored.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::schema::POSITION_BITS;
use super::seal::{self, Hash, Sink};
use crate::error::StoreError;

const KIND: &str = "renown-mark-1";

/// Acknowledged writes that a database no longer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostWrites {
    /// Evaluations.
    pub evaluations: u64,
    /// Transactions that wrote anything else.
    pub writes: u64,
}

impl LostWrites {
    fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for LostWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { evaluations, writes } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(
            f,
            "acknowledged writes are missing: {evaluations} evaluation{} and {writes} other write{}",
            plural(*evaluations),
            plural(*writes)
        )
    }
}

/// How much of a database was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    id: i64,
    positions: u64,
    writes: u64,
}

impl Mark {
    fn of(connection: &Connection) -> Result<Self, StoreError> {
        let positions = connection.query_row(
            "SELECT coalesce(sum(max(0, 1 - (o.org << ?1) + max(o.top, coalesce((SELECT max(seq) FROM evaluations e \
             WHERE e.seq >= o.org << ?1 AND e.seq < (o.org + 1) << ?1), -1)))), 0) FROM orgs o",
            [POSITION_BITS],
            |row| row.get(0),
        )?;
        let mark = |name| {
            let missing = || StoreError::Damaged(format!("the mark {name:?} is missing"));
            seal::mark(connection, name)?.ok_or_else(missing)
        };
        let writes = u64::try_from(mark("writes")?)
            .map_err(|_| StoreError::Damaged("the count of writes is negative".to_owned()))?;
        Ok(Self { id: mark("id")?, positions, writes })
    }

    /// Reads the mark of a database. Returns `None` if the file is absent or not complete.
    fn read(database: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path(database)).ok()?;
        let (content, check) = text.trim_end().rsplit_once(' ')?;
        let mut fields = content.split(' ');
        if fields.next()? != KIND {
            return None;
        }
        let id = u64::from_str_radix(fields.next()?, 16).ok()?.cast_signed();
        let mark = Self { id, positions: fields.next()?.parse().ok()?, writes: fields.next()?.parse().ok()? };
        (i64::from_str_radix(check, 16).ok()? == check_of(content)).then_some(mark)
    }

    fn text(self) -> String {
        let Self { id, positions, writes } = self;
        let content = format!("{KIND} {:016x} {positions:020} {writes:020}", id.cast_unsigned());
        let check = check_of(&content);
        format!("{content} {check:012x}\n")
    }
}

fn check_of(content: &str) -> i64 {
    let mut hash = Hash::new();
    hash.bytes(content.as_bytes());
    hash.finish()
}

/// Returns the path of the mark of a database.
pub(super) fn path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-mark");
    name.into()
}

/// A mark that was read before the database.
pub(super) struct SavedMark(Option<Mark>);

impl SavedMark {
    /// Reads the mark. Call it before a read transaction begins, because a server may raise the mark after each
    /// commit.
    pub(super) fn read(database: &Path) -> Self {
        Self(Mark::read(database))
    }

    /// Returns what a database has lost: now, and when it was opened before.
    pub(super) fn lost(&self, connection: &Connection) -> Result<Option<LostWrites>, StoreError> {
        let noted = |name| -> Result<u64, StoreError> {
            let noted = seal::mark(connection, name)?.unwrap_or_default();
            u64::try_from(noted).map_err(|_| StoreError::Damaged(format!("the mark {name:?} is negative")))
        };
        let mut lost = LostWrites { evaluations: noted("lost.evaluations")?, writes: noted("lost.writes")? };
        let found = Mark::of(connection)?;
        if let Some(mark) = self.0.filter(|mark| mark.id == found.id) {
            lost.evaluations += mark.positions.saturating_sub(found.positions);
            lost.writes += mark.writes.saturating_sub(found.writes);
        }
        Ok(Some(lost).filter(|lost| !lost.is_nothing()))
    }
}

/// Saves in the database what it has lost, so that this is still known when the mark is written again.
pub(super) fn note(connection: &Connection, lost: LostWrites) -> Result<(), StoreError> {
    let mut update = connection.prepare("UPDATE marks SET value = ?2 WHERE name = ?1")?;
    for (name, count) in [("lost.evaluations", lost.evaluations), ("lost.writes", lost.writes)] {
        update.execute(params![name, i64::try_from(count).unwrap_or(i64::MAX)])?;
    }
    Ok(())
}

/// Counts what a transaction does, and raises the mark when it is durable.
pub(super) struct MarkWriter {
    file: Option<File>,
    mark: Mark,
    /// Number of evaluations in the open transaction.
    evaluations: u64,
    /// Whether the open transaction raised `marks.writes`.
    is_raised: bool,
    /// The change counter of the connection before the open transaction.
    changes: u64,
}

impl MarkWriter {
    /// Opens the mark. A store opens even if the file cannot be opened.
    pub(super) fn open(connection: &Connection, database: &Path) -> Result<Self, StoreError> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path(database)).ok();
        let mark = Mark::of(connection)?;
        let changes = connection.total_changes();
        Ok(Self { file, mark, evaluations: 0, is_raised: false, changes })
    }

    /// Counts an evaluation that was written.
    pub(super) fn count_evaluation(&mut self) {
        self.evaluations += 1;
    }

    /// Called before the commit: counts a transaction that did more than write evaluations.
    pub(super) fn raise(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if connection.total_changes().saturating_sub(self.changes) > self.evaluations {
            connection
                .prepare_cached("UPDATE marks SET value = value + 1 WHERE name = 'writes'")?
                .execute([])?;
            self.is_raised = true;
        }
        Ok(())
    }

    /// Called after the commit.
    pub(super) fn commit(&mut self, connection: &Connection) {
        self.mark.positions += self.evaluations;
        self.mark.writes += u64::from(self.is_raised);
        let is_changed = self.is_raised || self.evaluations > 0;
        self.roll_back(connection);
        if is_changed {
            self.write();
        }
    }

    /// Called when the transaction failed.
    pub(super) fn roll_back(&mut self, connection: &Connection) {
        (self.evaluations, self.is_raised) = (0, false);
        self.changes = connection.total_changes();
    }

    /// Writes the mark as one small block. A mark that cannot be written stays old, which is allowed.
    fn write(&self) {
        if let Some(mut file) = self.file.as_ref() {
            let _ = file.rewind().and_then(|()| file.write_all(self.mark.text().as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_a_torn_one_is_ignored() {
        let scratch = Scratch::new();
        let database = scratch.join("renown.db");
        assert_eq!(Mark::read(&database), None);
        for id in [0, -1, i64::MIN, i64::MAX, 77] {
            let mark = Mark { id, positions: 12, writes: u64::MAX };
            std::fs::write(path(&database), mark.text()).unwrap();
            assert_eq!(Mark::read(&database), Some(mark));
            let text = mark.text();
            assert_eq!(
                text.len(),
                Mark { id: 1, positions: 0, writes: 0 }.text().len(),
                "one mark covers another"
            );
            for end in 0..text.len() - 1 {
                std::fs::write(path(&database), text.get(..end).unwrap()).unwrap();
                assert_eq!(Mark::read(&database), None, "{end}");
            }
        }
    }
}
