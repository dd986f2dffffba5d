//! The questions, over HTTP and in SQL.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use renown_core::time::Day;
use rusqlite::Connection;
use serde_json::Value;

use super::data::{DAYS, Size, Span};
use crate::bench::bulk::{AGENT_MARK, agent};
use crate::load::{Request, Requests, Slot, fetch, get};

/// A question, and the SQL that answers it from the evidence.
pub(super) struct Question {
    pub(super) name: &'static str,
    requests: fn(&Asked) -> Vec<Request>,
    /// The parameters may be `:from` and `:today` (milliseconds), `:agent` (a name) and `:skip` (agents on earlier
    /// pages).
    sql: &'static str,
}

/// The days of 20 agents, in the order of the score after each one's last evaluation.
const RANKING_SQL: &str = "WITH top AS (SELECT agent, max(seq), score FROM evaluations WHERE org = 0 GROUP BY agent \
     ORDER BY count(*) >= 50 DESC, score DESC LIMIT 20 OFFSET :skip) \
     SELECT e.agent, e.created_at / 86400000, count(*), max(e.seq), e.score FROM evaluations e JOIN top USING (agent) \
     WHERE e.org = 0 AND e.created_at >= :from GROUP BY 1, 2";

/// All questions.
pub(super) const QUESTIONS: [Question; 7] = [
    Question {
        name: "overview",
        requests: |asked| vec![asked.get("/v1/overview")],
        sql: "SELECT created_at / 86400000, count(*), sum(passed), sum(latency_us) FROM evaluations \
              WHERE org = 0 AND created_at >= :from GROUP BY 1 \
              UNION ALL SELECT g.value ->> 'name', count(*), 0, 0 FROM evaluations e, json_each(e.gates) g \
              WHERE e.org = 0 AND e.created_at >= :today AND NOT e.passed AND NOT g.value ->> 'passed' GROUP BY 1",
    },
    Question {
        name: "ranking",
        requests: |asked| vec![asked.get(&format!("/v1/agents?sort=score&limit=20&days={DAYS}"))],
        sql: RANKING_SQL,
    },
    Question {
        name: "later page",
        requests: |asked| {
            let page = |cursor| format!("/v1/agents?sort=score&limit=20&days={DAYS}&cursor={cursor}");
            asked.cursors.iter().map(|cursor| asked.get(&page(cursor))).collect()
        },
        sql: RANKING_SQL,
    },
    Question {
        name: "history",
        requests: |asked| {
            let (from, to) = (asked.from.start(), asked.today.end());
            asked.of_agents(&|agent| {
                format!("/v1/reputation/{agent}/history?from={from}&to={to}&points={DAYS}")
            })
        },
        sql: "SELECT created_at / 86400000, count(*), max(seq), score FROM evaluations WHERE org = 0 AND created_at >= :from \
              AND agent = (SELECT agent FROM agents WHERE org = 0 AND name = :agent) GROUP BY 1",
    },
    Question {
        name: "breakdown",
        requests: |asked| asked.of_agents(&|agent| format!("/v1/agents/{agent}/breakdown")),
        sql: "WITH own AS (SELECT * FROM evaluations WHERE org = 0 AND created_at >= :from \
              AND agent = (SELECT agent FROM agents WHERE org = 0 AND name = :agent)) \
              SELECT tool, count(*), sum(NOT passed) FROM own GROUP BY 1 \
              UNION ALL SELECT g.value ->> 'name', count(*), 0 FROM own, json_each(own.gates) g \
              WHERE NOT own.passed AND NOT g.value ->> 'passed' GROUP BY 1",
    },
    Question {
        name: "sessions",
        requests: |asked| vec![asked.get("/v1/sessions?limit=50")],
        sql: "SELECT s.session_id, count(*), sum(length(r.record)) FROM \
              (SELECT session, session_id FROM sessions WHERE org = 0 ORDER BY began_ns DESC LIMIT 50) s \
              JOIN session_records r ON r.session = s.session GROUP BY 1",
    },
    Question {
        name: "last seen",
        requests: |asked| vec![asked.get("/v1/agents?limit=50")],
        sql: "SELECT a.name, count(*), max(e.accepted_at) AS seen FROM evaluations e JOIN agents a USING (agent) \
              WHERE e.org = 0 GROUP BY e.agent ORDER BY seen DESC LIMIT 50",
    },
];

/// Returns whether a question has this name.
pub(super) fn known(name: &str) -> Result<&'static str> {
    let mut names = QUESTIONS.iter().map(|question| question.name).chain([super::html::NAME]);
    names.clone().find(|known| *known == name).with_context(|| {
        let names: Vec<&str> = names.by_ref().collect();
        format!("unknown question {name}, expected one of {}", names.join(", "))
    })
}

/// Number of agents per page while pages are walked to collect cursors, and the number of these pages.
const WALKED_LIMIT: usize = 100;
const WALKED_PAGES: usize = 40;

/// One in this many questions about an agent is about any agent; the others are about regulars.
const ANY_OF: usize = 4;

/// Which agents the questions are about.
pub(super) struct Asked {
    key: String,
    size: Size,
    from: Day,
    today: Day,
    /// Cursors of later pages of the ranking.
    cursors: Vec<String>,
}

impl Asked {
    /// Walks over the ranking of a server, so that later pages can be requested.
    pub(super) fn new(address: SocketAddr, key: String, size: Size, span: Span) -> Result<Self> {
        let mut asked = Self { key, size, from: span.first_day(), today: span.today(), cursors: Vec::new() };
        let mut path = format!("/v1/agents?sort=score&limit={WALKED_LIMIT}");
        for _ in 0..WALKED_PAGES {
            let page: Value = serde_json::from_slice(&fetch(address, &get(&path, &asked.key), 200)?)?;
            let Some(cursor) = page.get("next_cursor").and_then(Value::as_str) else { break };
            asked.cursors.push(cursor.to_owned());
            path = format!("/v1/agents?sort=score&limit={WALKED_LIMIT}&cursor={cursor}");
        }
        Ok(asked)
    }

    fn get(&self, path: &str) -> Request {
        get(path, &self.key).into()
    }

    /// Returns requests about regulars and about any agent, each about another one.
    fn of_agents(&self, path: &dyn Fn(&str) -> String) -> Vec<Request> {
        let request = |place: usize| {
            let below = if place == 0 { self.size.agents } else { self.size.regulars };
            Request::new(get(&path(&format!("a-{AGENT_MARK}")), &self.key), AGENT_MARK, Slot::Below(below))
        };
        (0..ANY_OF).map(request).collect()
    }

    /// Returns the number of agents with evaluations on every day.
    pub(super) const fn regulars(&self) -> u64 {
        self.size.regulars
    }

    pub(super) fn requests(&self, question: &Question) -> Requests {
        Requests::new((question.requests)(self), self.size.agents)
    }

    /// Asks the evidence, and reads every row of the answer. Each sample is about another agent or page.
    pub(super) fn ask_evidence(
        &self,
        question: &Question,
        evidence: &Connection,
        sample: usize,
    ) -> Result<()> {
        let mut select = evidence.prepare(question.sql)?;
        let regular = agent(u64::try_from(sample)?.wrapping_mul(7919) % self.size.regulars);
        let skip = sample * WALKED_LIMIT;
        let bound: [(&str, rusqlite::types::Value); 4] = [
            (":from", self.from.start().millis().into()),
            (":today", self.today.start().millis().into()),
            (":agent", regular.into()),
            (":skip", i64::try_from(skip)?.into()),
        ];
        for (name, value) in bound {
            if let Some(index) = select.parameter_index(name)? {
                select.raw_bind_parameter(index, value)?;
            }
        }
        let mut rows = select.raw_query();
        let mut count = 0_usize;
        while rows.next()?.is_some() {
            count += 1;
        }
        anyhow::ensure!(count > 0, "{}: the evidence has no answer", question.name);
        Ok(())
    }
}
