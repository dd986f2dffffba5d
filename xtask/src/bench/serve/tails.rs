//! Latency over a long run: a minute of durable evaluations while the file grows, and what the slow commits waited for.
//!
//! Every round starts with an empty database, because the file must grow by the same amount in each. The store reports
//! in `/metrics` what its commits waited for. A build without these metrics is measured too.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::options::Options;
use super::{Ours, work};
use crate::bench::contest::{Side, Wanted, contest};
use crate::load::{Measured, fetch, get};

const CONNECTIONS: [usize; 1] = [32];
const TIME: Duration = Duration::from_mins(1);

const P99_MS_MAX: f64 = 10.0;
const P999_MS_MAX: f64 = 25.0;

/// Measures the builds in turns.
pub(super) fn tails(options: &Options, programs: &[(&'static str, &Path)], folder: &Path) -> Result<()> {
    let options = options.usually(TIME);
    for connections in options.connections(&CONNECTIONS) {
        let run = |program: &Path| run(&options, program, &folder.join("tails"), connections);
        let mut sides: Vec<Side<'_>> =
            programs.iter().map(|&(name, program)| Side::new(name, move || run(program))).collect();
        let results = contest(&format!("tails, {connections}"), options.rounds, &mut sides)?;
        let quantile = |share: f64| move |measured: &Measured| measured.quantile_ms(share);
        results.figure("p99", " ms", quantile(0.99), Wanted::AtMost(P99_MS_MAX));
        results.figure("p99.9", " ms", quantile(0.999), Wanted::AtMost(P999_MS_MAX));
        results.ratio("before", "p50", quantile(0.5), Some(Wanted::AtMost(1.05)));
    }
    Ok(())
}

/// Runs on an empty database.
fn run(options: &Options, program: &Path, data: &Path, connections: usize) -> Result<Measured> {
    let ours = Ours::start(options, program, data)?;
    let measured = ours.run(200, connections, &mut work::evaluate(&ours.key))?;
    let metrics = fetch(ours.peer.address, &get("/metrics", "none"), 200)?;
    let file_mb = data.join("renown.db").metadata()?.len() / 1_000_000;
    println!("  {file_mb} MB; {}", waits(&String::from_utf8_lossy(&metrics)));
    Ok(measured)
}

/// Returns what the commits of a server waited for, by its metrics: the share of slow ones, and the time of the writer.
fn waits(metrics: &str) -> String {
    let value = |line: &str| line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
    let Some(commits) =
        metrics.lines().find(|line| line.starts_with("renown_commits_total ")).and_then(value)
    else {
        return "the server does not say what its commits waited for".to_owned();
    };
    let labeled = |name: &str| -> Vec<(String, f64)> {
        let lines = metrics.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('{'));
        let pair = |line: &str| Some((line.split('"').nth(1)?.to_owned(), value(line)?));
        let mut found: Vec<(String, f64)> =
            lines.filter_map(pair).filter(|(_, value)| *value > 0.0).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    };
    let slow = labeled("renown_slow_commits_total");
    let over: f64 = slow.iter().map(|(_, count)| count).sum();
    let share = over.max(0.0) / commits.max(1.0) * 100.0;
    let slow: Vec<String> = slow.iter().map(|(stage, count)| format!("{stage} {count}")).collect();
    let seconds = labeled("renown_writer_seconds");
    let seconds: Vec<String> = seconds.iter().map(|(stage, time)| format!("{stage} {time:.1} s")).collect();
    format!(
        "{commits} commits, {share:.3} % over 10 ms: {}; the writer's time: {}",
        slow.join(", "),
        seconds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_server_say_what_its_commits_waited_for() {
        let metrics = "# TYPE renown_commits_total counter\nrenown_commits_total 2000\n\
            renown_slow_commits_total{waited_for=\"apply\"} 0\nrenown_slow_commits_total{waited_for=\"sync\"} 3\n\
            renown_slow_commits_total{waited_for=\"checkpoint\"} 7\nrenown_writer_seconds{stage=\"sync\"} 1.25\n";
        assert_eq!(
            waits(metrics),
            "2000 commits, 0.500 % over 10 ms: checkpoint 7, sync 3; the writer's time: sync 1.2 s"
        );
        assert_eq!(waits("renown_uptime_seconds 1\n"), "the server does not say what its commits waited for");
    }
}
