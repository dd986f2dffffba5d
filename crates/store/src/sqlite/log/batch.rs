//! Evaluations of a batch, several with one statement.
//!
//! To begin and end a statement costs a third of what a row does, so a batch is written in groups of [`ROWS`]. A group means the same
//! as its evaluations one by one: it is only written where each of them is new and each agent is known. Where SQLite
//! finds an id that is there already, it takes the whole group back, and the evaluations are counted one by one.
//!
//! What a group makes of its agents is computed ahead and kept when its rows are written, so nothing has to be undone.

use std::collections::HashMap;
use std::fmt::Write;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Evaluation, Tally};
use renown_core::units::Micros;

use super::{Log, is_taken};
use crate::error::StoreError;
use crate::evidence::{NewEvaluation, Once, Outcome, Salt, Seq};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::standings::AgentKey;

/// Rows of one statement. With more of them a batch has a longer rest that is written one by one.
const ROWS: usize = 20;

/// Parameters that all rows share: the organization, and the time of acceptance.
const SHARED: usize = 2;

/// Parameters of each row.
const OWN: usize = 14;

/// The statement for a group.
pub(super) fn insert() -> String {
    let mut sql =
        "INSERT INTO evaluations (seq, org, agent, previous, evaluation_id, passed, latency_us, gate_us, \
         agent_us, tool, gates, created_at, accepted_at, score, evaluations, salt, seal) VALUES "
            .to_owned();
    for row in 0..ROWS {
        let own = |column: usize| format!("?{}", SHARED + OWN * row + column);
        let columns: Vec<String> = [own(1), "?1".to_owned()]
            .into_iter()
            .chain((2..=11).map(own))
            .chain(["?2".to_owned()])
            .chain((12..=OWN).map(own))
            .collect();
        let (comma, columns) = (if row == 0 { "" } else { ", " }, columns.join(", "));
        // Writing to a string cannot fail.
        let _ = write!(sql, "{comma}({columns}, renown_seal({columns}))");
    }
    sql
}

/// A row that is to be written.
struct Row {
    key: AgentKey,
    seq: i64,
    agent: i64,
    previous: Option<i64>,
    evaluation: Evaluation,
    /// The agent's sums after it.
    tally: Tally,
    salt: Salt,
}

impl Log<'_> {
    /// Counts evaluations in this order. What is known of their agents is read before anything is written, so that
    /// one whose evidence makes no sense fails only the writes that name it.
    pub(in crate::sqlite) fn append(
        &mut self,
        org: &OrgId,
        evaluations: &[NewEvaluation],
        once: Option<Once<[Outcome]>>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let org = self.orgs.get(org)?;
        if let [only] = evaluations {
            self.recall(&(org, only.agent.clone()), 1)?;
        } else {
            let mut coming: HashMap<&AgentId, usize> = HashMap::new();
            for new in evaluations {
                *coming.entry(&new.agent).or_default() += 1;
            }
            for (agent, count) in coming {
                self.recall(&(org, agent.clone()), count)?;
            }
        }
        let mut outcomes = Vec::with_capacity(evaluations.len());
        for group in evaluations.chunks(ROWS) {
            if !self.count_group(org, group, &mut outcomes)? {
                for new in group {
                    outcomes.push(self.count(org, new)?);
                }
            }
        }
        self.keep_reply(once, outcomes.as_slice(), org, || Outcome::agents(evaluations, &outcomes))?;
        Ok(outcomes)
    }

    /// Counts a group of evaluations in this order. False if they have to be counted one by one; nothing is done then.
    fn count_group(
        &mut self,
        org: OrgKey,
        group: &[NewEvaluation],
        outcomes: &mut Vec<Outcome>,
    ) -> Result<bool, StoreError> {
        if group.len() != ROWS {
            return Ok(false);
        }
        let Some(rows) = self.plan(org, group)? else { return Ok(false) };
        match self.write_group(org, group, &rows) {
            Err(StoreError::Sqlite(error)) if is_taken(&error) => return Ok(false),
            written => written?,
        }
        let accepted_at = self.latest;
        for (row, new) in rows.into_iter().zip(group) {
            self.waterline.count_evaluation();
            let Some(agent) = self.agents.get_mut(&row.key) else { return Err(StoreError::Closed) };
            agent.take(Seq(row.seq), new, row.evaluation, row.tally, accepted_at);
            self.next_seq.insert(org, row.seq + 1);
            outcomes.push(Outcome::Counted { tally: row.tally });
        }
        Ok(true)
    }

    /// The rows of a group. `None` if one of its agents is not known yet.
    fn plan(&mut self, org: OrgKey, group: &[NewEvaluation]) -> Result<Option<Vec<Row>>, StoreError> {
        let source = self.latency_source(org)?;
        let Seq(first) = self.next_seq(org)?;
        let mut rows: Vec<Row> = Vec::with_capacity(group.len());
        for (new, seq) in group.iter().zip(first..) {
            let key = (org, new.agent.clone());
            let Some(agent) = self.agents.get_mut(&key) else { return Ok(None) };
            // Before anything can fail, as with one evaluation.
            if !agent.touched {
                agent.touched = true;
                self.touched.push(key.clone());
            }
            let number = agent.state.agent;
            let (mut ahead, mut previous, mut before) = (0, agent.state.last_seq, agent.state.tally);
            for row in rows.iter().filter(|row| row.agent == number) {
                (ahead, previous, before) = (ahead + 1, Some(row.seq), row.tally);
            }
            // Only for an agent that this batch has made: the others were recalled.
            agent.expect(ahead + 1, self.connection)?;
            let evaluation = new.evaluation(source);
            let tally = match &agent.window {
                Some(window) => Some(window.tally_ahead(before, ahead, evaluation)),
                None => before.with(evaluation),
            };
            let tally = tally.ok_or_else(|| StoreError::Damaged("a full window is not held".to_owned()))?;
            let salt = self
                .salts
                .take()
                .map_err(|error| StoreError::Damaged(format!("no random bytes: {error}")))?;
            rows.push(Row { key, seq, agent: number, previous, evaluation, tally, salt });
        }
        Ok(Some(rows))
    }

    /// Writes the rows, all or none.
    fn write_group(&mut self, org: OrgKey, group: &[NewEvaluation], rows: &[Row]) -> Result<(), StoreError> {
        let accepted_at = self.latest;
        let insert = &mut self.insert_group;
        insert.raw_bind_parameter(1, org)?;
        insert.raw_bind_parameter(2, accepted_at.millis())?;
        for ((new, row), first) in group.iter().zip(rows).zip((SHARED + 1..).step_by(OWN)) {
            let standing = row.tally.standing();
            insert.raw_bind_parameter(first, row.seq)?;
            insert.raw_bind_parameter(first + 1, row.agent)?;
            insert.raw_bind_parameter(first + 2, row.previous)?;
            insert.raw_bind_parameter(first + 3, new.id.get().as_str())?;
            insert.raw_bind_parameter(first + 4, new.passed)?;
            insert.raw_bind_parameter(first + 5, row.evaluation.latency.us())?;
            insert.raw_bind_parameter(first + 6, new.gate_latency.us())?;
            insert.raw_bind_parameter(first + 7, new.agent_latency.map(Micros::us))?;
            insert
                .raw_bind_parameter(first + 8, new.tool.as_ref().map(renown_core::ids::ToolName::as_str))?;
            insert.raw_bind_parameter(first + 9, &*new.gates)?;
            insert.raw_bind_parameter(first + 10, new.timestamp.unwrap_or(accepted_at).millis())?;
            insert.raw_bind_parameter(first + 11, standing.score)?;
            insert.raw_bind_parameter(first + 12, standing.eval_count)?;
            insert.raw_bind_parameter(first + 13, row.salt)?;
        }
        insert.raw_execute()?;
        Ok(())
    }
}
