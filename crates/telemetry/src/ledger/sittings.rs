//! # Active time
//!
//! ```text
//! active = Σ gaps between neighboring events, of those that are not longer than 30 minutes
//! ```
//!
//! Events that are not further apart form a *sitting*. Only the first and the last time of each sitting are kept, and
//! they do not depend on the order of the events.

use renown_core::time::Timestamp;

use crate::bytes::{Cursor, Read, Unreadable, Writer};

/// The longest gap within a sitting: exactly 30 minutes still count.
const GAP_NS: i64 = 30 * 60 * 1_000_000_000;

/// The sittings of a session, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sittings(Vec<(Timestamp, Timestamp)>);

impl Sittings {
    /// Adds an event.
    pub(crate) fn add(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let sittings = &mut self.0;
        // Events usually come in order.
        if let Some((first, last)) = sittings.last_mut()
            && at >= *first
            && at.nanos() - last.nanos() <= GAP_NS
        {
            *last = at.max(*last);
            return;
        }
        let number = sittings.partition_point(|(_, last)| last.nanos() + GAP_NS < at.nanos());
        match sittings.get_mut(number).filter(|(first, _)| at.nanos() + GAP_NS >= first.nanos()) {
            Some((first, last)) => (*first, *last) = (at.min(*first), at.max(*last)),
            None => sittings.insert(number, (at, at)),
        }
        // The event may close the gap to the next sitting.
        let (last, next) = (sittings.get(number).copied(), sittings.get(number + 1).copied());
        if let (Some((_, last)), Some((first, end))) = (last, next)
            && first.nanos() - last.nanos() <= GAP_NS
        {
            sittings.remove(number + 1);
            if let Some((_, last)) = sittings.get_mut(number) {
                *last = end;
            }
        }
    }

    /// Returns the active time.
    pub(crate) fn active_ns(&self) -> u64 {
        self.0.iter().map(|(first, last)| (last.nanos() - first.nanos()).unsigned_abs()).sum()
    }

    pub(crate) fn write(&self, bytes: &mut Writer) {
        bytes.varint(self.0.len() as u128);
        for (first, last) in &self.0 {
            bytes.0.extend(first.nanos().to_le_bytes());
            bytes.0.extend(last.nanos().to_le_bytes());
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Read<Self> {
        let mut sittings: Vec<(Timestamp, Timestamp)> = Vec::new();
        for _ in 0..cursor.number()? {
            let (first, last) = (cursor.time()?, cursor.time()?);
            let before = sittings.last().map_or(i64::MIN, |(_, last)| last.nanos() + GAP_NS);
            if first > last || first.nanos() <= before {
                return Err(Unreadable);
            }
            sittings.push((first, last));
        }
        Ok(Self(sittings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000_000;

    fn of(minutes: &[i64]) -> Sittings {
        let mut sittings = Sittings::default();
        for minute in minutes {
            sittings.add(Timestamp::from_nanos(1_790_000_000_000_000_000 + minute * MINUTE).ok());
        }
        sittings
    }

    #[test]
    fn a_gap_of_thirty_minutes_counts_and_a_longer_one_does_not() {
        assert_eq!(of(&[]).active_ns(), 0);
        assert_eq!(of(&[5]).active_ns(), 0);
        assert_eq!(of(&[0, 30]).active_ns(), 30 * 60_000_000_000);
        let mut longer = of(&[0]);
        longer.add(Timestamp::from_nanos(1_790_000_000_000_000_000 + GAP_NS + 1).ok());
        assert_eq!(longer.active_ns(), 0);
        assert_eq!(of(&[0, 10, 100, 104]).active_ns(), 14 * 60_000_000_000);
    }

    #[test]
    fn the_order_of_events_does_not_matter() {
        let minutes = [0, 10, 41, 71, 102, 103, 300, 200, 170, 331];
        let expected = of(&minutes);
        let mut rng = renown_testing::Rng::new(7);
        for _ in 0..200 {
            let mut shuffled = minutes.to_vec();
            rng.shuffle(&mut shuffled);
            assert_eq!(of(&shuffled), expected, "{shuffled:?}");
        }
        let mut bytes = Writer(Vec::new());
        expected.write(&mut bytes);
        assert_eq!(Sittings::read(&mut Cursor(&bytes.0)).ok(), Some(expected));
    }
}
