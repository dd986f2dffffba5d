//! `cargo xtask test`: everything that has to pass before a change lands, in order of speed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::shell::{cargo, install, output, program, root, run, succeeds, target_dir};
use crate::{
    api, differential, durability, export, fuzz, otlp, package, pages, portability, proxy, sdk, tidy, wheel,
};

/// One part of the test command.
struct Part {
    name: &'static str,
    run: fn() -> Result<()>,
}

const PARTS: [Part; 18] = [
    Part { name: "fmt", run: || run(cargo().args(["fmt", "--all", "--check"])) },
    Part { name: "tidy", run: tidy::run },
    Part { name: "sdk", run: sdk::check },
    Part { name: "vectors", run: vectors },
    Part { name: "clippy", run: clippy },
    Part {
        name: "unit",
        run: || run(cargo().args(["test", "--locked", "--workspace", "--lib", "--bins", "--tests"])),
    },
    Part { name: "api", run: api::check },
    Part { name: "python", run: wheel::test },
    Part { name: "node", run: package::test },
    Part { name: "proxy", run: proxy::test },
    Part { name: "portability", run: portability::test },
    Part { name: "otlp", run: otlp::test },
    Part { name: "pages", run: pages::test },
    Part { name: "durability", run: durability::run },
    Part { name: "differential", run: differential::run },
    Part { name: "export", run: export::check },
    Part { name: "fuzz", run: fuzz::replay },
    Part { name: "doc", run: doc },
];

/// Returns the names of all parts.
pub(crate) fn names() -> Vec<&'static str> {
    PARTS.iter().map(|part| part.name).collect()
}

/// Runs every part and stops at the first that fails.
pub(crate) fn all() -> Result<()> {
    let started = Instant::now();
    PARTS.iter().try_for_each(Part::run)?;
    println!("\nall {} parts passed in {} s", PARTS.len(), started.elapsed().as_secs());
    Ok(())
}

/// Runs one part.
pub(crate) fn one(name: &str) -> Result<()> {
    let part = PARTS.iter().find(|part| part.name == name);
    part.with_context(|| format!("no part `{name}`, expected one of {}", names().join(", ")))?.run()
}

impl Part {
    fn run(&self) -> Result<()> {
        println!("\n== {} ==", self.name);
        (self.run)().with_context(|| format!("part `{}` (cargo xtask test {})", self.name, self.name))
    }
}

fn clippy() -> Result<()> {
    run(cargo().args(["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
}

fn doc() -> Result<()> {
    run(cargo().args(["test", "--locked", "--workspace", "--doc"]))?;
    let mut doc = cargo();
    run(doc
        .args(["doc", "--locked", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Checks that the independent reference agrees with every vector, and still generates the checked-in vectors byte by
/// byte.
fn vectors() -> Result<()> {
    if !succeeds(program("python3").arg("--version")) {
        install(&["python3"])?;
    }
    let reference = || {
        let mut command = program("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1").arg("vectors/reference");
        command
    };
    let (contract, own) = (json_files("vectors")?, json_files("vectors/own")?);
    run(reference().arg("check").args(contract.iter().chain(&own)))?;

    let made = target_dir()?.join("xtask/vectors");
    output(reference().arg("make").arg(&made))?;
    for path in own {
        let name = path.file_name().context("a file has a name")?.display().to_string();
        let same = fs::read(made.join(&name)).ok() == fs::read(root().join(&path)).ok();
        ensure!(same, "vectors/own/{name} is stale: python3 vectors/reference make vectors/own");
    }
    Ok(())
}

/// Returns the JSON files of a folder by name, relative to the workspace.
fn json_files(folder: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder))? {
        files.push(Path::new(folder).join(entry?.file_name()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}
