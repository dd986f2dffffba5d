//! The sums of agents that were lately written or read, in memory and with a bound.
//!
//! The writer publishes what it has committed; a reader that found nothing here fills in what it read from the file. A read
//! that was overtaken by a write must not bring the old sums back, so each shard counts its publications, and what was
//! read is taken only if that count is still the one from before the read.

use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use renown_core::ids::AgentId;
use renown_core::reputation::Tally;

use super::orgs::OrgKey;

/// How many agents are held: about 150 bytes each.
const AGENTS_MAX: usize = 65_536;
const SHARDS: usize = 16;

#[derive(PartialEq, Eq, Hash, Clone, Debug)]
struct Key(OrgKey, AgentId);

struct Shard {
    tallies: LruCache<Key, Tally>,
    publications: u64,
}

/// The sums in memory.
pub(super) struct Standings {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
}

/// A place that was found empty, to be filled by whoever reads the file.
pub(super) struct Vacancy {
    key: Key,
    publications: u64,
}

impl Standings {
    pub(super) fn new() -> Self {
        let each = NonZeroUsize::new(AGENTS_MAX / SHARDS).unwrap_or(NonZeroUsize::MIN);
        let shard = || Mutex::new(Shard { tallies: LruCache::new(each), publications: 0 });
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), hasher: RandomState::new() }
    }

    fn shard(&self, key: &Key) -> Option<MutexGuard<'_, Shard>> {
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or_default();
        let shard = self.shards.get(hash % SHARDS)?;
        Some(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sums of an agent, or the place where they would be.
    pub(super) fn get(&self, org: OrgKey, agent: &AgentId) -> Result<Tally, Vacancy> {
        let key = Key(org, agent.clone());
        let Some(mut shard) = self.shard(&key) else { return Err(Vacancy { key, publications: u64::MAX }) };
        match shard.tallies.get(&key) {
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

    /// Sets the sums that were committed.
    pub(super) fn publish(&self, org: OrgKey, agent: &AgentId, tally: Tally) {
        let key = Key(org, agent.clone());
        let Some(mut shard) = self.shard(&key) else { return };
        shard.publications = shard.publications.wrapping_add(1);
        shard.tallies.put(key, tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(evaluations: u64) -> Tally {
        Tally::from_sums(evaluations, 0, 0, 0).unwrap()
    }

    #[test]
    fn a_read_that_was_overtaken_does_not_bring_old_sums_back() {
        let standings = Standings::new();
        let agent: AgentId = "a".parse().unwrap();
        let org = OrgKey::DEFAULT;
        let vacancy = standings.get(org, &agent).unwrap_err();
        standings.publish(org, &agent, tally(2));
        standings.fill(vacancy, tally(1));
        assert_eq!(standings.get(org, &agent).ok(), Some(tally(2)));

        let other: AgentId = "b".parse().unwrap();
        let vacancy = standings.get(org, &other).unwrap_err();
        standings.fill(vacancy, tally(5));
        assert_eq!(standings.get(org, &other).ok(), Some(tally(5)));
    }

    #[test]
    fn memory_has_a_bound() {
        let standings = Standings::new();
        for number in 0..2 * AGENTS_MAX {
            standings.publish(OrgKey::DEFAULT, &number.to_string().parse().unwrap(), tally(1));
        }
        let held: usize = standings.shards.iter().map(|shard| shard.lock().unwrap().tallies.len()).sum();
        assert!(held <= AGENTS_MAX && held > AGENTS_MAX / 2, "{held}");
    }
}
