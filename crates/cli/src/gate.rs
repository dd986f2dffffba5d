//! `renown gate`: runs the gates on one output and prints the verdict.
//!
//! The engine is pure. The command adds the files, the clock and the randomness for the id.
//!
//! `--strictness` replaces `gates.strictness`; the strictness of a single gate stays. `--root` adds to the roots of the
//! configuration.

mod report;

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use renown_clock::MachineClock;
use renown_core::gates::{Choice, Context, Engine, GateResult, Place, SettingsError, Verdict};
use renown_core::ids::EvaluationId;
use renown_core::limits::INPUT_BYTES_MAX;
use renown_core::time::Timestamp;
use renown_core::units::duration_of_ms;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::args::{GateArgs, GateFormatArg, ReadAsArg};
use crate::config::Config;
use crate::failure::{self, Failure, printable};
use crate::input_file::{InputFile, STDIN};
use crate::links::links;
use crate::printed;

/// The exit code of an output that did not pass.
const FAILED: u8 = 1;

/// Judges one output.
pub(crate) fn run(args: &GateArgs, quiet: bool) -> Result<ExitCode, Failure> {
    if let Some(dir) = &args.report {
        let report = report::report(args, dir)?;
        let mut out = io::stdout().lock();
        return printed(out.write_all(report.as_bytes()).and_then(|()| out.flush()));
    }
    let engine = engine(args)?;
    if args.file == Path::new(STDIN) && io::stdin().is_terminal() && !quiet {
        failure::note("reading an output from the terminal (end with Ctrl-D)");
    }
    let (output, is_text) = output(&args.file, args.read_as)?;
    let input =
        args.input.as_deref().map(|path| json(path, &read(path, "the tool's input as JSON")?)).transpose()?;
    let context = Context {
        tool: args.tool.as_deref(),
        input: input.as_deref(),
        latency: args.latency_ms,
        ..Context::of(&output)
    };
    let mut verdict = engine.evaluate(&context, &MachineClock::start());
    let passed = verdict.passed;
    let left = verdict.redacted.take().unwrap_or_else(|| output.get().to_owned());
    let is_terminal = if args.redacted { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let result = match args.format {
        GateFormatArg::Text => text(&verdict, is_terminal && std::env::var_os("NO_COLOR").is_none()),
        GateFormatArg::Json => to_json(&identified(verdict)?)?,
    };
    let mut out = io::stdout().lock();
    let shown = if args.redacted {
        // If standard error is closed, there is no reader.
        let _ = io::stderr().write_all(result.as_bytes());
        if passed { as_read(left, is_text)? } else { String::new() }
    } else {
        result
    };
    let code = printed(out.write_all(shown.as_bytes()).and_then(|()| out.flush()))?;
    Ok(if passed { code } else { ExitCode::from(FAILED) })
}

/// Returns an output in the form in which it was read: text, or a line of JSON.
fn as_read(json: String, is_text: bool) -> Result<String, Failure> {
    if is_text {
        serde_json::from_str(&json).map_err(|error| Failure::new(error.to_string()))
    } else {
        Ok(json + "\n")
    }
}

/// Parses `--latency-ms`.
pub(crate) fn latency(text: &str) -> Result<Duration, String> {
    let expected = "expected a number of milliseconds, 0 or more";
    text.parse().ok().and_then(duration_of_ms).ok_or_else(|| expected.to_owned())
}

/// Builds the gates of the arguments and the configuration.
fn engine(args: &GateArgs) -> Result<Engine, Failure> {
    let config = Config::load(args.config.as_deref())?;
    // `--gates ''` means an empty list.
    let gates: Option<Vec<String>> =
        args.gates.as_ref().map(|names| names.iter().filter(|name| !name.is_empty()).cloned().collect());
    engine_of(args, &config, gates.as_deref())
}

/// Builds the given gates.
fn engine_of(args: &GateArgs, config: &Config, gates: Option<&[String]>) -> Result<Engine, Failure> {
    engine_or(args, config, gates, |error| config.engine_failure(error))
}

/// Builds the given gates. `explain` turns an error of the settings into one for the user.
fn engine_or(
    args: &GateArgs,
    config: &Config,
    gates: Option<&[String]>,
    explain: impl FnOnce(&SettingsError) -> Failure,
) -> Result<Engine, Failure> {
    let roots = args.root.iter().map(|root| roots(root)).collect::<Result<Vec<_>, _>>()?.concat();
    let choice = Choice {
        gates,
        gates_key: "--gates",
        strictness: args.strictness.map(Into::into),
        roots: &roots,
        links: Some(links()),
        ..Choice::of(Place::Cli)
    };
    config.engine_or(&choice, explain)
}

/// Returns a root as given, and its canonical path if that differs.
pub(crate) fn roots(root: &Path) -> Result<Vec<String>, Failure> {
    let refused = |error: io::Error| Failure::new(format!("--root {}: {error}", root.display()));
    let (named, real) =
        (std::path::absolute(root).map_err(refused)?, fs::canonicalize(root).map_err(refused)?);
    let mut roots = vec![named];
    if !roots.contains(&real) {
        roots.push(real);
    }
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|_| Failure::new("--root: expected a path in UTF-8"))
    };
    roots.into_iter().map(text).collect()
}

/// Reads the output. Returns it as JSON, and whether it was read as text.
fn output(path: &Path, read_as: Option<ReadAsArg>) -> Result<(Box<RawValue>, bool), Failure> {
    let text = read(path, "the output of an agent")?;
    let as_text = |text: &str| match to_raw_value(text) {
        Ok(json) => Ok((json, true)),
        Err(error) => Err(Failure::new(error.to_string())),
    };
    let as_json = |text: &str| json(path, text).map(|json| (json, false));
    match read_as {
        Some(ReadAsArg::Text) => as_text(&text),
        Some(ReadAsArg::Json) => as_json(&text),
        None => as_json(&text).or_else(|_| as_text(&text)),
    }
}

fn json(path: &Path, text: &str) -> Result<Box<RawValue>, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("{}: not JSON: {error}", path.display())))
}

/// Reads a whole file or standard input. `wanted` describes the expected content.
fn read(path: &Path, wanted: &str) -> Result<String, Failure> {
    let InputFile { name, file, .. } = InputFile::open(path, wanted)?;
    let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{name}: {what}"));
    let mut bytes = Vec::new();
    let limit = u64::try_from(INPUT_BYTES_MAX).unwrap_or(u64::MAX);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    if bytes.len() > INPUT_BYTES_MAX {
        return Err(refused(&format_args!("longer than {} MiB", INPUT_BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| refused(&"not UTF-8, expected text"))
}

/// The engine's result with the id and the time of the evaluation.
#[derive(Serialize)]
struct Identified {
    evaluation_id: EvaluationId,
    #[serde(flatten)]
    verdict: Verdict,
    timestamp: Timestamp,
}

fn identified(verdict: Verdict) -> Result<Identified, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let timestamp = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millis(millis).ok());
    let timestamp =
        timestamp.ok_or_else(|| Failure::new("the clock of this machine is wrong by centuries"))?;
    let random = getrandom::u64().map_err(|error| Failure::new(format!("no random numbers: {error}")))?;
    Ok(Identified { evaluation_id: EvaluationId::made(millis, random), verdict, timestamp })
}

fn to_json(result: &Identified) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(result).map_err(|error| Failure::new(error.to_string()))?;
    Ok(text + "\n")
}

/// Formats one line per gate, and the verdict.
fn text(verdict: &Verdict, color: bool) -> String {
    let colored = |word: &str, code: &str| {
        if color { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    };
    let word = |gate: &GateResult| match (gate.passed, gate.skipped) {
        (_, true) => colored("skip", "33"),
        (true, false) => colored("pass", "32"),
        (false, false) => colored("fail", "31"),
    };
    let width = verdict.gates.iter().map(|gate| gate.name.chars().count()).max().unwrap_or_default();
    let line = |gate: &GateResult| {
        let reason =
            gate.reason.as_deref().map(|reason| format!("  {}", printable(reason))).unwrap_or_default();
        format!("{}  {:width$}{reason}", word(gate), printable(&gate.name)).trim_end().to_owned() + "\n"
    };
    let lines: String = verdict.gates.iter().map(line).collect();
    let last = if verdict.passed { colored("PASS", "1;32") } else { colored("FAIL", "1;31") };
    format!("{lines}{last}\n")
}

#[cfg(test)]
mod tests {
    use renown_core::units::Micros;

    use super::*;

    #[test]
    fn text_has_one_line_per_gate_and_the_verdict() {
        let gate = |name: &str, passed, reason: Option<&str>, skipped| GateResult {
            name: name.into(),
            passed,
            latency: Micros::default(),
            reason: reason.map(str::to_owned),
            skipped,
        };
        let gates = vec![
            gate("latency", true, Some("no latency_ms provided"), true),
            gate("pii", false, Some("iban detected in output"), false),
            gate("content", true, None, false),
        ];
        let verdict = Verdict { passed: false, gates, total: Micros::default(), redacted: None };
        assert_eq!(
            text(&verdict, false),
            "skip  latency  no latency_ms provided\nfail  pii      iban detected in output\npass  content\nFAIL\n"
        );
        assert!(text(&verdict, true).ends_with("\u{1b}[1;31mFAIL\u{1b}[0m\n"));
    }
}
