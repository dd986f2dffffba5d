//! Evaluations while the demo runs: one every few seconds, always in the same order.

use std::time::Duration;

use renown_store::{NewEvaluation, NewEvaluationId};

use crate::agents::{CHARACTERS, Character, Story, Volume};
use crate::calendar::Hours;
use crate::evaluations::Maker;
use crate::plan::PlanError;
use crate::random::Random;

/// Seed of the live evaluations.
const SEED: u64 = 7070;

/// Pause before the next evaluation in milliseconds: minimum and maximum.
const PAUSE_MS: (u64, u64) = (2000, 6000);

/// Failed outputs per thousand, of an agent whose score falls today.
const FALLING_PER_MILLE: u64 = 400;

/// An endless sequence of evaluations.
#[derive(Debug)]
pub struct Live {
    random: Random,
    makers: Vec<(Character, Maker)>,
}

impl Live {
    /// Creates the evaluations of the agents that have a daily volume and work by day.
    pub fn new() -> Result<Self, PlanError> {
        let mut random = Random::new(SEED);
        let works = |character: &&Character| {
            matches!(character.volume, Volume::Daily { .. }) && character.hours != Hours::Night
        };
        let maker = |character: &Character| Ok((*character, Maker::new(character, random.fork())?));
        let makers = CHARACTERS.iter().filter(works).map(maker).collect::<Result<_, PlanError>>()?;
        Ok(Self { random, makers })
    }

    /// Returns the pause before the next evaluation.
    pub fn pause(&mut self) -> Duration {
        Duration::from_millis(self.random.between(PAUSE_MS.0, PAUSE_MS.1))
    }

    /// Returns the next evaluation with this id. Its time is the time of acceptance.
    pub fn evaluation(&mut self, id: NewEvaluationId) -> Result<NewEvaluation, PlanError> {
        let random = &mut self.random;
        let index = random.index(self.makers.len());
        let (character, maker) =
            self.makers.get_mut(index).ok_or_else(|| PlanError::new("no agent works by day"))?;
        let failure = match character.story {
            Some(Story::Today { failure, .. }) if random.chance(FALLING_PER_MILLE) => Some(failure),
            _ if random.chance(character.fail_per_mille) => random.weighted_of(character.failures),
            _ => None,
        };
        let tool = failure.and_then(|failure| failure.tool);
        maker.judge(tool.unwrap_or_else(|| random.weighted(character.tools)), failure, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_evaluations_are_the_same_at_every_start() {
        let first = |count: usize| {
            let mut live = Live::new().unwrap();
            let next = |number: usize| {
                let pause = live.pause();
                let id = NewEvaluationId::Generated(format!("e-{number}").parse().unwrap());
                format!("{pause:?} {:?}", live.evaluation(id).unwrap())
            };
            (0..count).map(next).collect::<Vec<String>>()
        };
        let happened = first(200);
        assert_eq!(happened, first(200));
        for expected in ["refund-agent", "dsp-bidder-prod", "passed: true", "passed: false"] {
            assert!(happened.iter().any(|line| line.contains(expected)), "{expected}");
        }
        // These agents have no live evaluations: two are new, and one works at night.
        assert!(!happened.iter().any(|line| {
            ["onboarding-mail", "translator-fr", "nightly"].iter().any(|name| line.contains(name))
        }));
    }
}
