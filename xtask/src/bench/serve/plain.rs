//! A peer of our own: axum as an ordinary program uses it. It answers every read with the same text. It runs in its own
//! process, as the other peers do.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

/// Printed when the server accepts requests.
pub(super) const READY: &str = "listening";

/// Serves a text of this length until the process is killed.
pub(crate) fn serve(port: &str, body_bytes: &str) -> Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    let body = Bytes::from("x".repeat(body_bytes.parse()?));
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let router = Router::new().route("/v1/reputation/{agent_id}", get(constant)).with_state(body);
        let listener = TcpListener::bind(address).await?;
        println!("{READY}");
        Ok(axum::serve(listener, router).await?)
    })
}

async fn constant(Path(_agent): Path<String>, State(body): State<Bytes>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], body)
}
