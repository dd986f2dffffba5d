//! Stored bytes: the input, decoded as a record and as the snapshot of a session.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renown_telemetry::derived::traces;
use renown_telemetry::ledger::Session;
use renown_telemetry::stored::{decode, encode};

fuzz_target!(|input: &[u8]| {
    if let Some(record) = decode("s", None, input) {
        let bytes = encode(&record.origin, record.facts.iter().cloned());
        assert_eq!(decode("s", None, &bytes).as_ref(), Some(&record));
        traces("s", record.origin.signal, [record]);
    }
    if let Some(session) = Session::from_bytes("s", input) {
        let bytes = session.to_bytes();
        assert_eq!(Session::from_bytes("s", &bytes).map(|again| again.to_bytes()), Some(bytes));
        assert!(serde_json::to_string(&session.report()).is_ok());
    }
});
