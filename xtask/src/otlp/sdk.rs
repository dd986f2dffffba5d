//! The OpenTelemetry SDKs of Python and Node, each with a script that sends telemetry.

use std::env;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::shell::{program, root, run, target_dir};
use crate::{node, python};

/// The SDK of a language, with its script.
#[derive(Debug)]
pub(super) struct Sdk {
    interpreter: PathBuf,
    folder: PathBuf,
    script: &'static str,
}

impl Sdk {
    /// Returns the SDK of Python. Installs it if it is missing.
    pub(super) fn python() -> Result<Self> {
        let interpreter = python::environment("otlp/python")?.join("bin/python");
        Ok(Self { interpreter, folder: root().join("xtask/otlp/python"), script: "send.py" })
    }

    /// Returns the SDK of Node. Installs the versions of the lock file if it is missing.
    pub(super) fn node() -> Result<Self> {
        node::ready()?;
        let (sources, folder) = (root().join("xtask/otlp/node"), target_dir()?.join("xtask/otlp/node"));
        fs::create_dir_all(&folder)?;
        // Node searches packages in the folder of the script.
        for entry in fs::read_dir(&sources)? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
        let (lock, stamp) = (folder.join("package-lock.json"), folder.join("node_modules/installed.json"));
        if fs::read(&stamp).ok() != Some(fs::read(&lock)?) {
            let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
            run(program("npm").args(npm).current_dir(&folder))?;
            // Written last, so that an interrupted installation is repeated.
            fs::copy(lock, stamp)?;
        }
        Ok(Self { interpreter: "node".into(), folder, script: "send.mjs" })
    }

    /// Returns a script of the folder, without the `OTEL_*` settings of the developer.
    pub(super) fn script(&self, name: &str) -> Command {
        let mut command = program(&self.interpreter);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        command.envs([
            ("NO_PROXY", "127.0.0.1"),
            ("no_proxy", "127.0.0.1"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ]);
        command.arg(self.folder.join(name));
        command
    }

    /// Sends all jobs, one after the other.
    pub(super) fn send(&self, jobs: &[Value]) -> Result<()> {
        let mut child = self.script(self.script).stdin(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take().context("a pipe was asked for")?;
        input.write_all(json!(jobs).to_string().as_bytes())?;
        drop(input);
        let status = child.wait()?;
        ensure!(status.success(), "{} ended with {status}", self.script);
        Ok(())
    }
}
