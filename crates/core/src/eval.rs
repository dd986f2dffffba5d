//! # Eval runs: session metrics over many sessions
//!
//! ```text
//! pending ──► running ──► completed ──► (retry of failed targets) ──► pending
//!    │           ├──────► failed       an internal error stopped the run
//!    └───────────┴──────► cancelled    a client stopped it
//!
//! sampled(session) = top 53 bits of mix(seed, session) / 2^53 < sampling_rate
//! mean(metric)     = Σ score / n over the evaluable sessions
//! ```
//!
//! | symbol | meaning | source |
//! |---|---|---|
//! | target | a session that the run evaluates: one of a list, or one that a filter selects | the request |
//! | seed | a random number, stored with the run | the server |
//! | mix | FNV-1a of the session's id, started from the seed, and the finalizer of splitmix64 | |
//! | n | sessions with evidence for the metric; a session without any has the score 1, and is left out | |
//!
//! **Why a seed.** The same run selects the same sessions again, whatever their order and however often it was
//! interrupted. Two runs with the same settings select different ones.
//!
//! **What it ignores.** A target that cannot be evaluated (an unknown session) does not fail the run. It is counted
//! as failed, and a retry evaluates it again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::decimal::{Decimal, ratio};
use crate::ids::SessionId;
use crate::json::Object;
use crate::session_metrics::{
    CONSISTENCY, ConsistencyMetric, RELIABILITY, ReliabilityMetric, SessionTraces, SignalWeights, Thresholds,
};
use crate::units::Unit;

/// A metric of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MetricName {
    /// How bad the worst moments were.
    AgentReliability,
    /// How steady the session was.
    AgentConsistency,
}

impl MetricName {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::AgentReliability, Self::AgentConsistency];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentReliability => RELIABILITY,
            Self::AgentConsistency => CONSISTENCY,
        }
    }
}

impl FromStr for MetricName {
    type Err = UnknownMetric;

    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        Self::ALL.into_iter().find(|metric| metric.name() == text).ok_or(UnknownMetric)
    }
}

/// The error for a text that names no metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMetric;

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {RELIABILITY} or {CONSISTENCY}")
    }
}

impl std::error::Error for UnknownMetric {}

/// The state of an eval run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvalStatus {
    /// It waits for its turn.
    Pending,
    /// It is evaluating sessions.
    Running,
    /// All targets were evaluated, or failed one by one.
    Completed,
    /// An internal error stopped it.
    Failed,
    /// A client stopped it.
    Cancelled,
}

impl EvalStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Running, Self::Completed, Self::Failed, Self::Cancelled];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the run still has something to do.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }
}

impl FromStr for EvalStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.name() == text).ok_or(UnknownStatus)
    }
}

/// The error for a text that names no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownStatus;

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected pending, running, completed, failed or cancelled")
    }
}

impl std::error::Error for UnknownStatus {}

/// What an eval run computes, and for which share of its sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalSettings {
    /// The metrics, each once, in the order of [`MetricName::ALL`].
    pub metrics: Vec<MetricName>,
    /// The share of the sessions to evaluate. Never 0.
    pub sampling_rate: Unit,
    /// The weights of the signals.
    pub signal_weights: SignalWeights,
    /// The thresholds that were set.
    pub thresholds: Thresholds,
}

/// Why settings were rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalSettingsError {
    /// There is no metric.
    NoMetric,
    /// A metric is given twice.
    RepeatedMetric(MetricName),
    /// The sampling rate is 0.
    NothingSampled,
}

impl fmt::Display for EvalSettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMetric => write!(f, "metrics: empty, expected {RELIABILITY}, {CONSISTENCY} or both"),
            Self::RepeatedMetric(metric) => {
                write!(f, "metrics: {:?} is given twice, expected each metric once", metric.name())
            }
            Self::NothingSampled => {
                f.write_str("sampling_rate: 0 selects nothing, expected more than 0 and at most 1")
            }
        }
    }
}

impl std::error::Error for EvalSettingsError {}

/// The settings as they are sent. Absent fields have their defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentSettings {
    /// The metrics; all if absent.
    pub metrics: Option<Vec<MetricName>>,
    /// The share of the sessions; all if absent.
    pub sampling_rate: Option<Unit>,
    /// The weights that differ from their defaults.
    pub signal_weights: Option<Object<SignalWeights>>,
    /// The thresholds that differ from their defaults.
    pub thresholds: Option<Object<Thresholds>>,
}

impl TryFrom<SentSettings> for EvalSettings {
    type Error = EvalSettingsError;

    fn try_from(sent: SentSettings) -> Result<Self, EvalSettingsError> {
        let mut metrics = sent.metrics.unwrap_or_else(|| MetricName::ALL.to_vec());
        metrics.sort_unstable();
        if metrics.is_empty() {
            return Err(EvalSettingsError::NoMetric);
        }
        if let Some(pair) = metrics.windows(2).find(|pair| pair.first() == pair.last())
            && let Some(&repeated) = pair.first()
        {
            return Err(EvalSettingsError::RepeatedMetric(repeated));
        }
        let sampling_rate = sent.sampling_rate.unwrap_or(Unit::ONE);
        if sampling_rate == Unit::ZERO {
            return Err(EvalSettingsError::NothingSampled);
        }
        Ok(Self {
            metrics,
            sampling_rate,
            signal_weights: sent.signal_weights.map(|Object(weights)| weights).unwrap_or_default(),
            thresholds: sent.thresholds.map(|Object(thresholds)| thresholds).unwrap_or_default(),
        })
    }
}

impl EvalSettings {
    /// Computes the chosen metrics of a session.
    pub fn evaluate(&self, session: &SessionTraces) -> EvalScores {
        let metrics = session.metrics(&self.signal_weights, &self.thresholds);
        let chosen = |metric| self.metrics.contains(&metric);
        EvalScores {
            agent_reliability: chosen(MetricName::AgentReliability).then_some(metrics.agent_reliability),
            agent_consistency: chosen(MetricName::AgentConsistency).then_some(metrics.agent_consistency),
        }
    }

    /// Returns whether a session belongs to the sample.
    #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    pub fn is_sampled(&self, seed: u64, session: &SessionId) -> bool {
        const BITS: u32 = 53;
        let share = (mix(seed, session.as_str().as_bytes()) >> (u64::BITS - BITS)) as f64;
        share < self.sampling_rate.get() * (1_u64 << BITS) as f64
    }
}

/// Mixes a seed and bytes into a number whose every bit depends on all of them.
fn mix(seed: u64, bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The results of one session: the chosen metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EvalScores {
    /// Reliability, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_reliability: Option<ReliabilityMetric>,
    /// Consistency, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_consistency: Option<ConsistencyMetric>,
}

impl EvalScores {
    /// Reads the results without their details from the JSON of a value of this type.
    pub fn brief(json: &str) -> Option<Vec<MetricOutcome>> {
        let stored: StoredScores = serde_json::from_str(json).ok()?;
        let outcome = |metric, stored: StoredMetric| MetricOutcome {
            metric,
            score: Decimal::nearest(stored.score),
            passed: stored.passed,
            evaluable: stored.evaluable,
        };
        let reliability =
            stored.agent_reliability.map(|stored| outcome(MetricName::AgentReliability, stored));
        let consistency =
            stored.agent_consistency.map(|stored| outcome(MetricName::AgentConsistency, stored));
        Some(reliability.into_iter().chain(consistency).collect())
    }
}

/// What [`EvalScores::brief`] reads.
#[derive(Deserialize)]
struct StoredScores {
    agent_reliability: Option<StoredMetric>,
    agent_consistency: Option<StoredMetric>,
}

#[derive(Deserialize)]
struct StoredMetric {
    score: f64,
    passed: bool,
    evaluable: bool,
}

/// The result of one metric without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricOutcome {
    /// The metric.
    pub metric: MetricName,
    /// 0 to 1, four places.
    pub score: Decimal<4>,
    /// Whether the score reaches the threshold.
    pub passed: bool,
    /// Whether there was anything to evaluate.
    pub evaluable: bool,
}

/// The sums of one metric over the sessions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricSums {
    /// Sessions with evidence for the metric.
    pub evaluated: u64,
    /// Those that reach the threshold.
    pub passed: u64,
    /// The sum of their scores, in ten-thousandths.
    pub units: u64,
}

impl MetricSums {
    /// Adds the result of a session. A result without evidence adds nothing.
    pub fn add(&mut self, outcome: &MetricOutcome) {
        if outcome.evaluable {
            self.evaluated += 1;
            self.passed += u64::from(outcome.passed);
            self.units += units(outcome);
        }
    }

    /// Removes the result of a session that was added.
    pub fn remove(&mut self, outcome: &MetricOutcome) {
        if outcome.evaluable {
            self.evaluated = self.evaluated.saturating_sub(1);
            self.passed = self.passed.saturating_sub(u64::from(outcome.passed));
            self.units = self.units.saturating_sub(units(outcome));
        }
    }

    /// Returns the mean score; `None` without an evaluated session.
    pub fn mean(&self) -> Option<Decimal<4>> {
        (self.evaluated > 0).then(|| ratio(u128::from(self.units), u128::from(self.evaluated) * 10_000))
    }
}

/// Returns a score in ten-thousandths.
fn units(outcome: &MetricOutcome) -> u64 {
    u64::try_from(outcome.score.units()).unwrap_or_default()
}

/// The sums of all metrics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalSums {
    /// Sums of reliability.
    pub agent_reliability: MetricSums,
    /// Sums of consistency.
    pub agent_consistency: MetricSums,
}

impl EvalSums {
    /// Adds the results of a session.
    pub fn add(&mut self, outcomes: &[MetricOutcome]) {
        for outcome in outcomes {
            self.of_mut(outcome.metric).add(outcome);
        }
    }

    /// Removes the results of a session.
    pub fn remove(&mut self, outcomes: &[MetricOutcome]) {
        for outcome in outcomes {
            self.of_mut(outcome.metric).remove(outcome);
        }
    }

    fn of_mut(&mut self, metric: MetricName) -> &mut MetricSums {
        match metric {
            MetricName::AgentReliability => &mut self.agent_reliability,
            MetricName::AgentConsistency => &mut self.agent_consistency,
        }
    }

    /// Returns the sums of one metric.
    pub fn of(&self, metric: MetricName) -> &MetricSums {
        match metric {
            MetricName::AgentReliability => &self.agent_reliability,
            MetricName::AgentConsistency => &self.agent_consistency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::session_metrics::Input;

    fn settings(json: &str) -> Result<EvalSettings, String> {
        let sent: SentSettings = parse(json.as_bytes()).map_err(|error| error.to_string())?;
        sent.try_into().map_err(|error: EvalSettingsError| error.to_string())
    }

    #[test]
    fn settings_have_defaults_and_are_checked() {
        let default = settings("{}").unwrap();
        assert_eq!(default.metrics, MetricName::ALL);
        assert_eq!(default.sampling_rate, Unit::ONE);
        let turned = settings(r#"{"metrics":["agent_consistency","agent_reliability"]}"#).unwrap();
        assert_eq!(turned.metrics, MetricName::ALL, "the order does not matter");
        for (json, reason) in [
            (r#"{"metrics":[]}"#, "metrics: empty, expected agent_reliability, agent_consistency or both"),
            (r#"{"metrics":["agent_reliability","agent_reliability"]}"#, "is given twice"),
            (r#"{"metrics":["speed"]}"#, "speed"),
            (r#"{"sampling_rate":0}"#, "sampling_rate: 0 selects nothing"),
            (r#"{"sampling_rate":2}"#, "sampling_rate"),
            (r#"{"signal_weights":{"confidence":11}}"#, "a weight from 0 to 10"),
            (r#"{"signal_weights":{"speed":1}}"#, "speed"),
            (r#"{"thresholds":{"agent_reliability":1.1}}"#, "thresholds"),
            (r#"{"weights":{}}"#, "weights"),
        ] {
            let error = settings(json).unwrap_err();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }

    #[test]
    fn settings_are_stored_and_read_again() {
        let all = r#"{"metrics":["agent_reliability"],"sampling_rate":0.25,"signal_weights":{"coherence":0.5},
                      "thresholds":{"agent_reliability":0.9}}"#;
        let made = settings(all).unwrap();
        let stored = serde_json::to_string(&made).unwrap();
        assert_eq!(serde_json::from_str::<EvalSettings>(&stored).unwrap(), made);
    }

    #[test]
    fn a_sample_has_the_right_size_and_depends_on_the_seed_only() {
        let quarter = settings(r#"{"sampling_rate":0.25}"#).unwrap();
        let ids: Vec<SessionId> = (0..4000).map(|index| format!("s{index}").parse().unwrap()).collect();
        let sample = |settings: &EvalSettings, seed| -> Vec<bool> {
            ids.iter().map(|id| settings.is_sampled(seed, id)).collect()
        };
        let count = sample(&quarter, 7).into_iter().filter(|sampled| *sampled).count();
        assert!((900..1100).contains(&count), "{count} of 4000");
        assert_eq!(sample(&quarter, 7), sample(&quarter, 7));
        assert_ne!(sample(&quarter, 7), sample(&quarter, 8));
        let half = settings(r#"{"sampling_rate":0.5}"#).unwrap();
        let pairs = sample(&quarter, 7).into_iter().zip(sample(&half, 7));
        assert!(
            pairs.into_iter().all(|(small, large)| !small || large),
            "a larger sample contains the smaller one"
        );
        assert!(sample(&settings("{}").unwrap(), 7).into_iter().all(|sampled| sampled));
    }

    #[test]
    fn only_sessions_with_evidence_count_in_the_mean() {
        let input: Input =
            parse(br#"{"traces":[{"trace_id":"a","signals":{"tool_correctness":0.5}}]}"#).unwrap();
        let scores = settings("{}").unwrap().evaluate(input.session());
        let outcomes = EvalScores::brief(&serde_json::to_string(&scores).unwrap()).unwrap();
        // Reliability: 1 − 0.8 · 0.5 = 0.6. Consistency needs a confidence.
        let mut sums = EvalSums::default();
        sums.add(&outcomes);
        sums.add(&outcomes);
        assert_eq!(sums.agent_reliability, MetricSums { evaluated: 2, passed: 2, units: 12_000 });
        assert_eq!(sums.agent_reliability.mean().map(|mean| mean.to_string()).as_deref(), Some("0.6000"));
        assert_eq!(sums.of(MetricName::AgentConsistency), &MetricSums::default());
        assert_eq!(sums.agent_consistency.mean(), None);
        sums.remove(&outcomes);
        sums.remove(&outcomes);
        assert_eq!(sums, EvalSums::default());
    }

    #[test]
    fn only_chosen_metrics_are_computed() {
        let only = settings(r#"{"metrics":["agent_consistency"]}"#).unwrap();
        let scores = only.evaluate(&SessionTraces::default());
        let json = serde_json::to_value(&scores).unwrap();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["agent_consistency"]);
    }
}
