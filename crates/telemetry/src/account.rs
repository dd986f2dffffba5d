//! Counts of everything that was read: what was scored, and what was skipped for which reason.

use std::ops::AddAssign;

use serde::Serialize;

/// Counts of what was read, in the order in which they are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Lines or frames that were not blank.
    pub lines: u64,
    /// Log records and spans in the lines.
    pub records: u64,
    /// Facts that sessions were scored from.
    pub facts: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Lines that were skipped because they are not OTLP.
    pub bad_lines: u64,
    /// Bytes of an unfinished last line.
    pub truncated_bytes: u64,
    /// Records of a kind that no dialect defines.
    pub unknown_events: u64,
    /// Records without a session id.
    pub no_session: u64,
    /// Records without a time.
    pub no_time: u64,
    /// Records that were rejected because of an invalid number.
    pub bad_values: u64,
    /// Records that repeat an earlier record.
    pub duplicates: u64,
    /// Records of an OTLP signal that is not scored, because the other one reports the same work.
    pub shadowed: u64,
}

impl Account {
    /// Returns the counts with their names.
    pub fn entries(&self) -> [(&'static str, u64); 12] {
        [
            ("lines", self.lines),
            ("records", self.records),
            ("facts", self.facts),
            ("sessions", self.sessions),
            ("bad_lines", self.bad_lines),
            ("truncated_bytes", self.truncated_bytes),
            ("unknown_events", self.unknown_events),
            ("no_session", self.no_session),
            ("no_time", self.no_time),
            ("bad_values", self.bad_values),
            ("duplicates", self.duplicates),
            ("shadowed", self.shadowed),
        ]
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        let Self {
            lines,
            records,
            facts,
            sessions,
            bad_lines,
            truncated_bytes,
            unknown_events,
            no_session,
            no_time,
            bad_values,
            duplicates,
            shadowed,
        } = other;
        self.lines = self.lines.saturating_add(lines);
        self.records = self.records.saturating_add(records);
        self.facts = self.facts.saturating_add(facts);
        self.sessions = self.sessions.saturating_add(sessions);
        self.bad_lines = self.bad_lines.saturating_add(bad_lines);
        self.truncated_bytes = self.truncated_bytes.saturating_add(truncated_bytes);
        self.unknown_events = self.unknown_events.saturating_add(unknown_events);
        self.no_session = self.no_session.saturating_add(no_session);
        self.no_time = self.no_time.saturating_add(no_time);
        self.bad_values = self.bad_values.saturating_add(bad_values);
        self.duplicates = self.duplicates.saturating_add(duplicates);
        self.shadowed = self.shadowed.saturating_add(shadowed);
    }
}
