//! Version 7: request keys keep what was accepted, no longer replies.

/// `request_keys` has one row per request key, with what was accepted for it: numbers, and the position of the evaluation
/// (`evaluations.seq`) or the run (`agent_run_scores.run`) that a retry shows. `request_key_agents` has the agents that
/// the write was about, in the order of the reply, with their standings if the reply shows them. Agents are there by
/// name, because a repeated evaluation can name an agent that does not exist.
///
/// The replies that older versions saved are dropped with their tables: they cannot be turned into what was accepted.
/// They were valid for a day, and no release has written any.
pub(in super::super) const SEVENTH: &str = "
DROP TABLE replies;
DROP TABLE reply_agents;

CREATE TABLE request_keys (
    org         INTEGER NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    kind        TEXT NOT NULL,
    accepted    INTEGER NOT NULL,
    repeated    INTEGER NOT NULL,
    position    INTEGER,
    api_key     BLOB,
    created_at  INTEGER NOT NULL,
    seal        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_keys_by_time ON request_keys (created_at);

CREATE TABLE request_key_agents (
    org         INTEGER NOT NULL,
    key         TEXT NOT NULL,
    place       INTEGER NOT NULL,
    agent       TEXT NOT NULL,
    score       INTEGER,
    evaluations INTEGER,
    seal        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (org, key, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_key_agents_by_agent ON request_key_agents (org, agent);

CREATE TRIGGER request_keys_deleted AFTER DELETE ON request_keys BEGIN
    DELETE FROM request_key_agents WHERE org = OLD.org AND key = OLD.key;
END;

CREATE TRIGGER request_keys_inserted AFTER INSERT ON request_keys BEGIN
    UPDATE request_keys SET seal = renown_seal(
        NEW.org, NEW.key, NEW.fingerprint, NEW.kind, NEW.accepted, NEW.repeated, NEW.position, NEW.api_key,
        NEW.created_at
    ) WHERE org = NEW.org AND key = NEW.key;
END;
CREATE TRIGGER request_keys_updated AFTER UPDATE OF
    org, key, fingerprint, kind, accepted, repeated, position, api_key, created_at
ON request_keys BEGIN
    UPDATE request_keys SET seal = renown_seal(
        NEW.org, NEW.key, NEW.fingerprint, NEW.kind, NEW.accepted, NEW.repeated, NEW.position, NEW.api_key,
        NEW.created_at
    ) WHERE org = NEW.org AND key = NEW.key;
END;

CREATE TRIGGER request_key_agents_inserted AFTER INSERT ON request_key_agents BEGIN
    UPDATE request_key_agents SET seal = renown_seal(
        NEW.org, NEW.key, NEW.place, NEW.agent, NEW.score, NEW.evaluations
    ) WHERE org = NEW.org AND key = NEW.key AND place = NEW.place;
END;
CREATE TRIGGER request_key_agents_updated AFTER UPDATE OF org, key, place, agent, score, evaluations ON request_key_agents BEGIN
    UPDATE request_key_agents SET seal = renown_seal(
        NEW.org, NEW.key, NEW.place, NEW.agent, NEW.score, NEW.evaluations
    ) WHERE org = NEW.org AND key = NEW.key AND place = NEW.place;
END;
";
