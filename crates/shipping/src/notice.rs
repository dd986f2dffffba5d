//! What somebody should know, once.

use std::fmt;

/// What somebody should know. The texts name no payload and no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Nothing can be delivered for now. What waits is kept.
    Waiting {
        /// Why, in a few words.
        why: String,
    },
    /// After a time without, things are delivered again.
    Delivering,
    /// The server refused an event for good.
    Rejected {
        /// What it said.
        why: String,
        /// Whether the event is in `rejected.jsonl`; else it is gone.
        kept: bool,
    },
    /// The spool cannot be written. Events wait in memory instead.
    SpoolBroken {
        /// What the system said.
        why: String,
    },
    /// The spool can be written again.
    SpoolMended,
    /// The spool is full: the oldest events were thrown away.
    SpoolFull {
        /// How many.
        events: u64,
    },
    /// Part of a spool was damaged and is left out.
    Damaged {
        /// How many lines.
        lines: u64,
    },
    /// There is no room in memory and no spool: the oldest events are thrown away from now on.
    Dropping,
    /// The end came, there is no spool, and the last attempt failed.
    Undelivered {
        /// How many are lost.
        events: u64,
    },
    /// Events that come after the end are thrown away.
    Ended,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { why } => write!(f, "verdicts wait for the server: {why}"),
            Self::Delivering => f.write_str("verdicts reach the server again"),
            Self::Rejected { why, kept: true } => {
                write!(f, "the server refused a verdict, it is kept in rejected.jsonl: {why}")
            }
            Self::Rejected { why, kept: false } => write!(f, "the server refused a verdict: {why}"),
            Self::SpoolBroken { why } => {
                write!(f, "the spool cannot be written, verdicts wait in memory: {why}")
            }
            Self::SpoolMended => f.write_str("the spool can be written again"),
            Self::SpoolFull { events } => {
                write!(f, "the spool is full, {events} of the oldest verdicts are lost")
            }
            Self::Damaged { lines } => write!(f, "{lines} lines of the spool are damaged and left out"),
            Self::Dropping => f.write_str("too many verdicts wait, the oldest are lost"),
            Self::Undelivered { events: 1 } => f.write_str("1 verdict was not delivered at the end"),
            Self::Undelivered { events } => write!(f, "{events} verdicts were not delivered at the end"),
            Self::Ended => f.write_str("verdicts that come after the end are lost"),
        }
    }
}
