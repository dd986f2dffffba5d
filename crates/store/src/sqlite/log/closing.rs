//! Sessions that are over, and the reputation events that they become.
//!
//! The event of a session stays until the session is scored again: a session that a late record reopened replaces it when it
//! ends, and at once if the record says that it belongs to another agent. An event that a client sent under this id before
//! the session existed gives way to it.

use renown_core::identity::{Event, Part, identity_of};
use renown_core::ids::{IdentityId, OrgId, SessionId};
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Log;
use super::identities::Changes;
use super::session_cache::{Held, HeldSessions, SessionKey};
use super::summaries::COST_OF_CLOSING_MAX;
use crate::error::StoreError;
use crate::sessions::{CLOSED_AT_ONCE, Closed, OPEN_MAX, bridged, over_at};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::damaged;
use crate::sqlite::{identities, rows};

/// How often more sessions are looked at while none of them is over.
const LOOKS_MAX: usize = 20;

/// An open session that is to be looked at.
struct Due {
    number: i64,
    org: OrgKey,
    org_name: String,
    /// None if it is forgotten.
    id: Option<String>,
}

impl Due {
    fn parsed(&self) -> Result<Option<(OrgId, SessionKey)>, StoreError> {
        let Some(id) = &self.id else { return Ok(None) };
        let (org, id): (OrgId, SessionId) = (
            self.org_name.parse().map_err(damaged("an organization"))?,
            id.parse().map_err(damaged("a session id"))?,
        );
        Ok(Some((org, (self.org, id))))
    }
}

impl Log<'_> {
    /// Closes some of the sessions that are over.
    pub(in crate::sqlite) fn close_sessions(&mut self) -> Result<Vec<Closed>, StoreError> {
        let mut closed = self.closed_early.clone();
        self.returned_early = closed.len();
        self.closing_cost = 0;
        // Those that are only to be looked at later may stand before others that are over.
        for _ in 0..LOOKS_MAX {
            let due = self.due(self.latest.millis(), CLOSED_AT_ONCE)?;
            for due in &due {
                if self.closing_cost >= COST_OF_CLOSING_MAX {
                    break;
                }
                closed.extend(self.look_at(due, false)?);
            }
            if !closed.is_empty() || due.is_empty() {
                break;
            }
        }
        Ok(closed)
    }

    /// The open sessions that are to be looked at by a time, those that may be idle for longest first.
    fn due(&self, by_ms: i64, limit: usize) -> Result<Vec<Due>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT s.session, s.org, o.name, s.session_id FROM sessions s JOIN orgs o ON o.org = s.org \
             WHERE s.due_at <= ?1 ORDER BY s.due_at LIMIT ?2",
        )?;
        let due = select.query_map(params![by_ms, limit], |row| {
            Ok(Due { number: row.get(0)?, org: row.get(1)?, org_name: row.get(2)?, id: row.get(3)? })
        })?;
        Ok(due.collect::<Result<_, _>>()?)
    }

    /// Closes a session that is over, or that has to be over; else notes when it has to be looked at again.
    fn look_at(&mut self, due: &Due, at_any_rate: bool) -> Result<Option<Closed>, StoreError> {
        let Some((org, key)) = due.parsed()? else { return self.set_due(due.number, None).map(|()| None) };
        let held = match self.sessions.take(&key) {
            None => match self.find_session(&key) {
                // One that cannot be read keeps nobody else from being closed.
                Err(error) if error.is_damage() => None,
                found => found?,
            },
            held => held,
        };
        // Of an agent that is erased: it is seen by nobody, and will be deleted.
        let Some(mut held) = held else { return self.set_due(due.number, None).map(|()| None) };
        let over_at = over_at(held.last_event, held.last_seen);
        let closed = if at_any_rate || over_at <= self.latest {
            Some(self.close(&org, &key, &mut held)?)
        } else {
            self.set_due(held.number, Some(over_at.millis()))?;
            None
        };
        self.sessions.hold(key, held);
        Ok(closed)
    }

    fn set_due(&mut self, session: i64, due_at: Option<i64>) -> Result<(), StoreError> {
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET due_at = ?2 WHERE session = ?1")?;
        update.execute(params![session, due_at])?;
        if due_at.is_none() {
            self.open_sessions = self.open_sessions.map(|open| open - 1);
        }
        Ok(())
    }

    fn close(&mut self, org: &OrgId, key: &SessionKey, held: &mut Held) -> Result<Closed, StoreError> {
        self.set_due(held.number, None)?;
        (held.is_open, held.closed_at) = (false, Some(self.latest));
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET closed_at = ?2 WHERE session = ?1")?;
        update.execute(params![held.number, self.latest.millis()])?;
        drop(update);
        self.summarize_at_end(&key.1, held)?;
        self.tell(org, held)?;
        let agent = held.agent.clone().ok_or(StoreError::Bug("a closed session has no agent"))?;
        Ok(Closed { org: org.clone(), session: key.1.clone(), agent })
    }

    /// Times of acceptance go back to this one. What was seen at a later time counts as seen now, so that no session waits for
    /// that time to be closed, and no reply to be forgotten.
    pub(super) fn come_back(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.begin_untimed()?;
        for (update, limit) in [
            ("UPDATE sessions SET last_seen = ?1 WHERE due_at IS NOT NULL AND last_seen > ?1", now.millis()),
            ("UPDATE sessions SET last_ns = ?1 WHERE due_at IS NOT NULL AND last_ns > ?1", now.nanos()),
            ("UPDATE sessions SET due_at = ?1 WHERE due_at > ?1", now.millis()),
            ("UPDATE replies SET created_at = ?1 WHERE created_at > ?1", now.millis()),
        ] {
            self.connection.execute(update, [limit])?;
        }
        self.commit()?;
        self.sessions = HeldSessions::new();
        Ok(())
    }

    /// Closes the sessions that are idle for longest while too many are open.
    pub(super) fn close_early(&mut self) -> Result<(), StoreError> {
        loop {
            let open = match self.open_sessions {
                Some(open) => open,
                None => self.count_open()?,
            };
            self.open_sessions = Some(open);
            let Some(excess) = open.checked_sub(OPEN_MAX).filter(|excess| *excess > 0) else { return Ok(()) };
            // What is to be looked at first may have heard of something since: then it is no longer the first.
            for due in self.due(i64::MAX, excess)? {
                let is_exact = self.is_exact(&due)?;
                let closed = self.look_at(&due, is_exact)?;
                self.closing_early.extend(closed);
            }
        }
    }

    /// Whether a session is to be looked at just when it is over.
    fn is_exact(&mut self, due: &Due) -> Result<bool, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT due_at, last_ns, last_seen FROM sessions WHERE session = ?1")?;
        let (due_at, last_ns, last_seen): (i64, i64, i64) =
            select.query_row([due.number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(over_at(rows::nanos(last_ns)?, rows::time(last_seen)?).millis() <= due_at)
    }

    fn count_open(&self) -> Result<usize, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT count(*) FROM sessions WHERE due_at IS NOT NULL")?;
        Ok(select.query_row([], |row| row.get(0))?)
    }

    /// Makes the reputation event of a session that is closed what it has to be.
    pub(super) fn tell(&mut self, org: &OrgId, held: &mut Held) -> Result<(), StoreError> {
        let key = self.orgs.get(org)?;
        let closed_at = held.closed_at.unwrap_or(self.latest);
        let Some(agent) = held.agent.clone() else { return Ok(()) };
        let event = held.scored().and_then(|session| bridged(org, &agent, session, closed_at));
        if let Some(before) = held.event.take() {
            self.take_back(before)?;
        }
        if let Some(event) = event {
            held.event = Some(self.insert_bridge(key, identity_of(org, &agent), &event)?);
        }
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET event = ?2 WHERE session = ?1")?;
        update.execute(params![held.number, held.event])?;
        Ok(())
    }

    fn insert_bridge(&mut self, key: OrgKey, identity: IdentityId, event: &Event) -> Result<i64, StoreError> {
        self.free_event_id(key, event.event_id)?;
        // Somebody may have sent an event of this id before there was the session. A derived one takes its place.
        let mut select = self
            .connection
            .prepare_cached("SELECT event FROM reputation_events WHERE org = ?1 AND event_id = ?2")?;
        let sent: Option<i64> =
            select.query_row(params![key, event.event_id.as_bytes()], |row| row.get(0)).optional()?;
        drop(select);
        sent.map(|sent| self.take_back(sent)).transpose()?;
        let known = identities::find(self.connection, key, identity)?;
        let identity = known.map_or_else(|| self.insert_identity(key, identity), Ok)?;
        if !self.insert_event(key, identity, event)? {
            return Err(StoreError::Damaged("the event of a session is there already".to_owned()));
        }
        let number = self.connection.last_insert_rowid();
        let mut changes = Changes::default();
        changes.add(identity, event.timestamp.nanos(), event.category, Part::of(event.score_delta));
        self.change_sums(&changes, 1)?;
        Ok(number)
    }

    /// Takes an event back, as if it had never been there. The sums of an identity that was erased go with it.
    fn take_back(&mut self, event: i64) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM reputation_events WHERE event = ?1 RETURNING identity, at_ns, category, delta, \
             identity IN (SELECT identity FROM identities)",
        )?;
        let mut rows = delete.query([event])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let mut changes = Changes::default();
        if row.get(4)? {
            let part = Part::of(identities::delta(row, 3)?);
            changes.add(row.get(0)?, row.get(1)?, identities::category(row, 2)?, part);
        }
        drop(rows);
        drop(delete);
        self.change_sums(&changes, -1)
    }

    /// The first of these ids that is that of an event that a session became or will become.
    pub(super) fn first_bridge(
        &self,
        org: OrgKey,
        ids: impl Iterator<Item = uuid::Uuid>,
    ) -> Result<Option<usize>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT 1 FROM sessions s JOIN agents a ON a.agent = s.agent WHERE s.event_id = ?2 AND s.org = ?1",
        )?;
        for (index, id) in ids.enumerate() {
            if select.exists(params![org, id.as_bytes()])? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}
