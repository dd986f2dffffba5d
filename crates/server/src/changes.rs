//! Publishes changes of scores, and the shutdown of the server, to streams and open pages.
//!
//! ```text
//! write, closed session ──►  wake  ──►  the job reads what changed, by position  ──►  subscribers of the organization
//! ```
//!
//! Changes are read from the store, in order and each once. A write only wakes the job that reads them, so no change is lost between its
//! commit and its news: what a wake-up misses is read with the next one, at the latest after a second.
//!
//! A message only names the agent or session that has changed. The subscriber reads the score when it forwards the message. So a client
//! never sees an older score after a newer one, and many changes of one agent may become one message.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_store::{ChangeCursor, ChangePage, ReadError, Store};
use tokio::sync::{Notify, broadcast, watch};

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

/// The organizations with subscribers.
type Followed = Mutex<HashMap<OrgId, Follow>>;

/// An organization with subscribers.
struct Follow {
    subscribers: usize,
    /// The moment up to which its changes are published.
    published: ChangeCursor,
}

/// The changes of all organizations, and the shutdown of the server.
pub(crate) struct Changes {
    messages: broadcast::Sender<Change>,
    closed: watch::Sender<bool>,
    followed: Arc<Followed>,
    wake: Arc<Notify>,
}

/// Receives the changes of all organizations, at least those of one.
pub(crate) struct Subscription {
    pub(crate) changes: broadcast::Receiver<Change>,
    pub(crate) closed: watch::Receiver<bool>,
    org: OrgId,
    followed: Arc<Followed>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut followed = lock(&self.followed);
        if let Entry::Occupied(mut follow) = followed.entry(self.org.clone()) {
            follow.get_mut().subscribers -= 1;
            if follow.get().subscribers == 0 {
                follow.remove();
            }
        }
    }
}

fn lock(followed: &Followed) -> MutexGuard<'_, HashMap<OrgId, Follow>> {
    followed.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self {
            messages: broadcast::Sender::new(STREAM_BEHIND_MAX),
            closed: watch::Sender::new(false),
            followed: Arc::default(),
            wake: Arc::default(),
        }
    }

    /// Makes the job read what has changed, if there are subscribers.
    pub(crate) fn wake(&self) {
        if self.messages.receiver_count() > 0 {
            self.wake.notify_one();
        }
    }

    /// Wakes the job that calls [`Self::publish_new`].
    pub(crate) fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }

    /// Tells open pages that evidence without a new score arrived.
    pub(crate) fn evidence(&self, org: &OrgId) {
        self.publish(org, Changed::Evidence);
    }

    fn publish(&self, org: &OrgId, what: Changed) {
        if self.messages.receiver_count() > 0 {
            let _ = self.messages.send(Change { org: org.clone(), what });
        }
    }

    /// Reads what has changed in the organizations with subscribers, at most `limit` changes of each, and publishes it. Returns whether
    /// there may be more.
    pub(crate) async fn publish_new(&self, store: &dyn Store, limit: usize) -> Result<bool, ReadError> {
        let followed: Vec<(OrgId, ChangeCursor)> =
            lock(&self.followed).iter().map(|(org, follow)| (org.clone(), follow.published)).collect();
        let mut has_more = false;
        for (org, published) in followed {
            let page = store.changes(&org, published, limit).await?;
            has_more |= page.has_more;
            self.publish_page(&org, published, page);
        }
        Ok(has_more)
    }

    /// Publishes a page, unless the organization got its first subscriber meanwhile, who knows what is on it.
    fn publish_page(&self, org: &OrgId, published: ChangeCursor, page: ChangePage) {
        let mut followed = lock(&self.followed);
        let Some(follow) = followed.get_mut(org).filter(|follow| follow.published == published) else {
            return;
        };
        follow.published = page.next;
        for agent in page.agents {
            self.publish(org, Changed::Agent(agent));
        }
        for session in page.sessions {
            self.publish(org, Changed::Session(session));
        }
    }

    /// Subscribes to the changes of an organization from now on, and to the shutdown.
    pub(crate) async fn subscribe(&self, org: &OrgId, store: &dyn Store) -> Result<Subscription, ReadError> {
        let (changes, closed) = (self.messages.subscribe(), self.closed.subscribe());
        if let Some(follow) = lock(&self.followed).get_mut(org) {
            follow.subscribers += 1;
            return Ok(self.subscription(org, changes, closed));
        }
        let published = store.last_change(org).await?;
        let mut followed = lock(&self.followed);
        followed.entry(org.clone()).or_insert(Follow { subscribers: 0, published }).subscribers += 1;
        drop(followed);
        Ok(self.subscription(org, changes, closed))
    }

    fn subscription(
        &self,
        org: &OrgId,
        changes: broadcast::Receiver<Change>,
        closed: watch::Receiver<bool>,
    ) -> Subscription {
        Subscription { changes, closed, org: org.clone(), followed: Arc::clone(&self.followed) }
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
