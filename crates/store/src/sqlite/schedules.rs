//! Reads schedules.

use renown_core::ids::{OrgId, ScheduleId};
use rusqlite::{Connection, Row, params};

use super::Sqlite;
use super::eval_runs::filter;
use super::orgs::OrgKey;
use super::rows::{damaged, text};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::request_keys::{Accepted, RequestKey};
use crate::schedules::{Fire, Fired, NewSchedule, Schedule, ScheduleChange, ScheduleChanged, Schedules};

/// The columns of a [`Schedule`], in the order in which [`schedule`] reads them. Schedules that filter by an erased agent are not seen.
const SCHEDULE: &str = "SELECT s.schedule, s.id, s.cadence, a.name, s.from_ns, s.to_ns, s.min_traces, s.state, s.org \
     FROM schedules s LEFT JOIN agents a ON a.agent = s.agent";

/// The condition of [`SCHEDULE`].
const IS_SEEN: &str = "(s.agent IS NULL OR a.agent IS NOT NULL)";

fn schedule(row: &Row<'_>) -> Result<Schedule, StoreError> {
    let state = row.get_ref(7)?.as_str().map_err(damaged("a schedule"))?;
    Ok(Schedule {
        position: Position::of(row.get(0)?),
        id: text(row, 1, "the id of a schedule")?,
        cadence: text(row, 2, "a cadence")?,
        filter: filter(row, 3)?,
        state: serde_json::from_str(state).map_err(damaged("a schedule"))?,
    })
}

/// Finds a schedule by its id.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    id: &ScheduleId,
) -> Result<Option<Schedule>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{SCHEDULE} WHERE s.org = ?1 AND s.id = ?2 AND {IS_SEEN}"))?;
    let mut rows = select.query(params![org, id.as_str()])?;
    rows.next()?.map(schedule).transpose()
}

pub(super) fn find_at(
    connection: &Connection,
    org: OrgKey,
    position: Position,
) -> Result<Option<Schedule>, StoreError> {
    let mut select = connection
        .prepare_cached(&format!("{SCHEDULE} WHERE s.org = ?1 AND s.schedule = ?2 AND {IS_SEEN}"))?;
    let mut rows = select.query(params![org, position.number()])?;
    rows.next()?.map(schedule).transpose()
}

pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    before: Option<Position>,
    limit: usize,
) -> Result<Schedules, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "{SCHEDULE} WHERE s.org = ?1 AND s.schedule < ?2 AND {IS_SEEN} ORDER BY s.schedule DESC LIMIT ?3"
    ))?;
    let before = before.map_or(i64::MAX, Position::number);
    let mut rows = select.query(params![org, before, limit.saturating_add(1)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(schedule(row)?);
    }
    Ok(Schedules::page(found, limit))
}

/// Returns the schedules with the earliest next ticks, and their organizations.
pub(super) fn next(connection: &Connection, limit: usize) -> Result<Vec<(OrgId, Schedule)>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "{SCHEDULE} WHERE s.next_ns IS NOT NULL AND {IS_SEEN} ORDER BY s.next_ns LIMIT ?1"
    ))?;
    let mut name = connection.prepare_cached("SELECT name FROM orgs WHERE org = ?1")?;
    let mut rows = select.query([limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let org: String = name.query_row([row.get::<_, OrgKey>(8)?], |row| row.get(0))?;
        found.push((org.parse().map_err(damaged("an organization"))?, schedule(row)?));
    }
    Ok(found)
}

impl Sqlite {
    pub(crate) fn create_schedule<'a>(
        &'a self,
        org: &OrgId,
        schedule: NewSchedule,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<ScheduleChanged>> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.create_schedule(&org, &schedule, request_key))
    }

    pub(crate) fn schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> Reply<'a, Option<Schedule>> {
        let (org, id) = (self.orgs.get(org), id.clone());
        self.readers.run(move |connection, _| find(connection, org?, &id))
    }

    pub(crate) fn schedule_at<'a>(&'a self, org: &OrgId, position: Position) -> Reply<'a, Option<Schedule>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| find_at(connection, org?, position))
    }

    pub(crate) fn schedules<'a>(
        &'a self,
        org: &OrgId,
        before: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Schedules> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| page(connection, org?, before, limit))
    }

    pub(crate) fn change_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        change: ScheduleChange,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<ScheduleChanged>> {
        let (org, id) = (org.clone(), id.clone());
        self.writer.send(1, move |transaction| transaction.change_schedule(&org, &id, change, request_key))
    }

    pub(crate) fn delete_schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> Reply<'a, bool> {
        let (org, id) = (org.clone(), id.clone());
        self.writer.send(1, move |transaction| transaction.delete_schedule(&org, &id))
    }

    pub(crate) fn next_schedules(&self, limit: usize) -> Reply<'_, Vec<(OrgId, Schedule)>> {
        self.readers.run(move |connection, _| next(connection, limit))
    }

    pub(crate) fn fire_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        fire: Fire,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Fired>> {
        let (org, id) = (org.clone(), id.clone());
        self.writer.send(1, move |transaction| transaction.fire_schedule(&org, &id, &fire, request_key))
    }
}
