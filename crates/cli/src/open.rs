//! `renown open`: opens the pages of a running server in the browser, logged in.

use std::fs;
use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};

use crate::args::OpenArgs;
use crate::failure::Failure;
use crate::printed;
use crate::serve::login;

/// Programs that open an address in the browser of the user, the first that is there.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

pub(crate) fn run(args: &OpenArgs) -> Result<ExitCode, Failure> {
    let data = args.location.resolve()?.data;
    let file = login::file(&data);
    let link = fs::read_to_string(&file).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return Failure::new(format!("no server runs on {}", data.display()))
                .hint("`renown serve` starts one; `--data DIR` names another data directory");
        }
        Failure::new(format!("{}: {error}", file.display()))
            .hint("run this as the user who runs the server, or log in on the page with a key")
    })?;
    if args.print || !OPENERS.iter().any(|opener| opens(opener, &link)) {
        let mut out = io::stdout().lock();
        return printed(writeln!(out, "{link}").and_then(|()| out.flush()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a program is there and has opened the link.
fn opens(opener: &str, link: &str) -> bool {
    let started = Command::new(opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    started.is_ok_and(|status| status.success())
}
