//! Metrics of the server for Prometheus.
//!
//! `renown_telemetry_records_total` counts what the server knows when a record arrives: it counts the facts of logs and of spans, because
//! later records decide which of the two a session is scored by. `renown judge` counts the facts of the other signal as shadowed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::{Method, StatusCode};
use metrics::{
    Counter, Histogram, counter, describe_counter, describe_gauge, describe_histogram, histogram,
    with_local_recorder,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use renown_store::{Stage, WriteWaits};
use renown_telemetry::account::Account;

const SECONDS: [f64; 10] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];

/// Route, method and status of a request.
type Labels = (&'static str, &'static str, u16);

/// The metrics of one server. Each server has its own recorder, so that two servers in one process do not mix.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    started: Instant,
    /// The counters of known labels, so that a request does not look them up in the recorder.
    requests: Mutex<HashMap<Labels, (Counter, Histogram)>>,
    passed: Counter,
    failed: Counter,
    duplicates: Counter,
    runs: Counter,
    reputation_events: Counter,
    telemetry: [Counter; 12],
}

impl Metrics {
    pub(crate) fn new() -> Self {
        // `set_buckets` fails only for an empty list.
        let builder = PrometheusBuilder::new().set_buckets(&SECONDS).unwrap_or_default();
        let recorder = builder.build_recorder();
        let (passed, failed, duplicates, runs, reputation_events, telemetry) =
            with_local_recorder(&recorder, || {
                describe_counter!("renown_requests_total", "requests by route, method and status");
                describe_histogram!("renown_request_seconds", "time from the head of a request to its reply");
                describe_counter!("renown_evaluations_total", "evaluations counted, by verdict");
                describe_counter!("renown_duplicates_total", "evaluations that had been counted before");
                describe_counter!("renown_runs_total", "runs scored");
                describe_counter!("renown_reputation_events_total", "reputation events counted");
                describe_counter!("renown_telemetry_records_total", "received telemetry records, by result");
                describe_histogram!("renown_job_seconds", "time of one step of a job beside requests");
                describe_counter!("renown_job_failures_total", "steps of jobs that failed, by job");
                describe_counter!(
                    "renown_commits_total",
                    "transactions of the store that a request waited for"
                );
                describe_counter!(
                    "renown_slow_commits_total",
                    "commits of more than 10 ms, by the stage that took longest"
                );
                describe_gauge!(
                    "renown_writer_seconds",
                    "time that the store's writer spent since the start, by stage"
                );
                describe_gauge!("renown_connections", "open connections");
                describe_gauge!("renown_uptime_seconds", "time since the start");
                (
                    counter!("renown_evaluations_total", "passed" => "true"),
                    counter!("renown_evaluations_total", "passed" => "false"),
                    counter!("renown_duplicates_total"),
                    counter!("renown_runs_total"),
                    counter!("renown_reputation_events_total"),
                    Account::default()
                        .entries()
                        .map(|(result, _)| counter!("renown_telemetry_records_total", "result" => result)),
                )
            });
        let (handle, started, requests) = (recorder.handle(), Instant::now(), Mutex::default());
        Self {
            recorder,
            handle,
            started,
            requests,
            passed,
            failed,
            duplicates,
            runs,
            reputation_events,
            telemetry,
        }
    }

    /// Counts a request. Method and route are names from our own lists, so clients cannot create labels.
    pub(crate) fn request(
        &self,
        method: &'static str,
        route: &'static str,
        status: StatusCode,
        took: Duration,
    ) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, seconds) = requests.entry((route, method, status.as_u16())).or_insert_with(|| {
            with_local_recorder(&self.recorder, || {
                let status = status.as_str().to_owned();
                let count = counter!("renown_requests_total", "route" => route, "method" => method, "status" => status);
                (count, histogram!("renown_request_seconds", "route" => route))
            })
        });
        count.increment(1);
        seconds.record(took.as_secs_f64());
    }

    /// Counts evaluations.
    pub(crate) fn evaluations(&self, passed: u64, failed: u64, duplicates: u64) {
        self.passed.increment(passed);
        self.failed.increment(failed);
        self.duplicates.increment(duplicates);
    }

    /// Counts a run that was scored.
    pub(crate) fn run(&self) {
        self.runs.increment(1);
    }

    /// Counts reputation events.
    pub(crate) fn reputation_events(&self, accepted: usize) {
        self.reputation_events.increment(accepted as u64);
    }

    /// Counts telemetry by result.
    pub(crate) fn telemetry(&self, account: &Account) {
        for (counter, (_, count)) in self.telemetry.iter().zip(account.entries()) {
            counter.increment(count);
        }
    }

    /// Counts a step of a job beside requests.
    pub(crate) fn job(&self, job: &'static str, succeeded: bool, took: Duration) {
        with_local_recorder(&self.recorder, || {
            histogram!("renown_job_seconds", "job" => job).record(took.as_secs_f64());
            counter!("renown_job_failures_total", "job" => job).increment(u64::from(!succeeded));
        });
    }

    /// Counts an opened or a closed connection.
    pub(crate) fn connection(&self, opened: bool) {
        with_local_recorder(&self.recorder, || {
            let open = metrics::gauge!("renown_connections");
            if opened { open.increment(1.0) } else { open.decrement(1.0) }
        });
    }

    /// Folds new measurements into the histograms, so that memory does not grow with the number of requests.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// Renders all metrics in the text format of Prometheus. `waits` is what the store measured.
    pub(crate) fn render(&self, waits: &WriteWaits) -> String {
        with_local_recorder(&self.recorder, || {
            metrics::gauge!("renown_uptime_seconds").set(self.started.elapsed().as_secs_f64());
            counter!("renown_commits_total").absolute(waits.commits);
            for (stage, (time, slow)) in Stage::ALL.into_iter().zip(waits.stages) {
                let stage = stage.name();
                counter!("renown_slow_commits_total", "waited_for" => stage).absolute(slow);
                metrics::gauge!("renown_writer_seconds", "stage" => stage).set(time.as_secs_f64());
            }
        });
        self.handle.render()
    }
}

/// Returns the label of a method. Unknown methods are `other`, because clients can invent methods.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "DELETE" => "DELETE",
        "PATCH" => "PATCH",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_rendered_with_their_labels() {
        let metrics = Metrics::new();
        metrics.request(method_name(&Method::POST), "/v1/evaluate", StatusCode::OK, Duration::from_millis(3));
        metrics.evaluations(1, 0, 0);
        let text = metrics.render(&WriteWaits::default());
        assert!(
            text.contains(r#"renown_requests_total{route="/v1/evaluate",method="POST",status="200"} 1"#),
            "{text}"
        );
        assert!(
            text.contains(r#"renown_request_seconds_bucket{route="/v1/evaluate",le="0.005"} 1"#),
            "{text}"
        );
        assert!(text.contains(r#"renown_evaluations_total{passed="true"} 1"#), "{text}");
        metrics.telemetry(&Account { records: 3, duplicates: 1, ..Account::default() });
        let text = metrics.render(&WriteWaits::default());
        for (result, count) in [("records", 3), ("duplicates", 1), ("bad_lines", 0)] {
            let line = format!(r#"renown_telemetry_records_total{{result="{result}"}} {count}"#);
            assert!(text.contains(&line), "{text}");
        }
    }
}
