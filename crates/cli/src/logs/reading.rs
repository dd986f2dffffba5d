//! The state of reading logs: the ledger, the current line, and the problems.

use std::sync::mpsc::SyncSender;

use renown_telemetry::ledger::{Ledger, TimeRange};
use renown_telemetry::limits::SESSIONS_MAX;

use super::chunk::{NAMED_MAX, Part, Problem};
use crate::failure::Failure;

/// The state of one reading. Parts are added in the order of the stream.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) ledger: Ledger,
    /// Whether the first problem is an error.
    strict: bool,
    /// The name of the current source.
    name: String,
    /// Number of lines read from the current source.
    lines: u64,
    bad_lines: Named,
    rejected: Named,
    /// Other warnings, in order.
    warnings: Vec<String>,
    /// Receives the good lines, for `--submit`.
    lines_to: Option<SyncSender<Vec<u8>>>,
}

/// Problems of one kind. The first ones are shown, all are counted.
#[derive(Debug, Default)]
struct Named {
    first: Vec<String>,
    /// How many of the first ones were shown.
    shown: usize,
    count: u64,
}

impl Named {
    fn add(&mut self, count: u64, texts: impl Iterator<Item = String>) {
        self.count += count;
        let room = NAMED_MAX - self.first.len();
        self.first.extend(texts.take(room));
    }

    /// Returns those of the first ones that were not shown yet.
    fn news(&mut self) -> Vec<String> {
        let news = self.first.get(self.shown..).unwrap_or_default().to_vec();
        self.shown = self.first.len();
        news
    }

    /// Returns a text with the number of further problems.
    fn more(&self, what: &str) -> Option<String> {
        let more = self.count - self.first.len() as u64;
        let s = if more == 1 { "" } else { "s" };
        (more > 0).then(|| format!("{more} more {what}{s}"))
    }
}

impl Reading {
    pub(crate) fn new(cut: TimeRange, strict: bool) -> Self {
        Self {
            ledger: Ledger::new(cut),
            strict,
            name: String::new(),
            lines: 0,
            bad_lines: Named::default(),
            rejected: Named::default(),
            warnings: Vec::new(),
            lines_to: None,
        }
    }

    /// Also sends the good lines to a channel, in order.
    pub(crate) fn forwarding_lines(self, lines_to: Option<SyncSender<Vec<u8>>>) -> Self {
        Self { lines_to, ..self }
    }

    /// Prepares a part to collect the good lines, if they are wanted.
    pub(crate) fn prepare(&self, part: &mut Part) {
        part.good = self.lines_to.is_some().then(Vec::new);
    }

    /// Closes the channel of good lines.
    pub(crate) fn end_lines(&mut self) {
        self.lines_to = None;
    }

    /// Starts another source, or the same one from its start.
    pub(crate) fn begin(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.lines = 0;
    }

    /// Adds the last part of a chunk, and leaves it empty.
    pub(crate) fn end_chunk(&mut self, part: &mut Part) -> Result<(), Failure> {
        self.add(part)?;
        self.lines += std::mem::take(&mut part.lines);
        Ok(())
    }

    /// Adds a part of a chunk. More parts follow.
    pub(crate) fn add(&mut self, part: &mut Part) -> Result<(), Failure> {
        let position = |line: u64| format!("{}:{}", self.name, self.lines + line);
        let rejected = part.batch.rejected.iter().map(|record| (record.line, Problem::from(*record)));
        if self.strict {
            let first = part.bad.iter().copied().chain(rejected.clone()).min_by_key(|(line, _)| *line);
            if let Some((line, problem)) = first {
                return Err(failure(&position(line), problem));
            }
        }
        if let Some((line, problem)) = part.bad.iter().find(|(_, problem)| *problem == Problem::ProtobufFrame)
        {
            return Err(failure(&position(*line), *problem));
        }
        if let (Some(lines_to), Some(good)) = (&self.lines_to, &mut part.good)
            && !good.is_empty()
        {
            // If the receiver has stopped, it reports why.
            let _ = lines_to.send(std::mem::take(good));
        }
        let text = |(line, problem): (u64, Problem)| format!("{}: {problem}", position(line));
        self.bad_lines.add(part.bad_count, part.bad.iter().copied().map(text));
        self.rejected.add(part.batch.rejected.len() as u64, rejected.map(text));
        if part.broke_off {
            self.warnings
                .push(format!("{}: the compressed stream is truncated, used up to that point", self.name));
        }
        self.add_unfinished(part.truncated_bytes);
        self.ledger.count_bad_lines(part.bad_count);
        let folded = self.ledger.fold(&part.batch);
        part.clear();
        folded.map_err(|_| {
            Failure::new(format!("{}: more than {SESSIONS_MAX} sessions", self.name))
                .hint("judge fewer files at once")
        })
    }

    /// Counts the bytes of an unfinished last line, with a warning.
    pub(crate) fn add_unfinished(&mut self, bytes: u64) {
        if bytes > 0 {
            let s = if bytes == 1 { "" } else { "s" };
            self.warnings.push(format!("{}: ignored {bytes} byte{s} of an unfinished last line", self.name));
            self.ledger.count_truncated(bytes);
        }
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Returns the warnings that were not shown yet.
    pub(crate) fn new_warnings(&mut self) -> Vec<String> {
        let mut warnings = self.bad_lines.news();
        warnings.extend(self.rejected.news());
        warnings.append(&mut self.warnings);
        warnings
    }

    /// Returns the warnings that were not shown yet, and the numbers of further problems.
    pub(crate) fn all_warnings(&mut self) -> Vec<String> {
        let mut warnings = self.bad_lines.news();
        warnings.extend(self.bad_lines.more("bad line"));
        warnings.extend(self.rejected.news());
        warnings.extend(self.rejected.more("rejected record"));
        warnings.append(&mut self.warnings);
        warnings
    }

    /// Returns the first bad line.
    pub(crate) fn first_bad_line(&self) -> Option<&str> {
        self.bad_lines.first.first().map(String::as_str)
    }
}

fn failure(position: &str, problem: Problem) -> Failure {
    let failure = Failure::new(format!("{position}: {problem}"));
    match problem {
        Problem::ProtobufFrame => failure.hint("set `format: json` in the collector's file exporter"),
        Problem::Line(_) | Problem::BrokenFrame | Problem::Rejected(_) => failure,
    }
}
