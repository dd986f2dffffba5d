//! The page of an agent as Markdown, for a pull request. Like every external view, it has no score below 50
//! evaluations.

use std::fmt::Write;

use renown_core::reputation::Lifecycle;
use renown_view::{AgentFacts, AgentHistory};

use super::{AgentPage, Audience, failing, lead};
use crate::Shell;
use crate::text::{self, Form};

/// Renders the report.
pub fn markdown(shell: &Shell<'_>, facts: &AgentFacts, history: &AgentHistory) -> String {
    let page = &AgentPage::of(facts, history, Audience::Report);
    let (standing, reputation) = (&page.standing, &page.standing.reputation);
    let shown = matches!(reputation.lifecycle, Lifecycle::Active | Lifecycle::Mature);
    let life = text::lifecycle(reputation.lifecycle, reputation.evaluations);
    let score = if shown { format!("{} of 1000, {life}", reputation.score) } else { life };
    let mut report = format!("# {}: {score}\n\n{}\n", plain(standing.agent_id.as_str()), lead(page, shown));
    if shown {
        report.push_str("\n| component | points | of |\n|---|---:|---:|\n");
        for part in &page.why.components {
            let most = part.points_max.map(|most| text::cut(most, 0)).unwrap_or_default();
            let _ = writeln!(
                report,
                "| {} | {} | {most} |",
                part.name.replace('_', " "),
                text::cut(part.points, 1)
            );
        }
    }
    others(&mut report, page);
    let (gates, tools) = failing(page);
    for (what, list) in [("gate", gates), ("tool", tools)] {
        if list.is_empty() {
            continue;
        }
        let _ = write!(
            report,
            "\n| failing {what} | failed of the last {} | in 7 days |\n|---|---:|---:|\n",
            page.latest.len()
        );
        for item in list {
            let _ = writeln!(report, "| `{}` | {} | {} |", plain(&item.name), item.failed, item.week);
        }
    }
    let _ = writeln!(
        report,
        "\nAs of {} UTC. Every number follows from stored evidence by a published rule.",
        text::utc(shell.now, Form::Full)
    );
    report
}

/// Appends the other four scores.
fn others(report: &mut String, page: &AgentPage<'_>) {
    let standing = &page.standing;
    report.push_str("\n| score | value | |\n|---|---:|---|\n");
    let session = standing.sessions.first().and_then(|session| session.performance.as_ref());
    if let Some(performance) = session {
        let performance = &performance.performance;
        let verdict = text::recommendation(performance.recommendation);
        let _ = writeln!(report, "| latest session | {} of 10 | {verdict} |", performance.composite);
    }
    if let Some(metrics) = &standing.metrics {
        for (name, metric) in
            [("reliability", &metrics.agent_reliability), ("consistency", &metrics.agent_consistency)]
        {
            if metric.evaluable {
                let _ = writeln!(
                    report,
                    "| its {name} | {} of 1 | {} |",
                    text::cut(metric.score, 2),
                    plain(&metric.reason)
                );
            }
        }
    }
    if let Some((run, score)) = standing.runs.first().and_then(|run| Some((run, run.score.score?))) {
        let _ = writeln!(report, "| latest run | {score} of 100 | {} |", run.score.tier.name());
    }
    let identity = &standing.identity_reputation;
    if identity.total_events > 0 {
        let (score, confidence) = (text::cut(identity.overall_score, 2), text::cut(identity.confidence, 2));
        let _ = writeln!(report, "| identity | {score} of 1 | confidence {confidence} |");
    }
}

/// Escapes a text for Markdown and puts it on one line.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' => {
                plain.push('\\');
                plain.push(char);
            }
            _ => plain.push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_cannot_contain_markdown() {
        assert_eq!(plain("a|b\n[x](y) <script>"), "a\\|b \\[x\\](y) \\<script\\>");
    }
}
