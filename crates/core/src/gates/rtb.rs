//! `rtb.*`: bids of a real-time auction, `OpenRTB` 2.5 and 2.6. The input is the bid request, the output is the
//! response.
//!
//! | gate | file | looks for |
//! |---|---|---|
//! | `rtb.tmax-guard` | `rtb/tmax_guard.rs` | too little time left: then no other auction gate runs |
//! | `rtb.impid-match` | `rtb/impid_match.rs` | bids for impressions that were not requested |
//! | `rtb.adomain-verify` | `rtb/adomain_verify.rs` | advertisers without a domain, or with a placeholder domain |
//! | `rtb.bid-sanity` | `rtb/bid_sanity.rs` | implausible prices |
//! | `rtb.audience-safety` | `rtb/audience_safety.rs` | ads that children must not see |
//! | `rtb.bcat-compliance` | `rtb/bcat_compliance.rs` | categories that the publisher blocked |
//!
//! `rtb` in a set means all six, in this order. If a set contains `rtb` and no `budget_ms` is configured, the budget
//! is 15 ms.
//!
//! Bids are checked in order; the first that fails gives the reason. Skipped: `no bids in response`.
//!
//! An invalid bid response fails every gate that needs one: `response is not an object`, `seatbid is not a list`,
//! `seat is not an object`, `bid list is not a list`, `bid is not an object`. An output or input with a repeated key
//! fails, `repeated key in output`: the exchange and the gate could read different bids. Null means absent. A request
//! that is not an object counts as absent; a string that contains the JSON of an object counts as that object.

mod adomain_verify;
mod audience_safety;
mod bcat_compliance;
mod bid_sanity;
mod impid_match;
mod tmax_guard;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::engine::{Context, Tmax};
use super::options::{Options, SettingsError};
use super::scan::{Deadline, TimedOut};
use super::tree::{NoTree, tree};
use super::verdict::Finding;
use adomain_verify::AdomainVerify;
use audience_safety::AudienceSafety;
use bcat_compliance::BcatCompliance;
use bid_sanity::BidSanity;
pub(super) use tmax_guard::NEARLY_SPENT;
use tmax_guard::TmaxGuard;

/// The gates that `rtb` in a set means.
pub(super) const MEMBERS: [&str; 6] = [
    "rtb.tmax-guard",
    "rtb.impid-match",
    "rtb.adomain-verify",
    "rtb.bid-sanity",
    "rtb.audience-safety",
    "rtb.bcat-compliance",
];

/// The budget of a set with `rtb`, in milliseconds.
pub(super) const BUDGET_MS: u64 = 15;

#[derive(Debug)]
pub(super) enum Rtb {
    TmaxGuard(TmaxGuard),
    ImpidMatch,
    AdomainVerify(AdomainVerify),
    BidSanity(BidSanity),
    AudienceSafety(AudienceSafety),
    BcatCompliance(BcatCompliance),
}

/// The result of a check. A finding ends the check.
type Checked = Result<(), Finding>;

impl Rtb {
    /// Builds the gate of this kind. Returns `None` if the kind is unknown.
    pub(super) fn build(kind: &str, options: &mut Options<'_>) -> Result<Option<Self>, SettingsError> {
        Ok(Some(match kind {
            "rtb.tmax-guard" => Self::TmaxGuard(TmaxGuard::build(options)?),
            "rtb.impid-match" => Self::ImpidMatch,
            "rtb.adomain-verify" => Self::AdomainVerify(AdomainVerify::build(options)?),
            "rtb.bid-sanity" => Self::BidSanity(BidSanity::build(options)?),
            "rtb.audience-safety" => Self::AudienceSafety(AudienceSafety::build(options)?),
            "rtb.bcat-compliance" => Self::BcatCompliance(BcatCompliance::build(options)?),
            _ => return Ok(None),
        }))
    }

    /// Returns whether this is the guard and it finds too little time left.
    pub(super) fn stops(&self, tmax: Option<Tmax>) -> bool {
        match self {
            Self::TmaxGuard(guard) => tmax.is_some_and(|tmax| guard.stops(tmax)),
            Self::ImpidMatch
            | Self::AdomainVerify(_)
            | Self::BidSanity(_)
            | Self::AudienceSafety(_)
            | Self::BcatCompliance(_) => false,
        }
    }

    /// Returns whether it needs the request and the response.
    pub(super) fn needs_auction(&self) -> bool {
        !matches!(self, Self::TmaxGuard(_))
    }

    /// Returns the finding of the guard.
    pub(super) fn check_time(&self, tmax: Option<Tmax>) -> Finding {
        match self {
            Self::TmaxGuard(guard) => guard.check(tmax),
            Self::ImpidMatch
            | Self::AdomainVerify(_)
            | Self::BidSanity(_)
            | Self::AudienceSafety(_)
            | Self::BcatCompliance(_) => Finding::Pass,
        }
    }

    pub(super) fn check(&self, auction: &Auction) -> Finding {
        let checked = match self {
            Self::TmaxGuard(_) => Ok(()),
            Self::ImpidMatch => impid_match::check(auction),
            Self::AdomainVerify(gate) => gate.check(auction),
            Self::BidSanity(gate) => gate.check(auction),
            Self::AudienceSafety(gate) => gate.check(auction),
            Self::BcatCompliance(gate) => gate.check(auction),
        };
        checked.err().unwrap_or(Finding::Pass)
    }
}

/// A bid request, if there is one, and its response.
#[derive(Debug)]
pub(super) struct Auction {
    request: Map<String, Value>,
    response: Value,
}

impl Auction {
    /// Parses both. The error is the reason with which a gate fails.
    pub(super) fn read(
        context: &Context<'_>,
        deadline: &Deadline<'_>,
    ) -> Result<Result<Self, String>, TimedOut> {
        let read = |text: &str, what: &str| match object(text, deadline) {
            Ok(value) => Ok(Ok(value)),
            Err(NoTree::TimedOut) => Err(TimedOut),
            Err(why) => Ok(Err(why.reason(what))),
        };
        let request = match context.input.map(|input| read(input.get(), "input")).transpose()? {
            Some(Ok(Value::Object(request))) => request,
            Some(Err(reason)) => return Ok(Err(reason)),
            Some(Ok(_)) | None => Map::new(),
        };
        Ok(read(context.output.get(), "output")?.map(|response| Self { request, response }))
    }

    /// Returns all bids in order, at least one.
    fn bids(&self) -> Result<Vec<&Map<String, Value>>, Finding> {
        let fail = |what: &str| Finding::Fail(what.to_owned());
        let response = match &self.response {
            Value::Null => return Err(no_bids()),
            Value::Object(response) => response,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(fail("response is not an object"));
            }
        };
        let mut bids = Vec::new();
        for seat in list(response.get("seatbid")).ok_or_else(|| fail("seatbid is not a list"))? {
            let seat = seat.as_object().ok_or_else(|| fail("seat is not an object"))?;
            for bid in list(seat.get("bid")).ok_or_else(|| fail("bid list is not a list"))? {
                bids.push(bid.as_object().ok_or_else(|| fail("bid is not an object"))?);
            }
        }
        if bids.is_empty() { Err(no_bids()) } else { Ok(bids) }
    }

    /// Returns the impressions by id. The first of two with the same id counts.
    fn imps(&self) -> BTreeMap<&str, &Map<String, Value>> {
        let mut imps = BTreeMap::new();
        for imp in list(self.request.get("imp")).unwrap_or_default() {
            if let Some(imp) = imp.as_object()
                && let Some(id) = imp.get("id").and_then(Value::as_str)
            {
                imps.entry(id).or_insert(imp);
            }
        }
        imps
    }

    /// Returns a field of an object of the request.
    fn request_field(&self, object: &str, field: &str) -> Option<&Value> {
        self.request.get(object)?.get(field).filter(|value| !value.is_null())
    }

    /// Returns the currency of all prices of the response.
    fn currency(&self) -> &str {
        self.response.get("cur").and_then(Value::as_str).unwrap_or(DOLLARS)
    }
}

/// The default currency.
const DOLLARS: &str = "USD";

fn no_bids() -> Finding {
    Finding::Skip("no bids in response".into())
}

fn object(text: &str, deadline: &Deadline<'_>) -> Result<Value, NoTree> {
    let value = tree(text, Some(deadline))?;
    let Some(inner) = value.as_str().filter(|inner| inner.trim_start().starts_with('{')) else {
        return Ok(value);
    };
    match tree(inner, Some(deadline)) {
        // It only looked like JSON of an object.
        Err(NoTree::Unreadable) => Ok(value),
        read => read,
    }
}

/// Returns the elements of a list: an empty list if absent, `None` if it is not a list.
fn list(value: Option<&Value>) -> Option<&[Value]> {
    match value {
        None | Some(Value::Null) => Some(&[]),
        Some(Value::Array(items)) => Some(items),
        Some(_) => None,
    }
}

/// Normalizes categories: trimmed, upper case. A single category counts as a list of one; a number counts as its
/// digits. Returns `None` for anything else.
fn categories(value: Option<&Value>) -> Option<Vec<String>> {
    let code = |value: &Value| match value {
        Value::String(code) => Some(code.trim().to_ascii_uppercase()),
        Value::Number(code) => Some(code.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Some(single @ (Value::String(_) | Value::Number(_))) => Some(vec![code(single)?]),
        other => list(other)?.iter().map(code).collect(),
    }
}

/// Returns a reason with the code of a category, if it has the format of the taxonomy. Other codes are text of the
/// payload.
fn with_code(reason: &str, code: &str) -> Finding {
    let is_number =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let known = code.strip_prefix("IAB").is_some_and(|rest| match rest.split_once('-') {
        Some((major, minor)) => is_number(major) && is_number(minor),
        None => is_number(rest),
    });
    Finding::Fail(if known { format!("{reason}: {code}") } else { reason.to_owned() })
}

#[cfg(test)]
mod tests;
