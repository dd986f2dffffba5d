//! Version 6: what lists, charts and histories read, prepared by writes.

/// Days of agents and organizations, and the indexes of lists. All of it follows from the evidence: nothing here is sealed, `verify` computes
/// it again, and the rows for what there is come from `days::rebuild`.
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
";
