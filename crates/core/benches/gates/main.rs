//! Measures the cost of the gates on one core. `cargo xtask bench gates` runs this.
//!
//! | part | measures | target |
//! |---|---|---|
//! | one output | an evaluation of an ordinary output of 3 to 4 KB, p50 and p99 of the fastest round | p99 < 100 µs |
//! | throughput | 1 MiB without a finding, the best round: clean prose and code, and outputs of real commands | ≥ 100 MB/s on clean text |
//! | linearity | texts that are designed to be slow, at 64 KiB, 256 KiB and 1 MiB: the largest cost per byte divided by that of the smallest size | ≤ 2× |
//! | peer | the patterns of `pii` and `secrets` as one `RegexSet`, compared with both gates | reported as a ratio |
//!
//! Texts are measured as JSON, as they arrive: parsing is part of the cost. The clock of the engine does not advance,
//! so that no budget ends a slow text early.

#![expect(
    clippy::indexing_slicing,
    clippy::unchecked_time_subtraction,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, and fails loudly"
)]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the benchmark provides the clock")]

mod hard;

use core::time::Duration;
use std::hint::black_box;
use std::time::Instant;

use regex::bytes::{RegexSet, RegexSetBuilder};
use renown_core::gates::{Choice, Context, Engine, GateSettings, Place};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use hard::HARD;

const P99_US_MAX: f64 = 100.0;
const MB_PER_SECOND_MIN: f64 = 100.0;
const GROWTH_MAX: f64 = 2.0;

const MIB: usize = 1 << 20;
const SIZES: [usize; 3] = [1 << 16, 1 << 18, MIB];

/// Number of rounds. The best one counts.
const ROUNDS: usize = 15;
/// Number of rounds of single outputs. The fastest one counts.
const OUTPUT_ROUNDS: usize = 300;
/// Number of measurements of each slow text at each size.
const HARD_ROUNDS: usize = 2;

/// The sets and single gates that are measured.
const DEFAULT: &str = "default set";
const PROXY: &str = "proxy set";

fn main() {
    let ordinary = ordinary();
    one_output(&ordinary);
    throughput(&ordinary);
    linearity();
}

/// Returns the engines by name: both sets, and each gate of the proxy set alone.
fn engines() -> Vec<(&'static str, Engine)> {
    let engine = |settings: Value, choice: &Choice<'_>| {
        let settings: GateSettings = serde_json::from_value(settings).unwrap();
        Engine::new(&settings, choice, &mut |_| Err(String::new())).unwrap()
    };
    let mut engines = vec![
        (DEFAULT, engine(json!({}), &Choice::of(Place::Evaluate))),
        (PROXY, engine(json!({}), &Choice::of(Place::Proxy))),
    ];
    for gate in ["filesystem", "pii", "content", "secrets", "injection"] {
        let gates = [gate.to_owned()];
        let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Evaluate) };
        engines.push((gate, engine(json!({}), &choice)));
    }
    let gates = ["filesystem".to_owned()];
    let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Proxy) };
    let roots = json!({"gate": {"filesystem": {"roots": ["/srv/repo"]}}});
    engines.push(("filesystem, balanced, roots", engine(roots, &choice)));
    engines
}

/// Returns outputs of real commands.
fn ordinary() -> Vec<String> {
    let outputs = include_str!("../../tests/gates/ordinary/outputs.jsonl").lines();
    let outputs = outputs.map(|line| serde_json::from_str::<Value>(line).unwrap());
    outputs.map(|output| output["output"].as_str().unwrap().to_owned()).collect()
}

fn evaluate(engine: &Engine, output: &RawValue) -> Duration {
    let start = Instant::now();
    black_box(engine.evaluate(&Context::of(black_box(output)), &|| Duration::ZERO));
    start.elapsed()
}

/// Returns the time that this program spent on a core. Long runs on a busy machine are interrupted, and the time of
/// other programs must not count. Returns the elapsed time if the system does not report this.
fn on_core(started: Instant) -> Duration {
    // Yielding the core updates the figure.
    std::thread::yield_now();
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let ns = schedstat.and_then(|schedstat| schedstat.split(' ').next()?.parse().ok());
    ns.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

/// Returns the cost per byte in seconds, averaged over 1 MiB in texts of this size.
fn cost(engine: &Engine, text: &RawValue, started: Instant) -> f64 {
    let times = (MIB / text.get().len()).max(1);
    let before = on_core(started);
    (0..times).for_each(|_| {
        evaluate(engine, text);
    });
    (on_core(started) - before).as_secs_f64() / (times * text.get().len()) as f64
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

fn one_output(ordinary: &[String]) {
    let large = ordinary.iter().filter(|output| (3000..=4096).contains(&output.len()));
    let outputs: Vec<Box<RawValue>> = large.map(|output| to_raw_value(output).unwrap()).collect();
    println!("\n{:<28} {:>10} {:>10}   one output of 3 to 4 KB, {} of them", "", "p50", "p99", outputs.len());
    for (name, engine) in engines() {
        let mut best: Option<(Duration, Duration)> = None;
        for _ in 0..OUTPUT_ROUNDS {
            // A round is short, so that some rounds run without another program on the core.
            let mut times: Vec<Duration> = outputs.iter().map(|output| evaluate(&engine, output)).collect();
            times.sort();
            let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
            let round = (at(99), at(50));
            best = Some(best.map_or(round, |best| best.min(round)));
        }
        let (p99, p50) = best.unwrap_or_default();
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let target = if name.ends_with("set") {
            format!("(target p99 < {P99_US_MAX} µs: {})", verdict(us(p99) < P99_US_MAX))
        } else {
            String::new()
        };
        println!("{name:<28} {:>7.1} µs {:>7.1} µs   {target}", us(p50), us(p99));
    }
}

/// Returns prose and code as agents write it, without a finding.
fn clean() -> Box<RawValue> {
    let text = "Fixed the retry loop in src/client.rs: it now waits 250 ms, then 500 ms, and gives up after 5 tries.\n\
                The test `retries_are_bounded` covers both sides, and the 42 others still pass (1.8 s in all).\n\
                fn wait(tries: u32) -> Duration {\n    Duration::from_millis(250 << tries.min(4))\n}\n";
    to_raw_value(&text.chars().cycle().take(MIB).collect::<String>()).unwrap()
}

fn best_of(rounds: usize, mut measure: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| measure()).min().unwrap_or_default()
}

fn mb_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e6
}

fn throughput(ordinary: &[String]) {
    let clean = clean();
    let real: String = ordinary.concat().chars().take(MIB).collect();
    let real = to_raw_value(&real).unwrap();
    println!("\n{:<28} {:>10} {:>10}   MB/s", "", "clean", "commands");
    let mut both = [Duration::ZERO; 2];
    for (name, engine) in engines() {
        let verdict_of_clean = engine.evaluate(&Context::of(&clean), &|| Duration::ZERO);
        assert!(verdict_of_clean.passed, "{verdict_of_clean:?}");
        let times = [&clean, &real].map(|text| best_of(ROUNDS, || evaluate(&engine, text)));
        if ["pii", "secrets"].contains(&name) {
            both.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        }
        let [fast, slow] =
            [mb_per_second(clean.get().len(), times[0]), mb_per_second(real.get().len(), times[1])];
        let target = format!("(target ≥ {MB_PER_SECOND_MIN}: {})", verdict(fast >= MB_PER_SECOND_MIN));
        println!("{name:<28} {fast:>10.0} {slow:>10.0}   {target}");
    }
    let set = peer();
    let peers = [&clean, &real].map(|text| {
        best_of(3, || {
            let start = Instant::now();
            let decoded: String = serde_json::from_str(text.get()).unwrap();
            black_box(set.matches(decoded.as_bytes()));
            start.elapsed()
        })
    });
    let [fast, slow] =
        [mb_per_second(clean.get().len(), peers[0]), mb_per_second(real.get().len(), peers[1])];
    let ratio = |at: usize| peers[at].as_secs_f64() / both[at].as_secs_f64();
    println!(
        "{:<28} {fast:>10.0} {slow:>10.0}   pii and secrets are {:.1}× and {:.1}× as fast",
        "one RegexSet of both",
        ratio(0),
        ratio(1)
    );
}

/// Compiles the patterns of `pii` and `secrets` as documented, without the other checks of the gates.
fn peer() -> RegexSet {
    let patterns = include_str!("patterns.txt").lines();
    RegexSetBuilder::new(patterns).unicode(false).size_limit(1 << 28).dfa_size_limit(1 << 28).build().unwrap()
}

fn linearity() {
    let started = Instant::now();
    println!("\n{:<28} {:>10} {:>10}   texts that are made to be slow", "", "slowest", "growth");
    for (name, engine) in engines() {
        let (mut slowest, mut steepest) = ((f64::MAX, ""), (0.0, ""));
        for unit in HARD {
            let costs = SIZES.map(|bytes| {
                let text = to_raw_value(&unit.repeat(bytes / unit.len())).unwrap();
                (0..HARD_ROUNDS).map(|_| cost(&engine, &text, started)).fold(f64::MAX, f64::min)
            });
            let [small, .., large] = costs;
            let growth = costs[1].max(large) / small;
            if growth > steepest.0 {
                steepest = (growth, unit);
            }
            let rate = 1e-6 / large;
            if rate < slowest.0 {
                slowest = (rate, unit);
            }
        }
        println!(
            "{name:<28} {:>5.0} MB/s {:>9.2}×   {:?} is slowest, {:?} grows most (target ≤ {GROWTH_MAX}×: {})",
            slowest.0,
            steepest.0,
            slowest.1,
            steepest.1,
            verdict(steepest.0 <= GROWTH_MAX)
        );
    }
}
