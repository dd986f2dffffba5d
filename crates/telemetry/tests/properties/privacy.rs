//! Attributes that are not in the list are neither used nor stored.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::json::{Spelling, lines};
use crate::model::{Encoded, Record, Requirement, Shape, Value, records};
use crate::{batch_of, bodies, config, ledger_of, prices, results, same};
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::{Ledger, TimeRange};
use renown_testing::Rng;

const SECRET: &str = "SeCrEt-5f1d";

/// Attributes that agents send and Renown does not read, and names that are similar to names that it reads.
const OTHERS: [&str; 20] = [
    "prompt",
    "user.email",
    "user.account_uuid",
    "organization.id",
    "tool_parameters",
    "tool_input",
    "tool_output",
    "arguments",
    "function_args",
    "gen_ai.prompt",
    "gen_ai.input.messages",
    "gen_ai.usage.total_tokens",
    "success ",
    "Success",
    "session.ie",
    "session_id",
    "sessionid",
    "cost_usd_",
    "input_token",
    "",
];

/// Returns the same records with other attributes inserted at random positions.
fn with_others(list: &[Record], rng: &mut Rng) -> Vec<Record> {
    let mut list = list.to_vec();
    for record in &mut list {
        for attributes in [&mut record.resource, &mut record.attributes] {
            for _ in 0..rng.below(4) {
                let secret = || format!("{SECRET} \"{}\\", "x".repeat(9));
                let value = match rng.below(6) {
                    0 => Encoded::List(vec![secret()]),
                    1 => Encoded::Int(-5),
                    2 => Encoded::Double(f64::NAN),
                    _ => Encoded::Text(secret()),
                };
                let at = rng.below(attributes.len() + 1);
                attributes.insert(at, (rng.pick(&OTHERS).to_owned(), Value::Encoded(value)));
            }
        }
        // Prose in a body is not a name. The other two values are read, but not stored.
        if let Shape::Log(log) = &mut record.shape
            && log.body.is_none()
        {
            log.body = Some(Value::Text(format!("{SECRET}: the user wrote")));
        }
        for (_, value) in &mut record.attributes {
            if *value == Value::text("prose of an error") {
                *value = Value::text(SECRET);
            }
            if *value == Value::text("prose, which is not kept") {
                *value = Value::Text(format!("{SECRET} of the user"));
            }
        }
    }
    list
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn other_attributes_are_neither_used_nor_stored(seeds in vec(any::<u64>(), 0..60), seed in any::<u64>()) {
        let rng = &mut Rng::new(seed);
        let list = records(&seeds, Requirement::Anything);
        let plain = results(&ledger_of(&lines(&list, Spelling::Usual, rng)));
        let more = with_others(&list, rng);
        for spelling in [Spelling::Usual, Spelling::Any] {
            let lines = lines(&more, spelling, rng);
            let (batch, ledger) = (batch_of(&lines), ledger_of(&lines));
            same(&plain, &results(&ledger), "other attributes")?;
            for output in [format!("{batch:?}"), format!("{ledger:?}"), format!("{:?}", results(&ledger))] {
                prop_assert!(!output.contains(SECRET), "{}", output);
            }
        }
        let mut batch = Batch::default();
        for (signal, body) in bodies(&more, rng) {
            renown_telemetry::protobuf::read(&body, signal, &prices(), &mut batch).unwrap();
        }
        let mut ledger = Ledger::new(TimeRange::default());
        ledger.fold(&batch).unwrap();
        same(&plain, &results(&ledger), "other attributes")?;
        let output = format!("{batch:?} {ledger:?}");
        prop_assert!(!output.contains(SECRET), "{}", output);
    }
}
