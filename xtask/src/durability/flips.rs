//! Flips bits in the file: every flip that changes an export must be noticed.
//!
//! One bit at a time is flipped in a copy of the database; a seed determines the positions. Then either `renown verify`
//! reports it, or every export is the same as before.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::generate::Random;
use crate::renown::empty;
use crate::shell::{output, program, succeeds};

const FLIPS: usize = 500;
const SEED: u64 = 0xf11b_2026;

const EXPORTS: [&str; 4] = ["evaluations", "events", "runs", "sessions"];

/// Flips bits in a copy of the database of a data directory.
pub(super) fn run(renown: &Path, data: &Path, folder: &Path) -> Result<()> {
    empty(folder)?;
    let (copy, hurt) = (folder.join("copy.db"), folder.join("hurt.db"));
    output(program(renown).args(["--quiet", "backup"]).arg(&copy).arg("--data").arg(data))?;
    let sound = fs::read(&copy)?;
    let before = exports(renown, &copy)?;
    let mut random = Random::new(SEED);
    let (mut noticed, mut harmless) = (0, 0);
    for flip in 0..FLIPS {
        let bit = random.between(0, sound.len() as u64 * 8 - 1);
        let mut bytes = sound.clone();
        let byte = bytes.get_mut(usize::try_from(bit / 8)?).context("a byte of the file")?;
        *byte ^= 1 << (bit % 8);
        fs::write(&hurt, bytes)?;
        let mut verify = program(renown);
        if succeeds(verify.args(["--quiet", "verify", "--store"]).arg(store(&hurt))) {
            let same = exports(renown, &hurt).is_ok_and(|after| after == before);
            ensure!(same, "flip {flip}, bit {bit}, changes an export and is not noticed by renown verify");
            harmless += 1;
        } else {
            noticed += 1;
        }
    }
    println!("flipped {FLIPS} bits: {noticed} noticed, {harmless} change no export, 0 unnoticed");
    Ok(())
}

fn store(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

/// Returns everything that can be exported, as text.
fn exports(renown: &Path, file: &Path) -> Result<Vec<String>> {
    let one = |kind: &str| {
        let mut command = program(renown);
        command.args(["--quiet", "export", kind, "--format", "jsonl", "--store"]).arg(store(file));
        output(&mut command)
    };
    EXPORTS.into_iter().map(one).collect()
}
