//! Clients and stores that misbehave, against a server in this process.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

mod evidence;
mod gated;
mod heads;
mod judging;
mod otlp;
mod overload;
mod reference;
mod running;
mod slow;
mod strict;
mod visits;
