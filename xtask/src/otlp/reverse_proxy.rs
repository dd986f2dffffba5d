//! `renown serve` behind a real nginx and a real Caddy, with the configurations that `docs/reverse-proxy.md` shows.
//!
//! Telemetry of a stranger is refused, telemetry with a key is accepted, and an event of the stream arrives when it
//! happens. A bare `proxy_pass`, which adds no header of a proxy, lets no stranger in either.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::receiver::Receiver;
use super::story::{self, START_S};
use crate::load::{fetch, get, post};
use crate::process::{Says, Server};
use crate::shell::{install, program, root, succeeds};

/// The address of the API in the documentation.
const API: &str = "127.0.0.1:7070";

/// Longer than an event may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn check(renown: &Path, scratch: &Path) -> Result<()> {
    let wanted = [("nginx", "-v"), ("caddy", "version")];
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|(name, version)| !succeeds(program(name).arg(version)))
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    let receiver = Receiver::first(renown, &scratch.join("behind-a-proxy"), "TERM")?;
    let docs = fs::read_to_string(root().join("docs/reverse-proxy.md"))?;
    let bare = format!("server {{ listen 80; location / {{ proxy_pass http://{API}; }} }}");
    for (number, server) in [fenced(&docs, "nginx")?, bare.as_str()].into_iter().enumerate() {
        let (address, folder) = (free()?, scratch.join(format!("nginx-{number}")));
        let _nginx = nginx(&folder, server, receiver.api, address)?;
        guards(&receiver, address, &format!("nginx-{number}")).context("nginx")?;
    }
    let address = free()?;
    let caddy = caddy(&scratch.join("caddy"), fenced(&docs, "caddyfile")?, receiver.api, address)?;
    guards(&receiver, address, "caddy").context("Caddy")?;
    drop(caddy);
    println!("behind nginx and Caddy: no telemetry without a key, events as they happen");
    Ok(())
}

/// Returns the code block of a language.
fn fenced<'d>(docs: &'d str, language: &str) -> Result<&'d str> {
    let block = docs.split(&format!("```{language}\n")).nth(1).and_then(|rest| rest.split("```").next());
    block.with_context(|| format!("docs/reverse-proxy.md has no block of {language}"))
}

/// Returns a free address.
fn free() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn nginx(folder: &Path, server: &str, api: SocketAddr, address: SocketAddr) -> Result<Server> {
    fs::create_dir_all(folder)?;
    let server = server.replace("listen 80", &format!("listen {address}")).replace(API, &api.to_string());
    let config = format!(
        "daemon off; user root; error_log stderr notice; pid nginx.pid; events {{}}\nhttp {{ access_log off; {server} }}\n"
    );
    fs::write(folder.join("nginx.conf"), config)?;
    let mut command = program("nginx");
    command.arg("-p").arg(folder).args(["-e", "stderr", "-c", "nginx.conf"]);
    Server::start_ready(&mut command, Says::Stderr("start worker process "), "TERM")
}

fn caddy(folder: &Path, site: &str, api: SocketAddr, address: SocketAddr) -> Result<Server> {
    fs::create_dir_all(folder)?;
    let site = site.replace("renown.example", &format!(":{}", address.port())).replace(API, &api.to_string());
    fs::write(folder.join("Caddyfile"), format!("{{\n\tadmin off\n}}\n{site}"))?;
    let mut command = program("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(folder.join("Caddyfile"));
    command.env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
    // An orderly stop would wait for streams that are still open.
    Server::start_ready(&mut command, Says::Stderr("serving initial configuration"), "KILL")
}

/// Checks what holds behind any proxy.
fn guards(receiver: &Receiver, proxy: SocketAddr, session: &str) -> Result<()> {
    let body = story::collected(&story::records(session, START_S)).to_string();
    let with_key = post("/otlp/v1/logs", &receiver.key, &body);
    let text = String::from_utf8(with_key.clone())?;
    let without = text.replace(&format!("Authorization: Bearer {}\r\n", receiver.key), "");
    ensure!(without != text, "the request has no key to leave out");
    fetch(proxy, without.as_bytes(), 401).context("telemetry without a key")?;
    fetch(receiver.api, &get(&format!("/v1/sessions/{session}"), &receiver.key), 404)
        .context("nothing of a stranger is kept")?;
    fetch(proxy, &with_key, 200).context("telemetry with a key")?;

    let mut stream = TcpStream::connect(proxy)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&get("/v1/stream", &receiver.key))?;
    let (mut sent, mut part) = (Vec::new(), [0; 4096]);
    let mut until = |wanted: &str| -> Result<()> {
        while !String::from_utf8_lossy(&sent).contains(wanted) {
            let count = stream.read(&mut part).with_context(|| format!("no {wanted:?}"))?;
            ensure!(count > 0, "the stream ended before {wanted:?}");
            sent.extend_from_slice(part.get(..count).unwrap_or_default());
        }
        Ok(())
    };
    // The server subscribes to changes before it sends the head.
    until("text/event-stream")?;
    let evaluation = format!(r#"{{"agent_id":"{session}","output":"done"}}"#);
    fetch(receiver.api, &post("/v1/evaluate", &receiver.key, &evaluation), 200)?;
    until(&format!(r#""agent_id":"{session}""#)).context("the stream")
}
