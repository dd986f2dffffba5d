//! What the contract does not name is neither used nor kept.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::dice::Dice;
use crate::json::{Spelling, lines};
use crate::model::{Record, Sent, Shape, Value, Wanted, records};
use crate::{batch_of, bodies, config, ledger_of, prices, same, told};
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::{Cut, Ledger};

const SECRET: &str = "SeCrEt-5f1d";

/// Attributes that agents send and nobody here asks for, and some whose names are near to those of the contract.
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

/// The same records with attributes of other names put in anywhere.
fn with_others(list: &[Record], dice: &mut Dice) -> Vec<Record> {
    let mut list = list.to_vec();
    for record in &mut list {
        for attributes in [&mut record.resource, &mut record.attributes] {
            for _ in 0..dice.roll(4) {
                let secret = || format!("{SECRET} \"{}\\", "x".repeat(9));
                let value = match dice.roll(6) {
                    0 => Sent::List(vec![secret()]),
                    1 => Sent::Int(-5),
                    2 => Sent::Double(f64::NAN),
                    _ => Sent::Text(secret()),
                };
                let at = dice.roll(attributes.len() + 1);
                attributes.insert(at, (dice.pick(&OTHERS).to_owned(), Value::Sent(value)));
            }
        }
        // Prose in a body is no name, and these three are looked at but not kept.
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
    fn other_attributes_are_neither_used_nor_kept(seeds in vec(any::<u64>(), 0..60), seed in any::<u64>()) {
        let dice = &mut Dice(seed);
        let list = records(&seeds, Wanted::Anything);
        let plain = told(&ledger_of(&lines(&list, Spelling::Usual, dice)));
        let more = with_others(&list, dice);
        for spelling in [Spelling::Usual, Spelling::Any] {
            let lines = lines(&more, spelling, dice);
            let (batch, ledger) = (batch_of(&lines), ledger_of(&lines));
            same(&plain, &told(&ledger), "other attributes")?;
            for output in [format!("{batch:?}"), format!("{ledger:?}"), format!("{:?}", told(&ledger))] {
                prop_assert!(!output.contains(SECRET), "{}", output);
            }
        }
        let mut batch = Batch::default();
        for (signal, body) in bodies(&more, dice) {
            renown_telemetry::protobuf::read(&body, signal, &prices(), &mut batch).unwrap();
        }
        let mut ledger = Ledger::new(Cut::default());
        ledger.fold(&batch).unwrap();
        same(&plain, &told(&ledger), "other attributes")?;
        let output = format!("{batch:?} {ledger:?}");
        prop_assert!(!output.contains(SECRET), "{}", output);
    }
}
