//! Schedules: eval runs that start by themselves, once per tick.
//!
//! ```text
//! due(schedule, now) ──►  changed since the last run?  ──►  fire: the tick and its run in one transaction
//! ```
//!
//! A tick is used up in the transaction that starts its run, and only if the schedule is still where the caller read
//! it ([`Schedule::version`]). So one tick starts at most one run, across restarts and with several servers. Ticks that
//! were missed collapse into the latest, see [`renown_core::schedule`].
//!
//! **Only if changed.** A schedule remembers the [`SessionMark`] of its sessions at its last run. It starts no run while
//! the mark is the same. Evidence that arrives late changes the mark like any other.

use renown_core::eval::EvalSettings;
use renown_core::ids::{EvalRunId, ScheduleId};
use renown_core::schedule::Cadence;
use renown_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::eval_runs::{EvalFilter, EvalRun, EvalTargets, NewEvalRun, SessionMark};
use crate::evidence::Position;

/// What a client sets of a schedule.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// Its id.
    pub id: ScheduleId,
    /// Its name, for people. Its runs have it too.
    pub name: String,
    /// When it fires.
    pub cadence: Cadence,
    /// What its runs compute.
    pub settings: EvalSettings,
    /// For these sessions.
    pub filter: EvalFilter,
    /// Whether a tick without new evidence starts no run.
    pub only_if_changed: bool,
}

/// Changes of a schedule. What is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct ScheduleChange {
    /// Its name.
    pub name: Option<String>,
    /// When it fires.
    pub cadence: Option<Cadence>,
    /// What its runs compute.
    pub settings: Option<EvalSettings>,
    /// For these sessions.
    pub filter: Option<EvalFilter>,
    /// Whether a tick without new evidence starts no run.
    pub only_if_changed: Option<bool>,
    /// Whether it is paused.
    pub paused: Option<bool>,
}

/// A schedule in the store.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Its position in the order of creation.
    pub position: Position,
    /// Its id.
    pub id: ScheduleId,
    /// The sessions of its runs.
    pub filter: EvalFilter,
    /// When it fires.
    pub cadence: Cadence,
    /// Everything else.
    pub state: ScheduleState,
}

/// The state of a schedule, which each store keeps as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleState {
    /// Its name, for people.
    pub name: String,
    /// What its runs compute.
    pub settings: EvalSettings,
    /// Whether a tick without new evidence starts no run.
    pub only_if_changed: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// When it was created.
    pub created_ns: i64,
    /// The last tick that was used up; before the first, when it was created or resumed.
    pub last_tick_ns: i64,
    /// The last run that it started.
    pub last_run: Option<EvalRunId>,
    /// The sessions at that run.
    mark: Option<SessionMark>,
    /// Number of changes. A tick is used up only on the version that the caller read.
    pub version: u64,
}

/// The result of creating or changing a schedule.
#[derive(Clone, Debug)]
pub enum ScheduleChanged {
    /// The schedule afterwards.
    Changed(Box<Schedule>),
    /// The agent of its filter is unknown. Nothing was changed.
    NoAgent,
    /// There is no such schedule.
    Unknown,
}

/// What uses up a tick, or starts a run out of turn.
#[derive(Clone, Debug)]
pub struct Fire {
    /// The version of the schedule that the caller read.
    pub version: u64,
    /// The tick that is used up; `None` if a client asked for a run.
    pub tick: Option<Timestamp>,
    /// The sessions of the filter, as the caller read them.
    pub mark: SessionMark,
    /// The id of the run.
    pub run: EvalRunId,
    /// The seed of its sample.
    pub seed: u64,
}

/// What became of a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Fired {
    /// It started this run.
    Started(Box<EvalRun>),
    /// Nothing had changed, so it started no run.
    Unchanged,
    /// The schedule is no longer where the caller read it. Nothing was changed.
    Moved,
}

impl Schedule {
    /// Creates a schedule at a position and a time.
    pub(crate) fn created(new: &NewSchedule, position: Position, now: Timestamp) -> Self {
        Self {
            position,
            id: new.id.clone(),
            filter: new.filter.clone(),
            cadence: new.cadence.clone(),
            state: ScheduleState {
                name: new.name.clone(),
                settings: new.settings.clone(),
                only_if_changed: new.only_if_changed,
                is_paused: false,
                created_ns: now.nanos(),
                last_tick_ns: now.nanos(),
                last_run: None,
                mark: None,
                version: 0,
            },
        }
    }

    /// Returns the schedule as `new` created it, with the position and the time of this one.
    #[must_use]
    pub fn as_created(&self, new: &NewSchedule) -> Self {
        let created_at = Timestamp::from_nanos(self.state.created_ns).unwrap_or(Timestamp::MIN);
        Self { id: self.id.clone(), ..Self::created(new, self.position, created_at) }
    }

    /// Returns the last tick that was used up.
    pub fn last_tick(&self) -> Timestamp {
        Timestamp::from_nanos(self.state.last_tick_ns).unwrap_or(Timestamp::MIN)
    }

    /// Returns the next tick; `None` while it is paused.
    pub fn next_tick(&self) -> Option<Timestamp> {
        if self.state.is_paused { None } else { self.cadence.next_after(self.last_tick()) }
    }

    /// Returns the tick that has to run now.
    pub fn due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.state.is_paused { None } else { self.cadence.due(self.last_tick(), now) }
    }

    /// Applies a change at a time. Ticks that passed during a pause, or before a new cadence, are not made up for.
    pub(crate) fn change(&mut self, change: ScheduleChange, now: Timestamp) {
        let ScheduleChange { name, cadence, settings, filter, only_if_changed, paused } = change;
        let state = &mut self.state;
        let is_resumed = state.is_paused && paused == Some(false);
        if is_resumed || cadence.is_some() {
            state.last_tick_ns = state.last_tick_ns.max(now.nanos());
        }
        if filter.is_some() || settings.is_some() {
            state.mark = None;
        }
        state.name = name.unwrap_or_else(|| state.name.clone());
        state.settings = settings.unwrap_or_else(|| state.settings.clone());
        state.only_if_changed = only_if_changed.unwrap_or(state.only_if_changed);
        state.is_paused = paused.unwrap_or(state.is_paused);
        state.version += 1;
        self.cadence = cadence.unwrap_or_else(|| self.cadence.clone());
        self.filter = filter.unwrap_or_else(|| self.filter.clone());
    }

    /// Uses up a tick. A run that a client asked for needs neither a tick nor new evidence.
    pub(crate) fn fire(&mut self, fire: &Fire) -> TickUse {
        let state = &mut self.state;
        if let Some(tick) = fire.tick {
            if fire.version != state.version || state.is_paused || tick.nanos() <= state.last_tick_ns {
                return TickUse::Moved;
            }
            state.last_tick_ns = tick.nanos();
        }
        state.version += 1;
        if fire.tick.is_some() && state.only_if_changed && state.mark == Some(fire.mark) {
            return TickUse::Unchanged;
        }
        state.mark = Some(fire.mark);
        state.last_run = Some(fire.run.clone());
        TickUse::Start(NewEvalRun {
            id: fire.run.clone(),
            name: Some(state.name.clone()),
            settings: state.settings.clone(),
            targets: EvalTargets::Filter(self.filter.clone()),
            seed: fire.seed,
        })
    }
}

/// What a tick means for a schedule.
#[derive(Debug)]
pub(crate) enum TickUse {
    /// The schedule is no longer where the caller read it.
    Moved,
    /// The tick is used up, and starts no run.
    Unchanged,
    /// The tick is used up, and starts this run.
    Start(NewEvalRun),
}

/// A page of schedules.
#[derive(Clone, Debug, Default)]
pub struct Schedules {
    /// The schedules, the last created first.
    pub schedules: Vec<Schedule>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
}

impl Schedules {
    /// Makes a page from sorted schedules. The caller reads one more than the limit, if there are more.
    pub(crate) fn page(mut schedules: Vec<Schedule>, limit: usize) -> Self {
        let more = schedules.len() > limit;
        schedules.truncate(limit);
        let next = schedules.last().filter(|_| more).map(|last| last.position);
        Self { schedules, next }
    }
}
