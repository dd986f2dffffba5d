//! The bridge: turns a finished session into an event about its agent's identity.
//!
//! ```text
//! score_delta = (composite − 5) / 5        confidence = min(1, total_tools / 20)
//! event_id    = UUIDv5(identity, "session:" + session)
//! ```
//!
//! There is one such event per session. It is derived, not sent: scoring the session again replaces it.

use uuid::Uuid;

use super::{Category, Event, Reference, ScoreDelta};
use crate::ids::{EventType, IdentityId, SessionId};
use crate::performance::Performance;
use crate::time::Timestamp;
use crate::units::Unit;

/// The neutral composite, in tenths.
const NEUTRAL_TENTHS: i64 = 50;

/// Millionths per tenth of the composite: a tenth moves the score by 1/50.
const MILLIONTHS_PER_TENTH: i64 = 20_000;

/// Number of tool calls that gives full confidence.
const FULL_CONFIDENCE_TOOLS: u32 = 20;

/// Returns the id of the event for a session.
pub fn bridge_id(identity: IdentityId, session: &SessionId) -> Uuid {
    Uuid::new_v5(&identity.as_uuid(), format!("session:{session}").as_bytes())
}

/// Returns the event for a session that ended at `ended_at`.
pub fn bridge(
    identity: IdentityId,
    session: &SessionId,
    performance: &Performance,
    ended_at: Timestamp,
) -> Event {
    let tenths = i64::try_from(performance.composite.units()).unwrap_or(NEUTRAL_TENTHS);
    let millionths = (tenths - NEUTRAL_TENTHS) * MILLIONTHS_PER_TENTH;
    Event {
        event_id: bridge_id(identity, session),
        timestamp: ended_at,
        identity_id: Some(identity),
        agent_id: None,
        category: Category::TaskQuality,
        event_type: EventType::session_scored(),
        score_delta: ScoreDelta::from_millionths(millionths).unwrap_or(ScoreDelta::ZERO),
        confidence: confidence(performance.stats.total_tools),
        reference_type: Reference::Session,
        reference_id: Some(session.to_string()),
        attributes: std::collections::BTreeMap::new(),
    }
}

#[expect(clippy::float_arithmetic, reason = "a confidence is a float")]
fn confidence(tools: u64) -> Unit {
    let tools = u32::try_from(tools).unwrap_or(u32::MAX).min(FULL_CONFIDENCE_TOOLS);
    Unit::new(f64::from(tools) / f64::from(FULL_CONFIDENCE_TOOLS)).unwrap_or(Unit::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::SessionTotals;
    use crate::units::NanoUsd;

    #[test]
    fn a_session_moves_its_identity_by_its_distance_from_neutral() {
        let identity: IdentityId = Uuid::from_u128(7).into();
        let session: SessionId = "s-1".parse().unwrap();
        let at = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        // Successful tools, tools, prompts; expected composite, delta in millionths, confidence.
        for (ok, tools, prompts, composite, delta, confidence) in [
            (0, 0, 1, "1.0", -800_000, 0.0),
            (1, 1, 1, "6.5", 300_000, 0.05),
            (20, 20, 4, "8.5", 700_000, 1.0),
            (50, 50, 10, "8.5", 700_000, 1.0),
        ] {
            let totals = SessionTotals {
                duration_ns: 0,
                prompts,
                total_tools: tools,
                tools_ok: ok,
                total_cost: NanoUsd::from_nano(0),
                total_tokens: 0,
                cache_tokens: 0,
            };
            let performance = totals.performance();
            assert_eq!(performance.composite.to_string(), composite);
            let event = bridge(identity, &session, &performance, at);
            assert_eq!((event.score_delta.millionths(), event.confidence.get()), (delta, confidence));
            assert_eq!((event.timestamp, event.event_type.as_str()), (at, "session_scored"));
            assert_eq!(event.reference_id.as_deref(), Some("s-1"));
            // Python: uuid.uuid5(uuid.UUID(int=7), "session:s-1")
            assert_eq!(event.event_id.to_string(), EXPECTED_ID);
        }
    }

    const EXPECTED_ID: &str = "3de7b5d7-5adb-580a-a3b3-014d87445e34";
}
