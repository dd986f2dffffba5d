//! `cargo xtask test fuzz`: the fuzz targets, for a fixed number of inputs that follow from a fixed seed.
//!
//! libFuzzer on stable Rust: the coverage counters are a pass of LLVM that needs no nightly flag, and libfuzzer-sys
//! compiles libFuzzer itself with the C++ compiler of the system.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{cargo, install, output, program, root, run, succeeds, target_dir};

/// A target, and how many inputs take a slow core about a quarter of a minute.
const TARGETS: [(&str, u32); 3] = [("json", 400_000), ("protobuf", 1_200_000), ("kept", 2_000_000)];

/// What makes coverage counters, and has arithmetic and assertions checked in a build that is optimised.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

/// Builds the targets and runs each from the checked-in seeds. What breaks one is left in its scratch folder.
pub(crate) fn run_targets() -> Result<()> {
    if !succeeds(program("c++").arg("--version")) {
        install(&["g++"])?;
    }
    run(cargo().args(["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"]))?;
    let folder = target_dir()?.join("xtask/fuzz");
    // With a target given, build scripts and macros are built without counters, which they could not be linked with.
    let host = host()?;
    run(cargo()
        .args(["build", "--locked", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host])
        .arg("--target-dir")
        .arg(&folder)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", FLAGS.join(" ")))?;
    for (target, runs) in TARGETS {
        let scratch = folder.join("scratch").join(target);
        fresh(&scratch)?;
        copy(&root().join("fuzz/corpus").join(target), &scratch.join("corpus"))?;
        println!("{target}: {runs} inputs; what breaks it is left in {}", scratch.display());
        let binary = folder.join(&host).join("release").join(target);
        // Relative paths, so that a run prints the same on every machine.
        run(at_fixed_addresses(&binary)
            .current_dir(&scratch)
            .args(["-seed=1", &format!("-runs={runs}"), "-max_len=8192", "-len_control=20"])
            .args(["-rss_limit_mb=512", "-timeout=10", "-print_final_stats=1", "-verbosity=0"])
            // Looking into the folder every second would make the run depend on the clock.
            .arg("-reload=0")
            .args(["-artifact_prefix=broken-", "corpus"]))?;
    }
    Ok(())
}

/// A program whose addresses are the same in every run: libFuzzer takes words for its mutations from what is compared,
/// and addresses are among them. Where that is not allowed, as in some containers, runs differ a little.
fn at_fixed_addresses(binary: &Path) -> Command {
    if !succeeds(program("setarch").args(["-R", "true"])) {
        println!("addresses cannot be fixed here: another run may try other inputs");
        return program(binary);
    }
    let mut command = program("setarch");
    command.arg("-R").arg(binary);
    command
}

/// The target triple of this machine.
fn host() -> Result<String> {
    let version =
        output(program(std::env::var_os("RUSTC").as_deref().unwrap_or(OsStr::new("rustc"))).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

/// Makes a folder empty: a corpus of the run before would change this one.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("no seeds in {}", from.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
