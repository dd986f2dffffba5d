//! The server as its clients meet it: the real program on a port of its own.

mod http;
mod matching;
mod scenario;
mod server;
