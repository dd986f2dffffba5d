//! The agents that were lately written or read, in memory and with a bound.
//!
//! - **Behind**: what the writer has committed and not yet settled in the rows of `agents`. Readers look here first. The
//!   writer settles often enough that they stay few.
//! - **Tallies**: the sums of agents whose rows are current. A reader that found nothing fills in what it read from the
//!   file. A read that was overtaken by a write must not bring the old sums back, so each shard counts its publications,
//!   and what was read is taken only if that count is still the one from before the read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::{DefaultHasher, LruCache};
use renown_core::ids::AgentId;
use renown_core::reputation::Tally;

use super::agents::{AgentState, Behind};
use super::orgs::OrgKey;
use crate::days::{self, Days, Uncounted};
use crate::evidence::Seq;

/// How many agents' sums are held: about 150 bytes each.
const AGENTS_MAX: usize = 65_536;
const SHARDS: usize = 16;

/// An agent of an organization.
pub(super) type AgentKey = (OrgKey, AgentId);

/// An agent whose row is behind: as the log leaves it, and the parts of its days that the rows of those do not have yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unsettled {
    pub(super) state: AgentState,
    pub(super) days: Days,
}

impl Unsettled {
    /// Its number and its days.
    pub(super) fn into_days(self) -> (i64, Days) {
        (self.state.agent, self.days)
    }

    /// The first of its evaluations that is not settled.
    fn first_seq(&self) -> Option<Seq> {
        self.days.values().map(|day| day.sums.first_seq).min()
    }
}

struct Shard {
    behind: HashMap<AgentKey, Unsettled, DefaultHasher>,
    tallies: LruCache<AgentKey, Tally>,
    publications: u64,
}

/// The agents in memory.
pub(super) struct Standings {
    shards: Vec<Mutex<Shard>>,
    /// Seeded at each start, like those of the maps.
    hasher: DefaultHasher,
}

/// A place that was found empty, to be filled by whoever reads the file.
pub(super) struct Vacancy {
    key: AgentKey,
    publications: u64,
}

impl Vacancy {
    /// Whose place it is.
    pub(super) fn key(&self) -> &AgentKey {
        &self.key
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Standings {
    pub(super) fn new() -> Self {
        let each = NonZeroUsize::new(AGENTS_MAX / SHARDS).unwrap_or(NonZeroUsize::MIN);
        let shard = || {
            Mutex::new(Shard { behind: HashMap::default(), tallies: LruCache::new(each), publications: 0 })
        };
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), hasher: DefaultHasher::default() }
    }

    fn shard(&self, key: &AgentKey) -> Option<MutexGuard<'_, Shard>> {
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or_default();
        self.shards.get(hash % SHARDS).map(lock)
    }

    /// The sums of an agent, or the place where they would be.
    pub(super) fn get(&self, org: OrgKey, agent: &AgentId) -> Result<Tally, Vacancy> {
        let key = (org, agent.clone());
        let Some(shard) = self.shard(&key) else { return Err(Vacancy { key, publications: u64::MAX }) };
        if let Some(unsettled) = shard.behind.get(&key) {
            return Ok(unsettled.state.tally);
        }
        // What is read keeps its place in the order of letting go: to move it costs more than to read it once again later.
        match shard.tallies.peek(&key) {
            Some(tally) => Ok(*tally),
            None => Err(Vacancy { publications: shard.publications, key }),
        }
    }

    /// Fills a place with what was read, unless something was published since.
    pub(super) fn fill(&self, vacancy: Vacancy, tally: Tally) {
        let Some(mut shard) = self.shard(&vacancy.key) else { return };
        if shard.publications == vacancy.publications {
            shard.tallies.put(vacancy.key, tally);
        }
    }

    /// An agent whose row is behind.
    pub(super) fn latest(&self, key: &AgentKey) -> Option<AgentState> {
        self.shard(key)?.behind.get(key).map(|unsettled| unsettled.state)
    }

    /// The same with its days.
    pub(super) fn unsettled(&self, key: &AgentKey) -> Option<Unsettled> {
        self.shard(key)?.behind.get(key).cloned()
    }

    /// The agents of an organization whose rows are behind.
    pub(super) fn behind_of(&self, org: OrgKey) -> Behind {
        self.collect(|(of, agent), unsettled| (*of == org).then(|| (agent.clone(), unsettled.state)))
    }

    /// The same with their days.
    pub(super) fn unsettled_of(&self, org: OrgKey) -> Vec<(AgentId, Unsettled)> {
        self.collect(|(of, agent), unsettled| (*of == org).then(|| (agent.clone(), unsettled.clone())))
    }

    /// Up to this many of the agents whose rows are behind, those with the lowest numbers above this one.
    pub(super) fn behind_after(&self, number: i64, at_most: usize) -> Vec<(AgentKey, Unsettled)> {
        let mut next: Vec<(i64, AgentKey)> = self.collect(|key, unsettled| {
            let agent = unsettled.state.agent;
            (agent > number).then(|| (agent, key.clone()))
        });
        next.sort_unstable_by_key(|(agent, _)| *agent);
        next.truncate(at_most);
        next.into_iter()
            .filter_map(|(_, key)| self.unsettled(&key).map(|unsettled| (key, unsettled)))
            .collect()
    }

    /// The first evaluation of each organization that is not settled, of agents up to this number.
    pub(super) fn first_unsettled(&self, up_to: i64) -> HashMap<OrgKey, Seq> {
        let mut firsts = HashMap::new();
        let behind: Vec<(OrgKey, Seq)> = self.collect(|(org, _), unsettled| {
            let first = unsettled.first_seq().filter(|_| unsettled.state.agent <= up_to);
            first.map(|first| (*org, first))
        });
        for (org, seq) in behind {
            firsts.entry(org).and_modify(|first: &mut Seq| *first = (*first).min(seq)).or_insert(seq);
        }
        firsts
    }

    fn collect<T, C: Default + Extend<T>>(
        &self,
        mut each: impl FnMut(&AgentKey, &Unsettled) -> Option<T>,
    ) -> C {
        let mut found = C::default();
        for shard in &self.shards {
            found.extend(lock(shard).behind.iter().filter_map(|(key, unsettled)| each(key, unsettled)));
        }
        found
    }

    /// Shows what was committed, an agent and its new evaluations; whether the agent's row was not behind before.
    pub(super) fn publish(&self, key: AgentKey, state: AgentState, evaluations: &[Uncounted]) -> bool {
        let Some(mut shard) = self.shard(&key) else { return false };
        shard.publications = shard.publications.wrapping_add(1);
        let (is_new, unsettled) = match shard.behind.entry(key) {
            Entry::Vacant(vacant) => (true, vacant.insert(Unsettled { state, days: Days::new() })),
            Entry::Occupied(known) => (false, known.into_mut()),
        };
        unsettled.state = state;
        for evaluation in evaluations {
            days::count(&mut unsettled.days, &evaluation.input());
        }
        is_new
    }

    /// Forgets an agent that is erased; whether its row was behind.
    pub(super) fn forget(&self, key: &AgentKey) -> bool {
        let Some(mut shard) = self.shard(key) else { return false };
        shard.publications = shard.publications.wrapping_add(1);
        shard.tallies.pop(key);
        shard.behind.remove(key).is_some()
    }

    /// Notes that the rows of these agents are current.
    pub(super) fn settle(&self, settled: Vec<(AgentKey, Unsettled)>) {
        for (key, Unsettled { state, .. }) in settled {
            let Some(mut shard) = self.shard(&key) else { continue };
            shard.behind.remove(&key);
            shard.tallies.put(key, state.tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use renown_core::time::Timestamp;

    fn state(evaluations: u64) -> AgentState {
        let tally = Tally::from_sums(evaluations, 0, 0, 0).unwrap();
        let (first_seen, last_seen) = (Timestamp::MIN, Timestamp::MIN);
        AgentState { agent: 1, first_seen, last_seen, last_seq: Some(1), tally }
    }

    fn key(agent: &str) -> AgentKey {
        (OrgKey::DEFAULT, agent.parse().unwrap())
    }

    fn settle_all(standings: &Standings) {
        standings.settle(standings.behind_after(0, usize::MAX));
    }

    fn held(standings: &Standings, agent: &str) -> Option<Tally> {
        standings.get(OrgKey::DEFAULT, &key(agent).1).ok()
    }

    #[test]
    fn a_read_that_was_overtaken_does_not_bring_old_sums_back() {
        let standings = Standings::new();
        let vacancy = || standings.get(OrgKey::DEFAULT, &key("a").1).unwrap_err();
        let (overtaken, late) = (vacancy(), vacancy());
        standings.publish(key("a"), state(2), &[]);
        standings.fill(overtaken, state(1).tally);
        assert_eq!(held(&standings, "a"), Some(state(2).tally));
        settle_all(&standings);
        standings.fill(late, state(1).tally);
        assert_eq!(held(&standings, "a"), Some(state(2).tally), "also after the row was settled");

        let vacancy = standings.get(OrgKey::DEFAULT, &key("b").1).unwrap_err();
        standings.fill(vacancy, state(5).tally);
        assert_eq!(held(&standings, "b"), Some(state(5).tally));
    }

    #[test]
    fn what_is_behind_is_held_until_it_is_settled() {
        let standings = Standings::new();
        assert!(standings.publish(key("a"), state(1), &[]));
        assert!(!standings.publish(key("a"), state(2), &[]), "it was behind already");
        assert_eq!(standings.latest(&key("a")), Some(state(2)));
        assert_eq!(standings.behind_after(1, 9), [], "it has the number 1");
        settle_all(&standings);
        assert!(standings.latest(&key("a")).is_none() && standings.behind_after(0, 9).is_empty());
        assert_eq!(held(&standings, "a"), Some(state(2).tally));
    }

    #[test]
    fn memory_has_a_bound() {
        let standings = Standings::new();
        for number in 0..2 * AGENTS_MAX {
            standings.publish(key(&number.to_string()), state(1), &[]);
            if number % 1000 == 0 {
                settle_all(&standings);
            }
        }
        settle_all(&standings);
        let held: usize = standings.shards.iter().map(|shard| lock(shard).tallies.len()).sum();
        assert!(held <= AGENTS_MAX && held > AGENTS_MAX / 2, "{held}");
    }
}
