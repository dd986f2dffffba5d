//! Clients and stores that misbehave, with a server in this process.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

mod blocking_store;
mod changes;
mod evidence;
mod heads;
mod idempotency;
mod judging;
mod otlp;
mod overload;
mod reference;
mod running;
mod slow;
mod strict;
mod visits;
