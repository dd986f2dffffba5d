//! Writes reputation events, and the sums of the minutes, hours and days that contain them.

use std::collections::HashMap;

use renown_core::identity::Event;
use renown_core::ids::{IdentityId, OrgId};
use rusqlite::params;

use super::Transaction;
use crate::error::StoreError;
use crate::evidence::Salt;
use crate::fold::identities::{Recording, SumChanges};
use crate::identities::{NewReputationEvent, Recorded};
use crate::request_keys::{Accepted, RequestKey};
use crate::sqlite::identities::find;
use crate::sqlite::orgs::OrgKey;

impl Transaction<'_> {
    /// Counts events. The first copy of an id counts.
    pub(in crate::sqlite) fn add_reputation_events(
        &mut self,
        org: &OrgId,
        events: &[NewReputationEvent],
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<Recorded>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        // Before anything is written: an agent with damaged evidence fails only the writes that name it.
        for agent in events.iter().filter_map(|new| new.agent.as_ref()) {
            self.load_agent(&(org, agent.clone()), 0)?;
        }
        let of_session = self.first_session_event(org, events.iter().map(|new| new.event.event_id))?;
        let mut recording = match Recording::begin(of_session) {
            Ok(recording) => recording,
            Err(refused) => return Ok(Accepted::Fresh(refused)),
        };
        let (mut identities, mut sums) = (HashMap::new(), SumChanges::default());
        for new in events {
            let known = match identities.get(&new.identity) {
                Some(&known) => Some(known),
                None => find(self.connection, org, new.identity)?,
            };
            let is_repeat = match known {
                // The unique index refuses a known id.
                Some(identity) => !self.insert_event(org, identity, &new.event)?,
                None => self.has_event(org, &new.event)?,
            };
            let Some(change) = recording.count(is_repeat, new) else { continue };
            let identity = if let Some(identity) = known {
                identity
            } else {
                let identity = self.insert_identity(org, change.identity)?;
                self.insert_event(org, identity, change.event)?;
                identity
            };
            identities.insert(change.identity, identity);
            sums.add_event(identity, change.event);
            if let Some(agent) = change.agent {
                self.name_agent(&(org, agent.clone()))?;
            }
        }
        self.change_sums(&sums, 1)?;
        let (recorded, kept) = recording.finish();
        self.keep(request_key, || kept)?;
        Ok(Accepted::Fresh(recorded))
    }

    /// Returns whether an event has this id. Then the new one is a repeat.
    fn has_event(&mut self, org: OrgKey, event: &Event) -> Result<bool, StoreError> {
        if self.free_event_id(org, event.event_id)? {
            return Ok(false);
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT 1 FROM reputation_events WHERE org = ?1 AND event_id = ?2")?;
        Ok(select.exists(params![org, event.event_id.as_bytes()])?)
    }

    /// Adds an identity. Returns its number.
    pub(super) fn insert_identity(&self, org: OrgKey, identity: IdentityId) -> Result<i64, StoreError> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO identities (org, id) VALUES (?1, ?2)")?;
        insert.execute(params![org, identity.as_uuid().as_bytes()])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Writes an event. Returns `false` if its id exists.
    pub(super) fn insert_event(
        &mut self,
        org: OrgKey,
        identity: i64,
        event: &Event,
    ) -> Result<bool, StoreError> {
        let salt: Salt = self.salts.draw()?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO reputation_events (org, identity, event_id, month, at_ns, category, event_type, delta, confidence, \
             reference_type, reference_id, attributes, accepted_at, salt) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (org, event_id) DO NOTHING",
        )?;
        let attributes = serde_json::to_string(&event.attributes).unwrap_or_default();
        let inserted = insert.execute(params![
            org,
            identity,
            event.event_id.as_bytes(),
            event.timestamp.month(),
            event.timestamp.nanos(),
            event.category.name(),
            event.event_type.as_str(),
            event.score_delta.millionths(),
            event.confidence.get(),
            event.reference_type.name(),
            event.reference_id,
            attributes,
            self.latest.millis(),
            salt,
        ])?;
        drop(insert);
        if inserted == 0 && self.free_event_id(org, event.event_id)? {
            return self.insert_event(org, identity, event);
        }
        Ok(inserted > 0)
    }

    /// Adds to the sums (`sign` 1) or subtracts from them (-1). Deletes the row of a span without events.
    pub(super) fn change_sums(&self, changes: &SumChanges<i64>, sign: i64) -> Result<(), StoreError> {
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO identity_sums (identity, level, start, category, count, positive, negative, units, millionths) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (identity, level, start, category) DO UPDATE SET \
             count = count + excluded.count, positive = positive + excluded.positive, negative = negative + excluded.negative, \
             units = units + excluded.units, millionths = millionths + excluded.millionths",
        )?;
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM identity_sums WHERE identity = ?1 AND level = ?2 AND start = ?3 AND category = ?4 AND count = 0",
        )?;
        for (identity, level, start, category, part) in changes.iter() {
            upsert.execute(params![
                identity,
                level,
                start,
                category,
                sign * i64::from(part.count),
                sign * i64::from(part.positive),
                sign * i64::from(part.negative),
                sign * part.units,
                sign * part.millionths,
            ])?;
            if sign < 0 {
                delete.execute(params![identity, level, start, category])?;
            }
        }
        Ok(())
    }
}
