//! Looking for bytes in long texts: quickly where there are none, and never past the deadline.

use core::time::Duration;
use std::cell::Cell;

use super::clock::GateClock;
use crate::limits::{GATE_STRIDE_BYTES, GATE_WALL_MIN, GATE_WALL_TIMES};

/// The budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedOut;

/// When an evaluation has to be done.
pub(super) struct Deadline<'c> {
    clock: &'c dyn GateClock,
    /// What both clocks showed when the evaluation began.
    wall_began: Duration,
    ran_began: Duration,
    budget: Duration,
    /// Bytes that were read since the clock was last looked at.
    read: Cell<usize>,
}

impl<'c> Deadline<'c> {
    /// The deadline of an evaluation that begins now.
    pub(super) fn new(clock: &'c dyn GateClock, budget: Duration) -> Self {
        let (wall_began, ran_began) = (clock.wall(), clock.ran());
        Self { clock, wall_began, ran_began, budget, read: Cell::new(0) }
    }

    /// When the evaluation began, by the wall clock.
    pub(super) fn began(&self) -> Duration {
        self.wall_began
    }

    /// Looks at the clock.
    fn check(&self) -> Result<(), TimedOut> {
        if self.is_past(self.clock.wall()) { Err(TimedOut) } else { Ok(()) }
    }

    /// Whether a time of the wall clock is too late: the thread has run for longer than the budget, or far more than that
    /// has passed. A thread never runs for longer than the wall clock shows, so most looks need only that.
    pub(super) fn is_past(&self, wall: Duration) -> bool {
        let passed = wall.saturating_sub(self.wall_began);
        passed > self.budget && (passed > wall_limit(self.budget) || self.ran() > self.budget)
    }

    /// How much of the budget is left.
    pub(super) fn left(&self) -> Duration {
        self.budget.saturating_sub(self.ran())
    }

    fn ran(&self) -> Duration {
        self.clock.ran().saturating_sub(self.ran_began)
    }

    /// Accounts for so many bytes, and looks at the clock once in a stride.
    #[inline]
    pub(super) fn spend(&self, bytes: usize) -> Result<(), TimedOut> {
        let read = self.read.get().saturating_add(bytes);
        if read < GATE_STRIDE_BYTES {
            self.read.set(read);
            return Ok(());
        }
        self.read.set(0);
        self.check()
    }
}

/// How much time may pass while a thread runs for its budget.
fn wall_limit(budget: Duration) -> Duration {
    budget.saturating_mul(GATE_WALL_TIMES).max(GATE_WALL_MIN)
}

/// How many bytes are looked at together. Compilers turn a loop over a fixed number of them into vector code.
const BLOCK: usize = 32;

/// Calls `visit` with each place whose byte, with the byte before it, `is` wanted. Before the first byte stands a blank.
/// The visitor answers where to go on, or [`DONE`].
///
/// A block without such a place costs a few instructions. For that `is` must not branch: `|` and `&`, not `||` and `&&`.
#[inline]
pub(super) fn each(
    bytes: &[u8],
    deadline: &Deadline<'_>,
    is: impl Fn(u8, u8) -> bool,
    mut visit: impl FnMut(usize) -> Result<usize, TimedOut>,
) -> Result<(), TimedOut> {
    let (mut start, mut next) = (0, 0);
    while start < bytes.len() {
        deadline.spend(BLOCK)?;
        let mut marks = marks(bytes, start, &is);
        while marks != 0 {
            let at = start + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if at >= next {
                next = visit(at)?;
            }
        }
        start = if next == DONE { DONE } else { next.max(start + BLOCK) };
    }
    Ok(())
}

/// One bit for each wanted place of the block that begins there.
#[inline]
fn marks(bytes: &[u8], start: usize, is: &impl Fn(u8, u8) -> bool) -> u32 {
    let rest = bytes.get(start..).unwrap_or_default();
    let earlier = start.checked_sub(1).and_then(|before| bytes.get(before..)?.first_chunk::<BLOCK>());
    if let (Some(block), Some(earlier)) = (rest.first_chunk(), earlier) {
        return marks_of(earlier, block, is);
    }
    // The first and the last block are padded, and what is only padding is not wanted.
    let (mut padded, mut earlier, length) = ([0; BLOCK], [b' '; BLOCK], rest.len().min(BLOCK));
    padded.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    let before_first = before(bytes, start).unwrap_or(b' ');
    earlier.iter_mut().zip([before_first].iter().chain(rest)).for_each(|(place, byte)| *place = *byte);
    let beyond = u32::MAX.checked_shl(u32::try_from(length).unwrap_or(u32::MAX)).unwrap_or(0);
    marks_of(&earlier, &padded, is) & !beyond
}

#[inline]
fn marks_of(earlier: &[u8; BLOCK], block: &[u8; BLOCK], is: &impl Fn(u8, u8) -> bool) -> u32 {
    let pairs = || earlier.iter().zip(block);
    // Most blocks have none, and "any" is cheaper than "which".
    if !pairs().fold(false, |any, (&before, &byte)| any | is(before, byte)) {
        return 0;
    }
    pairs()
        .enumerate()
        .fold(0, |marks, (place, (&before, &byte))| marks | u32::from(is(before, byte)) << place)
}

/// The answer of a visitor that has seen enough.
pub(super) const DONE: usize = usize::MAX;

/// Where the run of such bytes ends that begins there.
pub(super) fn run_end(
    bytes: &[u8],
    from: usize,
    deadline: &Deadline<'_>,
    is: impl Fn(u8) -> bool,
) -> Result<usize, TimedOut> {
    let mut end = from;
    for part in bytes.get(from..).unwrap_or_default().chunks(GATE_STRIDE_BYTES) {
        let run = part.iter().take_while(|byte| is(**byte)).count();
        deadline.spend(run)?;
        end += run;
        if run < part.len() {
            break;
        }
    }
    Ok(end)
}

/// Where the run of such bytes begins that ends there.
pub(super) fn run_start(
    bytes: &[u8],
    end: usize,
    deadline: &Deadline<'_>,
    is: impl Fn(u8) -> bool,
) -> Result<usize, TimedOut> {
    let mut start = end;
    for part in bytes.get(..end).unwrap_or_default().rchunks(GATE_STRIDE_BYTES) {
        let run = part.iter().rev().take_while(|byte| is(**byte)).count();
        deadline.spend(run)?;
        start -= run;
        if run < part.len() {
            break;
        }
    }
    Ok(start)
}

/// Where the next such byte is from a place on.
pub(super) fn find_byte(
    bytes: &[u8],
    from: usize,
    byte: u8,
    deadline: &Deadline<'_>,
) -> Result<Option<usize>, TimedOut> {
    let mut start = from;
    for part in bytes.get(from..).unwrap_or_default().chunks(GATE_STRIDE_BYTES) {
        let found = memchr::memchr(byte, part);
        deadline.spend(found.unwrap_or(part.len()))?;
        if let Some(at) = found {
            return Ok(Some(start + at));
        }
        start += part.len();
    }
    Ok(None)
}

/// How many such bytes there are.
pub(super) fn count_byte(bytes: &[u8], byte: u8, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    bytes.chunks(GATE_STRIDE_BYTES).try_fold(0, |count, part| {
        deadline.spend(part.len())?;
        Ok(count + memchr::memchr_iter(byte, part).count())
    })
}

/// Where the last such byte is between two places.
pub(super) fn rfind_byte(
    bytes: &[u8],
    from: usize,
    to: usize,
    byte: u8,
    deadline: &Deadline<'_>,
) -> Result<Option<usize>, TimedOut> {
    let mut end = to;
    for part in bytes.get(from..to).unwrap_or_default().rchunks(GATE_STRIDE_BYTES) {
        let found = memchr::memrchr(byte, part);
        deadline.spend(part.len() - found.unwrap_or(0))?;
        let start = end - part.len();
        if let Some(at) = found {
            return Ok(Some(start + at));
        }
        end = start;
    }
    Ok(None)
}

/// The byte before a place.
#[inline]
pub(super) fn before(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at.checked_sub(1)?).copied()
}

/// A byte of a word, as `\w` of a regular expression without Unicode.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The character that ends at a place.
pub(super) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The character that begins at a place.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wanted_byte_is_visited_wherever_it_stands() {
        let never = || Duration::ZERO;
        let deadline = Deadline::new(&never, Duration::ZERO);
        for length in 0..100 {
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = b'@';
                let mut found = Vec::new();
                let visited = each(
                    &bytes,
                    &deadline,
                    |_, byte| byte == b'@',
                    |at| {
                        found.push(at);
                        Ok(at + 1)
                    },
                );
                assert_eq!((visited, found), (Ok(()), vec![at]));
            }
        }
    }

    #[test]
    fn runs_are_found_across_strides() {
        let never = || Duration::ZERO;
        let deadline = Deadline::new(&never, Duration::ZERO);
        for length in [0, 1, GATE_STRIDE_BYTES - 1, GATE_STRIDE_BYTES, 3 * GATE_STRIDE_BYTES + 5] {
            let bytes = [b".".as_slice(), &vec![b'a'; length], b"."].concat();
            assert_eq!(run_end(&bytes, 1, &deadline, |byte| byte == b'a'), Ok(1 + length));
            assert_eq!(run_start(&bytes, 1 + length, &deadline, |byte| byte == b'a'), Ok(1));
            assert_eq!(find_byte(&bytes, 1, b'.', &deadline), Ok(Some(1 + length)));
            assert_eq!(rfind_byte(&bytes, 0, 1 + length, b'.', &deadline), Ok(Some(0)));
            assert_eq!(find_byte(&bytes, 1, b'x', &deadline), Ok(None));
            assert_eq!(rfind_byte(&bytes, 1, 1 + length, b'.', &deadline), Ok(None));
        }
    }

    #[test]
    fn the_clock_is_looked_at_once_in_a_stride() {
        let looks = Cell::new(0_u32);
        let clock = || {
            looks.set(looks.get() + 1);
            Duration::from_millis(u64::from(looks.get()))
        };
        // It began at 1 ms on the wall and at 2 ms of the thread. The fourth look at the wall, 5 ms, is the first that is
        // past, and so is the one at the thread that follows it.
        let deadline = Deadline::new(&clock, Duration::from_millis(3));
        let text = vec![b'x'; 10 * GATE_STRIDE_BYTES];
        assert_eq!(each(&text, &deadline, |_, byte| byte == b'@', |_| Ok(DONE)), Err(TimedOut));
        assert_eq!(looks.get(), 6);
    }

    /// Two clocks that a test sets.
    #[derive(Default)]
    struct Hands {
        wall: Cell<Duration>,
        ran: Cell<Duration>,
    }

    impl GateClock for Hands {
        fn wall(&self) -> Duration {
            self.wall.get()
        }

        fn ran(&self) -> Duration {
            self.ran.get()
        }
    }

    #[test]
    fn the_budget_counts_what_the_thread_ran() {
        let (ms, hands) = (Duration::from_millis, Hands::default());
        hands.wall.set(ms(1000));
        hands.ran.set(ms(70));
        let deadline = Deadline::new(&hands, ms(50));
        for (wall, ran, past) in [
            (1050, 120, false),
            (1051, 121, true),
            // Others had the core.
            (1051, 70, false),
            (1051, 120, false),
            (10_999, 120, false),
            (11_000, 120, false),
            (11_001, 71, true),
        ] {
            hands.wall.set(ms(wall));
            hands.ran.set(ms(ran));
            assert_eq!(deadline.is_past(hands.wall()), past, "{wall} {ran}");
            assert_eq!(deadline.spend(GATE_STRIDE_BYTES).is_err(), past, "{wall} {ran}");
        }
        hands.ran.set(ms(90));
        assert_eq!(deadline.left(), ms(30));
        assert_eq!(wall_limit(ms(60_000)), ms(600_000));
    }
}
