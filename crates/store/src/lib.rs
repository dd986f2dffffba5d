//! The evidence store: keeps what was accepted, in order, and makes it durable before it replies.
//!
//! ```text
//! write ──►  bounded queue  ──►  one writer: everything waiting becomes one transaction and one fsync  ──►  visible, answered
//! read  ──►  agent cache, else a pool of readers with their own connections
//! ```
//!
//! Evidence is the only truth. The store also keeps derived data that can always be rebuilt from it, such as the
//! sums of each agent's window ([`renown_core::reputation::Tally`]). It computes no score itself: `renown_core`
//! does, and SQL filters, counts and sorts.
//!
//! What a store promises is in the traits ([`traits`]): [`Evidence`], [`Reads`], [`Control`], [`Upkeep`] and [`Scan`].
//!
//! [`sqlite::Sqlite`] is the store on one machine. [`memory::Memory`] is the simplest implementation that keeps
//! these promises (except durability). The conformance suite compares every other store with it.
//!
//! Deliberately absent: HTTP, formulas, and the payloads (`input`, `output`) of evaluations.

mod admin;
mod changes;
mod clock;
pub mod cursors;
pub mod days;
mod engines;
mod error;
mod eval_runs;
mod evidence;
mod fold;
mod group;
pub mod history;
mod holder;
mod identities;
mod keys;
#[expect(clippy::needless_pass_by_value, clippy::unused_self, reason = "its methods are those of the traits")]
pub mod memory;
mod overview;
mod query;
mod request_keys;
mod runs;
mod schedules;
mod sessions;
pub mod sqlite;
pub mod traits;
mod verify;
mod waits;

pub use admin::{
    LatencySource, OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone,
};
pub use changes::{ChangeCursor, ChangePage};
pub use clock::{Clock, ClockError, RELEASED_MS, Ready, STANDSTILL_MS, system_clock};
pub use cursors::Cursor;
pub(crate) use engines::Reply;
pub use error::{EngineCause, OpenError, ReadError, WriteError};
pub use eval_runs::{
    EVAL_SESSIONS_MAX, EVAL_STEP, EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome,
    EvalProgress, EvalResult, EvalResultQuery, EvalResults, EvalRun, EvalRunQuery, EvalRuns, EvalState,
    EvalStep, EvalTargets, NewEvalRun, SessionMark, advance_eval_runs,
};
pub use evidence::{EvaluationOutcome, NewEvaluation, NewEvaluationId, Position, Salt, StoredEvaluation};
pub use history::{HistorySteps, Point};
pub use holder::{LockHolder, LockPurpose};
pub use identities::{NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
pub use keys::{ApiKey, KeyHash, KeyId, KeyKind, NewKey};
pub use overview::{
    Activity, AgentDays, AgentEvidence, CHANGES_SHOWN, GATE_DAYS, GateFailures, OVERVIEW_DAYS, OrgOverview,
    ScoreChange,
};
pub use query::{
    AgentCursor, AgentQuery, AgentSort, AgentSummary, Agents, EvaluationPage, EvaluationQuery, TimeCursor,
};
pub use request_keys::{
    Accepted, EvaluationsReceipt, KnownRequest, REQUEST_KEYS_KEPT_MS, Receipt, RequestKey,
};
pub use runs::{
    NewRun, RankedAttempt, Run, RunQuery, RunScore, Runs, SpecRanking, SpecSummary, Specs, Submitted,
};
pub use schedules::{
    Fire, Fired, NewSchedule, Schedule, ScheduleChange, ScheduleChanged, ScheduleState, Schedules,
};
pub use sessions::{
    Closed, NewSignals, NewTrace, RecordCursor, SessionQuery, SessionRecord, SessionRecords, SessionSummary,
    SessionTrace, Sessions, StoredSession,
};
pub use traits::{
    Control, Evidence, EvidenceKind, Piece, Progress, ReadOnlyStore, ReadReply, Reads, SCAN_MAX, Scan, Store,
    Upkeep, WriteReply, scan_all,
};
pub use verify::{Difference, Verified, VerifyResult, verify};
pub use waits::{SLOW_COMMIT, Stage, WriteWaits};

/// The organization that every store has from its first start.
pub const DEFAULT_ORG: &str = "default";
