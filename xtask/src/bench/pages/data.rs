//! The two databases.
//!
//! | | few | many |
//! |---|---|---|
//! | agents | 1000 | 1 000 000 |
//! | regulars: agents that work on every day | all | 3 of 1000 |
//! | evaluations | 1 000 000 | one of each other agent, about 100 of each regular |
//! | sessions of regulars | 2000, 50 records each | the same |
//! | runs of regulars | 2000 | the same |
//!
//! Evaluations are spread evenly over the last 30 UTC days, up to now. Today has as many as any other day, however
//! early it is. The clock of the store moves with them, so `last_seen` is spread like `created_at`. Regulars fail more
//! often on some days than on others, so that scores rise and fall.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use renown_core::ids::EvaluationId;
use renown_core::time::{Day, Timestamp};
use renown_core::units::Micros;
use renown_store::sqlite::{FILE, system_clock};
use renown_store::{Clock, NewEvaluation, NewEvaluationId, Upkeep};

use super::options::Options;
use super::sessions;
use crate::bench::bulk::{self, Bulk, agent, batches};
use crate::generate::Random;

/// Number of days with evaluations.
pub(super) const DAYS: u32 = 30;

const FEW_AGENTS: u64 = 1000;

/// Number of regulars per thousand agents, in the database with many agents.
const REGULARS_PER_MILLE: u64 = 3;

/// In the database with many agents, 3 of 13 evaluations are of regulars and 10 of agents with a single evaluation.
const BLOCK: u64 = 13;
const BLOCK_REGULAR: u64 = 3;

const RUNS: u64 = 2000;

const TOOLS: [&str; 4] = ["search", "write_file", "run_tests", "send_mail"];
const GATES: [&str; 4] = ["schema", "pii", "content", "secrets"];

/// The size of a database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) name: &'static str,
    pub(super) agents: u64,
    /// Number of agents with evaluations on every day. They have the lowest numbers.
    pub(super) regulars: u64,
    evaluations: u64,
}

impl Size {
    pub(super) fn few(options: &Options) -> Self {
        Self { name: "few", agents: FEW_AGENTS, regulars: FEW_AGENTS, evaluations: options.evaluations }
    }

    pub(super) fn many(options: &Options) -> Self {
        let regulars = (options.agents * REGULARS_PER_MILLE / 1000).max(1);
        let others = options.agents.saturating_sub(regulars).max(1);
        let evaluations = others.div_ceil(BLOCK - BLOCK_REGULAR) * BLOCK;
        Self { name: "many", agents: regulars + others, regulars, evaluations }
    }

    /// Returns the agent of an evaluation.
    fn agent(&self, evaluation: u64) -> u64 {
        let others = self.agents - self.regulars;
        let (block, place) = (evaluation / BLOCK, evaluation % BLOCK);
        match place.checked_sub(BLOCK_REGULAR) {
            _ if others == 0 => evaluation % self.agents,
            None => (block * BLOCK_REGULAR + place) % self.regulars,
            Some(place) => self.regulars + (block * (BLOCK - BLOCK_REGULAR) + place) % others,
        }
    }
}

/// The last days, up to a time on the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    now: Timestamp,
}

impl Span {
    pub(super) fn until_now() -> Result<Self> {
        Ok(Self { now: (system_clock())()? })
    }

    pub(super) fn today(self) -> Day {
        Day::of(self.now)
    }

    pub(super) fn first_day(self) -> Day {
        self.today().back(DAYS - 1)
    }

    /// Returns the time of an item, for this many items that are spread evenly over each day.
    pub(super) fn at(self, number: u64, total: u64) -> Result<Timestamp> {
        let (number, total) = (i128::from(number), i128::from(total.max(1)));
        let place = number * i128::from(DAYS);
        let day = self.first_day().number() + i64::try_from(place / total)?;
        let day = Day::from_number(day).context("a day")?;
        let (start, end) = (day.start().millis(), day.end().min(self.now).millis());
        let offset = place % total * i128::from(end - start) / total;
        Ok(Timestamp::from_millis(start + i64::try_from(offset)?)?)
    }
}

/// The results of the gates: for an evaluation that passed, and for evaluations that failed one gate.
struct Gates {
    passed: Arc<str>,
    failed: Vec<Arc<str>>,
}

impl Gates {
    fn new() -> Self {
        let text = |failed: Option<&str>| -> Arc<str> {
            let gate = |name: &&str| {
                format!(r#"{{"name":"{name}","passed":{},"latency_ms":0.004}}"#, Some(*name) != failed)
            };
            format!("[{}]", GATES.iter().map(gate).collect::<Vec<_>>().join(",")).into()
        };
        Self { passed: text(None), failed: GATES.iter().map(|name| text(Some(name))).collect() }
    }
}

/// Returns how many of a thousand evaluations of an agent fail on a day.
fn failing_per_mille(agent: u64, day: i64) -> u64 {
    let bad_day = (agent / 7).wrapping_add(day.unsigned_abs()).is_multiple_of(6);
    10 + agent % 7 * 20 + if bad_day { 300 } else { 0 }
}

fn evaluation(number: u64, size: &Size, span: Span, gates: &Gates) -> Result<NewEvaluation> {
    let mut random = Random::new(number);
    let (of, at) = (size.agent(number), span.at(number, size.evaluations)?);
    let passed = !random.chance(failing_per_mille(of, Day::of(at).number()));
    let failed = gates.failed.get(random.index(gates.failed.len())).context("a gate")?;
    Ok(NewEvaluation {
        agent: agent(of).parse()?,
        id: NewEvaluationId::Generated(EvaluationId::made(number, number)),
        passed,
        gate_latency: Micros::from_us(u32::try_from(random.between(50, 40_000))?).unwrap_or_default(),
        agent_latency: None,
        tool: Some(random.pick(&TOOLS).parse()?),
        gates: Arc::clone(if passed { &gates.passed } else { failed }),
        timestamp: Some(at),
    })
}

/// Fills a database unless it exists.
pub(super) fn fill(data: &Path, size: &Size, span: Span) -> Result<()> {
    if data.join(FILE).exists() {
        return Ok(());
    }
    fs::create_dir_all(data)?;
    let started = Instant::now();
    let now_ms = Arc::new(AtomicI64::new(span.first_day().start().millis()));
    let clock: Clock = {
        let now_ms = Arc::clone(&now_ms);
        Arc::new(move || Ok(Timestamp::from_millis(now_ms.load(Ordering::Relaxed)).unwrap_or(Timestamp::MIN)))
    };
    let bulk = Bulk::open(data, "cargo xtask bench pages", clock)?;
    let gates = Gates::new();
    for numbers in batches(size.evaluations) {
        let batch = numbers.map(|number| evaluation(number, size, span, &gates));
        let batch = batch.collect::<Result<Vec<_>>>()?;
        let accepted = batch.iter().filter_map(|new| new.timestamp).max().unwrap_or(span.now);
        now_ms.store(accepted.millis(), Ordering::Relaxed);
        bulk.append(batch)?;
    }
    now_ms.store(span.now.millis(), Ordering::Relaxed);
    sessions::add(&bulk, size, span)?;
    for numbers in batches(RUNS) {
        let runs = numbers.map(|number| bulk::run(number, &agent(number % size.regulars)));
        let runs = runs.collect::<Result<_>>()?;
        bulk.runtime.block_on(bulk::add_runs(&bulk.store, &bulk.org, runs))?;
    }
    // Does what the server would do in its first minutes.
    while !bulk.runtime.block_on(bulk.store.close_sessions())?.is_empty() {}
    let Size { name, agents, evaluations, .. } = size;
    let seconds = started.elapsed().as_secs_f64();
    println!("loaded {name}: {agents} agents, {evaluations} evaluations in {seconds:.0} s");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_agent_has_evaluations_and_regulars_have_many() {
        let options = Options::parse(&["--agents", "2000"]).unwrap();
        let size = Size::many(&options);
        let mut found: BTreeMap<u64, u64> = BTreeMap::new();
        (0..size.evaluations).for_each(|number| *found.entry(size.agent(number)).or_default() += 1);
        assert_eq!(u64::try_from(found.len()).unwrap(), size.agents);
        assert!(found.range(..size.regulars).all(|(_, count)| *count > 60), "{found:?}");
        assert!(found.range(size.regulars..).all(|(_, count)| *count <= 2));
    }

    #[test]
    fn every_day_has_an_equal_part_and_none_is_ahead() {
        let now = Timestamp::parse("2026-11-18T00:10:00Z").unwrap();
        let span = Span { now };
        let mut days: BTreeMap<Day, u64> = BTreeMap::new();
        for number in 0..3000 {
            let at = span.at(number, 3000).unwrap();
            assert!(at <= now);
            *days.entry(Day::of(at)).or_default() += 1;
        }
        assert_eq!(days.len(), 30);
        assert!(days.values().all(|count| *count == 100));
    }
}
