//! Delivering a batch: halved where the server refuses it, until what it refuses stands alone.

use std::time::Duration;

use crate::event::{Event, body};
use crate::transport::{Reply, Transport};

/// What became of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// So many from its beginning are settled: accepted or rejected.
    pub(crate) settled: usize,
    /// Those of them that the server refused for good, and why.
    pub(crate) rejected: Vec<(Event, String)>,
    /// Why the rest has to wait, and how long the server asks for.
    pub(crate) later: Option<(String, Option<Duration>)>,
}

/// Delivers as much of a batch as possible, in order. An event that is refused costs `2 · log2(batch)` requests.
pub(crate) fn deliver(transport: &dyn Transport, events: &[Event]) -> Delivered {
    let mut delivered = Delivered::default();
    // Parts that are still to be sent, the next one last.
    let mut parts = vec![events];
    while let Some(part) = parts.pop() {
        if part.is_empty() {
            continue;
        }
        match (transport.post(&body(part), part.len()), part) {
            (Reply::Accepted, part) => delivered.settled += part.len(),
            (Reply::Refused { why }, [event]) => {
                delivered.rejected.push((event.clone(), why));
                delivered.settled += 1;
            }
            (Reply::Refused { .. }, part) => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            (Reply::Later { why, after }, _) => {
                delivered.later = Some((why, after));
                break;
            }
        }
    }
    delivered
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Refuses batches with a bad event, and has no time after so many requests.
    struct Server {
        requests: RefCell<Vec<String>>,
        requests_max: usize,
    }

    // One thread uses it, the bound is for those that do not.
    struct Shared(std::sync::Mutex<Server>);

    impl Transport for Shared {
        fn post(&self, body: &str, _events: usize) -> Reply {
            let server = self.0.lock().unwrap();
            server.requests.borrow_mut().push(body.to_owned());
            let count = server.requests.borrow().len();
            match () {
                () if count > server.requests_max => Reply::Later { why: "busy".to_owned(), after: None },
                () if body.contains("bad") => Reply::Refused { why: "bad".to_owned() },
                () => Reply::Accepted,
            }
        }
    }

    fn delivered(events: &[&str], requests_max: usize) -> (Delivered, usize) {
        let server = Server { requests: RefCell::default(), requests_max };
        let server = Shared(std::sync::Mutex::new(server));
        let events: Vec<Event> = events.iter().map(|text| Event::from_spool(text)).collect();
        let delivered = deliver(&server, &events);
        let requests = server.0.lock().unwrap().requests.borrow().len();
        (delivered, requests)
    }

    #[test]
    fn the_bad_event_is_found_and_the_others_arrive() {
        let (delivered, requests) = delivered(&["1", "2", "3", "bad", "5"], 99);
        assert_eq!(delivered.settled, 5);
        assert_eq!(delivered.rejected, [(Event::from_spool("bad"), "bad".to_owned())]);
        assert_eq!((delivered.later, requests), (None, 7));
    }

    #[test]
    fn what_could_not_be_sent_begins_after_what_is_settled() {
        let (delivered, _) = delivered(&["bad", "2", "3", "4"], 4);
        assert_eq!((delivered.settled, delivered.rejected.len()), (2, 1));
        assert_eq!(delivered.later, Some(("busy".to_owned(), None)));
        let (delivered, _) = self::delivered(&["1", "2"], 0);
        assert_eq!((delivered.settled, delivered.rejected.len()), (0, 0));
    }

    #[test]
    fn everything_may_be_bad() {
        let (delivered, requests) = delivered(&["bad"; 100], 999);
        assert_eq!((delivered.settled, delivered.rejected.len(), requests), (100, 100, 199));
    }
}
