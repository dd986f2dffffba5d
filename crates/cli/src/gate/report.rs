//! `renown gate --report DIR`: measures the gates on labeled sets.
//!
//! | column | meaning |
//! |---|---|
//! | TP | outputs that should fail and do |
//! | FP | outputs that should pass but fail |
//! | FN | outputs that should fail but pass |
//! | precision | TP / (TP + FP) |
//! | recall | TP / (TP + FN) |
//! | alarms | FP / outputs that should pass: the false-positive rate |
//!
//! There is one line per rule and one per gate. The line of a gate adds up its rules and the outputs whose label names no rule.
//! Shares are truncated, not rounded, so that 1.0000 means all. Every gate runs alone and without a deadline: the report measures
//! verdicts, not speed. Without `--gates`, the gates that the labels name run.

mod sets;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use renown_core::gates::{Context, Engine, SettingsError, SettingsProblem};
use serde::Serialize;

use crate::args::{GateArgs, GateFormatArg};
use crate::config::Config;
use crate::failure::{self, Failure, printable};
use crate::table::{counted, table};
use sets::{File, Known, Sample, Shape};

/// The report, as printed.
#[derive(Debug, Default, Serialize)]
struct Report {
    files: Vec<FileRead>,
    /// Files of an unknown format.
    skipped: Vec<String>,
    gates: Vec<Line>,
    wrong: Vec<Wrong>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct FileRead {
    file: String,
    shape: Shape,
    samples: usize,
}

/// The figures of a gate or rule.
#[derive(Debug, Serialize)]
struct Line {
    gate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    samples: u64,
    #[serde(flatten)]
    counts: Counts,
    precision: Option<f64>,
    recall: Option<f64>,
    alarms: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    tp: u64,
    fp: u64,
    r#fn: u64,
    tn: u64,
}

/// An output whose verdict differs from its label.
#[derive(Debug, Serialize)]
struct Wrong {
    file: String,
    /// The line, or the index in the array, from 1.
    number: usize,
    gate: String,
    label: &'static str,
}

/// Outputs that were missed because a rule deliberately excludes them.
#[derive(Debug, Serialize)]
struct LeftOut {
    gate: String,
    samples: u64,
    why: &'static str,
}

/// Runs the gates on the sets of a directory. Returns the text to print.
pub(super) fn report(args: &GateArgs, dir: &Path) -> Result<String, Failure> {
    let mut gates = Gates { args, config: Config::load(args.config.as_deref())?, built: BTreeMap::new() };
    if args.gates.is_some() {
        super::engine(args)?;
    }
    let (mut report, mut tally) = (Report::default(), Tally::default());
    for path in files(dir)? {
        let file = path.display().to_string();
        if path.is_dir() {
            report.skipped.push(file);
            continue;
        }
        let text = super::read(&path, "labeled outputs")?;
        match sets::read(&file, &text).map_err(|what| Failure::new(format!("{file}: {what}")))? {
            File::Other => report.skipped.push(file),
            File::Set(shape, samples) => {
                for sample in &samples {
                    gates.judge(sample, &file, shape, &mut tally)?;
                }
                report.files.push(FileRead { file, shape, samples: samples.len() });
            }
        }
    }
    for file in &report.skipped {
        failure::warn(&format!("{file}: unknown format, skipped"));
    }
    if tally.counts.is_empty() {
        return Err(Failure::new(format!("{}: no labeled outputs for these gates", dir.display())).hint(
            "expected files with lines {\"output\": …, \"gate\": \"pii.email\", \"label\": \"pass|fail\"}",
        ));
    }
    report.gates = tally.lines();
    report.wrong = tally.wrong;
    report.left_out =
        tally.left_out.into_iter().map(|((gate, why), samples)| LeftOut { gate, samples, why }).collect();
    match args.format {
        GateFormatArg::Text => Ok(text(&report)),
        GateFormatArg::Json => {
            let json = serde_json::to_string_pretty(&report);
            json.map(|json| json + "\n").map_err(|error| Failure::new(error.to_string()))
        }
    }
}

/// Lists the files of a directory by name, without hidden files.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refused = |error: std::io::Error| {
        let hint = "--report names a directory with labeled outputs";
        Failure::new(format!("{}: {error}", dir.display())).hint(hint)
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The labeled gates, each in its own engine.
struct Gates<'a> {
    args: &'a GateArgs,
    config: Config,
    /// By the text of the label. `None` if `--gates` excludes the gate.
    built: BTreeMap<String, Option<Asked>>,
}

struct Asked {
    gate: String,
    rule: Option<String>,
    engine: Engine,
}

impl Gates<'_> {
    fn judge(&mut self, sample: &Sample, file: &str, shape: Shape, tally: &mut Tally) -> Result<(), Failure> {
        for known in &sample.known {
            let position = format!("{file}: {} {}: gate", shape.unit(), sample.number);
            let Some(asked) = self.asked(&known.what, &position)? else { continue };
            let context = Context {
                input: sample.input.as_deref(),
                latency: sample.latency,
                tmax: sample.tmax,
                ..Context::of(&sample.output)
            };
            let verdict = asked.engine.evaluate(&context, &|| Duration::ZERO);
            let is_asked = |rules: Vec<&str>| asked.rule.as_deref().is_none_or(|rule| rules.contains(&rule));
            let fired = verdict.gates.iter().filter_map(|gate| asked.engine.found(gate)).any(is_asked);
            tally.add(asked, known, fired, file, sample.number);
        }
        Ok(())
    }

    /// Returns the gate and rule that a label names. `position` is that of the label.
    fn asked(&mut self, what: &str, position: &str) -> Result<Option<&Asked>, Failure> {
        if !self.built.contains_key(what) {
            let asked = self.build(what, position)?;
            self.built.insert(what.to_owned(), asked);
        }
        Ok(self.built.get(what).and_then(Option::as_ref))
    }

    fn build(&self, what: &str, position: &str) -> Result<Option<Asked>, Failure> {
        let (gate, rule, engine) = match (self.engine(what, position), what.rsplit_once('.')) {
            (Ok(engine), _) => (what, None, engine),
            (Err(error), None) => return Err(error),
            (Err(error), Some((gate, rule))) => {
                let Ok(engine) = self.engine(gate, position) else { return Err(error) };
                (gate, Some(rule), engine)
            }
        };
        if let Some(rule) = rule {
            let known = engine.rules(gate).unwrap_or_default();
            if !known.contains(&rule) {
                let known = if known.is_empty() {
                    format!("{gate} alone")
                } else {
                    format!("one of {}", known.join(", "))
                };
                return Err(Failure::new(format!(
                    "{position}: {rule:?} is not a rule of {gate}, expected {known}"
                )));
            }
        }
        let is_wanted = |name: &String| name == gate || (name == "rtb" && gate.starts_with("rtb."));
        let wanted = self.args.gates.as_ref().is_none_or(|names| names.iter().any(is_wanted));
        Ok(wanted.then(|| Asked { gate: gate.to_owned(), rule: rule.map(str::to_owned), engine }))
    }

    /// Builds a gate that a label names. An unknown gate is an error of the label, every other problem one of the configuration.
    fn engine(&self, gate: &str, position: &str) -> Result<Engine, Failure> {
        super::engine_or(self.args, &self.config, Some(&[gate.to_owned()]), |error| {
            if matches!(error.problem, SettingsProblem::UnknownGate { .. }) {
                let error = SettingsError { key: position.to_owned(), problem: error.problem.clone() };
                Failure::new(error.to_string())
            } else {
                self.config.engine_failure(error).within(position)
            }
        })
    }
}

/// The counts by gate and rule.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<(String, Option<String>), Counts>,
    wrong: Vec<Wrong>,
    left_out: BTreeMap<(String, &'static str), u64>,
}

impl Tally {
    fn add(&mut self, asked: &Asked, known: &Known, fired: bool, file: &str, number: usize) {
        let whole = (asked.gate.clone(), None);
        let part = asked.rule.clone().map(|rule| (asked.gate.clone(), Some(rule)));
        for key in std::iter::once(whole).chain(part) {
            let counts = self.counts.entry(key).or_default();
            let count = match (known.fails, fired) {
                (true, true) => &mut counts.tp,
                (false, true) => &mut counts.fp,
                (true, false) => &mut counts.r#fn,
                (false, false) => &mut counts.tn,
            };
            *count += 1;
        }
        if fired != known.fails {
            let label = if known.fails { "fail" } else { "pass" };
            self.wrong.push(Wrong { file: file.to_owned(), number, gate: known.what.clone(), label });
            if let Some(why) = known.left_out {
                *self.left_out.entry((known.what.clone(), why)).or_default() += 1;
            }
        }
    }

    fn lines(&self) -> Vec<Line> {
        let line = |((gate, rule), counts): (&(String, Option<String>), &Counts)| {
            let Counts { tp, fp, r#fn, tn } = *counts;
            Line {
                gate: gate.clone(),
                rule: rule.clone(),
                samples: tp + fp + r#fn + tn,
                counts: *counts,
                precision: share(tp, tp + fp),
                recall: share(tp, tp + r#fn),
                alarms: share(fp, fp + tn),
            }
        };
        self.counts.iter().map(line).collect()
    }
}

/// Returns a share, truncated to four digits, or `None` if `of` is 0.
fn share(part: u64, of: u64) -> Option<f64> {
    let parts = part.checked_mul(10_000)?.checked_div(of)?;
    u32::try_from(parts).ok().map(|parts| f64::from(parts) / 10_000.0)
}

/// Formats the table and its notes.
fn text(report: &Report) -> String {
    let head = ["GATE", "SAMPLES", "TP", "FP", "FN", "PRECISION", "RECALL", "ALARMS"];
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.4}"));
    let row = |line: &Line| {
        let Counts { tp, fp, r#fn, .. } = line.counts;
        let rule = line.rule.as_ref().map(|rule| format!(".{rule}")).unwrap_or_default();
        [
            printable(&line.gate) + &printable(&rule),
            line.samples.to_string(),
            tp.to_string(),
            fp.to_string(),
            r#fn.to_string(),
            share(line.precision),
            share(line.recall),
            share(line.alarms),
        ]
    };
    let mut text = table(head, &report.gates.iter().map(row).collect::<Vec<_>>());
    for LeftOut { gate, samples, why } in &report.left_out {
        let _ = writeln!(text, "{gate}: {} missed, {why}", counted(*samples, "sample"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_truncated() {
        for (part, of, expected) in [
            (0, 0, None),
            (0, 3, Some(0.0)),
            (2, 3, Some(0.6666)),
            (99_999, 100_000, Some(0.9999)),
            (3, 3, Some(1.0)),
        ] {
            assert_eq!(share(part, of), expected, "{part}/{of}");
        }
    }
}
