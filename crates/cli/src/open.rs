//! `renown open`: opens the pages of a running server in the browser, logged in.

use std::fs;
use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};

use crate::args::OpenArgs;
use crate::failure::Failure;
use crate::printed;
use crate::serve::login;

/// Programs that open a URL in the user's browser. The first one that works is used.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

pub(crate) fn run(args: &OpenArgs) -> Result<ExitCode, Failure> {
    let data = args.location.resolve()?.data;
    let file = login::file(&data);
    let link = fs::read_to_string(&file).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return Failure::new(format!("no server is running on {}", data.display()))
                .hint("`renown serve` starts one; `--data DIR` chooses another data directory");
        }
        Failure::new(format!("{}: {error}", file.display()))
            .hint("run this as the user who runs the server, or log in to the web page with a key")
    })?;
    if args.print || !OPENERS.iter().any(|opener| opens(opener, &link)) {
        let mut out = io::stdout().lock();
        return printed(writeln!(out, "{link}").and_then(|()| out.flush()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether the program exists and has opened the link.
fn opens(opener: &str, link: &str) -> bool {
    let started = Command::new(opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    started.is_ok_and(|status| status.success())
}
