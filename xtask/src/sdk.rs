//! `cargo xtask sdk`: generates the clients of both SDKs from the OpenAPI document of the server.
//!
//! There is one method per operation and one type per schema, so that no route is forgotten and no field is misspelled.
//! The rest of a request (keys, errors, retries, paging, events) is written by hand in `_http.py` and `http.ts`. The
//! files are checked in; `cargo xtask test sdk` reports when they are stale.

mod model;
mod python;
mod text;
mod typescript;

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::shell::root;
use model::Api;

/// The document that the server generates. A test of the server writes it.
const DOCUMENT: &str = "crates/server/openapi.json";

/// A generated file, and its generator.
type Made = (&'static str, fn(&Api) -> String);

const FILES: [Made; 2] = [
    ("sdk/python/python/renown/_api.py", python::client as fn(&Api) -> String),
    ("sdk/node/src/api.ts", typescript::client),
];

/// Writes the clients.
pub(crate) fn write() -> Result<()> {
    for (path, text) in made()? {
        let full = root().join(path);
        if let Some(folder) = full.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(full, text).with_context(|| path.to_owned())?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails if a client differs from the generated one.
pub(crate) fn check() -> Result<()> {
    for (path, text) in made()? {
        let kept = fs::read_to_string(root().join(path)).unwrap_or_default();
        let same = kept.lines().zip(text.lines()).take_while(|(kept, made)| kept == made).count();
        ensure!(kept == text, "{path} is stale from line {} on: cargo xtask sdk renews it", same + 1);
    }
    println!("both clients are what {DOCUMENT} says");
    Ok(())
}

fn made() -> Result<Vec<(&'static str, String)>> {
    let document = fs::read_to_string(root().join(DOCUMENT)).context(DOCUMENT)?;
    let api = Api::read(&serde_json::from_str(&document)?).context(DOCUMENT)?;
    Ok(FILES.iter().map(|(path, make)| (*path, make(&api))).collect())
}
