//! # Every fact once
//!
//! Agents copy records into new sessions. All copies of a record have equal keys, and the record counts in one session:
//!
//! 1. the session that a mark names, if that session has files; a mark that is no proof counts if it has the record too
//! 2. else the earliest session: by the time of creation, or by the first record that no other session has. A session
//!    without such a record comes first. Of equal ones, the smaller id
//!
//! A copy whose original is gone counts where it is.
//!
//! A fork of Codex has no marks, and ids that are only unique in one thread. Its copied part ends after the last of
//! the leading facts that its parent has too, in order. Without the parent's file, it ends at the first pause.
//!
//! A sub-agent with a session of its own counts in the session that started it, and that one in its own parent's.
//!
//! | cost of a call | source |
//! |---|---|
//! | the session's own sum | reported: the first call has it all, the others 0; not within a time range |
//! | the call's own cost | reported; of OpenCode, 0 is no cost if the model has a price |
//! | none, and the model has a price | an estimate |
//!
//! The result does not depend on the order of the files, except where two versions of one record are equally good.

mod fold;
mod groups;
mod sessions;

use super::{Transcript, TranscriptCounts};
use crate::dialect::Agent;
use crate::facts::{ApiRequest, Cost, Fact, RecordOrigin, Tokens};
use crate::ledger::{Session, TimeRange};
use crate::prices::Prices;
use crate::report::SessionReport;
use fold::Fold;
use groups::{Groups, keep};
use sessions::Sessions;

/// A session that was read from transcripts.
#[derive(Clone, Debug)]
pub struct JudgedTranscript {
    /// Fold of its facts.
    pub session: Session,
    /// Kind of the agent.
    pub agent: Agent,
    /// Models of its API requests, in alphabetical order.
    pub models: Vec<String>,
    /// What each of them used, in the same order; then what requests without a model used.
    pub usage: Vec<ModelUsage>,
    /// Version of the agent.
    pub agent_version: Option<String>,
    /// Directory in which the agent worked.
    pub project: Option<String>,
    /// Models without a price, in alphabetical order.
    pub unpriced: Vec<String>,
    /// Whether the agent recorded only a part of the tokens.
    pub has_partial_tokens: bool,
}

/// What the requests to one model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// Tokens of all kinds.
    pub total_tokens: u64,
    /// Tokens read from the cache.
    pub cache_tokens: u64,
    /// Cost in nano-dollars.
    pub cost_nano: u128,
    /// Whether a request has a cost that the agent reported.
    pub has_reported: bool,
    /// Whether a request has an estimated cost.
    pub has_priced: bool,
}

impl ModelUsage {
    fn add<T>(&mut self, request: &ApiRequest<T>) {
        let Tokens { input, output, cache_read, cache_creation } = request.tokens.unwrap_or_default();
        let sum = [input, output, cache_read, cache_creation].into_iter().fold(0, u64::saturating_add);
        self.total_tokens = self.total_tokens.saturating_add(sum);
        self.cache_tokens = self.cache_tokens.saturating_add(cache_read);
        let cost = match request.cost {
            Some(Cost::Reported(cost)) => {
                self.has_reported = true;
                cost
            }
            Some(Cost::Priced(cost)) => {
                self.has_priced = true;
                cost
            }
            None => return,
        };
        self.cost_nano = self.cost_nano.saturating_add(cost.nano());
    }
}

impl JudgedTranscript {
    /// Scores the session. Returns `None` if there is nothing to score.
    pub fn report(&self) -> Option<SessionReport<'_>> {
        let mut report = self.session.report()?;
        let coverage = &mut report.coverage;
        let is_new = !coverage.partial.contains(&TOKENS) && coverage.present.contains(&TOKENS);
        if self.has_partial_tokens && is_new {
            coverage.partial.push(TOKENS);
        }
        Some(report)
    }
}

/// The name of this evidence in the coverage.
const TOKENS: &str = "tokens";

/// Merges the transcripts of all agents.
#[derive(Debug)]
pub struct TranscriptMerge<'a> {
    prices: &'a Prices,
    range: TimeRange,
    agent_id: Option<&'a str>,
    files: Vec<(Agent, Transcript)>,
}

/// A function that takes the records of sessions, each once.
type Sink<'s> = &'s mut dyn FnMut(&RecordOrigin<&str>, &[Fact<&str>]);

impl<'a> TranscriptMerge<'a> {
    /// Creates a merge that counts facts within a time range.
    pub fn new(range: TimeRange, prices: &'a Prices) -> Self {
        Self { prices, range, agent_id: None, files: Vec::new() }
    }

    /// Sets the agent id of all sessions, instead of the name of the agent.
    #[must_use]
    pub fn with_agent_id(self, agent_id: Option<&'a str>) -> Self {
        Self { agent_id, ..self }
    }

    /// Adds the facts of a file. Files should be added in the order of their paths.
    pub fn add(&mut self, agent: Agent, transcript: Transcript) {
        self.files.push((agent, transcript));
    }

    /// Returns the counts of all files.
    pub fn counts(&self) -> TranscriptCounts {
        let mut counts = TranscriptCounts::default();
        for (_, file) in &self.files {
            counts += file.counts;
        }
        counts
    }

    /// Returns the sessions, in no order.
    pub fn finish(self) -> Vec<JudgedTranscript> {
        self.finish_into(&mut |_, _| {})
    }

    /// Returns the sessions, in no order, and passes on the records that they are made of.
    pub fn finish_into(self, sink: Sink<'_>) -> Vec<JudgedTranscript> {
        let all = Sessions::of(&self.files);
        let groups = Groups::of(&self.files, &all);
        let kept = keep(&self.files, &all, &groups);
        let mut fold = Fold::new(&self, &all, sink);
        fold.moments(&groups);
        fold.entries(kept);
        fold.finish()
    }
}

#[cfg(test)]
mod tests;
