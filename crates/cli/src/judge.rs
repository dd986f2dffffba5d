//! `renown judge`: sessions of coding agents, scored from their telemetry.

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
use renown_telemetry::ledger::{Cut, Ledger, Session};
use renown_telemetry::limits::REPEATS_MAX;
use renown_telemetry::prices::Prices;
use renown_telemetry::report::Report;

use crate::args::{FormatArg, JudgeArgs};
use crate::config::Config;
use crate::failure::{self, Failure};
use crate::input_file::{InputFile, STDIN};
use crate::logs::reading::Reading;
use crate::logs::stream::Stream;
use crate::logs::{log_files, parallel};
use crate::progress::Progress;
use crate::table::counted;
use received::Received;
use session_file::SessionFile;
use submit::Submission;

/// The exit code when a session is below what was asked for.
const BELOW: u8 = 1;

/// Judges what the arguments select.
pub(crate) fn run(args: &JudgeArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let judge = Judge::new(args, quiet)?;
    match logs(args, quiet)? {
        Some(logs) if args.watch => judge.watch(&logs),
        Some(logs) => judge.once(&logs),
        None if args.submit.is_some() => {
            Err(Failure::new("--submit sends a log, found none").hint("name one, or pipe one in"))
        }
        None if args.watch => Received::open(args)?.watch(&judge),
        None => Received::open(args)?.once(&judge),
    }
}

/// What was asked for, checked.
struct Judge<'a> {
    args: &'a JudgeArgs,
    quiet: bool,
    prices: Prices,
    cut: Cut,
    /// The masque by flag or session file.
    masque: Option<String>,
}

impl<'a> Judge<'a> {
    fn new(args: &'a JudgeArgs, quiet: bool) -> Result<Self, Failure> {
        let prices = Config::load_for(args.config.as_deref(), args.location.data.as_deref())?.prices;
        let session_file =
            args.session_file.as_deref().map(SessionFile::read).transpose()?.unwrap_or_default();
        let cut = Cut { from: args.from.or(session_file.donned_at), to: args.to };
        if let (Some(from), Some(to)) = (cut.from, cut.to)
            && from > to
        {
            return Err(Failure::new(format!("--to {to} is before {from}, where the window begins")));
        }
        let masque = args.masque.clone().or(session_file.name);
        Ok(Self { args, quiet, prices, cut, masque })
    }

    fn reading(&self) -> Reading {
        Reading::new(self.cut, self.args.strict)
    }

    /// Judges logs, and sends them to a server if that was asked for.
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

    /// Reads all logs and prints what was selected.
    fn judge(&self, logs: &[PathBuf], lines_to: Option<SyncSender<Vec<u8>>>) -> Result<ExitCode, Failure> {
        let mut reading = self.read(logs, self.reading().handing_on(lines_to))?;
        reading.end_lines();
        let beyond = reading.ledger.sessions_beyond_repeats();
        if beyond > 0 {
            let sessions = counted(beyond as u64, "session");
            reading.warn(format!(
                "{sessions} with over {REPEATS_MAX} records: later repeats were not looked for"
            ));
        }
        self.warn(&reading.all_warnings());
        let ledger = &reading.ledger;
        let account = ledger.account();
        let selected = match self.select(ledger, logs, &account, reading.first_bad_line()) {
            Ok(selected) => selected,
            Err(failure) => {
                if account != Account::default() {
                    self.tell_account(&account);
                }
                return Err(failure);
            }
        };
        let reports: Vec<Report<'_>> = selected.iter().filter_map(|session| self.report(session)).collect();
        self.print(&reports)?;
        self.tell_account(&account);
        self.tell_unscored(ledger.sessions().len() - ledger.scorable().len());
        self.tell_missing(&reports);
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

    /// The sessions that were asked for, oldest first.
    fn select<'l>(
        &self,
        ledger: &'l Ledger,
        logs: &[PathBuf],
        account: &Account,
        first_bad_line: Option<&str>,
    ) -> Result<Vec<&'l Session>, Failure> {
        let name = Self::name(logs);
        if self.args.logs.is_empty() && *account == Account::default() {
            // Never another session in its place: whoever pipes a log wants that one judged.
            return Err(Failure::new("nothing to judge: standard input is empty").hint(format!(
                "`renown judge --org default` judges what a server has received, {NOTHING_HINT}"
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

    fn print(&self, reports: &[Report<'_>]) -> Result<(), Failure> {
        let is_one = !self.args.all && self.args.last.is_none();
        crate::printed(print::write(io::stdout().lock(), reports, self.args.format, is_one)).map(|_| ())
    }

    /// What the logs are called in errors.
    fn name(logs: &[PathBuf]) -> String {
        let first = logs.first().map_or(Path::new(STDIN), PathBuf::as_path);
        let first =
            if first == Path::new(STDIN) { "standard input".into() } else { first.display().to_string() };
        match logs.len() {
            0 | 1 => first,
            more => format!("{first} and {}", counted(more as u64 - 1, "other file")),
        }
    }

    /// The session, scored. `None` if there is nothing to score.
    fn report<'s>(&self, session: &'s Session) -> Option<Report<'s>> {
        let mut report = session.report()?;
        if let Some(masque) = &self.masque {
            report.masque = masque.clone().into();
        }
        Some(report)
    }

    /// Whether nothing is below what was asked for; what is, is told.
    fn passed(&self, reports: &[Report<'_>]) -> ExitCode {
        let Some(min) = self.args.min else { return ExitCode::SUCCESS };
        let below: Vec<_> =
            reports.iter().filter(|report| !min.is_met_by(report.performance.0.composite)).collect();
        for report in &below {
            let composite = report.performance.0.composite;
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

    /// What became of everything that was read.
    fn tell_account(&self, account: &Account) {
        if self.quiet {
            return;
        }
        let text = match self.args.format {
            FormatArg::Json => serde_json::to_string(account).unwrap_or_default(),
            FormatArg::Yaml | FormatArg::Table => print::account(account),
        };
        failure::note(&text);
    }

    /// How many sessions were not judged.
    fn tell_unscored(&self, count: usize) {
        if count > 0 && !self.quiet && self.args.format != FormatArg::Json {
            let sessions = counted(count as u64, "session");
            failure::note(&format!("{sessions} {WITHOUT_EVIDENCE}: not scored"));
        }
    }

    /// Which evidence a single session lacks, where its numbers do not show it.
    fn tell_missing(&self, reports: &[Report<'_>]) {
        if let ([report], FormatArg::Yaml, false) = (reports, self.args.format, self.quiet)
            && !report.coverage.missing.is_empty()
        {
            failure::note(&format!("no evidence of {}: counted as 0", report.coverage.missing.join(", ")));
        }
    }
}

/// What a session without a score lacks.
const WITHOUT_EVIDENCE: &str = "without a tool result, prompt or API request";

/// A session was asked for that has nothing to score.
fn unscored(id: &str) -> Failure {
    Failure::new(format!("session {id} is {WITHOUT_EVIDENCE}: there is nothing to score"))
}

/// What a log should hold, in errors.
const WANTED: &str = "OTLP JSON, one object a line";

/// The logs to read: those that are named, else standard input; none if it is the store that is meant.
fn logs(args: &JudgeArgs, quiet: bool) -> Result<Option<Vec<PathBuf>>, Failure> {
    if !args.logs.is_empty() {
        return log_files::expand(&args.logs, quiet).map(Some);
    }
    let names_store = args.location.data.is_some() || args.location.store.is_some() || args.org.is_some();
    Ok((!names_store && has_input()).then(|| vec![STDIN.into()]))
}

/// Whether standard input can hold a log: neither a terminal nor the null device, which agents give to the commands they run, does.
fn has_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let stdin = InputFile::open(Path::new(STDIN), WANTED)
            .and_then(|source| source.file.metadata().map_err(|error| Failure::new(error.to_string())));
        if stdin.is_ok_and(|stdin| stdin.file_type().is_char_device()) {
            return false;
        }
    }
    !io::stdin().is_terminal()
}

/// The length of a log, if it has one. It is opened to see that it can be, and again when it is its turn: there may be
/// more than can be open at once. A pipe is opened only then, since its writer goes when its reader does.
fn length(path: &Path) -> Result<Option<u64>, Failure> {
    let is_pipe = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_pipe { Ok(None) } else { InputFile::open(path, WANTED).map(|source| source.bytes) }
}

/// What to do where there is no session.
const NOTHING_HINT: &str = "`renown setup claude` points an agent here, `renown judge FILE` reads a log, \
                            `renown serve --demo` shows made-up sessions";

fn no_logs() -> Failure {
    Failure::new("nothing to judge: no log was named and no telemetry was received").hint(NOTHING_HINT)
}

/// The cut in words, after what was looked through.
fn window(cut: Cut) -> String {
    match (cut.from, cut.to) {
        (None, None) => String::new(),
        (Some(from), None) => format!(" from {from} on"),
        (None, Some(to)) => format!(" up to {to}"),
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
    }
}

/// Why there is no session.
fn nothing(name: &str, account: &Account, cut: Cut, first_bad_line: Option<&str>) -> Failure {
    const HINT: &str = "a log has one OTLP JSON object a line, as the OpenTelemetry collector's file exporter writes it \
                        with `format: json`";
    if account.records == 0 {
        let bad = first_bad_line
            .map(|line| format!(" ({}, the first: {line})", counted(account.bad_lines, "bad line")));
        let failure = Failure::new(format!("no records in {name}{}", bad.unwrap_or_default()));
        return failure.hint(HINT);
    }
    let reasons = [
        (account.no_session, "without a session id"),
        (account.bad_values, "refused"),
        (account.shadowed, "that only repeat spans"),
    ];
    let told: Vec<String> = reasons
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count, "record")))
        .collect();
    let window = window(cut);
    if told.is_empty() {
        return Failure::new(format!(
            "no session found in {name}{window} ({})",
            counted(account.records, "record")
        ));
    }
    Failure::new(format!("no session found in {name}{window} ({})", told.join(", ")))
        .hint("a record names its session in session.id, conversation.id or gen_ai.conversation.id")
}

/// The composite that a session must have, in billionths.
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

/// Reads `--min`.
pub(crate) fn min(text: &str) -> Result<Min, String> {
    let max = 10 * Decimal::<9>::ONE.unsigned_abs();
    let billionths = Written::parse(text).and_then(|written| written.half_up(9, max));
    let min = billionths.map(|billionths| Min(Decimal::from_units(billionths.cast_signed())));
    min.ok_or_else(|| "expected a score from 0 to 10".to_owned())
}

/// Reads `--from` and `--to`.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}
