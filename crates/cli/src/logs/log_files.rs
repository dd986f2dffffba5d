//! Expands paths and globs to files, each file once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::failure::{self, Failure};
use crate::input_file::STDIN;

/// Returns the files of the arguments, in their order. A path that is given twice is read once, with a warning.
pub(crate) fn expand(arguments: &[PathBuf], quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let (mut paths, mut seen) = (Vec::new(), BTreeSet::new());
    for argument in arguments {
        for path in matches(argument)? {
            let identity = path.canonicalize().unwrap_or_else(|_| path.clone());
            if seen.insert(identity) {
                paths.push(path);
            } else if !quiet {
                failure::warn(&format!("{} was given twice and is read once", path.display()));
            }
        }
    }
    Ok(paths)
}

/// Returns the path itself, or the matches of a glob if no such file exists. Most shells have expanded globs already.
fn matches(argument: &Path) -> Result<Vec<PathBuf>, Failure> {
    let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| !argument.exists() && argument != Path::new(STDIN)) else {
        return Ok(vec![argument.to_owned()]);
    };
    let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{pattern}: {what}"));
    let mut paths = Vec::new();
    for path in glob::glob(pattern).map_err(|error| refused(&error.msg))? {
        let path = path.map_err(|error| refused(&error))?;
        if path.is_file() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(refused(&"no file matches").hint("name a file with OTLP JSON, one object per line"));
    }
    Ok(paths)
}
