//! Compares two eval runs: the sessions that both evaluated, and how their scores changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{field, score};
use crate::failure::printable;
use crate::table::{NOTHING, fitted, left, right, table, terminal_width};

const METRICS: [&str; 2] = ["agent_reliability", "agent_consistency"];

/// Number of changes per direction.
const CHANGES: usize = 10;

/// A smaller change is not one: scores have four decimals.
const SAME: f64 = 0.000_05;

/// Compares the results of two runs.
pub(super) fn compare(runs: &[Value; 2], scores: &[Vec<Value>; 2]) -> Value {
    let [before, after] = scores;
    let earlier: BTreeMap<&str, &Value> =
        before.iter().map(|result| (field(result, "session_id"), result)).collect();
    let mut changes = Vec::new();
    let mut counts = [Counts::default(), Counts::default()];
    let mut both = 0_u64;
    for result in after {
        let Some(old) = earlier.get(field(result, "session_id")) else { continue };
        both += 1;
        for (metric, counts) in METRICS.into_iter().zip(&mut counts) {
            if let (Some(from), Some(to)) = (score(old, metric), score(result, metric)) {
                counts.add(to - from);
                if (to - from).abs() >= SAME {
                    changes.push((to - from, result, metric, from, to));
                }
            }
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let change = |&(change, result, metric, from, to): &(f64, &Value, &str, f64, f64)| {
        let rounded = (change * 10_000.0).round() / 10_000.0;
        json!({"session_id": result.get("session_id"), "agent_id": result.get("agent_id"), "metric": metric,
               "before": from, "after": to, "change": rounded})
    };
    let worse: Vec<Value> = changes.iter().filter(|found| found.0 < 0.0).take(CHANGES).map(change).collect();
    let better: Vec<Value> =
        changes.iter().rev().filter(|found| found.0 > 0.0).take(CHANGES).map(change).collect();
    let metrics: Vec<Value> =
        METRICS.into_iter().zip(&counts).map(|(metric, counts)| counts.shown(metric, runs)).collect();
    json!({
        "before": runs.first(),
        "after": runs.last(),
        "sessions": {"both": both, "only_before": before.len() as u64 - both, "only_after": after.len() as u64 - both},
        "metrics": metrics,
        "worse": worse,
        "better": better,
    })
}

/// How many sessions changed in which direction.
#[derive(Default)]
struct Counts {
    better: u64,
    worse: u64,
    same: u64,
}

impl Counts {
    fn add(&mut self, change: f64) {
        let count = match change {
            change if change >= SAME => &mut self.better,
            change if change <= -SAME => &mut self.worse,
            _ => &mut self.same,
        };
        *count += 1;
    }

    fn shown(&self, metric: &str, runs: &[Value; 2]) -> Value {
        let [before, after] = runs.each_ref().map(|run| mean(run, metric));
        json!({"name": metric, "mean_before": before, "mean_after": after, "better": self.better,
               "worse": self.worse, "same": self.same})
    }
}

/// Returns the mean of a metric over a run.
fn mean(run: &Value, metric: &str) -> Value {
    let summary = run.get("summary").and_then(Value::as_array);
    let found = summary.into_iter().flatten().find(|found| field(found, "name") == metric);
    found.and_then(|found| found.get("mean")).cloned().unwrap_or(Value::Null)
}

/// Formats a comparison for people.
pub(super) fn text(found: &Value) -> String {
    let number = |value: Option<&Value>| match value {
        None | Some(Value::Null) => NOTHING.to_owned(),
        Some(value) => value.to_string(),
    };
    let rows: Vec<[String; 6]> = list(found, "metrics")
        .map(|metric| {
            let part = |name: &str| number(metric.get(name));
            let name = field(metric, "name").to_owned();
            [name, part("mean_before"), part("mean_after"), part("better"), part("worse"), part("same")]
        })
        .collect();
    let head = [
        left("METRIC"),
        right("MEAN BEFORE"),
        right("MEAN AFTER"),
        right("BETTER"),
        right("WORSE"),
        right("SAME"),
    ];
    let count = |name: &str| number(found.pointer(&format!("/sessions/{name}")));
    let mut text = table(head, &rows);
    let _ = writeln!(
        text,
        "{} sessions in both runs, {} only in the first, {} only in the second",
        count("both"),
        count("only_before"),
        count("only_after")
    );
    for (name, title) in [("worse", "GOT WORSE"), ("better", "GOT BETTER")] {
        let rows: Vec<[String; 6]> = list(found, name).map(row).collect();
        if !rows.is_empty() {
            let head = [
                left(title).cut_to(36),
                left("AGENT").cut_to(12),
                left("METRIC"),
                right("BEFORE"),
                right("AFTER"),
                right("CHANGE"),
            ];
            text += "\n";
            text += &fitted(head, &rows, terminal_width());
        }
    }
    text
}

fn list<'v>(found: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    found.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn row(change: &Value) -> [String; 6] {
    let text = |name: &str| printable(field(change, name));
    let number =
        |name: &str| change.get(name).and_then(Value::as_f64).map_or_else(String::new, |n| format!("{n:.4}"));
    let signed =
        change.get("change").and_then(Value::as_f64).map_or_else(String::new, |n| format!("{n:+.4}"));
    [text("session_id"), text("agent_id"), text("metric"), number("before"), number("after"), signed]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(session: &str, reliability: f64, evaluable: bool) -> Value {
        let metric = json!({"score": reliability, "evaluable": evaluable});
        json!({"session_id": session, "agent_id": "a", "status": "scored", "metrics": {"agent_reliability": metric}})
    }

    #[test]
    fn only_sessions_that_both_runs_could_evaluate_are_compared() {
        let before = vec![
            result("a", 0.9, true),
            result("b", 0.5, true),
            result("c", 0.7, true),
            result("d", 1.0, false),
        ];
        let after = vec![
            result("a", 0.4, true),
            result("b", 0.8, true),
            result("c", 0.7, true),
            result("d", 0.2, true),
            result("e", 0.1, true),
        ];
        let run = |mean: f64| json!({"summary": [{"name": "agent_reliability", "mean": mean}]});
        let found = compare(&[run(0.7), run(0.6)], &[before, after]);
        assert_eq!(found["sessions"], json!({"both": 4, "only_before": 0, "only_after": 1}));
        assert_eq!(
            found["metrics"][0],
            json!({"name": "agent_reliability", "mean_before": 0.7, "mean_after": 0.6, "better": 1, "worse": 1, "same": 1})
        );
        assert_eq!(
            found["worse"],
            json!([{"session_id": "a", "agent_id": "a", "metric": "agent_reliability", "before": 0.9, "after": 0.4, "change": -0.5}])
        );
        assert_eq!(found["better"][0]["session_id"], "b");
        assert!(text(&found).contains("GOT WORSE"));
    }
}
