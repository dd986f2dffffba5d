//! The sessions of OpenCode: its database, which is read beside the running program, or the files of old versions.
//!
//! The database is opened read-only with its write-ahead log. Nothing is written to it, and no lock outlives a query.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use renown_telemetry::limits::LINE_BYTES_MAX;
use renown_telemetry::transcript::Transcript;
use renown_telemetry::transcript::opencode::{OpenCodeReader, OpenCodeSession};
use rusqlite::{Connection, OpenFlags, Row};

/// How long to wait for a writer.
const BUSY: Duration = Duration::from_secs(2);

/// Reads a database.
pub(crate) fn database(path: &Path) -> Result<Transcript, String> {
    read(path).map_err(|error| error.to_string())
}

fn read(path: &Path) -> rusqlite::Result<Transcript> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    // All rows of one moment.
    connection.execute_batch("BEGIN")?;
    let mut reader = OpenCodeReader::default();
    let columns = columns(&connection, "session")?;
    let column = |name: &str| if columns.contains(name) { name.to_owned() } else { "NULL".to_owned() };
    let query = format!(
        "SELECT id, {}, {}, {}, {} FROM session ORDER BY id",
        column("parent_id"),
        column("directory"),
        column("version"),
        column("time_created"),
    );
    rows(&connection, &query, |row| {
        let texts: [Option<String>; 4] = [text(row, 0), text(row, 1), text(row, 2), text(row, 3)];
        let [id, parent, directory, version] = texts;
        reader.session(&OpenCodeSession {
            id: id.as_deref().unwrap_or_default(),
            parent: parent.as_deref().filter(|parent| !parent.is_empty()),
            directory: directory.as_deref(),
            version: version.as_deref(),
            created_ms: row.get(4).ok(),
        });
    })?;
    rows(&connection, "SELECT id, session_id, data FROM message ORDER BY id", |row| {
        match (text(row, 0), text(row, 1), text(row, 2)) {
            (Some(id), Some(session), Some(data)) => reader.message(&id, &session, &data),
            _ => reader.bad(),
        }
    })?;
    rows(&connection, "SELECT message_id, data FROM part ORDER BY id", |row| {
        match (text(row, 0), text(row, 1)) {
            (Some(message), Some(data)) => reader.part(&message, &data),
            _ => reader.bad(),
        }
    })?;
    Ok(reader.finish())
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

fn rows(connection: &Connection, query: &str, mut each: impl FnMut(&Row<'_>)) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(row);
    }
    Ok(())
}

/// Returns a text, also if it is stored as bytes.
fn text(row: &Row<'_>, column: usize) -> Option<String> {
    let bytes = row.get_ref(column).ok()?.as_bytes().ok()?;
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// Reads the directory `storage` of old versions.
pub(crate) fn tree(storage: &Path) -> Transcript {
    let mut reader = OpenCodeReader::default();
    let read = |path: &Path| {
        let is_short =
            fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LINE_BYTES_MAX as u64);
        if is_short { fs::read_to_string(path).ok() } else { None }
    };
    for path in files(&storage.join("session")) {
        match read(&path) {
            Some(data) => reader.session_file(&data),
            None => reader.bad(),
        }
    }
    for path in files(&storage.join("message")) {
        match read(&path) {
            Some(data) => reader.message("", "", &data),
            None => reader.bad(),
        }
    }
    for path in files(&storage.join("part")) {
        match read(&path) {
            Some(data) => reader.part("", &data),
            None => reader.bad(),
        }
    }
    reader.finish()
}

/// Returns the JSON files one level below a directory, in order.
fn files(dir: &Path) -> Vec<PathBuf> {
    let list = |dir: &Path| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let below = list(dir).into_iter().flat_map(|dir| list(&dir));
    below.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}
