//! What a write means: which rows appear, are replaced or deleted, and what its caller receives.
//!
//! ```text
//! input + state ──►  fold (pure)  ──►  changes ──►  sqlite/   in one transaction
//!                                              └─►  memory/   in lists
//! ```
//!
//! A rule of storage is written here, once. An engine loads the state that a fold asks for, and carries out the
//! changes that it returns. Nothing here reads a clock, a file or random bytes: the time of acceptance, positions
//! and salts are arguments. An engine is free in how it finds state (an index, a cache, a list), and in when it
//! writes what can be rebuilt. It does not decide.
//!
//! | fold | decides |
//! |---|---|
//! | [`evaluations`] | whether an evaluation counts, which latency counts, the next sums of its agent |
//! | [`agents`] | when an agent is added, and when it was seen |
//! | [`runs`] | whether a run is new, and which runs it is compared with |
//! | [`identities`] | whether a reputation event counts, and which sums it changes |
//! | [`sessions`] | what records and signals change, when a session is over, and which event it becomes |
//! | [`erasure`] | what stays of an erased agent, and when its erasure is done |
//! | [`retention`] | what is too old, and what is kept all the same |
//! | [`keys`], [`publications`] | changes of API keys and publications |
//! | [`request_keys`] | whether a write is a retry |

pub(crate) mod agents;
pub(crate) mod erasure;
pub(crate) mod evaluations;
pub(crate) mod identities;
pub(crate) mod keys;
pub(crate) mod publications;
pub(crate) mod request_keys;
pub(crate) mod retention;
pub(crate) mod runs;
pub(crate) mod sessions;
