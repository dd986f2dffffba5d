//! Properties that hold for all evidence, not only for the vectors.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken generator must fail loudly")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use renown_core::decimal::Decimal;
use renown_core::identity::{Category, ScoreDelta, Windows};
use renown_core::performance::SessionTotals;
use renown_core::reputation::{Sample, WINDOW_SIZE, Window};
use renown_core::scorecard::{Baseline, Report, Resources, RunOutcome, Stages, Tier};
use renown_core::session_metrics::{
    DEFAULT_THRESHOLD, SessionTraces, SignalWeights, Signals, Trace, Weight, consistency, reliability,
};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, NanoUsd, Unit, Whole};

/// Runs the same cases every time, so that a failure is caused by the change and not by chance.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn evaluation() -> impl Strategy<Value = Sample> {
    // Mostly small latencies, so that the latency points are neither always 0 nor always 250.
    let latency = prop_oneof![0..200_000_u32, 0..=60_000_000_u32];
    (any::<bool>(), latency).prop_map(|(passed, us)| Sample { passed, latency: Micros::from_us(us).unwrap() })
}

/// Computes the documented formula over the last 500 evaluations from scratch, with another common denominator.
fn score_from_scratch(evaluations: &[Sample]) -> u128 {
    let window = &evaluations[evaluations.len().saturating_sub(500)..];
    if window.is_empty() {
        return 0;
    }
    let n = window.len() as u128;
    let passed = window.iter().filter(|evaluation| evaluation.passed).count() as u128;
    let streak = window.iter().rev().take_while(|evaluation| evaluation.passed).count() as u128;
    let latency_us: u128 = window.iter().map(|evaluation| u128::from(evaluation.latency.us())).sum();
    // pass_rate×400 + max(0, 1 − avg_ms/100)×250 + min(streak, 50)/50×200 + min(n, 500)/500×150, times 50·500·100
    // 000·n.
    let common = 50 * 500 * 100_000 * n;
    let latency = (100_000 * n).saturating_sub(latency_us) * 50 * 500 * 250;
    let sum = passed * 400 * (common / n)
        + latency
        + streak.min(50) * 200 * (common / 50)
        + n * 150 * (common / 500);
    sum / common
}

fn tally_of(evaluations: &[Sample]) -> renown_core::reputation::Tally {
    evaluations.iter().copied().collect::<Window>().tally()
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn a_window_equals_recomputation_from_scratch(evaluations in vec(evaluation(), 1..=2000)) {
        let mut window = Window::default();
        for (index, &evaluation) in evaluations.iter().enumerate() {
            window.push(evaluation);
            let seen = &evaluations[..=index];
            // Every step around the edges of the window, and a sample of the others.
            if index < 60 || index.abs_diff(WINDOW_SIZE) < 3 || index % 97 == 0 || index + 1 == evaluations.len() {
                prop_assert_eq!(u128::from(window.tally().breakdown().score()), score_from_scratch(seen));
            }
        }
    }

    #[test]
    fn the_split_into_batches_does_not_matter(
        evaluations in vec(evaluation(), 0..=1200), cuts in vec(0..1200_usize, 0..8)
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(evaluations.len())).collect();
        cuts.extend([0, evaluations.len()]);
        cuts.sort_unstable();
        let mut window = Window::default();
        for pair in cuts.windows(2) {
            window.extend(evaluations[pair[0]..pair[1]].iter().copied());
        }
        prop_assert_eq!(window.tally(), tally_of(&evaluations));
    }

    #[test]
    fn a_reputation_is_in_range_and_only_the_last_500_count(evaluations in vec(evaluation(), 0..=1200)) {
        let tally = tally_of(&evaluations);
        prop_assert!(tally.breakdown().score() <= 1000);
        prop_assert!(tally.evaluations() <= WINDOW_SIZE as u64 && tally.passed() <= tally.evaluations());
        prop_assert!(tally.streak() <= tally.passed());
        let latest = &evaluations[evaluations.len().saturating_sub(WINDOW_SIZE)..];
        prop_assert_eq!(tally, tally_of(latest));
    }

    #[test]
    fn a_pass_never_lowers_the_passes_and_never_scores_below_a_failure(
        evaluations in vec(evaluation(), 0..=600), us in 0..200_000_u32
    ) {
        let before = tally_of(&evaluations);
        let after = |passed| {
            let latency = Micros::from_us(us).unwrap();
            tally_of(&[evaluations.as_slice(), &[Sample { passed, latency }]].concat())
        };
        prop_assert!(after(true).passed() >= before.passed());
        prop_assert_eq!(after(true).passed(), after(false).passed() + 1);
        prop_assert!(after(true).breakdown().score() >= after(false).breakdown().score());
    }

    #[test]
    fn an_explained_reputation_adds_up_to_its_score(evaluations in vec(evaluation(), 0..=700)) {
        let window: Window = evaluations.iter().copied().collect();
        let points: i128 = window.explain().components.iter().map(|part| part.points.units()).sum();
        // Each of the four parts is rounded to millionths, so their sum may be two millionths off.
        let score = i128::from(window.tally().breakdown().score()) * 1_000_000;
        prop_assert!(evaluations.is_empty() || (score - 2..score + 1_000_002).contains(&points), "{points} for {score}");
    }
}

fn totals() -> impl Strategy<Value = SessionTotals> {
    let count = || prop_oneof![0..50_u64, 0..1_000_000_u64, any::<u64>()];
    let cost = prop_oneof![0..2_000_000_000_u128, 0..1_000_000_000_000_000_000_000_000_u128];
    (any::<u64>(), count(), count(), any::<u64>(), cost, count(), any::<u64>()).prop_map(
        |(duration_ns, prompts, total_tools, ok, cost, total_tokens, cached)| SessionTotals {
            duration_ns: duration_ns % 10_000_000_000_000,
            prompts,
            total_tools,
            tools_ok: if total_tools == 0 { 0 } else { ok % total_tools },
            total_cost: NanoUsd::from_nano(cost),
            total_tokens,
            cache_tokens: if total_tokens == 0 { 0 } else { cached % total_tokens },
        },
    )
}

fn tenths_of(totals: &SessionTotals) -> [i128; 6] {
    let found = totals.performance();
    let d = found.dimensions;
    [d.quality, d.autonomy, d.productivity, d.token_efficiency, d.cost_efficiency, found.composite]
        .map(Decimal::units)
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn performance_is_in_range(totals in totals()) {
        prop_assert!(tenths_of(&totals).iter().all(|tenths| (0..=100).contains(tenths)));
    }

    #[test]
    fn one_more_success_never_lowers_quality_or_productivity(totals in totals()) {
        prop_assume!(totals.tools_ok < totals.total_tools);
        let better = SessionTotals { tools_ok: totals.tools_ok + 1, ..totals };
        let (before, after) = (tenths_of(&totals), tenths_of(&better));
        prop_assert!(after[0] >= before[0] && after[2] >= before[2] && after[4] >= before[4]);
    }
}

fn run() -> impl Strategy<Value = (Report, Baseline)> {
    let whole = |number: u64| Whole::new(number).unwrap();
    let some = move || prop::option::of(prop_oneof![0..100_u64, 0..=i64::MAX.unsigned_abs()].prop_map(whole));
    let outcome = select(vec![RunOutcome::Completed, RunOutcome::Blocked, RunOutcome::Failed]);
    let stages = prop::option::of(vec((any::<bool>(), 1..3_u64), 0..30));
    let report = (outcome, stages, some(), (some(), some(), some(), some(), some()));
    (report, vec((0..100_000_u64).prop_map(whole), 0..40)).prop_map(|(report, baseline)| {
        let (outcome, stages, wall_ms, resources) = report;
        let stages = stages.map(|stages| {
            let mut counted = Stages::default();
            for (passed, attempts) in stages {
                counted.add(passed, attempts);
            }
            counted
        });
        let (memory_peak_bytes, memory_limit_bytes, cpu_periods, cpu_throttled_periods, cpu_throttled_ms) =
            resources;
        let resources = Resources {
            memory_peak_bytes,
            memory_limit_bytes,
            cpu_periods,
            cpu_throttled_periods,
            cpu_throttled_ms,
        };
        (Report { outcome, stages, wall_ms, resources }, Baseline::new(&baseline))
    })
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn a_scorecard_is_in_range_and_in_its_tier((report, baseline) in run()) {
        let card = report.breakdown(baseline).scorecard(Vec::new());
        let axes = [card.axes.completion, card.axes.error_rate, card.axes.latency, card.axes.resource_efficiency];
        prop_assert!(card.score <= 100 && axes.iter().all(|&axis| axis <= 100));
        prop_assert_eq!(card.tier, Tier::of(card.score));
    }

    #[test]
    fn a_better_outcome_never_scores_lower((report, baseline) in run()) {
        let score = |outcome| Report { outcome, ..report }.breakdown(baseline).score();
        prop_assert!(score(RunOutcome::Completed) >= score(RunOutcome::Blocked));
        prop_assert!(score(RunOutcome::Blocked) >= score(RunOutcome::Failed));
    }

    #[test]
    fn a_faster_run_never_scores_lower((report, baseline) in run(), a in 0..400_000_u64, b in 0..400_000_u64) {
        let resources = Resources { cpu_throttled_ms: None, ..report.resources };
        let score = |ms| Report { wall_ms: Whole::new(ms), resources, ..report }.breakdown(baseline).score();
        prop_assert!(score(a.min(b)) >= score(a.max(b)));
    }

    #[test]
    fn an_explained_scorecard_adds_up_to_its_score((report, baseline) in run()) {
        let breakdown = report.breakdown(baseline);
        let points: i128 = breakdown.explain().components.iter().map(|part| part.points.units()).sum();
        let score = i128::from(breakdown.score()) * 1_000_000;
        prop_assert!((score - 500_000..=score + 500_000).contains(&points), "{points} for {score}");
    }
}

fn session() -> impl Strategy<Value = SessionTraces> {
    let signal = || prop::option::of((0.0..=1.0).prop_map(|signal| Unit::new(signal).unwrap()));
    vec((signal(), signal(), signal(), signal()), 0..60).prop_map(|traces| {
        let trace = |(index, (confidence, loop_detection, tool_correctness, coherence))| Trace {
            trace_id: format!("t{index}").parse().unwrap(),
            signals: Signals { confidence, loop_detection, tool_correctness, coherence },
            source: None,
        };
        SessionTraces::new(traces.into_iter().enumerate().map(trace).collect()).unwrap()
    })
}

fn weights() -> impl Strategy<Value = SignalWeights> {
    let weight = || (0.0..=10.0).prop_map(|weight| Weight::new(weight).unwrap());
    (weight(), weight(), weight(), weight()).prop_map(
        |(confidence, loop_detection, tool_correctness, coherence)| SignalWeights {
            confidence,
            loop_detection,
            tool_correctness,
            coherence,
        },
    )
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn session_metrics_are_in_range_and_their_parts_add_up(session in session(), weights in weights()) {
        let (a, b) = (reliability(&session, &weights, DEFAULT_THRESHOLD), consistency(&session, &weights, DEFAULT_THRESHOLD));
        for (score, explanation) in [(a.score, a.explain()), (b.score, b.explain())] {
            prop_assert!((0..=10_000).contains(&score.units()));
            let points: i128 = explanation.components.iter().map(|part| part.points.units()).sum();
            // The score is rounded to four places, and each part to six.
            prop_assert!((points - score.units() * 100).abs() <= 52, "{points} for {score}");
        }
    }

    #[test]
    fn reliability_does_not_depend_on_the_order_of_traces(session in session(), weights in weights()) {
        let reversed = SessionTraces::new(session.traces().iter().rev().cloned().collect()).unwrap();
        let score = |session: &SessionTraces| reliability(session, &weights, DEFAULT_THRESHOLD).score;
        prop_assert_eq!(score(&session), score(&reversed));
    }

    #[test]
    fn a_perfect_trace_never_lowers_a_metric(session in session(), weights in weights()) {
        let one = Some(Unit::ONE);
        let signals = Signals { confidence: one, loop_detection: one, tool_correctness: one, coherence: one };
        let mut more = session.traces().to_vec();
        more.push(Trace { trace_id: "perfect".parse().unwrap(), signals, source: None });
        let more = SessionTraces::new(more).unwrap();
        let scores = |session: &SessionTraces| [
            reliability(session, &weights, DEFAULT_THRESHOLD).score,
            consistency(session, &weights, DEFAULT_THRESHOLD).score,
        ];
        prop_assert!(scores(&more)[0] >= scores(&session)[0] && scores(&more)[1] >= scores(&session)[1]);
    }

    #[test]
    fn rounding_to_four_places_equals_printing(number in prop_oneof![0.0..400.0_f64, 0.0..1.0, 0.0..0.001]) {
        let rounded = Decimal::<4>::nearest(number);
        prop_assert_eq!(rounded.to_string(), format!("{number:.4}"));
        prop_assert_eq!(Decimal::<4>::nearest(-number).units(), -rounded.units());
    }

    #[test]
    fn ties_of_four_places_go_to_even(sixteenths in 0..1_000_000_u32) {
        // Multiples of 1/16 have at most four decimals, those of 1/32 end in a five at the fifth.
        let number = f64::from(2 * sixteenths + 1) / 32.0;
        let units = Decimal::<4>::nearest(number).units();
        prop_assert_eq!(units % 2, 0);
        prop_assert_eq!((units * 10 - i128::from(2 * sixteenths + 1) * 3125).abs(), 5);
    }
}

type Happened = (i64, Category, f64);

fn events() -> impl Strategy<Value = Vec<Happened>> {
    let category = select(vec![Category::TaskQuality, Category::Economic, Category::IdentityHygiene]);
    let hours_before =
        prop_oneof![-48..3600_i64, select(vec![0, 7 * 24, 30 * 24, 90 * 24, 97 * 24, 120 * 24])];
    vec((hours_before, category, -2.0..2.0), 0..120)
}

const HOUR_NS: i64 = 3_600_000_000_000;

fn as_of() -> Timestamp {
    Timestamp::parse("2026-11-15T12:00:00Z").unwrap()
}

fn windows_of<'a>(events: impl IntoIterator<Item = &'a Happened>, as_of: Timestamp) -> Windows {
    let mut windows = Windows::default();
    for &(hours, category, delta) in events {
        let at = Timestamp::from_nanos(self::as_of().nanos() - hours * HOUR_NS).unwrap();
        windows.add(as_of, at, category, ScoreDelta::new(delta).unwrap());
    }
    windows
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn an_identity_does_not_depend_on_the_order_of_its_events(events in events().prop_shuffle()) {
        let mut sorted = events.clone();
        sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
        prop_assert_eq!(windows_of(&events, as_of()), windows_of(&sorted, as_of()));
    }

    #[test]
    fn as_of_equals_filtering_first(events in events(), back_hours in 0..2400_i64) {
        let then = Timestamp::from_nanos(as_of().nanos() - back_hours * HOUR_NS).unwrap();
        let known_then: Vec<Happened> = events.iter().copied().filter(|event| event.0 >= back_hours).collect();
        prop_assert_eq!(windows_of(&events, then).breakdown().standing(then), windows_of(&known_then, then).breakdown().standing(then));
        let counted = known_then.iter().filter(|event| event.0 - back_hours < 90 * 24).count() as u64;
        prop_assert_eq!(windows_of(&events, then).breakdown().standing(then).total_events, counted);
    }

    #[test]
    fn earlier_scores_equal_the_scores_computed_then(events in events()) {
        let now = windows_of(&events, as_of()).breakdown().standing(as_of());
        for (days, earlier) in [(7, now.score_7d_ago), (30, now.score_30d_ago)] {
            let then = Timestamp::from_nanos(as_of().nanos() - days * 24 * HOUR_NS).unwrap();
            prop_assert_eq!(windows_of(&events, then).breakdown().standing(then).overall_score, earlier);
        }
    }

    #[test]
    fn an_identity_is_within_its_events(events in events()) {
        let found = windows_of(&events, as_of()).breakdown().standing(as_of());
        prop_assert!(found.overall_score.units().abs() <= 2_000_000);
        prop_assert!(found.positive_events + found.negative_events <= found.total_events);
        prop_assert!((0..=1_000_000).contains(&found.confidence.units()));
    }
}
