//! Reads rows of reputation events, sums spans of time, and passes new events to the writer.
//!
//! A span is covered by whole days, the hours before and after them, the minutes before and after those, and the
//! events of at most two cut minutes. So it takes a few hundred rows, however many events there are.

use std::ops::Range;

use renown_core::identity::{Category, Event, EventPart, ScoreDelta, Sums, Windows};
use renown_core::ids::{IdentityId, OrgId};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::Sqlite;
use super::orgs::OrgKey;
use super::rows::{damaged, nanos, text, time};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
pub(super) use crate::fold::identities::LEVELS_NS;
use crate::identities::{NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
use crate::query::TimeCursor;
use crate::request_keys::{Accepted, RequestKey};

/// A part of a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// The events themselves, by their time.
    Events(Range<i64>),
    /// Sums of a level, by their numbers.
    Sums(usize, Range<i64>),
}

/// Cuts a span of nanoseconds into the pieces that cover it.
fn cover(span: Range<i64>, levels: usize, pieces: &mut Vec<Piece>) {
    if span.is_empty() {
        return;
    }
    let Some((level, width)) = levels.checked_sub(1).and_then(|level| Some((level, *LEVELS_NS.get(level)?)))
    else {
        return pieces.push(Piece::Events(span));
    };
    let whole = span.start.div_euclid(width) + i64::from(span.start.rem_euclid(width) > 0)
        ..span.end.div_euclid(width);
    if whole.is_empty() {
        return cover(span, level, pieces);
    }
    cover(span.start..whole.start * width, level, pieces);
    let end = whole.end * width;
    pieces.push(Piece::Sums(level, whole));
    cover(end..span.end, level, pieces);
}

/// Returns the number of an identity, or `None` if it is unknown.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    identity: IdentityId,
) -> Result<Option<i64>, StoreError> {
    let mut select =
        connection.prepare_cached("SELECT identity FROM identities WHERE org = ?1 AND id = ?2")?;
    Ok(select.query_row(params![org, identity.as_uuid().as_bytes()], |row| row.get(0)).optional()?)
}

/// Returns the sums of an identity's events as of a time.
pub(super) fn windows(
    connection: &Connection,
    org: OrgKey,
    identity: IdentityId,
    as_of: Timestamp,
) -> Result<Windows, StoreError> {
    let Some(identity) = find(connection, org, identity)? else { return Ok(Windows::default()) };
    Windows::gather(as_of, |span| sums(connection, identity, span))
}

/// Returns the sums of an identity's events in a span of nanoseconds.
fn sums(connection: &Connection, identity: i64, span: Range<i64>) -> Result<Sums, StoreError> {
    let mut pieces = Vec::new();
    cover(span, LEVELS_NS.len(), &mut pieces);
    let mut total = Sums::default();
    for piece in pieces {
        match piece {
            Piece::Events(span) => {
                let mut select = connection.prepare_cached(
                    "SELECT category, count(*), sum(delta > 0), sum(delta < 0), sum(delta / 1000000), \
                     sum(delta % 1000000) FROM reputation_events \
                     WHERE identity = ?1 AND at_ns >= ?2 AND at_ns < ?3 GROUP BY category",
                )?;
                add(&mut total, select.query(params![identity, span.start, span.end])?)?;
            }
            Piece::Sums(level, span) => {
                // Added up here, because SQLite would sort them to group them.
                let mut select = connection.prepare_cached(
                    "SELECT category, count, positive, negative, units, millionths FROM identity_sums \
                     WHERE identity = ?1 AND level = ?2 AND start >= ?3 AND start < ?4",
                )?;
                add(&mut total, select.query(params![identity, level, span.start, span.end])?)?;
            }
        }
    }
    Ok(total)
}

fn add(total: &mut Sums, mut rows: rusqlite::Rows<'_>) -> Result<(), StoreError> {
    while let Some(row) = rows.next()? {
        let part = EventPart {
            count: row.get(1)?,
            positive: row.get(2)?,
            negative: row.get(3)?,
            units: row.get(4)?,
            millionths: row.get(5)?,
        };
        total.add(category(row, 0)?, part);
    }
    Ok(())
}

pub(super) fn category(row: &Row<'_>, column: usize) -> Result<Category, StoreError> {
    let name = row.get_ref(column)?.as_str().map_err(damaged("a category"))?;
    let known = Category::ALL.into_iter().find(|category| category.name() == name);
    known.ok_or_else(|| StoreError::Damaged(format!("a category: {name:?}")))
}

pub(super) fn delta(row: &Row<'_>, column: usize) -> Result<ScoreDelta, StoreError> {
    let delta = ScoreDelta::from_millionths(row.get(column)?);
    delta.ok_or_else(|| StoreError::Damaged("a score delta".to_owned()))
}

/// The columns of a [`ReputationEvent`], in the order in which [`event`] reads them.
pub(super) const EVENT: &str = "SELECT e.event, i.id, e.event_id, e.at_ns, e.category, e.event_type, e.delta, e.confidence, \
     e.reference_type, e.reference_id, e.attributes, e.accepted_at, e.identity \
     FROM reputation_events e JOIN identities i ON i.identity = e.identity";

pub(super) fn event(row: &Row<'_>) -> Result<ReputationEvent, StoreError> {
    let identity = IdentityId::from(Uuid::from_bytes(row.get(1)?));
    let (attributes, reference): (String, String) = (row.get(10)?, row.get(8)?);
    Ok(ReputationEvent {
        position: Position::of(row.get(0)?),
        identity,
        event: Event {
            event_id: Uuid::from_bytes(row.get(2)?),
            timestamp: nanos(row.get(3)?)?,
            identity_id: Some(identity),
            agent_id: None,
            category: category(row, 4)?,
            event_type: text(row, 5, "an event type")?,
            score_delta: delta(row, 6)?,
            confidence: Unit::new(row.get(7)?).map_err(damaged("a confidence"))?,
            reference_type: serde_json::from_value(reference.into()).map_err(damaged("a reference"))?,
            reference_id: row.get(9)?,
            attributes: serde_json::from_str(&attributes).map_err(damaged("attributes"))?,
        },
        accepted_at: time(row.get(11)?)?,
    })
}

/// A page of the events of an identity, the latest first.
pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    identity: IdentityId,
    after: Option<TimeCursor>,
    limit: usize,
) -> Result<ReputationEvents, StoreError> {
    let Some(identity) = find(connection, org, identity)? else { return Ok(ReputationEvents::default()) };
    let (at, before) =
        after.map_or((i64::MAX, i64::MAX), |after| (after.at.nanos(), after.position.number()));
    let mut select = connection.prepare_cached(&format!(
        "{EVENT} WHERE e.identity = ?1 AND e.at_ns <= ?2 AND (e.at_ns < ?2 OR e.event < ?3) \
         ORDER BY e.at_ns DESC, e.event DESC LIMIT ?4"
    ))?;
    let mut rows = select.query(params![identity, at, before, limit + 1])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(event(row)?);
    }
    Ok(ReputationEvents::page(events, limit))
}

impl Sqlite {
    pub(crate) fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Recorded>> {
        let org = org.clone();
        self.writer.send(events.len(), move |transaction| {
            transaction.add_reputation_events(&org, &events, request_key)
        })
    }

    pub(crate) fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Reply<'a, Windows> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| windows(connection, org?, identity, as_of))
    }

    pub(crate) fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> Reply<'a, ReputationEvents> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| page(connection, org?, identity, after, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = LEVELS_NS[0];
    const HOUR: i64 = LEVELS_NS[1];
    const DAY: i64 = LEVELS_NS[2];

    fn covered(span: Range<i64>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        cover(span, LEVELS_NS.len(), &mut pieces);
        pieces
    }

    #[test]
    fn a_span_is_covered_once_by_the_largest_pieces() {
        let start = 10 * DAY + 22 * HOUR + 58 * MINUTE + 5;
        let end = 12 * DAY + HOUR + 2 * MINUTE + 1;
        assert_eq!(
            covered(start..end),
            [
                Piece::Events(start..10 * DAY + 22 * HOUR + 59 * MINUTE),
                Piece::Sums(0, (10 * DAY + 22 * HOUR) / MINUTE + 59..(10 * DAY + 23 * HOUR) / MINUTE),
                Piece::Sums(1, 10 * 24 + 23..11 * 24),
                Piece::Sums(2, 11..12),
                Piece::Sums(1, 12 * 24..12 * 24 + 1),
                Piece::Sums(0, (12 * DAY + HOUR) / MINUTE..(12 * DAY + HOUR) / MINUTE + 2),
                Piece::Events(12 * DAY + HOUR + 2 * MINUTE..end),
            ]
        );
        assert_eq!(covered(5..9), [Piece::Events(5..9)]);
        assert_eq!(covered(5..5), []);
        assert_eq!(covered(0..DAY), [Piece::Sums(2, 0..1)]);
        assert_eq!(covered(MINUTE - 1..MINUTE + 1), [Piece::Events(MINUTE - 1..MINUTE + 1)]);
    }
}
