//! Parses the pages of an SQLite file, as far as necessary to find the unused bytes.
//!
//! ```text
//! tree page:  kind | first free block | cells | start of content | fragments | [right child] | cell pointers | gap | content
//! content:    cells and free blocks (next, size, unused bytes) and fragments of one to three unused bytes, in any order
//! ```
//!
//! Everything is unused except the header, the pointers, the cells and the first four bytes of each free block. A
//! page in which two of these overlap, or leave the page, is not parsed at all.

use std::ops::Range;

/// The kinds of tree pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Leaf,
    Interior,
}

/// A value that is too long for its page and continues in pages of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongValue {
    pub(super) first: u32,
    /// Number of bytes in these pages.
    pub(super) bytes: usize,
}

/// A page of a tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) kind: Kind,
    pub(super) unused: Vec<Range<usize>>,
    pub(super) long_values: Vec<LongValue>,
    /// The pages below it.
    pub(super) children: Vec<u32>,
}

/// A page of the free list.
pub(super) struct Trunk {
    pub(super) next: u32,
    pub(super) leaves: Vec<u32>,
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

pub(super) fn trunk(bytes: &[u8], usable: usize) -> Option<Trunk> {
    let count = usize::try_from(u32_at(bytes, 4)?).ok().filter(|count| 8 + 4 * count <= usable)?;
    let leaves = (0..count).map(|index| u32_at(bytes, 8 + 4 * index)).collect::<Option<_>>()?;
    Some(Trunk { next: u32_at(bytes, 0)?, leaves })
}

/// Reads a number of one to nine bytes. Returns it with the number of bytes.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for length in 1..=9 {
        let byte = *bytes.get(at.checked_add(length - 1)?)?;
        if length == 9 {
            return Some((value << 8 | u64::from(byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, length));
        }
    }
    None
}

/// Returns how many bytes of a value are in its page.
fn local(length: usize, is_table: bool, usable: usize) -> usize {
    let min = (usable - 12) * 32 / 255 - 23;
    let max = if is_table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if length <= max {
        return length;
    }
    let fits = min + (length - min) % (usable - 4);
    if fits <= max { fits } else { min }
}

struct Cell {
    bytes: Range<usize>,
    long_value: Option<LongValue>,
    child: Option<u32>,
}

fn cell(page: &[u8], at: usize, kind: Kind, is_table: bool, usable: usize) -> Option<Cell> {
    let mut end = at;
    let mut child = None;
    if kind == Kind::Interior {
        child = Some(u32_at(page, at)?);
        end += 4;
        if is_table {
            end += varint(page, end)?.1;
            return Some(Cell { bytes: at..end.max(at + 4), long_value: None, child });
        }
    }
    let (length, bytes) = varint(page, end)?;
    let length = usize::try_from(length).ok().filter(|length| *length < 1 << 31)?;
    end += bytes;
    if is_table {
        end += varint(page, end)?.1;
    }
    let here = local(length, is_table, usable);
    end += here;
    let mut long_value = None;
    if here < length {
        long_value = Some(LongValue { first: u32_at(page, end)?, bytes: length - here });
        end += 4;
    }
    Some(Cell { bytes: at..end.max(at + 4), long_value, child })
}

/// Parses a tree page. Returns `None` if it is another kind of page, or damaged.
pub(super) fn parse(page: &[u8], number: u32, usable: usize) -> Option<Parsed> {
    // Smaller pages do not exist, and the computations below rely on it.
    if usable < 480 || usable > page.len() {
        return None;
    }
    let header = if number == 1 { 100 } else { 0 };
    let (kind, is_table) = match page.get(header)? {
        0x02 => (Kind::Interior, false),
        0x05 => (Kind::Interior, true),
        0x0a => (Kind::Leaf, false),
        0x0d => (Kind::Leaf, true),
        _ => return None,
    };
    let count = usize::from(u16_at(page, header + 3)?);
    let pointers = header + if kind == Kind::Leaf { 8 } else { 12 };
    let mut parsed = Parsed { kind, unused: Vec::new(), long_values: Vec::new(), children: Vec::new() };
    let mut live: Vec<Range<usize>> = Vec::with_capacity(count + 1);
    live.push(0..pointers + 2 * count);
    if kind == Kind::Interior {
        parsed.children.push(u32_at(page, header + 8)?);
    }
    for index in 0..count {
        let at = usize::from(u16_at(page, pointers + 2 * index)?);
        let cell = cell(page, at, kind, is_table, usable)?;
        live.push(cell.bytes);
        parsed.long_values.extend(cell.long_value);
        parsed.children.extend(cell.child);
    }
    let mut block = usize::from(u16_at(page, header + 1)?);
    while block != 0 {
        let (next, size) = (usize::from(u16_at(page, block)?), usize::from(u16_at(page, block + 2)?));
        if size < 4 || block + size > usable || (next != 0 && next < block + size) {
            return None;
        }
        live.push(block..block + 4);
        block = next;
    }
    live.sort_by_key(|range| range.start);
    let mut end = 0;
    for range in live {
        if range.start < end || range.end > usable {
            return None;
        }
        if range.start > end {
            parsed.unused.push(end..range.start);
        }
        end = range.end;
    }
    if end < usable {
        parsed.unused.push(end..usable);
    }
    Some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USABLE: usize = 512;

    /// Makes a leaf of a table with these cells and a free block.
    fn leaf(cells: &[&[u8]], free: &[u8]) -> Vec<u8> {
        let mut page = vec![0xee; USABLE];
        page[..8].copy_from_slice(&[0x0d, 0, 0, 0, 0, 0, 0, 0]);
        page[4] = u8::try_from(cells.len()).unwrap();
        let mut end = USABLE;
        for (index, content) in cells.iter().enumerate() {
            end -= 2 + content.len();
            page[end] = u8::try_from(content.len()).unwrap();
            page[end + 1] = u8::try_from(index).unwrap();
            page[end + 2..end + 2 + content.len()].copy_from_slice(content);
            page[8 + 2 * index..10 + 2 * index].copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
        }
        end -= free.len();
        page[end..end + free.len()].copy_from_slice(free);
        page[end..end + 2].copy_from_slice(&[0, 0]);
        page[end + 2..end + 4].copy_from_slice(&u16::try_from(free.len()).unwrap().to_be_bytes());
        page[1..3].copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
        page[5..7].copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
        page
    }

    #[test]
    fn all_bytes_but_headers_cells_and_starts_of_free_blocks_are_unused() {
        let page = leaf(&[b"first", b"second"], b"....erased");
        let parsed = parse(&page, 2, USABLE).unwrap();
        let cells = USABLE - 7 - 8;
        assert_eq!(parsed.unused, [12..cells - 10, cells - 6..cells]);
        assert_eq!((parsed.kind, parsed.children.len(), parsed.long_values.len()), (Kind::Leaf, 0, 0));
    }

    #[test]
    fn a_damaged_page_is_not_parsed() {
        let sound = leaf(&[b"first", b"second"], b"....erased");
        assert!(parse(&sound, 2, USABLE).is_some());
        let broken = |at: usize, byte: u8| {
            let mut page = sound.clone();
            page[at] = byte;
            parse(&page, 2, USABLE)
        };
        assert_eq!(broken(0, 0), None, "another kind of page");
        assert_eq!(broken(4, 200), None, "more cells than there is room for");
        assert_eq!(broken(9, 3), None, "two cells at the same offset");
        assert_eq!(broken(USABLE - 7, 60), None, "a cell that leaves the page");
        assert_eq!(broken(2, 20), None, "a free block in the gap of no size");
        for at in 0..USABLE {
            for byte in [0, 1, 4, 0x0d, 0x7f, 0x80, 0xff] {
                // Whatever the result, parsing ends.
                let _ = broken(at, byte);
            }
        }
    }

    #[test]
    fn a_long_value_continues_in_other_pages() {
        // A leaf of a table keeps at most 512 - 35 = 477 bytes of a value, and at least 500 * 32 / 255 - 23 = 39.
        // Of 1000 bytes it would keep 39 + 961 % 508 = 492, which is too many, so it keeps 39; of 900 bytes 39 +
        // 861 % 508 = 392.
        let here = local(1000, true, USABLE);
        assert_eq!((here, local(900, true, USABLE), local(477, true, USABLE)), (39, 392, 477));
        let mut page = vec![0; USABLE];
        page[..12].copy_from_slice(&[0x0d, 0, 0, 0, 1, 0, 0, 0, 0, 20, 0, 0]);
        let start = 20;
        page[start..start + 3].copy_from_slice(&[0x87, 0x68, 5]);
        let end = start + 3 + here;
        page[end..end + 4].copy_from_slice(&9_u32.to_be_bytes());
        let parsed = parse(&page, 2, USABLE).unwrap();
        assert_eq!(parsed.long_values, [LongValue { first: 9, bytes: 1000 - here }]);
        assert_eq!(parsed.unused, [10..20, end + 4..USABLE]);
    }
}
