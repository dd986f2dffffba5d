//! This build against an older one (`--before`): the usual requests in turns, so that a worse median is noticed.

use std::path::Path;

use anyhow::Result;

use super::options::Options;
use super::{Ours, load, now_ms, work};
use crate::bench::contest::{Side, Wanted, contest};
use crate::load::{Load, Measured, Protocol, Requests};

/// The largest ratio of a median to that of the older build.
const RATIO_MAX: f64 = 1.05;

const CONNECTIONS: [usize; 2] = [32, 128];

/// A request: its name, the status of a good reply, and how requests are made.
type Route = (&'static str, u16, fn(&str) -> Result<Requests>);

const ROUTES: [Route; 3] = [
    ("evaluate", 200, |key| Ok(work::evaluate(key))),
    ("read", 200, |key| Ok(work::read(key))),
    ("ingest", 202, |key| Ok(work::ingest(key, now_ms()?))),
];

pub(super) fn medians(options: &Options, renown: &Path, before: &Path, folder: &Path) -> Result<()> {
    let ours = Ours::start(options, renown, &folder.join("renown"))?;
    let before = Ours::start(options, before, &folder.join("before"))?;
    for server in [&ours, &before] {
        // Every agent gets some evaluations, so that there is something to read.
        let filling = load(options, &server.peer, Protocol::Http(202), 4);
        Load { time: options.warm_up(), ..filling }.run(&mut work::ingest(&server.key, now_ms()?))?;
    }
    for (route, status, requests) in ROUTES {
        for connections in options.connections(&CONNECTIONS) {
            let (mut of_ours, mut of_before) = (requests(&ours.key)?, requests(&before.key)?);
            let results = contest(
                &format!("{route}, {connections}"),
                options.rounds,
                &mut [
                    Side::new("renown", || ours.run(status, connections, &mut of_ours)),
                    Side::new("before", || before.run(status, connections, &mut of_before)),
                ],
            )?;
            let p50 = |measured: &Measured| measured.quantile_ms(0.5);
            results.ratio("before", "p50", p50, Some(Wanted::AtMost(RATIO_MAX)));
            results.ratio("before", "rate", Measured::rate, None);
            let server_us = |measured: &Measured| measured.usage.server / measured.rate();
            results.ratio("before", "processor time", server_us, None);
        }
    }
    Ok(())
}
