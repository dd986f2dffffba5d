//! What waits for the server: on disk, and in memory.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::event::Event;
use crate::notice::Notice;
use crate::spool::{Batch, Spool};

/// The most bytes of events in a request. The server takes 1 MiB.
const BATCH_BYTES_MAX: usize = 768 << 10;

/// Events that wait, and where.
#[derive(Debug)]
pub(crate) struct Queue {
    buffer: VecDeque<Event>,
    buffer_max: usize,
    batch_max: usize,
    /// So many of the buffer's first are being sent.
    in_flight: usize,
    spools: Option<Spools>,
    spool_first: bool,
    /// Events of this process so far, and those of which it is known what became of them.
    tracked: u64,
    settled: u64,
    dropped: u64,
    /// How often something did not reach the server since somebody has asked.
    missed: u64,
    /// What is wrong with the spool was told.
    broken: bool,
    /// Nothing is taken any more.
    ended: bool,
    notices: Vec<Notice>,
    /// What is said only once.
    told: Vec<Notice>,
}

/// Events that are to be sent, and where they still are.
#[derive(Debug)]
pub(crate) enum Taken {
    Adopted(Batch),
    Spooled(Batch),
    Buffered(Vec<Event>),
}

impl Taken {
    pub(crate) fn events(&self) -> &[Event] {
        match self {
            Self::Adopted(batch) | Self::Spooled(batch) => &batch.events,
            Self::Buffered(events) => events,
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
            told: Vec::new(),
        }
    }

    /// Takes an event. Where there is no room for it, the oldest goes.
    pub(crate) fn push(&mut self, event: Event) {
        self.tracked += 1;
        if self.ended {
            self.lose();
            return self.tell_once(Notice::Ended);
        }
        if self.spool_first && self.spool(&event) {
            return;
        }
        self.buffer.push_back(event);
        if self.buffer.len() <= self.buffer_max {
            return;
        }
        // Those that are on their way stay: whether they arrive is about to be known.
        let Some(oldest) = self.buffer.remove(self.in_flight.min(self.buffer.len() - 1)) else { return };
        if !self.spool(&oldest) {
            self.lose();
            self.tell_once(Notice::Dropping);
        }
    }

    /// Counts an event that is lost.
    fn lose(&mut self) {
        self.dropped += 1;
        self.settled += 1;
        self.missed += 1;
    }

    /// Writes an event to the spool, if there is one that can be written.
    fn spool(&mut self, event: &Event) -> bool {
        let Some(spools) = &mut self.spools else { return false };
        let mut discarded = Discarded::default();
        let written = spools.append(event, &mut discarded);
        let events = discarded.own + discarded.adopted;
        if events > 0 {
            self.dropped += events;
            self.settled += discarded.own;
            self.missed += 1;
            self.notices.push(Notice::SpoolFull { events });
        }
        self.tell_spool(&written)
    }

    /// Tells when the spool breaks, and when it is mended.
    pub(crate) fn tell_spool(&mut self, done: &io::Result<()>) -> bool {
        let notice = match (done, self.broken) {
            (Err(error), false) => Some(Notice::SpoolBroken { why: error.to_string() }),
            (Ok(()), true) => Some(Notice::SpoolMended),
            (Ok(()), false) | (Err(_), true) => None,
        };
        self.notices.extend(notice);
        self.broken = done.is_err();
        done.is_ok()
    }

    /// The next events to be sent. They stay where they are until it is known what became of them.
    pub(crate) fn take(&mut self) -> Option<Taken> {
        let batch_max = self.batch_max;
        let first = |spool: &Spool| match spool.first(batch_max, BATCH_BYTES_MAX) {
            Ok(batch) => (Some(batch), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(spools) = &mut self.spools {
            while let Some(spool) = spools.adopted.first() {
                match first(spool).0.filter(|batch| !batch.events.is_empty() || batch.damaged > 0) {
                    Some(batch) => return Some(Taken::Adopted(batch)),
                    // What cannot be read stays on disk; whoever comes next may have more luck.
                    None => drop(spools.adopted.remove(0)),
                }
            }
            if let Some(own) = spools.own.as_ref().filter(|own| !own.is_empty()) {
                match first(own) {
                    (Some(batch), _) => return Some(Taken::Spooled(batch)),
                    (None, error) => {
                        self.tell_spool(&error.map_or(Ok(()), Err));
                    }
                }
            }
        }
        let mut bytes = 0;
        let fits = |event: &&Event| {
            bytes += event.json().len();
            bytes <= BATCH_BYTES_MAX
        };
        let mut events: Vec<Event> = self.buffer.iter().take(batch_max).take_while(fits).cloned().collect();
        if events.is_empty() {
            events.extend(self.buffer.front().cloned());
        }
        self.in_flight = events.len();
        (!events.is_empty()).then_some(Taken::Buffered(events))
    }

    /// Gives up the first so many of what was taken: they are accepted or rejected.
    pub(crate) fn settle(&mut self, taken: &Taken, count: usize) {
        let released = match (taken, &mut self.spools) {
            (Taken::Buffered(_), _) => {
                self.settled += self.buffer.drain(..count.min(self.buffer.len())).len() as u64;
                self.in_flight = 0;
                return;
            }
            (Taken::Adopted(batch), Some(spools)) => {
                self.notices.extend((batch.damaged > 0).then_some(Notice::Damaged { lines: batch.damaged }));
                spools.settle_adopted(batch, count)
            }
            (Taken::Spooled(batch), Some(Spools { own: Some(own), .. })) => {
                self.notices.extend((batch.damaged > 0).then_some(Notice::Damaged { lines: batch.damaged }));
                // What was given up for lack of room meanwhile is settled already.
                self.settled += own.held(batch, count) as u64;
                own.release(batch, count)
            }
            (Taken::Adopted(_) | Taken::Spooled(_), _) => Ok(()),
        };
        if released.is_err() {
            self.tell_spool(&released);
        }
    }

    /// Keeps an event that the server refused, where somebody can look at it.
    pub(crate) fn reject(&mut self, event: &Event, why: String) {
        let kept = self.spools.as_ref().is_some_and(|spools| spools.reject(event, &why).is_ok());
        if !kept {
            self.dropped += 1;
        }
        self.missed += 1;
        self.notices.push(Notice::Rejected { why, kept });
    }

    /// Puts what is in memory on disk, or gives it up; and lets go of the spool. Nothing is waited for afterwards.
    pub(crate) fn end(&mut self) {
        self.missed += self.waiting();
        let mut events = 0;
        for event in std::mem::take(&mut self.buffer) {
            if !self.spool(&event) {
                self.lose();
                events += 1;
            }
        }
        if events > 0 {
            self.notices.push(Notice::Undelivered { events });
        }
        if let Some(own) = self.spools.take().and_then(|spools| spools.own) {
            own.close();
        }
        self.ended = true;
        self.settle_all();
    }

    /// Whether everything has reached the server since this was last asked.
    pub(crate) fn missed_nothing(&mut self) -> bool {
        std::mem::take(&mut self.missed) == 0
    }

    /// Nothing of what is counted as waiting is waited for any longer.
    pub(crate) fn settle_all(&mut self) {
        self.settled = self.tracked;
    }

    /// How many were taken, and of how many it is known what became of them.
    pub(crate) fn tracked(&self) -> u64 {
        self.tracked
    }

    pub(crate) fn settled(&self) -> u64 {
        self.settled
    }

    /// Events of this process of which it is not known what became of them.
    pub(crate) fn waiting(&self) -> u64 {
        self.tracked.saturating_sub(self.settled)
    }

    /// The file that has to be synced.
    pub(crate) fn unsynced(&mut self) -> Option<io::Result<File>> {
        self.spools.as_mut()?.own.as_mut()?.unsynced()
    }

    /// Takes over what dead processes left.
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

    pub(crate) fn tell(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    fn tell_once(&mut self, notice: Notice) {
        if !self.told.contains(&notice) {
            self.told.push(notice.clone());
            self.notices.push(notice);
        }
    }

    /// What is to be told, once.
    pub(crate) fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}

/// The spool of this process, made when it is first needed, and those of dead ones.
#[derive(Debug)]
pub(crate) struct Spools {
    parent: PathBuf,
    own: Option<Spool>,
    adopted: Vec<Spool>,
    bytes_max: u64,
}

/// Events that had to go for lack of room.
#[derive(Debug, Default)]
struct Discarded {
    own: u64,
    adopted: u64,
}

impl Spools {
    pub(crate) fn new(parent: PathBuf, bytes_max: u64) -> Self {
        Self { parent, own: None, adopted: Vec::new(), bytes_max }
    }

    /// Writes an event, and counts how many of the oldest had to go.
    fn append(&mut self, event: &Event, discarded: &mut Discarded) -> io::Result<()> {
        let own = match &mut self.own {
            Some(own) => own,
            none => none.insert(Spool::create(&self.parent)?),
        };
        own.append(event)?;
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

    /// Gives up the first so many of what was taken from the oldest spool.
    fn settle_adopted(&mut self, batch: &Batch, count: usize) -> io::Result<()> {
        // While the batch was on its way its spool may have been thrown away for lack of room, and another be the first.
        let Some(oldest) = self.adopted.first_mut().filter(|spool| spool.holds(batch)) else { return Ok(()) };
        oldest.release(batch, count)?;
        self.remove_empty();
        Ok(())
    }

    fn remove_empty(&mut self) {
        if self.adopted.first().is_some_and(Spool::is_empty) {
            self.adopted.remove(0).close();
        }
    }

    fn reject(&self, event: &Event, why: &str) -> io::Result<()> {
        let why = serde_json::to_string(why).map_err(io::Error::other)?;
        let line = format!("{{\"reason\":{why},\"event\":{}}}\n", event.json());
        std::fs::create_dir_all(&self.parent)?;
        let path = self.parent.join("rejected.jsonl");
        OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_that_had_to_go_settles_nothing_of_another() {
        let folder = std::env::temp_dir().join(format!("renown-queue-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for _ in 0..2 {
            Spool::create(&folder).unwrap().append(&Event::from_spool("{}")).unwrap();
        }
        let mut queue = Queue::new(100, 10, Some(Spools::new(folder.clone(), u64::MAX)), true);
        queue.adopt();
        let taken = queue.take().unwrap();
        // For lack of room, while the batch was on its way.
        assert_eq!(queue.spools.as_mut().unwrap().adopted.remove(0).discard_oldest().unwrap(), 1);
        queue.settle(&taken, 1);
        assert_eq!(queue.take().unwrap().events().len(), 1, "that of the other spool still waits");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
