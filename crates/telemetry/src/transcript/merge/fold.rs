//! Folds the facts that count into sessions, and decides on the cost of each call.

use std::collections::{BTreeMap, BTreeSet};

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::groups::{Groups, Kept};
use super::sessions::{About, SessionNumber, Sessions};
use super::{JudgedTranscript, ModelUsage, Sink, TranscriptMerge};
use crate::dialect::Agent;
use crate::facts::{ApiRequest, Cost, Fact, Fingerprint, RecordOrigin, Signal, Sourced, Tokens};
use crate::ledger::{Session, TimeRange};
use crate::transcript::Name;

/// Folds facts into sessions.
pub(super) struct Fold<'m, 'f> {
    pub(super) merge: &'m TranscriptMerge<'m>,
    pub(super) all: &'m Sessions<'f>,
    pub(super) sink: Sink<'m>,
    /// Sessions at the number of their root.
    pub(super) sessions: Vec<Option<Folded<'f>>>,
}

pub(super) struct Folded<'f> {
    pub(super) session: Session,
    pub(super) models: BTreeMap<&'f str, ModelUsage>,
    pub(super) without_model: ModelUsage,
    pub(super) unpriced: BTreeSet<&'f str>,
    pub(super) has_partial_tokens: bool,
    /// The session's own sum of costs, which is not counted yet.
    pub(super) cost: Option<NanoUsd>,
    pub(super) has_own_cost: bool,
}

impl<'m, 'f> Fold<'m, 'f> {
    pub(super) fn new(merge: &'m TranscriptMerge<'m>, all: &'m Sessions<'f>, sink: Sink<'m>) -> Self {
        let mut sessions: Vec<Option<Folded<'f>>> = Vec::new();
        sessions.resize_with(all.list.len(), || None);
        Self { merge, all, sink, sessions }
    }

    pub(super) fn origin(
        &self,
        about: &About<'f>,
        at: Option<Timestamp>,
        repeat: Option<Fingerprint>,
    ) -> RecordOrigin<&'m str> {
        RecordOrigin {
            session: about.id,
            signal: Signal::Transcript,
            at,
            until: None,
            sequence: None,
            repeat,
            agent: Sourced { rank: 0, value: about.agent },
            agent_id: Sourced { rank: 3, value: self.merge.agent_id.unwrap_or(about.agent.name()) },
            masque: None,
            known: true,
        }
    }

    /// Adds a record to the root of a session.
    pub(super) fn add(
        &mut self,
        owner: SessionNumber,
        at: Option<Timestamp>,
        key: Option<Fingerprint>,
        fact: Option<&Fact<&str>>,
    ) {
        let all = self.all;
        let Some(root) = all.get(owner).and_then(|about| all.get(about.root)) else { return };
        let origin = self.origin(root, at, key);
        let facts = fact.map(std::slice::from_ref).unwrap_or_default();
        (self.sink)(&origin, facts);
        if let Some(folded) = self.folded(owner) {
            folded.session.add_record(&origin, facts, |_| true);
        }
    }

    /// Returns the root of a session.
    pub(super) fn folded(&mut self, session: SessionNumber) -> Option<&mut Folded<'f>> {
        let root = self.all.get(session)?.root;
        let about = self.all.get(root)?;
        let slot = self.sessions.get_mut(root as usize)?;
        Some(slot.get_or_insert_with(|| Folded {
            session: Session::new(about.id),
            models: BTreeMap::new(),
            without_model: ModelUsage::default(),
            unpriced: BTreeSet::new(),
            has_partial_tokens: about.has_partial_tokens,
            cost: about.cost,
            has_own_cost: about.cost.is_some(),
        }))
    }

    pub(super) fn contains(&self, at: Option<Timestamp>) -> bool {
        self.merge.range.contains(at)
    }

    pub(super) fn moments(&mut self, groups: &Groups) {
        let merge = self.merge;
        for (number, (_, file)) in merge.files.iter().enumerate() {
            let start = self.all.start_of(number);
            for moment in file.moments.iter().filter(|moment| moment.line >= start) {
                let at = Some(moment.at);
                let Some(session) = self.all.of_file(number, moment.session) else { continue };
                if self.contains(at) && groups.owner(moment.key, session) == session {
                    self.add(session, at, None, None);
                }
            }
        }
    }

    pub(super) fn entries(&mut self, kept: Vec<Kept<'_>>) {
        for Kept { owner, entry, file } in kept {
            if !self.contains(entry.at) {
                continue;
            }
            if self.all.get(owner).is_some_and(|about| about.has_partial_tokens)
                && let Some(folded) = self.folded(owner)
            {
                folded.has_partial_tokens = true;
            }
            let all = self.all;
            let fact = match all.rename(file, &entry.fact) {
                Fact::ApiRequest(request) => {
                    let request = self.request(owner, &request, entry.long_writes);
                    Fact::ApiRequest(request)
                }
                fact @ (Fact::ToolResult { .. }
                | Fact::Prompt { .. }
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal) => fact.map(|name| all.name(name)),
            };
            self.add(owner, entry.at, entry.keys.key, Some(&fact));
        }
    }

    /// Decides on the cost of a call.
    pub(super) fn request(
        &mut self,
        owner: SessionNumber,
        request: &ApiRequest<Name>,
        long_writes: u64,
    ) -> ApiRequest<&'f str> {
        let (all, prices) = (self.all, self.merge.prices);
        let is_whole = self.merge.range == TimeRange::default();
        let agent = all.get(owner).map_or(Agent::Unknown, |about| about.agent);
        let model = request.model.map(|name| all.name(name));
        let has_tokens = request.tokens.is_some_and(|tokens| tokens != Tokens::default());
        let estimate = || prices.cost_with(model?, request.tokens?, long_writes).map(Cost::Priced);
        let is_free = request.cost == Some(Cost::Reported(NanoUsd::from_nano(0)));
        let mut cost = match request.cost {
            None => estimate(),
            Some(reported) if agent == Agent::OpenCode && is_free && has_tokens => {
                Some(estimate().unwrap_or(reported))
            }
            reported => reported,
        };
        if let Some(folded) = self.folded(owner) {
            if folded.has_own_cost && is_whole {
                cost = Some(Cost::Reported(folded.cost.take().unwrap_or(NanoUsd::from_nano(0))));
            }
            if cost.is_none() && has_tokens {
                folded.unpriced.extend(model);
            }
        }
        let &ApiRequest { tokens, duration_us, is_sum, .. } = request;
        let request = ApiRequest { model, tokens, cost, duration_us, is_sum };
        if let Some(folded) = self.folded(owner) {
            let usage = match model {
                Some(model) => folded.models.entry(model).or_default(),
                None => &mut folded.without_model,
            };
            usage.add(&request);
        }
        request
    }

    pub(super) fn finish(mut self) -> Vec<JudgedTranscript> {
        // A session whose calls were not recorded still has its cost.
        for number in 0..self.sessions.len() {
            let Ok(number) = SessionNumber::try_from(number) else { break };
            let slot = self.sessions.get_mut(number as usize).and_then(Option::as_mut);
            let is_whole = self.merge.range == TimeRange::default();
            let Some(cost) = slot.and_then(|folded| folded.cost.take()).filter(|_| is_whole) else {
                continue;
            };
            let cost = Some(Cost::Reported(cost));
            let request = ApiRequest { model: None, tokens: None, cost, duration_us: None, is_sum: false };
            self.add(number, None, None, Some(&Fact::ApiRequest(request)));
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let folded = self.sessions.into_iter().zip(&self.all.list);
        folded
            .filter_map(|(folded, about)| {
                let Folded { session, models, without_model, unpriced, has_partial_tokens, .. } = folded?;
                let rest = (without_model != ModelUsage::default()).then_some(without_model);
                let usage = models.values().copied().chain(rest).collect();
                Some(JudgedTranscript {
                    session,
                    agent: about.agent,
                    models: models.into_keys().map(str::to_owned).collect(),
                    usage,
                    agent_version: about.version.map(str::to_owned),
                    project: about.project.map(str::to_owned),
                    unpriced: owned(unpriced),
                    has_partial_tokens,
                })
            })
            .collect()
    }
}
