//! What a store keeps: any bytes, read as a record and as the state of a session.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_telemetry::derived::traces;
use renown_telemetry::kept::{decode, encode};
use renown_telemetry::ledger::Session;

fuzz_target!(|input: &[u8]| {
    if let Some(kept) = decode("s", None, input) {
        let bytes = encode(&kept.origin, kept.facts.iter().cloned());
        assert_eq!(decode("s", None, &bytes).as_ref(), Some(&kept));
        traces("s", kept.origin.signal, [kept]);
    }
    if let Some(session) = Session::from_bytes("s", input) {
        let bytes = session.to_bytes();
        assert_eq!(Session::from_bytes("s", &bytes).map(|again| again.to_bytes()), Some(bytes));
        assert!(serde_json::to_string(&session.report()).is_ok());
    }
});
