//! `cargo xtask bench pages`: the cost of the web pages with many evaluations and with many agents.
//!
//! `renown serve` runs on both databases of [`data`] at once. They are asked in turns, so that other load on the
//! machine affects both. 99 of 100 answers must arrive within 10 ms, and take at most twice as long with many agents as
//! with few.
//!
//! Next to each answer it prints the time of one SQL statement that computes the same from the evidence in the same
//! file:
//!
//! | question | asked over HTTP | by SQL | that leaves out |
//! |---|---|---|---|
//! | overview | `/v1/overview` | evaluations by day, failing gates of today | rises and falls, ranking, sessions, runs |
//! | ranking | `/v1/agents?sort=score&limit=20&days=30` | last score of each agent, the days of the first 20 | sessions, runs, identities |
//! | later page | the same with a cursor | the same with an offset | the same |
//! | history | `/v1/reputation/{id}/history`, 30 whole days | the agent's evaluations by day | nothing |
//! | breakdown | `/v1/agents/{id}/breakdown`, 30 days | its evaluations by tool, its failures by gate | latencies |
//! | sessions | `/v1/sessions?limit=50` | the records of the last 50 sessions, counted | every score: SQL cannot decode records |
//! | last seen | `/v1/agents?limit=50` | the last evaluation of each agent | scores, sessions, runs, identities |
//!
//! Then [`html`] requests the pages themselves.
//!
//! SQL runs inside this process, without HTTP and JSON, with 64 MB of cache. So the printed factor is a lower bound of
//! the gain.

mod data;
mod html;
mod options;
mod questions;
mod sessions;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use renown_store::sqlite::FILE;
use rusqlite::{Connection, OpenFlags};

pub(crate) use options::USAGE;

use super::contest::{Results, Side, Wanted, contest, middle};
use crate::load::{Load, Measured, Protocol, Requests};
use crate::renown::{Peer, Renown};
use crate::shell::{cargo, program, run, target_dir};
use data::{Size, Span};
use options::Options;
use questions::{Asked, QUESTIONS, Question};

const CONNECTIONS: [usize; 2] = [1, 4];
const P99_MS_MAX: f64 = 10.0;
const RATIO_MAX: f64 = 2.0;

/// How often each question is answered from the evidence. The median counts.
const EVIDENCE_SAMPLES: usize = 3;
const EVIDENCE_CACHE_KB: i64 = 64_000;

/// Fills both databases, asks every question and prints the table.
pub(crate) fn pages(args: &[&str]) -> Result<()> {
    let options = Options::parse(args)?;
    run(cargo().args(["build", "--locked", "--release", "--package", "renown", "--package", "xtask"]))?;
    let release = target_dir()?.join("release");
    if cfg!(debug_assertions) {
        // The client must not be the bottleneck.
        return run(program(release.join("xtask")).args(["bench", "pages"]).args(args));
    }
    let folder = target_dir()?.join("xtask/pages");
    if !options.keep && folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let renown = options.renown.clone().unwrap_or(release.join("renown"));
    let measured = measure(&options, &renown, &folder);
    if !options.keep {
        fs::remove_dir_all(&folder)?;
    }
    measured
}

fn measure(options: &Options, program: &Path, folder: &Path) -> Result<()> {
    let span = Span::until_now()?;
    let start = |size: Size| Database::start(program, &folder.join(size.name), size, span);
    let (few, many) = (start(Size::few(options))?, start(Size::many(options))?);
    let mut rows = Vec::new();
    for question in &QUESTIONS {
        if options.only.as_ref().is_some_and(|only| only != question.name) {
            continue;
        }
        rows.extend(ask(options, question, &few, &many)?);
    }
    if !rows.is_empty() {
        print(&rows);
    }
    if options.only.as_deref().is_none_or(|only| only == html::NAME) {
        html::measure(options, &few, &many)?;
    }
    Ok(())
}

/// A database and its server.
struct Database {
    key: String,
    asked: Asked,
    peer: Peer,
    evidence: Connection,
}

impl Database {
    fn start(program: &Path, data: &Path, size: Size, span: Span) -> Result<Self> {
        data::fill(data, &size, span)?;
        let renown = Renown { program: program.to_owned(), data: data.to_owned() };
        let key = renown.create_key()?;
        let (peer, _) = renown.serve()?;
        let evidence = Connection::open_with_flags(data.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        evidence.pragma_update(None, "cache_size", -EVIDENCE_CACHE_KB)?;
        Ok(Self { asked: Asked::new(peer.address, key.clone(), size, span)?, key, peer, evidence })
    }

    fn load(&self, options: &Options, connections: usize, requests: &mut Requests) -> Result<Measured> {
        let load = Load {
            address: self.peer.address,
            pid: self.peer.server.pid(),
            protocol: Protocol::Http(200),
            connections,
            warm_up: options.time / 5,
            time: options.time,
        };
        load.run(requests)
    }

    /// Returns the time of the answer from the evidence, in milliseconds.
    fn evidence_ms(&self, question: &Question) -> Result<f64> {
        let mut taken = Vec::new();
        for sample in 0..EVIDENCE_SAMPLES {
            let started = Instant::now();
            self.asked.ask_evidence(question, &self.evidence, sample)?;
            taken.push(started.elapsed().as_secs_f64() * 1000.0);
        }
        taken.sort_by(f64::total_cmp);
        Ok(middle(&taken))
    }
}

/// One row of the table.
struct Row {
    question: &'static str,
    size: &'static str,
    connections: usize,
    p50_ms: f64,
    p99_ms: f64,
    /// Ratio to the database with few agents, for p50 and p99.
    ratios: Option<[f64; 2]>,
    evidence_ms: f64,
}

fn p50(measured: &Measured) -> f64 {
    measured.quantile_ms(0.5)
}

fn p99(measured: &Measured) -> f64 {
    measured.quantile_ms(0.99)
}

/// Asks both databases one question, in turns.
fn ask(options: &Options, question: &Question, few: &Database, many: &Database) -> Result<Vec<Row>> {
    let mut of_few = few.asked.requests(question);
    let mut of_many = many.asked.requests(question);
    let evidence = [("few", few.evidence_ms(question)?), ("many", many.evidence_ms(question)?)];
    let mut rows = Vec::new();
    for connections in options.connections(&CONNECTIONS) {
        let results = contest(
            &format!("{}, {connections}", question.name),
            options.rounds,
            &mut [
                Side::new("many", || many.load(options, connections, &mut of_many)),
                Side::new("few", || few.load(options, connections, &mut of_few)),
            ],
        )?;
        rows.extend(
            evidence.map(|(size, evidence_ms)| row(question, connections, &results, size, evidence_ms)),
        );
    }
    Ok(rows)
}

fn row(
    question: &Question,
    connections: usize,
    results: &Results,
    size: &'static str,
    evidence_ms: f64,
) -> Row {
    let ratios = [p50 as fn(&Measured) -> f64, p99].map(|figure| results.median_ratio("few", figure));
    Row {
        question: question.name,
        size,
        connections,
        p50_ms: results.median(size, p50),
        p99_ms: results.median(size, p99),
        ratios: (size == "many").then_some(ratios),
        evidence_ms,
    }
}

/// Prints the table with the medians of all rounds.
fn print(rows: &[Row]) {
    println!(
        "\n{:<12} {:<5} {:>5} {:>8} {:>8} {:<16} {:>7} {:>7} {:<14} {:>10} {:>8}",
        "question",
        "size",
        "conns",
        "p50 ms",
        "p99 ms",
        format!("p99 ≤ {P99_MS_MAX} ms"),
        "p50 ×",
        "p99 ×",
        format!("both ≤ {RATIO_MAX}×"),
        "SQL ms",
        "faster"
    );
    for row in rows {
        let Row { question, size, connections, p50_ms, p99_ms, ratios, evidence_ms } = row;
        let in_time = Wanted::AtMost(P99_MS_MAX).word(*p99_ms);
        let [ratio_p50, ratio_p99, even] = ratios.map_or_else(Default::default, |[p50, p99]| {
            let even = Wanted::AtMost(RATIO_MAX).word(p50.max(p99)).to_owned();
            [format!("{p50:.2}"), format!("{p99:.2}"), even]
        });
        println!(
            "{question:<12} {size:<5} {connections:>5} {p50_ms:>8.3} {p99_ms:>8.3} {in_time:<16} {ratio_p50:>7} {ratio_p99:>7} \
             {even:<14} {evidence_ms:>10.1} {:>7.1}×",
            evidence_ms / p50_ms
        );
    }
}
