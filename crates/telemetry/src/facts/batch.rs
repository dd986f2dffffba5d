//! Records that were read and not yet folded, with all their texts in one.

use super::{Fact, Origin, Sourced};
use crate::account::Account;
use crate::{limits::FACT_TEXT_CHARS_MAX, value};

/// A stretch of a batch's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    start: usize,
    end: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) origin: Origin<Stretch>,
    /// Where its facts end; they begin where those of the record before end.
    facts_end: usize,
}

/// Records that were read and not yet folded into a ledger.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    text: String,
    records: Vec<Stored>,
    facts: Vec<Fact<Stretch>>,
    /// The texts that were stored last, by what they are: records come in runs of the same.
    last: [Option<Stretch>; 3],
    /// What was read so far.
    pub account: Account,
    /// The records that were refused.
    pub refused: Vec<Refused>,
}

/// A record that was refused for a number that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its line, as the reader was told.
    pub line: u64,
    /// The attribute.
    pub attribute: &'static str,
}

/// Texts of a record that often equal those of the record before.
#[derive(Clone, Copy)]
enum Role {
    Session,
    AgentId,
    Masque,
}

/// A place in a batch to go back to.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    text: usize,
    records: usize,
    facts: usize,
    refused: usize,
    account: Account,
}

impl Batch {
    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets everything but the memory it has.
    pub fn clear(&mut self) {
        self.text.clear();
        self.records.clear();
        self.facts.clear();
        self.last = [None; 3];
        self.account = Account::default();
        self.refused.clear();
    }

    /// The records with their facts, in the order they were read.
    pub fn records(&self) -> impl Iterator<Item = (Origin<&str>, impl Iterator<Item = Fact<&str>>)> {
        self.stored().map(|(origin, facts)| {
            let text = |stretch| self.text(stretch);
            let Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } =
                origin.clone();
            let sourced = |Sourced { rank, value }| Sourced { rank, value: text(value) };
            let origin = Origin {
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

    /// The records as they are stored.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (&Origin<Stretch>, &[Fact<Stretch>])> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let facts = self.facts.get(start..record.facts_end).unwrap_or_default();
            start = record.facts_end;
            (&record.origin, facts)
        })
    }

    pub(crate) fn text(&self, stretch: Stretch) -> &str {
        self.text.get(stretch.start..stretch.end).unwrap_or_default()
    }

    pub(crate) fn push<'a>(
        &mut self,
        origin: Origin<impl AsRef<str>>,
        facts: impl IntoIterator<Item = Fact<impl AsRef<str> + 'a>>,
    ) {
        let Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } = origin;
        let mut store = |role, Sourced { rank, value }: Sourced<_>| Sourced {
            rank,
            value: self.store(role, AsRef::<str>::as_ref(&value)),
        };
        let agent_id = store(Role::AgentId, agent_id);
        let masque = masque.map(|masque| store(Role::Masque, masque));
        let session = self.store(Role::Session, session.as_ref());
        for fact in facts {
            let fact = fact.map(|text| self.append(value::cut(text.as_ref(), FACT_TEXT_CHARS_MAX)));
            self.facts.push(fact);
        }
        let origin = Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known };
        self.records.push(Stored { origin, facts_end: self.facts.len() });
    }

    fn store(&mut self, role: Role, text: &str) -> Stretch {
        let last = self.last.get(role as usize).copied().flatten();
        if let Some(last) = last.filter(|last| self.text(*last) == text) {
            return last;
        }
        let stretch = self.append(text);
        if let Some(last) = self.last.get_mut(role as usize) {
            *last = Some(stretch);
        }
        stretch
    }

    fn append(&mut self, text: &str) -> Stretch {
        let start = self.text.len();
        self.text.push_str(text);
        Stretch { start, end: self.text.len() }
    }

    /// The place to go back to when what is read next turns out to be bad.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            records: self.records.len(),
            facts: self.facts.len(),
            refused: self.refused.len(),
            account: self.account,
        }
    }

    /// Takes back all that was read since.
    pub(crate) fn back_to(&mut self, mark: &Mark) {
        self.text.truncate(mark.text);
        self.records.truncate(mark.records);
        self.facts.truncate(mark.facts);
        self.refused.truncate(mark.refused);
        self.last = [None; 3];
        self.account = mark.account;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Agent;
    use crate::facts::{NOBODY, Signal};

    fn origin(session: &str) -> Origin<&str> {
        Origin {
            session,
            signal: Signal::Logs,
            at: None,
            until: None,
            sequence: None,
            repeat: None,
            agent: Sourced { rank: 4, value: Agent::Unknown },
            agent_id: NOBODY,
            masque: None,
            known: true,
        }
    }

    #[test]
    fn what_goes_in_comes_out_and_equal_texts_are_stored_once() {
        let mut batch = Batch::default();
        let tool =
            Fact::ToolResult { tool: Some("Edit"), ok: Some(true), duration_us: None, error_type: None };
        batch.push(origin("s-1"), [tool.clone(), Fact::Refusal]);
        batch.push(origin("s-1"), [Fact::<&str>::Refusal]);
        let mark = batch.mark();
        batch.push(origin("s-2"), [Fact::<&str>::Refusal]);
        batch.back_to(&mark);
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
