//! What an evaluation means.
//!
//! | its id in the organization | rows | the agent that the call names | outcome |
//! |---|---|---|---|
//! | is known | none | is not added and was not seen | the first evaluation with this id, and the agent's current sums |
//! | is new | one | is added or was seen; its sums move on | the agent's sums after it |
//!
//! ```text
//! sums after = sums before + this one − the one that leaves the window of 500, if the window is full
//! latency    = that of the gates, or that of the agent if the organization wants it and the caller sent it
//! happened   = the time that the caller sent, else the time of acceptance; in whole milliseconds
//! ```
//!
//! **The score is derived, not evidence.** A row has the standing after it, so that lists and charts read no window.
//! It is a copy of what this fold computed. Anybody who doubts it computes it again from the rows before it, as
//! `verify` does; nothing else follows from it except the days, which `verify` also counts again.

use renown_core::reputation::{Sample, Tally, WINDOW_SIZE, Window};
use renown_core::time::Timestamp;

use crate::admin::LatencySource;
use crate::days::UncountedEvaluation;
use crate::error::StoreError;
use crate::evidence::{
    EvaluationOutcome, NewEvaluation, NewEvaluationId, Position, Salt, StoredEvaluation, whole_millis,
};
use crate::fold::agents::{AgentChange, Mention, named};

/// The circumstances under which evaluations are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acceptance {
    /// The time of acceptance.
    pub(crate) at: Timestamp,
    /// The latency that counts in the organization.
    pub(crate) source: LatencySource,
}

/// The state of an agent that its next evaluation depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AgentSums<'w> {
    /// The sums of its window.
    tally: Tally,
    /// The position of its last evaluation.
    last: Option<Position>,
    /// Its window. May be absent until the fold asks for it ([`needs_window`]).
    window: Option<&'w Window>,
    /// Number of evaluations since this window.
    ahead: usize,
}

/// Returns whether an engine has to load the window of an agent with these sums before it counts `coming` more
/// evaluations: one of them may make another one leave the window. Until then the sums are enough.
pub(crate) fn needs_window(tally: Tally, coming: usize) -> bool {
    tally.evaluations() + coming as u64 > WINDOW_SIZE as u64
}

/// Returns whether an engine has to look for the first evaluation with this id before it counts a new one of an
/// unknown agent, because a repeat would not add the agent. An id that the server has just generated is new.
pub(crate) fn may_repeat(new: &NewEvaluation) -> bool {
    matches!(new.id, NewEvaluationId::Sent(_))
}

/// What became of an evaluation.
#[derive(Debug)]
pub(crate) enum EvaluationChange<'e> {
    /// It counts.
    Counted(CountedEvaluation<'e>),
    /// It repeats a known one. Nothing changes.
    Repeated(EvaluationOutcome),
}

/// The change of an evaluation that counts: a row to insert, and the next state of its agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedEvaluation<'e> {
    /// Its position.
    pub(crate) position: Position,
    /// The position of its agent's evaluation before it.
    pub(crate) previous: Option<Position>,
    /// The evaluation as it was sent.
    pub(crate) new: &'e NewEvaluation,
    /// What the window keeps of it.
    pub(crate) sample: Sample,
    /// The change of its agent.
    pub(crate) agent: AgentChange,
    /// The agent's sums before it.
    before: Tally,
    /// The agent's sums after it.
    pub(crate) tally: Tally,
    /// When it was accepted. Its agent was last seen then.
    pub(crate) accepted_at: Timestamp,
}

/// Decides what becomes of an evaluation at a position. `first` is the evaluation with its id, `agent` the agent that
/// it names, if the store has them.
pub(crate) fn evaluate<'e>(
    first: Option<StoredEvaluation>,
    agent: Option<AgentSums<'_>>,
    new: &'e NewEvaluation,
    position: Position,
    acceptance: Acceptance,
) -> Result<EvaluationChange<'e>, StoreError> {
    let sums = agent.unwrap_or_default();
    if let Some(first) = first.map(Box::new) {
        return Ok(EvaluationChange::Repeated(EvaluationOutcome::Repeated { first, tally: sums.tally }));
    }
    let counted = sums.count(new, position, acceptance)?;
    Ok(EvaluationChange::Counted(CountedEvaluation {
        agent: named(agent.is_some(), Mention::Work),
        ..counted
    }))
}

impl<'w> AgentSums<'w> {
    /// Returns the state of an agent from what an engine has of it.
    pub(crate) fn new(tally: Tally, last: Option<Position>, window: Option<&'w Window>) -> Self {
        Self { tally, last, window, ahead: 0 }
    }

    /// Returns the state after an evaluation that is counted but not written yet. At most 500 of them can be
    /// counted ahead of the window.
    pub(crate) fn after(self, counted: &CountedEvaluation<'_>) -> Self {
        Self { tally: counted.tally, last: Some(counted.position), ahead: self.ahead + 1, ..self }
    }

    /// Counts an evaluation of a known agent. Its id is new.
    pub(crate) fn count(
        self,
        new: &NewEvaluation,
        position: Position,
        Acceptance { at, source }: Acceptance,
    ) -> Result<CountedEvaluation<'_>, StoreError> {
        let sample = new.sample(source);
        let tally = match self.window {
            Some(window) => Some(window.tally_ahead(self.tally, self.ahead, sample)),
            None => self.tally.with(sample),
        };
        let tally = tally.ok_or(StoreError::Bug("a full window is not loaded"))?;
        let (previous, before) = (self.last, self.tally);
        let agent = named(true, Mention::Work);
        Ok(CountedEvaluation { position, previous, new, sample, agent, before, tally, accepted_at: at })
    }
}

impl CountedEvaluation<'_> {
    /// Returns when it happened.
    pub(crate) fn created_at(&self) -> Timestamp {
        whole_millis(self.new.timestamp.unwrap_or(self.accepted_at))
    }

    /// Returns what its day counts.
    pub(crate) fn of_day(&self) -> UncountedEvaluation {
        UncountedEvaluation {
            position: self.position,
            at: self.created_at(),
            latency: self.sample.latency,
            before: self.before.standing(),
            score: self.tally.standing().score,
            tool: self.new.tool.clone(),
            failed: (!self.new.passed).then(|| self.new.gates.clone()),
        }
    }

    /// Returns the evaluation as it is read later.
    pub(crate) fn stored(&self, salt: Salt) -> StoredEvaluation {
        StoredEvaluation {
            position: self.position,
            id: self.new.id.get().clone(),
            agent: self.new.agent.clone(),
            tool: self.new.tool.clone(),
            passed: self.new.passed,
            gate_latency: self.new.gate_latency,
            agent_latency: self.new.agent_latency,
            latency: self.sample.latency,
            gates: self.new.gates.to_string(),
            standing: self.tally.standing(),
            created_at: self.created_at(),
            accepted_at: self.accepted_at,
            salt,
        }
    }

    /// Returns the outcome for the caller.
    pub(crate) fn outcome(&self) -> EvaluationOutcome {
        EvaluationOutcome::Counted { tally: self.tally }
    }
}

#[cfg(test)]
mod tests {
    use renown_core::units::Micros;

    use super::*;

    const NOON: i64 = 1_794_744_000_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(NOON + ms).unwrap()
    }

    fn us(us: u32) -> Micros {
        Micros::from_us(us).unwrap()
    }

    fn new(passed: bool, gate_us: u32, agent_us: Option<u32>) -> NewEvaluation {
        NewEvaluation {
            agent: "a".parse().unwrap(),
            id: NewEvaluationId::Sent("e".parse().unwrap()),
            passed,
            gate_latency: us(gate_us),
            agent_latency: agent_us.map(us),
            tool: Some("sh".parse().unwrap()),
            gates: "[]".into(),
            timestamp: None,
        }
    }

    fn acceptance(source: LatencySource) -> Acceptance {
        Acceptance { at: at(5), source }
    }

    fn tally(evaluations: u64, passed: u64, streak: u64, latency_us: u64) -> Tally {
        Tally::from_sums(evaluations, passed, streak, latency_us).unwrap()
    }

    fn sums(tally: Tally) -> [u64; 4] {
        [tally.evaluations(), tally.passed(), tally.streak(), tally.latency_us()]
    }

    #[test]
    fn the_next_sums_are_those_before_plus_the_evaluation() {
        for (before, passed, expected, label) in [
            (Tally::default(), true, [1, 1, 1, 100], "a first pass"),
            (Tally::default(), false, [1, 0, 0, 100], "a first failure"),
            (tally(10, 7, 3, 1000), true, [11, 8, 4, 1100], "a pass prolongs the streak"),
            (tally(10, 7, 3, 1000), false, [11, 7, 0, 1100], "a failure ends the streak"),
            (tally(499, 499, 499, 0), true, [500, 500, 500, 100], "the last one that needs no window"),
        ] {
            let new = new(passed, 100, None);
            let agent = AgentSums::new(before, Some(Position::of(7)), None);
            let counted = agent.count(&new, Position::of(9), acceptance(LatencySource::Gate)).unwrap();
            assert_eq!(sums(counted.tally), expected, "{label}");
            assert_eq!(
                (counted.position, counted.previous),
                (Position::of(9), Some(Position::of(7))),
                "{label}"
            );
        }
    }

    #[test]
    fn in_a_full_window_the_oldest_evaluation_leaves() {
        // The oldest is a failure of 900 µs; all others are passes of 100 µs.
        let of = |number: u32| Sample { passed: number > 0, latency: us(if number > 0 { 100 } else { 900 }) };
        let window: Window = (0..500).map(of).collect();
        let agent = AgentSums::new(window.tally(), Some(Position::of(500)), Some(&window));
        assert_eq!(sums(agent.tally), [500, 499, 499, 49_900 + 900]);
        let (pass, fail) = (new(true, 200, None), new(false, 300, None));
        let gate = acceptance(LatencySource::Gate);
        let first = agent.count(&pass, Position::of(501), gate).unwrap();
        assert_eq!(sums(first.tally), [500, 500, 500, 49_900 + 200], "the failure left");
        let second = agent.after(&first).count(&fail, Position::of(502), gate).unwrap();
        assert_eq!(sums(second.tally), [500, 499, 0, 49_800 + 200 + 300], "then a pass left");
        assert_eq!(
            second.previous,
            Some(Position::of(501)),
            "the chain goes through what is not written yet"
        );

        let unloaded = AgentSums::new(window.tally(), None, None);
        assert!(matches!(unloaded.count(&pass, Position::of(501), gate), Err(StoreError::Bug(_))));
    }

    #[test]
    fn a_window_is_needed_when_an_evaluation_may_leave_it() {
        for (held, coming, expected) in
            [(0, 500, false), (0, 501, true), (499, 1, false), (499, 2, true), (500, 1, true)]
        {
            assert_eq!(needs_window(tally(held, 0, 0, 0), coming), expected, "{held} held, {coming} coming");
        }
    }

    #[test]
    fn the_organization_chooses_whose_latency_counts() {
        for (source, agent_us, expected, label) in [
            (LatencySource::Gate, Some(900), 100, "the gates, whatever the agent sent"),
            (LatencySource::Agent, Some(900), 900, "the agent"),
            (LatencySource::Agent, None, 100, "the agent sent none"),
        ] {
            let new = new(true, 100, agent_us);
            let agent = AgentSums::default();
            let counted = agent.count(&new, Position::of(1), acceptance(source)).unwrap();
            assert_eq!(
                (counted.sample.latency, counted.tally.latency_us()),
                (us(expected), expected.into()),
                "{label}"
            );
        }
    }

    #[test]
    fn an_evaluation_happened_when_its_caller_says_else_when_it_was_accepted() {
        let agent = AgentSums::default();
        let mut new = new(true, 100, None);
        let gate = acceptance(LatencySource::Gate);
        assert_eq!(agent.count(&new, Position::of(1), gate).unwrap().created_at(), at(5));
        new.timestamp = Some(Timestamp::from_nanos(at(-70).nanos() + 999_999).unwrap());
        let counted = agent.count(&new, Position::of(1), gate).unwrap();
        assert_eq!((counted.created_at(), counted.accepted_at), (at(-70), at(5)), "cut to milliseconds");
        let stored = counted.stored([3; 16]);
        assert_eq!((stored.created_at, stored.accepted_at, stored.salt), (at(-70), at(5), [3; 16]));
        assert_eq!((stored.standing.score, stored.standing.eval_count), (654, 1), "400 + 250 + 4 + 0");
    }

    #[test]
    fn a_repeat_changes_nothing_and_shows_the_first_one_and_the_named_agent() {
        let (sent, gate) = (new(false, 100, None), acceptance(LatencySource::Gate));
        let first = AgentSums::default().count(&sent, Position::of(1), gate).unwrap().stored([0; 16]);
        let known = AgentSums::new(tally(10, 7, 3, 1000), Some(Position::of(7)), None);
        for (agent, tally, label) in [
            (Some(known), known.tally, "the sums are those of the agent that was named, as they were"),
            (None, Tally::default(), "an unknown agent is not added"),
        ] {
            let change = evaluate(Some(first.clone()), agent, &sent, Position::of(9), gate).unwrap();
            let EvaluationChange::Repeated(outcome) = change else { panic!("it counted twice: {label}") };
            assert_eq!(
                outcome,
                EvaluationOutcome::Repeated { first: Box::new(first.clone()), tally },
                "{label}"
            );
        }
        for (agent, expected) in [(Some(known), AgentChange::Seen), (None, AgentChange::Added)] {
            let change = evaluate(None, agent, &sent, Position::of(9), gate).unwrap();
            let EvaluationChange::Counted(counted) = change else { panic!("its id is new") };
            assert_eq!((counted.agent, counted.position), (expected, Position::of(9)));
        }
    }

    #[test]
    fn only_an_id_of_the_caller_can_be_a_repeat() {
        let mut new = new(true, 100, None);
        assert!(may_repeat(&new));
        new.id = NewEvaluationId::Generated("e".parse().unwrap());
        assert!(!may_repeat(&new));
    }

    #[test]
    fn a_day_counts_the_standing_before_and_the_score_after() {
        let failed = NewEvaluation { gates: "[1]".into(), ..new(false, 100, None) };
        let agent = AgentSums::new(tally(1, 1, 1, 0), None, None);
        let counted = agent.count(&failed, Position::of(9), acceptance(LatencySource::Gate)).unwrap();
        let day = counted.of_day();
        assert_eq!((day.position, day.at, day.latency), (Position::of(9), at(5), us(100)));
        assert_eq!((day.before.score, day.before.eval_count), (654, 1), "as after one pass");
        assert_eq!(day.score, counted.tally.standing().score);
        assert_eq!(day.failed.as_deref(), Some("[1]"));
        let passed = new(true, 100, None);
        let counted = agent.count(&passed, Position::of(9), acceptance(LatencySource::Gate)).unwrap();
        assert_eq!(counted.of_day().failed, None, "the gates of a pass are not needed");
    }
}
