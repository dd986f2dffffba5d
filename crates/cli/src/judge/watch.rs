//! `renown judge --watch`: shows the current session again whenever its log has grown.
//!
//! On a terminal, each rendering replaces the last one. Elsewhere, each is a YAML document, a line of JSON or a table, and is
//! printed only if it differs from the last one.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use renown_telemetry::ledger::Session;

use super::Judge;
use super::print::{self, Shown};
use crate::args::FormatArg;
use crate::failure::{self, Failure};
use crate::logs::chunk::{Part, parse};
use crate::logs::follow::{Follow, News};
use crate::logs::reading::Reading;
use crate::logs::stream::{Chunk, Content};

/// Minimum time between two renderings.
const RENDER_EVERY: Duration = Duration::from_secs(1);

impl Judge<'_> {
    /// Follows a log until its end. A file has no end, a pipe has one.
    pub(super) fn watch(&self, logs: &[PathBuf]) -> Result<ExitCode, Failure> {
        let [path] = logs else {
            return Err(Failure::new(format!("--watch follows one log, found {}", logs.len())));
        };
        let (name, mut log) = Follow::open(path)?;
        let mut reading = self.reading();
        reading.begin(&name);
        let mut screen = Screen::new(self.args.format);
        let mut part = Part::default();
        let mut is_waiting = false;
        loop {
            let news = log.news().map_err(|error| Failure::new(format!("{name}: {error}")))?;
            let (is_over, is_idle) = (matches!(news, News::End(_)), matches!(news, News::Nothing));
            self.add(news, &name, &mut reading, &mut part)?;
            self.warn(&reading.new_warnings());
            // The existing log is read to its end before the first rendering.
            let is_due = is_over || (screen.is_due() && (is_idle || screen.has_shown()));
            let watched = self.watched(&reading).filter(|_| is_due);
            if let Some(report) = watched.and_then(|session| self.report(session))
                && !screen.show(Shown::of(report))?
            {
                return Ok(ExitCode::SUCCESS);
            }
            if is_over {
                let account = reading.ledger.account();
                self.report_account(&account);
                return self
                    .select(&reading.ledger, logs, &account, reading.first_bad_line())
                    .map(|_| ExitCode::SUCCESS);
            }
            if is_idle && !is_waiting && !self.quiet && !screen.has_shown() {
                failure::note(&format!("waiting for a session in {name} (end with Ctrl-C)"));
                is_waiting = true;
            }
        }
    }

    /// Adds the news to the reading.
    fn add(&self, news: News, name: &str, reading: &mut Reading, part: &mut Part) -> Result<(), Failure> {
        let restarted = matches!(news, News::Restarted(_));
        let (buffer, content, is_last) = match news {
            News::Nothing => return Ok(()),
            News::Lines(lines) => (lines, Content::Lines, false),
            News::TooLong => (Vec::new(), Content::TooLong, false),
            News::End(rest) | News::Restarted(rest) => (rest, Content::Lines, true),
        };
        let chunk = Chunk { filled: buffer.len(), buffer, content, is_last, broke_off: false };
        let mut flushed = Ok(());
        parse(&chunk, &self.prices, part, &mut |part| {
            let outcome = reading.add(part);
            if flushed.is_ok() {
                flushed = outcome;
            }
            part.clear();
        });
        flushed?;
        reading.end_chunk(part)?;
        if restarted {
            reading.begin(name);
        }
        Ok(())
    }

    /// Returns the watched session: the one named by `--session`, else the latest.
    fn watched<'r>(&self, reading: &'r Reading) -> Option<&'r Session> {
        match &self.args.session {
            Some(id) => reading.ledger.find(id),
            None => reading.ledger.scorable().pop(),
        }
    }
}

/// The output of `--watch`.
pub(super) struct Screen {
    format: FormatArg,
    is_terminal: bool,
    /// The last rendering.
    last: String,
    shown_at: Option<Instant>,
}

impl Screen {
    pub(super) fn new(format: FormatArg) -> Self {
        Self { format, is_terminal: io::stdout().is_terminal(), last: String::new(), shown_at: None }
    }

    fn is_due(&self) -> bool {
        self.shown_at.is_none_or(|at| at.elapsed() >= RENDER_EVERY)
    }

    pub(super) fn has_shown(&self) -> bool {
        !self.last.is_empty()
    }

    /// Prints a session if it has changed. Returns false if the reader of standard output is gone.
    pub(super) fn show(&mut self, shown: Shown<'_>) -> Result<bool, Failure> {
        let text = match self.format {
            FormatArg::Yaml => print::yaml(&shown.report),
            FormatArg::Json => serde_json::to_string(&shown).unwrap_or_default() + "\n",
            FormatArg::Table => {
                print::table(&[shown], self.is_terminal && std::env::var_os("NO_COLOR").is_none())
            }
        };
        if text == self.last {
            return Ok(true);
        }
        let before = match (self.is_terminal, self.has_shown(), self.format) {
            (true, true, _) => format!("\u{1b}[{}A\u{1b}[J", self.last.lines().count()),
            (false, true, FormatArg::Yaml) => "---\n".to_owned(),
            (_, false, _) | (false, true, FormatArg::Json | FormatArg::Table) => String::new(),
        };
        self.last = text;
        self.shown_at = Some(Instant::now());
        let mut out = io::stdout().lock();
        match write!(out, "{before}{}", self.last).and_then(|()| out.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::new(format!("standard output: {error}"))),
        }
    }
}
