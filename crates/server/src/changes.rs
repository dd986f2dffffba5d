//! Publishes changes of scores, and the shutdown of the server, to streams and open pages.
//!
//! A message only names the agent or session that has changed. The subscriber reads the score when it forwards the message. So a client
//! never sees an older score after a newer one, and many changes of one agent may become one message.

use renown_core::ids::{AgentId, OrgId, SessionId};
use tokio::sync::{broadcast, watch};

use crate::limits::STREAM_BEHIND_MAX;

/// A change in an organization.
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
    /// Telemetry, signals or a run arrived. There is no new score, but open pages are out of date.
    Evidence,
}

/// The changes of all organizations, and the shutdown of the server.
pub(crate) struct Changes {
    changes: broadcast::Sender<Change>,
    closed: watch::Sender<bool>,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self { changes: broadcast::Sender::new(STREAM_BEHIND_MAX), closed: watch::Sender::new(false) }
    }

    /// Publishes a change, if there are subscribers.
    pub(crate) fn publish(&self, org: &OrgId, what: impl FnOnce() -> Changed) {
        if self.changes.receiver_count() > 0 {
            let _ = self.changes.send(Change { org: org.clone(), what: what() });
        }
    }

    /// Subscribes to changes from now on, and to the shutdown.
    pub(crate) fn subscribe(&self) -> (broadcast::Receiver<Change>, watch::Receiver<bool>) {
        (self.changes.subscribe(), self.closed.subscribe())
    }

    /// Makes every subscriber check whether its key is still valid.
    pub(crate) fn recheck_keys(&self) {
        self.closed.send_modify(|_| {});
    }

    /// Ends every subscription, and wakes the callers of [`Self::closed`].
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Waits until [`Self::close`] is called.
    pub(crate) async fn closed(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }
}
