//! `renown doctor`: versions, paths, ports, the store, and what is misconfigured.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;

use indicatif::BinaryBytes;
use renown_store::system_clock;

use crate::args::{DoctorArgs, ServeArgs};
use crate::failure::{Failure, printable};
use crate::printed;
use crate::serve::settings::ServeSettings;
use crate::settings::OtlpListen;
use crate::store_location::{StoreLocation, ask};
use crate::verify;

/// The exit code if something is wrong.
const UNHEALTHY: u8 = 1;

/// The result of one check.
enum Finding {
    Good(String),
    /// It works, but needs attention.
    Note(String),
    Bad(String),
}

pub(crate) fn run(args: &DoctorArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let serve = ServeArgs {
        location: args.location.clone(),
        demo: false,
        listen: None,
        otlp_grpc: None,
        otlp_http: None,
        otlp_auth: None,
        config: args.config.clone(),
        print_config: false,
    };
    let mut findings = vec![("version", Finding::Good(version()))];
    match ServeSettings::read(&serve) {
        Err(failure) => findings.push(("config", Finding::Bad(failure.to_string()))),
        Ok(settings) => {
            let config = settings
                .config_path()
                .map_or_else(|| "none, defaults".to_owned(), |path| path.display().to_string());
            findings.push(("config", Finding::Good(config)));
            findings.push((
                "gates",
                settings.engine().map_or_else(
                    |failure| Finding::Bad(failure.to_string()),
                    |engine| Finding::Good(engine.names().collect::<Vec<_>>().join(", ")),
                ),
            ));
            let location = settings.location();
            findings.push(("clock", clock(&location)));
            findings.push(("data", data(&location.data)));
            findings.push(("listen", listen(settings.listen.value.0)));
            findings.push(("otlp", otlp("gRPC", settings.otlp_grpc.value)));
            findings.push(("otlp", otlp("HTTP", settings.otlp_http.value)));
            findings.push(("store", store(&location, quiet)));
        }
    }
    let mut text = String::new();
    let mut is_healthy = true;
    for (name, finding) in &findings {
        let (mark, finding_text) = match finding {
            Finding::Good(text) => ("ok  ", text),
            Finding::Note(text) => ("note", text),
            Finding::Bad(text) => ("BAD ", text),
        };
        is_healthy &= !matches!(finding, Finding::Bad(_));
        let _ = writeln!(text, "{mark}  {name:<8}  {}", printable(finding_text));
    }
    let mut out = io::stdout().lock();
    let code = printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
    Ok(if is_healthy { code } else { ExitCode::from(UNHEALTHY) })
}

fn version() -> String {
    format!("renown {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}

fn data(dir: &Path) -> Finding {
    let shown = dir.display();
    let metadata = match std::fs::metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match why_not_creatable(dir) {
                None => Finding::Note(format!("{shown}: does not exist yet, `renown serve` creates it")),
                Some(why) => {
                    Finding::Bad(format!("{shown}: does not exist yet, and cannot be created: {why}"))
                }
            };
        }
        Err(error) => return Finding::Bad(format!("{shown}: {error}")),
        Ok(metadata) => metadata,
    };
    if !metadata.is_dir() {
        return Finding::Bad(format!("{shown}: not a directory"));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};

        if let Err(error) = access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
            return Finding::Bad(format!("{shown}: cannot be read and written: {error}"));
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        let advice = format!("(mode {mode:o}); `chmod 700` prevents it");
        if mode & 0o022 != 0 {
            return Finding::Bad(format!("{shown}: other users can write to it {advice}"));
        }
        if mode & 0o055 != 0 {
            return Finding::Note(format!("{shown}: other users can read it {advice}"));
        }
    }
    Finding::Good(shown.to_string())
}

/// Returns why a missing directory cannot be created, judged by its nearest existing parent.
fn why_not_creatable(dir: &Path) -> Option<String> {
    let above = std::path::absolute(dir).ok()?;
    let above = above.ancestors().skip(1).find(|dir| dir.exists())?;
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};

        let error = access(above, Access::WRITE_OK | Access::EXEC_OK).err()?;
        Some(format!("{}: {error}", above.display()))
    }
    #[cfg(not(unix))]
    None
}

/// Checks that the clock is plausible, and not behind the latest evidence in the store.
fn clock(location: &StoreLocation) -> Finding {
    let now = match (system_clock())() {
        Ok(now) => now,
        Err(error) => return Finding::Bad(error.to_string()),
    };
    let latest =
        location.file.exists().then(|| ask(location.read().ok()?.latest_acceptance()).ok()?).flatten();
    match latest.filter(|latest| *latest > now) {
        Some(latest) => Finding::Note(format!(
            "{now}, but the store has evidence of {latest}: the clock is behind, or it was ahead then. A server uses that time for \
             at most five minutes, then it follows the clock"
        )),
        None => Finding::Good(now.to_string()),
    }
}

fn listen(address: SocketAddr) -> Finding {
    let open = if address.ip().is_loopback() { "" } else { ", reachable from other machines" };
    match TcpListener::bind(address) {
        Ok(_) => Finding::Good(format!("{address} is free{open}")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Finding::Note(format!("{address} is in use, perhaps by a running server{open}"))
        }
        Err(error) => Finding::Bad(format!("{address}: {error}")),
    }
}

/// Checks an OTLP port. A server works without telemetry, so an unavailable port is only a note.
fn otlp(transport: &str, OtlpListen(address): OtlpListen) -> Finding {
    let Some(address) = address else { return Finding::Good(format!("{transport} is off")) };
    match listen(address) {
        Finding::Good(text) => Finding::Good(format!("{transport} on {text}")),
        Finding::Note(text) | Finding::Bad(text) => Finding::Note(format!("{transport} on {text}")),
    }
}

fn store(location: &StoreLocation, quiet: bool) -> Finding {
    if !location.file.exists() {
        return Finding::Note(format!("{}: does not exist yet", location.file.display()));
    }
    let looked = location.open_file().and_then(|store| Ok((store.describe()?, store)));
    let ((version, bytes), store) = match looked {
        Ok(looked) => looked,
        Err(error) => return Finding::Bad(error.to_string()),
    };
    match verify::check(store, quiet) {
        Ok(Ok(summary)) => {
            Finding::Good(format!("schema version {version}, {}, {summary}", BinaryBytes(bytes)))
        }
        Ok(Err(difference)) => Finding::Bad(difference),
        Err(failure) => Finding::Bad(failure.to_string()),
    }
}
