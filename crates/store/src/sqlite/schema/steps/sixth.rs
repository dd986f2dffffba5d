//! Version 6: writes prepare what lists, charts and histories read.

/// Days of agents and organizations, the indexes of lists, and the summary of each session in its row. All of it
/// follows from the evidence: nothing here is sealed, `verify` computes it again, and `days::rebuild` and
/// `summaries::fill` fill it for existing rows. `folded` is the last column of a session, since it can be long and
/// lists do not read it.
///
/// `sessions_by_close` has the closed sessions that did not become a reputation event, for the latest time of
/// acceptance.
///
/// `org_activity` counts the sessions that began on a day with their cost, and the runs that were accepted on it,
/// by triggers. A session adds at most 10 000 dollars, so that no invented cost can overflow the sum.
pub(in super::super) const SIXTH: &str = "
ALTER TABLE agents ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
UPDATE agents SET rank = CASE WHEN evaluations >= 50 THEN 1002 + score WHEN evaluations > 0 THEN 1 + score ELSE 0 END;
CREATE INDEX agents_by_rank ON agents (org, rank DESC, name);
CREATE INDEX agents_by_evaluations ON agents (org, evaluations DESC, name);

ALTER TABLE orgs ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;
UPDATE orgs SET agents = (SELECT count(*) FROM agents a WHERE a.org = orgs.org);
CREATE TRIGGER agents_counted AFTER INSERT ON agents BEGIN
    UPDATE orgs SET agents = agents + 1 WHERE org = NEW.org;
END;
CREATE TRIGGER agents_uncounted AFTER DELETE ON agents BEGIN
    UPDATE orgs SET agents = agents - 1 WHERE org = OLD.org;
END;

CREATE TABLE agent_days (
    org          INTEGER NOT NULL,
    day          INTEGER NOT NULL,
    agent        INTEGER NOT NULL,
    evaluations  INTEGER NOT NULL,
    passed       INTEGER NOT NULL,
    latency_us   INTEGER NOT NULL,
    took0        INTEGER NOT NULL,
    took1        INTEGER NOT NULL,
    took2        INTEGER NOT NULL,
    took3        INTEGER NOT NULL,
    took4        INTEGER NOT NULL,
    took5        INTEGER NOT NULL,
    took6        INTEGER NOT NULL,
    took7        INTEGER NOT NULL,
    took8        INTEGER NOT NULL,
    took9        INTEGER NOT NULL,
    took10       INTEGER NOT NULL,
    took11       INTEGER NOT NULL,
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL,
    score_last   INTEGER NOT NULL,
    score_min    INTEGER NOT NULL,
    score_max    INTEGER NOT NULL,
    first_seq    INTEGER NOT NULL,
    top_seq      INTEGER NOT NULL,
    score_before INTEGER,
    change       INTEGER GENERATED ALWAYS AS (score_last - score_before) VIRTUAL,
    PRIMARY KEY (org, day, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_days_by_change ON agent_days (org, day, change) WHERE score_before IS NOT NULL;

CREATE TABLE agent_gate_days (
    org    INTEGER NOT NULL,
    day    INTEGER NOT NULL,
    agent  INTEGER NOT NULL,
    gate   TEXT NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (org, day, agent, gate)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_tool_days (
    org         INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    agent       INTEGER NOT NULL,
    tool        TEXT NOT NULL,
    evaluations INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    PRIMARY KEY (org, day, agent, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE org_days (
    org         INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    passed      INTEGER NOT NULL,
    latency_us  INTEGER NOT NULL,
    took0       INTEGER NOT NULL,
    took1       INTEGER NOT NULL,
    took2       INTEGER NOT NULL,
    took3       INTEGER NOT NULL,
    took4       INTEGER NOT NULL,
    took5       INTEGER NOT NULL,
    took6       INTEGER NOT NULL,
    took7       INTEGER NOT NULL,
    took8       INTEGER NOT NULL,
    took9       INTEGER NOT NULL,
    took10      INTEGER NOT NULL,
    took11      INTEGER NOT NULL,
    PRIMARY KEY (org, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE org_gate_days (
    org    INTEGER NOT NULL,
    day    INTEGER NOT NULL,
    gate   TEXT NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (org, day, gate)
) STRICT, WITHOUT ROWID;

ALTER TABLE sessions ADD COLUMN cost_nano INTEGER;
ALTER TABLE sessions ADD COLUMN performance INTEGER;
ALTER TABLE sessions ADD COLUMN trace_count INTEGER;
ALTER TABLE sessions ADD COLUMN reliability INTEGER;
ALTER TABLE sessions ADD COLUMN reliability_traces INTEGER;
ALTER TABLE sessions ADD COLUMN flagged_traces INTEGER;
ALTER TABLE sessions ADD COLUMN consistency INTEGER;
ALTER TABLE sessions ADD COLUMN consistency_traces INTEGER;
ALTER TABLE sessions ADD COLUMN folded BLOB NOT NULL DEFAULT x'';
CREATE INDEX sessions_by_close ON sessions (closed_at) WHERE closed_at IS NOT NULL AND event IS NULL;

CREATE TABLE org_activity (
    org       INTEGER NOT NULL,
    day       INTEGER NOT NULL,
    sessions  INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL,
    runs      INTEGER NOT NULL,
    PRIMARY KEY (org, day)
) STRICT, WITHOUT ROWID;
INSERT INTO org_activity
    SELECT org, began_ns / 86400000000000, count(*), 0, 0 FROM sessions
    WHERE session_id IS NOT NULL AND agent <> 0 GROUP BY 1, 2;
INSERT INTO org_activity
    SELECT org, accepted_at / 86400000, 0, 0, count(*) FROM agent_run_scores WHERE true GROUP BY 1, 2
    ON CONFLICT DO UPDATE SET runs = excluded.runs;
CREATE TRIGGER runs_active AFTER INSERT ON agent_run_scores BEGIN
    INSERT INTO org_activity VALUES (NEW.org, NEW.accepted_at / 86400000, 0, 0, 1)
        ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER runs_inactive AFTER DELETE ON agent_run_scores BEGIN
    UPDATE org_activity SET runs = runs - 1 WHERE org = OLD.org AND day = OLD.accepted_at / 86400000;
END;
CREATE TRIGGER sessions_active AFTER UPDATE OF session_id, agent, began_ns, cost_nano ON sessions
WHEN OLD.session_id IS NOT NEW.session_id OR OLD.agent <> NEW.agent OR OLD.began_ns <> NEW.began_ns
    OR OLD.cost_nano IS NOT NEW.cost_nano BEGIN
    UPDATE org_activity SET sessions = sessions - 1, cost_nano = cost_nano - min(coalesce(OLD.cost_nano, 0), 10000000000000)
        WHERE OLD.session_id IS NOT NULL AND OLD.agent <> 0 AND org = OLD.org AND day = OLD.began_ns / 86400000000000;
    INSERT INTO org_activity
        SELECT NEW.org, NEW.began_ns / 86400000000000, 1, min(coalesce(NEW.cost_nano, 0), 10000000000000), 0
        WHERE NEW.session_id IS NOT NULL AND NEW.agent <> 0
        ON CONFLICT DO UPDATE SET sessions = sessions + 1, cost_nano = cost_nano + excluded.cost_nano;
END;
CREATE TRIGGER sessions_inactive AFTER DELETE ON sessions WHEN OLD.session_id IS NOT NULL AND OLD.agent <> 0 BEGIN
    UPDATE org_activity SET sessions = sessions - 1, cost_nano = cost_nano - min(coalesce(OLD.cost_nano, 0), 10000000000000)
        WHERE org = OLD.org AND day = OLD.began_ns / 86400000000000;
END;
";
