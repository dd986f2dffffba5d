//! The steps of the walk with what is prepared for pages: days of agents, and the overview of an organization.

use renown_core::ids::AgentId;
use renown_core::time::Day;
use renown_store::days::{DaySums, Last};
use renown_store::{AgentDays, AgentEvidence, OrgOverview, Position, ScoreChange};

use super::{Subject, Walk};
use crate::support::{at, wait};

impl<S: Subject> Walk<S> {
    /// Reads some days of an agent, and of several.
    pub(super) fn days(&mut self) {
        let (org, agent) = (self.org(), self.agent());
        let to = Day::of(at(self.now_ms)).back(self.rng.below(2) as u32);
        let from = to.back(self.rng.below(4) as u32);
        // A range that ends before it begins has no days.
        let (from, to) = if self.rng.one_in(6) { (to, from) } else { (from, to) };
        self.both(|store| Ok(plain_days(wait(store.agent_days(&org, &agent, from, to))?)));
        let others: Vec<AgentId> = ["hot", "never-seen", "warm"].map(|name| name.parse().unwrap()).into();
        self.both(|store| {
            let days = wait(store.days_of_agents(&org, others.clone(), from, to))?;
            let plain = |days: &std::collections::BTreeMap<Day, DaySums>| {
                days.iter().map(|(day, sums)| (*day, plain(*sums))).collect::<Vec<_>>()
            };
            Ok(days.iter().map(plain).collect::<Vec<_>>())
        });
        self.both(|store| wait(store.earliest(&org, &agent)));
        let as_of = at(self.now_ms);
        self.both(|store| {
            let found = wait(store.evidence_of_agents(&org, others.clone(), as_of))?;
            let shown = |AgentEvidence { session, tier, identity }| {
                let session = session.map(|session| (session.id, session.began_at, session.closed_at));
                (session, tier, identity.map(|windows| windows.breakdown().standing(as_of)))
            };
            Ok(found.into_iter().map(shown).collect::<Vec<_>>())
        });
    }

    /// Reads the overview of an organization.
    pub(super) fn overview(&mut self) {
        let (org, day) = (self.org(), Day::of(at(self.now_ms)).back(self.rng.below(2) as u32));
        self.both(|store| {
            let OrgOverview { agents, days, activity, rises, falls, gates } =
                wait(store.overview(&org, day))?;
            let change = |change: ScoreChange| ScoreChange { sums: plain(change.sums), ..change };
            let [rises, falls] = [rises, falls].map(|changes| changes.into_iter().map(change).collect());
            Ok(OrgOverview { agents, days, activity, rises, falls, gates })
        });
    }
}

/// Removes positions, which differ between stores.
fn plain(sums: DaySums) -> DaySums {
    let last = Last { position: Position::default(), ..sums.last };
    DaySums { last, first_position: Position::default(), top_position: Position::default(), ..sums }
}

fn plain_days(mut days: AgentDays) -> AgentDays {
    days.days.values_mut().for_each(|sums| *sums = plain(*sums));
    days
}
