//! `renown verify`: checks that every stored row is intact, and that every stored score follows from the evidence.
//!
//! Exit codes: 1 for a wrong score, a damaged page or row, or missing writes; 2 for a file that is not a database of this
//! release.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::args::VerifyArgs;
use crate::failure::{self, Failure};
use crate::printed;
use crate::progress::Work;
use crate::store_location::{self, LostWrites, StoreFile, wait};
use crate::table::counted;

/// The exit code of a store with a wrong score or damage.
pub(crate) const DIFFERENT: u8 = 1;

pub(crate) fn run(args: &VerifyArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let location = args.location.resolve()?;
    if args.repair {
        let repaired = location.repair("renown verify --repair")?;
        let (runs, agents) = (counted(repaired.runs, "run"), counted(repaired.agents, "agent"));
        let sessions = counted(repaired.sessions, "session");
        let days = if repaired.days { ", the daily totals of agents" } else { "" };
        let identities = if repaired.identities { ", and the totals of identities" } else { "" };
        failure::note(&format!("rebuilt: {runs}, {sessions}, {agents}{days}{identities}"));
        if repaired.damaged > 0 {
            let damaged = counted(repaired.damaged, "agent");
            failure::warn(&format!("{damaged} cannot be rebuilt, because evaluations are missing"));
        }
        if repaired.lost != LostWrites::default() {
            failure::warn(&format!("{}; accepted as lost", repaired.lost));
        }
    }
    match check(location.open_file()?, quiet)? {
        Ok(summary) => printed(writeln!(io::stdout().lock(), "{summary}")),
        Err(difference) => {
            failure::print(&Failure::new(difference));
            Ok(ExitCode::from(DIFFERENT))
        }
    }
}

/// Verifies a store. Returns a summary, or the first difference or damage.
pub(crate) fn check(store: StoreFile, quiet: bool) -> Result<Result<String, String>, Failure> {
    let work = Work::of("evaluations", !quiet);
    let mut report = |done, total| work.at(done, total);
    // First the file and its rows, then what the store answers from them.
    let mut verdict = store.verify(&mut report);
    if let Ok(Ok(_)) = verdict {
        let store = store.at_one_moment()?;
        verdict = wait(renown_store::verify(&*store, &mut report))?;
    }
    drop(work);
    let verdict = match verdict {
        Err(damage) if damage.is_damage() => return Ok(Err(damage.to_string())),
        other => other.map_err(|error| store_location::failure(&error))?,
    };
    Ok(match verdict {
        Ok(verified) => {
            let unscored = match verified.unscored {
                0 => String::new(),
                count => {
                    format!("; {} without a score, --repair adds it", counted(count, "run"))
                }
            };
            Ok(format!(
                "verified {} of {}, {}, {} and {}: every stored score matches the evidence{unscored}",
                counted(verified.evaluations, "evaluation"),
                counted(verified.agents, "agent"),
                counted(verified.runs, "run"),
                counted(verified.sessions, "session"),
                counted(verified.events, "reputation event")
            ))
        }
        Err(difference) => Err(difference.to_string()),
    })
}
