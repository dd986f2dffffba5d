//! Tests of the API: the real program on its own port.

mod bad_clients;
mod curl;
mod http;
mod logs;
mod matching;
mod scenario;
mod server;
mod shutdown;
mod stream;
