//! `cargo xtask bench history`: `renown stats` against ccusage on the same transcripts of Claude Code, in one run.
//!
//! The transcripts are generated: 400 sessions in 40 projects, prompts, calls with a thinking block, tool calls, and
//! results of tools with the payload twice, as the agent writes them. A response takes two or three lines; only the
//! last one has all its output.
//!
//! | figure | is |
//! |---|---|
//! | cold | the whole process without a cache; the files are in the page cache of the system for both |
//! | warm | the whole process again, with the cache of `renown`; ccusage has none |
//!
//! ccusage is its native program, started without Node. Both must find the same number of tokens.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::node;
use crate::shell::{cargo, output, program, run, target_dir};

/// Bytes of all transcripts.
const BYTES: u64 = 1_000_000_000;
const SESSIONS: u64 = 400;
const PROJECTS: u64 = 40;

/// How often each command is measured. The fastest run counts.
const TIMES: u32 = 3;

const COLD_RATIO_MIN: f64 = 2.0;
const RSS_MB_MAX: f64 = 150.0;
const WARM_MS_MAX: f64 = 100.0;

struct Measured {
    seconds: f64,
    rss_mb: f64,
}

/// Generates the transcripts, measures both programs and compares their tokens.
pub(crate) fn history() -> Result<()> {
    run(cargo().args(["build", "--locked", "--release", "--package", "renown"]))?;
    let renown = target_dir()?.join("release/renown");
    let ccusage = native(&node::folder("history")?)?;
    let home = target_dir()?.join("xtask/bench/history");
    let bytes = generate(&home)?;
    let data = home.join("data");
    let ours =
        |times| measure(times, &home, &[&renown.to_string_lossy(), "stats", "--format", "json", "--quiet"]);
    let mut cold: Option<Measured> = None;
    for _ in 0..TIMES {
        if data.exists() {
            fs::remove_dir_all(&data)?;
        }
        let found = ours(1)?;
        cold = cold.filter(|best| best.seconds <= found.seconds).or(Some(found));
    }
    let cold = cold.context("measured at least once")?;
    let warm = ours(TIMES)?;
    let theirs = measure(TIMES, &home, &[&ccusage.to_string_lossy(), "daily", "--json", "--offline"])?;
    println!("\n{bytes} bytes in {SESSIONS} files");
    row("ccusage", &theirs, "");
    let ratio = theirs.seconds / cold.seconds;
    let is_met = ratio >= COLD_RATIO_MIN && cold.rss_mb <= RSS_MB_MAX;
    let target = verdict(is_met, &format!("≥ {COLD_RATIO_MIN}× and ≤ {RSS_MB_MAX} MB"));
    row("renown, cold", &cold, &format!("{ratio:.1}× as fast {target}"));
    let ms = warm.seconds * 1000.0;
    row("renown, warm", &warm, &verdict(ms < WARM_MS_MAX, &format!("< {WARM_MS_MAX} ms")));
    let (own, other) = (tokens(&home, &renown, true)?, tokens(&home, &ccusage, false)?);
    println!("tokens: renown {own}, ccusage {other}");
    ensure!(own == other, "the tokens differ");
    fs::remove_dir_all(home)?;
    Ok(())
}

/// Returns the native program in the folder of the packages.
fn native(folder: &Path) -> Result<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules/@ccusage")).context("no native ccusage")?;
    let programs = packages.flatten().map(|package| package.path().join("bin/ccusage"));
    programs.into_iter().find(|path| path.is_file()).context("no native ccusage for this system")
}

/// Runs a command in the home with the transcripts. The measuring script reads the peak memory of its child.
fn measure(times: u32, home: &Path, command: &[&str]) -> Result<Measured> {
    let mut measuring = program("python3");
    measuring.arg("xtask/measure.py").arg(times.to_string()).args(command);
    measuring.env("HOME", home).env("RENOWN_DATA", home.join("data"));
    let found: Value = serde_json::from_str(&output(&mut measuring)?)?;
    let number = |name: &str| found.get(name).and_then(Value::as_f64).with_context(|| format!("no {name}"));
    Ok(Measured { seconds: number("seconds")?, rss_mb: number("peak_rss_mb")? })
}

/// Returns the tokens of all kinds.
fn tokens(home: &Path, path: &Path, is_ours: bool) -> Result<u64> {
    let mut command = program(path);
    command.env("HOME", home).env("RENOWN_DATA", home.join("data"));
    let (args, sum, name): (&[&str], _, _) = if is_ours {
        (&["stats", "--format", "json", "--quiet"], "total", "total_tokens")
    } else {
        (&["daily", "--json", "--offline"], "totals", "totalTokens")
    };
    let found: Value = serde_json::from_str(&output(command.args(args))?)?;
    found.get(sum).and_then(|sum| sum.get(name)).and_then(Value::as_u64).context("no tokens")
}

/// Writes the transcripts below a home. Returns their bytes.
fn generate(home: &Path) -> Result<u64> {
    let mut total = 0;
    for number in 0..SESSIONS {
        let project = home.join(format!(".claude/projects/-home-dev-project-{}", number % PROJECTS));
        fs::create_dir_all(&project)?;
        let id = format!("{:08x}-7425-40de-944b-{:012x}", number * 2_654_435_761 % 0xffff_ffff, number);
        let mut session = Session::new(&id, number);
        let file = File::create(project.join(format!("{id}.jsonl")))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        while session.bytes < BYTES / SESSIONS {
            session.turn(&mut file)?;
        }
        file.flush()?;
        total += session.bytes;
    }
    Ok(total)
}

/// A session that is being written.
struct Session {
    id: String,
    project: u64,
    line: u64,
    bytes: u64,
    /// State of the generator of numbers.
    state: u64,
    second: u64,
}

impl Session {
    fn new(id: &str, number: u64) -> Self {
        let id = id.to_owned();
        Self { id, project: number % PROJECTS, line: 0, bytes: 0, state: number + 1, second: number * 4000 }
    }

    /// Returns a number below the limit: a linear congruential generator is random enough for lengths.
    fn below(&mut self, limit: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    /// Returns text of about this many bytes, with the escapes of code.
    fn text(&mut self, bytes: u64) -> String {
        const WORDS: [&str; 8] = [
            "let value = parse(input)?;\\n",
            "    ",
            "fn main() {\\n",
            "\\\"text\\\", ",
            "return Ok(());\\n",
            "// a comment that explains why this is here\\n",
            "\\t",
            "match kind { Some(found) => found, None => continue }\\n",
        ];
        let mut text = String::new();
        while (text.len() as u64) < bytes {
            let word = self.below(WORDS.len() as u64);
            text.push_str(WORDS.get(usize::try_from(word).unwrap_or(0)).copied().unwrap_or_default());
        }
        text
    }

    fn write(&mut self, file: &mut impl Write, kind: &str, rest: &str) -> Result<()> {
        self.line += 1;
        self.second += 1 + self.below(20);
        let (line, before, second, id) = (self.line, self.line - 1, self.second, &self.id);
        let (day, hour) = (1 + second / 86_400 % 28, second / 3600 % 24);
        let text = format!(
            r#"{{"parentUuid":"{before:08x}-{id}","isSidechain":false,"userType":"external","cwd":"/home/dev/project-{project}","sessionId":"{id}","version":"2.1.276","gitBranch":"main","type":"{kind}","uuid":"{line:08x}-{id}","timestamp":"2026-09-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z",{rest}}}"#,
            project = self.project,
            minute = second / 60 % 60,
            second = second % 60,
        );
        self.bytes += text.len() as u64 + 1;
        writeln!(file, "{text}").map_err(Into::into)
    }

    /// Writes a prompt and some rounds of a call with its tool.
    fn turn(&mut self, file: &mut impl Write) -> Result<()> {
        let text = self.text(200);
        self.write(file, "user", &format!(r#""promptId":"p{}","origin":{{"kind":"human"}},"message":{{"role":"user","content":"{text}"}}"#, self.line))?;
        for _ in 0..=self.below(12) {
            let (output, read, written) = (20 + self.below(900), self.below(150_000), self.below(3000));
            let message = format!("msg_{}_{}", self.line, self.id);
            let tool = format!("toolu_{}_{}", self.line, self.id);
            let thinking = self.text(600);
            let blocks = [
                (1, format!(r#"{{"type":"thinking","thinking":"{thinking}","signature":"c2lnbmF0dXJl"}}"#)),
                (
                    output,
                    format!(
                        r#"{{"type":"tool_use","id":"{tool}","name":"Bash","input":{{"command":"cargo test","description":"{}"}}}}"#,
                        self.text(100)
                    ),
                ),
            ];
            for (output, block) in blocks {
                let usage = format!(
                    r#"{{"input_tokens":6,"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"cache_creation":{{"ephemeral_5m_input_tokens":{written},"ephemeral_1h_input_tokens":0}},"output_tokens":{output},"service_tier":"standard"}}"#
                );
                self.write(file, "assistant", &format!(
                    r#""requestId":"req_{message}","message":{{"model":"claude-sonnet-4-5-20250929","id":"{message}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}"#
                ))?;
            }
            let bytes = 500 + self.below(3000);
            let payload = self.text(bytes);
            let failed = if self.below(10) == 0 { r#","is_error":true"# } else { "" };
            self.write(file, "user", &format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"{tool}","type":"tool_result","content":"{payload}"{failed}}}]}},"toolUseResult":{{"stdout":"{payload}","stderr":"","interrupted":false}}"#
            ))?;
        }
        Ok(())
    }
}

fn verdict(met: bool, target: &str) -> String {
    format!("(target {target}: {})", if met { "met" } else { "MISSED" })
}

fn row(what: &str, measured: &Measured, more: &str) {
    println!("{what:<14} {:>7.3} s {:>6.0} MB   {more}", measured.seconds, measured.rss_mb);
}
