//! Lines of JSON: the input, cut at its line breaks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_fuzz::{is_bounded, is_kept, prices, reports, reports_of, twice};
use renown_telemetry::facts::Batch;
use renown_telemetry::json::{read, read_in_parts};
use renown_telemetry::ledger::{Cut, Ledger};

fuzz_target!(|input: &[u8]| {
    let prices = prices();
    let (mut whole, mut part, mut ledger) = (Batch::default(), Batch::default(), Ledger::new(Cut::default()));
    // The first byte says how many records a part has.
    let records_max = input.first().map_or(1, |byte| usize::from(byte % 5));
    let mut full = |batch: &mut Batch| {
        assert!(ledger.fold(batch).is_ok(), "too many sessions");
        batch.clear();
    };
    for (line, number) in input.split(|byte| *byte == b'\n').zip(1..) {
        let before = (whole.len(), whole.refused.len(), whole.account);
        let outcome = read(line, number, &prices, &mut whole);
        let in_parts = read_in_parts(line, number, &prices, &mut part, records_max, &mut full);
        assert_eq!(outcome, in_parts);
        if let Err(error) = outcome {
            assert_eq!((whole.len(), whole.refused.len(), whole.account), before, "{error}");
            assert!(!error.to_string().is_empty());
        } else {
            assert!(
                serde_json::from_slice::<&serde_json::value::RawValue>(line).is_ok() || has_surrogate(line)
            );
        }
    }
    full(&mut part);
    is_bounded(&whole, input.len());
    is_kept(&whole);
    assert_eq!(reports(&whole), reports_of(&ledger));
    twice(&whole);
});

/// The one thing that another reader refuses: half of a surrogate pair.
fn has_surrogate(line: &[u8]) -> bool {
    line.windows(3).any(|three| three.eq_ignore_ascii_case(b"\\ud"))
}
