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
use crate::store_location::{self, StoreLocation};
use crate::verify;

/// The exit code of something that is wrong.
const ILL: u8 = 1;

/// What was found about one thing.
enum Finding {
    Good(String),
    /// It works, and should be looked at.
    Odd(String),
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
    let mut ill = false;
    for (name, finding) in &findings {
        let (mark, said) = match finding {
            Finding::Good(said) => ("ok  ", said),
            Finding::Odd(said) => ("note", said),
            Finding::Bad(said) => ("BAD ", said),
        };
        ill |= matches!(finding, Finding::Bad(_));
        let _ = writeln!(text, "{mark}  {name:<8}  {}", printable(said));
    }
    let mut out = io::stdout().lock();
    let code = printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
    Ok(if ill { ExitCode::from(ILL) } else { code })
}

fn version() -> String {
    format!("renown {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}

fn data(dir: &Path) -> Finding {
    let shown = dir.display();
    let metadata = match std::fs::metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match cannot_be_made(dir) {
                None => Finding::Odd(format!("{shown}: not there yet, `renown serve` makes it")),
                Some(why) => Finding::Bad(format!("{shown}: not there yet, and cannot be made: {why}")),
            };
        }
        Err(error) => return Finding::Bad(format!("{shown}: {error}")),
        Ok(metadata) => metadata,
    };
    if !metadata.is_dir() {
        return Finding::Bad(format!("{shown}: is no directory"));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};

        if let Err(error) = access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
            return Finding::Bad(format!("{shown}: cannot be read and written: {error}"));
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        let advice = format!("(mode {mode:o}); `chmod 700` keeps them out");
        if mode & 0o022 != 0 {
            return Finding::Bad(format!("{shown}: others may write into it {advice}"));
        }
        if mode & 0o055 != 0 {
            return Finding::Odd(format!("{shown}: others may look into it {advice}"));
        }
    }
    Finding::Good(shown.to_string())
}

/// Why a directory that is not there cannot be made, as far as the directory above it says.
fn cannot_be_made(dir: &Path) -> Option<String> {
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

/// Whether the clock can be right, and is not behind what the store has accepted.
fn clock(location: &StoreLocation) -> Finding {
    let now = match (system_clock())() {
        Ok(now) => now,
        Err(error) => return Finding::Bad(error.to_string()),
    };
    let latest = location.file.exists().then(|| location.read().ok()?.latest().ok()).flatten();
    match latest.filter(|latest| *latest > now) {
        Some(latest) => Finding::Odd(format!(
            "{now}, but the store has evidence of {latest}: the clock is late, or it was ahead. A server keeps that time for at \
             most five minutes, then it follows the clock"
        )),
        None => Finding::Good(now.to_string()),
    }
}

fn listen(address: SocketAddr) -> Finding {
    let open = if address.ip().is_loopback() { "" } else { ", reachable from other machines" };
    match TcpListener::bind(address) {
        Ok(_) => Finding::Good(format!("{address} is free{open}")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Finding::Odd(format!("{address} is taken, perhaps by a server that runs{open}"))
        }
        Err(error) => Finding::Bad(format!("{address}: {error}")),
    }
}

/// Telemetry is not what a server needs, so a port that cannot be had is no illness.
fn otlp(transport: &str, OtlpListen(address): OtlpListen) -> Finding {
    let Some(address) = address else { return Finding::Good(format!("{transport} is off")) };
    match listen(address) {
        Finding::Good(said) => Finding::Good(format!("{transport} on {said}")),
        Finding::Odd(said) | Finding::Bad(said) => Finding::Odd(format!("{transport} on {said}")),
    }
}

fn store(location: &StoreLocation, quiet: bool) -> Finding {
    if !location.file.exists() {
        return Finding::Odd(format!("{}: not there yet", location.file.display()));
    }
    let looked = location
        .read()
        .and_then(|store| Ok((store.describe().map_err(|error| store_location::failure(&error))?, store)));
    let ((version, bytes), store) = match looked {
        Ok(looked) => looked,
        Err(error) => return Finding::Bad(error.to_string()),
    };
    match verify::check(&store, quiet) {
        Ok(Ok(said)) => Finding::Good(format!("schema version {version}, {}, {said}", BinaryBytes(bytes))),
        Ok(Err(difference)) => Finding::Bad(difference),
        Err(failure) => Finding::Bad(failure.to_string()),
    }
}
