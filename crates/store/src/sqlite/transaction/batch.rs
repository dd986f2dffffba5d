//! Writes the evaluations of a batch, several with one statement.
//!
//! Beginning and ending a statement costs a third of what a row costs, so a batch is written in groups of
//! [`GROUPS`]. A group has the same effect as its evaluations one by one: it is written only if every agent in it
//! is known, and every id is new. If SQLite finds an id that exists, it undoes the whole group, and the evaluations
//! are counted one by one.
//!
//! The effect of a group on its agents is computed first and applied after its rows were written, so nothing has to
//! be undone.

use renown_core::ids::OrgId;
use rusqlite::{Connection, Statement};

use super::row::{self, Row};
use super::{Transaction, is_duplicate_id};
use crate::error::StoreError;
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position};
use crate::fold::evaluations::Acceptance;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::sqlite::orgs::OrgKey;

/// Numbers of rows per statement, the largest first. The rest of a batch is written one by one.
const GROUPS: [usize; 2] = [50, 10];

/// The statements that write groups.
pub(super) struct GroupStatements<'c>([(usize, Statement<'c>); GROUPS.len()]);

impl<'c> GroupStatements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        let [large, small] = GROUPS;
        let prepare = |rows| connection.prepare(&row::insert(rows)).map(|statement| (rows, statement));
        Ok(Self([prepare(large)?, prepare(small)?]))
    }

    /// Returns the statement for this many rows.
    fn get(&mut self, rows: usize) -> Option<&mut Statement<'c>> {
        self.0.iter_mut().find(|(of, _)| *of == rows).map(|(_, statement)| statement)
    }
}

/// Cuts evaluations into groups, and into single ones at the end.
fn groups(mut rest: &[NewEvaluation]) -> impl Iterator<Item = &[NewEvaluation]> {
    std::iter::from_fn(move || {
        let length = GROUPS.into_iter().find(|rows| *rows <= rest.len()).unwrap_or(1);
        let (group, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(group)
    })
}

impl Transaction<'_> {
    /// Counts evaluations in this order. Loads their agents before it writes anything, so that an agent with
    /// damaged evidence fails only the writes that name it.
    pub(in crate::sqlite) fn append(
        &mut self,
        org: &OrgId,
        evaluations: &[NewEvaluation],
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<Vec<EvaluationOutcome>>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        for new in evaluations {
            // All of them may be of this agent. Counting them would cost more than reading a few windows too early.
            self.load_agent(&(org, new.agent.clone()), evaluations.len())?;
        }
        let mut outcomes = Vec::with_capacity(evaluations.len());
        for group in groups(evaluations) {
            if !self.append_group(org, group, &mut outcomes)? {
                for new in group {
                    outcomes.push(self.count(org, new)?);
                }
            }
        }
        let last = self.next_position.get(&org).map(|next| Position::of(next - 1));
        self.keep(request_key, || Kept::evaluations(evaluations, &outcomes, last))?;
        Ok(Accepted::Fresh(outcomes))
    }

    /// Counts a group of evaluations in this order. Returns `false`, and changes nothing, if they have to be
    /// counted one by one.
    fn append_group(
        &mut self,
        org: OrgKey,
        group: &[NewEvaluation],
        outcomes: &mut Vec<EvaluationOutcome>,
    ) -> Result<bool, StoreError> {
        if group.len() == 1 {
            return Ok(false);
        }
        let Some(rows) = self.plan(org, group)? else { return Ok(false) };
        let Some(insert) = self.insert_groups.get(rows.len()) else { return Ok(false) };
        row::bind(&rows, insert)?;
        match insert.raw_execute() {
            Err(error) if is_duplicate_id(&error) => return Ok(false),
            written => written?,
        };
        for row in &rows {
            self.mark_writer.count_evaluation();
            let key = (org, row.counted.new.agent.clone());
            let Some(agent) = self.agents.peek_mut(&key) else {
                return Err(StoreError::Bug("an agent is not cached"));
            };
            agent.add(&row.counted);
            outcomes.push(row.counted.outcome());
        }
        if let Some(last) = rows.last() {
            self.next_position.insert(org, last.counted.position.number() + 1);
        }
        Ok(true)
    }

    /// Returns the rows of a group, or `None` if one of its agents is not known yet.
    fn plan<'e>(
        &mut self,
        org: OrgKey,
        group: &'e [NewEvaluation],
    ) -> Result<Option<Vec<Row<'e>>>, StoreError> {
        let acceptance = Acceptance { at: self.latest, source: self.latency_source(org)? };
        let first = self.next_position(org)?.number();
        let mut rows: Vec<Row<'e>> = Vec::with_capacity(group.len());
        for (new, position) in group.iter().zip(first..) {
            let key = (org, new.agent.clone());
            let Some(cached) = self.agents.peek_mut(&key) else { return Ok(None) };
            // Before anything can fail, as for a single evaluation.
            if !cached.touched {
                cached.touched = true;
                self.touched.push(key);
            }
            let agent = cached.state.agent;
            let unwritten = rows.iter().filter(|row| row.agent == agent);
            // Has an effect only for an agent that this batch has added: the others were loaded for the whole
            // batch.
            cached.load_window_for(unwritten.clone().count() + 1, self.connection)?;
            let sums = unwritten.fold(cached.sums(), |sums, row| sums.after(&row.counted));
            let counted = sums.count(new, Position::of(position), acceptance)?;
            rows.push(Row { org, agent, counted, salt: self.salts.draw()? });
        }
        Ok(Some(rows))
    }
}

#[cfg(test)]
mod tests {
    use renown_core::units::Micros;

    use super::*;
    use crate::evidence::NewEvaluationId;

    #[test]
    fn a_batch_is_cut_into_large_groups_first_and_no_evaluation_is_left_out() {
        let new = |number: usize| NewEvaluation {
            agent: "a".parse().unwrap(),
            id: NewEvaluationId::Sent(number.to_string().parse().unwrap()),
            passed: true,
            gate_latency: Micros::default(),
            agent_latency: None,
            tool: None,
            gates: "[]".into(),
            timestamp: None,
        };
        for (count, expected) in [
            (0, vec![]),
            (3, vec![1, 1, 1]),
            (12, vec![10, 1, 1]),
            (61, vec![50, 10, 1]),
            (100, vec![50, 50]),
        ] {
            let all: Vec<NewEvaluation> = (0..count).map(new).collect();
            let lengths: Vec<usize> = groups(&all).map(<[_]>::len).collect();
            assert_eq!(lengths, expected);
            assert!(groups(&all).flatten().map(|new| &new.id).eq(all.iter().map(|new| &new.id)));
        }
    }
}
