//! The API against its own document: `schemathesis` makes requests from `/openapi.json` (valid ones, invalid ones, and
//! sequences of them) and checks every reply against the document.
//!
//! All checks are on, except those that `xtask/schemathesis/schemathesis.toml` turns off with a reason. `/v1/stream` is
//! left out, because its reply does not end; `crates/cli/tests/it/api/stream.rs` tests it.

use anyhow::Result;

use crate::python;
use crate::renown::{Renown, empty};
use crate::shell::{cargo, program, root, run, target_dir};

/// The same requests in every run.
const SEED: &str = "7";

/// Maximum number of requests per phase and operation.
const EXAMPLES: &str = "60";

/// Starts a server and runs the requests against it.
pub(crate) fn check() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let target = target_dir()?;
    let environment = python::environment("schemathesis")?;
    let renown = Renown { program: target.join("debug/renown"), data: target.join("xtask/api") };
    empty(&renown.data)?;
    let key = renown.create_key()?;
    let (peer, _) = renown.serve()?;
    let hooks = root().join("xtask/schemathesis");
    let mut command = program(environment.join("bin/schemathesis"));
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SCHEMATHESIS_HOOKS", "hooks")
        // Outside the workspace, because it stores what it remembers of earlier runs there.
        .current_dir(&renown.data)
        .env("PYTHONPATH", &hooks)
        .arg("--config-file")
        .arg(hooks.join("schemathesis.toml"))
        .arg("run")
        .arg(format!("http://{}/openapi.json", peer.address))
        .args(["--header", &format!("Authorization: Bearer {key}"), "--exclude-path", "/v1/stream"])
        .args(["--phases", "coverage,fuzzing,stateful", "--continue-on-failure"])
        .args(["--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none"]);
    run(&mut command)
}
