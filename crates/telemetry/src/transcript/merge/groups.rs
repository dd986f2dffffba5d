//! Which session owns a record that several sessions have, and which version of it counts.

use std::hash::BuildHasherDefault;

use renown_core::time::Timestamp;

use super::sessions::{SessionNumber, Sessions};
use crate::dialect::Agent;
use crate::facts::Fingerprint;
use crate::transcript::collect::ByFingerprint;
use crate::transcript::{CopiedFrom, Entry, Transcript};

/// The sessions that have a record, for each record that more than one session has.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The session of each key, or the number of its group with [`SHARED`].
    pub(super) by_key: ByFingerprint<u32>,
    pub(super) list: Vec<Group>,
    pub(super) owners: Vec<SessionNumber>,
}

#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) sessions: Vec<SessionNumber>,
    /// Sessions that a mark names.
    pub(super) origins: Vec<SessionNumber>,
    /// Sessions whose own copy has a mark.
    pub(super) copies: Vec<SessionNumber>,
}

pub(super) const SHARED: u32 = 1 << 31;

impl Groups {
    pub(super) fn of(files: &[(Agent, Transcript)], all: &Sessions<'_>) -> Self {
        let mut groups = Self::default();
        for (number, (_, file)) in files.iter().enumerate() {
            let start = all.start_of(number);
            for moment in file.moments.iter().filter(|moment| moment.line >= start) {
                groups.add(all, number, moment.session, moment.key, moment.copied_from);
            }
            for entry in file.entries.iter().filter(|entry| entry.line >= start) {
                let alias = entry.keys.alias.filter(|_| !entry.keys.has_weak_alias);
                for key in [entry.keys.key, alias] {
                    groups.add(all, number, entry.session, key, entry.copied_from);
                }
            }
        }
        let ranks = groups.ranks(files, all);
        groups.owners = groups.list.iter().map(|group| group.owner(&ranks)).collect();
        groups
    }

    pub(super) fn add(
        &mut self,
        all: &Sessions<'_>,
        file: usize,
        session: u32,
        key: Option<Fingerprint>,
        copied_from: Option<CopiedFrom>,
    ) {
        let (Some(key), Some(session)) = (key, all.of_file(file, session)) else { return };
        let origin = copied_from.and_then(|mark| Some((all.of_file(file, mark.session)?, mark.is_certain)));
        let origin = origin.filter(|(origin, _)| all.get(*origin).is_some_and(|about| about.has_records));
        let known = self.by_key.get(&key).copied();
        if origin.is_none() && known.is_none_or(|known| known == session) {
            self.by_key.insert(key, session);
            return;
        }
        let number = match known {
            Some(known) if known & SHARED != 0 => known & !SHARED,
            before => {
                let number = u32::try_from(self.list.len()).unwrap_or_default();
                self.list.push(Group { sessions: before.into_iter().collect(), ..Group::default() });
                self.by_key.insert(key, number | SHARED);
                number
            }
        };
        let Some(group) = self.list.get_mut(number as usize) else { return };
        let put = |list: &mut Vec<SessionNumber>, session| {
            if !list.contains(&session) {
                list.push(session);
            }
        };
        put(&mut group.sessions, session);
        if let Some((origin, is_certain)) = origin {
            // A mark that is no proof needs the record in the other session; that is decided by the owner.
            put(&mut group.origins, origin);
            put(&mut group.copies, session);
            if is_certain {
                put(&mut group.sessions, origin);
            }
        }
    }

    /// Returns the rank of each session: the session with the least rank owns a copied record.
    pub(super) fn ranks<'f>(
        &self,
        files: &[(Agent, Transcript)],
        all: &Sessions<'f>,
    ) -> Vec<(Option<Timestamp>, &'f str)> {
        let mut own: Vec<Option<Timestamp>> = all.list.iter().map(|about| about.created).collect();
        for (number, (_, file)) in files.iter().enumerate() {
            for moment in &file.moments {
                let is_shared = self.group(moment.key).is_some_and(|(_, group)| group.sessions.len() > 1);
                let Some(session) = all.of_file(number, moment.session).filter(|_| !is_shared) else {
                    continue;
                };
                let has_creation = all.get(session).is_some_and(|about| about.created.is_some());
                if let Some(first) = own.get_mut(session as usize).filter(|_| !has_creation) {
                    *first = Some(first.map_or(moment.at, |first| first.min(moment.at)));
                }
            }
        }
        own.into_iter().zip(&all.list).map(|(first, about)| (first, about.id)).collect()
    }

    /// Returns the session in which a record counts.
    pub(super) fn owner(&self, key: Option<Fingerprint>, session: SessionNumber) -> SessionNumber {
        self.group(key).and_then(|(number, _)| self.owners.get(number).copied()).unwrap_or(session)
    }

    /// Returns the group of a key with its number, if more than one answer is possible.
    pub(super) fn group(&self, key: Option<Fingerprint>) -> Option<(usize, &Group)> {
        let known = *self.by_key.get(&key?)?;
        let number = (known & !SHARED) as usize;
        (known & SHARED != 0).then_some(number).and_then(|number| Some((number, self.list.get(number)?)))
    }
}

impl Group {
    pub(super) fn owner(&self, ranks: &[(Option<Timestamp>, &str)]) -> SessionNumber {
        let rank = |session: &SessionNumber| ranks.get(*session as usize);
        let least = |sessions: &mut dyn Iterator<Item = SessionNumber>| sessions.min_by_key(rank);
        let origins = || self.origins.iter().copied().filter(|origin| self.sessions.contains(origin));
        least(&mut origins().filter(|origin| !self.copies.contains(origin)))
            .or_else(|| least(&mut origins()))
            .or_else(|| least(&mut self.sessions.iter().copied()))
            .unwrap_or_default()
    }
}

/// A fact that counts.
pub(super) struct Kept<'f> {
    pub(super) owner: SessionNumber,
    /// The best version of the fact, and the number of its file.
    pub(super) entry: &'f Entry,
    pub(super) file: usize,
}

/// Returns each fact once. Side conversations come last, because they repeat records of the main one.
pub(super) fn keep<'f>(
    files: &'f [(Agent, Transcript)],
    all: &Sessions<'_>,
    groups: &Groups,
) -> Vec<Kept<'f>> {
    let total = files.iter().map(|(_, file)| file.entries.len()).sum();
    let mut kept: Vec<Kept<'f>> = Vec::with_capacity(total);
    let mut by_key: ByFingerprint<usize> =
        ByFingerprint::with_capacity_and_hasher(total, BuildHasherDefault::default());
    for side in [false, true] {
        for (file, (_, transcript)) in files.iter().enumerate() {
            let start = all.start_of(file);
            let entries = transcript.entries.iter();
            for entry in entries.filter(|entry| entry.line >= start && entry.is_side == side) {
                let Some(session) = all.of_file(file, entry.session) else { continue };
                let keys = entry.keys;
                let other = || {
                    let other = keys.alias.and_then(|alias| by_key.get(&alias)).copied()?;
                    let is_side = side || kept.get(other).is_some_and(|kept| kept.entry.is_side);
                    (!keys.has_weak_alias || is_side).then_some(other)
                };
                let known = keys.key.and_then(|key| by_key.get(&key)).copied().or_else(other);
                if let Some(known) = known.and_then(|known| kept.get_mut(known)) {
                    if entry.is_better_than(known.entry) {
                        (known.entry, known.file) = (entry, file);
                    }
                    continue;
                }
                let alias = keys.alias.filter(|_| !keys.has_weak_alias);
                let key = keys.key.filter(|key| groups.group(Some(*key)).is_some()).or(alias);
                for key in [keys.key, keys.alias].into_iter().flatten() {
                    by_key.entry(key).or_insert(kept.len());
                }
                kept.push(Kept { owner: groups.owner(key, session), entry, file });
            }
        }
    }
    kept
}
