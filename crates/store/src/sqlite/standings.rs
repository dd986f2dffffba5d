//! The agents that were lately written or read, in memory and with a bound.
//!
//! - **Behind**: what the writer has committed and not yet settled in the rows of `agents`. Readers look here first. The
//!   writer settles often enough that they stay few.
//! - **Tallies**: the sums of agents whose rows are current. A reader that found nothing fills in what it read from the
//!   file. A read that was overtaken by a write must not bring the old sums back, so each shard counts its publications,
//!   and what was read is taken only if that count is still the one from before the read.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use renown_core::ids::AgentId;
use renown_core::reputation::Tally;

use super::agents::{AgentState, Behind};
use super::orgs::OrgKey;

/// How many agents' sums are held: about 150 bytes each.
const AGENTS_MAX: usize = 65_536;
const SHARDS: usize = 16;

/// An agent of an organization.
pub(super) type AgentKey = (OrgKey, AgentId);

struct Shard {
    behind: HashMap<AgentKey, AgentState>,
    tallies: LruCache<AgentKey, Tally>,
    publications: u64,
}

/// The agents in memory.
pub(super) struct Standings {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
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
        let shard =
            || Mutex::new(Shard { behind: HashMap::new(), tallies: LruCache::new(each), publications: 0 });
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), hasher: RandomState::new() }
    }

    fn shard(&self, key: &AgentKey) -> Option<MutexGuard<'_, Shard>> {
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or_default();
        self.shards.get(hash % SHARDS).map(lock)
    }

    /// The sums of an agent, or the place where they would be.
    pub(super) fn get(&self, org: OrgKey, agent: &AgentId) -> Result<Tally, Vacancy> {
        let key = (org, agent.clone());
        let Some(shard) = self.shard(&key) else { return Err(Vacancy { key, publications: u64::MAX }) };
        if let Some(state) = shard.behind.get(&key) {
            return Ok(state.tally);
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
        self.shard(key)?.behind.get(key).copied()
    }

    /// The agents of an organization whose rows are behind.
    pub(super) fn behind_of(&self, org: OrgKey) -> Behind {
        let of_org = self.behind().into_iter().filter(|((of, _), _)| *of == org);
        of_org.map(|((_, agent), state)| (agent, state)).collect()
    }

    /// All agents whose rows are behind.
    pub(super) fn behind(&self) -> Vec<(AgentKey, AgentState)> {
        let mut behind = Vec::new();
        for shard in &self.shards {
            behind.extend(lock(shard).behind.iter().map(|(key, state)| (key.clone(), *state)));
        }
        behind
    }

    /// Shows what was committed; whether the agent's row was not behind before.
    pub(super) fn publish(&self, key: AgentKey, state: AgentState) -> bool {
        let Some(mut shard) = self.shard(&key) else { return false };
        shard.publications = shard.publications.wrapping_add(1);
        shard.behind.insert(key, state).is_none()
    }

    /// Forgets an agent that is erased; whether its row was behind.
    pub(super) fn forget(&self, key: &AgentKey) -> bool {
        let Some(mut shard) = self.shard(key) else { return false };
        shard.publications = shard.publications.wrapping_add(1);
        shard.tallies.pop(key);
        shard.behind.remove(key).is_some()
    }

    /// Notes that the rows of these agents, all that were behind, are current.
    pub(super) fn settle(&self, settled: Vec<(AgentKey, AgentState)>) {
        for (key, state) in settled {
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

    fn held(standings: &Standings, agent: &str) -> Option<Tally> {
        standings.get(OrgKey::DEFAULT, &key(agent).1).ok()
    }

    #[test]
    fn a_read_that_was_overtaken_does_not_bring_old_sums_back() {
        let standings = Standings::new();
        let vacancy = || standings.get(OrgKey::DEFAULT, &key("a").1).unwrap_err();
        let (overtaken, late) = (vacancy(), vacancy());
        standings.publish(key("a"), state(2));
        standings.fill(overtaken, state(1).tally);
        assert_eq!(held(&standings, "a"), Some(state(2).tally));
        standings.settle(standings.behind());
        standings.fill(late, state(1).tally);
        assert_eq!(held(&standings, "a"), Some(state(2).tally), "also after the row was settled");

        let vacancy = standings.get(OrgKey::DEFAULT, &key("b").1).unwrap_err();
        standings.fill(vacancy, state(5).tally);
        assert_eq!(held(&standings, "b"), Some(state(5).tally));
    }

    #[test]
    fn what_is_behind_is_held_until_it_is_settled() {
        let standings = Standings::new();
        assert!(standings.publish(key("a"), state(1)));
        assert!(!standings.publish(key("a"), state(2)), "it was behind already");
        assert_eq!(standings.latest(&key("a")), Some(state(2)));
        assert_eq!(standings.behind(), [(key("a"), state(2))]);
        standings.settle(standings.behind());
        assert!(standings.latest(&key("a")).is_none() && standings.behind().is_empty());
        assert_eq!(held(&standings, "a"), Some(state(2).tally));
    }

    #[test]
    fn memory_has_a_bound() {
        let standings = Standings::new();
        for number in 0..2 * AGENTS_MAX {
            standings.publish(key(&number.to_string()), state(1));
            if number % 1000 == 0 {
                standings.settle(standings.behind());
            }
        }
        standings.settle(standings.behind());
        let held: usize = standings.shards.iter().map(|shard| lock(shard).tallies.len()).sum();
        assert!(held <= AGENTS_MAX && held > AGENTS_MAX / 2, "{held}");
    }
}
