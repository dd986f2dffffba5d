//! All evidence of a kind.

use renown_core::ids::OrgId;

use super::ReadReply;
use crate::error::ReadError;
use crate::evidence::{Position, StoredEvaluation};
use crate::identities::ReputationEvent;
use crate::runs::Run;
use crate::sessions::StoredSession;

/// Maximum number of pieces that one call returns.
pub const SCAN_MAX: usize = 1000;

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceKind {
    /// Evaluations.
    Evaluations,
    /// Runs.
    Runs,
    /// Reputation events.
    ReputationEvents,
    /// Sessions.
    Sessions,
}

/// A piece of evidence that a scan finds.
pub trait Piece {
    /// Returns its position.
    fn position(&self) -> Position;
}

impl Piece for StoredEvaluation {
    fn position(&self) -> Position {
        self.position
    }
}

impl Piece for Run {
    fn position(&self) -> Position {
        self.position
    }
}

impl Piece for ReputationEvent {
    fn position(&self) -> Position {
        self.position
    }
}

impl Piece for StoredSession {
    fn position(&self) -> Position {
        self.position
    }
}

/// Passes every piece to `each`, part by part, until it returns `false`. `part` returns the part after a position.
pub async fn scan_all<'s, T: Piece + 's>(
    part: impl Fn(Option<Position>) -> ReadReply<'s, Vec<T>>,
    mut each: impl FnMut(T) -> bool,
) -> Result<(), ReadError> {
    let mut after = None;
    loop {
        let pieces = part(after).await?;
        let Some(last) = pieces.last() else { return Ok(()) };
        after = Some(last.position());
        if !pieces.into_iter().all(&mut each) {
            return Ok(());
        }
    }
}

/// Returns all evidence of a kind, part by part: to export, to verify, and to move it to another store.
///
/// Every piece that was accepted, and that was neither erased nor deleted by age, is in exactly one part. Parts and their
/// pieces are in order of position. A part has at most `limit` pieces, and at most [`SCAN_MAX`]; memory does not grow with the
/// amount of evidence. The next part begins `after` the last position of the one before; an empty part is the end.
///
/// A scan is no snapshot: what is accepted meanwhile is in a later part, what is erased meanwhile is missing. An engine may
/// offer a way to open a store that stays at one moment. With several servers, a scan sees the writes of other servers within
/// two seconds; positions that are older than that are complete.
pub trait Scan: Send + Sync + 'static {
    /// Returns how many pieces of a kind an organization has.
    fn count<'a>(&'a self, org: &OrgId, kind: EvidenceKind) -> ReadReply<'a, u64>;

    /// Returns a part of the evaluations, the first accepted first.
    fn scan_evaluations<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<StoredEvaluation>>;

    /// Returns a part of the runs, the first accepted first.
    fn scan_runs<'a>(&'a self, org: &OrgId, after: Option<Position>, limit: usize)
    -> ReadReply<'a, Vec<Run>>;

    /// Returns a part of the reputation events, the first accepted first. Events that sessions became are among them.
    fn scan_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<ReputationEvent>>;

    /// Returns a part of the sessions without their traces, the first seen first. Their records are read with
    /// [`Reads::session_records`](super::Reads::session_records).
    fn scan_sessions<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<StoredSession>>;
}
