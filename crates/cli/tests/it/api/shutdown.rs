//! SIGTERM: is accepted work answered, is the exit clean, and are acknowledged writes there after a restart?

use std::sync::Arc;
use std::thread;

use super::http::{Connection, Request};
use super::server::Server;

#[test]
fn acknowledged_writes_survive_a_restart() {
    let server = Server::start();
    let (publishable, data) = (server.publishable.clone(), Arc::clone(&server.data));
    let (address, key) = (server.address, publishable.as_str());
    // Eight clients, each on its own connection, write until the server closes the connections.
    let acknowledged: u64 = thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let begun = begun.clone();
                scope.spawn(move || {
                    let body = r#"{"agent_id":"steady","output":"done"}"#;
                    let request = Request::post("/v1/evaluate", body).key(key).bytes(false);
                    let mut connection = Connection::open(address);
                    let mut acknowledged = 0;
                    while connection.write(&request).is_ok() {
                        // An accepted request is answered; other requests get no reply.
                        let Ok(reply) = connection.reply("POST") else { break };
                        assert_eq!(reply.status, 200, "{}", reply.text());
                        acknowledged += 1;
                        let _ = begun.send(());
                    }
                    acknowledged
                })
            })
            .collect();
        (0..100).for_each(|_| has_begun.recv().unwrap());
        server.terminate();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let (status, log) = server.wait();
    assert!(status.success(), "{status}: {log}");
    assert!(!log.contains("\"ERROR\"") && !log.contains("\"WARN\""), "{log}");
    let mut server = Server::start_with(data, &[]);
    server.publishable = publishable;
    let mut found = 0;
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/events?limit=100{cursor}");
        let page = server.send(&Request::get(&path).key(&server.publishable)).json();
        found += page["count"].as_u64().unwrap();
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    // The last request of each client may have been counted although its reply did not arrive.
    assert!((acknowledged..=acknowledged + 8).contains(&found), "{acknowledged} acknowledged, {found} found");
}

#[test]
fn accepted_work_is_finished() {
    let server = Server::start();
    let body = r#"{"agent_id":"late","output":"done"}"#;
    let request =
        Request::post("/v1/evaluate", body).key(&server.publishable).header("Expect", "100-continue");
    let bytes = request.bytes(false);
    let (head, body) = bytes.split_at(bytes.len() - body.len());
    let mut connection = Connection::open(server.address);
    connection.write(head).unwrap();
    // The server replied "continue": the request is in progress.
    assert_eq!(connection.head().unwrap().status, 100);
    let mut idle = Connection::open(server.address);
    server.terminate();
    // An idle connection is closed, or reset if it was not accepted yet: the shutdown has begun.
    assert_eq!(idle.rest().unwrap_or_default(), b"");
    connection.write(body).unwrap();
    assert_eq!(connection.reply("POST").unwrap().status, 200);
    assert_eq!(connection.rest().unwrap(), b"");
    let (status, log) = server.wait();
    assert!(status.success() && !log.contains("\"WARN\""), "{status}: {log}");
}
