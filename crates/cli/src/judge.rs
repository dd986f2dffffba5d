//! `renown judge`: scores sessions of coding agents from their telemetry.

mod import;
pub(crate) mod local;
mod print;
mod received;
mod session_file;
mod submit;
mod watch;

use std::fmt;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::SyncSender;
use std::thread;

use renown_core::decimal::{Decimal, Written};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::ledger::{Ledger, Session, TimeRange};
use renown_telemetry::limits::REPEATS_MAX;
use renown_telemetry::prices::Prices;
use renown_telemetry::report::SessionReport;

use crate::args::{FormatArg, JudgeArgs};
use crate::config::Config;
use crate::failure::{self, Failure};
use crate::input_file::{InputFile, STDIN};
use crate::logs::reading::Reading;
use crate::logs::stream::Stream;
use crate::logs::{log_files, parallel};
use crate::progress::Progress;
use crate::table::counted;
use print::Shown;
use session_file::SessionFile;
use submit::Submission;

/// The exit code if a session scores below `--min`.
const BELOW: u8 = 1;

/// Judges the sessions that the arguments select.
pub(crate) fn run(args: &JudgeArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let judge = Judge::new(args, quiet)?;
    if let (Some(server), true) = (&args.submit, args.history) {
        return import::run(&judge, server);
    }
    match logs(args, quiet)? {
        Some(logs) if args.watch => judge.watch(&logs),
        Some(logs) => judge.once(&logs),
        None if args.submit.is_some() => {
            Err(Failure::new("--submit sends a log, found no log").hint("name a log file, or pipe a log in"))
        }
        None => local::run(&judge),
    }
}

/// The checked arguments.
struct Judge<'a> {
    args: &'a JudgeArgs,
    quiet: bool,
    prices: Prices,
    cut: TimeRange,
    /// The masque from `--masque` or the session file.
    masque: Option<String>,
}

impl<'a> Judge<'a> {
    fn new(args: &'a JudgeArgs, quiet: bool) -> Result<Self, Failure> {
        let prices = Config::load_for(args.config.as_deref(), args.location.data.as_deref())?.prices;
        let session_file =
            args.session_file.as_deref().map(SessionFile::read).transpose()?.unwrap_or_default();
        let cut = TimeRange { from: args.from.or(session_file.donned_at), to: args.to };
        if let (Some(from), Some(to)) = (cut.from, cut.to)
            && from > to
        {
            return Err(Failure::new(format!("--to {to} is before {from}, the start of the time range")));
        }
        let masque = args.masque.clone().or(session_file.name);
        Ok(Self { args, quiet, prices, cut, masque })
    }

    fn reading(&self) -> Reading {
        Reading::new(self.cut, self.args.strict)
    }

    /// Judges logs, and sends them to a server if `--submit` is given.
    fn once(&self, logs: &[PathBuf]) -> Result<ExitCode, Failure> {
        let Some(server) = &self.args.submit else { return self.judge(logs, None) };
        let (submission, lines_to) = Submission::begin(server, self.args.key.as_deref(), self.quiet)?;
        let judged = self.judge(logs, Some(lines_to));
        match (judged, submission.finish(self.quiet)) {
            (judged, Ok(())) => judged,
            (Ok(_), Err(failure)) => Err(failure),
            (Err(first), Err(second)) => {
                failure::print(&second);
                Err(first)
            }
        }
    }

    /// Reads all logs and prints the selected sessions.
    fn judge(&self, logs: &[PathBuf], lines_to: Option<SyncSender<Vec<u8>>>) -> Result<ExitCode, Failure> {
        let mut reading = self.read(logs, self.reading().forwarding_lines(lines_to))?;
        reading.end_lines();
        let beyond = reading.ledger.sessions_beyond_repeats();
        if beyond > 0 {
            let sessions = counted(beyond as u64, "session");
            reading.warn(format!(
                "{sessions} with more than {REPEATS_MAX} records: later records were not deduplicated"
            ));
        }
        self.warn(&reading.all_warnings());
        let ledger = &reading.ledger;
        let account = ledger.account();
        let selected = match self.select(ledger, logs, &account, reading.first_bad_line()) {
            Ok(selected) => selected,
            Err(failure) => {
                if account != Account::default() {
                    self.report_account(&account);
                }
                return Err(failure);
            }
        };
        let reports: Vec<SessionReport<'_>> =
            selected.iter().filter_map(|session| self.report(session)).collect();
        self.print_reports(&reports)?;
        self.report_account(&account);
        self.report_unscored(ledger.sessions().len() - ledger.scorable().len());
        self.report_missing(&reports);
        Ok(self.passed(&reports))
    }

    fn read(&self, logs: &[PathBuf], reading: Reading) -> Result<Reading, Failure> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let lengths = logs.iter().map(|path| length(path));
        let bytes: Option<u64> = lengths.collect::<Result<Vec<_>, _>>()?.into_iter().sum();
        let progress = Progress::new(bytes, !self.quiet);
        let open = |path: &PathBuf| {
            let InputFile { name, file, .. } = InputFile::open(path, WANTED)?;
            let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
            let stream = Stream::new(progress.count(file)).map_err(failed)?;
            Ok((name, stream))
        };
        let reading = parallel::read(logs, open, reading, &self.prices, workers);
        progress.finish();
        reading
    }

    /// Returns the selected sessions, oldest first.
    fn select<'l>(
        &self,
        ledger: &'l Ledger,
        logs: &[PathBuf],
        account: &Account,
        first_bad_line: Option<&str>,
    ) -> Result<Vec<&'l Session>, Failure> {
        let name = Self::name(logs);
        if self.args.logs.is_empty() && *account == Account::default() {
            // Do not fall back to the store: a caller who pipes a log wants that log judged.
            return Err(Failure::new("nothing to judge: standard input is empty").hint(format!(
                "`renown judge --org default` judges the sessions that a server has received, {NOTHING_HINT}"
            )));
        }
        if account.sessions == 0 {
            return Err(nothing(&name, account, self.cut, first_bad_line));
        }
        let sessions = ledger.scorable();
        if let Some(id) = &self.args.session {
            let session = ledger.find(id).ok_or_else(|| {
                let latest: Vec<&str> = sessions.iter().rev().take(3).map(|session| session.id()).collect();
                Failure::new(format!("no session {id} in {name}"))
                    .hint(format!("the latest are {}", latest.join(", ")))
            })?;
            return if session.has_evidence() { Ok(vec![session]) } else { Err(unscored(id)) };
        }
        if sessions.is_empty() {
            let found = counted(account.sessions, "session");
            return Err(Failure::new(format!("nothing to score in {name} ({found} {WITHOUT_EVIDENCE})")));
        }
        let all = if self.args.all { sessions.len() } else { 1 };
        let last = self.args.last.map_or(all, |last| usize::try_from(last).unwrap_or(usize::MAX));
        let older = sessions.len().saturating_sub(last);
        Ok(sessions.into_iter().skip(older).collect())
    }

    fn print_reports(&self, reports: &[SessionReport<'_>]) -> Result<(), Failure> {
        let shown: Vec<Shown<'_>> = reports.iter().cloned().map(Shown::of).collect();
        self.print(&shown)
    }

    fn print(&self, reports: &[Shown<'_>]) -> Result<(), Failure> {
        let is_one = !self.args.all && self.args.last.is_none();
        crate::printed(print::write(io::stdout().lock(), reports, self.args.format, is_one)).map(|_| ())
    }

    /// Returns the name of the logs for errors.
    fn name(logs: &[PathBuf]) -> String {
        let first = logs.first().map_or(Path::new(STDIN), PathBuf::as_path);
        let first =
            if first == Path::new(STDIN) { "standard input".into() } else { first.display().to_string() };
        match logs.len() {
            0 | 1 => first,
            more => format!("{first} and {}", counted(more as u64 - 1, "other file")),
        }
    }

    /// Scores a session. Returns `None` if it has no evidence.
    fn report<'s>(&self, session: &'s Session) -> Option<SessionReport<'s>> {
        let mut report = session.report()?;
        if let Some(masque) = &self.masque {
            report.masque = masque.clone().into();
        }
        Some(report)
    }

    /// Returns the exit code. Reports each session that scores below `--min`.
    fn passed(&self, reports: &[SessionReport<'_>]) -> ExitCode {
        let Some(min) = self.args.min else { return ExitCode::SUCCESS };
        let below: Vec<_> =
            reports.iter().filter(|report| !min.is_met_by(report.performance.composite)).collect();
        for report in &below {
            let composite = report.performance.composite;
            failure::note(&format!("session {}: {composite} is below {min}", report.session_id));
        }
        if below.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(BELOW) }
    }

    fn warn(&self, warnings: &[String]) {
        if !self.quiet {
            for warning in warnings {
                failure::warn(warning);
            }
        }
    }

    /// Reports how many lines and records were read, and what became of them.
    fn report_account(&self, account: &Account) {
        if self.quiet {
            return;
        }
        let text = match self.args.format {
            FormatArg::Json => serde_json::to_string(account).unwrap_or_default(),
            FormatArg::Yaml | FormatArg::Table => print::account(account),
        };
        failure::note(&text);
    }

    /// Reports how many sessions were not scored.
    fn report_unscored(&self, count: usize) {
        if count > 0 && !self.quiet && self.args.format != FormatArg::Json {
            let sessions = counted(count as u64, "session");
            failure::note(&format!("{sessions} {WITHOUT_EVIDENCE}: not scored"));
        }
    }

    /// Reports which evidence a single session lacks, if the format does not show it.
    fn report_missing(&self, reports: &[SessionReport<'_>]) {
        if let ([report], FormatArg::Yaml, false) = (reports, self.args.format, self.quiet)
            && !report.coverage.missing.is_empty()
        {
            failure::note(&format!("no evidence of {}: counted as 0", report.coverage.missing.join(", ")));
        }
    }
}

/// Describes a session that cannot be scored.
const WITHOUT_EVIDENCE: &str = "without a tool result, prompt or API request";

/// Returns the error for a selected session without evidence.
fn unscored(id: &str) -> Failure {
    Failure::new(format!("session {id} is {WITHOUT_EVIDENCE}: nothing to score"))
}

/// The expected content of a log, for errors.
const WANTED: &str = "OTLP JSON, one object per line";

/// Returns the logs to read: the named ones, else standard input. `None` means the sessions in the store.
fn logs(args: &JudgeArgs, quiet: bool) -> Result<Option<Vec<PathBuf>>, Failure> {
    if !args.logs.is_empty() {
        return log_files::expand(&args.logs, quiet).map(Some);
    }
    let names_sessions = args.location.data.is_some()
        || args.location.store.is_some()
        || args.org.is_some()
        || args.names_history();
    Ok((!names_sessions && has_input()).then(|| vec![STDIN.into()]))
}

/// Returns whether standard input can contain a log. A terminal cannot, nor can the null device, which agents pass to their commands.
fn has_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let stdin = InputFile::open(Path::new(STDIN), WANTED)
            .and_then(|input| input.file.metadata().map_err(|error| Failure::new(error.to_string())));
        if stdin.is_ok_and(|stdin| stdin.file_type().is_char_device()) {
            return false;
        }
    }
    !io::stdin().is_terminal()
}

/// Returns the length of a log, if it is known. Opens the log to check that it is readable; `read` opens it again, because
/// there may be more logs than can be open at once. A pipe is opened only once: its writer ends when its reader does.
fn length(path: &Path) -> Result<Option<u64>, Failure> {
    let is_pipe = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_pipe { Ok(None) } else { InputFile::open(path, WANTED).map(|input| input.bytes) }
}

/// The hint if there is no session.
const NOTHING_HINT: &str = "`renown setup claude` sends telemetry here, `renown judge FILE` reads a log, \
                            `renown serve --demo` shows generated data";

fn no_logs() -> Failure {
    Failure::new("nothing to judge: no log was named and no telemetry was received").hint(NOTHING_HINT)
}

/// Describes the time range, for the end of an error.
fn window(cut: TimeRange) -> String {
    match (cut.from, cut.to) {
        (None, None) => String::new(),
        (Some(from), None) => format!(" from {from} on"),
        (None, Some(to)) => format!(" up to {to}"),
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
    }
}

/// Returns the error that explains why no session was found.
fn nothing(name: &str, account: &Account, cut: TimeRange, first_bad_line: Option<&str>) -> Failure {
    const HINT: &str = "a log has one OTLP JSON object per line, as the OpenTelemetry collector's file exporter writes it \
                        with `format: json`";
    if account.records == 0 {
        let bad = first_bad_line
            .map(|line| format!(" ({}, the first: {line})", counted(account.bad_lines, "bad line")));
        let failure = Failure::new(format!("no records in {name}{}", bad.unwrap_or_default()));
        return failure.hint(HINT);
    }
    let reasons = [
        (account.no_session, "without a session id"),
        (account.bad_values, "rejected"),
        (account.shadowed, "that only repeat spans"),
    ];
    let found: Vec<String> = reasons
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count, "record")))
        .collect();
    let window = window(cut);
    if found.is_empty() {
        return Failure::new(format!(
            "no session found in {name}{window} ({})",
            counted(account.records, "record")
        ));
    }
    Failure::new(format!("no session found in {name}{window} ({})", found.join(", ")))
        .hint("a record names its session in session.id, conversation.id or gen_ai.conversation.id")
}

/// The minimum composite score of a session, in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Min(Decimal<9>);

impl Min {
    fn is_met_by(self, composite: Decimal<1>) -> bool {
        composite.units() * (Decimal::<9>::ONE / Decimal::<1>::ONE) >= self.0.units()
    }
}

impl fmt::Display for Min {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let short = text.trim_end_matches('0');
        write!(f, "{short}{}", if short.ends_with('.') { "0" } else { "" })
    }
}

/// Parses `--min`.
pub(crate) fn min(text: &str) -> Result<Min, String> {
    let max = 10 * Decimal::<9>::ONE.unsigned_abs();
    let billionths = Written::parse(text).and_then(|written| written.half_up(9, max));
    let min = billionths.map(|billionths| Min(Decimal::from_units(billionths.cast_signed())));
    min.ok_or_else(|| "expected a score from 0 to 10".to_owned())
}

/// Parses `--from` and `--to`.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}
