//! The steps of one signal: the latest one by one, the older ones as one entry per trace.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use renown_core::session_metrics::Signals;
use renown_core::time::Timestamp;

use crate::derived::{Calls, Place};
use crate::facts::Fingerprint;
use crate::limits::{FOLDED_TRACES_MAX, LATEST_STEPS_MAX};

/// A step by what decides its order: of what happened at once prompts come first, then what has the lesser name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::derived) struct Key {
    pub(in crate::derived) place: Place,
    pub(in crate::derived) is_call: bool,
    pub(in crate::derived) tool: Option<Arc<str>>,
    pub(in crate::derived) ok: Option<bool>,
    pub(in crate::derived) trace: Option<Fingerprint>,
}

impl Key {
    pub(in crate::derived) fn prompt(place: Place, trace: Option<Fingerprint>) -> Self {
        Self { place, is_call: false, tool: None, ok: None, trace }
    }

    pub(in crate::derived) fn call(place: Place, tool: Option<&str>, ok: Option<bool>) -> Self {
        Self { place, is_call: true, tool: tool.map(Arc::from), ok, trace: None }
    }
}

/// What is known of a trace whose steps are no longer known one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::derived) struct Entry {
    /// The place of its prompt; the first entry has none.
    pub(in crate::derived) prompt: Option<Place>,
    /// The trace that stands for the prompt.
    pub(in crate::derived) trace: Option<Fingerprint>,
    pub(in crate::derived) started_at: Option<Timestamp>,
    /// The place of its last step, if there is one.
    pub(in crate::derived) last: Option<Place>,
    pub(in crate::derived) calls: Calls<Arc<str>>,
}

impl Entry {
    fn new(place: Place, trace: Option<Fingerprint>) -> Self {
        let calls = Calls::default();
        Self { prompt: Some(place), trace, started_at: place.1, last: Some(place), calls }
    }

    /// Whether all its steps happened before this place.
    fn ends_before(&self, place: Place) -> bool {
        self.last.is_none_or(|last| last < place)
    }
}

/// Adds the step that comes next.
fn push(entries: &mut Vec<Entry>, key: &Key) {
    let Some(last) = entries.last_mut() else { return };
    if !key.is_call {
        // A row of failing calls ends with its trace.
        last.calls.row = None;
        entries.push(Entry::new(key.place, key.trace));
        return;
    }
    last.calls.add(key.tool.clone(), key.ok);
    last.last = Some(key.place);
    last.started_at = last.started_at.or(key.place.1);
}

/// A step cannot be absorbed.
pub(super) struct Late;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::derived) struct Fold {
    /// The first fact that is no step.
    pub(in crate::derived) first_other: Option<Place>,
    /// The older traces; the first is what comes before the first prompt.
    pub(in crate::derived) entries: Vec<Entry>,
    /// The traces that stand for prompts of them.
    pub(in crate::derived) known: HashSet<Fingerprint>,
    /// The last of the older steps.
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
    pub(super) fn take(&mut self, key: Key) -> Result<(), Late> {
        if let Some(trace) = key.trace {
            if self.known.contains(&trace) {
                return self.take_earlier(&key);
            }
            let same = self.latest.iter().position(|known| known.trace == Some(trace));
            if let Some(place) = same {
                if self.latest.get(place).is_some_and(|known| *known <= key) {
                    return Ok(());
                }
                if self.is_late(&key) {
                    return Err(Late);
                }
                self.latest.remove(place);
            }
        }
        if self.is_late(&key) {
            return if key.is_call { self.absorb_call(&key) } else { self.absorb_prompt(&key) };
        }
        let place = self.latest.partition_point(|known| *known <= key);
        self.latest.insert(place, key);
        if self.latest.len() > LATEST_STEPS_MAX {
            self.settle()?;
        }
        Ok(())
    }

    fn is_late(&self, key: &Key) -> bool {
        self.reached.as_ref().is_some_and(|reached| key < reached)
    }

    /// Moves the first of the latest steps to the older ones.
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

    /// How many of the entries begin before a step.
    fn begun_before(&self, key: &Key) -> usize {
        self.entries.partition_point(|entry| match entry.prompt {
            None => true,
            Some(prompt) => Key::prompt(prompt, entry.trace) < *key,
        })
    }

    fn absorb_call(&mut self, key: &Key) -> Result<(), Late> {
        let place = self.begun_before(key);
        let entry = place.checked_sub(1).and_then(|place| self.entries.get_mut(place)).ok_or(Late)?;
        let calls = &mut entry.calls;
        match key.ok {
            // The step that was reached comes after it, so no row goes on from here.
            Some(false) if calls.longest == 0 => calls.longest = 1,
            Some(true) | None if calls.longest <= 1 => {}
            Some(_) | None => return Err(Late),
        }
        calls.all += 1;
        calls.ok += u32::from(key.ok == Some(true));
        entry.last = entry.last.max(Some(key.place));
        if entry.prompt.is_none()
            && let Some(at) = key.place.1
        {
            entry.started_at = Some(entry.started_at.map_or(at, |started| started.min(at)));
        }
        Ok(())
    }

    fn absorb_prompt(&mut self, key: &Key) -> Result<(), Late> {
        let place = self.begun_before(key);
        let before = place.checked_sub(1).and_then(|place| self.entries.get(place)).ok_or(Late)?;
        if !before.ends_before(key.place) {
            return Err(Late);
        }
        self.entries.insert(place, Entry::new(key.place, key.trace));
        self.known.extend(key.trace);
        self.check_size()
    }

    /// Takes another record of a trace that stands for a prompt: the first by time is the prompt.
    fn take_earlier(&mut self, key: &Key) -> Result<(), Late> {
        let found = self.entries.iter().position(|entry| entry.trace == key.trace).ok_or(Late)?;
        let is_last = found + 1 == self.entries.len();
        let ends_before = |entry: &Entry| entry.ends_before(key.place);
        let is_free =
            found.checked_sub(1).and_then(|before| self.entries.get(before)).is_some_and(ends_before);
        let entry = self.entries.get_mut(found).ok_or(Late)?;
        if entry.prompt.is_some_and(|prompt| prompt <= key.place) {
            return Ok(());
        }
        if !is_free {
            return Err(Late);
        }
        (entry.prompt, entry.started_at) = (Some(key.place), key.place.1);
        if entry.calls.all.0 == 0 {
            entry.last = Some(key.place);
            if is_last {
                self.reached = Some(key.clone());
            }
        }
        Ok(())
    }

    /// The traces that are shown: number, when it began, signals.
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
