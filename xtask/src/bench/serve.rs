//! `cargo xtask bench serve`: `renown serve` against the programs that people would use instead, in one run on one
//! machine.
//!
//! | part | ours | peers |
//! |---|---|---|
//! | evaluate | `POST /v1/evaluate`, an output of 1 KB | Redis `SET` of 1 KB, its log synced before each reply |
//! | read | `GET /v1/reputation/…` | Redis `GET`, and axum answering a constant, of as many bytes |
//! | ingest | `POST /v1/ingest`, 100 events | PostgreSQL, 100 rows an insert, same columns and indexes |
//! | scale | reads with a million agents, cold start, memory | the same with a thousand agents |
//! | tails | a minute of `POST /v1/evaluate` while the file grows, and what slow commits waited for | |
//! | overload | `POST /v1/evaluate` from 3, 9 and 27 times the connections, and probes meanwhile | its own capacity |
//! | medians | evaluate, read and ingest | the build of `--before` |
//!
//! `--before PROGRAM` measures an older build in turns with this one, so that both are compared within one run.
//!
//! The bench starts and stops everything itself, below the target directory, so all databases are on the same disk.

mod medians;
mod options;
mod overload;
mod peers;
mod plain;
mod postgres;
mod scale;
mod tails;
mod work;

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

pub(crate) use options::USAGE;
pub(crate) use plain::serve as plain;

use super::bulk::agent;
use super::contest::{Side, Wanted, contest};
use crate::load::{Load, Measured, Protocol, Requests, fetch, get};
use crate::renown::{Peer, Renown, empty};
use crate::shell::{cargo, program, run, target_dir};
use options::{Options, Part};
use postgres::{Postgres, Way};

/// The numbers of connections for evaluate and read, and the wanted ratio to Redis for evaluate.
const EVALUATE: [(usize, f64); 2] = [(32, 1.0), (128, 1.5)];
const EVALUATE_P99_MS_MAX: f64 = 10.0;

const READ_CONNECTIONS: [usize; 2] = [32, 128];
const READ_OF_REDIS_MIN: f64 = 1.0;
const READ_OF_AXUM_MIN: f64 = 0.8;

const INGEST_CONNECTIONS: [usize; 1] = [32];
const INGEST_OF_POSTGRES_MIN: f64 = 3.0;

/// Runs the selected parts.
pub(crate) fn serve(args: &[&str]) -> Result<()> {
    let options = Options::parse(args)?;
    run(cargo().args(["build", "--locked", "--release", "--package", "renown", "--package", "xtask"]))?;
    let release = target_dir()?.join("release");
    if cfg!(debug_assertions) {
        // The client and the peer in it must not be the bottleneck.
        return run(program(release.join("xtask")).args(["bench", "serve"]).args(args));
    }
    let folder = target_dir()?.join("xtask/serve");
    let renown = options.renown.clone().unwrap_or(release.join("renown"));
    let measured = measure(&options, &renown, &folder);
    // The databases have gigabytes and are not needed afterwards.
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(options: &Options, renown: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    if [Part::Evaluate, Part::Read, Part::Ingest].iter().any(|&part| options.has(part)) {
        let ours = Ours::start(options, renown, &folder.join("renown"))?;
        if options.has(Part::Evaluate) {
            evaluate(options, &ours, folder)?;
        }
        if options.has(Part::Read) {
            read(options, &ours, folder)?;
        }
        if options.has(Part::Ingest) {
            ingest(options, &ours, folder)?;
        }
    }
    if options.has(Part::Scale) {
        scale::scale(options, renown, folder)?;
    }
    let before = options.before.as_deref().map(|before| ("before", before));
    let programs: Vec<(&'static str, &Path)> = [("renown", renown)].into_iter().chain(before).collect();
    if let Some(before) = options.before.as_deref().filter(|_| options.has(Part::Medians)) {
        medians::medians(options, renown, before, folder)?;
    }
    if options.has(Part::Overload) {
        overload::overload(options, &programs, folder)?;
    }
    if options.has(Part::Tails) {
        tails::tails(options, &programs, folder)?;
    }
    Ok(())
}

/// A running `renown` and a key for it.
struct Ours<'a> {
    options: &'a Options,
    peer: Peer,
    key: String,
}

impl<'a> Ours<'a> {
    fn start(options: &'a Options, program: &Path, data: &Path) -> Result<Self> {
        empty(data)?;
        let renown = Renown { program: program.to_owned(), data: data.to_owned() };
        let key = renown.create_key()?;
        let (peer, _) = renown.serve()?;
        Ok(Self { options, peer, key })
    }

    fn run(&self, status: u16, connections: usize, requests: &mut Requests) -> Result<Measured> {
        load(self.options, &self.peer, Protocol::Http(status), connections).run(requests)
    }
}

fn load(options: &Options, peer: &Peer, protocol: Protocol, connections: usize) -> Load {
    let Peer { server, address } = peer;
    let (warm_up, time) = (options.warm_up(), options.time);
    Load { address: *address, pid: server.pid(), protocol, connections, warm_up, time }
}

fn evaluate(options: &Options, ours: &Ours<'_>, folder: &Path) -> Result<()> {
    let redis = peers::redis(&folder.join("redis"))?;
    let (mut evaluate, mut set) = (work::evaluate(&ours.key), work::set());
    for connections in options.connections(&EVALUATE.map(|(connections, _)| connections)) {
        let results = contest(
            &format!("evaluate, {connections}"),
            options.rounds,
            &mut [
                Side::new("renown", || ours.run(200, connections, &mut evaluate)),
                Side::new("redis SET", || load(options, &redis, Protocol::Resp, connections).run(&mut set)),
            ],
        )?;
        let wanted = EVALUATE.iter().find(|(known, _)| *known == connections);
        let wanted = wanted.map(|&(_, least)| Wanted::AtLeast(least));
        results.ratio("redis SET", "rate", Measured::rate, wanted);
        let p99 = |measured: &Measured| measured.quantile_ms(0.99);
        results.figure("p99", " ms", p99, Wanted::AtMost(EVALUATE_P99_MS_MAX));
    }
    Ok(())
}

fn read(options: &Options, ours: &Ours<'_>, folder: &Path) -> Result<()> {
    let address = ours.peer.address;
    // Every agent gets some evaluations, so that there is something to read.
    let filling = load(options, &ours.peer, Protocol::Http(202), 4);
    Load { time: options.warm_up(), ..filling }.run(&mut work::ingest(&ours.key, now_ms()?))?;
    let bytes = fetch(address, &get(&work::path(&agent(0)), &ours.key), 200)?.len();
    let redis = peers::redis(&folder.join("redis"))?;
    let axum = peers::axum(bytes)?;
    let (mut redis_get, mut redis_set) = work::redis_reads(bytes);
    Load { time: options.warm_up(), ..load(options, &redis, Protocol::Resp, 4) }.run(&mut redis_set)?;
    let (mut read, mut plain) = (work::read(&ours.key), work::read(&ours.key));
    for connections in options.connections(&READ_CONNECTIONS) {
        let results = contest(
            &format!("read, {connections}"),
            options.rounds,
            &mut [
                Side::new("renown", || ours.run(200, connections, &mut read)),
                Side::new("redis GET", || {
                    load(options, &redis, Protocol::Resp, connections).run(&mut redis_get)
                }),
                Side::new("plain axum", || {
                    load(options, &axum, Protocol::Http(200), connections).run(&mut plain)
                }),
            ],
        )?;
        results.ratio("redis GET", "rate", Measured::rate, Some(Wanted::AtLeast(READ_OF_REDIS_MIN)));
        results.ratio("plain axum", "rate", Measured::rate, Some(Wanted::AtLeast(READ_OF_AXUM_MIN)));
    }
    Ok(())
}

fn ingest(options: &Options, ours: &Ours<'_>, folder: &Path) -> Result<()> {
    let postgres = std::cell::RefCell::new(Postgres::start(&folder.join("postgres"))?);
    let mut requests = work::ingest(&ours.key, now_ms()?);
    for connections in options.connections(&INGEST_CONNECTIONS) {
        let insert = |way| postgres.borrow_mut().insert(way, connections, options.warm_up(), options.time);
        let results = contest(
            &format!("ingest, {connections}"),
            options.rounds,
            &mut [
                Side::new("renown", || ours.run(202, connections, &mut requests)),
                Side::new("postgres values", || insert(Way::Values)),
                Side::new("postgres unnest", || insert(Way::Unnest)),
            ],
        )?;
        for way in ["postgres values", "postgres unnest"] {
            results.ratio(way, "rate", Measured::rate, Some(Wanted::AtLeast(INGEST_OF_POSTGRES_MIN)));
        }
    }
    Ok(())
}

/// Returns the time at which ids begin.
fn now_ms() -> Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    Ok(u64::try_from(since.as_millis())?)
}
