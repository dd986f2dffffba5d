//! `renown export`: writes all evidence of a kind as JSON Lines, CSV or Parquet, row by row. A server may run at the same time.
//!
//! | module | content |
//! |---|---|
//! | `columns`, `sessions` | the columns of each kind of evidence, and their values |
//! | `text` | JSON Lines and CSV |
//! | `parquet` | Parquet |
//!
//! Times are RFC 3339 with milliseconds in JSON Lines and CSV, and timestamps with microseconds in Parquet. Times that scores depend
//! on also have a column of whole nanoseconds (`…_ns`). In CSV and Parquet, a list or an object is JSON text.

mod columns;
mod parquet;
mod sessions;
mod text;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use renown_store::{EvidenceKind, ReadError, ReadOnlyStore, SCAN_MAX, scan_all};

use crate::args::{EvidenceArg, ExportArgs, ExportFormatArg};
use crate::failure::Failure;
use crate::progress::Work;
use crate::store_location::ask;
use columns::{Column, Row};

/// A writer of rows.
trait Sink {
    fn row(&mut self, row: Row) -> io::Result<()>;

    /// Writes the remaining rows.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

pub(crate) fn run(args: &ExportArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let store = args.location.resolve()?.read_at_one_moment()?;
    let (columns, evidence, things) = match args.evidence {
        EvidenceArg::Evaluations => (columns::EVALUATIONS, EvidenceKind::Evaluations, "evaluations"),
        EvidenceArg::Events => (columns::EVENTS, EvidenceKind::ReputationEvents, "events"),
        EvidenceArg::Runs => (columns::RUNS, EvidenceKind::Runs, "runs"),
        EvidenceArg::Sessions => (sessions::SESSIONS, EvidenceKind::Sessions, "sessions"),
    };
    let total = ask(store.count(&args.org, evidence))?;
    let target =
        args.output.as_ref().map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
    let refused = |error: io::Error| Failure::new(format!("{target}: {error}"));
    if args.format == ExportFormatArg::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        let found = "Parquet is binary and cannot go to a terminal, expected a file";
        return Err(Failure::new(found).hint("write to a file with -o FILE"));
    }
    if args.raw && args.format != ExportFormatArg::Csv {
        return Err(Failure::new("--raw needs --format csv: the other formats never change text"));
    }
    let sink = open(args, columns).map_err(refused)?;
    // A bar on the terminal that shows the rows would garble them.
    let shows_bar = !quiet && (args.output.is_some() || !io::stdout().is_terminal());
    let work = Work::of(things, shows_bar);
    let mut export = Export { sink: Some(sink), failed: None, done: 0, total, work };
    ask(export.read(&*store, args))?;
    match export.finish() {
        // A closed pipe is a success: its reader has all that it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS).map_err(refused),
    }
}

/// Opens the output. An existing file is overwritten, as by a shell.
fn open(args: &ExportArgs, columns: &'static [Column]) -> io::Result<Box<dyn Sink>> {
    let out: Box<dyn Write + Send> = match &args.output {
        Some(file) => Box::new(BufWriter::with_capacity(1 << 18, File::create(file)?)),
        None => Box::new(BufWriter::with_capacity(1 << 18, io::stdout())),
    };
    Ok(match args.format {
        ExportFormatArg::Jsonl => Box::new(text::JsonLines::new(out, columns)),
        ExportFormatArg::Csv => Box::new(text::Csv::new(out, columns, args.raw)?),
        ExportFormatArg::Parquet => Box::new(parquet::Parquet::new(out, columns)?),
    })
}

/// A running export.
struct Export {
    sink: Option<Box<dyn Sink>>,
    failed: Option<io::Error>,
    done: u64,
    total: u64,
    work: Work,
}

impl Export {
    async fn read(&mut self, store: &dyn ReadOnlyStore, args: &ExportArgs) -> Result<(), ReadError> {
        let org = &args.org;
        match args.evidence {
            EvidenceArg::Evaluations => {
                let part = |after| store.scan_evaluations(org, after, SCAN_MAX);
                scan_all(part, |evaluation| self.write(columns::evaluation(evaluation))).await
            }
            EvidenceArg::Events => {
                let part = |after| store.scan_reputation_events(org, after, SCAN_MAX);
                scan_all(part, |event| self.write(columns::event(event))).await
            }
            EvidenceArg::Runs => {
                let part = |after| store.scan_runs(org, after, SCAN_MAX);
                scan_all(part, |run| self.write(columns::run(run))).await
            }
            EvidenceArg::Sessions => {
                let part = |after| store.scan_sessions(org, after, SCAN_MAX);
                scan_all(part, |session| self.write(sessions::session(&session))).await
            }
        }
    }

    /// Writes a row. Returns false if writing has failed.
    fn write(&mut self, row: Row) -> bool {
        self.done += 1;
        if self.done.is_multiple_of(1000) {
            self.work.at(self.done, self.total);
        }
        let written = self.sink.as_mut().map_or(Ok(()), |sink| sink.row(row));
        self.failed = written.err();
        self.failed.is_none()
    }

    fn finish(self) -> io::Result<()> {
        match (self.failed, self.sink) {
            (Some(error), _) => Err(error),
            (None, Some(sink)) => sink.finish(),
            (None, None) => Ok(()),
        }
    }
}
