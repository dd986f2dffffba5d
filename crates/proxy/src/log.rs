//! The log: one file per day, one line per call, kept for 30 days.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use renown_core::time::Timestamp;

use crate::record::CallRecord;

/// Number of days that are kept.
const DAYS_KEPT: i64 = 30;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The log of one process. Several processes may write to the same files, because a line is a single appending write.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    /// The open file and its day.
    open: Option<(String, File)>,
}

impl Log {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, open: None }
    }

    /// Writes a record.
    pub(crate) fn write(&mut self, record: &CallRecord) -> io::Result<()> {
        let day = day(record.ts);
        let file = match &mut self.open {
            Some((open, file)) if *open == day => file,
            open => {
                fs::create_dir_all(&self.folder)?;
                let path = self.folder.join(format!("{day}.jsonl"));
                let file = OpenOptions::new().create(true).append(true).open(path)?;
                remove_old(&self.folder, record.ts);
                &mut open.insert((day, file)).1
            }
        };
        file.write_all(line(record).as_bytes())
    }
}

/// Formats a record as a line.
pub(crate) fn line(record: &CallRecord) -> String {
    // Serializing a record cannot fail.
    serde_json::to_string(record).unwrap_or_default() + "\n"
}

/// Returns the date of a time, such as 2026-11-15.
fn day(time: Timestamp) -> String {
    time.to_string().chars().take("2026-11-15".len()).collect()
}

/// Removes files that are too old. If that fails, it is tried again the next day.
fn remove_old(folder: &Path, now: Timestamp) {
    let oldest = Timestamp::from_millis(now.millis() - DAYS_KEPT * DAY_MS).map(day).unwrap_or_default();
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let date = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        let is_date =
            |date: &&str| date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if date.filter(is_date).is_some_and(|date| *date < *oldest) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use renown_core::units::Micros;
    use renown_testing::Scratch;

    use super::*;
    use crate::record::Action;

    fn record(millis: i64) -> CallRecord {
        CallRecord {
            ts: Timestamp::from_millis(millis).unwrap(),
            evaluation_id: "e".parse().unwrap(),
            agent_id: "a".parse().unwrap(),
            server: "s".to_owned(),
            tool: Some("t".parse().unwrap()),
            action: Action::Forwarded,
            passed: true,
            gates: Vec::new(),
            total: Micros::default(),
            latency: None,
            bytes: 7,
            tool_error: false,
            counts: true,
        }
    }

    #[test]
    fn there_is_one_file_per_day_for_thirty_days() {
        let folder = Scratch::new();
        let mut log = Log::new(folder.path().to_owned());
        let first = 1_700_000_000_000;
        for days in [0, 0, 1, 31] {
            log.write(&record(first + days * DAY_MS)).unwrap();
        }
        folder.write("rejected.jsonl", "");
        log.write(&record(first + 32 * DAY_MS)).unwrap();
        assert_eq!(folder.names(), ["2023-12-15.jsonl", "2023-12-16.jsonl", "rejected.jsonl"]);
        let text = fs::read_to_string(folder.join("2023-12-16.jsonl")).unwrap();
        assert_eq!(
            text,
            "{\"ts\":\"2023-12-16T22:13:20.000Z\",\"evaluation_id\":\"e\",\"agent_id\":\"a\",\"server\":\"s\",\"tool\":\"t\",\"action\":\"forwarded\",\"passed\":true,\"gates\":[],\"total_latency_ms\":0.0,\"latency_ms\":null,\"bytes\":7,\"tool_error\":false}\n"
        );
    }
}
