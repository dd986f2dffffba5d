//! Reputation events of identities over 90 days.

use std::collections::BTreeMap;

use renown_core::identity::{Category, Event, Reference, ScoreDelta, identity_of};
use renown_core::ids::{AgentId, OrgId};
use renown_core::units::Unit;
use renown_store::NewReputationEvent;
use uuid::Uuid;

use crate::calendar::{Calendar, DAY_MS, time};
use crate::plan::PlanError;
use crate::random::Random;

/// Maximum age of the events in days. Older events would not count.
const DAYS: u64 = 90;

/// Number of last days in which an agent may do better or worse than before.
const LATELY_DAYS: u64 = 14;

/// An agent, the days since its first event, its number of events, and the percentage of good ones: before, and in
/// the last days.
const KNOWN: [(&str, u64, u64, u64, u64); 11] = [
    ("dsp-bidder-prod", DAYS, 120, 97, 98),
    ("invoice-reader", DAYS, 105, 92, 94),
    ("docs-writer", DAYS, 52, 90, 92),
    ("code-reviewer", DAYS, 54, 88, 92),
    ("release-notes", DAYS, 26, 86, 84),
    ("translator-fr", 12, 18, 82, 82),
    ("support-triage", DAYS, 66, 82, 70),
    ("sql-analyst", DAYS, 24, 80, 78),
    ("refund-agent", DAYS, 63, 74, 45),
    ("acme/platform/nightly-dependency-upgrader", DAYS, 16, 66, 50),
    ("web-scraper", DAYS, 46, 56, 54),
];

/// A kind of event: its category, its type if it is good and if it is bad, and what it refers to.
type Kind = (Category, &'static str, &'static str, Reference);

const KINDS: [(u64, Kind); 3] = [
    (70, (Category::TaskQuality, "task_completed", "task_failed", Reference::Session)),
    (20, (Category::Economic, "payment_completed", "settlement_delayed", Reference::Transaction)),
    (10, (Category::IdentityHygiene, "key_rotated", "session_expired", Reference::Attestation)),
];

/// Plans all events of an organization. They are not sorted.
pub(crate) fn events(
    calendar: Calendar,
    org: &OrgId,
    random: &mut Random,
) -> Result<Vec<(i64, NewReputationEvent)>, PlanError> {
    let mut events = Vec::new();
    for (agent, days, count, good_before, good_lately) in KNOWN {
        let agent: AgentId = agent.parse()?;
        let mut random = random.fork();
        for _ in 0..count {
            let ms = random.between(1, days * DAY_MS.unsigned_abs() - 1);
            let is_lately = ms < LATELY_DAYS * DAY_MS.unsigned_abs();
            let is_good = random.chance(10 * if is_lately { good_lately } else { good_before });
            let at_ms = calendar.now_ms() - i64::try_from(ms).unwrap_or_default();
            events.push((at_ms, event(org, &agent, at_ms, is_good, &mut random)?));
        }
    }
    Ok(events)
}

fn event(
    org: &OrgId,
    agent: &AgentId,
    at_ms: i64,
    is_good: bool,
    random: &mut Random,
) -> Result<NewReputationEvent, PlanError> {
    let Some((category, good, bad, reference_type)) = random.weighted_of(&KINDS) else {
        return Err(PlanError::new("no kind of reputation event"));
    };
    let size = i64::try_from(random.between(400_000, 1_000_000)).unwrap_or_default();
    let delta = if is_good { size } else { -size };
    let reference_id = format!("{}-{:08x}", reference_type.name(), random.draw() >> 32);
    let event = Event {
        event_id: Uuid::from_u128(random.wide()),
        timestamp: time(at_ms),
        identity_id: None,
        agent_id: Some(agent.clone()),
        category,
        event_type: if is_good { good } else { bad }.parse()?,
        score_delta: ScoreDelta::from_millionths(delta).unwrap_or(ScoreDelta::ZERO),
        confidence: Unit::ONE,
        reference_type,
        reference_id: Some(reference_id),
        attributes: BTreeMap::new(),
    };
    Ok(NewReputationEvent { identity: identity_of(org, agent), agent: Some(agent.clone()), event })
}
