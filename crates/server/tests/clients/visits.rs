//! Access to the pages: logins, cookies, forms, revoked keys and public agents.

#![expect(clippy::indexing_slicing, reason = "an absent member of a JSON value is null")]

use renown_server::keys::KeyText;
use renown_store::KeyKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::running::{LONG, Running, Setup, start_with};

/// Pages that need a login.
const PAGES: [&str; 4] = ["/", "/agents/bot", "/keys", "/settings"];

/// A browser that keeps one cookie.
struct Browser<'s> {
    server: &'s Running,
    cookie: String,
}

/// The reply to a request of a page.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(line).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    /// Returns the CSRF token of the forms.
    fn csrf(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

impl<'s> Browser<'s> {
    fn new(server: &'s Running) -> Self {
        Self { server, cookie: String::new() }
    }

    async fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let cookie =
            if self.cookie.is_empty() { String::new() } else { format!("Cookie: {}\r\n", self.cookie) };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{cookie}{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(self.server.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let answer = Answer { status, head: head.to_owned(), body: body.to_owned() };
        if let Some(cookie) = answer.header("set-cookie") {
            cookie.split(';').next().unwrap().clone_into(&mut self.cookie);
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, "", "").await
    }

    async fn post(&mut self, path: &str, form: &str) -> Answer {
        self.send("POST", path, "Content-Type: application/x-www-form-urlencoded\r\n", form).await
    }

    async fn log_in(&mut self, key: &str) {
        let answer = self.post("/login", &format!("key={key}&next=%2F")).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{}", answer.body);
    }
}

async fn server() -> Running {
    let server = start_with(Setup::default()).await;
    let event = r#"{"events":[{"agent_id":"bot","passed":true,"total_latency_ms":1}]}"#;
    assert_eq!(server.ask("POST", "/v1/ingest", "", event).await.0, 202);
    server
}

/// Creates a key, and its organization if it is new. It is created through the API, so that the server knows it.
async fn key(server: &Running, kind: KeyKind, org: &str) -> (String, String) {
    let body = format!(r#"{{"kind":"{}","org":"{org}"}}"#, kind.name());
    let (status, made) = server.ask("POST", "/v1/keys", "", &body).await;
    assert_eq!(status, 201);
    (made["key"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn without_a_login_no_page_and_no_stream_is_shown() {
    let server = server().await;
    let mut browser = Browser::new(&server);
    for page in PAGES {
        let answer = browser.get(page).await;
        assert_eq!((answer.status, answer.body.as_str()), (303, ""), "{page}");
        assert!(answer.header("location").unwrap().starts_with("/login?next=%2F"), "{page}");
    }
    assert_eq!(browser.get("/live").await.status, 401);
    browser.cookie = format!("renown={}", "0".repeat(64));
    assert_eq!(browser.get("/").await.status, 303, "a cookie that the server never set");
    for (path, form) in [
        ("/keys", "kind=secret"),
        ("/settings", "latency_source=agent"),
        ("/agents/bot/public", "public=yes"),
    ] {
        assert_eq!(browser.post(path, form).await.status, 303, "{path}");
    }
    assert_eq!(browser.get("/login").await.status, 200);
}

#[tokio::test]
async fn a_key_logs_in_until_it_is_revoked() {
    let server = server().await;
    let (secret, id) = key(&server, KeyKind::Secret, "default").await;
    let mut browser = Browser::new(&server);
    let wrong = browser.post("/login", "key=rn_sec_00000000000000000000000000000000").await;
    assert!(wrong.status == 403 && wrong.body.contains("There is no such key"), "{}", wrong.body);
    assert!(browser.cookie.is_empty());
    browser.log_in(&secret).await;
    let cookie = browser.cookie.clone();
    let answer = browser.post("/login", &format!("key={secret}")).await;
    let set = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "without TLS, a browser would drop a Secure cookie");
    browser.cookie = cookie;
    let page = browser.get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<bdi>bot</bdi>"), "{}", page.body);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("cache-control"), Some("no-store"));

    let (status, _) = server.ask("DELETE", &format!("/v1/keys/{id}"), "", "").await;
    assert_eq!(status, 204);
    for page in PAGES {
        assert_eq!(browser.get(page).await.status, 303, "{page}: the key was revoked");
    }
}

#[tokio::test]
async fn a_stream_of_a_page_ends_with_its_key() {
    let server = server().await;
    let (secret, id) = key(&server, KeyKind::Secret, "default").await;
    let mut browser = Browser::new(&server);
    browser.log_in(&secret).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: x\r\nCookie: {}\r\n\r\n", browser.cookie);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    let event = r#"{"events":[{"agent_id":"bot","passed":true,"total_latency_ms":1}]}"#;
    while !seen.contains("event: score") {
        if seen.contains("\r\n\r\n") && !seen.contains("data:") {
            // The stream is open, so it receives all changes from now on.
            assert_eq!(server.ask("POST", "/v1/ingest", "", event).await.0, 202);
        }
        let read = timeout(LONG, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read > 0, "{seen}");
        seen.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    assert!(seen.to_ascii_lowercase().contains("x-accel-buffering: no"), "{seen}");
    assert_eq!(server.ask("DELETE", &format!("/v1/keys/{id}"), "", "").await.0, 204);
    let rest = timeout(LONG, stream.read_to_end(&mut Vec::new()))
        .await
        .expect("the stream did not end after its key was revoked");
    rest.unwrap();
}

#[tokio::test]
async fn a_publishable_key_may_read_but_not_administer() {
    let server = server().await;
    let (publishable, _) = key(&server, KeyKind::Publishable, "default").await;
    let mut browser = Browser::new(&server);
    browser.log_in(&publishable).await;
    let page = browser.get("/").await;
    assert!(page.status == 200 && !page.body.contains("href=\"/keys\""));
    let csrf = page.csrf();
    for path in ["/keys", "/settings"] {
        assert_eq!(browser.get(path).await.status, 403, "{path}");
    }
    for (path, form) in [
        ("/keys", "kind=secret"),
        ("/settings", "latency_source=agent"),
        ("/agents/bot/public", "public=yes"),
    ] {
        let answer = browser.post(path, &format!("csrf={csrf}&{form}")).await;
        assert_eq!(answer.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_form_needs_its_token_and_the_same_origin() {
    let server = server().await;
    let mut browser = Browser::new(&server);
    browser.log_in(&server.secret).await;
    let csrf = browser.get("/settings").await.csrf();
    for form in ["latency_source=agent", "csrf=&latency_source=agent", "csrf=x&latency_source=agent"] {
        assert_eq!(browser.post("/settings", form).await.status, 403, "{form}");
    }
    let form = format!("csrf={csrf}&latency_source=agent");
    let from = |site: &str| format!("Content-Type: application/x-www-form-urlencoded\r\n{site}\r\n");
    for site in ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example"] {
        assert_eq!(browser.send("POST", "/settings", &from(site), &form).await.status, 403, "{site}");
    }
    let (_, before) = server.ask("GET", "/v1/settings", "", "").await;
    assert_eq!(before["latency_source"], "gate");
    let answer = browser.send("POST", "/settings", &from("Sec-Fetch-Site: same-origin"), &form).await;
    assert_eq!(answer.status, 200);
    let (_, after) = server.ask("GET", "/v1/settings", "", "").await;
    assert_eq!(after["latency_source"], "agent");
}

#[tokio::test]
async fn a_key_can_be_created_is_shown_once_and_can_be_revoked() {
    let server = server().await;
    let mut browser = Browser::new(&server);
    browser.log_in(&server.secret).await;
    let csrf = browser.get("/keys").await.csrf();
    let made = browser.post("/keys", &format!("csrf={csrf}&kind=publishable&label=%3Cb%3Eci")).await;
    let key: String = made.body.split("rn_pub_").nth(1).unwrap().chars().take(32).collect();
    assert!(format!("rn_pub_{key}").parse::<KeyText>().is_ok(), "{}", made.body);
    assert!(made.body.contains("&#60;b&#62;ci") && !made.body.contains("<b>ci"), "{}", made.body);
    let list = browser.get("/keys").await;
    assert!(!list.body.contains(&key), "it is shown once");
    let (_, keys) = server.ask("GET", "/v1/keys", "", "").await;
    let id = keys["data"][1]["id"].as_str().unwrap();
    assert!(list.body.contains(&format!("/keys/{id}/revoke")));
    assert_eq!(browser.post(&format!("/keys/{id}/revoke"), &format!("csrf={csrf}")).await.status, 303);
    let (_, keys) = server.ask("GET", "/v1/keys", "", "").await;
    assert!(keys["data"][1]["revoked_at"].is_string());
    let bad = browser.post("/keys", &format!("csrf={csrf}&kind=royal")).await;
    assert!(bad.status == 400 && bad.body.contains("expected publishable or secret"), "{}", bad.body);
}

#[tokio::test]
async fn a_page_shows_only_its_own_organization() {
    let server = server().await;
    let (other, _) = key(&server, KeyKind::Secret, "other").await;
    let mut browser = Browser::new(&server);
    browser.log_in(&other).await;
    let page = browser.get("/").await;
    assert!(
        page.status == 200 && page.body.contains("Nothing to judge yet.") && !page.body.contains("<bdi>bot")
    );
    assert_eq!(browser.get("/agents/bot").await.status, 404);
    let keys = browser.get("/keys").await;
    assert_eq!(keys.body.matches("/revoke").count(), 1, "only its own key");
}

#[tokio::test]
async fn without_a_login_only_public_agents_are_shown() {
    let server = server().await;
    let mut owner = Browser::new(&server);
    owner.log_in(&server.secret).await;
    let mut visitor = Browser::new(&server);
    for path in ["/public/bot", "/badge/bot.svg", "/badge/bot.json"] {
        assert_eq!(visitor.get(path).await.status, 404, "{path}");
    }
    let csrf = owner.get("/agents/bot").await.csrf();
    assert_eq!(owner.post("/agents/bot/public", &format!("csrf={csrf}&public=yes")).await.status, 303);
    assert!(owner.get("/agents/bot").await.body.contains("/badge/bot.svg"));
    let page = visitor.get("/public/bot").await;
    assert!(page.status == 200 && page.body.contains("calibrating 1/50"), "{}", page.body);
    let badge = visitor.get("/badge/bot.svg").await;
    assert!(badge.body.contains("calibrating 1/50") && badge.header("content-type") == Some("image/svg+xml"));
    assert!(visitor.get("/badge/bot.json").await.body.contains(r#""schemaVersion":1"#));
    assert_eq!(visitor.get("/badge/bot.png").await.status, 404);
    assert_eq!(owner.post("/agents/bot/public", &format!("csrf={csrf}")).await.status, 303);
    assert_eq!(visitor.get("/public/bot").await.status, 404);
}

#[tokio::test]
async fn logging_out_ends_the_visit() {
    let server = server().await;
    let mut browser = Browser::new(&server);
    browser.log_in(&server.secret).await;
    let (cookie, csrf) = (browser.cookie.clone(), browser.get("/").await.csrf());
    assert_eq!(browser.post("/logout", "csrf=x").await.status, 403);
    assert_eq!(browser.post("/logout", &format!("csrf={csrf}")).await.status, 303);
    assert_eq!(browser.cookie, "renown=");
    browser.cookie = cookie;
    assert_eq!(browser.get("/").await.status, 303, "the old cookie is invalid");
}
