//! The fold of one OTLP signal (logs or spans) of a session.
//!
//! All counts and sums saturate: a damaged snapshot may hold any number, and the next record must not overflow or
//! panic.

use std::num::Saturating;

use renown_core::time::Timestamp;

use crate::bytes::{Cursor, Read, Writer};
use crate::facts::{ApiRequest, Cost, Decider, Fact, Tokens};

/// A number of records or facts.
pub(crate) type Count = Saturating<u64>;

/// A sum over records.
pub(crate) type Sum = Saturating<u128>;

/// Sums over the records of one OTLP signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    /// Records with at least one fact. A prompt that does not count (its trace has counted before) is included, so
    /// that the order of records does not matter.
    pub(crate) records: Count,
    pub(crate) facts: Count,
    pub(crate) tools: Count,
    pub(crate) tools_ok: Count,
    pub(crate) prompts: Count,
    requests: Usage,
    /// Usage of records that are sums over an agent's requests.
    sums: Usage,
    pub(crate) api_errors: Count,
    pub(crate) accepts: Count,
    pub(crate) rejects: Count,
    pub(crate) rejects_by_user: Count,
    /// The latest feedback. Of two at the same time, the better one.
    feedback: Option<(Option<Timestamp>, i8)>,
    pub(crate) compactions: Count,
    pub(crate) refusals: Count,
}

/// Sums over API requests. A record has up to 10^15 tokens, so sums need more than 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) requests: Count,
    pub(crate) with_tokens: Count,
    pub(crate) reported: Count,
    pub(crate) priced: Count,
    pub(crate) tokens: Sum,
    pub(crate) cache_read: Sum,
    pub(crate) cost_nano: Sum,
}

impl Usage {
    fn add<T>(&mut self, request: &ApiRequest<T>) {
        self.requests += 1;
        if let Some(Tokens { input, output, cache_read, cache_creation }) = request.tokens {
            self.with_tokens += 1;
            self.tokens += [input, output, cache_read, cache_creation].map(u128::from).iter().sum::<u128>();
            self.cache_read += u128::from(cache_read);
        }
        match request.cost {
            Some(Cost::Reported(cost)) => {
                self.reported += 1;
                self.cost_nano += cost.nano();
            }
            Some(Cost::Priced(cost)) => {
                self.priced += 1;
                self.cost_nano += cost.nano();
            }
            None => {}
        }
    }

    fn write(&self, bytes: &mut Writer) {
        let Self { requests, with_tokens, reported, priced, tokens, cache_read, cost_nano } = *self;
        for count in [requests, with_tokens, reported, priced] {
            bytes.varint(count.0.into());
        }
        for sum in [tokens, cache_read, cost_nano] {
            bytes.varint(sum.0);
        }
    }

    fn read(cursor: &mut Cursor<'_>) -> Read<Self> {
        Ok(Self {
            requests: count(cursor)?,
            with_tokens: count(cursor)?,
            reported: count(cursor)?,
            priced: count(cursor)?,
            tokens: sum(cursor)?,
            cache_read: sum(cursor)?,
            cost_nano: sum(cursor)?,
        })
    }

    /// Whether any request reports tokens or a cost.
    fn is_reported(&self) -> bool {
        self.with_tokens.0 > 0 || self.reported.0 > 0
    }

    fn is_empty(&self) -> bool {
        self.requests.0 == 0
    }
}

fn count(cursor: &mut Cursor<'_>) -> Read<Count> {
    cursor.number().map(Saturating)
}

fn sum(cursor: &mut Cursor<'_>) -> Read<Sum> {
    cursor.varint().map(Saturating)
}

impl Side {
    /// Extends the time span to include this time.
    pub(crate) fn widen(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    pub(crate) fn add<T>(&mut self, fact: &Fact<T>, at: Option<Timestamp>) {
        self.facts += 1;
        match fact {
            Fact::ToolResult { ok, .. } => {
                self.tools += 1;
                self.tools_ok += u64::from(*ok == Some(true));
            }
            Fact::Prompt { .. } => self.prompts += 1,
            Fact::ApiRequest(request) if request.is_sum => self.sums.add(request),
            Fact::ApiRequest(request) => self.requests.add(request),
            Fact::ApiError { .. } => self.api_errors += 1,
            Fact::ToolDecision { accepted: true, .. } => self.accepts += 1,
            Fact::ToolDecision { accepted: false, by, .. } => {
                self.rejects += 1;
                self.rejects_by_user += u64::from(*by == Decider::User);
            }
            Fact::Feedback { rating } => self.feedback = self.feedback.max(Some((at, *rating))),
            Fact::Compaction { .. } => self.compactions += 1,
            Fact::Refusal => self.refusals += 1,
        }
    }

    /// Whether there is a tool result or an API request.
    pub(crate) fn has_work(&self) -> bool {
        self.tools.0 > 0 || !self.requests.is_empty() || !self.sums.is_empty()
    }

    /// Whether there is evidence to score: a tool result, an API request or a prompt.
    pub(crate) fn has_evidence(&self) -> bool {
        self.has_work() || self.prompts.0 > 0
    }

    /// Returns the usage that counts: that of the requests, or that of the sums if no request reports its usage.
    pub(crate) fn usage(&self) -> &Usage {
        if self.sums.is_reported() && !self.requests.is_reported() { &self.sums } else { &self.requests }
    }

    pub(crate) fn write(&self, bytes: &mut Writer) {
        let Self { first, last, records, facts, tools, tools_ok, prompts, requests, sums, .. } = self;
        let Self { api_errors, accepts, rejects, rejects_by_user, feedback, compactions, refusals, .. } =
            self;
        bytes.optional_time(*first);
        bytes.optional_time(*last);
        let counts =
            [records, facts, tools, tools_ok, prompts, api_errors, accepts, rejects, rejects_by_user];
        for count in counts.into_iter().chain([compactions, refusals]) {
            bytes.varint(count.0.into());
        }
        requests.write(bytes);
        sums.write(bytes);
        bytes.0.push(feedback.is_some().into());
        if let Some((at, rating)) = feedback {
            bytes.optional_time(*at);
            bytes.0.push(rating.cast_unsigned());
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Read<Self> {
        Ok(Self {
            first: cursor.optional(Cursor::time)?,
            last: cursor.optional(Cursor::time)?,
            records: count(cursor)?,
            facts: count(cursor)?,
            tools: count(cursor)?,
            tools_ok: count(cursor)?,
            prompts: count(cursor)?,
            api_errors: count(cursor)?,
            accepts: count(cursor)?,
            rejects: count(cursor)?,
            rejects_by_user: count(cursor)?,
            compactions: count(cursor)?,
            refusals: count(cursor)?,
            requests: Usage::read(cursor)?,
            sums: Usage::read(cursor)?,
            feedback: cursor
                .optional(|cursor| Ok((cursor.optional(Cursor::time)?, cursor.byte()?.cast_signed())))?,
        })
    }

    /// Returns the latest feedback.
    pub(crate) fn feedback(&self) -> Option<i8> {
        self.feedback.map(|(_, rating)| rating)
    }
}
