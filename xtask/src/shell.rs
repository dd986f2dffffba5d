//! Running other programs from the root of the workspace.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Returns the root of the workspace. Cargo passes it when it runs this program. A root that is compiled in could be
/// that of another clone with the same target directory.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let xtask =
            env::var_os("CARGO_MANIFEST_DIR").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        xtask.parent().map_or(xtask.clone(), Path::to_owned)
    });
    &ROOT
}

/// Returns the cargo that runs this program, so that the toolchain is the same.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the build directory of cargo, which may be outside of the workspace.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = output(cargo().args(["metadata", "--locked", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    Ok(metadata
        .get("target_directory")
        .and_then(Value::as_str)
        .context("cargo metadata has no target directory")?
        .into())
}

/// A program, started in the root of the workspace.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// Runs a command and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed with {status}");
    Ok(())
}

/// Installs missing packages of Debian.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    println!("installing {}", packages.join(", "));
    run(program("apt-get").args(["update", "--quiet"]))?;
    run(program("apt-get").args(["install", "--yes", "--quiet"]).args(packages))
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns whether a command runs and succeeds. Its output is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
