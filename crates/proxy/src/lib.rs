//! Stands between an MCP client and an MCP server, and gates what the server says.
//!
//! ```text
//! client ──► framing ──► Session::from_client ──► server        pins, arguments (--pre), pending requests
//! client ◄── framing ◄── Session::from_server ◄── server        results, errors, notifications, requests, lists
//! ```
//!
//! The session is sans-io: a message in, [`Effects`] out. Whoever has the pipes or sockets carries the effects out, in this
//! order: records are written, then bytes are released. Time and chance come from a [`Host`].
//!
//! | rule | where |
//! |---|---|
//! | what needs no change passes byte for byte | `session.rs` |
//! | from the server only exactly one well-formed JSON-RPC message or batch passes for each line, body or event | `strict.rs` |
//! | no key of it is one that some reader takes for another | `keys.rs` |
//! | ids are compared loosely (1, 1.0 and "1" alike) | `message/ids.rs` |
//! | what the gates see of a message, and when a result is empty | `seen.rs`, `blobs.rs` |
//! | a blocked request is answered with error -32000 and its own id | `reply.rs` |
//! | a definition that changed is cut from its list, and calls to it are answered | `pins.rs`, `session/lists.rs` |
//! | a message above 64 MiB is drained and answered | `framing.rs` |
//! | an event has one line of data and no line that a reader could take for another | `sse/parts.rs` |
//! | a redirect leads to the proxy or nowhere | `http/redirect.rs` |
//!
//! What is deliberately absent: any knowledge of what a tool does. Messages of a protocol revision that is not known here are judged
//! like all others, and pass if the gates find nothing.

mod blobs;
mod framing;
mod http;
mod keep;
mod keys;
mod log;
mod message;
mod pending;
mod pins;
mod record;
mod reply;
mod seen;
mod session;
mod sse;
#[cfg(unix)]
mod stdio;
mod strict;

pub use framing::{Frame, Frames, MESSAGE_BYTES_MAX, Oversized};
pub use http::{HttpProxy, UpstreamError};
pub use keep::{Keep, Tell, load_pins, save_pins};
pub use pins::{Change, Kind, PinMode, Pins};
pub use record::{Action, Record};
pub use session::{Build, Effects, Engines, Forward, Host, Policy, Session};
#[cfg(unix)]
pub use stdio::{Conversation, Happening};
