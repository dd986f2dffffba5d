//! Group commit: one thread takes everything that waits as one transaction, makes it durable at once, and then answers.
//!
//! ```text
//! callers ──►  queue, with a limit  ──►  gather  ──►  begin · apply each write · commit  ──►  answer each caller
//! ```
//!
//! While a transaction becomes durable, the next writes gather in the queue. So the more writes are requested at
//! once, the more each commit carries. Past the limit of the queue a write is refused at once and not kept in memory.
//!
//! - A write that fails and has changed nothing fails alone.
//! - A write that fails after a change, or that panics, fails its whole group: nothing of the group is changed.
//! - A caller that drops its future changes nothing: its write is done.
//! - When the queue is dropped, the writes in it are done before the thread ends.
//!
//! Nothing here knows a database. An engine ([`Engine`]) has transactions, and work to do between them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::Reply;
use crate::error::StoreError;
use crate::waits::{Stage, Stopwatch};

/// Maximum number of writes in the queue. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// Maximum number of evaluations in one transaction. The last write is added as a whole, even if it exceeds this.
pub(crate) const GROUP_MAX: usize = 2048;

/// What carries out groups of writes, on one thread.
pub(crate) trait Engine {
    /// Is called before a group, outside of any transaction. An error fails the group.
    fn prepare(&mut self) -> Result<(), StoreError>;

    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Returns a counter of changes, to compare with later.
    fn changes(&self) -> u64;

    /// Returns whether the transaction can continue after a write that failed with an error: the write has changed
    /// nothing since the counter showed `mark`.
    fn can_continue(&self, mark: u64, error: &StoreError) -> bool;

    /// Makes the transaction durable, and only then visible. Also returns the stage that took the time.
    fn commit(&mut self) -> (Stage, Result<(), StoreError>);

    /// Ends a transaction that failed, also in memory.
    fn roll_back(&mut self);

    /// Does work after a group, or after nothing was written for a while.
    fn work(&mut self, watch: &mut Stopwatch<'_>);

    /// Returns how long to wait for a write before [`Engine::pause`].
    fn patience(&self) -> Duration;

    /// Is called when no write has arrived for a while, before [`Engine::work`].
    fn pause(&mut self);

    /// Is called after the last group.
    fn end(&mut self);
}

/// An engine whatever it borrows. Callers make writes before there is an engine, so a write has to accept any.
pub(crate) trait EngineFamily: 'static {
    /// The engine that borrows something for `'c`.
    type Engine<'c>: Engine;
}

/// A write that waits for its transaction.
trait Write<F: EngineFamily>: Send {
    /// Returns how many evaluations it contains.
    fn evaluations(&self) -> usize;

    /// Runs the write in the open transaction. A returned error fails the whole transaction. The error of a write
    /// that has changed nothing is kept for its own reply.
    fn apply(&mut self, engine: &mut F::Engine<'_>) -> Result<(), StoreError>;

    /// Replies, when the transaction is durable or has failed.
    fn answer(self: Box<Self>, committed: Result<(), Arc<StoreError>>);
}

/// A write as a function, and the channel for its result.
struct QueuedWrite<T, W> {
    evaluations: usize,
    write: Option<W>,
    done: Result<T, StoreError>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T, W> Write<F> for QueuedWrite<T, W>
where
    F: EngineFamily,
    T: Send,
    W: for<'e, 'c> FnOnce(&'e mut F::Engine<'c>) -> Result<T, StoreError> + Send,
{
    fn evaluations(&self) -> usize {
        self.evaluations
    }

    fn apply(&mut self, engine: &mut F::Engine<'_>) -> Result<(), StoreError> {
        let Some(write) = self.write.take() else { return Ok(()) };
        let mark = engine.changes();
        match write(engine) {
            Err(error) if !engine.can_continue(mark, &error) => Err(error),
            done => {
                self.done = done;
                Ok(())
            }
        }
    }

    fn answer(self: Box<Self>, committed: Result<(), Arc<StoreError>>) {
        // The caller may have dropped its future.
        let _ = self.answer.send(committed.map_err(StoreError::RolledBack).and(self.done));
    }
}

/// The end of the queue where writes are put in.
pub(crate) struct Queue<F: EngineFamily>(SyncSender<Box<dyn Write<F>>>);

/// The end of the queue where writes are taken out.
pub(crate) struct Writes<F: EngineFamily>(Receiver<Box<dyn Write<F>>>);

/// Makes a queue.
pub(crate) fn queue<F: EngineFamily>() -> (Queue<F>, Writes<F>) {
    let (queue, writes) = sync_channel(QUEUE_MAX);
    (Queue(queue), Writes(writes))
}

impl<F: EngineFamily> Queue<F> {
    /// Puts a write into the queue. Its reply comes when it is durable. Transactions are limited by how many
    /// evaluations their writes contain.
    pub(crate) fn send<T: Send + 'static>(
        &self,
        evaluations: usize,
        write: impl for<'e, 'c> FnOnce(&'e mut F::Engine<'c>) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'static, T> {
        let (answer, answered) = oneshot::channel();
        let write = QueuedWrite { evaluations, write: Some(write), done: Err(StoreError::Closed), answer };
        let sent = self.0.try_send(Box::new(write)).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::Closed,
        });
        Box::pin(async move {
            sent?;
            answered.await.unwrap_or(Err(StoreError::Unanswered))
        })
    }
}

/// What the thread does next.
enum Next<F: EngineFamily> {
    Write(Box<dyn Write<F>>),
    /// No write arrived for a while.
    Pause,
    /// The queue was dropped.
    End,
}

impl<F: EngineFamily> Writes<F> {
    /// Carries out writes until the queue is dropped and empty.
    pub(crate) fn carry_out(&self, engine: &mut F::Engine<'_>, watch: &mut Stopwatch<'_>) {
        loop {
            match self.next(engine, watch) {
                Next::Write(first) => transact(self.gather(first), engine, watch),
                Next::Pause => engine.pause(),
                Next::End => break,
            }
            engine.work(watch);
        }
        engine.end();
    }

    fn next(&self, engine: &F::Engine<'_>, watch: &mut Stopwatch<'_>) -> Next<F> {
        match self.0.try_recv() {
            Ok(first) => return Next::Write(first),
            Err(TryRecvError::Disconnected) => return Next::End,
            Err(TryRecvError::Empty) => {}
        }
        let next = match self.0.recv_timeout(engine.patience()) {
            Ok(first) => Next::Write(first),
            Err(RecvTimeoutError::Timeout) => Next::Pause,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        };
        watch.restart();
        next
    }

    /// Takes all waiting writes, up to a limit.
    fn gather(&self, first: Box<dyn Write<F>>) -> Vec<Box<dyn Write<F>>> {
        let mut evaluations = first.evaluations();
        let mut group = vec![first];
        while evaluations < GROUP_MAX
            && let Ok(next) = self.0.try_recv()
        {
            evaluations += next.evaluations();
            group.push(next);
        }
        group
    }
}

/// Runs a group of writes as one transaction and answers each of them.
fn transact<F: EngineFamily>(
    mut group: Vec<Box<dyn Write<F>>>,
    engine: &mut F::Engine<'_>,
    watch: &mut Stopwatch<'_>,
) {
    let committed = apply(&mut group, engine, watch).map_err(|error| {
        engine.roll_back();
        Arc::new(error)
    });
    for write in group {
        write.answer(committed.clone());
    }
    watch.answered();
}

fn apply<F: EngineFamily>(
    group: &mut [Box<dyn Write<F>>],
    engine: &mut F::Engine<'_>,
    watch: &mut Stopwatch<'_>,
) -> Result<(), StoreError> {
    engine.prepare()?;
    engine.begin()?;
    for write in group {
        // A write that panics fails its transaction and nothing else.
        catch_unwind(AssertUnwindSafe(|| write.apply(engine)))
            .unwrap_or_else(|_| Err(StoreError::Bug("a write panicked")))?;
    }
    watch.end(Stage::Apply);
    let (stage, committed) = engine.commit();
    watch.end(stage);
    committed
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{self, JoinHandle};

    use renown_testing::wait;

    use super::*;
    use crate::waits::Totals;

    /// An engine whose rows are numbers. It reports the rows of each commit.
    struct Numbers {
        written: Vec<u64>,
        commits: Sender<Vec<u64>>,
        ends: Sender<&'static str>,
    }

    struct NumbersFamily;

    impl EngineFamily for NumbersFamily {
        type Engine<'c> = Numbers;
    }

    impl Engine for Numbers {
        fn prepare(&mut self) -> Result<(), StoreError> {
            Ok(())
        }

        fn begin(&mut self) -> Result<(), StoreError> {
            assert!(self.written.is_empty(), "the transaction before has ended");
            Ok(())
        }

        fn changes(&self) -> u64 {
            self.written.len() as u64
        }

        fn can_continue(&self, mark: u64, _: &StoreError) -> bool {
            self.changes() == mark
        }

        fn commit(&mut self) -> (Stage, Result<(), StoreError>) {
            let written = std::mem::take(&mut self.written);
            if written.contains(&FULL_DISK) {
                return (Stage::Sync, Err(StoreError::TooLong));
            }
            let _ = self.commits.send(written);
            (Stage::Sync, Ok(()))
        }

        fn roll_back(&mut self) {
            self.written.clear();
        }

        fn work(&mut self, _: &mut Stopwatch<'_>) {}

        fn patience(&self) -> Duration {
            Duration::from_hours(1)
        }

        fn pause(&mut self) {}

        fn end(&mut self) {
            let _ = self.ends.send("end");
        }
    }

    /// A number that makes its commit fail.
    const FULL_DISK: u64 = 666;

    struct Running {
        queue: Queue<NumbersFamily>,
        commits: Receiver<Vec<u64>>,
        ends: Receiver<&'static str>,
        thread: JoinHandle<()>,
        /// Dropped to let the first write go on.
        release: Sender<()>,
    }

    /// Starts a thread that is busy with a first write, so that all others gather.
    fn start() -> Running {
        let (queue, writes) = queue::<NumbersFamily>();
        let ((commits, committed), (ends, ended)) = (channel(), channel());
        let thread = thread::spawn(move || {
            let totals = Totals::default();
            let mut engine = Numbers { written: Vec::new(), commits, ends };
            writes.carry_out(&mut engine, &mut Stopwatch::start(&totals));
        });
        let ((release, released), (began, has_begun)) = (channel::<()>(), channel());
        drop(queue.send(1, move |_: &mut Numbers| {
            let _ = began.send(());
            let _ = released.recv();
            Ok(())
        }));
        has_begun.recv().unwrap();
        Running { queue, commits: committed, ends: ended, thread, release }
    }

    impl Running {
        fn write(&self, evaluations: usize, number: u64) -> Reply<'static, u64> {
            self.queue.send(evaluations, move |engine: &mut Numbers| {
                engine.written.push(number);
                Ok(number)
            })
        }
    }

    #[test]
    fn everything_that_waits_is_one_transaction_up_to_a_limit() {
        let running = start();
        let replies = [
            running.write(1, 1),
            running.write(GROUP_MAX - 2, 2),
            running.write(GROUP_MAX, 3),
            running.write(1, 4),
        ];
        drop(running.release);
        for (reply, expected) in replies.into_iter().zip(1..) {
            assert_eq!(wait(reply).unwrap(), expected);
        }
        drop(running.queue);
        let commits: Vec<_> = running.commits.iter().collect();
        assert_eq!(commits, [vec![], vec![1, 2, 3], vec![4]], "the third one is added as a whole");
        running.thread.join().unwrap();
    }

    #[test]
    fn a_write_that_changed_nothing_fails_alone_and_any_other_failure_fails_the_group() {
        let fails = |running: &Running, number: Option<u64>, panics: bool| {
            running.queue.send(1, move |engine: &mut Numbers| -> Result<(), StoreError> {
                engine.written.extend(number);
                if panics {
                    std::panic::resume_unwind(Box::new(()));
                }
                Err(StoreError::TooLong)
            })
        };
        for (label, number, panics, beside_is_written) in [
            ("it changed nothing", None, false, true),
            ("it changed something", Some(2), false, false),
            ("it panicked", None, true, false),
        ] {
            let running = start();
            let (first, failed, last) =
                (running.write(1, 1), fails(&running, number, panics), running.write(1, 3));
            drop(running.release);
            assert!(wait(failed).is_err(), "{label}");
            for reply in [first, last] {
                let reply = wait(reply);
                let is_rolled_back = matches!(reply, Err(StoreError::RolledBack(_)));
                assert_eq!(
                    (reply.is_ok(), is_rolled_back),
                    (beside_is_written, !beside_is_written),
                    "{label}"
                );
            }
            drop(running.queue);
            let written: Vec<u64> = running.commits.iter().flatten().collect();
            assert_eq!(written, if beside_is_written { vec![1, 3] } else { vec![] }, "{label}");
            running.thread.join().unwrap();
        }
    }

    #[test]
    fn a_commit_that_fails_fails_every_write_of_its_group_and_none_after_it() {
        let running = start();
        let replies = [running.write(1, 1), running.write(GROUP_MAX, FULL_DISK), running.write(1, 3)];
        drop(running.release);
        let replies = replies.map(wait);
        assert!(matches!(replies, [Err(StoreError::RolledBack(_)), Err(StoreError::RolledBack(_)), Ok(3)]));
        drop(running.queue);
        running.thread.join().unwrap();
    }

    #[test]
    fn past_the_limit_a_write_is_refused_and_when_the_queue_is_dropped_the_rest_is_written() {
        let running = start();
        for _ in 0..QUEUE_MAX {
            // No caller waits for the reply.
            drop(running.write(0, 1));
        }
        assert!(matches!(wait(running.write(0, 0)), Err(StoreError::Overloaded)));
        drop(running.queue);
        drop(running.release);
        let written = running.commits.iter().flatten().count();
        assert_eq!((written, running.ends.recv()), (QUEUE_MAX, Ok("end")));
        running.thread.join().unwrap();
    }
}
