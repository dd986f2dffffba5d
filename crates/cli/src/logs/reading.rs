//! What has been read so far: the ledger, the line that each source has come to, and what was wrong.

use std::sync::mpsc::SyncSender;

use renown_telemetry::ledger::{Cut, Ledger};
use renown_telemetry::limits::SESSIONS_MAX;

use super::chunk::{NAMED_MAX, Part, Problem};
use crate::failure::Failure;

/// The state of one reading, to which parts are added in the order of the stream.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) ledger: Ledger,
    /// Whether the first problem ends it.
    strict: bool,
    /// The source that is read.
    name: String,
    /// Lines of it that were read.
    lines: u64,
    bad_lines: Named,
    refused: Named,
    /// What is told beside the problems, in order.
    warnings: Vec<String>,
    /// Where the lines go that were read, if they go anywhere.
    lines_to: Option<SyncSender<Vec<u8>>>,
}

/// Problems of one kind: the first are named, all are counted.
#[derive(Debug, Default)]
struct Named {
    first: Vec<String>,
    /// How many of the first were told.
    told: usize,
    count: u64,
}

impl Named {
    fn add(&mut self, count: u64, texts: impl Iterator<Item = String>) {
        self.count += count;
        let room = NAMED_MAX - self.first.len();
        self.first.extend(texts.take(room));
    }

    /// The named ones that were not told yet.
    fn news(&mut self) -> Vec<String> {
        let news = self.first.get(self.told..).unwrap_or_default().to_vec();
        self.told = self.first.len();
        news
    }

    /// How many there were beyond the named ones.
    fn more(&self, what: &str) -> Option<String> {
        let more = self.count - self.first.len() as u64;
        let s = if more == 1 { "" } else { "s" };
        (more > 0).then(|| format!("{more} more {what}{s}"))
    }
}

impl Reading {
    pub(crate) fn new(cut: Cut, strict: bool) -> Self {
        Self {
            ledger: Ledger::new(cut),
            strict,
            name: String::new(),
            lines: 0,
            bad_lines: Named::default(),
            refused: Named::default(),
            warnings: Vec::new(),
            lines_to: None,
        }
    }

    /// The same, which also hands on the lines that were read, in order.
    pub(crate) fn handing_on(self, lines_to: Option<SyncSender<Vec<u8>>>) -> Self {
        Self { lines_to, ..self }
    }

    /// A part that holds what is wanted of a chunk.
    pub(crate) fn prepare(&self, part: &mut Part) {
        part.good = self.lines_to.is_some().then(Vec::new);
    }

    /// No more lines follow.
    pub(crate) fn end_lines(&mut self) {
        self.lines_to = None;
    }

    /// What follows is of another source, or of the same from its start.
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

    /// Adds a part of a chunk that goes on.
    pub(crate) fn add(&mut self, part: &mut Part) -> Result<(), Failure> {
        let place = |line: u64| format!("{}:{}", self.name, self.lines + line);
        let refused = part.batch.refused.iter().map(|refused| (refused.line, Problem::from(*refused)));
        if self.strict {
            let first = part.bad.iter().copied().chain(refused.clone()).min_by_key(|(line, _)| *line);
            if let Some((line, problem)) = first {
                return Err(told(&place(line), problem));
            }
        }
        if let Some((line, problem)) = part.bad.iter().find(|(_, problem)| *problem == Problem::ProtobufFrame)
        {
            return Err(told(&place(*line), *problem));
        }
        if let (Some(lines_to), Some(good)) = (&self.lines_to, &mut part.good)
            && !good.is_empty()
        {
            // Whoever took them has said why if it takes no more.
            let _ = lines_to.send(std::mem::take(good));
        }
        let text = |(line, problem): (u64, Problem)| format!("{}: {problem}", place(line));
        self.bad_lines.add(part.bad_count, part.bad.iter().copied().map(text));
        self.refused.add(part.batch.refused.len() as u64, refused.map(text));
        if part.broke_off {
            self.warnings.push(format!("{}: the compressed stream breaks off, used up to there", self.name));
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

    /// Notes the bytes of an unfinished last line.
    pub(crate) fn add_unfinished(&mut self, bytes: u64) {
        if bytes > 0 {
            let s = if bytes == 1 { "" } else { "s" };
            self.warnings.push(format!("{}: ignored {bytes} byte{s} of an unfinished last line", self.name));
            self.ledger.count_truncated(bytes);
        }
    }

    /// Remembers something to tell.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// What was not as it should be and has not been told yet.
    pub(crate) fn new_warnings(&mut self) -> Vec<String> {
        let mut warnings = self.bad_lines.news();
        warnings.extend(self.refused.news());
        warnings.append(&mut self.warnings);
        warnings
    }

    /// The same at the end, with how many more there were.
    pub(crate) fn all_warnings(&mut self) -> Vec<String> {
        let mut warnings = self.bad_lines.news();
        warnings.extend(self.bad_lines.more("bad line"));
        warnings.extend(self.refused.news());
        warnings.extend(self.refused.more("refused record"));
        warnings.append(&mut self.warnings);
        warnings
    }

    /// The first line that could not be read.
    pub(crate) fn first_bad_line(&self) -> Option<&str> {
        self.bad_lines.first.first().map(String::as_str)
    }
}

fn told(place: &str, problem: Problem) -> Failure {
    let failure = Failure::new(format!("{place}: {problem}"));
    match problem {
        Problem::ProtobufFrame => failure.hint("set `format: json` in the collector's file exporter"),
        Problem::Line(_) | Problem::BrokenFrame | Problem::Refused(_) => failure,
    }
}
