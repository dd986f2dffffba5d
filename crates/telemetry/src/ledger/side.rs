//! What the records of one signal of a session add up to.

use renown_core::time::Timestamp;

use crate::bytes::{Cursor, Read, Writer};
use crate::facts::{ApiRequest, Cost, Decider, Fact, Tokens};

/// Sums over the records of one signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    /// Records with a fact, also one that another record had told before: which comes first must not matter.
    pub(crate) records: u64,
    pub(crate) facts: u64,
    pub(crate) tools: u64,
    pub(crate) tools_ok: u64,
    pub(crate) prompts: u64,
    requests: Usage,
    /// Of the sums that agents give over their requests.
    sums: Usage,
    pub(crate) api_errors: u64,
    pub(crate) accepts: u64,
    pub(crate) rejects: u64,
    pub(crate) rejects_by_user: u64,
    /// The latest, and of those at one time the best.
    feedback: Option<(Option<Timestamp>, i8)>,
    pub(crate) compactions: u64,
    pub(crate) refusals: u64,
}

/// Sums over API requests. Tokens are at most 10^15 a record, so they need more than 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) requests: u64,
    pub(crate) with_tokens: u64,
    pub(crate) reported: u64,
    pub(crate) priced: u64,
    pub(crate) tokens: u128,
    pub(crate) cache_read: u128,
    pub(crate) cost_nano: u128,
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
            bytes.whole(count.into());
        }
        for sum in [tokens, cache_read, cost_nano] {
            bytes.whole(sum);
        }
    }

    fn read(cursor: &mut Cursor<'_>) -> Read<Self> {
        let (requests, with_tokens) = (cursor.number()?, cursor.number()?);
        let (reported, priced) = (cursor.number()?, cursor.number()?);
        let (tokens, cache_read, cost_nano) = (cursor.whole()?, cursor.whole()?, cursor.whole()?);
        Ok(Self { requests, with_tokens, reported, priced, tokens, cache_read, cost_nano })
    }

    /// Whether any request says what it used.
    fn is_told(&self) -> bool {
        self.with_tokens + self.reported > 0
    }
}

impl Side {
    /// Moves the window so that it has this time in it.
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

    /// Whether it says what was done: a tool result or an API request.
    pub(crate) fn has_work(&self) -> bool {
        self.tools + self.requests.requests + self.sums.requests > 0
    }

    /// The usage that counts: that of the requests, or where they say nothing, of the sums over them.
    pub(crate) fn usage(&self) -> &Usage {
        if self.sums.is_told() && !self.requests.is_told() { &self.sums } else { &self.requests }
    }

    pub(crate) fn write(&self, bytes: &mut Writer) {
        let Self { first, last, records, facts, tools, tools_ok, prompts, requests, sums, .. } = self;
        let Self { api_errors, accepts, rejects, rejects_by_user, feedback, compactions, refusals, .. } =
            self;
        bytes.maybe_time(*first);
        bytes.maybe_time(*last);
        let counts =
            [records, facts, tools, tools_ok, prompts, api_errors, accepts, rejects, rejects_by_user];
        for count in counts.into_iter().chain([compactions, refusals]) {
            bytes.whole((*count).into());
        }
        requests.write(bytes);
        sums.write(bytes);
        bytes.0.push(feedback.is_some().into());
        if let Some((at, rating)) = feedback {
            bytes.maybe_time(*at);
            bytes.0.push(rating.cast_unsigned());
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Read<Self> {
        Ok(Self {
            first: cursor.if_there(Cursor::time)?,
            last: cursor.if_there(Cursor::time)?,
            records: cursor.number()?,
            facts: cursor.number()?,
            tools: cursor.number()?,
            tools_ok: cursor.number()?,
            prompts: cursor.number()?,
            api_errors: cursor.number()?,
            accepts: cursor.number()?,
            rejects: cursor.number()?,
            rejects_by_user: cursor.number()?,
            compactions: cursor.number()?,
            refusals: cursor.number()?,
            requests: Usage::read(cursor)?,
            sums: Usage::read(cursor)?,
            feedback: cursor
                .if_there(|cursor| Ok((cursor.if_there(Cursor::time)?, cursor.byte()?.cast_signed())))?,
        })
    }

    /// The latest feedback.
    pub(crate) fn feedback(&self) -> Option<i8> {
        self.feedback.map(|(_, rating)| rating)
    }
}
