//! Delivers a batch. If the server rejects it, it is split in half until the rejected verdict is alone.

use std::time::Duration;

use crate::transport::{ServerReply, Transport};
use crate::verdict::{EncodedVerdict, body};

/// The result of delivering a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Number of verdicts at the beginning of the batch that are settled: accepted or rejected.
    pub(crate) settled: usize,
    /// Settled verdicts that the server rejected, with its error text.
    pub(crate) rejected: Vec<(EncodedVerdict, String)>,
    /// Why the rest has to be retried, and the wait that the server asks for.
    pub(crate) later: Option<(String, Option<Duration>)>,
}

/// Delivers as much of a batch as possible, in order. A rejected verdict costs `2 · log2(batch)` requests.
pub(crate) fn deliver(transport: &dyn Transport, verdicts: &[EncodedVerdict]) -> Delivered {
    let mut delivered = Delivered::default();
    // Parts that are not sent yet. The next one is last.
    let mut parts = vec![verdicts];
    while let Some(part) = parts.pop() {
        if part.is_empty() {
            continue;
        }
        match (transport.post(&body(part), part.len()), part) {
            (ServerReply::Accepted, part) => delivered.settled += part.len(),
            (ServerReply::Rejected { why }, [verdict]) => {
                delivered.rejected.push((verdict.clone(), why));
                delivered.settled += 1;
            }
            (ServerReply::Rejected { .. }, part) => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            (ServerReply::Later { why, after }, _) => {
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

    /// A server that rejects batches with a bad verdict, and is busy after `requests_max` requests.
    struct Server {
        requests: RefCell<Vec<String>>,
        requests_max: usize,
    }

    // Only one thread uses the server, but `Transport` must be `Send`.
    struct Shared(std::sync::Mutex<Server>);

    impl Transport for Shared {
        fn post(&self, body: &str, _verdicts: usize) -> ServerReply {
            let server = self.0.lock().unwrap();
            server.requests.borrow_mut().push(body.to_owned());
            let count = server.requests.borrow().len();
            match () {
                () if count > server.requests_max => {
                    ServerReply::Later { why: "busy".to_owned(), after: None }
                }
                () if body.contains("bad") => ServerReply::Rejected { why: "bad".to_owned() },
                () => ServerReply::Accepted,
            }
        }
    }

    fn delivered(verdicts: &[&str], requests_max: usize) -> (Delivered, usize) {
        let server = Server { requests: RefCell::default(), requests_max };
        let server = Shared(std::sync::Mutex::new(server));
        let verdicts: Vec<EncodedVerdict> =
            verdicts.iter().map(|text| EncodedVerdict::from_spool(text)).collect();
        let delivered = deliver(&server, &verdicts);
        let requests = server.0.lock().unwrap().requests.borrow().len();
        (delivered, requests)
    }

    #[test]
    fn a_rejected_verdict_is_isolated_and_the_others_arrive() {
        let (delivered, requests) = delivered(&["1", "2", "3", "bad", "5"], 99);
        assert_eq!(delivered.settled, 5);
        assert_eq!(delivered.rejected, [(EncodedVerdict::from_spool("bad"), "bad".to_owned())]);
        assert_eq!((delivered.later, requests), (None, 7));
    }

    #[test]
    fn a_failed_request_leaves_the_rest_unsettled() {
        let (delivered, _) = delivered(&["bad", "2", "3", "4"], 4);
        assert_eq!((delivered.settled, delivered.rejected.len()), (2, 1));
        assert_eq!(delivered.later, Some(("busy".to_owned(), None)));
        let (delivered, _) = self::delivered(&["1", "2"], 0);
        assert_eq!((delivered.settled, delivered.rejected.len()), (0, 0));
    }

    #[test]
    fn every_verdict_can_be_rejected() {
        let (delivered, requests) = delivered(&["bad"; 100], 999);
        assert_eq!((delivered.settled, delivered.rejected.len(), requests), (100, 100, 199));
    }
}
