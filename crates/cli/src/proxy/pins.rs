//! `renown proxy --accept-pins`: shows what changed in the tools of a server, and accepts it.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use renown_proxy::{PinKind, Pins, save_pins};
use serde_json::Value;

use crate::failure::{Failure, printable};
use crate::printed;

/// Accepts every change of a server's tools.
pub(super) fn accept(mut pins: Pins, folder: &Path, identity: &str) -> Result<ExitCode, Failure> {
    if pins.is_empty() {
        let hint =
            "give exactly the command or address that is in the client's settings: it identifies the server";
        return Err(Failure::new("this server is not known yet").hint(hint));
    }
    let changes = pins.accept();
    let mut text = String::new();
    for change in &changes {
        let name = printable(&change.name);
        let name = match change.kind {
            PinKind::Tool => name,
            PinKind::Instructions => "instructions of the server".to_owned(),
            kind @ (PinKind::Prompt | PinKind::Resource | PinKind::Template) => {
                format!("{} {name}", kind.word())
            }
        };
        let _ = writeln!(text, "{name}");
        for (name, was, is) in &change.members {
            let _ = writeln!(text, "  {}", printable(name));
            for (sign, value) in [('-', was), ('+', is)] {
                for line in value.as_ref().map(lines).unwrap_or_default() {
                    let _ = writeln!(text, "    {sign} {}", printable(&line));
                }
            }
        }
    }
    let counted = match changes.len() {
        0 => "nothing has changed in this server".to_owned(),
        1 => "1 change accepted".to_owned(),
        count => format!("{count} changes accepted"),
    };
    if !changes.is_empty() {
        let refused = |error: io::Error| Failure::new(format!("{}: {error}", folder.display()));
        save_pins(folder, identity, &pins).map_err(refused)?;
    }
    let mut out = io::stdout().lock();
    printed(writeln!(out, "{text}{counted}").and_then(|()| out.flush()))
}

/// Returns the lines of a value: those of a text, or of indented JSON.
fn lines(value: &Value) -> Vec<String> {
    let text = value.as_str().map(str::to_owned);
    let text = text.unwrap_or_else(|| serde_json::to_string_pretty(value).unwrap_or_default());
    text.lines().map(str::to_owned).collect()
}
