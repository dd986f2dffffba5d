//! Input of the performance score: the totals of one session.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FORMULA_VERSION, Performance, SessionTotals};
use crate::explain::Explanation;
use crate::time::Timestamp;
use crate::units::{NanoUsd, Whole};

/// Input of `renown score performance`: the totals of one session. Every field is required.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "RawInput")]
pub struct Input {
    totals: SessionTotals,
}

impl Input {
    /// Computes the performance of the session.
    pub fn score(&self) -> VersionedPerformance {
        VersionedPerformance { performance: self.totals.performance(), formula_version: FORMULA_VERSION }
    }

    /// Explains the performance: the contribution of each dimension.
    pub fn explain(&self) -> Explanation {
        self.totals.performance().explain()
    }
}

/// A performance and the version of its formula: the output of `renown score performance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionedPerformance {
    /// The performance.
    #[serde(flatten)]
    pub performance: Performance,
    /// The version of the formula.
    pub formula_version: &'static str,
}

#[derive(Deserialize)]
struct RawInput {
    started_at: Timestamp,
    ended_at: Timestamp,
    prompts: Whole,
    total_tools: Whole,
    tools_ok: Whole,
    total_cost: NanoUsd,
    total_tokens: Whole,
    cache_tokens: Whole,
}

/// Why totals are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalsError {
    /// The session ended before it started.
    EndsBeforeStart(Timestamp, Timestamp),
    /// More tool calls succeeded than ran.
    MoreOkThanTools(u64, u64),
    /// More tokens were read from the cache than there were tokens.
    MoreCachedThanTokens(u64, u64),
}

impl fmt::Display for TotalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsBeforeStart(ended, started) => {
                write!(f, "ended_at: {ended}, expected a time not before started_at, {started}")
            }
            Self::MoreOkThanTools(ok, tools) => {
                write!(f, "tools_ok: {ok}, expected at most total_tools, {tools}")
            }
            Self::MoreCachedThanTokens(cached, tokens) => {
                write!(f, "cache_tokens: {cached}, expected at most total_tokens, {tokens}")
            }
        }
    }
}

impl std::error::Error for TotalsError {}

impl TryFrom<RawInput> for Input {
    type Error = TotalsError;

    fn try_from(raw: RawInput) -> Result<Self, TotalsError> {
        let duration_ns = u64::try_from(raw.ended_at.nanos() - raw.started_at.nanos())
            .map_err(|_| TotalsError::EndsBeforeStart(raw.ended_at, raw.started_at))?;
        let (tools_ok, total_tools) = (raw.tools_ok.get(), raw.total_tools.get());
        if tools_ok > total_tools {
            return Err(TotalsError::MoreOkThanTools(tools_ok, total_tools));
        }
        let (cache_tokens, total_tokens) = (raw.cache_tokens.get(), raw.total_tokens.get());
        if cache_tokens > total_tokens {
            return Err(TotalsError::MoreCachedThanTokens(cache_tokens, total_tokens));
        }
        let prompts = raw.prompts.get();
        let total_cost = raw.total_cost;
        Ok(Self {
            totals: SessionTotals {
                duration_ns,
                prompts,
                total_tools,
                tools_ok,
                total_cost,
                total_tokens,
                cache_tokens,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    const GOOD: &str = r#"{"started_at":"2026-11-15T09:00:00Z","ended_at":"2026-11-15T09:45:00Z","prompts":12,"total_tools":87,"tools_ok":80,"total_cost":0.34,"total_tokens":142000,"cache_tokens":98000}"#;

    #[test]
    fn errors_name_the_invalid_total() {
        assert!(parse::<Input>(GOOD.as_bytes()).is_ok());
        for (good, bad, message) in [
            (":80", ":88", "tools_ok: 88, expected at most total_tools, 87"),
            (":98000", ":142001", "cache_tokens: 142001, expected at most total_tokens, 142000"),
            (
                "T09:45",
                "T08:45",
                "ended_at: 2026-11-15T08:45:00.000Z, expected a time not before started_at, 2026-11-15T09:00:00.000Z",
            ),
            (":12", ":-1", "prompts: -1 is negative, expected a whole number from 0 to 9223372036854775807"),
            (":0.34", ":-0.34", "total_cost: -0.34, expected a cost of 0 or more"),
            (":0.34", ":\"0.34\"", "total_cost: \"0.34\", expected a decimal number of US dollars"),
            ("\"prompts\":12,", "", "missing field `prompts`"),
        ] {
            assert_eq!(
                parse::<Input>(GOOD.replacen(good, bad, 1).as_bytes()).unwrap_err().to_string(),
                message
            );
        }
    }

    #[test]
    fn both_sides_of_each_limit() {
        for equal in [(":80", ":87"), (":98000", ":142000"), ("T09:45", "T09:00")] {
            assert!(parse::<Input>(GOOD.replacen(equal.0, equal.1, 1).as_bytes()).is_ok(), "{equal:?}");
        }
    }
}
