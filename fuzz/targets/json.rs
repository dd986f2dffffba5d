//! Lines of JSON: the input, split at its line breaks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_fuzz::{is_bounded, is_stored_exactly, prices, reports, reports_of, twice};
use renown_telemetry::facts::Batch;
use renown_telemetry::json::{read, read_in_parts};
use renown_telemetry::ledger::{Ledger, TimeRange};

fuzz_target!(|input: &[u8]| {
    let prices = prices();
    let (mut whole, mut part, mut ledger) =
        (Batch::default(), Batch::default(), Ledger::new(TimeRange::default()));
    // The first byte is the number of records per part.
    let records_max = input.first().map_or(1, |byte| usize::from(byte % 5));
    let mut full = |batch: &mut Batch| {
        assert!(ledger.fold(batch).is_ok(), "too many sessions");
        batch.clear();
    };
    for (line, number) in input.split(|byte| *byte == b'\n').zip(1..) {
        let before = (whole.len(), whole.rejected.len(), whole.account);
        let outcome = read(line, number, &prices, &mut whole);
        let in_parts = read_in_parts(line, number, &prices, &mut part, records_max, &mut full);
        assert_eq!(outcome, in_parts);
        if let Err(error) = outcome {
            assert_eq!((whole.len(), whole.rejected.len(), whole.account), before, "{error}");
            assert!(!error.to_string().is_empty());
        } else {
            assert!(
                serde_json::from_slice::<&serde_json::value::RawValue>(line).is_ok() || has_surrogate(line)
            );
        }
    }
    full(&mut part);
    is_bounded(&whole, input.len());
    is_stored_exactly(&whole);
    assert_eq!(reports(&whole), reports_of(&ledger));
    twice(&whole);
});

/// Whether the line may have half of a surrogate pair, which only this reader accepts.
fn has_surrogate(line: &[u8]) -> bool {
    line.windows(3).any(|three| three.eq_ignore_ascii_case(b"\\ud"))
}
