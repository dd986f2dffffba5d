//! `cargo xtask test fuzz` replays the seeds and the inputs that once broke a target: the same on every machine.
//! `cargo xtask fuzz [--seconds N]` searches for new inputs, N seconds per target.
//!
//! libFuzzer on stable Rust: the coverage counters are a pass of LLVM that needs no nightly flag, and libfuzzer-sys
//! compiles libFuzzer itself with the C++ compiler of the system.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{cargo, install, output, program, root, run, succeeds, target_dir};

/// The fuzz targets.
const TARGETS: [&str; 4] = ["json", "protobuf", "stored", "transcript"];

/// How long a target is searched, unless `--seconds` is given.
const SECONDS: u32 = 60;

pub(crate) const USAGE: &str = "fuzz [--seconds N]";

/// The flags for coverage counters, and for checked arithmetic and assertions in an optimized build.
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

/// Replays every seed and regression through its target.
pub(crate) fn replay() -> Result<()> {
    run(cargo().args(["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"]))?;
    let folder = build()?;
    for target in TARGETS {
        let inputs = inputs(target)?;
        println!("{target}: {} inputs", inputs.len());
        run(program(folder.join(target)).args(LIMITS).arg("-verbosity=0").args(inputs))?;
    }
    Ok(())
}

/// Searches for inputs that break a target, each for a limited time. Inputs that break a target stay in its scratch
/// folder.
pub(crate) fn search(args: &[&str]) -> Result<()> {
    let seconds = match args {
        [] => SECONDS,
        ["--seconds", seconds] => seconds.parse().with_context(|| format!("--seconds {seconds}"))?,
        _ => bail!("usage: cargo xtask {USAGE}"),
    };
    let folder = build()?;
    for target in TARGETS {
        let scratch = target_dir()?.join("xtask/fuzz/scratch").join(target);
        let found = scratch.join("corpus");
        fs::create_dir_all(&found)?;
        println!("{target}: {seconds} s; what breaks it is left in {}", scratch.display());
        run(program(folder.join(target))
            .current_dir(&scratch)
            .args(LIMITS)
            .args([&format!("-max_total_time={seconds}"), "-max_len=8192", "-len_control=20"])
            .args(["-print_final_stats=1", "-verbosity=0", "-artifact_prefix=broken-"])
            // Continues from the findings of earlier searches.
            .arg(&found)
            .args(folders(target)))
        .with_context(|| {
            format!("add the input to fuzz/regressions/{target}, and a test of it to crates/telemetry/tests")
        })?;
    }
    Ok(())
}

/// Limits that no input may exceed.
const LIMITS: [&str; 2] = ["-rss_limit_mb=512", "-timeout=10"];

/// Builds the targets with coverage counters. Returns the folder of their programs.
fn build() -> Result<PathBuf> {
    if !succeeds(program("c++").arg("--version")) {
        install(&["g++"])?;
    }
    let folder = target_dir()?.join("xtask/fuzz");
    // With an explicit target, build scripts and macros are built without counters: with them, they could not be
    // linked.
    let host = host()?;
    run(cargo()
        .args(["build", "--locked", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host])
        .arg("--target-dir")
        .arg(&folder)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", FLAGS.join(" ")))?;
    Ok(folder.join(host).join("release"))
}

/// Returns the folders with the checked-in inputs of a target.
fn folders(target: &str) -> Vec<PathBuf> {
    let folders = ["corpus", "regressions"].map(|kind| root().join("fuzz").join(kind).join(target));
    folders.into_iter().filter(|folder| folder.is_dir()).collect()
}

/// Returns the checked-in inputs of a target, by name.
fn inputs(target: &str) -> Result<Vec<PathBuf>> {
    let mut inputs = Vec::new();
    for folder in folders(target) {
        for entry in fs::read_dir(folder)? {
            inputs.push(entry?.path());
        }
    }
    ensure!(!inputs.is_empty(), "no seeds of {target} in fuzz/corpus");
    inputs.sort();
    Ok(inputs)
}

/// Returns the target triple of this machine.
fn host() -> Result<String> {
    let version =
        output(program(std::env::var_os("RUSTC").as_deref().unwrap_or(OsStr::new("rustc"))).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
