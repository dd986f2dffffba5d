//! A proxy between an MCP client and an MCP server. It gates every message of the server.
//!
//! ```text
//! client ──► framing ──► ProxySession::from_client ──► server        pins, arguments (--pre), pending requests
//! client ◄── framing ◄── ProxySession::from_server ◄── server        results, errors, notifications, requests, lists
//! ```
//!
//! The session is sans-io: a message in, [`Effects`] out. The caller has the pipes or sockets, and carries out the effects in this order:
//! first it writes the records, then it releases the bytes. Time and random numbers come from a [`Host`].
//!
//! | rule | where |
//! |---|---|
//! | a message that needs no change passes byte for byte | `session.rs` |
//! | the server must send exactly one well-formed JSON-RPC message or batch per line, body or event | `strict.rs` |
//! | no key in a message may be read as another key by some client | `keys.rs` |
//! | ids are compared loosely: 1, 1.0 and "1" are equal | `message/ids.rs` |
//! | which parts of a message the gates see, and when a result is empty | `gated_view.rs`, `blobs.rs` |
//! | a blocked request gets the error -32000 with its own id | `reply.rs` |
//! | a changed definition is removed from its list, and calls to it get an error | `pins.rs`, `session/lists.rs` |
//! | a message above 64 MiB is dropped and gets an error | `framing.rs` |
//! | an event has one line of data, and no line that a client could read as another | `sse/parts.rs` |
//! | a redirect leads to the proxy, or becomes an error | `http/redirect.rs` |
//!
//! What is deliberately absent: any knowledge of what a tool does. Messages of an unknown protocol revision are judged like all others, and
//! pass if the gates find nothing.

mod blobs;
mod framing;
mod gated_view;
mod http;
mod keys;
mod log;
mod message;
mod pending;
mod pins;
mod record;
mod reply;
mod session;
mod sse;
#[cfg(unix)]
mod stdio;
mod storage;
mod strict;

pub use framing::{Frame, Frames, MESSAGE_BYTES_MAX, Oversized};
pub use http::{HttpProxy, UpstreamError};
pub use pins::{PinChange, PinKind, PinMode, Pins};
pub use record::{Action, CallRecord};
pub use session::{Build, Effects, Engines, Forward, Host, Policy, ProxySession};
#[cfg(unix)]
pub use stdio::{Conversation, ProcessEvent};
pub use storage::{Print, Storage, load_pins, save_pins};
