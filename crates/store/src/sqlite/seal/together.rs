//! Computes the seals of several rows together.
//!
//! Each step of FNV-1a waits for the multiplication of the step before it. Four rows that take their steps in turn
//! do not wait for each other, so four seals take as long as one.

use rusqlite::types::ValueRef;

use super::{Hash, Sink, seal_of, write_value};

const ROWS: usize = 4;

/// Returns the seal of each row, in order.
pub(in crate::sqlite) fn seals_of<const COLUMNS: usize>(rows: &[[ValueRef<'_>; COLUMNS]]) -> Vec<i64> {
    let mut seals = Vec::with_capacity(rows.len());
    let (fours, rest) = rows.as_chunks::<ROWS>();
    for [a, b, c, d] in fours {
        let mut hashes = [const { Hash::new() }; ROWS];
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            write_column(&mut hashes, [*a, *b, *c, *d]);
        }
        seals.extend(hashes.map(Hash::finish));
    }
    seals.extend(rest.iter().map(|row| seal_of(row)));
    seals
}

/// Does the same as [`write_value`] for one column of each row. Values of the same kind take their steps in turn.
fn write_column(hashes: &mut [Hash; ROWS], values: [ValueRef<'_>; ROWS]) {
    use ValueRef::{Blob, Integer, Text};
    match values {
        [Integer(a), Integer(b), Integer(c), Integer(d)] => {
            write_bytes(hashes, [&[1]; ROWS]);
            write_numbers(hashes, [a, b, c, d].map(i64::cast_unsigned));
        }
        [Text(a), Text(b), Text(c), Text(d)] => write_sized(hashes, 3, [a, b, c, d]),
        [Blob(a), Blob(b), Blob(c), Blob(d)] => write_sized(hashes, 4, [a, b, c, d]),
        mixed => hashes.iter_mut().zip(mixed).for_each(|(hash, value)| write_value(value, hash)),
    }
}

fn write_sized(hashes: &mut [Hash; ROWS], kind: u8, values: [&[u8]; ROWS]) {
    write_bytes(hashes, [&[kind]; ROWS]);
    write_numbers(hashes, values.map(|bytes| bytes.len() as u64));
    write_bytes(hashes, values);
}

fn write_numbers(hashes: &mut [Hash; ROWS], numbers: [u64; ROWS]) {
    let bytes = numbers.map(u64::to_le_bytes);
    write_bytes(hashes, bytes.each_ref().map(<[u8; 8]>::as_slice));
}

fn write_bytes(hashes: &mut [Hash; ROWS], [a, b, c, d]: [&[u8]; ROWS]) {
    let together = a.len().min(b.len()).min(c.len()).min(d.len());
    let [hash_a, hash_b, hash_c, hash_d] = hashes;
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        hash_a.step(*a);
        hash_b.step(*b);
        hash_c.step(*c);
        hash_d.step(*d);
    }
    for (hash, bytes) in hashes.iter_mut().zip([a, b, c, d]) {
        hash.bytes(bytes.get(together..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_together_have_the_seals_of_each() {
        let texts = ["", "a", "a longer text than the others", "é"];
        let row = |number: usize| {
            let text = texts[number % texts.len()].as_bytes();
            let integer = i64::try_from(number).unwrap() * 7919 - 20_000;
            [
                ValueRef::Integer(integer),
                if number.is_multiple_of(3) { ValueRef::Null } else { ValueRef::Text(text) },
                ValueRef::Text(text),
                ValueRef::Real(if number == 5 { -0.0 } else { 1.5 }),
                ValueRef::Blob(text),
            ]
        };
        for count in 0..14 {
            let rows: Vec<_> = (0..count).map(row).collect();
            let each: Vec<i64> = rows.iter().map(|row| seal_of(row)).collect();
            assert_eq!(seals_of(&rows), each, "{count} rows");
        }
    }
}
