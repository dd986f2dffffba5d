//! `renown backup` and `renown restore`: a consistent copy while the store runs, and its way back.

use std::path::Path;
use std::process::ExitCode;

use renown_store::StoreError;
use renown_store::sqlite::{Progress as Pages, Reader};

use crate::args::BackupArgs;
use crate::failure::{self, Failure};
use crate::place;
use crate::progress::Progress;
use crate::verify;

/// Copies the store to a new file and replays the copy.
pub(crate) fn run(args: &BackupArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let store = args.place.resolve()?.read()?;
    copied(quiet, |report| store.backup(&args.file, report))?;
    let said = check(&args.file, quiet)?;
    if !quiet {
        failure::note(&format!("{}: {said}", args.file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Brings a copy to a data directory that has none.
pub(crate) fn restore(args: &BackupArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let place = args.place.resolve()?;
    if place.file.exists() {
        let error = format!("{} is there already, and is never overwritten", place.file.display());
        return Err(
            Failure::new(error).hint("name another data directory with --data DIR, or move this one away")
        );
    }
    let said = check(&args.file, quiet)?;
    place.prepare()?;
    let from = Reader::open_file(&args.file).map_err(place::failure)?;
    copied(quiet, |report| from.restore(&place.file, report))?;
    if !quiet {
        failure::note(&format!("restored to {}: {said}", place.file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies, with a bar where that takes long.
fn copied(
    quiet: bool,
    copy: impl FnOnce(&mut dyn FnMut(Pages)) -> Result<(), StoreError>,
) -> Result<(), Failure> {
    let progress = Progress::of("pages", !quiet);
    let copied = copy(&mut |pages| progress.at(pages.done, pages.total));
    progress.finish();
    copied.map_err(place::failure)
}

/// Replays a copy: one that does not give the same scores is worth nothing.
fn check(file: &Path, quiet: bool) -> Result<String, Failure> {
    let copy = Reader::open_file(file).map_err(place::failure)?;
    verify::check(&copy, quiet)?
        .map_err(|difference| Failure::new(format!("{}: {difference}", file.display())))
}
