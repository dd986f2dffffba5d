//! A long walk of random writes and reads, done by two stores side by side. Everything that a caller can see has to
//! be the same.
//!
//! Positions and random bytes differ between stores: each store gets its own cursors back, and they are not
//! compared. A few agents get most of the evaluations, so their windows fill and slide.

mod days;
mod evidence;
mod sessions;

use std::fmt::Debug;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::Lifecycle;
use renown_core::units::Micros;
use renown_store::memory::Memory;
use renown_store::{
    Accepted, AgentCursor, AgentQuery, AgentSort, EvaluationOutcome, EvaluationQuery, EvaluationsReceipt,
    HistorySteps, KnownRequest, NewEvaluation, NewEvaluationId, Position, ReadError, Receipt, RequestKey,
    STANDSTILL_MS, Store, WriteError,
};

use super::Subject;
use crate::support::{Rng, TestClock, at, default_org, key, plain_evaluation, plain_run, wait};

const ORGS: [&str; 4] = ["default", "other", "third", "absent"];
const AGENTS: [&str; 9] = ["hot", "hot", "hot", "hot", "warm", "warm", "Cold", "cold", "кот"];
const TOOLS: [&str; 3] = ["sh", "web", ""];
const GATES: [&str; 4] = [
    "[]",
    r#"[{"name":"size"}]"#,
    r#"[{"name":"pii","passed":false},{"name":"size"}]"#,
    r#"[{"name":"size","passed":false},{"name":"pii","passed":false},{"name":"size","passed":false}]"#,
];
const KEYS_MAX: u8 = 200;

/// Walks this many steps beside the store in memory.
pub(super) fn walk<S: Subject>(seed: u64, steps: usize) {
    Walk::<S>::new(seed).run(steps, 0);
}

/// Does the same, and closes and opens the store now and then.
pub(super) fn walk_and_reopen<S: Subject>(seed: u64, steps: usize) {
    Walk::<S>::new(seed).run(steps, 40);
}

struct Walk<S> {
    rng: Rng,
    clock: TestClock,
    plain: Memory,
    subject: S,
    /// The latest time that the clock has shown, in milliseconds after noon.
    latest: i64,
    now_ms: i64,
    ids: usize,
    keys: u8,
    pages: Option<(OrgId, EvaluationQuery, [Option<Position>; 2])>,
    step: usize,
}

impl<S: Subject> Walk<S> {
    fn new(seed: u64) -> Self {
        let clock = TestClock::at_noon();
        Self {
            rng: Rng::new(seed),
            plain: Memory::make(&clock),
            subject: S::make(&clock),
            clock,
            latest: 0,
            now_ms: 0,
            ids: 0,
            keys: 0,
            pages: None,
            step: 0,
        }
    }

    fn run(mut self, steps: usize, reopen_one_in: usize) {
        for step in 0..steps {
            self.step = step;
            if reopen_one_in > 0 && self.rng.one_in(reopen_one_in) {
                self.subject.reopen();
                // A store does not remember what the clock showed while nothing was written. Opening is a write, so
                // let both stores see the latest time again.
                self.set_clock(self.latest);
                self.both_write(|store| wait(store.ready()));
            }
            self.turn_clock();
            match self.rng.below(36) {
                0..8 => self.append(),
                8 => self.add_agent(),
                9 => self.create_key(),
                10 => self.end_or_use_key(),
                11..14 => self.evaluations(),
                14 => self.history(),
                15 => self.agents(),
                16 => self.known_request(),
                17 => self.decide(),
                18..20 => self.add_run(),
                20 => self.runs(),
                21..23 => self.add_reputation_events(),
                23 => self.identity(),
                24 if self.rng.one_in(6) => self.erase(),
                25..29 => self.add_records(),
                29 => self.add_signals(),
                30 => self.close_sessions(),
                31 => self.sessions(),
                32 => self.days(),
                33 => self.overview(),
                _ => self.standing(),
            }
        }
        self.all_sessions();
        super::verify_answers(&self.plain);
        super::verify_answers(self.subject.store());
        self.subject.verify();
        let org: OrgId = ORGS[0].parse().unwrap();
        let query = EvaluationQuery { limit: usize::MAX, ..EvaluationQuery::default() };
        let all = self.both(|store| {
            wait(store.evaluations(&org, query.clone()))
                .map(|page| page.evaluations.into_iter().map(plain_evaluation).collect::<Vec<_>>())
        });
        let hot = all.unwrap().iter().filter(|evaluation| evaluation.agent.as_str() == "hot").count();
        assert!(hot > 600 || steps < 500, "the walk has to be long enough to fill a window: {hot}");
    }

    /// Reads the same from both stores and compares the results.
    fn both<T: Debug + PartialEq>(&self, ask: impl Fn(&dyn Store) -> Result<T, ReadError>) -> Option<T> {
        self.compare(|store| ask(store).map_err(|error| error.to_string()))
    }

    /// Writes the same to both stores and compares the results.
    fn both_write<T: Debug + PartialEq>(&self, write: impl Fn(&dyn Store) -> Result<T, WriteError>) {
        self.compare(|store| write(store).map_err(|error| error.to_string()));
    }

    fn compare<T: Debug + PartialEq>(&self, ask: impl Fn(&dyn Store) -> Result<T, String>) -> Option<T> {
        let [plain, subject] = [&self.plain as &dyn Store, self.subject.store()].map(ask);
        assert_eq!(plain, subject, "step {}", self.step);
        subject.ok()
    }

    fn set_clock(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
        self.latest = self.latest.max(now_ms);
        self.clock.set(now_ms);
    }

    fn turn_clock(&mut self) {
        let by: usize = match self.rng.below(40) {
            0 => self.rng.below(10 * 3_600_000),
            1..20 => self.rng.below(3000),
            20 => {
                // Not so far that times follow the clock back; there are checks of that.
                let (back, floor) = (self.rng.below(3_600_000) as i64, self.latest - STANDSTILL_MS + 1);
                return self.set_clock((self.now_ms - back).max(floor));
            }
            _ => 0,
        };
        self.set_clock(self.now_ms + by as i64);
    }

    fn org(&mut self) -> OrgId {
        let sides = if self.rng.one_in(3) { ORGS.len() } else { 1 };
        ORGS[self.rng.below(sides)].parse().unwrap()
    }

    fn agent(&mut self) -> AgentId {
        self.rng.pick(&AGENTS).parse().unwrap()
    }

    fn time(&mut self) -> renown_core::time::Timestamp {
        at(self.now_ms - self.rng.below(100_000) as i64)
    }

    fn evaluation(&mut self) -> NewEvaluation {
        let repeat = self.ids > 0 && self.rng.one_in(8);
        let number = if repeat {
            self.rng.below(self.ids)
        } else {
            self.ids += 1;
            self.ids
        };
        let id = format!("e{number}").parse().unwrap();
        let gate_latency = Micros::from_us(self.rng.below(200_000) as u32).unwrap();
        let agent_latency =
            self.rng.sometimes(3, |rng| Micros::from_us(rng.below(60_000_001) as u32).unwrap());
        NewEvaluation {
            agent: self.agent(),
            id: if repeat || self.rng.one_in(2) {
                NewEvaluationId::Sent(id)
            } else {
                NewEvaluationId::Generated(id)
            },
            passed: !self.rng.one_in(6),
            gate_latency,
            agent_latency,
            tool: self.rng.sometimes(2, |rng| rng.pick(&TOOLS).parse().unwrap()),
            gates: self.rng.pick(&GATES).into(),
            timestamp: if self.rng.one_in(4) { Some(self.time()) } else { None },
        }
    }

    fn append(&mut self) {
        let org = self.org();
        let sides = self.rng.pick(&[1, 1, 4, 40]);
        let batch: Vec<NewEvaluation> = (0..=self.rng.below(sides)).map(|_| self.evaluation()).collect();
        let key = self.request_key(&org);
        self.both_write(|store| {
            let written = wait(store.append(&org, batch.clone(), key.clone()))?;
            Ok(accepted(written, |outcomes| outcomes.into_iter().map(seen).collect()))
        });
    }

    fn add_agent(&mut self) {
        let (org, agent) = (self.org(), self.agent());
        let key = self.request_key(&org);
        self.both_write(|store| {
            Ok(accepted(wait(store.add_agent(&org, agent.clone(), key.clone()))?, |new| new))
        });
    }

    fn create_key(&mut self) {
        if self.keys < KEYS_MAX {
            self.keys += 1;
            // The last organization never gets a key, so it never exists.
            let new = key(ORGS[self.rng.below(ORGS.len() - 1)], self.keys);
            let request_key = self.request_key(&default_org());
            self.both_write(|store| {
                Ok(accepted(wait(store.create_key(new.clone(), request_key.clone()))?, |key| key))
            });
        }
    }

    fn end_or_use_key(&mut self) {
        let (org, id) = (self.org(), key("default", self.rng.below(usize::from(self.keys) + 2) as u8).id);
        let used = self.time();
        if self.rng.one_in(2) {
            self.both_write(|store| wait(store.revoke_key(&org, id)));
        } else {
            self.both_write(|store| wait(store.touch_keys(vec![(id, used)])));
        }
        self.both(|store| wait(store.keys()));
        self.both_write(|store| wait(store.ready()));
    }

    fn evaluation_query(&mut self) -> EvaluationQuery {
        let (agent, time) = (self.agent(), self.time());
        EvaluationQuery {
            agent: self.rng.sometimes(2, |_| agent),
            tool: self.rng.sometimes(6, |rng| rng.pick(&TOOLS).parse().unwrap()),
            gate: self.rng.sometimes(6, |_| "size".to_owned()),
            failed_gate: self.rng.sometimes(6, |rng| rng.pick(&["size", "pii"]).to_owned()),
            passed: self.rng.sometimes(6, |rng| rng.one_in(2)),
            from: self.rng.sometimes(5, |_| time),
            to: self.rng.sometimes(5, |_| time),
            before: None,
            offset: self.rng.sometimes(5, |rng| rng.below(30)).unwrap_or(0),
            limit: self.rng.below(60),
        }
    }

    /// Reads a first page, or the next page of a query that was begun.
    fn evaluations(&mut self) {
        let (org, mut query, cursors) = match self.pages.take() {
            Some(open) if !self.rng.one_in(8) => open,
            _ => (self.org(), self.evaluation_query(), [None; 2]),
        };
        let mut next = Vec::new();
        let mut pages = Vec::new();
        for (store, cursor) in [&self.plain as &dyn Store, self.subject.store()].into_iter().zip(cursors) {
            let page = wait(store.evaluations(&org, EvaluationQuery { before: cursor, ..query.clone() }));
            next.push(page.as_ref().ok().and_then(|page| page.next));
            pages.push(
                page.map(|page| page.evaluations.into_iter().map(plain_evaluation).collect::<Vec<_>>())
                    .map_err(|error| error.to_string()),
            );
        }
        assert_eq!(pages[0], pages[1], "step {}: {query:?}", self.step);
        assert_eq!(next[0].is_some(), next[1].is_some(), "step {}: {query:?}", self.step);
        query.offset = 0;
        self.pages = next[0].map(|_| (org, query, [next[0], next[1]]));
    }

    fn history(&mut self) {
        let (org, agent, to) = (self.org(), self.agent(), self.now_ms);
        let steps = HistorySteps::new(
            at(to - self.rng.below(90_000_000) as i64),
            at(to),
            self.rng.below(50) as u32 + 1,
        )
        .unwrap();
        self.both(|store| wait(store.history(&org, &agent, steps)));
    }

    /// Reads every page of agents in one order.
    fn agents(&mut self) {
        let org = self.org();
        let mut query = AgentQuery {
            text: self.rng.sometimes(3, |rng| rng.pick(&["C", "ol", "КО", "none"]).to_owned()),
            sort: self.rng.pick(&[
                AgentSort::LastSeen,
                AgentSort::Score,
                AgentSort::Name,
                AgentSort::Evaluations,
                AgentSort::Lowest,
            ]),
            lifecycle: self.rng.sometimes(3, |rng| {
                rng.pick(&[Lifecycle::New, Lifecycle::Calibrating, Lifecycle::Active, Lifecycle::Mature])
            }),
            seen_since: None,
            after: None,
            limit: self.rng.below(4) + 1,
        };
        loop {
            let page = self
                .both(|store| wait(store.agents(&org, query.clone())).map(|page| (page.agents, page.next)));
            let next: Option<AgentCursor> = page.and_then(|(_, next)| next);
            let Some(next) = next else { return };
            query.after = Some(next);
        }
    }

    /// Makes a request key for every fourth write. Some repeat an earlier one, some for another request.
    fn request_key(&mut self, org: &OrgId) -> Option<RequestKey> {
        self.rng.sometimes(4, |rng| RequestKey {
            org: org.clone(),
            key: format!("k{}", rng.below(40)),
            fingerprint: [u8::from(rng.one_in(4)); 32],
        })
    }

    fn known_request(&mut self) {
        let org = self.org();
        if let Some(key) = (0..20).find_map(|_| self.request_key(&org)) {
            self.both(|store| {
                Ok(match wait(store.known_request(key.clone()))? {
                    Some(KnownRequest::Replayed(receipt)) => {
                        Some(KnownRequest::Replayed(plain_receipt(receipt)))
                    }
                    known => known,
                })
            });
        }
    }

    fn standing(&mut self) {
        let (org, agent) = (self.org(), self.agent());
        self.both(|store| wait(store.tally(&org, &agent)));
        self.both(|store| wait(store.agent(&org, &agent)));
        self.both(|store| wait(store.window(&org, &agent)).map(|window| window.explain()));
    }
}

/// Removes from what a write returned what differs between stores.
fn accepted<T>(accepted: Accepted<T>, plain: impl FnOnce(T) -> T) -> Accepted<T> {
    match accepted {
        Accepted::Fresh(outcome) => Accepted::Fresh(plain(outcome)),
        Accepted::Replayed(receipt) => Accepted::Replayed(plain_receipt(receipt)),
        Accepted::Conflict => Accepted::Conflict,
    }
}

fn plain_receipt(receipt: Receipt) -> Receipt {
    match receipt {
        Receipt::Evaluations(EvaluationsReceipt { only, counted, repeated, standings }) => {
            let only = only.map(|only| Box::new(plain_evaluation(*only)));
            Receipt::Evaluations(EvaluationsReceipt { only, counted, repeated, standings })
        }
        Receipt::Run { new, run } => Receipt::Run { new, run: Box::new(plain_run(*run)) },
        Receipt::Agent { .. }
        | Receipt::ReputationEvents(_)
        | Receipt::Records
        | Receipt::Signals
        | Receipt::ApiKey(_)
        | Receipt::EvalRun(_)
        | Receipt::Schedule(_) => receipt,
    }
}

fn seen(outcome: EvaluationOutcome) -> EvaluationOutcome {
    match outcome {
        EvaluationOutcome::Repeated { first, tally } => {
            EvaluationOutcome::Repeated { first: Box::new(plain_evaluation(*first)), tally }
        }
        counted @ EvaluationOutcome::Counted { .. } => counted,
    }
}
