//! Messages for the operator. Each is reported once.

use std::fmt;

/// A message for the operator. Its text contains no payload and no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Delivery fails for now. The verdicts are kept and retried.
    Waiting {
        /// Reason, in a few words.
        why: String,
    },
    /// Delivery works again.
    Delivering,
    /// The server rejected a verdict. It is not retried.
    Rejected {
        /// Error text of the server.
        why: String,
        /// Whether the verdict was saved to `rejected.jsonl`. If not, it is lost.
        is_saved: bool,
    },
    /// The spool cannot be written. Verdicts wait in memory instead.
    SpoolBroken {
        /// Error text of the operating system.
        why: String,
    },
    /// The spool can be written again.
    SpoolMended,
    /// The spool is full. The oldest verdicts were dropped.
    SpoolFull {
        /// Number of dropped verdicts.
        verdicts: u64,
    },
    /// Damaged lines of a spool were skipped.
    Damaged {
        /// Number of skipped lines.
        lines: u64,
    },
    /// The buffer is full and there is no spool that can be written. From now on the oldest verdicts are dropped.
    Dropping,
    /// The last attempt at shutdown failed, and there is no spool.
    Undelivered {
        /// Number of lost verdicts.
        verdicts: u64,
    },
    /// Verdicts were tracked after shutdown. They are dropped.
    Ended,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { why } => write!(f, "verdicts wait for the server: {why}"),
            Self::Delivering => f.write_str("verdicts reach the server again"),
            Self::Rejected { why, is_saved: true } => {
                write!(f, "the server rejected a verdict, saved to rejected.jsonl: {why}")
            }
            Self::Rejected { why, is_saved: false } => write!(f, "the server rejected a verdict: {why}"),
            Self::SpoolBroken { why } => {
                write!(f, "the spool cannot be written, verdicts wait in memory: {why}")
            }
            Self::SpoolMended => f.write_str("the spool can be written again"),
            Self::SpoolFull { verdicts } => {
                write!(f, "the spool is full, dropped the {verdicts} oldest verdicts")
            }
            Self::Damaged { lines } => write!(f, "skipped {lines} damaged lines of the spool"),
            Self::Dropping => f.write_str("the buffer is full, dropping the oldest verdicts"),
            Self::Undelivered { verdicts: 1 } => f.write_str("1 verdict was not delivered before shutdown"),
            Self::Undelivered { verdicts } => {
                write!(f, "{verdicts} verdicts were not delivered before shutdown")
            }
            Self::Ended => f.write_str("dropping verdicts that were recorded after shutdown"),
        }
    }
}
