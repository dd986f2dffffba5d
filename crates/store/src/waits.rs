//! What writes wait for: how long each stage of the writer takes, and which stage delayed a slow commit.
//!
//! The time of a commit begins when the writer could have taken the write. So work between two transactions counts
//! if a write waited for it. Each stage reads the clock once per transaction, and each transaction reads the delay
//! counter of the scheduler once.

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A commit that takes longer than this is slow.
pub const SLOW_COMMIT: Duration = Duration::from_millis(10);

/// What the writer does between two replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Rows are written to pages in memory.
    Apply,
    /// Pages are appended to the write-ahead log and synced to disk.
    Sync,
    /// The same, while the checkpointer writes to the database.
    SyncBesideCheckpoint,
    /// The rows of agents are settled, and old replies are deleted.
    Settle,
    /// Bytes of erased agents are overwritten.
    Clean,
    /// The writer moves the rest of the write-ahead log into the database.
    Checkpoint,
    /// The writer was ready to run, but the system gave its processor to others. This time is also part of the
    /// other stages. Known on Linux only.
    Processor,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 7] = [
        Self::Apply,
        Self::Sync,
        Self::SyncBesideCheckpoint,
        Self::Settle,
        Self::Clean,
        Self::Checkpoint,
        Self::Processor,
    ];

    /// Returns its name as the label of a metric.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Sync => "sync",
            Self::SyncBesideCheckpoint => "sync_beside_checkpoint",
            Self::Settle => "settle",
            Self::Clean => "clean",
            Self::Checkpoint => "checkpoint",
            Self::Processor => "processor",
        }
    }
}

/// What writes have waited for since the start of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteWaits {
    /// Transactions with writes of callers.
    pub commits: u64,
    /// The total time of each stage of [`Stage::ALL`], and the number of slow commits for which this stage took
    /// longest. A commit that waited for a processor for more than half of its time counts for
    /// [`Stage::Processor`].
    pub stages: [(Duration, u64); Stage::ALL.len()],
}

/// The totals. The writer adds to them, every thread may read them.
#[derive(Default)]
pub(crate) struct Totals {
    commits: AtomicU64,
    stages: [(AtomicU64, AtomicU64); Stage::ALL.len()],
}

impl Totals {
    pub(crate) fn read(&self) -> WriteWaits {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let stages =
            self.stages.each_ref().map(|(nanos, slow)| (Duration::from_nanos(count(nanos)), count(slow)));
        WriteWaits { commits: count(&self.commits), stages }
    }
}

/// Measures the stages of the writer.
pub(crate) struct Stopwatch<'t> {
    totals: &'t Totals,
    /// The end of the last stage.
    last: Instant,
    /// The time of each stage since the last reply.
    spent: [Duration; Stage::ALL.len()],
    delays: Delays,
}

impl<'t> Stopwatch<'t> {
    pub(crate) fn start(totals: &'t Totals) -> Self {
        Self { totals, last: Instant::now(), spent: Default::default(), delays: Delays::new() }
    }

    /// Begins again, because no write has waited until now.
    pub(crate) fn restart(&mut self) {
        (self.last, self.spent) = (Instant::now(), Default::default());
        self.delays.since_last_call();
    }

    /// Ends a stage.
    pub(crate) fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        self.add(stage, now.duration_since(self.last));
        self.last = now;
    }

    fn add(&mut self, stage: Stage, took: Duration) {
        let stages = Stage::ALL.iter().zip(&mut self.spent).zip(&self.totals.stages);
        for ((_, spent), (nanos, _)) in stages.filter(|((known, _), _)| **known == stage) {
            *spent += took;
            nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Counts a transaction that is durable and answered.
    pub(crate) fn answered(&mut self) {
        self.totals.commits.fetch_add(1, Ordering::Relaxed);
        let whole: Duration = self.spent.iter().sum();
        let delayed = self.delays.since_last_call().min(whole);
        if whole > SLOW_COMMIT {
            let longest = if delayed > whole / 2 {
                self.totals.stages.last()
            } else {
                let stages = self.spent.iter().zip(&self.totals.stages);
                stages.max_by_key(|(spent, _)| **spent).map(|(_, stage)| stage)
            };
            if let Some((_, slow)) = longest {
                slow.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.add(Stage::Processor, delayed);
        self.spent = Default::default();
    }
}

/// How long this thread was ready to run but did not run, as the system counts it.
struct Delays {
    /// Kept open: reading it again costs less than a microsecond.
    file: Option<File>,
    so_far: Duration,
}

impl Delays {
    fn new() -> Self {
        let mut delays =
            Self { file: File::open("/proc/thread-self/schedstat").ok(), so_far: Duration::ZERO };
        delays.since_last_call();
        delays
    }

    /// Returns the delay since the last call; zero if the system does not count it.
    fn since_last_call(&mut self) -> Duration {
        let now = self.read().unwrap_or(self.so_far);
        let since = now.saturating_sub(self.so_far);
        self.so_far = now;
        since
    }

    /// Reads the total delay: the second of three numbers, in nanoseconds.
    fn read(&mut self) -> Option<Duration> {
        let (file, mut text) = (self.file.as_mut()?, [0; 80]);
        file.rewind().ok()?;
        let length = file.read(&mut text).ok()?;
        let text = str::from_utf8(text.get(..length)?).ok()?;
        Some(Duration::from_nanos(text.split(' ').nth(1)?.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_commit_is_counted_for_its_longest_stage() {
        let totals = Totals::default();
        let mut watch = Stopwatch::start(&totals);
        let spend = |watch: &mut Stopwatch<'_>, stage, ms| {
            watch.last -= Duration::from_millis(ms);
            watch.end(stage);
        };
        spend(&mut watch, Stage::Apply, 1);
        spend(&mut watch, Stage::Sync, 2);
        watch.answered();
        spend(&mut watch, Stage::Checkpoint, 20);
        spend(&mut watch, Stage::Sync, 3);
        watch.answered();
        spend(&mut watch, Stage::Settle, 30);
        watch.restart();
        spend(&mut watch, Stage::Sync, 1);
        watch.answered();
        let found = totals.read();
        assert_eq!(found.commits, 3);
        let slow: Vec<(&str, u64)> =
            Stage::ALL.map(Stage::name).into_iter().zip(found.stages.map(|(_, slow)| slow)).collect();
        assert_eq!(slow.iter().filter(|(_, slow)| *slow > 0).collect::<Vec<_>>(), [&("checkpoint", 1)]);
        assert!(found.stages.iter().all(|(time, _)| *time < Duration::from_millis(40)), "{found:?}");
    }
}
