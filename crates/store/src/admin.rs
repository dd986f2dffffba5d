//! Decisions of an organization: its settings, which agents are public, and which are erased.
//!
//! **Erasure** has two steps. [`Control::erase`](crate::Control::erase) hides the agent from every read at once: one transaction
//! deletes its row and the row of its identity, and adds a tombstone that names what is left to delete.
//! [`Upkeep::delete_some`](crate::Upkeep::delete_some) deletes that in small steps, so that no write waits long. Retention works in the
//! same steps. The owner of a store calls `delete_some` until nothing is left. A killed process loses nothing,
//! because the tombstone is in the store.
//!
//! **Slugs** are unique over all organizations, because the address of a public page has no organization in it.

use renown_core::ids::Slug;
use renown_core::limits::REPUTATION_EVENT_DAYS_MAX;
use renown_core::time::Timestamp;
use serde::Serialize;

/// The latency that counts for reputations: `gate`, the latency of the gates, or `agent`, the latency of the agent if it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LatencySource {
    /// The time that the gates took.
    #[default]
    Gate,
    /// The time that the agent took, if the caller sent it; else that of the gates.
    Agent,
}

impl LatencySource {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Agent => "agent",
        }
    }

    /// Finds a source by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Gate, Self::Agent].into_iter().find(|source| source.name() == name)
    }
}

/// The settings of an organization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrgSettings {
    /// The latency that counts, from the next evaluation on.
    pub latency_source: LatencySource,
}

/// A change of an agent's publication. Absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicationChange {
    /// Whether the agent is public.
    pub public: Option<bool>,
    /// Its slug.
    pub slug: Option<Slug>,
    /// A slug that is used if the agent becomes public and has none.
    pub spare: Option<Slug>,
}

/// Whether an agent is public, and under which slug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publication {
    /// Whether the agent is public.
    pub public: bool,
    /// Its slug, which no other agent of any organization has.
    pub slug: Option<Slug>,
}

/// The result of a change of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The publication after the change.
    Changed(Publication),
    /// The organization has no such agent.
    NoAgent,
    /// Another agent has the slug. Nothing was changed.
    SlugTaken,
}

/// What stays of an erased agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// SHA-256 of its id.
    pub digest: [u8; 32],
    /// When the erasure was requested.
    pub asked_at: Timestamp,
    /// Number of pieces of evidence that were deleted so far.
    pub erased: u64,
    /// When the last row of it was deleted; `None` while there are more.
    pub done_at: Option<Timestamp>,
}

/// For how many days each kind of evidence is kept; `None` means for ever. Retention changes no score: the
/// evaluations of a window, the runs of a baseline and the latest run of an agent are kept, whatever their age. A
/// ranking covers the runs that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Evaluations, except the newest 500 of every agent.
    pub evaluations_days: Option<u32>,
    /// Runs, except the latest 20 of every workspace that later runs are compared with, and the latest of every
    /// agent.
    pub runs_days: Option<u32>,
    /// Closed sessions, by the time when their last record arrived. The reputation events that they became are
    /// kept.
    pub sessions_days: Option<u32>,
    /// Reputation events.
    pub events_days: Option<u32>,
}

impl Retention {
    /// Keeps everything for ever.
    pub const KEEP_ALL: Self =
        Self { evaluations_days: None, runs_days: None, sessions_days: None, events_days: None };
}

impl Default for Retention {
    fn default() -> Self {
        Self { events_days: u32::try_from(REPUTATION_EVENT_DAYS_MAX).ok(), ..Self::KEEP_ALL }
    }
}
