//! The five scores by name: JSON in, one score out. No rule is defined here.

use serde::Serialize;

use crate::explain::Explanation;
use crate::json::{InputError, parse};
use crate::{identity, performance, reputation, scorecard, session_metrics};

/// The kind of score to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    /// [`reputation`] of an agent.
    Reputation,
    /// [`performance`] of a session.
    Performance,
    /// [`scorecard`] of a run.
    Run,
    /// [`session_metrics`]: reliability and consistency.
    Session,
    /// Reputation of an [`identity`] over time.
    Identity,
}

/// A score of any kind, as the API returns it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// Of an agent.
    Reputation(reputation::ReputationRecord),
    /// Of a session.
    Performance(performance::VersionedPerformance),
    /// Of a run.
    Run(scorecard::Scorecard),
    /// Of a session.
    Session(Box<session_metrics::Metrics>),
    /// Of an identity.
    Identity(identity::IdentityReputation),
}

/// The explanation of a score of any kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Explained {
    /// One score, part by part.
    One(Explanation),
    /// A reputation, part by part, and the scores after the next pass or failure.
    Reputation(reputation::ReputationExplanation),
    /// Both session metrics, part by part.
    Session(session_metrics::MetricsExplanation),
}

impl ScoreKind {
    /// Parses one input and computes its score.
    pub fn score(self, input: &[u8]) -> Result<Score, InputError> {
        Ok(match self {
            Self::Reputation => Score::Reputation(parse::<reputation::Input>(input)?.score()),
            Self::Performance => Score::Performance(parse::<performance::Input>(input)?.score()),
            Self::Run => Score::Run(parse::<scorecard::Input>(input)?.score()),
            Self::Session => Score::Session(Box::new(parse::<session_metrics::Input>(input)?.score())),
            Self::Identity => Score::Identity(parse::<identity::Input>(input)?.score()),
        })
    }

    /// Parses one input and explains its score.
    pub fn explain(self, input: &[u8]) -> Result<Explained, InputError> {
        Ok(match self {
            Self::Reputation => Explained::Reputation(parse::<reputation::Input>(input)?.explain()),
            Self::Performance => Explained::One(parse::<performance::Input>(input)?.explain()),
            Self::Run => Explained::One(parse::<scorecard::Input>(input)?.explain()),
            Self::Session => Explained::Session(parse::<session_metrics::Input>(input)?.explain()),
            Self::Identity => Explained::One(parse::<identity::Input>(input)?.explain()),
        })
    }
}
