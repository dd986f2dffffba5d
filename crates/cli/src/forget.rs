//! `renown forget`: erases an agent and all its evidence, in the data directory or through a server.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use renown_store::{Retention, Store};

use crate::args::ForgetArgs;
use crate::client::{Client, encoded};
use crate::failure::{self, Failure, printable};
use crate::printed;
use crate::store_location::ask;

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
        let copies = location.upgrade_copies()?;
        erase(&*store, args)?;
        drop(store);
        location.clean(PURPOSE)?;
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

fn erase(store: &dyn Store, args: &ForgetArgs) -> Result<(), Failure> {
    let is_known = ask(store.erase(&args.org, &args.agent))?;
    // Also finishes an interrupted erasure. Retention is left to the server, which knows the configured periods.
    let mut erased_some = false;
    while ask(store.delete_some(Retention::KEEP_ALL))?.is_more() {
        erased_some = true;
    }
    if !is_known && !erased_some {
        let error = format!("no agent {:?} in {}", args.agent.as_str(), args.org);
        return Err(Failure::new(error).hint("`renown agents list --search TEXT` finds agents"));
    }
    Ok(())
}
