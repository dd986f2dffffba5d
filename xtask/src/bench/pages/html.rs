//! The pages themselves, requested as by a browser with a login.
//!
//! Every page must be smaller than 100 KB. 99 of 100 pages must be ready within 20 ms, the overview with many agents
//! within 30 ms. Only the time of the server counts, not that of a browser.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use memchr::memmem;

use super::{CONNECTIONS, Database, Options, p50, p99};
use crate::bench::bulk::AGENT_MARK;
use crate::bench::contest::{Side, Wanted, contest};
use crate::load::{Request, Requests, Slot, exchange, fetch};

/// The name of this part for `--only`.
pub(super) const NAME: &str = "html";

const P99_MS_MAX: f64 = 20.0;
const OVERVIEW_P99_MS_MAX: f64 = 30.0;
const BYTES_MAX: f64 = 100_000.0;

/// A page, and how its requests are made.
struct Page {
    name: &'static str,
    path: &'static str,
    /// The placeholder in the path for a number that changes with every request, and the limit of the number.
    slot: Option<(&'static str, Numbers)>,
}

/// The range of numbers in a path.
#[derive(Clone, Copy)]
enum Numbers {
    Agents,
    Sessions,
}

const SESSION_MARK: &str = "####";

const PAGES: [Page; 10] = [
    Page { name: "overview", path: "/", slot: None },
    Page { name: "by name", path: "/?sort=name", slot: None },
    Page { name: "search", path: "/?q=a-#######", slot: Some((AGENT_MARK, Numbers::Agents)) },
    Page { name: "agent", path: "/agents/a-#######", slot: Some((AGENT_MARK, Numbers::Agents)) },
    Page { name: "sessions", path: "/sessions", slot: None },
    Page { name: "session", path: "/sessions/session-####", slot: Some((SESSION_MARK, Numbers::Sessions)) },
    Page { name: "runs", path: "/runs", slot: None },
    Page { name: "evaluations", path: "/evaluations", slot: None },
    Page { name: "failed", path: "/evaluations?verdict=failed&gate=pii", slot: None },
    Page { name: "reference", path: "/docs", slot: None },
];

/// Logs in with a key and returns the cookie.
fn log_in(address: SocketAddr, key: &str) -> Result<String> {
    let form = format!("key={key}");
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let reply = exchange(address, request.as_bytes(), &[303])?;
    let start =
        memmem::find(&reply, b"set-cookie: ").context("a login without a cookie")? + b"set-cookie: ".len();
    let cookie =
        reply.get(start..).and_then(|rest| rest.split(|byte| *byte == b';').next()).context("a cookie")?;
    Ok(String::from_utf8(cookie.to_vec())?)
}

impl Page {
    fn requests(&self, cookie: &str, database: &Database) -> Requests {
        let bytes =
            format!("GET {} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n", self.path).into_bytes();
        let request = match self.slot {
            None => bytes.into(),
            Some((mark, Numbers::Agents)) => {
                Request::new(bytes, mark, Slot::Below(database.asked.regulars()))
            }
            Some((mark, Numbers::Sessions)) => {
                Request::new(bytes, mark, Slot::Below(super::sessions::SESSIONS))
            }
        };
        Requests::new(vec![request], 0)
    }

    fn p99_ms_max(&self) -> f64 {
        if self.name == "overview" { OVERVIEW_P99_MS_MAX } else { P99_MS_MAX }
    }
}

/// Requests every page of both databases, in turns, and prints a table.
pub(super) fn measure(options: &Options, few: &Database, many: &Database) -> Result<()> {
    let sides = [("few", few), ("many", many)];
    let cookies = [log_in(few.peer.address, &few.key)?, log_in(many.peer.address, &many.key)?];
    let mut lines = Vec::new();
    for page in &PAGES {
        let [mut of_few, mut of_many] = [(&cookies[0], few), (&cookies[1], many)]
            .map(|(cookie, database)| page.requests(cookie, database));
        let lengths = [
            fetch(few.peer.address, of_few.next(), 200)?.len(),
            fetch(many.peer.address, of_many.next(), 200)?.len(),
        ];
        for connections in options.connections(&CONNECTIONS) {
            let results = contest(
                &format!("{} page, {connections}", page.name),
                options.rounds,
                &mut [
                    Side::new("many", || many.load(options, connections, &mut of_many)),
                    Side::new("few", || few.load(options, connections, &mut of_few)),
                ],
            )?;
            for ((size, _), bytes) in sides.iter().zip(lengths) {
                let (p50_ms, p99_ms) = (results.median(size, p50), results.median(size, p99));
                let max = page.p99_ms_max();
                let in_time = format!("≤ {max}: {}", Wanted::AtMost(max).word(p99_ms));
                let bytes = f64::from(u32::try_from(bytes)?);
                lines.push(format!(
                    "{:<12} {size:<5} {connections:>5} {p50_ms:>8.3} {p99_ms:>8.3} {in_time:<16} {:>8.1} {}",
                    page.name,
                    bytes / 1000.0,
                    Wanted::AtMost(BYTES_MAX).word(bytes),
                ));
            }
        }
    }
    println!(
        "\n{:<12} {:<5} {:>5} {:>8} {:>8} {:<16} {:>8}",
        "page", "size", "conns", "p50 ms", "p99 ms", "p99", "KB"
    );
    for line in lines {
        println!("{line}");
    }
    Ok(())
}
