//! The agents that were written or read lately, in memory and with a limit.
//!
//! - **Behind**: what the writer has committed but not yet settled in the rows of `agents`. Readers look here
//!   first. The writer settles often enough that there are few.
//! - **Tallies**: the sums of agents whose rows are up to date. A reader that misses fills in what it read from the
//!   file. If a write overtook that read, the old sums must not come back. So each shard counts its publications,
//!   and a read is only filled in if the count has not changed since before the read.

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
use crate::days::{self, Days, UncountedEvaluation};
use crate::evidence::Position;

/// Maximum number of agents with cached sums: about 150 bytes each.
const AGENTS_MAX: usize = 65_536;
const SHARDS: usize = 16;

/// An agent of an organization.
pub(super) type AgentKey = (OrgKey, AgentId);

/// An agent whose row is behind: its current state, and the parts of its days that are not in their rows yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unsettled {
    pub(super) state: AgentState,
    pub(super) days: Days,
}

impl Unsettled {
    /// Returns its number and its days.
    pub(super) fn into_days(self) -> (i64, Days) {
        (self.state.agent, self.days)
    }

    /// Returns the position of its first evaluation that is not settled.
    fn first_position(&self) -> Option<Position> {
        self.days.values().map(|day| day.sums.first_position).min()
    }
}

struct Shard {
    behind: HashMap<AgentKey, Unsettled, DefaultHasher>,
    tallies: LruCache<AgentKey, Tally>,
    publications: u64,
}

/// The cached agents.
pub(super) struct AgentCache {
    shards: Vec<Mutex<Shard>>,
    /// Seeded at each start, like the hashers of the maps.
    hasher: DefaultHasher,
}

/// An agent that was not in the cache. The reader of the file fills it in.
pub(super) struct Miss {
    key: AgentKey,
    publications: u64,
}

impl Miss {
    /// Returns the agent.
    pub(super) fn key(&self) -> &AgentKey {
        &self.key
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AgentCache {
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

    /// Returns the sums of an agent, or a miss.
    pub(super) fn get(&self, org: OrgKey, agent: &AgentId) -> Result<Tally, Miss> {
        let key = (org, agent.clone());
        let Some(shard) = self.shard(&key) else { return Err(Miss { key, publications: u64::MAX }) };
        if let Some(unsettled) = shard.behind.get(&key) {
            return Ok(unsettled.state.tally);
        }
        // Reading does not change the order of eviction: that would cost more than reading the file again later.
        match shard.tallies.peek(&key) {
            Some(tally) => Ok(*tally),
            None => Err(Miss { publications: shard.publications, key }),
        }
    }

    /// Fills in what was read, unless something was published since.
    pub(super) fn fill(&self, miss: Miss, tally: Tally) {
        let Some(mut shard) = self.shard(&miss.key) else { return };
        if shard.publications == miss.publications {
            shard.tallies.put(miss.key, tally);
        }
    }

    /// Returns the state of an agent whose row is behind.
    pub(super) fn latest(&self, key: &AgentKey) -> Option<AgentState> {
        self.shard(key)?.behind.get(key).map(|unsettled| unsettled.state)
    }

    /// Returns the state of an agent whose row is behind, with its days.
    pub(super) fn unsettled(&self, key: &AgentKey) -> Option<Unsettled> {
        self.shard(key)?.behind.get(key).cloned()
    }

    /// Returns the agents of an organization whose rows are behind.
    pub(super) fn behind_of(&self, org: OrgKey) -> Behind {
        self.collect(|(of, agent), unsettled| (*of == org).then(|| (agent.clone(), unsettled.state)))
    }

    /// Returns the agents of an organization whose rows are behind, with their days.
    pub(super) fn unsettled_of(&self, org: OrgKey) -> Vec<(AgentId, Unsettled)> {
        self.collect(|(of, agent), unsettled| (*of == org).then(|| (agent.clone(), unsettled.clone())))
    }

    /// Returns up to `at_most` agents whose rows are behind: those with the lowest numbers above `number`.
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

    /// Returns, for each organization, the position of its first evaluation that is not settled. Looks only at agents
    /// whose number is at most `up_to`.
    pub(super) fn first_unsettled(&self, up_to: i64) -> HashMap<OrgKey, Position> {
        let mut firsts = HashMap::new();
        let behind: Vec<(OrgKey, Position)> = self.collect(|(org, _), unsettled| {
            let first = unsettled.first_position().filter(|_| unsettled.state.agent <= up_to);
            first.map(|first| (*org, first))
        });
        for (org, position) in behind {
            firsts
                .entry(org)
                .and_modify(|first: &mut Position| *first = (*first).min(position))
                .or_insert(position);
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

    /// Shows a commit to readers: the state of an agent and its new evaluations. Returns whether its row was up to
    /// date before.
    pub(super) fn publish(
        &self,
        key: AgentKey,
        state: AgentState,
        evaluations: &[UncountedEvaluation],
    ) -> bool {
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

    /// Removes an erased agent. Returns whether its row was behind.
    pub(super) fn remove(&self, key: &AgentKey) -> bool {
        let Some(mut shard) = self.shard(key) else { return false };
        shard.publications = shard.publications.wrapping_add(1);
        shard.tallies.pop(key);
        shard.behind.remove(key).is_some()
    }

    /// Marks the rows of these agents as up to date.
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
        AgentState { agent: 1, first_seen, last_seen, last_position: Some(1), tally }
    }

    fn key(agent: &str) -> AgentKey {
        (OrgKey::DEFAULT, agent.parse().unwrap())
    }

    fn settle_all(cache: &AgentCache) {
        cache.settle(cache.behind_after(0, usize::MAX));
    }

    fn cached_tally(cache: &AgentCache, agent: &str) -> Option<Tally> {
        cache.get(OrgKey::DEFAULT, &key(agent).1).ok()
    }

    #[test]
    fn a_read_that_was_overtaken_does_not_bring_old_sums_back() {
        let cache = AgentCache::new();
        let miss = || cache.get(OrgKey::DEFAULT, &key("a").1).unwrap_err();
        let (overtaken, late) = (miss(), miss());
        cache.publish(key("a"), state(2), &[]);
        cache.fill(overtaken, state(1).tally);
        assert_eq!(cached_tally(&cache, "a"), Some(state(2).tally));
        settle_all(&cache);
        cache.fill(late, state(1).tally);
        assert_eq!(cached_tally(&cache, "a"), Some(state(2).tally), "also after the row was settled");

        let miss = cache.get(OrgKey::DEFAULT, &key("b").1).unwrap_err();
        cache.fill(miss, state(5).tally);
        assert_eq!(cached_tally(&cache, "b"), Some(state(5).tally));
    }

    #[test]
    fn an_agent_that_is_behind_stays_cached_until_it_is_settled() {
        let cache = AgentCache::new();
        assert!(cache.publish(key("a"), state(1), &[]));
        assert!(!cache.publish(key("a"), state(2), &[]), "it was behind already");
        assert_eq!(cache.latest(&key("a")), Some(state(2)));
        assert_eq!(cache.behind_after(1, 9), [], "its number is 1");
        settle_all(&cache);
        assert!(cache.latest(&key("a")).is_none() && cache.behind_after(0, 9).is_empty());
        assert_eq!(cached_tally(&cache, "a"), Some(state(2).tally));
    }

    #[test]
    fn the_cache_has_a_limit() {
        let cache = AgentCache::new();
        for number in 0..2 * AGENTS_MAX {
            cache.publish(key(&number.to_string()), state(1), &[]);
            if number % 1000 == 0 {
                settle_all(&cache);
            }
        }
        settle_all(&cache);
        let cached: usize = cache.shards.iter().map(|shard| lock(shard).tallies.len()).sum();
        assert!(cached <= AGENTS_MAX && cached > AGENTS_MAX / 2, "{cached}");
    }
}
