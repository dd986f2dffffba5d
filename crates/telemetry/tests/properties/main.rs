//! Properties of all telemetry: encoding, spelling, order and batches do not change the result, repeats count once, a
//! bad line has no effect, and attributes that are not in the list are neither used nor stored.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unreachable,
    clippy::cast_possible_truncation,
    reason = "a broken generator has to fail loudly"
)]

mod corpus;
mod events;
mod json;
mod model;
mod privacy;
mod protobuf;
mod reference;
mod traces;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use renown_core::units::NanoUsd;
use renown_telemetry::account::Account;
use renown_telemetry::facts::{Batch, Signal};
use renown_telemetry::json as reader;
use renown_telemetry::ledger::{Ledger, Session, TimeRange};
use renown_telemetry::prices::{Price, Prices};
use renown_telemetry::protobuf as bodies_reader;
use renown_testing::Rng;

use crate::json::{Spelling, line, lines};
use crate::model::{Record, Requirement, records};
use crate::protobuf::bodies;

/// Configures a fixed seed, so that a failure is caused by a change and not by chance.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates records of all dialects. Some are sent twice, unchanged.
fn any_records(requirement: Requirement) -> impl Strategy<Value = Vec<Record>> {
    (vec(any::<u64>(), 1..60), vec(any::<prop::sample::Index>(), 0..6)).prop_map(move |(seeds, repeats)| {
        let mut list = records(&seeds, requirement);
        for index in repeats {
            let (from, to) = (index.index(list.len()), index.index(list.len() + 1));
            list.insert(to, list[from].clone());
        }
        list
    })
}

/// Returns a price table with one of the models.
fn prices() -> Prices {
    let usd = |text: &str| text.parse::<NanoUsd>().unwrap();
    let (input, output) = (usd("1.25"), usd("10"));
    Prices::new([(
        "gpt-5*".to_owned(),
        Price {
            input,
            output,
            cache_read: usd("0.125"),
            cache_creation: input,
            cache_creation_1h: Price::of_long_writes(input),
        },
    )])
}

/// The results of a ledger: every session's report as JSON, and the account without the number of lines.
#[derive(Debug, PartialEq, Eq)]
struct Results {
    reports: Vec<String>,
    account: Account,
}

fn results(ledger: &Ledger) -> Results {
    let report = |session: &&Session| serde_json::to_string(&session.report()).unwrap();
    let reports = ledger.sessions().iter().map(report).collect();
    Results { reports, account: Account { lines: 0, ..ledger.account() } }
}

/// Checks that two ledgers have the same results. Reports the first difference.
fn same(left: &Results, right: &Results, why: &str) -> Result<(), TestCaseError> {
    for (left, right) in left.reports.iter().zip(&right.reports) {
        prop_assert_eq!(left, right, "{}", why);
    }
    prop_assert_eq!(left.account, right.account, "{}", why);
    prop_assert_eq!(left.reports.len(), right.reports.len(), "{}", why);
    Ok(())
}

fn batch_of(lines: &[String]) -> Batch {
    let mut batch = Batch::default();
    for line in lines {
        reader::read(line.as_bytes(), 1, &prices(), &mut batch).unwrap();
    }
    batch
}

fn ledger_of(lines: &[String]) -> Ledger {
    let mut ledger = Ledger::new(TimeRange::default());
    ledger.fold(&batch_of(lines)).unwrap();
    ledger
}

/// Returns the records and facts of a batch, and its account.
fn contents(batch: &Batch) -> (Vec<String>, Account) {
    let record = |(origin, facts): (_, Vec<_>)| format!("{origin:?} {facts:?}");
    let records = batch.records().map(|(origin, facts)| record((origin, facts.collect()))).collect();
    (records, batch.account)
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn spelling_encoding_order_and_batches_change_nothing(
        list in any_records(Requirement::Anything), seed in any::<u64>()
    ) {
        let rng = &mut Rng::new(seed);
        let usual = results(&ledger_of(&lines(&list, Spelling::Usual, rng)));
        prop_assert_eq!(usual.account.records, list.len() as u64);
        same(&usual, &results(&ledger_of(&lines(&list, Spelling::Any, rng))), "spelling")?;

        let mut batch = Batch::default();
        for (signal, body) in bodies(&list, rng) {
            bodies_reader::read(&body, signal, &prices(), &mut batch).unwrap();
        }
        let mut ledger = Ledger::new(TimeRange::default());
        ledger.fold(&batch).unwrap();
        same(&usual, &results(&ledger), "protobuf")?;

        let mut shuffled = list.clone();
        rng.shuffle(&mut shuffled);
        let mut ledger = Ledger::new(TimeRange::default());
        let shuffled = lines(&shuffled, Spelling::Any, rng);
        for part in rng.parts(&shuffled) {
            ledger.fold(&batch_of(&part)).unwrap();
        }
        same(&usual, &results(&ledger), "order and batches")?;
    }

    #[test]
    fn repeated_records_count_once(list in any_records(Requirement::Distinct), seed in any::<u64>()) {
        let rng = &mut Rng::new(seed);
        let first = batch_of(&lines(&list, Spelling::Usual, rng));
        let mut ledger = Ledger::new(TimeRange::default());
        ledger.fold(&first).unwrap();
        let Results { reports, account: once } = results(&ledger);
        // The same records again, in another order and as protobuf: every record of a session is a duplicate now.
        let mut again = list.clone();
        rng.shuffle(&mut again);
        let mut second = Batch::default();
        for (signal, body) in bodies(&again, rng) {
            bodies_reader::read(&body, signal, &prices(), &mut second).unwrap();
        }
        ledger.fold(&second).unwrap();
        let Results { reports: reports_again, account: twice } = results(&ledger);
        prop_assert_eq!(reports, reports_again);
        prop_assert_eq!(twice.duplicates, once.duplicates + first.len() as u64);
        let unread = first.account;
        let expected = Account {
            duplicates: twice.duplicates,
            records: 2 * once.records,
            no_session: 2 * once.no_session,
            bad_values: 2 * once.bad_values,
            shadowed: once.shadowed + unread.shadowed,
            ..once
        };
        prop_assert_eq!(twice, expected);
    }

    #[test]
    fn reading_in_parts_of_any_size_equals_reading_at_once(list in any_records(Requirement::Anything), seed in any::<u64>()) {
        let rng = &mut Rng::new(seed);
        let line = line(&list, Spelling::Any, rng);
        let whole = batch_of(std::slice::from_ref(&line));
        for records_max in [0, 1, 2, 7, list.len().max(1), list.len() + 1] {
            let (mut ledger, mut batch) = (Ledger::new(TimeRange::default()), Batch::default());
            let (mut parts, mut longest) = (Vec::new(), 0);
            let mut full = |batch: &mut Batch| {
                longest = longest.max(batch.len());
                parts.extend(contents(batch).0);
                ledger.fold(batch).unwrap();
                batch.clear();
            };
            reader::read_in_parts(line.as_bytes(), 1, &prices(), &mut batch, records_max, &mut full).unwrap();
            full(&mut batch);
            prop_assert_eq!(parts, contents(&whole).0);
            prop_assert!(longest <= records_max.max(1));
            same(&results(&ledger), &results(&ledger_of(std::slice::from_ref(&line))), "parts")?;
            for (signal, body) in bodies(&list, rng) {
                let (mut whole, mut batch) = (Batch::default(), Batch::default());
                let mut parts = Vec::new();
                let mut full = |batch: &mut Batch| {
                    parts.extend(contents(batch).0);
                    batch.clear();
                };
                bodies_reader::read(&body, signal, &prices(), &mut whole).unwrap();
                bodies_reader::read_in_parts(&body, signal, &prices(), &mut batch, records_max, &mut full).unwrap();
                full(&mut batch);
                prop_assert_eq!(parts, contents(&whole).0);
            }
        }
    }
}

proptest! {
    // Each case reads a line at every possible length, which is slow.
    #![proptest_config(config(24))]

    #[test]
    fn a_truncated_line_does_not_change_the_batch(
        seeds in vec(any::<u64>(), 3..7), spelling in prop::sample::select(vec![Spelling::Usual, Spelling::Any])
    ) {
        let rng = &mut Rng::new(seeds[0]);
        let list = records(&seeds, Requirement::Anything);
        let (before, cut, after) = (&list[..1], &list[1..3.min(list.len())], &list[2..]);
        let [before, cut, after] = [before, cut, after].map(|records| line(records, spelling, rng));
        let without = batch_of(&[before.clone(), after.clone()]);
        let mut batch = batch_of(&[before]);
        let (records, length) = (contents(&batch), batch.len());
        for end in 0..cut.len() {
            let outcome = reader::read(&cut.as_bytes()[..end], 2, &prices(), &mut batch);
            prop_assert!(outcome.is_err_and(reader::LineError::is_incomplete), "cut at {end} of {cut}");
            prop_assert_eq!(batch.len(), length);
            prop_assert!(reader::read_in_parts(
                &cut.as_bytes()[..end], 2, &prices(), &mut batch, 1, &mut |_| unreachable!("nothing is read")
            ).is_err());
        }
        prop_assert_eq!(contents(&batch), records);
        reader::read(after.as_bytes(), 3, &prices(), &mut batch).unwrap();
        prop_assert_eq!(contents(&batch), contents(&without));
        prop_assert_eq!(&batch.rejected.len(), &without.rejected.len());
        reader::read(cut.as_bytes(), 2, &prices(), &mut batch).unwrap();
    }

    #[test]
    fn a_truncated_body_does_not_change_the_batch_or_is_a_valid_request(seeds in vec(any::<u64>(), 1..4)) {
        let rng = &mut Rng::new(seeds[0]);
        for (signal, body) in bodies(&records(&seeds, Requirement::Anything), rng) {
            let mut batch = Batch::default();
            for end in 0..=body.len() {
                let before = (contents(&batch), batch.rejected.len());
                let outcome = bodies_reader::read(&body[..end], signal, &prices(), &mut batch);
                if outcome.is_ok() {
                    // A request is a list of resources, so it may end after any of them.
                    prop_assert!(is_request(&body[..end], signal));
                } else {
                    prop_assert_eq!((contents(&batch), batch.rejected.len()), before);
                }
            }
        }
    }
}

/// Whether the official decoder accepts the body.
fn is_request(body: &[u8], signal: Signal) -> bool {
    use opentelemetry_proto::tonic::collector::{logs, trace};
    use prost::Message;
    match signal {
        Signal::Logs => logs::v1::ExportLogsServiceRequest::decode(body).is_ok(),
        Signal::Transcript => unreachable!("OTLP has no transcripts"),
        Signal::Spans => trace::v1::ExportTraceServiceRequest::decode(body).is_ok(),
    }
}
