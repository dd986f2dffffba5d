//! The encoding of a file's facts, for a cache of files that have not changed.
//!
//! ```text
//! version | counts | names | sessions | entries | moments
//! ```
//!
//! A cache can be deleted at any time, so there is one version: bytes of another one are unreadable, and so are those
//! of another release whose readers may find other facts.

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::{CopiedFrom, Entry, FileFork, FileSession, Keys, Moment, Name, Transcript, TranscriptCounts};
use crate::bytes::{Cursor, Read, Unreadable, Writer};
use crate::facts::{Fact, Fingerprint};

/// Raise it whenever a reader finds other facts or the encoding changes.
const VERSION: u8 = 1;

impl Transcript {
    /// Encodes the facts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer(vec![VERSION]);
        let TranscriptCounts { lines, bad_lines, truncated_bytes, unknown } = self.counts;
        for count in [lines, bad_lines, truncated_bytes, unknown] {
            bytes.varint(count.into());
        }
        bytes.varint(self.names.len() as u128);
        self.names.iter().for_each(|name| bytes.text(name));
        bytes.varint(self.sessions.len() as u128);
        self.sessions.iter().for_each(|session| bytes.session(session));
        bytes.varint(self.entries.len() as u128);
        self.entries.iter().for_each(|entry| bytes.entry(entry));
        bytes.varint(self.moments.len() as u128);
        self.moments.iter().for_each(|moment| bytes.moment(moment));
        bytes.0
    }

    /// Decodes the facts. Returns `None` if the bytes are not those of this release.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let transcript = cursor.transcript().ok()?;
        cursor.0.is_empty().then_some(transcript)
    }
}

impl Writer {
    fn session(&mut self, session: &FileSession) {
        let FileSession { id, parent, project, version, created, cost, has_partial_tokens, fork } = session;
        self.text(id);
        self.optional_text(parent.as_deref());
        self.optional_number(project.map(|name| name.0.into()));
        self.optional_number(version.map(|name| name.0.into()));
        self.optional_time(*created);
        self.varint(cost.map_or(0, |cost| cost.nano().saturating_add(1)));
        self.0.push((*has_partial_tokens).into());
        self.0.push(fork.is_some().into());
        if let Some(FileFork { parent, certain_end, burst_end }) = fork {
            self.text(parent);
            self.varint((*certain_end).into());
            self.varint((*burst_end).into());
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let Entry { session, line, copied_from, is_side, at, keys, long_writes, fact } = entry;
        self.varint((*session).into());
        self.varint((*line).into());
        self.mark(*copied_from);
        self.0.extend([u8::from(*is_side), u8::from(keys.has_weak_alias)]);
        self.optional_time(*at);
        self.key(keys.key);
        self.key(keys.alias);
        self.varint((*long_writes).into());
        self.plain_fact(fact);
    }

    fn moment(&mut self, moment: &Moment) {
        let Moment { session, line, copied_from, at, key } = moment;
        self.varint((*session).into());
        self.varint((*line).into());
        self.mark(*copied_from);
        self.0.extend(at.nanos().to_le_bytes());
        self.key(*key);
    }

    fn mark(&mut self, mark: Option<CopiedFrom>) {
        let number = mark.map_or(0, |mark| (u128::from(mark.session) + 1) * 2 + u128::from(mark.is_certain));
        self.varint(number);
    }

    fn key(&mut self, key: Option<Fingerprint>) {
        self.0.extend(key.map_or(0, Fingerprint::get).to_le_bytes());
    }

    /// Writes a fact with the numbers of its names as texts of their digits.
    fn plain_fact(&mut self, fact: &Fact<Name>) {
        let texts = fact.clone().map(|name| name.0.to_string());
        self.fact(&texts);
    }
}

impl Cursor<'_> {
    fn transcript(&mut self) -> Read<Transcript> {
        if self.byte()? != VERSION {
            return Err(Unreadable);
        }
        let counts = TranscriptCounts {
            lines: self.number()?,
            bad_lines: self.number()?,
            truncated_bytes: self.number()?,
            unknown: self.number()?,
        };
        let names = self.list(|cursor| cursor.text().map(Into::into))?;
        let sessions = self.list(Self::session)?;
        let entries = self.list(Self::entry)?;
        let moments = self.list(Self::moment)?;
        Ok(Transcript { counts, names, sessions, entries, moments })
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let length = self.number()?;
        // Every element takes at least one byte.
        let room = usize::try_from(length).ok().filter(|room| *room <= self.0.len()).ok_or(Unreadable)?;
        let mut list = Vec::with_capacity(room);
        for _ in 0..length {
            list.push(read(self)?);
        }
        Ok(list)
    }

    fn small(&mut self) -> Read<u32> {
        u32::try_from(self.varint()?).map_err(|_| Unreadable)
    }

    fn optional_name(&mut self) -> Read<Option<Name>> {
        let number = self.optional_number()?;
        number.map(|number| u32::try_from(number).map(Name).map_err(|_| Unreadable)).transpose()
    }

    fn session(&mut self) -> Read<FileSession> {
        Ok(FileSession {
            id: self.text()?.into(),
            parent: self.optional(|cursor| cursor.text().map(Into::into))?,
            project: self.optional_name()?,
            version: self.optional_name()?,
            created: self.optional(Self::time)?,
            cost: self.varint()?.checked_sub(1).map(NanoUsd::from_nano),
            has_partial_tokens: self.flag()?,
            fork: self.optional(|cursor| {
                Ok(FileFork {
                    parent: cursor.text()?.into(),
                    certain_end: cursor.small()?,
                    burst_end: cursor.small()?,
                })
            })?,
        })
    }

    fn entry(&mut self) -> Read<Entry> {
        let (session, line, copied_from) = (self.small()?, self.small()?, self.mark()?);
        let (is_side, has_weak_alias) = (self.flag()?, self.flag()?);
        let at = self.optional(Self::time)?;
        let keys = Keys { key: self.key()?, alias: self.key()?, has_weak_alias };
        let long_writes = self.number()?;
        let fact = self.plain_fact()?;
        Ok(Entry { session, line, copied_from, is_side, at, keys, long_writes, fact })
    }

    fn moment(&mut self) -> Read<Moment> {
        let (session, line, copied_from) = (self.small()?, self.small()?, self.mark()?);
        let at: Timestamp = self.time()?;
        Ok(Moment { session, line, copied_from, at, key: self.key()? })
    }

    fn mark(&mut self) -> Read<Option<CopiedFrom>> {
        let number = self.small()?;
        let session = (number / 2).checked_sub(1);
        Ok(session.map(|session| CopiedFrom { session, is_certain: number % 2 == 1 }))
    }

    fn key(&mut self) -> Read<Option<Fingerprint>> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Unreadable)?;
        self.0 = rest;
        Ok(Fingerprint::new(u64::from_le_bytes(*bytes)))
    }

    fn plain_fact(&mut self) -> Read<Fact<Name>> {
        let mut is_valid = true;
        let fact = self.fact()?.map(|digits| {
            let number = digits.parse();
            is_valid &= number.is_ok();
            Name(number.unwrap_or_default())
        });
        if is_valid { Ok(fact) } else { Err(Unreadable) }
    }
}
