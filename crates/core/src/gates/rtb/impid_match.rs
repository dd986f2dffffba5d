//! `rtb.impid-match`: bids for impressions that were not requested.
//!
//! Reasons: `bid missing impid`; `bid impid is not a string`; `bid impid not present in request`. Skipped:
//! `no imps in request`, and then `no bids in response`. An empty id counts as missing.

use serde_json::Value;

use super::{Auction, Checked};
use crate::gates::verdict::Finding;

pub(super) fn check(auction: &Auction) -> Checked {
    let imps = auction.imps();
    if imps.is_empty() {
        return Err(Finding::Skip("no imps in request".into()));
    }
    for bid in auction.bids()? {
        let problem = match bid.get("impid") {
            None | Some(Value::Null) => "bid missing impid",
            Some(Value::String(id)) if id.is_empty() => "bid missing impid",
            Some(Value::String(id)) if imps.contains_key(id.as_str()) => continue,
            Some(Value::String(_)) => "bid impid not present in request",
            Some(_) => "bid impid is not a string",
        };
        return Err(Finding::Fail(problem.to_owned()));
    }
    Ok(())
}
