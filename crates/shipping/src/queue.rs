//! Verdicts that wait for the server, on disk and in memory.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::notice::Notice;
use crate::spool::{Spool, SpoolBatch};
use crate::verdict::EncodedVerdict;

/// Maximum bytes of verdicts per request. The server accepts 1 MiB.
const BATCH_BYTES_MAX: usize = 768 << 10;

/// The waiting verdicts.
#[derive(Debug)]
pub(crate) struct Queue {
    buffer: VecDeque<EncodedVerdict>,
    buffer_max: usize,
    batch_max: usize,
    /// Number of verdicts at the front of the buffer that are being sent.
    in_flight: usize,
    spools: Option<Spools>,
    spool_first: bool,
    /// Number of verdicts that this process has tracked.
    tracked: u64,
    /// Number of tracked verdicts that are accepted, rejected or dropped.
    settled: u64,
    dropped: u64,
    /// Number of losses since [`Queue::missed_nothing`] was last called.
    missed: u64,
    /// Whether a broken spool has been reported.
    broken: bool,
    /// Whether the queue no longer accepts verdicts.
    ended: bool,
    notices: Vec<Notice>,
    /// Notices that are reported only once and have been.
    reported: Vec<Notice>,
}

/// The next verdicts to send, and where they are stored.
#[derive(Debug)]
pub(crate) enum NextBatch {
    /// In an adopted spool.
    Adopted(SpoolBatch),
    /// In the spool of this process.
    Spooled(SpoolBatch),
    /// In memory.
    Buffered(Vec<EncodedVerdict>),
}

impl NextBatch {
    pub(crate) fn verdicts(&self) -> &[EncodedVerdict] {
        match self {
            Self::Adopted(batch) | Self::Spooled(batch) => &batch.verdicts,
            Self::Buffered(verdicts) => verdicts,
        }
    }
}

impl Queue {
    pub(crate) fn new(
        batch_max: usize,
        buffer_max: usize,
        spools: Option<Spools>,
        spool_first: bool,
    ) -> Self {
        Self {
            buffer: VecDeque::new(),
            buffer_max: buffer_max.max(1),
            batch_max: batch_max.max(1),
            in_flight: 0,
            spools,
            spool_first,
            tracked: 0,
            settled: 0,
            dropped: 0,
            missed: 0,
            broken: false,
            ended: false,
            notices: Vec::new(),
            reported: Vec::new(),
        }
    }

    /// Adds a verdict. If the buffer is full, the oldest verdict is moved to the spool or dropped.
    pub(crate) fn push(&mut self, verdict: EncodedVerdict) {
        self.tracked += 1;
        if self.ended {
            self.count_lost();
            return self.notify_once(Notice::Ended);
        }
        if self.spool_first && self.spool(&verdict) {
            return;
        }
        self.buffer.push_back(verdict);
        if self.buffer.len() <= self.buffer_max {
            return;
        }
        // Verdicts that are being sent stay, because their result is known soon.
        let Some(oldest) = self.buffer.remove(self.in_flight.min(self.buffer.len() - 1)) else { return };
        if !self.spool(&oldest) {
            self.count_lost();
            self.notify_once(Notice::Dropping);
        }
    }

    /// Counts a lost verdict.
    fn count_lost(&mut self) {
        self.dropped += 1;
        self.settled += 1;
        self.missed += 1;
    }

    /// Writes a verdict to the spool. Returns false if there is no spool or it cannot be written.
    fn spool(&mut self, verdict: &EncodedVerdict) -> bool {
        let Some(spools) = &mut self.spools else { return false };
        let mut discarded = Discarded::default();
        let written = spools.append(verdict, &mut discarded);
        let verdicts = discarded.own + discarded.adopted;
        if verdicts > 0 {
            self.dropped += verdicts;
            self.settled += discarded.own;
            self.missed += 1;
            self.notices.push(Notice::SpoolFull { verdicts });
        }
        self.notify_spool(&written)
    }

    /// Reports when the spool becomes broken and when it works again. Returns whether the operation succeeded.
    pub(crate) fn notify_spool(&mut self, done: &io::Result<()>) -> bool {
        let notice = match (done, self.broken) {
            (Err(error), false) => Some(Notice::SpoolBroken { why: error.to_string() }),
            (Ok(()), true) => Some(Notice::SpoolMended),
            (Ok(()), false) | (Err(_), true) => None,
        };
        self.notices.extend(notice);
        self.broken = done.is_err();
        done.is_ok()
    }

    /// Returns the next verdicts to send. They stay in the queue until they are settled.
    pub(crate) fn next_batch(&mut self) -> Option<NextBatch> {
        let batch_max = self.batch_max;
        let first = |spool: &Spool| match spool.first(batch_max, BATCH_BYTES_MAX) {
            Ok(batch) => (Some(batch), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(spools) = &mut self.spools {
            while let Some(spool) = spools.adopted.first() {
                match first(spool).0.filter(|batch| !batch.verdicts.is_empty() || batch.damaged > 0) {
                    Some(batch) => return Some(NextBatch::Adopted(batch)),
                    // A spool that cannot be read stays on disk for the next process.
                    None => drop(spools.adopted.remove(0)),
                }
            }
            if let Some(own) = spools.own.as_ref().filter(|own| !own.is_empty()) {
                match first(own) {
                    (Some(batch), _) => return Some(NextBatch::Spooled(batch)),
                    (None, error) => {
                        self.notify_spool(&error.map_or(Ok(()), Err));
                    }
                }
            }
        }
        let mut bytes = 0;
        let fits = |verdict: &&EncodedVerdict| {
            bytes += verdict.json().len();
            bytes <= BATCH_BYTES_MAX
        };
        let mut verdicts: Vec<EncodedVerdict> =
            self.buffer.iter().take(batch_max).take_while(fits).cloned().collect();
        if verdicts.is_empty() {
            verdicts.extend(self.buffer.front().cloned());
        }
        self.in_flight = verdicts.len();
        (!verdicts.is_empty()).then_some(NextBatch::Buffered(verdicts))
    }

    /// Removes the first `count` verdicts of a batch, which are accepted or rejected.
    pub(crate) fn settle(&mut self, batch: &NextBatch, count: usize) {
        let released = match (batch, &mut self.spools) {
            (NextBatch::Buffered(_), _) => {
                self.settled += self.buffer.drain(..count.min(self.buffer.len())).len() as u64;
                self.in_flight = 0;
                return;
            }
            (NextBatch::Adopted(batch), Some(spools)) => {
                self.notices.extend((batch.damaged > 0).then_some(Notice::Damaged { lines: batch.damaged }));
                spools.settle_adopted(batch, count)
            }
            (NextBatch::Spooled(batch), Some(Spools { own: Some(own), .. })) => {
                self.notices.extend((batch.damaged > 0).then_some(Notice::Damaged { lines: batch.damaged }));
                // Verdicts that were dropped in the meantime, because the spool was full, are already settled.
                self.settled += own.count_unreleased(batch, count) as u64;
                own.release(batch, count)
            }
            (NextBatch::Adopted(_) | NextBatch::Spooled(_), _) => Ok(()),
        };
        if released.is_err() {
            self.notify_spool(&released);
        }
    }

    /// Saves a rejected verdict to `rejected.jsonl`, so that the operator can look at it.
    pub(crate) fn reject(&mut self, verdict: &EncodedVerdict, why: String) {
        let is_saved = self.spools.as_ref().is_some_and(|spools| spools.reject(verdict, &why).is_ok());
        if !is_saved {
            self.dropped += 1;
        }
        self.missed += 1;
        self.notices.push(Notice::Rejected { why, is_saved });
    }

    /// Moves the buffer to the spool, or drops it if there is no spool, and closes the spool. Afterwards nothing is
    /// waiting.
    pub(crate) fn end(&mut self) {
        self.missed += self.waiting();
        let mut verdicts = 0;
        for verdict in std::mem::take(&mut self.buffer) {
            if !self.spool(&verdict) {
                self.count_lost();
                verdicts += 1;
            }
        }
        if verdicts > 0 {
            self.notices.push(Notice::Undelivered { verdicts });
        }
        if let Some(own) = self.spools.take().and_then(|spools| spools.own) {
            own.close();
        }
        self.ended = true;
        self.settle_all();
    }

    /// Whether there was no loss since the last call.
    pub(crate) fn missed_nothing(&mut self) -> bool {
        std::mem::take(&mut self.missed) == 0
    }

    /// Counts all verdicts as settled.
    pub(crate) fn settle_all(&mut self) {
        self.settled = self.tracked;
    }

    /// Returns the number of verdicts that were tracked.
    pub(crate) fn tracked(&self) -> u64 {
        self.tracked
    }

    /// Returns the number of verdicts that are accepted, rejected or dropped.
    pub(crate) fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns the number of tracked verdicts that are not settled.
    pub(crate) fn waiting(&self) -> u64 {
        self.tracked.saturating_sub(self.settled)
    }

    /// Returns the file that has to be synced.
    pub(crate) fn unsynced(&mut self) -> Option<io::Result<File>> {
        self.spools.as_mut()?.own.as_mut()?.unsynced()
    }

    /// Adopts the spools of dead processes.
    pub(crate) fn adopt(&mut self) {
        if let Some(spools) = &mut self.spools {
            spools.adopted.extend(Spool::adopt(&spools.parent));
        }
    }

    pub(crate) fn has_adopted(&self) -> bool {
        self.spools.as_ref().is_some_and(|spools| !spools.adopted.is_empty())
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn notify(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    fn notify_once(&mut self, notice: Notice) {
        if !self.reported.contains(&notice) {
            self.reported.push(notice.clone());
            self.notices.push(notice);
        }
    }

    /// Returns the new notices and removes them.
    pub(crate) fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}

/// The spool of this process, created when it is first needed, and adopted spools.
#[derive(Debug)]
pub(crate) struct Spools {
    parent: PathBuf,
    own: Option<Spool>,
    adopted: Vec<Spool>,
    bytes_max: u64,
}

/// Numbers of verdicts that were dropped because the spools were full.
#[derive(Debug, Default)]
struct Discarded {
    own: u64,
    adopted: u64,
}

impl Spools {
    pub(crate) fn new(parent: PathBuf, bytes_max: u64) -> Self {
        Self { parent, own: None, adopted: Vec::new(), bytes_max }
    }

    /// Writes a verdict. If the spools are too large, deletes the oldest segments and counts their verdicts.
    fn append(&mut self, verdict: &EncodedVerdict, discarded: &mut Discarded) -> io::Result<()> {
        let own = match &mut self.own {
            Some(own) => own,
            none => none.insert(Spool::create(&self.parent)?),
        };
        own.append(verdict)?;
        let bytes = |spools: &Self| {
            let adopted: u64 = spools.adopted.iter().map(Spool::bytes).sum();
            adopted + spools.own.as_ref().map_or(0, Spool::bytes)
        };
        while bytes(self) > self.bytes_max {
            match (self.adopted.first_mut(), &mut self.own) {
                (Some(oldest), _) => discarded.adopted += oldest.discard_oldest()?,
                (None, Some(own)) => discarded.own += own.discard_oldest()?,
                (None, None) => break,
            }
            self.remove_empty();
        }
        Ok(())
    }

    /// Releases the first `count` verdicts of a batch of the oldest adopted spool.
    fn settle_adopted(&mut self, batch: &SpoolBatch, count: usize) -> io::Result<()> {
        // While the batch was being sent, its spool may have been deleted because the spools were full.
        let Some(oldest) = self.adopted.first_mut().filter(|spool| spool.contains(batch)) else {
            return Ok(());
        };
        oldest.release(batch, count)?;
        self.remove_empty();
        Ok(())
    }

    fn remove_empty(&mut self) {
        if self.adopted.first().is_some_and(Spool::is_empty) {
            self.adopted.remove(0).close();
        }
    }

    fn reject(&self, verdict: &EncodedVerdict, why: &str) -> io::Result<()> {
        let why = serde_json::to_string(why).map_err(io::Error::other)?;
        let line = format!("{{\"reason\":{why},\"event\":{}}}\n", verdict.json());
        std::fs::create_dir_all(&self.parent)?;
        let path = self.parent.join("rejected.jsonl");
        OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;

    #[test]
    fn settling_a_batch_of_a_deleted_spool_does_not_affect_another_spool() {
        let folder = Scratch::new();
        for _ in 0..2 {
            Spool::create(folder.path()).unwrap().append(&EncodedVerdict::from_spool("{}")).unwrap();
        }
        let mut queue = Queue::new(100, 10, Some(Spools::new(folder.path().to_owned(), u64::MAX)), true);
        queue.adopt();
        let batch = queue.next_batch().unwrap();
        // The spool is deleted while the batch is being sent.
        assert_eq!(queue.spools.as_mut().unwrap().adopted.remove(0).discard_oldest().unwrap(), 1);
        queue.settle(&batch, 1);
        assert_eq!(
            queue.next_batch().unwrap().verdicts().len(),
            1,
            "the verdict of the other spool still waits"
        );
    }
}
