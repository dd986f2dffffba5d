//! Version 5: seals, counts and marks.

/// Seals on every row that is shown, counts of rows, and marks: they distinguish damage from evidence. `clean_at`
/// is when the bytes of an erased agent were cleared from the files, after its rows were deleted (`done_at`).
/// `seal::seal_rows` seals the rows that exist.
pub(in super::super) const FIFTH: &str = "
ALTER TABLE orgs ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE keys ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evaluations ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_run_scores ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE identities ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reputation_events ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_records ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_traces ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replies ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstones ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstones ADD COLUMN clean_at INTEGER;

CREATE TABLE marks (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO marks (name, value) VALUES ('id', random()), ('writes', 0), ('lost.evaluations', 0), ('lost.writes', 0);
INSERT INTO marks (name, value) SELECT 'rows.orgs', count(*) FROM orgs;
INSERT INTO marks (name, value) SELECT 'rows.keys', count(*) FROM keys;
INSERT INTO marks (name, value) SELECT 'rows.agents', count(*) FROM agents;
INSERT INTO marks (name, value) SELECT 'rows.agent_run_scores', count(*) FROM agent_run_scores;
INSERT INTO marks (name, value) SELECT 'rows.identities', count(*) FROM identities;
INSERT INTO marks (name, value) SELECT 'rows.reputation_events', count(*) FROM reputation_events;
INSERT INTO marks (name, value) SELECT 'rows.sessions', count(*) FROM sessions;
INSERT INTO marks (name, value) SELECT 'rows.session_traces', count(*) FROM session_traces;
INSERT INTO marks (name, value) SELECT 'rows.tombstones', count(*) FROM tombstones;

CREATE TRIGGER orgs_inserted AFTER INSERT ON orgs BEGIN
    UPDATE orgs SET seal = renown_seal(
        NEW.org, NEW.name, NEW.created_at, NEW.latency_source, NEW.pruned, NEW.top
    ) WHERE org = NEW.org;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.orgs';
END;
CREATE TRIGGER orgs_updated AFTER UPDATE OF org, name, created_at, latency_source, pruned, top ON orgs BEGIN
    UPDATE orgs SET seal = renown_seal(
        NEW.org, NEW.name, NEW.created_at, NEW.latency_source, NEW.pruned, NEW.top
    ) WHERE org = NEW.org;
END;
CREATE TRIGGER orgs_removed AFTER DELETE ON orgs BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.orgs';
END;

CREATE TRIGGER keys_inserted AFTER INSERT ON keys BEGIN
    UPDATE keys SET seal = renown_seal(
        NEW.id, NEW.org, NEW.kind, NEW.label, NEW.hash, NEW.last_four, NEW.created_at, NEW.last_used_at,
        NEW.revoked_at
    ) WHERE rowid = NEW.rowid;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.keys';
END;
CREATE TRIGGER keys_updated AFTER UPDATE OF id, org, kind, label, hash, last_four, created_at, last_used_at, revoked_at ON keys BEGIN
    UPDATE keys SET seal = renown_seal(
        NEW.id, NEW.org, NEW.kind, NEW.label, NEW.hash, NEW.last_four, NEW.created_at, NEW.last_used_at,
        NEW.revoked_at
    ) WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER keys_removed AFTER DELETE ON keys BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.keys';
END;

CREATE TRIGGER agents_inserted AFTER INSERT ON agents BEGIN
    UPDATE agents SET seal = renown_seal(
        NEW.agent, NEW.org, NEW.name, NEW.first_seen, NEW.public, NEW.slug
    ) WHERE agent = NEW.agent;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.agents';
END;
CREATE TRIGGER agents_updated AFTER UPDATE OF agent, org, name, first_seen, public, slug ON agents BEGIN
    UPDATE agents SET seal = renown_seal(
        NEW.agent, NEW.org, NEW.name, NEW.first_seen, NEW.public, NEW.slug
    ) WHERE agent = NEW.agent;
END;
CREATE TRIGGER agents_removed AFTER DELETE ON agents BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.agents';
END;

CREATE TRIGGER agent_run_scores_inserted AFTER INSERT ON agent_run_scores BEGIN
    UPDATE agent_run_scores SET seal = renown_seal(
        NEW.run, NEW.org, NEW.agent, NEW.run_id, NEW.workspace, NEW.spec_id, NEW.outcome, NEW.stages, NEW.wall_ms,
        NEW.memory_peak_bytes, NEW.memory_limit_bytes, NEW.cpu_periods, NEW.cpu_throttled_periods,
        NEW.cpu_throttled_ms, NEW.started_ns, NEW.finished_ns, NEW.branch, NEW.pull_request, NEW.attributes,
        NEW.warnings, NEW.accepted_at, NEW.digest, NEW.salt, NEW.baseline_runs, NEW.baseline_low_ms,
        NEW.baseline_high_ms, NEW.score, NEW.completion, NEW.error_rate, NEW.latency, NEW.resource_efficiency,
        NEW.defaulted, NEW.formula_version
    ) WHERE run = NEW.run;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.agent_run_scores';
END;
CREATE TRIGGER agent_run_scores_updated AFTER UPDATE OF
    run, org, agent, run_id, workspace, spec_id, outcome, stages, wall_ms, memory_peak_bytes, memory_limit_bytes,
    cpu_periods, cpu_throttled_periods, cpu_throttled_ms, started_ns, finished_ns, branch, pull_request, attributes,
    warnings, accepted_at, digest, salt, baseline_runs, baseline_low_ms, baseline_high_ms, score, completion,
    error_rate, latency, resource_efficiency, defaulted, formula_version
ON agent_run_scores BEGIN
    UPDATE agent_run_scores SET seal = renown_seal(
        NEW.run, NEW.org, NEW.agent, NEW.run_id, NEW.workspace, NEW.spec_id, NEW.outcome, NEW.stages, NEW.wall_ms,
        NEW.memory_peak_bytes, NEW.memory_limit_bytes, NEW.cpu_periods, NEW.cpu_throttled_periods,
        NEW.cpu_throttled_ms, NEW.started_ns, NEW.finished_ns, NEW.branch, NEW.pull_request, NEW.attributes,
        NEW.warnings, NEW.accepted_at, NEW.digest, NEW.salt, NEW.baseline_runs, NEW.baseline_low_ms,
        NEW.baseline_high_ms, NEW.score, NEW.completion, NEW.error_rate, NEW.latency, NEW.resource_efficiency,
        NEW.defaulted, NEW.formula_version
    ) WHERE run = NEW.run;
END;
CREATE TRIGGER agent_run_scores_removed AFTER DELETE ON agent_run_scores BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.agent_run_scores';
END;

CREATE TRIGGER identities_inserted AFTER INSERT ON identities BEGIN
    UPDATE identities SET seal = renown_seal(NEW.identity, NEW.org, NEW.id) WHERE identity = NEW.identity;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.identities';
END;
CREATE TRIGGER identities_updated AFTER UPDATE OF identity, org, id ON identities BEGIN
    UPDATE identities SET seal = renown_seal(NEW.identity, NEW.org, NEW.id) WHERE identity = NEW.identity;
END;
CREATE TRIGGER identities_removed AFTER DELETE ON identities BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.identities';
END;

CREATE TRIGGER reputation_events_inserted AFTER INSERT ON reputation_events BEGIN
    UPDATE reputation_events SET seal = renown_seal(
        NEW.event, NEW.org, NEW.identity, NEW.event_id, NEW.month, NEW.at_ns, NEW.category, NEW.event_type, NEW.delta,
        NEW.confidence, NEW.reference_type, NEW.reference_id, NEW.attributes, NEW.accepted_at, NEW.salt
    ) WHERE event = NEW.event;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.reputation_events';
END;
CREATE TRIGGER reputation_events_updated AFTER UPDATE OF
    event, org, identity, event_id, month, at_ns, category, event_type, delta, confidence, reference_type,
    reference_id, attributes, accepted_at, salt
ON reputation_events BEGIN
    UPDATE reputation_events SET seal = renown_seal(
        NEW.event, NEW.org, NEW.identity, NEW.event_id, NEW.month, NEW.at_ns, NEW.category, NEW.event_type, NEW.delta,
        NEW.confidence, NEW.reference_type, NEW.reference_id, NEW.attributes, NEW.accepted_at, NEW.salt
    ) WHERE event = NEW.event;
END;
CREATE TRIGGER reputation_events_removed AFTER DELETE ON reputation_events BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.reputation_events';
END;

CREATE TRIGGER sessions_inserted AFTER INSERT ON sessions BEGIN
    UPDATE sessions SET seal = renown_seal(
        NEW.session, NEW.org, NEW.session_id, NEW.agent, NEW.signal_agent, NEW.first_seen, NEW.last_seen, NEW.began_ns,
        NEW.last_ns, NEW.check_at, NEW.closed_at, NEW.records, NEW.traces, NEW.event, NEW.event_id
    ) WHERE session = NEW.session;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.sessions';
END;
CREATE TRIGGER sessions_updated AFTER UPDATE OF
    session, org, session_id, agent, signal_agent, first_seen, last_seen, began_ns, last_ns, check_at, closed_at, records,
    traces, event, event_id
ON sessions BEGIN
    UPDATE sessions SET seal = renown_seal(
        NEW.session, NEW.org, NEW.session_id, NEW.agent, NEW.signal_agent, NEW.first_seen, NEW.last_seen, NEW.began_ns,
        NEW.last_ns, NEW.check_at, NEW.closed_at, NEW.records, NEW.traces, NEW.event, NEW.event_id
    ) WHERE session = NEW.session;
END;
CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.sessions';
END;

CREATE TRIGGER session_traces_inserted AFTER INSERT ON session_traces BEGIN
    UPDATE session_traces SET seal = renown_seal(
        NEW.session, NEW.trace_id, NEW.position, NEW.started_ns, NEW.confidence, NEW.loop_detection,
        NEW.tool_correctness, NEW.coherence
    ) WHERE session = NEW.session AND trace_id = NEW.trace_id;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.session_traces';
END;
CREATE TRIGGER session_traces_updated AFTER UPDATE OF
    session, trace_id, position, started_ns, confidence, loop_detection, tool_correctness, coherence
ON session_traces BEGIN
    UPDATE session_traces SET seal = renown_seal(
        NEW.session, NEW.trace_id, NEW.position, NEW.started_ns, NEW.confidence, NEW.loop_detection,
        NEW.tool_correctness, NEW.coherence
    ) WHERE session = NEW.session AND trace_id = NEW.trace_id;
END;
CREATE TRIGGER session_traces_removed AFTER DELETE ON session_traces BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.session_traces';
END;

CREATE TRIGGER replies_inserted AFTER INSERT ON replies BEGIN
    UPDATE replies SET seal = renown_seal(
        NEW.org, NEW.key, NEW.fingerprint, NEW.status, NEW.body, NEW.created_at
    ) WHERE org = NEW.org AND key = NEW.key;
END;
CREATE TRIGGER replies_updated AFTER UPDATE OF org, key, fingerprint, status, body, created_at ON replies BEGIN
    UPDATE replies SET seal = renown_seal(
        NEW.org, NEW.key, NEW.fingerprint, NEW.status, NEW.body, NEW.created_at
    ) WHERE org = NEW.org AND key = NEW.key;
END;

CREATE TRIGGER tombstones_inserted AFTER INSERT ON tombstones BEGIN
    UPDATE tombstones SET seal = renown_seal(
        NEW.tombstone, NEW.org, NEW.digest, NEW.asked_at, NEW.erased, NEW.done_at, NEW.clean_at, NEW.agent,
        NEW.last_seq, NEW.identity
    ) WHERE tombstone = NEW.tombstone;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.tombstones';
END;
CREATE TRIGGER tombstones_updated AFTER UPDATE OF
    tombstone, org, digest, asked_at, erased, done_at, clean_at, agent, last_seq, identity
ON tombstones BEGIN
    UPDATE tombstones SET seal = renown_seal(
        NEW.tombstone, NEW.org, NEW.digest, NEW.asked_at, NEW.erased, NEW.done_at, NEW.clean_at, NEW.agent,
        NEW.last_seq, NEW.identity
    ) WHERE tombstone = NEW.tombstone;
END;
CREATE TRIGGER tombstones_removed AFTER DELETE ON tombstones BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.tombstones';
END;
";
