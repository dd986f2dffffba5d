//! `renown backup` and `renown restore`: a consistent copy of the store, also while a server runs, and its restoration.

use std::path::Path;
use std::process::ExitCode;

use renown_store::OpenError;

use crate::args::{BackupArgs, RestoreArgs};
use crate::failure::{self, Failure};
use crate::input_file::STDIN;
use crate::progress::Work;
use crate::store_location::{self, StoreFile};
use crate::verify::{self, DIFFERENT};

/// Copies the store to a new file and verifies the copy.
pub(crate) fn run(args: &BackupArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let store = args.location.resolve()?.open_file()?;
    if args.file == Path::new(STDIN) {
        return Err(
            Failure::new("a backup cannot go to standard output, expected a file").hint("name a file")
        );
    }
    // A dangling link counts as existing too.
    if args.file.symlink_metadata().is_ok() {
        return Err(taken(&args.file).hint("name another file"));
    }
    let dir = args.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.is_dir() {
        let missing = Failure::new(format!("{}: no such directory", dir.display()));
        return Err(missing.hint("create it first, or choose another directory"));
    }
    let _private = store_location::keep_private();
    copied(quiet, |report| store.backup(&args.file, report))?;
    match check(&args.file, quiet)? {
        Ok(summary) => {
            if !quiet {
                failure::note(&format!("{}: {summary}", args.file.display()));
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(difference) => {
            let hint = "the copy is kept; the store has the same problem: `renown verify` shows it";
            failure::print(&difference.hint(hint));
            Ok(ExitCode::from(DIFFERENT))
        }
    }
}

/// Restores a copy into a data directory without a store.
pub(crate) fn restore(args: &RestoreArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let location = args.location.resolve()?;
    let mut log = location.file.clone().into_os_string();
    log.push("-wal");
    // SQLite would replay a leftover write-ahead log into the restored store.
    if let Some(there) = [location.file.as_path(), Path::new(&log)].into_iter().find(|path| path.exists()) {
        return Err(taken(there).hint("choose another data directory with --data DIR, or move this one away"));
    }
    let summary = check(&args.file, quiet)??;
    location.prepare()?;
    let _private = store_location::keep_private();
    let from = open(&args.file)?;
    copied(quiet, |report| from.restore(&location.file, report))?;
    if !quiet {
        failure::note(&format!("restored to {}: {summary}", location.file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn taken(path: &Path) -> Failure {
    Failure::new(format!("{} exists already and is never overwritten", path.display()))
}

/// Copies, with a progress bar if it takes long.
fn copied(
    quiet: bool,
    copy: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<(), OpenError>,
) -> Result<(), Failure> {
    let work = Work::of("pages", !quiet);
    let copied = copy(&mut |done, total| work.at(done, total));
    drop(work);
    copied.map_err(|error| store_location::failure(&error))
}

/// Opens a copy.
fn open(file: &Path) -> Result<StoreFile, Failure> {
    const MADE: &str = "name a file that `renown backup` wrote";
    if file.is_dir() {
        let error = format!("{}: is a directory, expected a backup file", file.display());
        return Err(Failure::new(error).hint(MADE));
    }
    StoreFile::open(file, |error| {
        let failure = store_location::failure(error);
        if matches!(error, OpenError::Missing(_) | OpenError::Foreign(_)) {
            failure.hint(MADE)
        } else {
            failure
        }
    })
}

/// Verifies a copy. Returns a summary, or the first problem.
fn check(file: &Path, quiet: bool) -> Result<Result<String, Failure>, Failure> {
    let verdict = verify::check(open(file)?, quiet)?;
    Ok(verdict.map_err(|difference| Failure::new(format!("{}: {difference}", file.display()))))
}
