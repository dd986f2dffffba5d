//! Crashes, damage, full disks and takeovers.

use super::*;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("renown-spool-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn numbered(number: usize) -> Event {
    Event::from_spool(&format!("{{\"n\":{number}}}"))
}

fn filled(parent: &Path, count: usize) -> Spool {
    let mut spool = Spool::create(parent).unwrap();
    for number in 0..count {
        spool.append(&numbered(number)).unwrap();
    }
    spool.sync().unwrap();
    spool
}

fn first(spool: &Spool, events_max: usize) -> Vec<Event> {
    spool.first(events_max, usize::MAX).unwrap().events
}

#[test]
fn events_come_out_as_they_went_in_and_leave_when_the_server_has_them() {
    let folder = Folder::new("order");
    let mut spool = filled(&folder.0, 5);
    let batch = spool.first(2, usize::MAX).unwrap();
    assert_eq!(batch.events, [numbered(0), numbered(1)]);
    assert_eq!(first(&spool, 2), batch.events, "reading alone takes nothing away");
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
fn a_batch_has_a_limit_of_bytes_but_never_is_empty_for_it() {
    let folder = Folder::new("bytes");
    let spool = filled(&folder.0, 5);
    assert_eq!(spool.first(9, 1).unwrap().events.len(), 1);
    assert_eq!(spool.first(9, 2 * "{\"n\":0}".len()).unwrap().events.len(), 2);
}

#[test]
fn the_spool_of_a_dead_process_is_taken_over_where_it_was_left() {
    let folder = Folder::new("adopt");
    let mut spool = filled(&folder.0, 3);
    assert!(Spool::adopt(&folder.0).is_empty(), "its process lives");
    let batch = spool.first(1, usize::MAX).unwrap();
    spool.release(&batch, 1).unwrap();
    drop(spool);
    let adopted = Spool::adopt(&folder.0);
    assert_eq!(adopted.iter().map(|spool| first(spool, 9)).collect::<Vec<_>>(), [[numbered(1), numbered(2)]]);
    assert!(Spool::adopt(&folder.0).is_empty(), "it has an owner again");
    drop(adopted);
    filled(&folder.0, 0).close();
    drop(filled(&folder.0, 0));
    for mut spool in Spool::adopt(&folder.0) {
        let batch = spool.first(9, usize::MAX).unwrap();
        spool.release(&batch, 2).unwrap();
        spool.close();
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn wherever_a_crash_cuts_the_last_line_the_others_are_there() {
    let folder = Folder::new("cut");
    let spool = filled(&folder.0, 3);
    let path = spool.path(1);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    let line = whole.len() / 3;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let adopted = Spool::adopt(&folder.0);
        let batches: Vec<Batch> = adopted.iter().map(|spool| spool.first(9, usize::MAX).unwrap()).collect();
        let events: Vec<Event> = batches.iter().flat_map(|batch| batch.events.clone()).collect();
        assert_eq!(events, (0..length / line).map(numbered).collect::<Vec<_>>(), "cut at {length}");
        let damaged: u64 = batches.iter().map(|batch| batch.damaged).sum();
        assert_eq!(damaged, u64::from(length % line != 0), "cut at {length}");
        if length == 0 {
            // An empty spool was removed on the way.
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path.with_file_name("lock")).unwrap();
        }
    }
}

#[test]
fn a_damaged_line_costs_itself_only() {
    let folder = Folder::new("damage");
    let mut spool = filled(&folder.0, 3);
    let mut bytes = fs::read(spool.path(1)).unwrap();
    let second = bytes.len() / 3 + 12;
    bytes[second] ^= 1;
    fs::write(spool.path(1), bytes).unwrap();
    let batch = spool.first(9, usize::MAX).unwrap();
    assert_eq!((batch.events.clone(), batch.damaged), (vec![numbered(0), numbered(2)], 1));
    spool.release(&batch, 2).unwrap();
    assert!(spool.is_empty());
}

#[test]
fn the_oldest_segment_can_be_given_up() {
    let folder = Folder::new("oldest");
    let mut spool = Spool::create(&folder.0).unwrap();
    let large = Event::from_spool(&"x".repeat(900_000));
    for _ in 0..12 {
        spool.append(&large).unwrap();
    }
    assert_eq!(spool.segments.len(), 3, "a segment ends above 4 MiB");
    let batch = spool.first(1, usize::MAX).unwrap();
    spool.release(&batch, 1).unwrap();
    assert_eq!(spool.discard_oldest().unwrap(), 4, "of five one was delivered");
    assert_eq!(first(&spool, 99).len(), 7);
    assert_eq!((spool.discard_oldest().unwrap(), spool.discard_oldest().unwrap()), (5, 2));
    assert_eq!((spool.discard_oldest().unwrap(), spool.is_empty()), (0, true));
}

#[test]
fn what_is_given_up_of_a_dead_process_is_counted_from_where_it_was_left() {
    let folder = Folder::new("counted");
    let mut spool = filled(&folder.0, 5);
    let batch = spool.first(2, usize::MAX).unwrap();
    assert_eq!(spool.held(&batch, 2), 2);
    spool.release(&batch, 2).unwrap();
    assert_eq!(spool.held(&batch, 2), 0);
    drop(spool);
    let [mut adopted] = <[Spool; 1]>::try_from(Spool::adopt(&folder.0)).unwrap();
    assert_eq!((adopted.discard_oldest().unwrap(), adopted.is_empty()), (3, true));
}
