//! A row of `evaluations`: its values in the order of the table, and its seal.
//!
//! The seal is computed here and bound as a value. Calling `renown_seal` in the statement would pass every value to
//! SQLite twice, and SQLite would copy each text once more.

use std::fmt::Write;

use renown_core::units::Micros;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::evidence::Position;
use crate::evidence::Salt;
use crate::fold::evaluations::CountedEvaluation;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::seal::{EVALUATION, seals_of};

/// Number of sealed columns.
const SEALED: usize = 16;

/// Number of parameters per row: the sealed columns and the seal.
const PARAMETERS: usize = SEALED + 1;

/// Returns the statement that inserts this many rows, all or none.
pub(super) fn insert(rows: usize) -> String {
    let mut sql = format!("INSERT INTO evaluations ({EVALUATION}, seal) VALUES ");
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 1..=PARAMETERS {
            let comma = if column == 1 { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(sql, "{comma}?{}", PARAMETERS * row + column);
        }
        sql.push(')');
    }
    sql
}

/// A row to write.
pub(super) struct Row<'e> {
    pub(super) org: OrgKey,
    /// The number of its agent.
    pub(super) agent: i64,
    pub(super) counted: CountedEvaluation<'e>,
    pub(super) salt: Salt,
}

impl Row<'_> {
    /// Returns the values of the sealed columns, in their order.
    fn values(&self) -> [ValueRef<'_>; SEALED] {
        let counted = &self.counted;
        let (new, standing) = (counted.new, counted.tally.standing());
        let integer = |number: Option<i64>| number.map_or(ValueRef::Null, ValueRef::Integer);
        let micros = |micros: Micros| ValueRef::Integer(micros.us().into());
        [
            ValueRef::Integer(counted.position.number()),
            ValueRef::Integer(self.org.number()),
            ValueRef::Integer(self.agent),
            integer(counted.previous.map(Position::number)),
            ValueRef::Text(new.id.get().as_str().as_bytes()),
            ValueRef::Integer(new.passed.into()),
            micros(counted.sample.latency),
            micros(new.gate_latency),
            new.agent_latency.map_or(ValueRef::Null, micros),
            new.tool.as_ref().map_or(ValueRef::Null, |tool| ValueRef::Text(tool.as_str().as_bytes())),
            ValueRef::Text(new.gates.as_bytes()),
            ValueRef::Integer(counted.created_at().millis()),
            ValueRef::Integer(counted.accepted_at.millis()),
            ValueRef::Integer(standing.score.into()),
            integer(i64::try_from(standing.eval_count).ok()),
            ValueRef::Blob(&self.salt),
        ]
    }
}

/// Binds rows to the statement of [`insert`] for this many rows.
pub(super) fn bind(rows: &[Row<'_>], insert: &mut Statement<'_>) -> rusqlite::Result<()> {
    let rows: Vec<[ValueRef<'_>; SEALED]> = rows.iter().map(Row::values).collect();
    let seals = seals_of(&rows).into_iter().map(ValueRef::Integer);
    let values = rows.into_iter().zip(seals).flat_map(|(values, seal)| values.into_iter().chain([seal]));
    for (parameter, value) in (1_usize..).zip(values) {
        insert.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))?;
    }
    Ok(())
}
