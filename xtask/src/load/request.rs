//! Requests that are made before a run, and the few bytes that change each time one is sent.

use crate::generate::Random;

/// Digits of an id, in ASCII order, so that ids sort as their numbers do.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What is written into a part of a request before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The next id: unique, and after all earlier ones in sort order.
    Id,
    /// A random decimal number below this.
    Below(u64),
}

/// The bytes of a request, and the parts that change.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    slots: Vec<(usize, usize, Slot)>,
}

impl Request {
    /// Creates a request in which every `mark` is a slot, as wide as the mark.
    pub(crate) fn new(bytes: Vec<u8>, mark: &str, slot: Slot) -> Self {
        let slots = memchr::memmem::find_iter(&bytes, mark).map(|start| (start, mark.len(), slot)).collect();
        Self { bytes, slots }
    }
}

impl From<Vec<u8>> for Request {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, slots: Vec::new() }
    }
}

/// Requests that are sent in a cycle.
#[derive(Debug)]
pub(crate) struct Requests {
    all: Vec<Request>,
    at: usize,
    id: u64,
    random: Random,
}

impl Requests {
    /// `first_id` is where ids begin: a later run of the same bench begins later.
    pub(crate) fn new(all: Vec<Request>, first_id: u64) -> Self {
        Self { all, at: 0, id: first_id, random: Random::new(first_id) }
    }

    /// Returns the next request, ready to be sent.
    pub(crate) fn next(&mut self) -> &[u8] {
        self.at = if self.at + 1 < self.all.len() { self.at + 1 } else { 0 };
        let Some(request) = self.all.get_mut(self.at) else { return &[] };
        for &(start, width, slot) in &request.slots {
            let Some(place) = request.bytes.get_mut(start..start + width) else { continue };
            match slot {
                Slot::Id => {
                    self.id += 1;
                    write_number(place, self.id, 62);
                }
                Slot::Below(limit) => write_number(place, self.random.draw() % limit.max(1), 10),
            }
        }
        &request.bytes
    }
}

/// Writes a number into a slot, from its last digit, with leading zeros.
fn write_number(place: &mut [u8], mut number: u64, base: u64) {
    for byte in place.iter_mut().rev() {
        let digit = usize::try_from(number % base).unwrap_or(0);
        *byte = DIGITS.get(digit).copied().unwrap_or(b'0');
        number /= base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_anew_for_each_request() {
        let ids = Request::new(b"<####> <####>".to_vec(), "####", Slot::Id);
        let mut requests = Requests::new(vec![ids, b"fixed".to_vec().into()], 60);
        let sent: Vec<Vec<u8>> = (0..4).map(|_| requests.next().to_vec()).collect();
        assert_eq!(sent, [&b"fixed"[..], b"<000z> <0010>", b"fixed", b"<0011> <0012>"]);
    }

    #[test]
    fn a_random_number_stays_below_its_limit() {
        let mut requests = Requests::new(vec![Request::new(b"##".to_vec(), "##", Slot::Below(3))], 1);
        for _ in 0..100 {
            let sent = requests.next();
            assert!([b"00", b"01", b"02"].iter().any(|allowed| sent == allowed.as_slice()), "{sent:?}");
        }
    }
}
