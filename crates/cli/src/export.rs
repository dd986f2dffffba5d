//! `renown export`: all evidence of a kind as JSON Lines, CSV or Parquet, row by row, read beside whoever writes.
//!
//! | part | is |
//! |---|---|
//! | `columns`, `sessions` | what a row of each kind has, in the order of its columns |
//! | `text` | JSON Lines and CSV |
//! | `parquet` | Parquet |
//!
//! Times are RFC 3339 to the millisecond in the texts, and timestamps to the microsecond in Parquet; those by which scores are made
//! also stand there as whole nanoseconds (`…_ns`). What is a list or an object is its JSON text where a row is flat.

mod columns;
mod parquet;
mod sessions;
mod text;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use renown_store::StoreError;
use renown_store::sqlite::{Evidence, Reader};

use crate::args::{EvidenceArg, ExportArgs, ExportFormatArg};
use crate::failure::Failure;
use crate::progress::Work;
use crate::store_location;
use columns::{Column, Row};

/// Where rows go.
trait Sink {
    fn row(&mut self, row: Row) -> io::Result<()>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

pub(crate) fn run(args: &ExportArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let store = args.location.resolve()?.read()?;
    let (columns, evidence, things) = match args.evidence {
        EvidenceArg::Evaluations => (columns::EVALUATIONS, Evidence::Evaluations, "evaluations"),
        EvidenceArg::Events => (columns::EVENTS, Evidence::ReputationEvents, "events"),
        EvidenceArg::Runs => (columns::RUNS, Evidence::Runs, "runs"),
        EvidenceArg::Sessions => (sessions::SESSIONS, Evidence::Sessions, "sessions"),
    };
    let total = store.count(&args.org, evidence).map_err(|error| store_location::failure(&error))?;
    let place =
        args.output.as_ref().map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
    let refused = |error: io::Error| Failure::new(format!("{place}: {error}"));
    if args.format == ExportFormatArg::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        let found = "Parquet is nothing for a terminal, expected a file";
        return Err(Failure::new(found).hint("-o FILE names one"));
    }
    if args.raw && args.format != ExportFormatArg::Csv {
        return Err(Failure::new("--raw is for --format csv: the other formats never change a text"));
    }
    let sink = open(args, columns).map_err(refused)?;
    // Rows that are printed to the same terminal would tear the bar.
    let shows_bar = !quiet && (args.output.is_some() || !io::stdout().is_terminal());
    let work = Work::of(things, shows_bar);
    let mut export = Export { sink: Some(sink), failed: None, done: 0, total, work };
    export.read(&store, args).map_err(|error| store_location::failure(&error))?;
    match export.finish() {
        // A reader that has gone away has seen what it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS).map_err(refused),
    }
}

/// Opens what is written to. A file that is there is written over, as by a shell.
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

/// An export on its way.
struct Export {
    sink: Option<Box<dyn Sink>>,
    failed: Option<io::Error>,
    done: u64,
    total: u64,
    work: Work,
}

impl Export {
    fn read(&mut self, store: &Reader, args: &ExportArgs) -> Result<(), StoreError> {
        match args.evidence {
            EvidenceArg::Evaluations => {
                store.each_evaluation(&args.org, &mut |event| self.take(columns::evaluation(event)))
            }
            EvidenceArg::Events => {
                store.each_reputation_event(&args.org, &mut |event| self.take(columns::event(event)))
            }
            EvidenceArg::Runs => store.each_run(&args.org, &mut |run| self.take(columns::run(run))),
            EvidenceArg::Sessions => {
                store.each_session(&args.org, &mut |session| self.take(sessions::session(&session)))
            }
        }
    }

    /// Writes a row; whether more can be written.
    fn take(&mut self, row: Row) -> bool {
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
