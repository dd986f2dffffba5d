//! Version 8: eval runs, their results, and schedules.

/// `eval_runs` has one row per eval run. `agent`, `from_ns`, `to_ns` and `min_traces` are its filter, if `filtered`; the agent is there
/// by number, so that an erasure finds it. `state` is the JSON of `EvalState`. `eval_results` has one row per target.
///
/// `schedules` has one row per schedule. `next_ns` is its next tick; null while it is paused, or if it never fires again. `state` is the JSON
/// of `ScheduleState`.
pub(in super::super) const EIGHTH: &str = "
CREATE TABLE eval_runs (
    eval_run    INTEGER PRIMARY KEY AUTOINCREMENT,
    org         INTEGER NOT NULL,
    id          TEXT NOT NULL,
    schedule_id TEXT,
    status      TEXT NOT NULL,
    filtered    INTEGER NOT NULL,
    agent       INTEGER,
    from_ns     INTEGER,
    to_ns       INTEGER,
    min_traces  INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    state       TEXT NOT NULL,
    seal        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX eval_runs_by_id ON eval_runs (org, id);
CREATE INDEX eval_runs_by_org ON eval_runs (org);
CREATE INDEX eval_runs_active ON eval_runs (eval_run) WHERE status IN ('pending', 'running');
CREATE INDEX eval_runs_by_agent ON eval_runs (agent) WHERE agent IS NOT NULL;
CREATE INDEX eval_runs_by_time ON eval_runs (created_at);
INSERT INTO marks (name, value) VALUES ('rows.eval_runs', 0);

CREATE TABLE eval_results (
    eval_run   INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    agent      INTEGER,
    outcome    TEXT NOT NULL,
    body       TEXT NOT NULL,
    seal       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (eval_run, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX eval_results_by_agent ON eval_results (agent) WHERE agent IS NOT NULL;
CREATE INDEX eval_results_waiting ON eval_results (eval_run, session_id) WHERE outcome = 'pending';

CREATE TABLE schedules (
    schedule   INTEGER PRIMARY KEY AUTOINCREMENT,
    org        INTEGER NOT NULL,
    id         TEXT NOT NULL,
    cadence    TEXT NOT NULL,
    agent      INTEGER,
    from_ns    INTEGER,
    to_ns      INTEGER,
    min_traces INTEGER NOT NULL,
    next_ns    INTEGER,
    state      TEXT NOT NULL,
    seal       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX schedules_by_id ON schedules (org, id);
CREATE INDEX schedules_by_org ON schedules (org);
CREATE INDEX schedules_due ON schedules (next_ns) WHERE next_ns IS NOT NULL;
CREATE INDEX schedules_by_agent ON schedules (agent) WHERE agent IS NOT NULL;
INSERT INTO marks (name, value) VALUES ('rows.schedules', 0);

CREATE TRIGGER eval_runs_inserted AFTER INSERT ON eval_runs BEGIN
    UPDATE eval_runs SET seal = renown_seal(
        NEW.eval_run, NEW.org, NEW.id, NEW.schedule_id, NEW.status, NEW.filtered, NEW.agent, NEW.from_ns, NEW.to_ns, NEW.min_traces,
        NEW.created_at, NEW.state
    ) WHERE eval_run = NEW.eval_run;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.eval_runs';
END;
CREATE TRIGGER eval_runs_updated AFTER UPDATE OF
    eval_run, org, id, schedule_id, status, filtered, agent, from_ns, to_ns, min_traces, created_at, state
ON eval_runs BEGIN
    UPDATE eval_runs SET seal = renown_seal(
        NEW.eval_run, NEW.org, NEW.id, NEW.schedule_id, NEW.status, NEW.filtered, NEW.agent, NEW.from_ns, NEW.to_ns, NEW.min_traces,
        NEW.created_at, NEW.state
    ) WHERE eval_run = NEW.eval_run;
END;
CREATE TRIGGER eval_runs_removed AFTER DELETE ON eval_runs BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.eval_runs';
END;

CREATE TRIGGER eval_results_inserted AFTER INSERT ON eval_results BEGIN
    UPDATE eval_results SET seal = renown_seal(NEW.eval_run, NEW.session_id, NEW.agent, NEW.outcome, NEW.body)
    WHERE eval_run = NEW.eval_run AND session_id = NEW.session_id;
END;
CREATE TRIGGER eval_results_updated AFTER UPDATE OF eval_run, session_id, agent, outcome, body ON eval_results BEGIN
    UPDATE eval_results SET seal = renown_seal(NEW.eval_run, NEW.session_id, NEW.agent, NEW.outcome, NEW.body)
    WHERE eval_run = NEW.eval_run AND session_id = NEW.session_id;
END;

CREATE TRIGGER schedules_inserted AFTER INSERT ON schedules BEGIN
    UPDATE schedules SET seal = renown_seal(
        NEW.schedule, NEW.org, NEW.id, NEW.cadence, NEW.agent, NEW.from_ns, NEW.to_ns, NEW.min_traces, NEW.next_ns, NEW.state
    ) WHERE schedule = NEW.schedule;
    UPDATE marks SET value = value + 1 WHERE name = 'rows.schedules';
END;
CREATE TRIGGER schedules_updated AFTER UPDATE OF
    schedule, org, id, cadence, agent, from_ns, to_ns, min_traces, next_ns, state
ON schedules BEGIN
    UPDATE schedules SET seal = renown_seal(
        NEW.schedule, NEW.org, NEW.id, NEW.cadence, NEW.agent, NEW.from_ns, NEW.to_ns, NEW.min_traces, NEW.next_ns, NEW.state
    ) WHERE schedule = NEW.schedule;
END;
CREATE TRIGGER schedules_removed AFTER DELETE ON schedules BEGIN
    UPDATE marks SET value = value - 1 WHERE name = 'rows.schedules';
END;
";
