//! What holds after any input: asserted by every target.

mod chance;

use renown_core::units::NanoUsd;
use renown_telemetry::facts::{Batch, Fact};
use renown_telemetry::kept::{Kept, decode, encode};
use renown_telemetry::ledger::{Cut, Ledger, Session};
use renown_telemetry::limits::{
    AGENT_ID_CHARS_MAX, ERROR_TYPE_BYTES_MAX, FACT_TEXT_CHARS_MAX, MASQUE_CHARS_MAX, SESSION_ID_BYTES_MAX,
};
use renown_telemetry::prices::{Price, Prices};

/// A table in which every model has a price, so that pricing is reached too.
pub fn prices() -> Prices {
    let usd = |micro: u128| NanoUsd::from_nano(micro * 1000);
    let price = Price {
        input: usd(1_250_000),
        output: usd(10_000_000),
        cache_read: usd(125_000),
        cache_creation: usd(1),
    };
    Prices::new([("*".to_owned(), price)])
}

/// How many bytes of text one record may make: its session, agent id and masque, and two tools with one kind of error.
/// A character has up to four bytes.
const TEXT_PER_RECORD: usize = SESSION_ID_BYTES_MAX
    + 4 * (AGENT_ID_CHARS_MAX + MASQUE_CHARS_MAX + 2 * FACT_TEXT_CHARS_MAX)
    + ERROR_TYPE_BYTES_MAX;

/// A batch is not larger than its input allows: a record takes two bytes at least, and its texts have limits.
pub fn is_bounded(batch: &Batch, input_bytes: usize) {
    assert!(batch.len() <= input_bytes, "{} records of {input_bytes} bytes", batch.len());
    for (origin, facts) in batch.records() {
        let mut bytes = origin.session.len() + origin.agent_id.value.len();
        bytes += origin.masque.map_or(0, |masque| masque.value.len());
        bytes += facts.map(|fact| text_bytes(&fact)).sum::<usize>();
        assert!(bytes <= TEXT_PER_RECORD, "{bytes} bytes of text in one record");
    }
}

/// A store gives every record back as it was, and a session in bytes goes on as if it had not stopped.
pub fn is_kept(batch: &Batch) {
    for (origin, facts) in batch.records() {
        let facts: Vec<_> = facts.collect();
        let bytes = encode(&origin, facts.iter().cloned());
        let mut session = Session::new(origin.session);
        session.take(&origin, &facts, |_| true);
        let state = session.to_bytes();
        let again = Session::from_bytes(origin.session, &state).map(|again| again.to_bytes());
        assert_eq!(again, Some(state));
        assert_eq!(decode(origin.session, origin.repeat, &bytes), Some(Kept { origin, facts }));
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

/// Folds a batch and says what its sessions are; every score is one, and nothing is counted that was not read.
pub fn reports(batch: &Batch) -> Vec<String> {
    let mut ledger = Ledger::new(Cut::default());
    assert!(ledger.fold(batch).is_ok(), "too many sessions");
    reports_of(&ledger)
}

/// The same of a ledger.
pub fn reports_of(ledger: &Ledger) -> Vec<String> {
    let account = ledger.account();
    let left_out = account.no_session + account.bad_values + account.duplicates + account.unknown_events;
    assert!(left_out <= account.records && account.sessions <= account.records, "{account:?}");
    let report = |session: &&Session| {
        assert_eq!(session.report().is_some(), session.has_evidence());
        let Some(report) = session.report() else { return String::new() };
        let performance = &report.performance.0;
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

/// Feeds a batch twice: what is recognised the second time is a duplicate, and the ledger stays sound.
pub fn twice(batch: &Batch) {
    let mut ledger = Ledger::new(Cut::default());
    for _ in 0..2 {
        assert!(ledger.fold(batch).is_ok(), "too many sessions");
    }
    let named = batch.records().filter(|(origin, _)| origin.repeat.is_some()).count() as u64;
    assert!(ledger.account().duplicates >= named, "{named} records can be recognised");
    reports_of(&ledger);
}
