//! Goodput under overload: evaluations from many times the connections at which the capacity is measured.
//!
//! **The offered load** is closed: N × 128 connections. Each sends its next request as soon as it has its reply. A
//! connection that is refused with 503 waits for `Retry-After`, as our clients do. An open load of 27 times the
//! capacity is impossible here: the client has the same two processors, and a refusal costs it as much as a reply.
//!
//! **Goodput** is the rate of counted evaluations, as a share of the capacity. The speed of a machine changes from
//! minute to minute, so the capacity is measured before and after each overload, and their mean is the 100 %. The
//! result is the median of all rounds. At the same time, one more connection requests in turns what must be answered
//! quickly under any load: `/health`, `/ready`, `/metrics` and an agent's score.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::options::Options;
use super::{Ours, load, work};
use crate::bench::bulk::agent;
use crate::bench::contest::{Wanted, middle};
use crate::load::{Measured, Protocol, fetch, get};

/// Enough to use the whole server, but no more: a commit carries the evaluations of a hundred connections.
const CONNECTIONS: usize = 128;

/// Factors of the number of connections, and the least share of the capacity that must be left.
const OFFERED: [(usize, f64); 3] = [(3, 0.9), (9, 0.8), (27, 0.8)];

/// The interval of the probes.
const PROBE_EVERY: Duration = Duration::from_millis(5);

/// The probes, equally frequent.
const PROBES: [&str; 4] = ["/health", "/ready", "/metrics", "score"];

/// Runs each build on its own database, in turns.
pub(super) fn overload(options: &Options, programs: &[(&'static str, &Path)], folder: &Path) -> Result<()> {
    let mut shares = vec![vec![Vec::new(); OFFERED.len()]; programs.len()];
    println!(
        "\n{:<20} {:<10} {:>5} {:>9} {:>6} {:>8} {:>8} {:>9}   p99 ms of {}",
        "overload",
        "what",
        "round",
        "per s",
        "share",
        "p50 ms",
        "p99",
        "refused/s",
        PROBES.join(", ")
    );
    for round in 1..=options.rounds {
        for (&(name, program), shares) in programs.iter().zip(&mut shares) {
            let ours = Ours::start(options, program, &folder.join("overload"))?;
            let (mut before, probes) = measure(options, &ours, CONNECTIONS)?;
            row(name, round, 1, &before, 1.0, &probes);
            for (&(times, _), shares) in OFFERED.iter().zip(shares) {
                let (found, probes) = measure(options, &ours, times * CONNECTIONS)?;
                let (after, probes_after) = measure(options, &ours, CONNECTIONS)?;
                let share = found.rate() / f64::midpoint(before.rate(), after.rate());
                row(name, round, times, &found, share, &probes);
                row(name, round, 1, &after, 1.0, &probes_after);
                shares.push(share);
                before = after;
            }
        }
    }
    for (&(name, _), shares) in programs.iter().zip(&mut shares) {
        for (&(times, least), shares) in OFFERED.iter().zip(shares) {
            shares.sort_by(f64::total_cmp);
            let share = middle(shares);
            println!("overload: {name}, {times}× = {share:.2} {}", Wanted::AtLeast(least).verdict(share, ""));
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn row(name: &str, round: usize, times: usize, found: &Measured, share: f64, probes: &[f64]) {
    let probes: Vec<String> = probes.iter().map(|ms| format!("{ms:.1}")).collect();
    println!(
        "{:<20} {name:<10} {round:>5} {:>9.0} {share:>6.2} {:>8.2} {:>8.2} {:>9.0}   {}",
        format!("overload, {times}×"),
        found.rate(),
        found.quantile_ms(0.5),
        found.quantile_ms(0.99),
        found.refused as f64 / found.seconds,
        probes.join(" ")
    );
}

/// Measures evaluations from this many connections, and the 99th percentile of each probe in milliseconds.
fn measure(options: &Options, ours: &Ours<'_>, connections: usize) -> Result<(Measured, Vec<f64>)> {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let (address, key) = (ours.peer.address, ours.key.as_str());
        let ended = &ended;
        let probing = scope.spawn(move || probe(address, key, ended));
        let load = load(options, &ours.peer, Protocol::HttpOrBusy(200), connections);
        let measured = load.run(&mut work::evaluate(&ours.key));
        ended.store(true, Ordering::Relaxed);
        let probes = probing.join().ok().context("the probe panicked")??;
        Ok((measured?, probes))
    })
}

#[expect(clippy::disallowed_methods, reason = "probes are paced")]
fn probe(address: SocketAddr, key: &str, ended: &AtomicBool) -> Result<Vec<f64>> {
    let mut found = vec![Vec::new(); PROBES.len()];
    while !ended.load(Ordering::Relaxed) {
        for (path, found) in PROBES.iter().zip(&mut found) {
            let path = if *path == "score" { work::path(&agent(0)) } else { (*path).to_owned() };
            let start = Instant::now();
            fetch(address, &get(&path, key), 200).with_context(|| path.clone())?;
            found.push(start.elapsed().as_secs_f64() * 1000.0);
            thread::sleep(PROBE_EVERY);
        }
    }
    let p99 = |found: &mut Vec<f64>| {
        found.sort_by(f64::total_cmp);
        found.get(found.len().saturating_sub(1) * 99 / 100).copied().unwrap_or(f64::NAN)
    };
    Ok(found.iter_mut().map(p99).collect())
}
