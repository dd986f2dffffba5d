//! Records that are read and not yet folded. All their texts are in one string.

use super::{Fact, RecordOrigin, Sourced};
use crate::account::Account;
use crate::{limits::FACT_TEXT_CHARS_MAX, value};

/// A range of a batch's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRange {
    start: usize,
    end: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct BatchRecord {
    pub(crate) origin: RecordOrigin<TextRange>,
    /// End of its facts in `Batch::facts`. They begin at the end of the previous record's facts.
    facts_end: usize,
}

/// Records that are read and not yet folded into a ledger.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    text: String,
    records: Vec<BatchRecord>,
    facts: Vec<Fact<TextRange>>,
    /// The last text of each [`SharedText`]. Neighboring records usually have the same texts, which are stored once.
    last: [Option<TextRange>; 3],
    /// Counts of what was read.
    pub account: Account,
    /// Rejected records.
    pub rejected: Vec<RejectedRecord>,
}

/// A record that was rejected because of an invalid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedRecord {
    /// Line number of the record, as the caller of the reader counts lines.
    pub line: u64,
    /// Name of the attribute with the invalid number.
    pub attribute: &'static str,
}

/// A text of a record that is often the same as in the previous record.
#[derive(Clone, Copy)]
enum SharedText {
    Session,
    AgentId,
    Masque,
}

/// A state of a batch that [`Batch::roll_back`] restores.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    text: usize,
    records: usize,
    facts: usize,
    rejected: usize,
    account: Account,
}

impl Batch {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether the batch has no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Removes everything, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.records.clear();
        self.facts.clear();
        self.last = [None; 3];
        self.account = Account::default();
        self.rejected.clear();
    }

    /// Returns the records with their facts, in reading order.
    pub fn records(&self) -> impl Iterator<Item = (RecordOrigin<&str>, impl Iterator<Item = Fact<&str>>)> {
        self.stored_records().map(|(origin, facts)| {
            let text = |range| self.text(range);
            let RecordOrigin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } =
                origin.clone();
            let sourced = |Sourced { rank, value }| Sourced { rank, value: text(value) };
            let origin = RecordOrigin {
                session: text(session),
                signal,
                at,
                until,
                sequence,
                repeat,
                agent,
                agent_id: sourced(agent_id),
                masque: masque.map(sourced),
                known,
            };
            (origin, facts.iter().cloned().map(move |fact| fact.map(text)))
        })
    }

    /// Returns the records with text ranges instead of texts.
    pub(crate) fn stored_records(
        &self,
    ) -> impl Iterator<Item = (&RecordOrigin<TextRange>, &[Fact<TextRange>])> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let facts = self.facts.get(start..record.facts_end).unwrap_or_default();
            start = record.facts_end;
            (&record.origin, facts)
        })
    }

    pub(crate) fn text(&self, range: TextRange) -> &str {
        self.text.get(range.start..range.end).unwrap_or_default()
    }

    pub(crate) fn push<'a>(
        &mut self,
        origin: RecordOrigin<impl AsRef<str>>,
        facts: impl IntoIterator<Item = Fact<impl AsRef<str> + 'a>>,
    ) {
        let RecordOrigin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } =
            origin;
        let mut store = |role, Sourced { rank, value }: Sourced<_>| Sourced {
            rank,
            value: self.store(role, AsRef::<str>::as_ref(&value)),
        };
        let agent_id = store(SharedText::AgentId, agent_id);
        let masque = masque.map(|masque| store(SharedText::Masque, masque));
        let session = self.store(SharedText::Session, session.as_ref());
        for fact in facts {
            let fact = fact.map(|text| self.append(value::cut(text.as_ref(), FACT_TEXT_CHARS_MAX)));
            self.facts.push(fact);
        }
        let origin =
            RecordOrigin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known };
        self.records.push(BatchRecord { origin, facts_end: self.facts.len() });
    }

    fn store(&mut self, role: SharedText, text: &str) -> TextRange {
        let last = self.last.get(role as usize).copied().flatten();
        if let Some(last) = last.filter(|last| self.text(*last) == text) {
            return last;
        }
        let range = self.append(text);
        if let Some(last) = self.last.get_mut(role as usize) {
            *last = Some(range);
        }
        range
    }

    fn append(&mut self, text: &str) -> TextRange {
        let start = self.text.len();
        self.text.push_str(text);
        TextRange { start, end: self.text.len() }
    }

    /// Saves the current state, to restore it if the next line turns out to be bad.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            text: self.text.len(),
            records: self.records.len(),
            facts: self.facts.len(),
            rejected: self.rejected.len(),
            account: self.account,
        }
    }

    /// Removes everything that was read after the checkpoint.
    pub(crate) fn roll_back(&mut self, checkpoint: &Checkpoint) {
        self.text.truncate(checkpoint.text);
        self.records.truncate(checkpoint.records);
        self.facts.truncate(checkpoint.facts);
        self.rejected.truncate(checkpoint.rejected);
        self.last = [None; 3];
        self.account = checkpoint.account;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Agent;
    use crate::facts::{Signal, UNKNOWN_AGENT_ID};

    fn origin(session: &str) -> RecordOrigin<&str> {
        RecordOrigin {
            session,
            signal: Signal::Logs,
            at: None,
            until: None,
            sequence: None,
            repeat: None,
            agent: Sourced { rank: 4, value: Agent::Unknown },
            agent_id: UNKNOWN_AGENT_ID,
            masque: None,
            known: true,
        }
    }

    #[test]
    fn records_round_trip_and_equal_texts_are_stored_once() {
        let mut batch = Batch::default();
        let tool =
            Fact::ToolResult { tool: Some("Edit"), ok: Some(true), duration_us: None, error_type: None };
        batch.push(origin("s-1"), [tool.clone(), Fact::Refusal]);
        batch.push(origin("s-1"), [Fact::<&str>::Refusal]);
        let checkpoint = batch.checkpoint();
        batch.push(origin("s-2"), [Fact::<&str>::Refusal]);
        batch.roll_back(&checkpoint);
        batch.push(origin("s-3"), [tool.clone()]);
        let found: Vec<_> =
            batch.records().map(|(origin, facts)| (origin.session, facts.collect())).collect();
        let expected: [(&str, Vec<Fact<&str>>); 3] =
            [("s-1", vec![tool.clone(), Fact::Refusal]), ("s-1", vec![Fact::Refusal]), ("s-3", vec![tool])];
        assert_eq!(found, expected);
        assert_eq!(batch.text.matches("s-1").count(), 1);
        assert!(!batch.text.contains("s-2"));
    }
}
