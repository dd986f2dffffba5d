//! Searches for bytes in long texts: fast where there are none, and never past the deadline.

use core::time::Duration;
use std::cell::Cell;

use super::clock::GateClock;
use crate::limits::{GATE_STRIDE_BYTES, GATE_WALL_MIN, GATE_WALL_TIMES};

/// The budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedOut;

/// The deadline of an evaluation.
pub(super) struct Deadline<'c> {
    clock: &'c dyn GateClock,
    /// Both clocks at the start of the evaluation.
    wall_began: Duration,
    ran_began: Duration,
    budget: Duration,
    /// Bytes that were read since the clock was last checked.
    read: Cell<usize>,
}

impl<'c> Deadline<'c> {
    /// Creates the deadline of an evaluation that starts now.
    pub(super) fn new(clock: &'c dyn GateClock, budget: Duration) -> Self {
        let (wall_began, ran_began) = (clock.wall(), clock.ran());
        Self { clock, wall_began, ran_began, budget, read: Cell::new(0) }
    }

    /// Returns the start of the evaluation, by the wall clock.
    pub(super) fn began(&self) -> Duration {
        self.wall_began
    }

    /// Checks the clock.
    fn check(&self) -> Result<(), TimedOut> {
        if self.is_past(self.clock.wall()) { Err(TimedOut) } else { Ok(()) }
    }

    /// Returns whether a wall-clock time is past the deadline: the thread has used more CPU time than the budget, or
    /// much more wall-clock time has passed. CPU time is never more than wall-clock time, so most checks need only
    /// the wall clock.
    pub(super) fn is_past(&self, wall: Duration) -> bool {
        let passed = wall.saturating_sub(self.wall_began);
        passed > self.budget && (passed > wall_limit(self.budget) || self.ran() > self.budget)
    }

    /// Returns the rest of the budget.
    pub(super) fn left(&self) -> Duration {
        self.budget.saturating_sub(self.ran())
    }

    fn ran(&self) -> Duration {
        self.clock.ran().saturating_sub(self.ran_began)
    }

    /// Counts this many bytes, and checks the clock once per stride.
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

/// Returns the wall-clock limit for a budget of CPU time.
fn wall_limit(budget: Duration) -> Duration {
    budget.saturating_mul(GATE_WALL_TIMES).max(GATE_WALL_MIN)
}

/// Number of bytes per block. Compilers turn a loop over a fixed number of bytes into vector code.
const BLOCK: usize = 32;

/// Calls `visit` with each position for which `is` accepts the previous byte and the byte. The first byte has a blank
/// before it. The visitor returns the position to go on from, or [`DONE`].
///
/// A block without such a position costs a few instructions. For this, `is` must not branch: use `|` and `&`, not
/// `||` and `&&`.
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

/// Returns one bit per accepted position of the block at `start`.
#[inline]
fn marks(bytes: &[u8], start: usize, is: &impl Fn(u8, u8) -> bool) -> u32 {
    let rest = bytes.get(start..).unwrap_or_default();
    let earlier = start.checked_sub(1).and_then(|before| bytes.get(before..)?.first_chunk::<BLOCK>());
    if let (Some(block), Some(earlier)) = (rest.first_chunk(), earlier) {
        return marks_of(earlier, block, is);
    }
    // The first and the last block are padded. Positions in the padding are masked out.
    let (mut padded, mut earlier, length) = ([0; BLOCK], [b' '; BLOCK], rest.len().min(BLOCK));
    padded.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
    let before_first = before(bytes, start).unwrap_or(b' ');
    earlier.iter_mut().zip([before_first].iter().chain(rest)).for_each(|(slot, byte)| *slot = *byte);
    let beyond = u32::MAX.checked_shl(u32::try_from(length).unwrap_or(u32::MAX)).unwrap_or(0);
    marks_of(&earlier, &padded, is) & !beyond
}

#[inline]
fn marks_of(earlier: &[u8; BLOCK], block: &[u8; BLOCK], is: &impl Fn(u8, u8) -> bool) -> u32 {
    let pairs = || earlier.iter().zip(block);
    // Most blocks have no match, and "any" is cheaper than "which".
    if !pairs().fold(false, |any, (&before, &byte)| any | is(before, byte)) {
        return 0;
    }
    pairs()
        .enumerate()
        .fold(0, |marks, (index, (&before, &byte))| marks | u32::from(is(before, byte)) << index)
}

/// Returned by a visitor to stop.
pub(super) const DONE: usize = usize::MAX;

/// Returns the end of the run of accepted bytes that starts at `from`.
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

/// Returns the start of the run of accepted bytes that ends at `end`.
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

/// Returns the position of the next such byte from `from` on.
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

/// Returns the number of such bytes.
pub(super) fn count_byte(bytes: &[u8], byte: u8, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    bytes.chunks(GATE_STRIDE_BYTES).try_fold(0, |count, part| {
        deadline.spend(part.len())?;
        Ok(count + memchr::memchr_iter(byte, part).count())
    })
}

/// Returns the position of the last such byte between `from` and `to`.
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

/// Returns the byte before a position.
#[inline]
pub(super) fn before(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at.checked_sub(1)?).copied()
}

/// Returns whether a byte is part of a word, like `\w` of a regular expression without Unicode.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the character that ends at a position.
pub(super) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Returns the character that begins at a position.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accepted_byte_is_visited_at_any_position() {
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
    fn the_clock_is_checked_once_per_stride() {
        let checks = Cell::new(0_u32);
        let clock = || {
            checks.set(checks.get() + 1);
            Duration::from_millis(u64::from(checks.get()))
        };
        // It starts at 1 ms of wall-clock time and 2 ms of CPU time. The fourth check of the wall clock, at 5 ms, is
        // the first one past the deadline, and so is the check of CPU time that follows it.
        let deadline = Deadline::new(&clock, Duration::from_millis(3));
        let text = vec![b'x'; 10 * GATE_STRIDE_BYTES];
        assert_eq!(each(&text, &deadline, |_, byte| byte == b'@', |_| Ok(DONE)), Err(TimedOut));
        assert_eq!(checks.get(), 6);
    }

    /// A clock that a test sets.
    #[derive(Default)]
    struct TestClock {
        wall: Cell<Duration>,
        ran: Cell<Duration>,
    }

    impl GateClock for TestClock {
        fn wall(&self) -> Duration {
            self.wall.get()
        }

        fn ran(&self) -> Duration {
            self.ran.get()
        }
    }

    #[test]
    fn the_budget_counts_cpu_time() {
        let (ms, clock) = (Duration::from_millis, TestClock::default());
        clock.wall.set(ms(1000));
        clock.ran.set(ms(70));
        let deadline = Deadline::new(&clock, ms(50));
        for (wall, ran, past) in [
            (1050, 120, false),
            (1051, 121, true),
            // Other threads used the core.
            (1051, 70, false),
            (1051, 120, false),
            (10_999, 120, false),
            (11_000, 120, false),
            (11_001, 71, true),
        ] {
            clock.wall.set(ms(wall));
            clock.ran.set(ms(ran));
            assert_eq!(deadline.is_past(clock.wall()), past, "{wall} {ran}");
            assert_eq!(deadline.spend(GATE_STRIDE_BYTES).is_err(), past, "{wall} {ran}");
        }
        clock.ran.set(ms(90));
        assert_eq!(deadline.left(), ms(30));
        assert_eq!(wall_limit(ms(60_000)), ms(600_000));
    }
}
