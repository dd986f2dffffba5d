//! Checks the structure of the file, the seals of its rows, and the numbers of rows.

use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::sqlite::seal::{self, SEALED, Sealed};

/// Checks that every page is sound, that every index matches its table, and that the schema is the one that was
/// written.
pub(super) fn check_structure(connection: &Connection) -> Result<(), StoreError> {
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::Damaged(verdict));
    }
    if seal::mark(connection, "schema")? != Some(seal::schema(connection)?) {
        return Err(StoreError::Damaged("the schema is not the one that was written".to_owned()));
    }
    Ok(())
}

/// Compares every seal with its row, and every count with its table.
pub(super) fn compare(connection: &Connection) -> Result<(), StoreError> {
    for sealed in &SEALED {
        compare_rows(connection, sealed)?;
        if sealed.is_counted {
            compare_count(connection, sealed)?;
        }
    }
    compare_records(connection)
}

fn compare_rows(connection: &Connection, sealed: &Sealed) -> Result<(), StoreError> {
    let Sealed { table, what, slice, columns, .. } = sealed;
    let sql =
        format!("SELECT CAST({slice} AS TEXT) FROM {table} WHERE seal IS NOT renown_seal({columns}) LIMIT 1");
    let found: Option<String> = connection.query_row(&sql, [], |row| row.get(0)).optional()?;
    match found {
        None => Ok(()),
        Some(key) => {
            let changed = format!("{what} is not as it was written ({table}, {slice} {key})");
            Err(StoreError::Damaged(changed))
        }
    }
}

fn compare_count(connection: &Connection, sealed: &Sealed) -> Result<(), StoreError> {
    let table = sealed.table;
    let found: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
    let expected = seal::mark(connection, &format!("rows.{table}"))?;
    if expected == Some(found) {
        return Ok(());
    }
    let expected = expected.map_or_else(|| "an unknown number".to_owned(), |count| count.to_string());
    Err(StoreError::Damaged(format!("the table {table} has {found} rows, expected {expected}")))
}

/// Compares the number of records of each session with the count in its row. Sessions that are being deleted may
/// have fewer.
fn compare_records(connection: &Connection) -> Result<(), StoreError> {
    let found: Option<i64> = connection
        .query_row(
            "SELECT s.session FROM sessions s JOIN agents a ON a.agent = s.agent WHERE s.session_id IS NOT NULL AND s.records <> \
             (SELECT count(*) FROM session_records r WHERE r.session = s.session AND r.record <> x'') LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()?;
    match found {
        None => Ok(()),
        Some(session) => Err(StoreError::Damaged(format!(
            "session number {session} does not have the number of records that was counted"
        ))),
    }
}
