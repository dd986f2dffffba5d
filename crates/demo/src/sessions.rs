//! Sessions of the coding agents: telemetry in every dialect, and trace signals that a platform sends.
//!
//! A session is planned as a [`Course`]: the number of turns, and how they go. `logs` writes its records like the
//! real agent.

use renown_core::ids::SessionId;
use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::{NewSignals, NewTrace};

use crate::calendar::{Calendar, Hours, MINUTE_MS, MONTH_DAYS};
use crate::logs::{AgentLog, Dialect, Habits, Line, LogTransport, Shape, agent_log};
use crate::plan::PlanError;
use crate::random::Random;

/// The course of a session.
#[derive(Clone, Copy, Debug)]
struct Course {
    turns: (u64, u64),
    habits: Habits,
    /// Turn in which the agent calls its shell repeatedly and fails every time.
    stuck_turn: Option<u64>,
}

/// Creates a course: turns, failing calls per thousand, thinking time of the user in seconds, model calls per turn.
const fn course(turns: (u64, u64), fail_per_mille: u64, seconds: (u64, u64), requests: (u64, u64)) -> Course {
    let think_ms = (seconds.0 * 1000, seconds.1 * 1000);
    Course { turns, habits: Habits { fail_per_mille, think_ms, requests, is_stuck: false }, stuck_turn: None }
}

/// Long turns, few failures: keep.
const GOOD: Course = course((4, 7), 25, (20, 120), (5, 11));
/// More failures and shorter turns: keep or review.
const FAIR: Course = course((5, 8), 160, (60, 300), (2, 6));
/// A prompt for almost every call: review.
const WEAK: Course = course((6, 9), 330, (120, 420), (1, 3));
/// Most calls fail, and every call needs a prompt: doff.
const POOR: Course = course((6, 8), 620, (240, 700), (1, 1));
/// Stuck in a loop of failing commands.
const LOOP: Course = Course { turns: (7, 7), stuck_turn: Some(5), ..course((7, 7), 200, (150, 400), (2, 4)) };

/// The habits of an agent that is stuck.
const STUCK: Habits =
    Habits { fail_per_mille: 1000, think_ms: (30_000, 60_000), requests: (8, 8), is_stuck: true };

/// A coding agent and its sessions.
struct Coder {
    agent: &'static str,
    dialect: Dialect,
    masque: Option<&'static str>,
    hours: Hours,
    /// Number of sessions per hundred working days.
    per_hundred_days: u64,
    courses: &'static [(u64, Course)],
    /// Course of the latest session, and how many minutes ago it ended.
    latest: Option<(Course, i64)>,
    /// Whether a platform sends trace signals.
    has_signals: bool,
}

const STEADY: &[(u64, Course)] = &[(8, GOOD), (2, FAIR)];
const MIXED: &[(u64, Course)] = &[(5, GOOD), (4, FAIR), (2, WEAK)];
const SHAKY: &[(u64, Course)] = &[(2, GOOD), (5, FAIR), (4, WEAK), (1, POOR)];

const CODERS: [Coder; 8] = [
    Coder {
        agent: "docs-writer",
        dialect: Dialect::ClaudeCode,
        masque: None,
        hours: Hours::Office,
        per_hundred_days: 100,
        courses: STEADY,
        latest: Some((GOOD, 55)),
        has_signals: false,
    },
    Coder {
        agent: "code-reviewer",
        dialect: Dialect::ClaudeCode,
        masque: Some("Reviewer"),
        hours: Hours::Office,
        per_hundred_days: 180,
        courses: STEADY,
        latest: Some((GOOD, OPEN_MINUTES)),
        has_signals: true,
    },
    Coder {
        agent: "support-triage",
        dialect: Dialect::ClaudeCode,
        masque: Some("Codesmith"),
        hours: Hours::Office,
        per_hundred_days: 80,
        courses: MIXED,
        latest: Some((LOOP, 42)),
        has_signals: true,
    },
    Coder {
        agent: "release-notes",
        dialect: Dialect::Codex,
        masque: None,
        hours: Hours::Office,
        per_hundred_days: 60,
        courses: MIXED,
        latest: Some((FAIR, 130)),
        has_signals: false,
    },
    Coder {
        agent: "sql-analyst",
        dialect: Dialect::GeminiCli,
        masque: None,
        hours: Hours::Office,
        per_hundred_days: 70,
        courses: MIXED,
        latest: Some((FAIR, 75)),
        has_signals: false,
    },
    Coder {
        agent: "acme/platform/nightly-dependency-upgrader",
        dialect: Dialect::OpenCode,
        masque: None,
        hours: Hours::Night,
        per_hundred_days: 100,
        courses: SHAKY,
        latest: Some((POOR, 48)),
        has_signals: true,
    },
    Coder {
        agent: "web-scraper",
        dialect: Dialect::QwenCode,
        masque: None,
        hours: Hours::Office,
        per_hundred_days: 40,
        courses: SHAKY,
        latest: None,
        has_signals: false,
    },
    Coder {
        agent: "invoice-reader",
        dialect: Dialect::Copilot,
        masque: None,
        hours: Hours::Office,
        per_hundred_days: 50,
        courses: MIXED,
        latest: None,
        has_signals: false,
    },
];

/// Age of the open session's last record in minutes.
const OPEN_MINUTES: i64 = 2;

/// Minimum age of the end of a closed session. A session is closed 30 minutes after its last record.
const OVER_MS: i64 = 40 * MINUTE_MS;

/// Any start, for writing a session once to measure its duration.
const SOME_TIME_NS: u64 = 1_790_000_000_000_000_000;

/// A planned session.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSession {
    pub(crate) id: SessionId,
    /// End of the session.
    pub(crate) end_ms: i64,
    /// Records, one OTLP JSON object per line.
    pub(crate) lines: String,
    pub(crate) signals: Option<NewSignals>,
}

/// Plans all sessions of the month.
pub(crate) fn month(calendar: Calendar, random: &mut Random) -> Result<Vec<PlannedSession>, PlanError> {
    let mut planned = Vec::new();
    for coder in &CODERS {
        let mut random = random.fork();
        let first = u32::from(coder.latest.is_some());
        for days_back in (first..MONTH_DAYS).rev().filter(|back| !Calendar::is_weekend(*back)) {
            let mut left = coder.per_hundred_days;
            while left > 0 && (left >= 100 || random.chance(left * 10)) {
                left = left.saturating_sub(100);
                let start_ms = calendar.draw_ms(&mut random, days_back, coder.hours);
                let Some(course) = random.weighted_of(coder.courses) else { break };
                let session = coder.session(course, nanos(start_ms), &mut random.fork())?;
                // A session that would still be open is omitted.
                planned.extend(Some(session).filter(|session| session.end_ms <= calendar.now_ms() - OVER_MS));
            }
        }
        if let Some((course, minutes)) = coder.latest {
            let end_ms = calendar.now_ms() - minutes * MINUTE_MS;
            planned.push(coder.session_until(course, end_ms, &random.fork())?);
        }
    }
    Ok(planned)
}

fn nanos(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or_default() * 1_000_000
}

impl Coder {
    /// Plans a session that ends at this time. It is first written once to measure its duration.
    fn session_until(
        &self,
        course: Course,
        end_ms: i64,
        random: &Random,
    ) -> Result<PlannedSession, PlanError> {
        let takes_ms = self.session(course, SOME_TIME_NS, &mut random.clone())?.end_ms
            - i64::try_from(SOME_TIME_NS / 1_000_000).unwrap_or_default();
        self.session(course, nanos(end_ms - takes_ms), &mut random.clone())
    }

    /// Plans a session that begins at this time.
    fn session(
        &self,
        course: Course,
        start_ns: u64,
        random: &mut Random,
    ) -> Result<PlannedSession, PlanError> {
        let masque = self.masque.map(|masque| ("masque.name", masque));
        let attributes: Vec<_> = [("renown.agent_id", self.agent)].into_iter().chain(masque).collect();
        let mut log = agent_log(self.dialect, random, start_ns, &attributes);
        let turns = random.between(course.turns.0, course.turns.1);
        let mut line = Line::new(Shape::Modern, LogTransport::HttpJson);
        let mut lines = String::new();
        // Records of some agents before the first prompt.
        write_until_rest(log.as_mut(), &mut line, &mut lines);
        for turn in 1..=turns {
            let is_stuck = course.stuck_turn == Some(turn);
            log.set_habits(if is_stuck { STUCK } else { course.habits });
            write_line(log.as_mut(), &mut line, &mut lines);
            write_until_rest(log.as_mut(), &mut line, &mut lines);
        }
        let signals = self.has_signals.then(|| self.signals(log.session_id(), turns, course, random));
        Ok(PlannedSession {
            id: log.session_id().parse()?,
            end_ms: i64::try_from(log.now_ns() / 1_000_000).unwrap_or_default() + 1,
            lines,
            signals: signals.transpose()?,
        })
    }

    /// Plans the signals that a platform sends: the confidence of all turns but one, and the coherence of some.
    fn signals(
        &self,
        session: &str,
        turns: u64,
        course: Course,
        random: &mut Random,
    ) -> Result<NewSignals, PlanError> {
        let mut traces = Vec::new();
        let is_weak = course.habits.fail_per_mille > 300;
        for turn in (1..=turns).filter(|turn| *turn != 3) {
            let confidence = match course.stuck_turn {
                Some(stuck) if stuck == turn => 41,
                _ if is_weak => random.between(35, 75),
                _ => random.between(78, 97),
            };
            let coherence = random.chance(500).then(|| random.between(70, 99));
            let signals = Signals {
                confidence: hundredths(confidence),
                coherence: coherence.and_then(hundredths),
                ..Signals::default()
            };
            let trace_id = format!("{session}#{turn}").parse()?;
            traces.push(NewTrace { trace: Trace { trace_id, signals, source: None }, started_at: None });
        }
        Ok(NewSignals { agent: Some(self.agent.parse()?), traces })
    }
}

fn hundredths(number: u64) -> Option<Unit> {
    Unit::new(f64::from(u32::try_from(number).ok()?) / 100.0).ok()
}

/// Maximum number of records per line.
const RECORDS_MAX: usize = 24;

/// Writes records until the end of the turn.
fn write_until_rest(log: &mut dyn AgentLog, line: &mut Line, lines: &mut String) {
    while !log.is_between_turns() {
        write_line(log, line, lines);
    }
}

/// Writes a line with at least one record. It ends with the turn at the latest.
fn write_line(log: &mut dyn AgentLog, line: &mut Line, lines: &mut String) {
    let signal = log.signal();
    line.open(signal, log.resource(), log.scope());
    for _ in 0..RECORDS_MAX {
        log.record(line);
        if log.is_between_turns() || log.signal() != signal {
            break;
        }
    }
    line.close();
    lines.push_str(line.as_str());
}
