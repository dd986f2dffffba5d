//! The server as its clients meet it: the real program on a port of its own.

mod bad_clients;
mod curl;
mod http;
mod logs;
mod matching;
mod scenario;
mod server;
mod shutdown;
mod stream;
