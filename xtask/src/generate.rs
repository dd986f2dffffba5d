//! `cargo xtask generate DIALECT`: logs as agents write them, for tests and benches.
//!
//! The same plan always gives the same bytes. Several sessions run at once, so their lines are interleaved as on a
//! busy machine; each line is one batch of one session. How the records look is written in `crates/demo/src/logs`.

mod disorder;
mod options;
#[cfg(test)]
mod tests;

use std::io::Write;

use anyhow::{Result, ensure};

use disorder::Disorder;
pub(crate) use options::{USAGE, command};
use renown_demo::logs::{self, AgentLog, Line, agent_log};
pub(crate) use renown_demo::logs::{LogTransport, Shape};
pub(crate) use renown_demo::random::Random;

/// The agent whose logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    ClaudeCode,
    Codex,
    GeminiCli,
    QwenCode,
    /// Spans by the GenAI conventions, as Copilot writes them, with the logs that repeat them.
    GenAi,
    /// Sessions of all dialects in one log.
    Mixed,
}

/// The dialects of a mixed log.
const ALL: [Dialect; 5] =
    [Dialect::ClaudeCode, Dialect::Codex, Dialect::GeminiCli, Dialect::QwenCode, Dialect::GenAi];

/// The amount to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Exactly this many records.
    Records(u64),
    /// About this many bytes; the log may be longer or shorter by a few records.
    Bytes(u64),
}

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) dialect: Dialect,
    /// `None`: enough sessions for some hundred records each.
    pub(crate) sessions: Option<u64>,
    pub(crate) amount: Amount,
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) transport: LogTransport,
    /// Maximum number of records per line.
    pub(crate) batch: u64,
    /// Of a hundred lines, how many are written a second time, later. They are not part of the amount.
    pub(crate) repeat: u64,
    /// Whether lines swap places with others near them.
    pub(crate) shuffle: bool,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) sessions: u64,
    /// Number of records, each counted once however often it was written.
    pub(crate) records: u64,
    /// Number of records that were written a second time.
    pub(crate) repeated: u64,
    /// Number of lines and bytes of the log, including repeats.
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

/// A session, and the rest of its share of the amount.
struct Running {
    session: Box<dyn AgentLog>,
    left: u64,
}

/// Number of sessions that run at once.
const RUNNING: usize = 5;

/// Default size of a session, before chance halves it or adds a half.
const RECORDS_PER_SESSION: u64 = 800;
const BYTES_PER_SESSION: u64 = 1_000_000;

/// Start of the first session, 28 May 2026, and the ten minutes between the starts of two sessions.
const START_NS: u64 = 1_780_000_000_000_000_000;
const SPACING_NS: u64 = 600_000_000_000;

/// More sessions would start after 2100, which no reader accepts.
const SESSIONS_MAX: u64 = 3_000_000;

impl Plan {
    /// Returns the default plan for an agent: a thousand records.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            sessions: None,
            amount: Amount::Records(1000),
            seed: 1,
            shape: Shape::Modern,
            transport: LogTransport::Collector,
            batch: 24,
            repeat: 0,
            shuffle: false,
        }
    }

    /// Writes the log.
    pub(crate) fn write(&self, out: &mut impl Write) -> Result<Account> {
        let sessions = self.sessions();
        ensure!(sessions <= SESSIONS_MAX, "{sessions} sessions, expected at most {SESSIONS_MAX}");
        let mut random = Random::new(self.seed);
        let mut disorder = Disorder::new(&mut random, self.repeat, self.shuffle);
        let mut line = Line::new(self.shape, self.transport);
        let mut running: Vec<Running> = Vec::new();
        let mut account = Account::default();
        let (Amount::Records(mut unshared) | Amount::Bytes(mut unshared)) = self.amount;
        loop {
            while running.len() < RUNNING && account.sessions < sessions {
                let left = share(&mut random, unshared, sessions - account.sessions);
                unshared = unshared.saturating_sub(left);
                running.push(Running { session: self.session(&mut random, account.sessions), left });
                account.sessions += 1;
            }
            let place = random.index(running.len());
            let Some(chosen) = running.get_mut(place) else { break };
            let batch = random.between(1, self.batch.max(1));
            let records = chosen.batch(&mut line, batch, self.amount);
            let used = match self.amount {
                Amount::Records(_) => records,
                Amount::Bytes(_) => length(line.as_str()),
            };
            account.records += records;
            // A session that wrote a few bytes too many leaves fewer for those after it.
            unshared = unshared.saturating_sub(used.saturating_sub(chosen.left));
            chosen.left = chosen.left.saturating_sub(used);
            if chosen.left == 0 {
                running.swap_remove(place);
            }
            disorder.write(out, line.as_str(), records, &mut account)?;
        }
        disorder.finish(out, &mut account)?;
        out.flush()?;
        Ok(account)
    }

    /// Each session has at least one record.
    fn sessions(&self) -> u64 {
        match (self.amount, self.sessions) {
            (Amount::Records(records), Some(sessions)) => sessions.min(records),
            (Amount::Records(records), None) => records.div_ceil(RECORDS_PER_SESSION),
            (Amount::Bytes(bytes), sessions) => {
                sessions.unwrap_or(bytes.div_ceil(BYTES_PER_SESSION)).min(bytes)
            }
        }
    }

    fn session(&self, random: &mut Random, number: u64) -> Box<dyn AgentLog> {
        let random = &mut random.fork();
        let start_ns = START_NS + number * SPACING_NS + random.between(0, SPACING_NS);
        let turn = usize::try_from(number).unwrap_or(0) % ALL.len();
        let dialect = match ALL.get(turn) {
            Some(dialect) if self.dialect == Dialect::Mixed => *dialect,
            _ => self.dialect,
        };
        let dialect = match dialect {
            Dialect::ClaudeCode | Dialect::Mixed => logs::Dialect::ClaudeCode,
            Dialect::Codex => logs::Dialect::Codex,
            Dialect::GeminiCli => logs::Dialect::GeminiCli,
            Dialect::QwenCode => logs::Dialect::QwenCode,
            Dialect::GenAi => logs::Dialect::Copilot,
        };
        agent_log(dialect, random, start_ns, &[])
    }
}

impl Running {
    /// Writes a line of at most `most` records. Returns how many it has. A line has one signal.
    fn batch(&mut self, line: &mut Line, most: u64, amount: Amount) -> u64 {
        let signal = self.session.signal();
        line.open(signal, self.session.resource(), self.session.scope());
        let mut records = 0;
        loop {
            self.session.record(line);
            records += 1;
            let used = match amount {
                Amount::Records(_) => records,
                Amount::Bytes(_) => length(line.as_str()),
            };
            if records >= most || used >= self.left || self.session.signal() != signal {
                break;
            }
        }
        line.close();
        records
    }
}

/// Returns a part of what is left to distribute: about the average, or the rest for the last session. At least 1 is
/// left for every later session.
fn share(random: &mut Random, unshared: u64, sessions: u64) -> u64 {
    if sessions <= 1 {
        return unshared;
    }
    let average = unshared / sessions;
    let wanted = random.between(average / 2, average + average / 2);
    wanted.min(unshared.saturating_sub(sessions - 1)).max(1)
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
