//! `renown forget`: erases an agent and all its evidence, in the data directory or through a server.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use renown_store::sqlite::{Sqlite, clean, system_clock, upgrade_copies};
use renown_store::{AdminStore, Retention};

use crate::args::ForgetArgs;
use crate::client::{Client, encoded};
use crate::failure::{self, Failure, printable};
use crate::printed;
use crate::store_location::{self, wait};

const PURPOSE: &str = "renown forget";

pub(crate) fn run(args: &ForgetArgs) -> Result<ExitCode, Failure> {
    confirm(args)?;
    let agent = args.agent.as_str();
    let outcome = if let Some(client) = Client::of(&args.server)? {
        let agent = encoded(agent);
        client.delete(&format!("/v1/agents/{agent}?confirm={agent}"))?;
        "is being erased, which takes less than a minute"
    } else {
        let location = args.location.resolve()?;
        let store = location.write(PURPOSE)?;
        let copies = upgrade_copies(&location.file).map_err(|error| store_location::failure(&error))?;
        erase(&store, args)?;
        drop(store);
        clean(&location.file, PURPOSE, &system_clock()).map_err(|error| store_location::failure(&error))?;
        for copy in copies.iter().filter(|copy| !copy.exists()) {
            failure::note(&format!("deleted {}, a backup from before an upgrade", copy.display()));
        }
        "is erased"
    };
    printed(writeln!(io::stdout().lock(), "{} {outcome}", printable(agent)))
}

/// Asks for confirmation if there is a terminal.
fn confirm(args: &ForgetArgs) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let shown = printable(args.agent.as_str());
    if !io::stdin().is_terminal() {
        return Err(
            Failure::new(format!("{shown} would be erased permanently")).hint("--yes erases without asking")
        );
    }
    failure::note(&format!("all evidence of {shown} will be erased permanently; type its id to confirm"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| Failure::new(format!("terminal: {error}")))?;
    if answer.trim_end_matches(['\r', '\n']) == args.agent.as_str() {
        return Ok(());
    }
    Err(Failure::new("nothing was erased"))
}

fn erase(store: &Sqlite, args: &ForgetArgs) -> Result<(), Failure> {
    let failed = |error: renown_store::StoreError| store_location::failure(&error);
    let is_known = wait(store.erase(&args.org, &args.agent))?.map_err(failed)?;
    // Also finishes an interrupted erasure. Retention is left to the server, which knows the configured periods.
    let mut erased_some = false;
    while wait(store.delete_some(Retention::KEEP_ALL))?.map_err(failed)? {
        erased_some = true;
    }
    if !is_known && !erased_some {
        let error = format!("no agent {:?} in {}", args.agent.as_str(), args.org);
        return Err(Failure::new(error).hint("`renown agents list --search TEXT` finds agents"));
    }
    Ok(())
}
