//! Assertions that must hold after any input. The targets share them.

mod chance;

use renown_core::units::NanoUsd;
use renown_telemetry::facts::{Batch, Fact};
use renown_telemetry::ledger::{Ledger, Session, TimeRange};
use renown_telemetry::limits::{
    AGENT_ID_CHARS_MAX, ERROR_TYPE_BYTES_MAX, FACT_TEXT_CHARS_MAX, MASQUE_CHARS_MAX, SESSION_ID_BYTES_MAX,
};
use renown_telemetry::prices::{Price, Prices};
use renown_telemetry::stored::{StoredRecord, decode, encode};

/// Returns a table with a price for every model, so that pricing is fuzzed, too.
pub fn prices() -> Prices {
    let usd = |micro: u128| NanoUsd::from_nano(micro * 1000);
    let price = Price {
        input: usd(1_250_000),
        output: usd(10_000_000),
        cache_read: usd(125_000),
        cache_creation: usd(1),
        cache_creation_1h: usd(2),
    };
    Prices::new([("*".to_owned(), price)])
}

/// Maximum bytes of text of one record: its session, agent id and masque, and two tools with one kind of error. A
/// character has up to four bytes.
const TEXT_PER_RECORD: usize = SESSION_ID_BYTES_MAX
    + 4 * (AGENT_ID_CHARS_MAX + MASQUE_CHARS_MAX + 2 * FACT_TEXT_CHARS_MAX)
    + ERROR_TYPE_BYTES_MAX;

/// Asserts that a batch is not larger than its input allows: a record takes at least two bytes, and its texts have
/// limits.
pub fn is_bounded(batch: &Batch, input_bytes: usize) {
    assert!(batch.len() <= input_bytes, "{} records of {input_bytes} bytes", batch.len());
    for (origin, facts) in batch.records() {
        let mut bytes = origin.session.len() + origin.agent_id.value.len();
        bytes += origin.masque.map_or(0, |masque| masque.value.len());
        bytes += facts.map(|fact| text_bytes(&fact)).sum::<usize>();
        assert!(bytes <= TEXT_PER_RECORD, "{bytes} bytes of text in one record");
    }
}

/// Asserts that records and session snapshots are the same after encoding and decoding.
pub fn is_stored_exactly(batch: &Batch) {
    for (origin, facts) in batch.records() {
        let facts: Vec<_> = facts.collect();
        let bytes = encode(&origin, facts.iter().cloned());
        let mut session = Session::new(origin.session);
        session.add_record(&origin, &facts, |_| true);
        let state = session.to_bytes();
        let decoded = Session::from_bytes(origin.session, &state).map(|session| session.to_bytes());
        assert_eq!(decoded, Some(state));
        assert_eq!(decode(origin.session, origin.repeat, &bytes), Some(StoredRecord { origin, facts }));
    }
}

fn text_bytes(fact: &Fact<&str>) -> usize {
    let length = |text: &Option<&str>| text.map_or(0, str::len);
    match fact {
        Fact::ToolResult { tool, error_type, .. } => length(tool) + length(error_type),
        Fact::ApiRequest(request) => length(&request.model),
        Fact::ApiError { error_type, .. } => length(error_type),
        Fact::ToolDecision { tool, .. } => length(tool),
        Fact::Prompt { .. } | Fact::Feedback { .. } | Fact::Compaction { .. } | Fact::Refusal => 0,
    }
}

/// Folds a batch and returns the reports of its sessions. Asserts that scores are in range and that no part is
/// greater than its whole.
pub fn reports(batch: &Batch) -> Vec<String> {
    let mut ledger = Ledger::new(TimeRange::default());
    assert!(ledger.fold(batch).is_ok(), "too many sessions");
    reports_of(&ledger)
}

/// Returns the reports of a ledger's sessions, with the same assertions.
pub fn reports_of(ledger: &Ledger) -> Vec<String> {
    let account = ledger.account();
    let left_out = account.no_session + account.bad_values + account.duplicates + account.unknown_events;
    assert!(left_out <= account.records && account.sessions <= account.records, "{account:?}");
    let report = |session: &&Session| {
        assert_eq!(session.report().is_some(), session.has_evidence());
        let Some(report) = session.report() else { return String::new() };
        let performance = &report.performance;
        let (d, stats) = (&performance.dimensions, &performance.stats);
        for score in [
            d.quality,
            d.autonomy,
            d.productivity,
            d.token_efficiency,
            d.cost_efficiency,
            performance.composite,
        ] {
            assert!((0..=100).contains(&score.units()), "{score}");
        }
        assert!(stats.tools_ok <= stats.total_tools && stats.cache_tokens <= stats.total_tokens);
        assert!(report.signals.rejects_by_user <= report.signals.rejects);
        assert!(report.started_at <= report.ended_at);
        assert!(ledger.find(session.id()).is_some());
        serde_json::to_string(&report).expect("a report is JSON")
    };
    ledger.sessions().iter().map(report).collect()
}

/// Folds a batch twice. Asserts that every record with an identity is a duplicate the second time, and that the
/// results are still in range.
pub fn twice(batch: &Batch) {
    let mut ledger = Ledger::new(TimeRange::default());
    for _ in 0..2 {
        assert!(ledger.fold(batch).is_ok(), "too many sessions");
    }
    let named = batch.records().filter(|(origin, _)| origin.repeat.is_some()).count() as u64;
    assert!(ledger.account().duplicates >= named, "{named} records have an identity");
    reports_of(&ledger);
}
