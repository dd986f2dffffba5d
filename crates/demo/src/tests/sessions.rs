//! The sessions of the month: every dialect, every recommendation, and one open session.

use std::collections::{BTreeMap, BTreeSet};

use renown_core::performance::Recommendation;
use renown_core::units::Unit;
use renown_store::{Reads, SessionQuery, StoredSession};
use renown_telemetry::ledger::Session;
use renown_testing::wait;

use super::{ANY_END, Demo, ENDS, org};

/// Returns all sessions, the latest start first.
fn sessions(demo: &Demo) -> Vec<StoredSession> {
    let query = SessionQuery { limit: 1000, ..SessionQuery::default() };
    wait(demo.store.sessions(&org(), query)).unwrap().sessions
}

fn recommendation(session: &StoredSession) -> Recommendation {
    session.ledger.as_ref().and_then(Session::report).unwrap().performance.recommendation
}

#[test]
fn the_month_has_every_dialect_and_every_recommendation() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let sessions = sessions(&demo);
        assert_eq!(sessions.len(), demo.filled.sessions);
        let mut dialects: BTreeMap<String, usize> = BTreeMap::new();
        let (mut errors, mut rejects) = (0, 0);
        for session in &sessions {
            let report = session.ledger.as_ref().and_then(Session::report).unwrap();
            assert!(report.coverage.missing.is_empty(), "{end}: {report:?}");
            assert_eq!(report.agent_id, session.agent.as_str());
            *dialects.entry(format!("{:?}", report.agent)).or_default() += 1;
            errors += report.signals.api_errors;
            rejects += report.signals.rejects_by_user;
        }
        let names: Vec<&str> = dialects.keys().map(String::as_str).collect();
        assert_eq!(names, ["ClaudeCode", "Codex", "Copilot", "GeminiCli", "OpenCode", "QwenCode"], "{end}");
        assert!(dialects.values().all(|count| *count >= 5), "{end}: {dialects:?}");
        assert!(errors > 0 && rejects > 0, "{end}: {errors} errors, {rejects} rejected");
        for expected in [Recommendation::Keep, Recommendation::Review, Recommendation::Doff] {
            assert!(
                sessions.iter().any(|session| recommendation(session) == expected),
                "{end}: {expected:?}"
            );
        }
    }
}

#[test]
fn the_latest_sessions_have_the_planned_recommendations() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let sessions = sessions(&demo);
        for (agent, expected) in [
            ("docs-writer", Recommendation::Keep),
            ("support-triage", Recommendation::Review),
            ("acme/platform/nightly-dependency-upgrader", Recommendation::Doff),
        ] {
            let latest = sessions.iter().find(|session| session.agent.as_str() == agent).unwrap();
            assert_eq!(recommendation(latest), expected, "{end}: {agent}");
        }
        let stuck = sessions.iter().find(|session| session.agent.as_str() == "support-triage").unwrap();
        let whole = wait(demo.store.session(&org(), &stuck.id, true)).unwrap().unwrap();
        let worst = whole.traces.iter().filter_map(|trace| trace.trace.signals.loop_detection);
        assert!(worst.map(Unit::get).fold(1.0, f64::min) < 0.3, "{end}: {:?}", whole.traces);
        let sent = whole.traces.iter().filter(|trace| trace.trace.signals.confidence.is_some()).count();
        assert!(
            sent + 1 == whole.traces.len(),
            "{end}: exactly one turn has no confidence, {:?}",
            whole.traces
        );
    }
}

#[test]
fn only_one_session_is_still_open() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let (closed, open): (Vec<_>, Vec<_>) =
            sessions(&demo).into_iter().partition(|session| session.closed_at.is_some());
        let [open] = &open[..] else { panic!("{end}: {open:?}") };
        let ended = open.ledger.as_ref().and_then(Session::report).unwrap().ended_at.unwrap();
        let ago_ms = demo.now.millis() - ended.millis();
        assert!((110_000..=130_000).contains(&ago_ms), "{end}: {ago_ms} ms ago");
        assert_eq!(closed.len(), demo.filled.closed, "{end}");
        // The sessions were closed at different times, not all at once.
        let times: BTreeSet<_> = closed.iter().filter_map(|session| session.closed_at).collect();
        assert!(times.len() > 50, "{end}: {}", times.len());
    }
}

#[test]
fn coding_agents_have_several_sessions_a_week() {
    let demo = Demo::ending(ANY_END);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions(&demo) {
        *counts.entry(session.agent.to_string()).or_default() += 1;
    }
    assert_eq!(counts.len(), 8, "{counts:?}");
    assert!(counts.values().all(|count| *count >= 8), "{counts:?}");
}
