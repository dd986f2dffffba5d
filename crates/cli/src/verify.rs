//! `renown verify`: is every stored score what the evidence gives?

use std::io::{self, Write};
use std::process::ExitCode;

use renown_store::sqlite::Reader;

use crate::args::VerifyArgs;
use crate::failure::{self, Failure};
use crate::place;
use crate::printed;
use crate::progress::Work;
use crate::table::counted;

/// The exit code of a store that is not as it should be.
pub(crate) const DIFFERENT: u8 = 1;

pub(crate) fn run(args: &VerifyArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let place = args.place.resolve()?;
    match check(&place.read()?, quiet)? {
        Ok(said) => printed(writeln!(io::stdout().lock(), "{said}")),
        Err(difference) => {
            failure::print(&Failure::new(difference));
            Ok(ExitCode::from(DIFFERENT))
        }
    }
}

/// Replays a store: what was compared, or the first difference or damage.
pub(crate) fn check(store: &Reader, quiet: bool) -> Result<Result<String, String>, Failure> {
    let work = Work::of("evaluations", !quiet);
    let verdict = store.verify(&mut |done, total| work.at(done, total));
    drop(work);
    let verdict = match verdict {
        Err(damage) if damage.is_damage() => return Ok(Err(damage.to_string())),
        other => other.map_err(|error| place::failure(&error))?,
    };
    Ok(match verdict {
        Ok(verified) => Ok(format!(
            "verified {} of {}: every stored score is what the evidence gives",
            counted(verified.evaluations, "evaluation"),
            counted(verified.agents, "agent")
        )),
        Err(difference) => Err(difference.to_string()),
    })
}
