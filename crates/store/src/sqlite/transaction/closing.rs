//! Closes sessions that are over, and writes the reputation events that they become.
//!
//! [`crate::fold::sessions`] decides when a session is over, and which event it becomes.
//!
//! `check_at` is when an open session is checked. Records move the end of a session later but not `check_at`, so a
//! session that is checked may not be over yet; then it gets a new `check_at`.

use renown_core::identity::EventPart;
use renown_core::ids::{OrgId, SessionId};
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use super::session_cache::{CachedSession, SessionCache, SessionKey};
use super::summaries::COST_OF_CLOSING_MAX;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::identities::SumChanges;
use crate::fold::sessions::{Check, SessionEvent, excess, over_at};
use crate::sessions::{CLOSED_AT_ONCE, Closed};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::damaged;
use crate::sqlite::{identities, rows};

/// Maximum number of batches of open sessions that one call checks. It stops at the first batch after which there are closed
/// sessions to return.
const BATCHES_MAX: usize = 20;

/// An open session to check.
struct DueSession {
    number: i64,
    org: OrgKey,
    org_name: String,
    /// `None` if the session is deleted.
    id: Option<String>,
}

impl DueSession {
    fn parsed(&self) -> Result<Option<(OrgId, SessionKey)>, StoreError> {
        let Some(id) = &self.id else { return Ok(None) };
        let (org, id): (OrgId, SessionId) = (
            self.org_name.parse().map_err(damaged("an organization"))?,
            id.parse().map_err(damaged("a session id"))?,
        );
        Ok(Some((org, (self.org, id))))
    }
}

impl Transaction<'_> {
    /// Closes some of the sessions that are over. Also returns those that were closed early.
    pub(in crate::sqlite) fn close_sessions(&mut self) -> Result<Vec<Closed>, StoreError> {
        let mut closed = self.closed_early.clone();
        self.returned_early = closed.len();
        self.closing_cost = 0;
        // A batch may contain only sessions that are not over, while a later batch contains one that is.
        for _ in 0..BATCHES_MAX {
            let due_sessions = self.due_sessions(self.latest.millis(), CLOSED_AT_ONCE)?;
            for due in &due_sessions {
                if self.closing_cost >= COST_OF_CLOSING_MAX {
                    break;
                }
                closed.extend(self.check_session(due, false)?);
            }
            if !closed.is_empty() || due_sessions.is_empty() {
                break;
            }
        }
        Ok(closed)
    }

    /// Returns the open sessions to check up to a time, in the order of `check_at`.
    fn due_sessions(&self, by_ms: i64, limit: usize) -> Result<Vec<DueSession>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT s.session, s.org, o.name, s.session_id FROM sessions s JOIN orgs o ON o.org = s.org \
             WHERE s.check_at <= ?1 ORDER BY s.check_at LIMIT ?2",
        )?;
        let due_sessions = select.query_map(params![by_ms, limit], |row| {
            Ok(DueSession { number: row.get(0)?, org: row.get(1)?, org_name: row.get(2)?, id: row.get(3)? })
        })?;
        Ok(due_sessions.collect::<Result<_, _>>()?)
    }

    /// Checks an open session, and closes it or saves when to check it again.
    fn check_session(&mut self, due: &DueSession, is_excess: bool) -> Result<Option<Closed>, StoreError> {
        let Some((org, key)) = due.parsed()? else {
            return self.set_check_at(due.number, None).map(|()| None);
        };
        let cached = match self.sessions.remove(&key) {
            None => match self.load_session(&key) {
                // A damaged session does not prevent others from being closed.
                Err(error) if error.is_damage() => None,
                found => found?,
            },
            cached => cached,
        };
        // The session is damaged, or its agent is erased: it is not checked again.
        let Some(mut cached) = cached else {
            return self.set_check_at(due.number, None).map(|()| None);
        };
        let closed = match cached.state.check(is_excess, self.latest) {
            Check::Close => Some(self.close(&org, &key, &mut cached)?),
            Check::Later(at) => {
                self.set_check_at(cached.number, Some(at.millis()))?;
                None
            }
        };
        self.sessions.insert(key, cached);
        Ok(closed)
    }

    fn set_check_at(&mut self, session: i64, check_at: Option<i64>) -> Result<(), StoreError> {
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET check_at = ?2 WHERE session = ?1")?;
        update.execute(params![session, check_at])?;
        if check_at.is_none() {
            self.open_sessions = self.open_sessions.map(|open| open - 1);
        }
        Ok(())
    }

    fn close(
        &mut self,
        org: &OrgId,
        key: &SessionKey,
        cached: &mut CachedSession,
    ) -> Result<Closed, StoreError> {
        let closed = cached.state.close((org, &key.1), self.latest)?;
        self.set_check_at(cached.number, None)?;
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET closed_at = ?2 WHERE session = ?1")?;
        update.execute(params![cached.number, self.latest.millis()])?;
        drop(update);
        self.summarize_at_end(&key.1, cached)?;
        self.write_session_event(org, cached)?;
        Ok(closed)
    }

    /// Moves times back to `now`, after the clock was ahead for a while. Every stored time after `now` becomes
    /// `now`: otherwise sessions would be closed, and request keys forgotten, too late. A session that became a reputation event
    /// keeps its `closed_at`, because the event may contain that time.
    pub(super) fn move_times_back(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.begin_untimed()?;
        for (update, limit) in [
            (
                "UPDATE sessions SET last_seen = ?1 WHERE check_at IS NOT NULL AND last_seen > ?1",
                now.millis(),
            ),
            ("UPDATE sessions SET last_ns = ?1 WHERE check_at IS NOT NULL AND last_ns > ?1", now.nanos()),
            ("UPDATE sessions SET check_at = ?1 WHERE check_at > ?1", now.millis()),
            ("UPDATE sessions SET closed_at = ?1 WHERE closed_at > ?1 AND event IS NULL", now.millis()),
            ("UPDATE request_keys SET created_at = ?1 WHERE created_at > ?1", now.millis()),
        ] {
            self.connection.execute(update, [limit])?;
        }
        self.commit()?;
        self.sessions = SessionCache::new();
        Ok(())
    }

    /// Closes the sessions that have been idle for longest, while too many are open.
    pub(super) fn close_early(&mut self) -> Result<(), StoreError> {
        loop {
            let open = match self.open_sessions {
                Some(open) => open,
                None => self.count_open()?,
            };
            self.open_sessions = Some(open);
            let excess = excess(open);
            if excess == 0 {
                return Ok(());
            }
            // A session may have received records after its `check_at` was set. Then it is not the one that has been idle
            // for longest, and only gets a new `check_at`.
            for due in self.due_sessions(i64::MAX, excess)? {
                let is_check_exact = self.is_check_exact(&due)?;
                let closed = self.check_session(&due, is_check_exact)?;
                self.closing_early.extend(closed);
            }
        }
    }

    /// Returns whether the `check_at` of a session is at or after the time when it is over.
    fn is_check_exact(&mut self, due: &DueSession) -> Result<bool, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT check_at, last_ns, last_seen FROM sessions WHERE session = ?1")?;
        let (check_at, last_ns, last_seen): (i64, i64, i64) =
            select.query_row([due.number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(over_at(rows::nanos(last_ns)?, rows::time(last_seen)?).millis() <= check_at)
    }

    fn count_open(&self) -> Result<usize, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT count(*) FROM sessions WHERE check_at IS NOT NULL")?;
        Ok(select.query_row([], |row| row.get(0))?)
    }

    /// Writes the reputation event of a closed session, and deletes the one before.
    pub(super) fn write_session_event(
        &mut self,
        org: &OrgId,
        cached: &mut CachedSession,
    ) -> Result<(), StoreError> {
        let key = self.orgs.get(org)?;
        let event = cached.state.reputation_event(org, cached.scored(), self.latest);
        if let Some(before) = cached.state.event.take() {
            self.delete_event(before.number())?;
        }
        cached.state.event = event.map(|event| self.insert_session_event(key, &event)).transpose()?;
        let mut update =
            self.connection.prepare_cached("UPDATE sessions SET event = ?2 WHERE session = ?1")?;
        update.execute(params![cached.number, cached.state.event.map(Position::number)])?;
        Ok(())
    }

    fn insert_session_event(
        &mut self,
        key: OrgKey,
        SessionEvent { identity, event }: &SessionEvent,
    ) -> Result<Position, StoreError> {
        self.free_event_id(key, event.event_id)?;
        // An event that a client has sent.
        let mut select = self
            .connection
            .prepare_cached("SELECT event FROM reputation_events WHERE org = ?1 AND event_id = ?2")?;
        let sent: Option<i64> =
            select.query_row(params![key, event.event_id.as_bytes()], |row| row.get(0)).optional()?;
        drop(select);
        sent.map(|sent| self.delete_event(sent)).transpose()?;
        let known = identities::find(self.connection, key, *identity)?;
        let identity = known.map_or_else(|| self.insert_identity(key, *identity), Ok)?;
        if !self.insert_event(key, identity, event)? {
            return Err(StoreError::Damaged("the event of a session exists already".to_owned()));
        }
        let number = self.connection.last_insert_rowid();
        let mut changes = SumChanges::default();
        changes.add_event(identity, event);
        self.change_sums(&changes, 1)?;
        Ok(Position::of(number))
    }

    /// Deletes an event and subtracts it from the sums of its identity, unless the identity is erased: its sums are
    /// deleted anyway.
    fn delete_event(&mut self, event: i64) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM reputation_events WHERE event = ?1 RETURNING identity, at_ns, category, delta, \
             identity IN (SELECT identity FROM identities)",
        )?;
        let mut rows = delete.query([event])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let mut changes = SumChanges::default();
        if row.get(4)? {
            let part = EventPart::of(identities::delta(row, 3)?);
            changes.add(row.get(0)?, row.get(1)?, identities::category(row, 2)?, part);
        }
        drop(rows);
        drop(delete);
        self.change_sums(&changes, -1)
    }

    /// Returns the index of the first id that belongs to the event of a session, now or when the session is closed.
    pub(super) fn first_session_event(
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
