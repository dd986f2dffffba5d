//! Bodies of requests in protobuf: the input, read as logs and as spans.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_fuzz::{is_bounded, is_stored_exactly, prices, reports, twice};
use renown_telemetry::facts::{Batch, Signal};
use renown_telemetry::protobuf::read;

fuzz_target!(|input: &[u8]| {
    let prices = prices();
    let mut both = Batch::default();
    for signal in [Signal::Logs, Signal::Spans] {
        let before = (both.len(), both.rejected.len(), both.account);
        if let Err(error) = read(input, signal, &prices, &mut both) {
            assert_eq!((both.len(), both.rejected.len(), both.account), before, "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    is_bounded(&both, 2 * input.len());
    is_stored_exactly(&both);
    reports(&both);
    twice(&both);
});
