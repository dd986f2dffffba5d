//! Seals: a checksum of every row whose values are shown, and the expected number of rows.
//!
//! ```text
//! seal(row) = fold48(FNV-1a-64(kind and bytes of each sealed column, in order))
//! ```
//!
//! SQLite checks the structure of its pages (`PRAGMA integrity_check`) but not the values in them: a flipped bit in
//! a text gives another text. So each row has a seal over its values and its key, and `verify` computes it again.
//!
//! - **One function**: [`seal_of`], in SQL `renown_seal(…)`, which is registered on every connection. `evaluations`
//!   are written most often, so their seal is computed outside of the statement. `session_records` call the
//!   function in their `INSERT`. All other tables have triggers, so that no statement can forget it.
//! - **Not sealed** is what `verify` computes from sealed rows anyway: the sums of agents and of identities, the
//!   state of a session and its summary. They change with every write, and a seal would cost more than it shows.
//! - **48 bits**: SQLite stores them in six bytes and one for the type. Each step of FNV-1a can be undone, so two
//!   rows of the same length that differ in one byte never have the same 64 bits. After folding to 48 bits, one
//!   difference in 2^48 is missed.
//! - **Rows that vanish or appear**: triggers count the rows of each table in `marks`. Evaluations are not counted,
//!   since each one names the previous one of its agent; the records of a session are counted in its row.
//!
//! A seal protects from accidents only: anyone who can write to the file can also compute it.

mod together;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

pub(super) use self::together::seals_of;
use crate::error::StoreError;

/// A table whose rows are sealed.
pub(super) struct Sealed {
    pub(super) table: &'static str,
    /// The name of a row in texts.
    pub(super) what: &'static str,
    /// The column by which its rows are sealed in slices.
    pub(super) slice: &'static str,
    /// The sealed columns, in order. They never change for a released version.
    pub(super) columns: &'static str,
    /// Whether `marks` counts its rows.
    pub(super) is_counted: bool,
}

pub(super) const EVALUATION: &str = "seq, org, agent, previous, evaluation_id, passed, latency_us, gate_us, agent_us, tool, gates, \
     created_at, accepted_at, score, evaluations, salt";

/// Every sealed table. The triggers of the schema have the same columns in the same order; a test compares them.
pub(super) const SEALED: [Sealed; 16] = [
    Sealed::new("orgs", "an organization", "org", "org, name, created_at, latency_source, pruned, top"),
    Sealed::new(
        "keys",
        "a key",
        "rowid",
        "id, org, kind, label, hash, last_four, created_at, last_used_at, revoked_at",
    ),
    Sealed::new("agents", "an agent", "agent", "agent, org, name, first_seen, public, slug"),
    Sealed::new("evaluations", "an evaluation", "seq", EVALUATION).uncounted(),
    Sealed::new(
        "agent_run_scores",
        "a run",
        "run",
        "run, org, agent, run_id, workspace, spec_id, outcome, stages, wall_ms, memory_peak_bytes, memory_limit_bytes, \
         cpu_periods, cpu_throttled_periods, cpu_throttled_ms, started_ns, finished_ns, branch, pull_request, attributes, \
         warnings, accepted_at, digest, salt, baseline_runs, baseline_low_ms, baseline_high_ms, score, completion, error_rate, \
         latency, resource_efficiency, defaulted, formula_version",
    ),
    Sealed::new("identities", "an identity", "identity", "identity, org, id"),
    Sealed::new(
        "reputation_events",
        "a reputation event",
        "event",
        "event, org, identity, event_id, month, at_ns, category, event_type, delta, confidence, reference_type, \
         reference_id, attributes, accepted_at, salt",
    ),
    Sealed::new(
        "sessions",
        "a session",
        "session",
        "session, org, session_id, agent, signal_agent, first_seen, last_seen, began_ns, last_ns, check_at, closed_at, records, traces, \
         event, event_id",
    ),
    Sealed::new("session_records", "a record of a session", "session", "session, at_ns, key, record")
        .uncounted(),
    Sealed::new(
        "session_traces",
        "a trace of a session",
        "session",
        "session, trace_id, position, started_ns, confidence, loop_detection, tool_correctness, coherence",
    ),
    Sealed::new(
        "request_keys",
        "a request key",
        "created_at",
        "org, key, fingerprint, kind, accepted, repeated, position, api_key, created_at",
    )
    .uncounted(),
    Sealed::new(
        "request_key_agents",
        "an agent of a request key",
        "place",
        "org, key, place, agent, score, evaluations",
    )
    .uncounted(),
    Sealed::new(
        "eval_runs",
        "an eval run",
        "eval_run",
        "eval_run, org, id, schedule_id, status, filtered, agent, from_ns, to_ns, min_traces, created_at, state",
    ),
    Sealed::new(
        "eval_results",
        "a result of an eval run",
        "eval_run",
        "eval_run, session_id, agent, outcome, body",
    )
    .uncounted(),
    Sealed::new(
        "schedules",
        "a schedule",
        "schedule",
        "schedule, org, id, cadence, agent, from_ns, to_ns, min_traces, next_ns, state",
    ),
    Sealed::new(
        "tombstones",
        "a tombstone",
        "tombstone",
        "tombstone, org, digest, asked_at, erased, done_at, clean_at, agent, last_seq, identity",
    ),
];

impl Sealed {
    const fn new(
        table: &'static str,
        what: &'static str,
        slice: &'static str,
        columns: &'static str,
    ) -> Self {
        Self { table, what, slice, columns, is_counted: true }
    }

    const fn uncounted(self) -> Self {
        Self { is_counted: false, ..self }
    }
}

/// Number of rows that an upgrade seals with one statement. SQLite keeps the pages that one statement changes in
/// memory.
const SLICE: i64 = 10_000;

/// Registers `renown_seal` on a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("renown_seal", -1, flags, |context: &Context<'_>| {
        let mut hash = Hash::new();
        (0..context.len()).for_each(|index| write_value(context.get_raw(index), &mut hash));
        Ok(hash.finish())
    })
}

/// Returns the seal of a row with these values.
pub(super) fn seal_of(values: &[ValueRef<'_>]) -> i64 {
    let mut hash = Hash::new();
    for value in values {
        write_value(*value, &mut hash);
    }
    hash.finish()
}

const PRIME: u64 = 0x0100_0000_01b3;

/// The prime to the power of the index: the factor for this many zero bytes.
const ZEROS: [u64; 9] = {
    let mut powers = [1; 9];
    let mut index = 1;
    while index < powers.len() {
        #[expect(clippy::indexing_slicing, reason = "a constant, and the index is below its length")]
        let power = u64::wrapping_mul(powers[index - 1], PRIME);
        #[expect(clippy::indexing_slicing, reason = "the same")]
        {
            powers[index] = power;
        }
        index += 1;
    }
    powers
};

/// FNV-1a over 64 bits.
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn step(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
    }

    /// Returns the lower 48 bits, with the upper ones mixed in.
    pub(super) fn finish(self) -> i64 {
        (self.0 ^ (self.0 >> 48)).cast_signed() & 0xffff_ffff_ffff
    }
}

/// Receives the sealed bytes.
pub(super) trait Sink {
    fn bytes(&mut self, bytes: &[u8]);

    /// Adds the eight bytes of a number, the lowest first.
    fn number(&mut self, number: u64);
}

impl Sink for Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// A zero byte only multiplies, and most numbers end with several zero bytes: these are one multiplication.
    fn number(&mut self, number: u64) {
        let mut rest = number;
        let mut zeros = ZEROS.len() - 1;
        while rest != 0 {
            self.0 = (self.0 ^ (rest & 0xff)).wrapping_mul(PRIME);
            (rest, zeros) = (rest >> 8, zeros - 1);
        }
        self.0 = self.0.wrapping_mul(ZEROS.get(zeros).copied().unwrap_or(1));
    }
}

/// Adds one value: its kind, its length if that varies, its bytes.
fn write_value(value: ValueRef<'_>, sink: &mut impl Sink) {
    match value {
        ValueRef::Null => sink.bytes(&[0]),
        ValueRef::Integer(number) => {
            sink.bytes(&[1]);
            sink.number(number.cast_unsigned());
        }
        ValueRef::Real(number) => {
            sink.bytes(&[2]);
            // A table stores -0.0 as 0.0.
            let number = if number == 0.0 { 0.0 } else { number };
            sink.number(number.to_bits());
        }
        ValueRef::Text(bytes) => write_sized(3, bytes, sink),
        ValueRef::Blob(bytes) => write_sized(4, bytes, sink),
    }
}

fn write_sized(kind: u8, bytes: &[u8], sink: &mut impl Sink) {
    sink.bytes(&[kind]);
    sink.number(bytes.len() as u64);
    sink.bytes(bytes);
}

/// Seals every row, one slice at a time. For an upgrade, in its transaction.
pub(super) fn seal_rows(connection: &Connection) -> Result<(), StoreError> {
    for Sealed { table, slice, columns, .. } in &SEALED {
        let mut end = connection.prepare(&format!(
            "SELECT max({slice}) FROM (SELECT {slice} FROM {table} WHERE {slice} > ?1 ORDER BY {slice} LIMIT {SLICE})"
        ))?;
        let mut seal = connection.prepare(&format!(
            "UPDATE {table} SET seal = renown_seal({columns}) WHERE {slice} > ?1 AND {slice} <= ?2"
        ))?;
        let mut after = i64::MIN;
        while let Some(last) = end.query_row([after], |row| row.get::<_, Option<i64>>(0))? {
            seal.execute([after, last])?;
            after = last;
        }
    }
    Ok(())
}

/// Saves the seal of the schema after an upgrade.
pub(super) fn seal_schema(connection: &Connection) -> Result<(), StoreError> {
    let mut keep = connection.prepare("INSERT OR REPLACE INTO marks (name, value) VALUES ('schema', ?1)")?;
    keep.execute([schema(connection)?])?;
    Ok(())
}

/// Returns the seal of the schema's text. The first pages of tables are not part of it, since they may move.
pub(super) fn schema(connection: &Connection) -> Result<i64, StoreError> {
    let mut select = connection
        .prepare("SELECT renown_seal(type, name, tbl_name, sql) FROM sqlite_schema ORDER BY type, name")?;
    let mut rows = select.query([])?;
    let mut hash = Hash::new();
    while let Some(row) = rows.next()? {
        hash.bytes(&row.get::<_, i64>(0)?.to_le_bytes());
    }
    Ok(hash.finish())
}

/// Returns a value of `marks`.
pub(super) fn mark(connection: &Connection, name: &str) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached("SELECT value FROM marks WHERE name = ?1")?;
    Ok(select.query_row(params![name], |row| row.get(0)).optional()?)
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;
    use crate::sqlite::schema as stored;

    fn seal(connection: &Connection, values: &str) -> i64 {
        connection.query_row(&format!("SELECT renown_seal({values})"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn values_that_differ_in_kind_order_or_a_bit_have_other_seals() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let rows = [
            "1, 2",
            "2, 1",
            "1, 3",
            "1, 2.0",
            "1, '2'",
            "1, x'32'",
            "1, NULL",
            "NULL, 1",
            "'ab', 'c'",
            "'a', 'bc'",
            "1",
            "1, 2, NULL",
            "0",
            "NULL",
        ];
        for (index, one) in rows.iter().enumerate() {
            for other in rows.iter().skip(index + 1) {
                assert_ne!(seal(&connection, one), seal(&connection, other), "{one} and {other}");
            }
        }
        assert_eq!(seal(&connection, "0.0"), seal(&connection, "-0.0"));
        assert!((0..1 << 48).contains(&seal(&connection, "1")));
    }

    /// Seals that were computed by hand from the definition of FNV-1a. They are stored, so they must never change.
    #[test]
    fn the_seal_of_a_value_is_the_same_in_every_release() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let by_hand = |bytes: &[u8]| {
            let hash = bytes.iter().fold(14_695_981_039_346_656_037_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211)
            });
            i64::try_from((hash ^ (hash >> 48)) % (1 << 48)).unwrap()
        };
        assert_eq!(seal(&connection, "NULL"), by_hand(&[0]));
        assert_eq!(seal(&connection, "258"), by_hand(&[1, 2, 1, 0, 0, 0, 0, 0, 0]));
        assert_eq!(seal(&connection, "'a'"), by_hand(&[3, 1, 0, 0, 0, 0, 0, 0, 0, b'a']));
        for number in
            [0, 1, -1, 255, 256, 1 << 40, 0x0100_0000_0000_0001, i64::MIN, i64::MAX, 1_794_744_000_000]
        {
            let bytes = [&[1], number.to_le_bytes().as_slice()].concat();
            assert_eq!(
                seal(
                    &connection,
                    &number.to_string().replace("-9223372036854775808", "(-9223372036854775807 - 1)")
                ),
                by_hand(&bytes),
                "{number}"
            );
        }
    }

    #[test]
    fn the_triggers_seal_the_columns_that_are_verified() {
        let scratch = Scratch::new();
        let path = scratch.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        stored::upgrade(&mut connection, &path, &stored::STEPS).unwrap();
        for Sealed { table, columns, is_counted, .. } in &SEALED {
            let mut select = connection
                .prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1")
                .unwrap();
            let triggers: Vec<String> =
                select.query_map([table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
            let plain = |sql: &String| {
                let plain = sql.split_whitespace().collect::<Vec<_>>().join(" ");
                plain.replace("( ", "(").replace(" )", ")")
            };
            let triggers: Vec<String> = triggers.iter().map(plain).collect();
            let new: Vec<String> = columns.split(", ").map(|column| format!("NEW.{column}")).collect();
            let sealing = format!("SET seal = renown_seal({})", new.join(", "));
            let count = |part: &str| triggers.iter().filter(|sql| sql.contains(part)).count();
            let inline = matches!(*table, "evaluations" | "session_records");
            assert_eq!(count(&sealing), if inline { 0 } else { 2 }, "{table}: {triggers:#?}");
            assert_eq!(
                count(&format!("AFTER UPDATE OF {columns} ON {table}")),
                usize::from(!inline),
                "{table}"
            );
            assert_eq!(count(&format!("'rows.{table}'")), if *is_counted { 2 } else { 0 }, "{table}");
            assert!(connection.prepare(&format!("SELECT {columns} FROM {table}")).is_ok(), "{table}");
        }
    }
}
