//! Computes every score again from the evidence, and compares it with what a store answers.
//!
//! This needs nothing but the traits [`Reads`] and [`Scan`], so it is the same for every engine. What only one engine has (pages,
//! checksums, marks) is checked by that engine.
//!
//! | compared | is recomputed from |
//! |---|---|
//! | the score and the count after each evaluation | the evaluations before it, as far as a window reaches |
//! | the sums of each agent | its window |
//! | its days, with failures and tools | its evaluations |
//! | the score of a run | its report and the baseline that is kept with it |
//! | the sums of an identity | its reputation events |
//! | the state of a session, and its summary | its records and traces |
//! | the reputation event of a closed session | its state |
//! | the totals of an organization | its agents, sessions and runs |
//!
//! **Deleted evidence.** If retention has deleted the first evaluations of an agent, its scores are compared from the first complete
//! window on, and its days from the first complete day on. Totals are not compared while an agent is being erased.
//!
//! **Memory** does not grow with the number of evaluations: agents and identities are compared in groups ([`GROUP_MAX`]), and all
//! evidence is read once for each group.
//!
//! The store must not change meanwhile: open it at one moment, or stop all writes.

mod agents;
mod identities;
mod sessions;
mod totals;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use renown_core::ids::OrgId;
use renown_core::scorecard::FORMULA_VERSION;

use crate::error::ReadError;
use crate::runs::{Run, RunScore};
use crate::traits::{EvidenceKind, ReadOnlyStore, SCAN_MAX, scan_all};
use totals::Totals;

/// Maximum number of agents, or of identities, that are compared at once. Each needs a few kilobytes.
const GROUP_MAX: u64 = 20_000;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Evaluations that were replayed.
    pub evaluations: u64,
    /// Agents whose sums were compared.
    pub agents: u64,
    /// Runs that were scored again.
    pub runs: u64,
    /// Runs without a score, because scoring them failed with an internal error.
    pub unscored: u64,
    /// Reputation events that were summed again.
    pub events: u64,
    /// Sessions whose records were folded again.
    pub sessions: u64,
}

/// A stored value that differs from what the evidence gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The organization.
    pub org: String,
    /// The agent, if it is about one.
    pub agent: Option<String>,
    /// The evaluation, if it is about one.
    pub evaluation: Option<String>,
    /// The run, if it is about one.
    pub run: Option<String>,
    /// The session, if it is about one.
    pub session: Option<String>,
    /// The name of the value.
    pub what: &'static str,
    /// The stored value.
    pub kept: String,
    /// The value that the evidence gives.
    pub fresh: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { org, agent, evaluation, run, session, what, kept, fresh } = self;
        match agent {
            Some(agent) => write!(f, "agent {agent:?} of {org}")?,
            None => write!(f, "organization {org}")?,
        }
        if let Some(evaluation) = evaluation {
            write!(f, ", evaluation {evaluation}")?;
        }
        if let Some(run) = run {
            write!(f, ", run {run:?}")?;
        }
        if let Some(session) = session {
            write!(f, ", session {session:?}")?;
        }
        write!(f, ": {what} is stored as {kept}, the evidence gives {fresh}")
    }
}

/// The result of a verification.
pub type VerifyResult = Result<Verified, Box<Difference>>;

/// A difference before it has a place: the name of the value, the stored one, and the recomputed one.
type Found = (&'static str, String, String);

/// The result of a comparison: `Err` is the first difference.
type Compared = Result<Result<(), Box<Difference>>, ReadError>;

fn differs<T: PartialEq + fmt::Debug>(what: &'static str, kept: &T, fresh: &T) -> Option<Found> {
    (kept != fresh).then(|| (what, format!("{kept:?}"), format!("{fresh:?}")))
}

impl Difference {
    fn of(org: &OrgId, (what, kept, fresh): Found) -> Box<Self> {
        let (agent, evaluation, run, session) = (None, None, None, None);
        Box::new(Self { org: org.to_string(), agent, evaluation, run, session, what, kept, fresh })
    }

    fn of_agent(org: &OrgId, agent: &impl ToString, found: Found) -> Box<Self> {
        Box::new(Self { agent: Some(agent.to_string()), ..*Self::of(org, found) })
    }
}

/// One of the groups that are compared one after the other.
#[derive(Clone, Copy)]
struct Group {
    index: u64,
    count: u64,
}

impl Group {
    /// Divides this many things into groups.
    fn all(things: u64) -> impl Iterator<Item = Self> {
        let count = things.div_ceil(GROUP_MAX).max(1);
        (0..count).map(move |index| Self { index, count })
    }

    fn contains(self, thing: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        hasher.finish().checked_rem(self.count).is_none_or(|index| index == self.index)
    }
}

/// Compares everything that the store derives. `report` gets how many evaluations are done, and of how many.
pub async fn verify(
    store: &dyn ReadOnlyStore,
    report: &mut dyn FnMut(u64, u64),
) -> Result<VerifyResult, ReadError> {
    let mut verified = Verified::default();
    let orgs = store.organizations().await?;
    let mut total = 0;
    for org in &orgs {
        total += store.count(org, EvidenceKind::Evaluations).await?;
    }
    for org in &orgs {
        let mut totals = Totals::default();
        let mut done = |count: u64| report(count.min(total), total);
        let compared = agents::compare(store, org, &mut verified, &mut totals, &mut done).await?;
        if let Err(found) = compared {
            return Ok(Err(found));
        }
        if let Err(found) = compare_runs(store, org, &mut verified, &mut totals).await? {
            return Ok(Err(found));
        }
        if let Err(found) = identities::compare(store, org, &mut verified).await? {
            return Ok(Err(found));
        }
        if let Err(found) = sessions::compare(store, org, &mut verified, &mut totals).await? {
            return Ok(Err(found));
        }
        if let Err(found) = totals.compare(store, org).await? {
            return Ok(Err(found));
        }
    }
    Ok(Ok(verified))
}

/// Scores every run again with the formula of this release. A run with another formula version keeps its score.
async fn compare_runs(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    verified: &mut Verified,
    totals: &mut Totals,
) -> Compared {
    let mut found = None;
    let part = |after| store.scan_runs(org, after, SCAN_MAX);
    scan_all(part, |run: Run| {
        totals.add_run(&run);
        let Some(scored) = &run.scored else {
            verified.unscored += 1;
            return true;
        };
        verified.runs += 1;
        if scored.formula_version == FORMULA_VERSION
            && let Some(fresh) = RunScore::of(run.report, scored.baseline)
            && let Some(different) =
                differs("the score", &(scored.score, scored.axes), &(fresh.score, fresh.axes))
        {
            let difference = *Difference::of_agent(org, &run.agent, different);
            found = Some(Box::new(Difference { run: Some(run.id.to_string()), ..difference }));
        }
        found.is_none()
    })
    .await?;
    Ok(found.map_or(Ok(()), Err))
}
