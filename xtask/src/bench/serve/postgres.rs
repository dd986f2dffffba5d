//! PostgreSQL as the peer of ingest: the same rows and indexes, the same number of connections, one transaction per
//! batch.
//!
//! It is durable by default, and has enough memory and log space to avoid a checkpoint during a short run. The client
//! is its own `pgbench`, with prepared statements. Two ways to insert a hundred rows are measured:
//!
//! | way | statement |
//! |---|---|
//! | values | `INSERT … VALUES (…), (…), …` |
//! | unnest | `INSERT … SELECT … FROM unnest(array, array, …)` |
//!
//! `pgbench` allows 255 parameters and no arrays, so only the indexed columns (ids and times) are parameters. All other
//! values are part of the prepared statement: the server parses them only once, which is an advantage for PostgreSQL.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::work::{Event, events, gates};
use crate::load::Measured;
use crate::process::{Says, Server, Usage};
use crate::renown::{Peer, empty, free_address};
use crate::shell::{install, output, program, run};

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const PACKAGE: &str = "postgresql-15";
const OWNER: &str = "postgres";

const SETTINGS: [&str; 5] = [
    "shared_buffers=512MB",
    "max_wal_size=8GB",
    "checkpoint_timeout=30min",
    "max_connections=200",
    "unix_socket_directories=",
];

const SCHEMA: &str = "
CREATE TABLE evaluations (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org int NOT NULL,
    agent int NOT NULL,
    prev bigint NOT NULL,
    evaluation_id text NOT NULL,
    passed bool NOT NULL,
    gate_us int NOT NULL,
    agent_us int,
    tool text,
    gates text NOT NULL,
    created_at bigint NOT NULL,
    accepted_at bigint NOT NULL,
    score smallint NOT NULL,
    count smallint NOT NULL,
    salt bytea NOT NULL
);
CREATE UNIQUE INDEX ON evaluations (org, evaluation_id);
CREATE INDEX ON evaluations (org, created_at);";

const INSERT: &str = "INSERT INTO evaluations (org, agent, prev, evaluation_id, passed, gate_us, agent_us, tool, gates, \
created_at, accepted_at, score, count, salt)";

/// Fourteen digits that grow with every transaction and differ between clients. They are the time of the rows; with two
/// more digits for the row, they are its id.
const COUNT: &str = "\\set turn :turn + 1\n\\set now (10000000000 + :turn) * 1000 + :client_id\n";

/// A way to insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Values,
    Unnest,
}

/// A running PostgreSQL with an empty table.
#[derive(Debug)]
pub(super) struct Postgres {
    peer: Peer,
    folder: PathBuf,
    /// Number of turns so far. Every run continues from here, so that no id repeats.
    turn: u64,
}

impl Postgres {
    pub(super) fn start(folder: &Path) -> Result<Self> {
        if !Path::new(PROGRAMS).join("postgres").exists() {
            install(&[PACKAGE])?;
        }
        empty(folder)?;
        let is_root = output(program("id").arg("-u"))?.trim() == "0";
        if is_root {
            run(program("chown").arg(OWNER).arg(folder))?;
        }
        let data = folder.join("data");
        let mut initdb = server_program("initdb", is_root);
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--pgdata"]);
        output(initdb.arg(&data))?;
        let address = free_address()?;
        let mut command = server_program("postgres", is_root);
        command.arg("-D").arg(&data).args([
            "-h",
            &address.ip().to_string(),
            "-p",
            &address.port().to_string(),
        ]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let ready = Says::Stderr("database system is ready to accept connections");
        // SIGINT ends it at once, but orderly.
        let peer = Peer { server: Server::start_ready(&mut command, ready, "INT")?, address };
        let started = Self { peer, folder: folder.to_owned(), turn: 0 };
        run(started.client("psql").args(["--quiet", "--no-psqlrc", "--command", SCHEMA]))?;
        for way in [Way::Values, Way::Unnest] {
            fs::write(started.script(way), script(way))?;
        }
        Ok(started)
    }

    /// Inserts for this long.
    pub(super) fn insert(
        &mut self,
        way: Way,
        connections: usize,
        warm_up: Duration,
        time: Duration,
    ) -> Result<Measured> {
        self.pgbench(way, connections, warm_up)?;
        self.pgbench(way, connections, time)
    }

    fn pgbench(&mut self, way: Way, connections: usize, time: Duration) -> Result<Measured> {
        let seconds = time.as_secs().max(1);
        let prefix = self.folder.join("latencies");
        let mut command = self.client("pgbench");
        command.args(["--no-vacuum", "--protocol=prepared", "--jobs=1", "--log"]);
        command.arg(format!("--client={connections}")).arg(format!("--time={seconds}"));
        command.arg(format!("--define=turn={}", self.turn)).arg("--file").arg(self.script(way));
        command.arg("--log-prefix").arg(&prefix);
        let before = Usage::so_far(self.peer.server.pid())?;
        let printed = output(&mut command)?;
        let usage = Usage::so_far(self.peer.server.pid())?.since(&before);
        let latencies = latencies_us(&self.folder)?;
        ensure!(!latencies.is_empty(), "pgbench ran nothing: {printed}");
        let count = u32::try_from(latencies.len())?;
        // No client can have made more transactions than all of them together.
        self.turn += u64::from(count);
        Measured::new(f64::from(count) / rate(&printed)?, usage, latencies.into_iter())
    }

    fn client(&self, name: &str) -> Command {
        let mut command = program(Path::new(PROGRAMS).join(name));
        command.args(["--host", &self.peer.address.ip().to_string(), "--username", "postgres"]);
        command.args(["--port", &self.peer.address.port().to_string()]);
        command.env("PGDATABASE", "postgres");
        command
    }

    fn script(&self, way: Way) -> PathBuf {
        self.folder.join(format!("{way:?}.sql"))
    }
}

/// Returns the command of a program of the server. It refuses to run as root, so then it runs as the user of its
/// package.
fn server_program(name: &str, is_root: bool) -> Command {
    let path = Path::new(PROGRAMS).join(name);
    if !is_root {
        return program(path);
    }
    // `exec`, so that a signal reaches the server and not the shell.
    let mut command = program("setpriv");
    command.args(["--reuid", OWNER, "--regid", OWNER, "--clear-groups"]).arg(path);
    // That user may not be able to read the workspace.
    command.current_dir("/");
    command
}

fn rate(printed: &str) -> Result<f64> {
    let line =
        printed.lines().find_map(|line| line.strip_prefix("tps = ")).context("pgbench printed no rate")?;
    Ok(line.split(' ').next().unwrap_or_default().parse()?)
}

/// Reads the third column of the logs of `pgbench`, the latencies in microseconds, and removes the logs.
fn latencies_us(folder: &Path) -> Result<Vec<u64>> {
    let mut latencies = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"latencies.")) {
            for line in fs::read_to_string(&path)?.lines() {
                latencies.push(line.split(' ').nth(2).context("pgbench logged no latency")?.parse()?);
            }
            fs::remove_file(path)?;
        }
    }
    Ok(latencies)
}

/// A column of the hundred rows: its type, and its value in a row.
type Column = (&'static str, fn(usize, &Event) -> String);

/// The columns that do not change from batch to batch. The id is made from its end.
const COLUMNS: [Column; 10] = [
    ("int", |_, event| event.agent.to_string()),
    ("bigint", |row, event| (event.agent * 1000).saturating_sub(u64::try_from(row).unwrap_or(0)).to_string()),
    ("text", |row, _| format!("{row:02}")),
    ("bool", |_, event| event.passed.to_string()),
    ("int", |_, event| event.gate_us.to_string()),
    ("text", |_, event| event.tool.to_owned()),
    ("text", |_, event| gates(event)),
    ("smallint", |_, event| (event.gate_us % 1000).to_string()),
    ("smallint", |row, _| (row * 5).to_string()),
    ("bytea", |row, event| format!("\\x{:016x}{:016x}", event.gate_us * 7919, row * 104_729)),
];

fn script(way: Way) -> String {
    let rows: Vec<Event> = events(0).collect();
    let source = match way {
        Way::Values => {
            let rows = rows.iter().enumerate().map(|(row, event)| values(row, event));
            format!("VALUES {}", rows.collect::<Vec<_>>().join(", "))
        }
        Way::Unnest => {
            let arrays = COLUMNS.map(|(kind, value)| {
                let values = rows.iter().enumerate().map(|(row, event)| format!("'{}'", value(row, event)));
                format!("ARRAY[{}]::{kind}[]", values.collect::<Vec<_>>().join(", "))
            });
            format!(
                "SELECT 1, agent, prev, :now || id, passed, gate_us, NULL, tool, gates, :now::bigint, 1790000000000, \
                 score, count, salt FROM unnest({}) AS \
                 rows (agent, prev, id, passed, gate_us, tool, gates, score, count, salt)",
                arrays.join(", ")
            )
        }
    };
    format!("{COUNT}{INSERT} {source};\n")
}

fn values(row: usize, event: &Event) -> String {
    let [agent, prev, id, passed, gate_us, tool, gates, score, count, salt] =
        COLUMNS.map(|(kind, value)| format!("'{}'::{kind}", value(row, event)));
    format!(
        "(1, {agent}, {prev}, :now || {id}, {passed}, {gate_us}, NULL, {tool}, {gates}, \
         :now::bigint, 1790000000000, {score}, {count}, {salt})"
    )
}
