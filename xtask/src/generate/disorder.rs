//! Lines that are repeated or out of order, as after a retry or with a rotated file.

use std::io::{self, Write};

use super::{Account, Random, length};

/// Maximum number of lines that wait for their turn. A line moves by at most a small multiple of it.
const WAITING: usize = 16;

/// The lines that wait.
#[derive(Debug)]
pub(super) struct Disorder {
    random: Random,
    repeat_percent: u64,
    shuffle: bool,
    waiting: Vec<String>,
}

impl Disorder {
    pub(super) fn new(random: &mut Random, repeat_percent: u64, shuffle: bool) -> Self {
        Self { random: random.fork(), repeat_percent, shuffle, waiting: Vec::new() }
    }

    /// Accepts a line: writes it or lets it wait, and may let a copy wait too.
    pub(super) fn write(
        &mut self,
        out: &mut impl Write,
        line: &str,
        records: u64,
        account: &mut Account,
    ) -> io::Result<()> {
        if self.shuffle {
            self.waiting.push(line.to_owned());
        } else {
            put(out, line, account)?;
        }
        if self.random.chance(self.repeat_percent.saturating_mul(10)) {
            self.waiting.push(line.to_owned());
            account.repeated += records;
        }
        while self.waiting.len() > WAITING {
            self.release(out, account)?;
        }
        Ok(())
    }

    /// Writes all lines that still wait.
    pub(super) fn finish(&mut self, out: &mut impl Write, account: &mut Account) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.release(out, account)?;
        }
        Ok(())
    }

    fn release(&mut self, out: &mut impl Write, account: &mut Account) -> io::Result<()> {
        let place = self.random.index(self.waiting.len());
        put(out, &self.waiting.swap_remove(place), account)
    }
}

fn put(out: &mut impl Write, line: &str, account: &mut Account) -> io::Result<()> {
    account.lines += 1;
    account.bytes += length(line);
    out.write_all(line.as_bytes())
}
