//! The evidence behind a scorecard: what the run reported, and what is missing.
//!
//! | word | present if |
//! |---|---|
//! | `spec_id` | the run names the spec that it attempted, so it can be compared with other attempts |
//! | `stages` | at least one stage was executed |
//! | `wall_ms` | the run reported its duration |
//! | `baseline` | an earlier completed run of the workspace has a duration |
//! | `memory` | peak and limit are known, and the limit is not 0 |
//! | `cpu` | throttled periods and periods are known, or throttled time and duration |
//!
//! A run with neither `spec_id` nor `stages` is judged by its own word: nothing but the run itself supports its
//! outcome.

use serde::Serialize;

use super::{Baseline, Report};

/// The evidence that a scorecard used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunCoverage {
    /// Kinds of evidence that the run has.
    pub present: Vec<&'static str>,
    /// Kinds of evidence that are missing.
    pub missing: Vec<&'static str>,
    /// Whether only the run itself supports its outcome: it has no stages and names no spec.
    pub outcome_is_unsupported: bool,
}

impl RunCoverage {
    /// Returns the coverage of a report that was compared with this baseline.
    pub fn of(report: &Report, baseline: Baseline, has_spec: bool) -> Self {
        let has_stages = report.stages.is_some_and(|stages| stages.executed > 0);
        let (has_memory, has_cpu) = report.resources.known(report.wall_ms);
        let kinds = [
            ("spec_id", has_spec),
            ("stages", has_stages),
            ("wall_ms", report.wall_ms.is_some()),
            ("baseline", baseline.p50_doubled_ms() > 0),
            ("memory", has_memory),
            ("cpu", has_cpu),
        ];
        let of =
            |wanted: bool| kinds.into_iter().filter(move |&(_, has)| has == wanted).map(|(kind, _)| kind);
        Self {
            present: of(true).collect(),
            missing: of(false).collect(),
            outcome_is_unsupported: !has_spec && !has_stages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::{Resources, RunOutcome, Stages};
    use crate::units::Whole;

    #[test]
    fn coverage_names_what_is_there_and_what_is_missing() {
        let whole = |value: u64| Whole::new(value);
        let bare = Report {
            outcome: RunOutcome::Completed,
            stages: None,
            wall_ms: None,
            resources: Resources::default(),
        };
        let mut stages = Stages::default();
        let no_stage = Report { stages: Some(stages), ..bare };
        stages.add(true, 1);
        let full = Report {
            stages: Some(stages),
            wall_ms: whole(9),
            resources: Resources {
                memory_peak_bytes: whole(1),
                memory_limit_bytes: whole(2),
                cpu_throttled_ms: whole(0),
                ..Resources::default()
            },
            ..bare
        };
        let known = Baseline::new(&[whole(9).unwrap()]);
        for (label, report, baseline, has_spec, missing, unsupported) in [
            ("nothing", bare, Baseline::default(), false, "spec_id stages wall_ms baseline memory cpu", true),
            ("an empty list of stages", no_stage, known, false, "spec_id stages wall_ms memory cpu", true),
            ("only a spec", bare, known, true, "stages wall_ms memory cpu", false),
            ("only stages", full, Baseline::default(), false, "spec_id baseline", false),
            ("everything", full, known, true, "", false),
        ] {
            let coverage = RunCoverage::of(&report, baseline, has_spec);
            assert_eq!(coverage.missing.join(" "), missing, "{label}");
            assert_eq!(coverage.present.len() + coverage.missing.len(), 6, "{label}");
            assert_eq!(coverage.outcome_is_unsupported, unsupported, "{label}");
        }
    }
}
