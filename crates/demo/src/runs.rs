//! Runs of coding agents in one workspace: everyday tasks, and two specs that several agents competed on.

use renown_core::json;
use renown_core::scorecard::Submission;
use renown_store::NewRun;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::calendar::{Calendar, Hours, MINUTE_MS, MONTH_DAYS, time};
use crate::plan::PlanError;
use crate::random::Random;

const WORKSPACE: &str = "acme/platform";

/// Typical wall time of a run in the workspace.
const TYPICAL_MS: u64 = 9 * 60 * 1000;

const MEMORY_LIMIT: u64 = 2 << 30;

/// The stages of every run.
const STAGES: [&str; 5] = ["plan", "edit", "lint", "test", "review"];

/// The course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Course {
    outcome: &'static str,
    /// One character per stage: `1` passed, a greater digit passed at this attempt, `x` failed, `-` was not reached.
    stages: &'static str,
    /// Wall time in percent of the typical one: minimum and maximum.
    wall_percent: (u64, u64),
    memory_percent: (u64, u64),
}

const fn course(
    outcome: &'static str,
    stages: &'static str,
    wall_percent: (u64, u64),
    memory_percent: (u64, u64),
) -> Course {
    Course { outcome, stages, wall_percent, memory_percent }
}

const ELITE: Course = course("completed", "11111", (45, 75), (10, 25));
const GOLD: Course = course("completed", "11121", (85, 120), (35, 60));
const SILVER: Course = course("blocked", "1112-", (90, 140), (40, 70));
const BRONZE: Course = course("failed", "12xx-", (170, 230), (60, 90));

/// An agent and its runs: the prefix of their ids, their specs and courses, and the latest course.
struct Runner {
    agent: &'static str,
    prefix: &'static str,
    specs: &'static [&'static str],
    courses: &'static [(u64, Course)],
    latest: Course,
}

/// Number of everyday runs per agent.
const RUNS_EACH: u32 = 5;

const RUNNERS: [Runner; 6] = [
    Runner {
        agent: "docs-writer",
        prefix: "docs",
        specs: &["api-guide", "changelog-page"],
        courses: &[(3, ELITE), (2, GOLD)],
        latest: ELITE,
    },
    Runner {
        agent: "code-reviewer",
        prefix: "review",
        specs: &["review-queue", "flaky-tests"],
        courses: &[(2, ELITE), (3, GOLD)],
        latest: ELITE,
    },
    Runner {
        agent: "release-notes",
        prefix: "release",
        specs: &["weekly-notes"],
        courses: &[(4, GOLD), (1, SILVER)],
        latest: GOLD,
    },
    Runner {
        agent: "support-triage",
        prefix: "triage",
        specs: &["inbox-sorting", "macro-rewrite"],
        courses: &[(1, ELITE), (3, GOLD), (1, BRONZE)],
        latest: GOLD,
    },
    Runner {
        agent: "sql-analyst",
        prefix: "sql",
        specs: &["monthly-report", "schema-docs"],
        courses: &[(3, GOLD), (2, SILVER)],
        latest: GOLD,
    },
    Runner {
        agent: "acme/platform/nightly-dependency-upgrader",
        prefix: "nightly",
        specs: &["dependency-upgrade"],
        courses: &[(2, GOLD), (3, SILVER), (2, BRONZE)],
        latest: BRONZE,
    },
];

/// A spec that agents competed on. The first attempt wins.
struct Contest {
    spec: &'static str,
    days_back: u32,
    pull_request: u32,
    attempts: &'static [(&'static str, &'static str, Course)],
}

const CONTESTS: [Contest; 2] = [
    Contest {
        spec: "csv-export",
        days_back: 8,
        pull_request: 471,
        attempts: &[
            ("docs-writer", "docs", course("completed", "11111", (50, 50), (18, 18))),
            ("code-reviewer", "review", GOLD),
            ("release-notes", "release", course("completed", "12131", (110, 110), (50, 50))),
            ("sql-analyst", "sql", SILVER),
            ("acme/platform/nightly-dependency-upgrader", "nightly", BRONZE),
        ],
    },
    // Two agents have the same score: both need less than half the typical time, which earns all points. The shorter
    // time wins.
    Contest {
        spec: "retry-budget",
        days_back: 0,
        pull_request: 482,
        attempts: &[
            ("code-reviewer", "review", course("completed", "11112", (30, 30), (20, 20))),
            ("docs-writer", "docs", course("completed", "11112", (33, 33), (20, 20))),
            ("release-notes", "release", GOLD),
            ("support-triage", "triage", course("completed", "12121", (105, 105), (45, 45))),
        ],
    },
];

/// A planned run.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRun {
    pub(crate) at_ms: i64,
    pub(crate) run: NewRun,
}

/// Plans all runs of the month.
pub(crate) fn month(calendar: Calendar, random: &mut Random) -> Result<Vec<PlannedRun>, PlanError> {
    let mut planned = Vec::new();
    for runner in &RUNNERS {
        let mut random = random.fork();
        for number in 0..RUNS_EACH {
            // Evenly spaced over the month, but not today, which is the day of the second contest.
            let days_back = (RUNS_EACH - number) * MONTH_DAYS / RUNS_EACH - 5;
            let course = match random.weighted_of(runner.courses) {
                Some(course) if number + 1 < RUNS_EACH => course,
                _ => runner.latest,
            };
            let described = Described {
                id: format!("{}-{}", runner.prefix, 80 + number),
                agent: runner.agent,
                spec: random.pick(runner.specs),
                course,
                pull_request: None,
                at_ms: calendar.draw_ms(&mut random, days_back, Hours::Office),
            };
            planned.push(described.planned(&mut random)?);
        }
    }
    for contest in &CONTESTS {
        planned.extend(contest.runs(calendar, random)?);
    }
    Ok(planned)
}

impl Contest {
    fn runs(&self, calendar: Calendar, random: &mut Random) -> Result<Vec<PlannedRun>, PlanError> {
        let mut planned = Vec::new();
        for ((agent, prefix, course), position) in self.attempts.iter().zip(0_i64..) {
            let ten = calendar.midnight_ms(self.days_back) + 10 * 60 * MINUTE_MS;
            let described = Described {
                id: format!("{prefix}-{}", self.spec),
                agent,
                spec: self.spec,
                course: *course,
                pull_request: (position == 0).then_some(self.pull_request),
                at_ms: ten + position * 17 * MINUTE_MS,
            };
            planned.push(described.planned(random)?);
        }
        Ok(planned)
    }
}

/// The fixed part of a run. The rest is random.
struct Described {
    id: String,
    agent: &'static str,
    spec: &'static str,
    course: Course,
    pull_request: Option<u32>,
    at_ms: i64,
}

impl Described {
    fn planned(self, random: &mut Random) -> Result<PlannedRun, PlanError> {
        let Self { id, agent, spec, course, pull_request, at_ms } = self;
        let wall_ms = TYPICAL_MS * random.between(course.wall_percent.0, course.wall_percent.1) / 100;
        let memory = MEMORY_LIMIT * random.between(course.memory_percent.0, course.memory_percent.1) / 100;
        let started_ms = at_ms - i64::try_from(wall_ms).unwrap_or_default();
        let is_contest = course.wall_percent.0 == course.wall_percent.1;
        // Some platforms cannot measure everything.
        let (has_resources, has_stages) =
            (is_contest || !random.chance(150), is_contest || !random.chance(100));
        let short = agent.rsplit('/').next().unwrap_or(agent);
        let branch = (course.outcome == "completed").then(|| json!(format!("agents/{short}/{spec}")));
        let address = |number| json!(format!("https://github.com/acme/platform/pull/{number}"));
        let fields = [
            ("run_id", Some(json!(id))),
            ("agent_id", Some(json!(agent))),
            ("workspace", Some(json!(WORKSPACE))),
            ("spec_id", Some(json!(spec))),
            ("outcome", Some(json!(course.outcome))),
            ("wall_ms", Some(json!(wall_ms))),
            ("started_at", Some(json!(time(started_ms)))),
            ("finished_at", Some(json!(time(at_ms)))),
            ("resources", has_resources.then(|| resources(memory))),
            ("stages", has_stages.then(|| stages(course.stages))),
            ("branch", branch),
            ("pull_request", pull_request.map(address)),
        ];
        let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let text = Value::Object(known.collect()).to_string();
        let submission: Submission = json::parse(text.as_bytes())?;
        let id = submission.run.clone().ok_or_else(|| PlanError::new("a run without an id"))?;
        let run = NewRun { id, submission, digest: Sha256::digest(&text).into() };
        Ok(PlannedRun { at_ms, run })
    }
}

fn resources(memory_peak_bytes: u64) -> Value {
    json!({
        "memory_peak_bytes": memory_peak_bytes,
        "memory_limit_bytes": MEMORY_LIMIT,
        "cpu_periods": 5000,
        "cpu_throttled_periods": 50,
    })
}

/// Returns the stages that were reached, in the format of a submission.
fn stages(outcomes: &str) -> Value {
    let stage = |(name, outcome): (&&str, char)| {
        let attempts = outcome.to_digit(10);
        (outcome != '-')
            .then(|| json!({"name": name, "passed": attempts.is_some(), "attempts": attempts.unwrap_or(3)}))
    };
    STAGES.iter().zip(outcomes.chars()).filter_map(stage).collect()
}
