//! Who listens to new scores, and to the end of the server.
//!
//! A message only names an agent or a session that has changed. Whoever sends it on reads the score at that moment, so a listener
//! never sees an older score after a newer one, and many changes of one agent may become one message.

use renown_core::ids::{AgentId, OrgId, SessionId};
use tokio::sync::{broadcast, watch};

/// How many changes a slow listener may be behind before it misses some.
const BEHIND_MAX: usize = 1024;

/// Something whose score has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) org: OrgId,
    pub(crate) what: Changed,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// An agent was evaluated.
    Agent(AgentId),
    /// A session is over.
    Session(SessionId),
    /// Telemetry, signals or a run arrived: no score to tell, but pages that show it are old.
    Evidence,
}

/// The changes of all organizations, and the end of the server.
pub(crate) struct Feed {
    changes: broadcast::Sender<Change>,
    closed: watch::Sender<bool>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self { changes: broadcast::Sender::new(BEHIND_MAX), closed: watch::Sender::new(false) }
    }

    /// Tells of a change, if anybody listens.
    pub(crate) fn tell(&self, org: &OrgId, what: impl FnOnce() -> Changed) {
        if self.changes.receiver_count() > 0 {
            let _ = self.changes.send(Change { org: org.clone(), what: what() });
        }
    }

    /// Listens from now on.
    pub(crate) fn listen(&self) -> (broadcast::Receiver<Change>, watch::Receiver<bool>) {
        (self.changes.subscribe(), self.closed.subscribe())
    }

    /// Makes every listener look whether it may still listen.
    pub(crate) fn look_again(&self) {
        self.closed.send_modify(|_| {});
    }

    /// Ends every listener, and whatever waits for the end.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Waits for the end.
    pub(crate) async fn end(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }
}
