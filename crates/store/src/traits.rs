//! What a store promises, by concern. A rule of the domain is in no engine: an engine only keeps what it is given, and
//! finds it again.
//!
//! | trait | is for | promises |
//! |---|---|---|
//! | [`Evidence`] | evidence that arrives | accepted once, durable before the reply |
//! | [`Reads`] | every question | sees every write that was answered before |
//! | [`Control`] | decisions: keys, settings, publications, erasures | the same as for evidence, and unique names |
//! | [`Upkeep`] | work that no caller waits for | one small step at a time, continued after a restart |
//! | [`Scan`] | all evidence of a kind | each piece once, in order |
//!
//! **Every write** keeps these promises:
//!
//! - **Durable.** When a write returns `Ok`, it is durable, and every read that begins afterwards sees it.
//! - **Atomic.** A write that returns an error has changed nothing, except [`WriteError::Unknown`]: then it is not known
//!   whether it was accepted. The caller sends it again with the same request key or the same ids. The same is true if the
//!   process ends before the reply.
//! - **Finished.** Calling a method of a write begins the write. Dropping its future neither cancels nor undoes it.
//! - **Ordered.** Evidence is kept in the order in which it was accepted ([`Position`](crate::Position)). Times of
//!   acceptance do not go backwards, with the one exception that the `clock` module describes.
//! - **Idempotent.** A write with a request key ([`RequestKey`](crate::RequestKey)) that was used before changes nothing and
//!   returns what was accepted then. The store looks the key up in the transaction of the write, so this also holds for
//!   requests that arrive at the same time.
//! - **Isolated.** No call with the name of one organization reads or changes data of another one. A method that takes `org`
//!   fails with `NoOrganization` if the organization does not exist.
//! - **Bounded.** Memory has a limit. Past it, reads and writes fail with `Overloaded`.
//!
//! **Several servers over one engine.** Promises are of two kinds. Those *per server* hold for what one server has accepted
//! or answered; the others are *global*. All of them are global if only one server writes, as with SQLite.
//!
//! | promise | with several servers |
//! |---|---|
//! | durable, atomic, finished, isolated, bounded | global |
//! | visible to every read that begins after the reply | per server; on the others within two seconds |
//! | order of positions | global, and the same for all servers |
//! | times of acceptance do not go backwards | per server |
//! | an `evaluation_id`, a `run_id`, an event id or a record counts once | global; two copies that two servers accept in the same instant are made one by reads, the one with the lower position counts |
//! | a request key is accepted once | global, within the same limits |
//! | the sums that a write returns | as the accepting server knew them |
//! | the baseline of a run | as the accepting server knew it; it is kept with the run |
//! | slugs and organizations are unique | global |
//! | a key that is revoked stops working | at once on this server, within two seconds on the others |
//! | an erased agent is hidden | at once on this server, within two seconds on the others |
//! | a session is closed by one server | global |

mod control;
mod evidence;
mod reads;
mod scan;
mod upkeep;

use std::future::Future;
use std::pin::Pin;

use crate::error::{ReadError, WriteError};

pub use control::Control;
pub use evidence::Evidence;
pub use reads::Reads;
pub use scan::{EvidenceKind, Piece, SCAN_MAX, Scan, scan_all};
pub use upkeep::{Progress, Upkeep};

/// The future result of a read.
pub type ReadReply<'a, T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send + 'a>>;

/// The future result of a write.
pub type WriteReply<'a, T> = Pin<Box<dyn Future<Output = Result<T, WriteError>> + Send + 'a>>;

/// A store that can be read and written.
pub trait Store: Evidence + ReadOnlyStore + Control + Upkeep {}

impl<S: Evidence + ReadOnlyStore + Control + Upkeep> Store for S {}

/// A store that can only be read.
pub trait ReadOnlyStore: Reads + Scan {}

impl<S: Reads + Scan> ReadOnlyStore for S {}
