//! Crashes, damaged lines, full disks and adopted spools.

use renown_testing::Scratch;

use super::*;

fn numbered(number: usize) -> EncodedVerdict {
    EncodedVerdict::from_spool(&format!("{{\"n\":{number}}}"))
}

fn filled(parent: &Path, count: usize) -> Spool {
    let mut spool = Spool::create(parent).unwrap();
    for number in 0..count {
        spool.append(&numbered(number)).unwrap();
    }
    spool.sync().unwrap();
    spool
}

fn first(spool: &Spool, verdicts_max: usize) -> Vec<EncodedVerdict> {
    spool.first(verdicts_max, usize::MAX).unwrap().verdicts
}

#[test]
fn verdicts_are_read_in_order_and_removed_when_released() {
    let folder = Scratch::new();
    let mut spool = filled(folder.path(), 5);
    let batch = spool.first(2, usize::MAX).unwrap();
    assert_eq!(batch.verdicts, [numbered(0), numbered(1)]);
    assert_eq!(first(&spool, 2), batch.verdicts, "reading removes nothing");
    spool.release(&batch, 1).unwrap();
    assert_eq!(first(&spool, 9), (1..5).map(numbered).collect::<Vec<_>>());
    let batch = spool.first(9, usize::MAX).unwrap();
    spool.release(&batch, 0).unwrap();
    assert_eq!(first(&spool, 9).len(), 4);
    spool.release(&batch, 4).unwrap();
    assert!(spool.is_empty() && spool.bytes() == 0);
    spool.append(&numbered(9)).unwrap();
    assert_eq!(first(&spool, 9), [numbered(9)]);
}

#[test]
fn a_batch_is_limited_in_bytes_but_has_at_least_one_verdict() {
    let folder = Scratch::new();
    let spool = filled(folder.path(), 5);
    assert_eq!(spool.first(9, 1).unwrap().verdicts.len(), 1);
    assert_eq!(spool.first(9, 2 * "{\"n\":0}".len()).unwrap().verdicts.len(), 2);
}

#[test]
fn the_spool_of_a_dead_process_is_adopted_at_its_read_position() {
    let folder = Scratch::new();
    let mut spool = filled(folder.path(), 3);
    assert!(Spool::adopt(folder.path()).is_empty(), "its process is alive");
    let batch = spool.first(1, usize::MAX).unwrap();
    spool.release(&batch, 1).unwrap();
    drop(spool);
    let adopted = Spool::adopt(folder.path());
    assert_eq!(adopted.iter().map(|spool| first(spool, 9)).collect::<Vec<_>>(), [[numbered(1), numbered(2)]]);
    assert!(Spool::adopt(folder.path()).is_empty(), "it has an owner again");
    drop(adopted);
    filled(folder.path(), 0).close();
    drop(filled(folder.path(), 0));
    for mut spool in Spool::adopt(folder.path()) {
        let batch = spool.first(9, usize::MAX).unwrap();
        spool.release(&batch, 2).unwrap();
        spool.close();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_crash_within_a_line_keeps_the_lines_before_it() {
    let folder = Scratch::new();
    let spool = filled(folder.path(), 3);
    let path = spool.path(1);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    let line = whole.len() / 3;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let adopted = Spool::adopt(folder.path());
        let batches: Vec<SpoolBatch> =
            adopted.iter().map(|spool| spool.first(9, usize::MAX).unwrap()).collect();
        let verdicts: Vec<EncodedVerdict> = batches.iter().flat_map(|batch| batch.verdicts.clone()).collect();
        assert_eq!(verdicts, (0..length / line).map(numbered).collect::<Vec<_>>(), "cut at {length}");
        let damaged: u64 = batches.iter().map(|batch| batch.damaged).sum();
        assert_eq!(damaged, u64::from(length % line != 0), "cut at {length}");
        if length == 0 {
            // `adopt` has removed the empty spool.
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path.with_file_name("lock")).unwrap();
        }
    }
}

#[test]
fn a_damaged_line_does_not_affect_others() {
    let folder = Scratch::new();
    let mut spool = filled(folder.path(), 3);
    let mut bytes = fs::read(spool.path(1)).unwrap();
    let second = bytes.len() / 3 + 12;
    bytes[second] ^= 1;
    fs::write(spool.path(1), bytes).unwrap();
    let batch = spool.first(9, usize::MAX).unwrap();
    assert_eq!((batch.verdicts.clone(), batch.damaged), (vec![numbered(0), numbered(2)], 1));
    spool.release(&batch, 2).unwrap();
    assert!(spool.is_empty());
}

#[test]
fn the_oldest_segment_can_be_discarded() {
    let folder = Scratch::new();
    let mut spool = Spool::create(folder.path()).unwrap();
    let large = EncodedVerdict::from_spool(&"x".repeat(900_000));
    for _ in 0..12 {
        spool.append(&large).unwrap();
    }
    assert_eq!(spool.segments.len(), 3, "a new segment starts above 4 MiB");
    let batch = spool.first(1, usize::MAX).unwrap();
    spool.release(&batch, 1).unwrap();
    assert_eq!(spool.discard_oldest().unwrap(), 4, "one of five was delivered");
    assert_eq!(first(&spool, 99).len(), 7);
    assert_eq!((spool.discard_oldest().unwrap(), spool.discard_oldest().unwrap()), (5, 2));
    assert_eq!((spool.discard_oldest().unwrap(), spool.is_empty()), (0, true));
}

#[test]
fn discarding_an_adopted_segment_counts_only_unread_verdicts() {
    let folder = Scratch::new();
    let mut spool = filled(folder.path(), 5);
    let batch = spool.first(2, usize::MAX).unwrap();
    assert_eq!(spool.count_unreleased(&batch, 2), 2);
    spool.release(&batch, 2).unwrap();
    assert_eq!(spool.count_unreleased(&batch, 2), 0);
    drop(spool);
    let [mut adopted] = <[Spool; 1]>::try_from(Spool::adopt(folder.path())).unwrap();
    assert_eq!((adopted.discard_oldest().unwrap(), adopted.is_empty()), (3, true));
}
