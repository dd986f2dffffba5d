//! Measures the cost of one step of each rule. `cargo xtask bench core` runs this and compares it with the targets.
//!
//! Baselines in the same run: a window that is scored by rescanning it, and rounding by printing.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken benchmark must fail loudly")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use renown_core::decimal::Decimal;
use renown_core::gates::{Choice, Context, Engine, GateSettings, Place};
use renown_core::identity::{Category, ScoreDelta, Windows};
use renown_core::kind::ScoreKind;
use renown_core::performance::SessionTotals;
use renown_core::reputation::{Sample, WINDOW_SIZE, Window};
use renown_core::scorecard::{Baseline, Report, Resources, RunOutcome, Stages};
use renown_core::session_metrics::{
    DEFAULT_THRESHOLD, SessionTraces, SignalWeights, Signals, Trace, consistency, reliability,
};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, NanoUsd, Unit, Whole};
use serde_json::value::{RawValue, to_raw_value};

/// Returns evaluations that no branch predictor can learn, from a linear congruential generator.
fn evaluations(count: usize) -> Vec<Sample> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 40).unwrap()
    };
    (0..count)
        .map(|_| Sample {
            passed: !next().is_multiple_of(8),
            latency: Micros::from_us(next() % 200_000).unwrap(),
        })
        .collect()
}

fn reputation(criterion: &mut Criterion) {
    let stream = evaluations(4096);
    let full: Window = stream.iter().copied().take(WINDOW_SIZE).collect();
    let mut group = criterion.benchmark_group("reputation");
    let mut window = full.clone();
    let mut evaluations = stream.iter().cycle().copied();
    group.bench_function("update_and_score", |bencher| {
        bencher.iter(|| {
            window.push(evaluations.next().unwrap());
            window.tally().breakdown().score()
        });
    });
    let mut evaluations = stream.iter().cycle().copied();
    group.bench_function("update", |bencher| bencher.iter(|| window.push(evaluations.next().unwrap())));
    group.bench_function("score", |bencher| bencher.iter(|| black_box(window.tally()).breakdown().score()));
    // The baseline: the same window, rescanned after each evaluation.
    let mut latest: Vec<Sample> = stream.iter().copied().take(WINDOW_SIZE).collect();
    let (mut oldest, mut evaluations) = (0, stream.iter().cycle().copied());
    group.bench_function("rescan_and_score", |bencher| {
        bencher.iter(|| {
            latest[oldest] = evaluations.next().unwrap();
            oldest = (oldest + 1) % WINDOW_SIZE;
            rescan(black_box(&latest), oldest)
        });
    });
    group.finish();
}

/// Computes the documented formula in floats over the whole window.
fn rescan(window: &[Sample], oldest: usize) -> f64 {
    let n = f64::from(u32::try_from(window.len()).unwrap());
    let passed = window.iter().filter(|evaluation| evaluation.passed).count();
    let in_order = window[oldest..].iter().chain(&window[..oldest]);
    let streak = in_order.rev().take_while(|evaluation| evaluation.passed).count().min(50);
    let latency_us: u64 = window.iter().map(|evaluation| u64::from(evaluation.latency.us())).sum();
    let share = |count: usize, of: f64| f64::from(u32::try_from(count).unwrap()) / of;
    let average_ms = f64::from(u32::try_from(latency_us / 1000).unwrap()) / n;
    let sum = share(passed, n) * 400.0
        + (1.0 - average_ms / 100.0).max(0.0) * 250.0
        + share(streak, 50.0) * 200.0
        + share(window.len(), 500.0) * 150.0;
    sum.floor()
}

fn traces(count: usize) -> SessionTraces {
    let signals = evaluations(count);
    let unit = |us: u32| Some(Unit::new(f64::from(us) / 200_000.0).unwrap());
    let trace = |(index, evaluation): (usize, &Sample)| Trace {
        trace_id: format!("trace-{index:04}").parse().unwrap(),
        signals: Signals {
            confidence: unit(evaluation.latency.us()),
            loop_detection: unit(evaluation.latency.us() / 2),
            tool_correctness: unit(evaluation.latency.us() / 3),
            coherence: unit(200_000 - evaluation.latency.us()),
        },
        source: None,
    };
    SessionTraces::new(signals.iter().enumerate().map(trace).collect()).unwrap()
}

fn session(criterion: &mut Criterion) {
    let (hundred, weights) = (traces(100), SignalWeights::default());
    let mut group = criterion.benchmark_group("session");
    group.bench_function("both_metrics_of_100_traces", |bencher| {
        bencher.iter(|| {
            let session = black_box(&hundred);
            (
                reliability(session, &weights, DEFAULT_THRESHOLD),
                consistency(session, &weights, DEFAULT_THRESHOLD),
            )
        });
    });
    group
        .bench_function("round4", |bencher| bencher.iter(|| Decimal::<4>::nearest(black_box(0.123_456_789))));
    // The baseline: rounding by printing, which defines the rule.
    group.bench_function("round4_by_printing", |bencher| {
        bencher.iter(|| format!("{:.4}", black_box(0.123_456_789)).parse::<f64>().unwrap());
    });
    group.finish();
}

fn others(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rules");
    let mut stages = Stages::default();
    (0..7).for_each(|stage| stages.add(true, 1 + stage / 5));
    let report = Report {
        outcome: RunOutcome::Completed,
        stages: Some(stages),
        wall_ms: Whole::new(61_000),
        resources: Resources {
            memory_peak_bytes: Whole::new(134_217_728),
            memory_limit_bytes: Whole::new(536_870_912),
            cpu_periods: Whole::new(600),
            cpu_throttled_periods: Whole::new(12),
            cpu_throttled_ms: None,
        },
    };
    let wall_ms: Vec<Whole> = (0..20).filter_map(|run| Whole::new(40_000 + run * 7919 % 30_000)).collect();
    group.bench_function("scorecard", |bencher| {
        bencher
            .iter(|| black_box(report).breakdown(Baseline::new(black_box(&wall_ms))).scorecard(Vec::new()));
    });
    let totals = SessionTotals {
        duration_ns: 2_700_000_000_000,
        prompts: 12,
        total_tools: 87,
        tools_ok: 80,
        total_cost: NanoUsd::from_nano(340_000_000),
        total_tokens: 142_000,
        cache_tokens: 98_000,
    };
    group.bench_function("performance", |bencher| bencher.iter(|| black_box(&totals).performance()));
    let as_of = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
    let mut windows = Windows::default();
    for (day, category) in [Category::TaskQuality, Category::Economic, Category::IdentityHygiene]
        .iter()
        .cycle()
        .take(900)
        .enumerate()
    {
        let nanos = as_of.nanos() - i64::try_from(day).unwrap() * 8_640_000_000_000;
        windows.add(
            as_of,
            Timestamp::from_nanos(nanos).unwrap(),
            *category,
            ScoreDelta::new(0.123_456).unwrap(),
        );
    }
    group.bench_function("identity", |bencher| {
        bencher.iter(|| black_box(windows).breakdown().standing(as_of));
    });
    group.finish();
}

/// Measures parsing and scoring a whole JSON input, as `renown score` does for each line.
fn inputs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("inputs");
    let run = br#"{"outcome":"completed","stages":[{"name":"lint","passed":true,"attempts":1}],"wall_ms":61000,"baseline_wall_ms":[58000,64000]}"#;
    group.bench_function("run", |bencher| bencher.iter(|| ScoreKind::Run.score(black_box(run)).unwrap()));
    let one = r#"{"passed":true,"latency_ms":12.5}"#;
    let reputation = format!(r#"{{"evaluations":[{}]}}"#, [one; WINDOW_SIZE].join(","));
    group.bench_function("reputation_of_500", |bencher| {
        bencher.iter_batched(
            || reputation.as_bytes(),
            |text| ScoreKind::Reputation.score(black_box(text)).unwrap(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// Returns prose and code as agents write it, without a finding, as one JSON string of this many bytes.
fn clean(bytes: usize) -> Box<RawValue> {
    let text = "Fixed the retry loop in src/client.rs: it now waits 250 ms, then 500 ms, and gives up after 5 tries.\n\
                The test `retries_are_bounded` covers both sides, and the 42 others still pass (1.8 s in all).\n\
                fn wait(tries: u32) -> Duration {\n    Duration::from_millis(250 << tries.min(4))\n}\n";
    to_raw_value(&text.chars().cycle().take(bytes).collect::<String>()).unwrap()
}

/// Measures the default set of gates on ordinary text and on text that is designed to be slow.
#[expect(clippy::disallowed_types, reason = "the benchmark provides the clock")]
fn gates(criterion: &mut Criterion) {
    let settings = GateSettings::default();
    let engine = Engine::new(&settings, &Choice::of(Place::Evaluate), &mut |_| Err(String::new())).unwrap();
    let start = std::time::Instant::now();
    let clock = || start.elapsed();
    let mut group = criterion.benchmark_group("gates");
    let mut bench = |name: &str, output: &RawValue| {
        group.throughput(Throughput::Bytes(output.get().len() as u64));
        let verdict = engine.evaluate(&Context::of(output), &clock);
        assert!(verdict.passed, "{name}: {verdict:?}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| engine.evaluate(&Context::of(black_box(output)), &clock));
        });
    };
    bench("clean_1_kb", &clean(1024));
    bench("clean_4_kb", &clean(4096));
    bench("clean_1_mb", &clean(1 << 20));
    let fields: Vec<_> = (0..40).map(|field| format!("field {field} of a reply")).collect();
    bench("object_1_kb", &to_raw_value(&fields).unwrap());
    for (name, unit) in [
        ("digits", "7"),
        ("groups", "4111 1112 "),
        ("dots", "a.b..c"),
        ("ats", "a@b."),
        ("letters", "x"),
        ("slashes", "/e/"),
        ("refusals", "I don't have "),
        ("escapes", "x\n"),
        ("percents", "%25"),
    ] {
        let text: String = unit.chars().cycle().take(1 << 16).collect();
        bench(&format!("adversarial_{name}_64_kb"), &to_raw_value(&text).unwrap());
    }
    group.finish();
}

criterion_group!(benches, reputation, session, others, inputs, gates);
criterion_main!(benches);
