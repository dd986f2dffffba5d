//! Stands between an MCP client and an MCP server, and gates what tools give back.
//!
//! ```text
//! client ──► framing ──► Session::from_client ──► server        pins, arguments (--pre), pending calls
//! client ◄── framing ◄── Session::from_server ◄── server        results of calls, lists of tools
//! ```
//!
//! The session is sans-io: a message in, [`Effects`] out. Whoever has the pipes or sockets carries the effects out, in this
//! order: records are written, then bytes are released. Time and chance come from a [`Host`].
//!
//! | rule | where |
//! |---|---|
//! | what needs no change passes byte for byte; lines that are no JSON pass and are counted | `session.rs` |
//! | ids are compared loosely (1, 1.0 and "1" alike), every occurrence of a repeated key counts | `message.rs` |
//! | what the gates see of a result, and when it is empty | `seen.rs` |
//! | a blocked call is answered with error -32000 and the call's own id | `reply.rs` |
//! | a tool whose definition changed is cut from the list, and calls to it are answered | `pins.rs` |
//! | a message above 64 MiB is drained and answered | `framing.rs` |
//!
//! What is deliberately absent: any knowledge of what a tool does, and of methods beyond those named here. Requests, notifications
//! and errors of a protocol revision that nobody here has heard of pass as they are.

mod framing;
mod http;
mod keep;
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

pub use framing::{Frame, Frames, MESSAGE_BYTES_MAX, Oversized};
pub use http::{HttpProxy, UpstreamError};
pub use keep::{Keep, Tell, load_pins, save_pins};
pub use pins::{Change, PinMode, Pins};
pub use record::{Action, Record};
pub use session::{Build, Counts, Effects, Engines, Forward, Host, Policy, Session};
#[cfg(unix)]
pub use stdio::{Conversation, Happening};
