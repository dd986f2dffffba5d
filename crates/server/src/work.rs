//! Work beside requests: jobs that run again and again while the server runs.
//!
//! | job | does | how often |
//! |---|---|---|
//! | [`PublishChanges`] | publishes what has changed to streams and open pages | after each write, and once per second |
//! | [`CloseSessions`] | closes the sessions that are over | once per second |
//! | [`Retain`] | deletes erased and expired evidence | once per minute, and when an agent was erased |
//! | [`NoteUsedKeys`] | stores when keys were last used | once per minute |
//! | [`EvalRuns`] | evaluates some sessions of the oldest eval run | at once while there is one, else once per second |
//! | [`Schedules`] | starts the eval runs whose time has come | once per second |
//! | [`FoldMetrics`] | folds new measurements into the histograms of `/metrics` | every five seconds |
//!
//! A job does one small step at a time and says when it wants the next one. [`run`] does the rest for all of them: it waits, wakes a job
//! early, measures each step, and repeats a failed one after a pause that doubles with each failure. What is left to do is always in the
//! store, so a job that is stopped loses nothing.

mod close_sessions;
mod eval_runs;
mod fold_metrics;
mod note_used_keys;
mod publish_changes;
mod retain;
mod schedules;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use renown_core::backoff::Backoff;
use renown_store::WriteError;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::api::Api;
use crate::error::log_refused;
use close_sessions::CloseSessions;
use eval_runs::EvalRuns;
use fold_metrics::FoldMetrics;
use note_used_keys::NoteUsedKeys;
pub(crate) use note_used_keys::note_used_keys;
use publish_changes::PublishChanges;
use retain::Retain;
use schedules::Schedules;
pub(crate) use schedules::start as start_scheduled;

/// The pause after a failure needs no jitter: no other process runs the same job.
const NO_JITTER: u32 = 1024;

/// Something that the server does again and again.
trait Job: Send + Sync + 'static {
    /// Its name in logs and metrics.
    const NAME: &'static str;

    /// Does one small step.
    fn step(&self) -> impl Future<Output = Result<Next, WriteError>> + Send;
}

/// When a job wants its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// There is more to do.
    Now,
    /// After this time, or earlier if the job is woken.
    After(Duration),
}

/// Wakes jobs before their time.
#[derive(Default)]
pub(crate) struct Wake {
    retain: Arc<Notify>,
    eval_runs: Arc<Notify>,
}

impl Wake {
    /// Deletes erased evidence now.
    pub(crate) fn retain(&self) {
        self.retain.notify_one();
    }

    /// Carries out new eval runs now.
    pub(crate) fn eval_runs(&self) {
        self.eval_runs.notify_one();
    }
}

/// Starts all jobs. They stop when the set is dropped.
pub(crate) fn start(api: &Arc<Api>) -> JoinSet<()> {
    let mut jobs = JoinSet::new();
    let never = || Arc::new(Notify::new());
    jobs.spawn(run(PublishChanges(Arc::clone(api)), api.changes.waker(), measure(api)));
    jobs.spawn(run(CloseSessions(Arc::clone(api)), never(), measure(api)));
    jobs.spawn(run(Retain(Arc::clone(api)), Arc::clone(&api.wake.retain), measure(api)));
    jobs.spawn(run(EvalRuns(Arc::clone(api)), Arc::clone(&api.wake.eval_runs), measure(api)));
    jobs.spawn(run(Schedules(Arc::clone(api)), never(), measure(api)));
    jobs.spawn(run(NoteUsedKeys(Arc::clone(api)), never(), measure(api)));
    jobs.spawn(run(FoldMetrics(Arc::clone(api)), never(), measure(api)));
    jobs
}

/// Adds a step to the metrics: the job, whether the step succeeded, and how long it took.
fn measure(api: &Arc<Api>) -> impl Fn(&'static str, bool, Duration) + Send + 'static {
    let api = Arc::clone(api);
    move |job, succeeded, took| api.metrics.job(job, succeeded, took)
}

/// Runs a job for ever. `measure` receives every step.
async fn run<J: Job>(job: J, wake: Arc<Notify>, measure: impl Fn(&'static str, bool, Duration) + Send) {
    let mut backoff = Backoff::default();
    loop {
        let started = Instant::now();
        let done = job.step().instrument(tracing::debug_span!("job", name = J::NAME)).await;
        measure(J::NAME, done.is_ok(), started.elapsed());
        let pause = match done {
            Ok(Next::Now) => {
                backoff.reset();
                // Other tasks of this thread get their turn.
                tokio::task::yield_now().await;
                continue;
            }
            Ok(Next::After(pause)) => {
                backoff.reset();
                pause
            }
            Err(error) => {
                let pause = backoff.next(None, NO_JITTER);
                if let WriteError::Refused(_) = &error {
                    log_refused(&error);
                } else {
                    tracing::warn!(job = J::NAME, %error, ?pause, "a job failed; it runs again after the pause");
                }
                pause
            }
        };
        let _ = tokio::time::timeout(pause, wake.notified()).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A job with results that the test chooses. It notes in which second each step began.
    struct Scripted {
        started: tokio::time::Instant,
        steps: Arc<Mutex<Vec<u64>>>,
        results: Mutex<std::vec::IntoIter<Result<Next, WriteError>>>,
    }

    impl Job for Scripted {
        const NAME: &'static str = "scripted";

        async fn step(&self) -> Result<Next, WriteError> {
            self.steps.lock().unwrap().push(self.started.elapsed().as_secs());
            let result = self.results.lock().unwrap().next();
            match result {
                Some(result) => result,
                None => std::future::pending().await,
            }
        }
    }

    /// Runs a job with these results, and once more. Returns in which second each step began, and how many failed.
    async fn steps(results: Vec<Result<Next, WriteError>>, wake_after: Option<u64>) -> (Vec<u64>, usize) {
        let (steps, wake, failed) = (Arc::default(), Arc::new(Notify::new()), Arc::new(Mutex::new(0)));
        let job = Scripted {
            started: tokio::time::Instant::now(),
            steps: Arc::clone(&steps),
            results: Mutex::new(results.into_iter()),
        };
        let count = Arc::clone(&failed);
        let measure = move |_, succeeded: bool, _| *count.lock().unwrap() += usize::from(!succeeded);
        let running = tokio::spawn(run(job, Arc::clone(&wake), measure));
        if let Some(seconds) = wake_after {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            wake.notify_one();
        }
        // The clock of the test runs by itself, so this is as long as it needs to be.
        tokio::time::sleep(Duration::from_hours(1)).await;
        running.abort();
        let (steps, failed) = (steps.lock().unwrap().clone(), *failed.lock().unwrap());
        (steps, failed)
    }

    fn after(seconds: u64) -> Next {
        Next::After(Duration::from_secs(seconds))
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_follows_when_the_job_asks_for_it() {
        assert_eq!(
            steps(vec![Ok(Next::Now), Ok(after(10)), Ok(after(3))], None).await,
            (vec![0, 0, 10, 13], 0)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_that_is_woken_does_not_wait() {
        assert_eq!(steps(vec![Ok(after(60)), Ok(after(60))], Some(5)).await, (vec![0, 5, 65], 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_grows_with_each_failure_in_a_row() {
        let failed = || Err(WriteError::Overloaded);
        let results = vec![failed(), failed(), failed(), Ok(Next::Now), failed()];
        assert_eq!(steps(results, None).await, (vec![0, 1, 3, 7, 7, 8], 4));
    }
}
