//! Sums of agents that are not in memory, looked up many at a time.
//!
//! To hand one look-up to a thread, and to begin and end a read for it, costs more than the look-up. So a thread takes all that wait, up to
//! a bound, and answers them from one state of the database. The more is asked at once, the less each costs, as with the writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use renown_core::reputation::Tally;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::agent_cache::{Standings, Vacancy};
use super::writer::spawn;
use super::{agents, readers};
use crate::Reply;
use crate::error::StoreError;

/// How many look-ups may wait. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// How many threads look up: two, so that one that waits for the disk does not keep all others waiting.
const THREADS: usize = 2;

/// How many are answered from one state of the database.
const BATCH_MAX: usize = 32;

/// Memory for pages of each thread: thousands of bytes when negative.
const CACHE: i64 = -8000;

/// An agent to look up, and who waits for its sums.
struct Lookup {
    vacancy: Vacancy,
    answer: oneshot::Sender<Result<Tally, StoreError>>,
}

/// The threads and their queue.
pub(super) struct Lookups {
    queue: Option<SyncSender<Lookup>>,
    threads: Vec<JoinHandle<()>>,
}

impl Lookups {
    pub(super) fn start(path: &Path, standings: &Arc<Standings>) -> Result<Self, StoreError> {
        let (queue, waiting) = sync_channel(QUEUE_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let connection = readers::connect(path)?;
            connection.pragma_update(None, "cache_size", CACHE)?;
            let (waiting, standings) = (Arc::clone(&waiting), Arc::clone(standings));
            threads.push(spawn("renown-lookup", move || serve(connection, &waiting, &standings))?);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// The sums of an agent that is not in memory, zero if it was never seen.
    pub(super) fn tally(&self, vacancy: Vacancy) -> Reply<'_, Tally> {
        let (answer, answered) = oneshot::channel();
        let sent = match &self.queue {
            Some(queue) => queue.try_send(Lookup { vacancy, answer }).map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }),
            None => Err(StoreError::Closed),
        };
        Box::pin(async move {
            sent?;
            answered.await.unwrap_or(Err(StoreError::Closed))
        })
    }
}

impl Drop for Lookups {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(mut connection: Connection, waiting: &Mutex<Receiver<Lookup>>, standings: &Standings) {
    loop {
        let batch = {
            let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(first) = waiting.recv() else { return };
            let mut batch = vec![first];
            batch.extend(waiting.try_iter().take(BATCH_MAX - 1));
            batch
        };
        // Who is not answered because of a panic is told that the store is closed; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| look_up(&mut connection, batch, standings)));
    }
}

fn look_up(connection: &mut Connection, batch: Vec<Lookup>, standings: &Standings) {
    let moment = connection.transaction_with_behavior(TransactionBehavior::Deferred);
    let (moment, mut failed) = match moment {
        Ok(moment) => (Some(moment), None),
        Err(error) => (None, Some(error)),
    };
    for Lookup { vacancy, answer } in batch {
        // Who no longer waits has no use for the answer.
        if answer.is_closed() {
            continue;
        }
        let (org, agent) = vacancy.key();
        let found = match &moment {
            Some(moment) => agents::tally(moment, *org, agent),
            None => Err(failed.take().map_or(StoreError::Overloaded, StoreError::from)),
        };
        if let Ok(tally) = found {
            standings.fill(vacancy, tally);
        }
        let _ = answer.send(found);
    }
}
