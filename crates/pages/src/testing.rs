//! View models for tests.

use renown_core::decimal::Decimal;
use renown_core::identity::identity_of;
use renown_core::ids::AgentId;
use renown_core::reputation::Lifecycle;
use renown_core::time::{Day, Timestamp};
use renown_view::overview::Totals;
use renown_view::{AgentRow, Overview};

use crate::{Member, Section, Shell};

/// Returns a fixed time.
pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-17T15:30:00Z").unwrap()
}

pub(crate) fn shell() -> Shell<'static> {
    let member = Some(Member { administers: true, csrf: "token" });
    let origin = "http://127.0.0.1:7070";
    Shell { section: Section::Overview, demo: false, member, now: now(), standalone: false, origin }
}

fn totals() -> Totals {
    Totals {
        evaluations: 0,
        passed: 0,
        pass_rate: None,
        avg_latency_ms: None,
        sessions: 0,
        cost_usd: Decimal::from_units(0),
        runs: 0,
    }
}

/// Returns the overview of a day without events.
pub(crate) fn overview() -> Overview {
    Overview {
        day: Day::of(now()),
        agents: 0,
        today: totals(),
        week: totals(),
        days: Vec::new(),
        falls: Vec::new(),
        rises: Vec::new(),
        failing_gates: Vec::new(),
        ranking: Vec::new(),
    }
}

/// Returns an agent that has only evaluations.
pub(crate) fn row(agent: &str, score: u32, lifecycle: Lifecycle) -> AgentRow {
    let agent_id: AgentId = agent.parse().unwrap();
    let eval_count = match lifecycle {
        Lifecycle::New => 0,
        Lifecycle::Calibrating => 12,
        Lifecycle::Active => 217,
        Lifecycle::Mature => 500,
    };
    AgentRow {
        identity_id: identity_of(&"default".parse().unwrap(), &agent_id),
        agent_id,
        first_seen: now(),
        last_seen: now(),
        eval_count,
        score,
        lifecycle,
        pass_rate: (eval_count > 0).then(|| Decimal::from_units(916_667)),
        avg_latency_ms: (eval_count > 0).then(|| Decimal::from_units(1_640)),
        streak: 3,
        latest_session: None,
        tier: None,
        identity_reputation: None,
        days: None,
    }
}
