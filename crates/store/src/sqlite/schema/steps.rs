//! The steps from one version of the schema to the next. A released step never changes.

mod eighth;
mod fifth;
mod seventh;
mod sixth;

pub(super) use self::eighth::EIGHTH;
pub(super) use self::fifth::FIFTH;
pub(super) use self::seventh::SEVENTH;
pub(super) use self::sixth::SIXTH;

/// The first version of the schema.
pub(super) const FIRST: &str = "
CREATE TABLE orgs (
    org        INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
    id           BLOB PRIMARY KEY,
    org          INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    label        TEXT,
    hash         BLOB NOT NULL UNIQUE,
    last_four    TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE TABLE agents (
    agent       INTEGER PRIMARY KEY,
    org         INTEGER NOT NULL,
    name        TEXT NOT NULL,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    seen_minute INTEGER NOT NULL,
    last_seq    INTEGER,
    evaluations INTEGER NOT NULL DEFAULT 0,
    passed      INTEGER NOT NULL DEFAULT 0,
    streak      INTEGER NOT NULL DEFAULT 0,
    latency_us  INTEGER NOT NULL DEFAULT 0,
    score       INTEGER NOT NULL DEFAULT 0,
    UNIQUE (org, name)
) STRICT;
CREATE INDEX agents_by_minute ON agents (org, seen_minute);

CREATE TABLE evaluations (
    seq           INTEGER PRIMARY KEY,
    org           INTEGER NOT NULL,
    agent         INTEGER NOT NULL,
    previous      INTEGER,
    evaluation_id TEXT NOT NULL,
    passed        INTEGER NOT NULL,
    latency_us    INTEGER NOT NULL,
    gate_us       INTEGER NOT NULL,
    agent_us      INTEGER,
    tool          TEXT,
    gates         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    accepted_at   INTEGER NOT NULL,
    score         INTEGER NOT NULL,
    evaluations   INTEGER NOT NULL,
    salt          BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX evaluations_by_id ON evaluations (org, evaluation_id);
CREATE INDEX evaluations_by_time ON evaluations (org, created_at);

CREATE TABLE replies (
    org         INTEGER NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX replies_by_time ON replies (created_at);
";

/// Rows of agents may be behind the evaluations; before this version none was. A step never changes, so it says 40
/// where the code says `POSITION_BITS`.
pub(super) const SECOND: &str = "
ALTER TABLE orgs ADD COLUMN settled INTEGER NOT NULL DEFAULT -1;
UPDATE orgs SET settled = coalesce(
    (SELECT max(seq) FROM evaluations e WHERE e.seq >= orgs.org << 40 AND e.seq < (orgs.org + 1) << 40), -1);
";

/// Runs, reputation events, settings, and tombstones.
pub(super) const THIRD: &str = "
ALTER TABLE orgs ADD COLUMN latency_source TEXT NOT NULL DEFAULT 'gate';
ALTER TABLE orgs ADD COLUMN pruned INTEGER NOT NULL DEFAULT -1;
ALTER TABLE orgs ADD COLUMN top INTEGER NOT NULL DEFAULT -1;

ALTER TABLE agents ADD COLUMN public INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN slug TEXT;
CREATE UNIQUE INDEX agents_by_slug ON agents (slug) WHERE slug IS NOT NULL;

CREATE TABLE reply_agents (
    org   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    agent INTEGER NOT NULL,
    PRIMARY KEY (org, key, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_agents_by_agent ON reply_agents (agent);
CREATE TRIGGER replies_deleted AFTER DELETE ON replies BEGIN
    DELETE FROM reply_agents WHERE org = OLD.org AND key = OLD.key;
END;

CREATE TABLE agent_run_scores (
    run                   INTEGER PRIMARY KEY AUTOINCREMENT,
    org                   INTEGER NOT NULL,
    agent                 INTEGER NOT NULL,
    run_id                TEXT NOT NULL,
    workspace             TEXT NOT NULL,
    spec_id               TEXT,
    outcome               TEXT NOT NULL,
    stages                TEXT,
    wall_ms               INTEGER,
    memory_peak_bytes     INTEGER,
    memory_limit_bytes    INTEGER,
    cpu_periods           INTEGER,
    cpu_throttled_periods INTEGER,
    cpu_throttled_ms      INTEGER,
    started_ns            INTEGER,
    finished_ns           INTEGER NOT NULL,
    branch                TEXT,
    pull_request          TEXT,
    attributes            TEXT,
    warnings              TEXT NOT NULL,
    accepted_at           INTEGER NOT NULL,
    digest                BLOB NOT NULL,
    salt                  BLOB NOT NULL,
    baseline_runs         INTEGER NOT NULL,
    baseline_low_ms       INTEGER NOT NULL,
    baseline_high_ms      INTEGER NOT NULL,
    score                 INTEGER,
    completion            INTEGER,
    error_rate            INTEGER,
    latency               INTEGER,
    resource_efficiency   INTEGER,
    defaulted             TEXT,
    formula_version       TEXT
) STRICT;
CREATE UNIQUE INDEX runs_by_id ON agent_run_scores (org, run_id);
CREATE INDEX runs_by_org ON agent_run_scores (org);
CREATE INDEX runs_by_agent ON agent_run_scores (agent);
CREATE INDEX runs_by_spec ON agent_run_scores (org, spec_id) WHERE spec_id IS NOT NULL;
CREATE INDEX runs_by_finish ON agent_run_scores (org, workspace, finished_ns)
    WHERE outcome = 'completed' AND wall_ms IS NOT NULL;

CREATE TABLE identities (
    identity INTEGER PRIMARY KEY AUTOINCREMENT,
    org      INTEGER NOT NULL,
    id       BLOB NOT NULL,
    UNIQUE (org, id)
) STRICT;

CREATE TABLE reputation_events (
    event          INTEGER PRIMARY KEY AUTOINCREMENT,
    org            INTEGER NOT NULL,
    identity       INTEGER NOT NULL,
    event_id       BLOB NOT NULL,
    month          INTEGER NOT NULL,
    at_ns          INTEGER NOT NULL,
    category       TEXT NOT NULL,
    event_type     TEXT NOT NULL,
    delta          INTEGER NOT NULL,
    confidence     REAL NOT NULL,
    reference_type TEXT NOT NULL,
    reference_id   TEXT,
    attributes     TEXT NOT NULL,
    accepted_at    INTEGER NOT NULL,
    salt           BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX reputation_events_by_id ON reputation_events (org, event_id);
CREATE INDEX reputation_events_by_time ON reputation_events (identity, at_ns);
CREATE INDEX reputation_events_by_month ON reputation_events (month, at_ns);

CREATE TABLE identity_sums (
    identity   INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    category   TEXT NOT NULL,
    count      INTEGER NOT NULL,
    positive   INTEGER NOT NULL,
    negative   INTEGER NOT NULL,
    units      INTEGER NOT NULL,
    millionths INTEGER NOT NULL,
    PRIMARY KEY (identity, level, start, category)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    tombstone INTEGER PRIMARY KEY,
    org       INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    asked_at  INTEGER NOT NULL,
    erased    INTEGER NOT NULL DEFAULT 0,
    done_at   INTEGER,
    agent     INTEGER,
    last_seq  INTEGER,
    identity  INTEGER
) STRICT;
CREATE INDEX tombstones_by_agent ON tombstones (agent);
CREATE INDEX tombstones_open ON tombstones (tombstone) WHERE done_at IS NULL;
";

/// Sessions: their records, their traces, and their folds.
pub(super) const FOURTH: &str = "
ALTER TABLE agents ADD COLUMN session_seen_at INTEGER;

CREATE TABLE sessions (
    session    INTEGER PRIMARY KEY AUTOINCREMENT,
    org        INTEGER NOT NULL,
    session_id TEXT,
    agent      INTEGER NOT NULL,
    signal_agent TEXT,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    began_ns   INTEGER NOT NULL,
    last_ns    INTEGER NOT NULL,
    check_at   INTEGER,
    closed_at  INTEGER,
    records    INTEGER NOT NULL DEFAULT 0,
    traces     INTEGER NOT NULL DEFAULT 0,
    state      BLOB NOT NULL,
    event      INTEGER,
    event_id   BLOB
) STRICT;
CREATE UNIQUE INDEX sessions_by_id ON sessions (org, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX sessions_by_begin ON sessions (org, began_ns);
CREATE INDEX sessions_by_agent ON sessions (agent, began_ns);
CREATE INDEX sessions_open ON sessions (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX sessions_by_event_id ON sessions (event_id) WHERE event_id IS NOT NULL;

CREATE TABLE session_records (
    session INTEGER NOT NULL,
    at_ns   INTEGER NOT NULL,
    key     INTEGER NOT NULL,
    record  BLOB NOT NULL,
    PRIMARY KEY (session, at_ns, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_names (
    session INTEGER NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_names_by_name ON session_names (name);

CREATE TABLE session_erasures (
    tombstone INTEGER NOT NULL,
    session   INTEGER NOT NULL,
    PRIMARY KEY (tombstone, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_traces (
    session          INTEGER NOT NULL,
    trace_id         TEXT NOT NULL,
    position         INTEGER NOT NULL,
    started_ns       INTEGER,
    confidence       REAL,
    loop_detection   REAL,
    tool_correctness REAL,
    coherence        REAL,
    PRIMARY KEY (session, trace_id)
) STRICT, WITHOUT ROWID;
";
