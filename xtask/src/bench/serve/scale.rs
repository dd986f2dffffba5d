//! The cost of a large database: reads with a million agents against reads with a thousand, the cold start, and memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use renown_core::ids::EvaluationId;
use renown_core::units::Micros;
use renown_store::sqlite::system_clock;
use renown_store::{NewEvaluation, NewEvaluationId};

use super::options::Options;
use super::{load, work};
use crate::bench::bulk::{Bulk, agent, batches};
use crate::bench::contest::{Side, Wanted, contest, middle};
use crate::load::{Load, Measured, Protocol};
use crate::process::resident_mb;
use crate::renown::{Peer, Renown, empty};

const FEW_AGENTS: u64 = 1000;
const MANY_AGENTS: u64 = 1_000_000;

/// Number of evaluations per agent, and the number with `--full`.
const EACH: u64 = 10;
const EACH_FULL: u64 = 100;

const CONNECTIONS: [usize; 2] = [1, 32];
const LATENCY_RATIO_MAX: f64 = 2.0;

/// Number of starts; the median counts.
const STARTS: usize = 5;
const COLD_START_MS_MAX: f64 = 100.0;
const IDLE_RSS_MB_MAX: f64 = 60.0;

/// With ten times as many requests, memory may grow by at most this factor.
const RSS_GROWTH_MAX: f64 = 1.1;

/// Loads both databases and measures them.
pub(super) fn scale(options: &Options, program: &Path, folder: &Path) -> Result<()> {
    let each = if options.full { EACH_FULL } else { EACH };
    let (few, few_key) = database(program, &folder.join("few"), FEW_AGENTS, each)?;
    let (many, many_key) = database(program, &folder.join("many"), MANY_AGENTS, each)?;
    start(&many)?;
    let (few, many) = (few.serve()?.0, many.serve()?.0);
    reads(options, (&few, &few_key), (&many, &many_key))?;
    memory(options, &many, &many_key)
}

/// Creates a database with this many agents and evaluations per agent, and a key for it.
fn database(program: &Path, data: &Path, agents: u64, each: u64) -> Result<(Renown, String)> {
    empty(data)?;
    let renown = Renown { program: program.to_owned(), data: data.to_owned() };
    let key = renown.create_key()?;
    load_bulk(data, agents, each)?;
    Ok((renown, key))
}

/// Writes the evaluations directly into the store, in large batches. Agents have the names of [`agent`]. Their
/// evaluations are spread over the whole table, as if the agents had worked at the same time.
fn load_bulk(data: &Path, agents: u64, each: u64) -> Result<()> {
    let bulk = Bulk::open(data, "cargo xtask bench serve", system_clock())?;
    let started = Instant::now();
    let total = agents * each;
    for numbers in batches(total) {
        let batch = numbers.map(|number| evaluation(number, agents));
        bulk.append(batch.collect::<Result<_>>()?)?;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("loaded {agents} agents × {each} evaluations in {seconds:.0} s");
    Ok(())
}

fn evaluation(number: u64, agents: u64) -> Result<NewEvaluation> {
    Ok(NewEvaluation {
        agent: agent(number % agents).parse()?,
        id: NewEvaluationId::Generated(EvaluationId::made(number, number)),
        passed: !number.is_multiple_of(17),
        gate_latency: Micros::from_us(u32::try_from(number % 40_000)?).unwrap_or_default(),
        agent_latency: None,
        tool: Some("search".parse()?),
        gates: r#"[{"name":"filesystem","passed":true,"latency_ms":0.004},{"name":"pii","passed":true,"latency_ms":0.003},{"name":"content","passed":true,"latency_ms":0.001}]"#.into(),
        timestamp: None,
    })
}

/// Measures the time of a start with many agents, and the memory right after it.
fn start(renown: &Renown) -> Result<()> {
    let (mut starts_ms, mut idle_mb) = (Vec::new(), 0.0_f64);
    for _ in 0..STARTS {
        let (peer, took) = renown.serve()?;
        starts_ms.push(took.as_secs_f64() * 1000.0);
        idle_mb = idle_mb.max(resident_mb(peer.server.pid())?);
    }
    starts_ms.sort_by(f64::total_cmp);
    let ms = middle(&starts_ms);
    println!(
        "\n{MANY_AGENTS} agents: start to ready in {ms:.1} ms {}",
        Wanted::AtMost(COLD_START_MS_MAX).verdict(ms, " ms")
    );
    println!(
        "{MANY_AGENTS} agents: idle {idle_mb:.1} MB {}",
        Wanted::AtMost(IDLE_RSS_MB_MAX).verdict(idle_mb, " MB")
    );
    Ok(())
}

fn reads(options: &Options, (few, few_key): (&Peer, &str), (many, many_key): (&Peer, &str)) -> Result<()> {
    let mut of_many = work::read_random(many_key, MANY_AGENTS);
    let mut of_few = work::read_random(few_key, FEW_AGENTS);
    for connections in options.connections(&CONNECTIONS) {
        let results = contest(
            &format!("read, {connections}"),
            options.rounds,
            &mut [
                Side::new("million agents", || {
                    load(options, many, Protocol::Http(200), connections).run(&mut of_many)
                }),
                Side::new("thousand agents", || {
                    load(options, few, Protocol::Http(200), connections).run(&mut of_few)
                }),
            ],
        )?;
        let wanted = Some(Wanted::AtMost(LATENCY_RATIO_MAX));
        results.ratio("thousand agents", "p50", |measured: &Measured| measured.quantile_ms(0.5), wanted);
        results.ratio("thousand agents", "p99", |measured: &Measured| measured.quantile_ms(0.99), wanted);
    }
    Ok(())
}

/// Measures memory after some requests and after ten times as many. The reads before have filled the caches.
fn memory(options: &Options, peer: &Peer, key: &str) -> Result<()> {
    let mut evaluate = work::evaluate(key);
    let once = Load { warm_up: Duration::ZERO, ..load(options, peer, Protocol::Http(200), 32) };
    let first = once.run(&mut evaluate)?.requests();
    let before_mb = resident_mb(peer.server.pid())?;
    let rest = Load { time: once.time * 9, ..once }.run(&mut evaluate)?.requests();
    let after_mb = resident_mb(peer.server.pid())?;
    println!(
        "\nmemory: {before_mb:.1} MB after {first} evaluations, {after_mb:.1} MB after {} {}",
        first + rest,
        Wanted::AtMost(RSS_GROWTH_MAX).verdict(after_mb / before_mb, "×")
    );
    Ok(())
}
