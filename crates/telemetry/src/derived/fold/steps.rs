//! The steps of one OTLP signal: the latest ones one by one, the older ones as one entry per trace.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use renown_core::session_metrics::Signals;
use renown_core::time::Timestamp;

use crate::derived::{Calls, Moment};
use crate::facts::Fingerprint;
use crate::limits::{FOLDED_TRACES_MAX, LATEST_STEPS_MAX};

/// A step, with fields in sorting order: by moment, then prompts before calls, then by tool name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::derived) struct Key {
    pub(in crate::derived) moment: Moment,
    pub(in crate::derived) is_call: bool,
    pub(in crate::derived) tool: Option<Arc<str>>,
    pub(in crate::derived) ok: Option<bool>,
    pub(in crate::derived) trace: Option<Fingerprint>,
}

impl Key {
    pub(in crate::derived) fn prompt(moment: Moment, trace: Option<Fingerprint>) -> Self {
        Self { moment, is_call: false, tool: None, ok: None, trace }
    }

    pub(in crate::derived) fn call(moment: Moment, tool: Option<&str>, ok: Option<bool>) -> Self {
        Self { moment, is_call: true, tool: tool.map(Arc::from), ok, trace: None }
    }
}

/// A trace whose steps are no longer stored one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::derived) struct Entry {
    /// Moment of the prompt. `None` in the first entry.
    pub(in crate::derived) prompt: Option<Moment>,
    /// OTLP trace that counts as the prompt.
    pub(in crate::derived) trace: Option<Fingerprint>,
    pub(in crate::derived) started_at: Option<Timestamp>,
    /// Moment of the last step, if there is one.
    pub(in crate::derived) last: Option<Moment>,
    pub(in crate::derived) calls: Calls<Arc<str>>,
}

impl Entry {
    fn new(moment: Moment, trace: Option<Fingerprint>) -> Self {
        let calls = Calls::default();
        Self { prompt: Some(moment), trace, started_at: moment.1, last: Some(moment), calls }
    }

    /// Whether all steps of the trace happened before this moment.
    fn ends_before(&self, moment: Moment) -> bool {
        self.last.is_none_or(|last| last < moment)
    }
}

/// Adds a step that happened after all steps of the entries.
fn push(entries: &mut Vec<Entry>, key: &Key) {
    let Some(last) = entries.last_mut() else { return };
    if !key.is_call {
        // A streak ends with its trace.
        last.calls.streak = None;
        entries.push(Entry::new(key.moment, key.trace));
        return;
    }
    last.calls.add(key.tool.clone(), key.ok);
    last.last = Some(key.moment);
    last.started_at = last.started_at.or(key.moment.1);
}

/// An error: a late step cannot be added exactly.
pub(super) struct Late;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::derived) struct Fold {
    /// Moment of the first fact that is not a step.
    pub(in crate::derived) first_other: Option<Moment>,
    /// The older traces. The first entry is the part before the first prompt.
    pub(in crate::derived) entries: Vec<Entry>,
    /// OTLP traces that count as prompts of the entries.
    pub(in crate::derived) known: HashSet<Fingerprint>,
    /// The last step that was moved to the entries.
    pub(in crate::derived) reached: Option<Key>,
    /// The latest steps, sorted.
    pub(in crate::derived) latest: VecDeque<Key>,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            first_other: None,
            entries: vec![Entry::default()],
            known: HashSet::new(),
            reached: None,
            latest: VecDeque::new(),
        }
    }
}

impl Fold {
    pub(super) fn add(&mut self, key: Key) -> Result<(), Late> {
        if let Some(trace) = key.trace {
            if self.known.contains(&trace) {
                return self.add_earlier_span(&key);
            }
            let same = self.latest.iter().position(|known| known.trace == Some(trace));
            if let Some(index) = same {
                if self.latest.get(index).is_some_and(|known| *known <= key) {
                    return Ok(());
                }
                if self.is_late(&key) {
                    return Err(Late);
                }
                self.latest.remove(index);
            }
        }
        if self.is_late(&key) {
            return if key.is_call { self.add_late_call(&key) } else { self.add_late_prompt(&key) };
        }
        let index = self.latest.partition_point(|known| *known <= key);
        self.latest.insert(index, key);
        if self.latest.len() > LATEST_STEPS_MAX {
            self.settle()?;
        }
        Ok(())
    }

    fn is_late(&self, key: &Key) -> bool {
        self.reached.as_ref().is_some_and(|reached| key < reached)
    }

    /// Moves the earliest of the latest steps to the entries.
    fn settle(&mut self) -> Result<(), Late> {
        let Some(key) = self.latest.pop_front() else { return Ok(()) };
        push(&mut self.entries, &key);
        self.known.extend(key.trace);
        self.reached = Some(key);
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Late> {
        if self.entries.len() > FOLDED_TRACES_MAX { Err(Late) } else { Ok(()) }
    }

    /// Returns how many entries begin before a step.
    fn begun_before(&self, key: &Key) -> usize {
        self.entries.partition_point(|entry| match entry.prompt {
            None => true,
            Some(prompt) => Key::prompt(prompt, entry.trace) < *key,
        })
    }

    fn add_late_call(&mut self, key: &Key) -> Result<(), Late> {
        let index = self.begun_before(key);
        let entry = index.checked_sub(1).and_then(|index| self.entries.get_mut(index)).ok_or(Late)?;
        let calls = &mut entry.calls;
        match key.ok {
            // `reached` is after this call, so the current streak does not continue from it.
            Some(false) if calls.longest == 0 => calls.longest = 1,
            Some(true) | None if calls.longest <= 1 => {}
            Some(_) | None => return Err(Late),
        }
        calls.all += 1;
        calls.ok += u32::from(key.ok == Some(true));
        entry.last = entry.last.max(Some(key.moment));
        if entry.prompt.is_none()
            && let Some(at) = key.moment.1
        {
            entry.started_at = Some(entry.started_at.map_or(at, |started| started.min(at)));
        }
        Ok(())
    }

    fn add_late_prompt(&mut self, key: &Key) -> Result<(), Late> {
        let index = self.begun_before(key);
        let before = index.checked_sub(1).and_then(|index| self.entries.get(index)).ok_or(Late)?;
        if !before.ends_before(key.moment) {
            return Err(Late);
        }
        self.entries.insert(index, Entry::new(key.moment, key.trace));
        self.known.extend(key.trace);
        self.check_size()
    }

    /// Adds another span of an OTLP trace that counts as a prompt. The earliest span is the prompt.
    fn add_earlier_span(&mut self, key: &Key) -> Result<(), Late> {
        let found = self.entries.iter().position(|entry| entry.trace == key.trace).ok_or(Late)?;
        let is_last = found + 1 == self.entries.len();
        let ends_before = |entry: &Entry| entry.ends_before(key.moment);
        let is_free =
            found.checked_sub(1).and_then(|before| self.entries.get(before)).is_some_and(ends_before);
        let entry = self.entries.get_mut(found).ok_or(Late)?;
        if entry.prompt.is_some_and(|prompt| prompt <= key.moment) {
            return Ok(());
        }
        if !is_free {
            return Err(Late);
        }
        (entry.prompt, entry.started_at) = (Some(key.moment), key.moment.1);
        if entry.calls.all.0 == 0 {
            entry.last = Some(key.moment);
            if is_last {
                self.reached = Some(key.clone());
            }
        }
        Ok(())
    }

    /// Returns the traces that are listed: number, start, signals.
    pub(super) fn shown(&self) -> Vec<(usize, Option<Timestamp>, Signals)> {
        let (last, older) =
            self.entries.split_last().map_or((None, &[][..]), |(last, older)| (Some(last), older));
        let mut latest: Vec<Entry> = last.into_iter().cloned().collect();
        for key in &self.latest {
            push(&mut latest, key);
        }
        let all = || older.iter().chain(&latest);
        let first_prompt = all().find_map(|entry| entry.prompt);
        let other = self.first_other.filter(|other| first_prompt.is_none_or(|first| *other < first));
        let show = |(number, entry): (usize, &Entry)| {
            if entry.prompt.is_some() {
                return Some((number, entry.started_at, entry.calls.signals()));
            }
            let started_at = match other.and_then(|(_, at, _)| at) {
                Some(at) => Some(entry.started_at.map_or(at, |started| started.min(at))),
                None => entry.started_at,
            };
            let is_there = other.is_some() || entry.calls.all.0 > 0;
            is_there.then(|| (number, started_at, entry.calls.signals()))
        };
        all().enumerate().filter_map(show).collect()
    }
}
