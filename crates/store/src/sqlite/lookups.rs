//! Looks up the sums of agents that are not cached, many at a time.
//!
//! Passing one lookup to a thread, and beginning and ending a read transaction for it, costs more than the lookup
//! itself. So a thread takes all waiting lookups, up to a limit, and answers them in one read transaction. The more
//! lookups are requested at once, the less each costs, as with the writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use renown_core::reputation::Tally;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::agent_cache::{AgentCache, Miss};
use super::writer::spawn;
use super::{agents, readers};
use crate::Reply;
use crate::error::StoreError;

/// Maximum number of lookups in the queue. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// Number of threads: two, so that one that waits for the disk does not block all lookups.
const THREADS: usize = 2;

/// Maximum number of lookups per read transaction.
const BATCH_MAX: usize = 32;

/// Memory for pages per thread. Negative values are in KB.
const CACHE: i64 = -8000;

/// An agent to look up, and the channel for its sums.
struct Lookup {
    miss: Miss,
    answer: oneshot::Sender<Result<Tally, StoreError>>,
}

/// The threads and their queue.
pub(super) struct Lookups {
    queue: Option<SyncSender<Lookup>>,
    threads: Vec<JoinHandle<()>>,
}

impl Lookups {
    pub(super) fn start(path: &Path, agent_cache: &Arc<AgentCache>) -> Result<Self, StoreError> {
        let (queue, waiting) = sync_channel(QUEUE_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let connection = readers::connect(path)?;
            connection.pragma_update(None, "cache_size", CACHE)?;
            let (waiting, agent_cache) = (Arc::clone(&waiting), Arc::clone(agent_cache));
            threads.push(spawn("renown-lookup", move || serve(connection, &waiting, &agent_cache))?);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// Looks up the sums of an agent that is not cached; zero if it is unknown.
    pub(super) fn tally(&self, miss: Miss) -> Reply<'_, Tally> {
        let (answer, answered) = oneshot::channel();
        let sent = match &self.queue {
            Some(queue) => queue.try_send(Lookup { miss, answer }).map_err(|error| match error {
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

fn serve(mut connection: Connection, waiting: &Mutex<Receiver<Lookup>>, agent_cache: &AgentCache) {
    loop {
        let batch = {
            let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(first) = waiting.recv() else { return };
            let mut batch = vec![first];
            batch.extend(waiting.try_iter().take(BATCH_MAX - 1));
            batch
        };
        // After a panic, callers without a reply get `StoreError::Closed`; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| look_up(&mut connection, batch, agent_cache)));
    }
}

fn look_up(connection: &mut Connection, batch: Vec<Lookup>, agent_cache: &AgentCache) {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred);
    let (transaction, mut failed) = match transaction {
        Ok(transaction) => (Some(transaction), None),
        Err(error) => (None, Some(error)),
    };
    for Lookup { miss, answer } in batch {
        // The caller may have dropped its future.
        if answer.is_closed() {
            continue;
        }
        let (org, agent) = miss.key();
        let found = match &transaction {
            Some(transaction) => agents::tally(transaction, *org, agent),
            None => Err(failed.take().map_or(StoreError::Overloaded, StoreError::from)),
        };
        if let Ok(tally) = found {
            agent_cache.fill(miss, tally);
        }
        let _ = answer.send(found);
    }
}
