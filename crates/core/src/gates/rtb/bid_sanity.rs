//! `rtb.bid-sanity`: implausible prices.
//!
//! | option | is | default |
//! |---|---|---|
//! | `max_floor_multiple` | largest price as a multiple of the floor, a positive number | 50 |
//! | `max_price` | largest price, a positive number | none |
//! | `enforce_floor` | a price below the floor fails | false |
//!
//! Reasons, in this order for each bid: `bid missing price`, `bid price is not a number`, `bid price is negative`,
//! `bid price above cap 25`, `bid price over 50x floor`, `bid price below floor`.
//!
//! The floor is that of the imp with the bid's `impid`, if it is above 0 and in the currency of the response. Both
//! currencies are US dollars by default. Without a floor only the cap counts. Prices are floats, in which 50 × 0.29
//! is not 14.5, so prices that differ by a billionth count as equal.

use serde_json::{Map, Value};

use super::{Auction, Checked, DOLLARS};
use crate::gates::options::{Options, SettingsError};
use crate::gates::verdict::Finding;

const MAX_FLOOR_MULTIPLE: f64 = 50.0;
const SLACK: f64 = 1e-9;

#[derive(Debug)]
pub(in crate::gates) struct BidSanity {
    max_floor_multiple: f64,
    max_price: Option<f64>,
    enforce_floor: bool,
}

impl BidSanity {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let max_floor_multiple = options.number("max_floor_multiple", "a positive number", positive)?;
        Ok(Self {
            max_floor_multiple: max_floor_multiple.unwrap_or(MAX_FLOOR_MULTIPLE),
            max_price: options.number("max_price", "a positive price", positive)?,
            enforce_floor: options.flag("enforce_floor", false)?,
        })
    }

    pub(super) fn check(&self, auction: &Auction) -> Checked {
        let (imps, currency) = (auction.imps(), auction.currency());
        for bid in auction.bids()? {
            let imp = bid.get("impid").and_then(Value::as_str).and_then(|id| imps.get(id));
            let floor = imp.and_then(|imp| floor(imp, currency));
            if let Some(problem) = self.problem(bid, floor) {
                return Err(Finding::Fail(problem));
            }
        }
        Ok(())
    }

    #[expect(
        clippy::float_arithmetic,
        reason = "prices are floats, compared with a tolerance of one billionth"
    )]
    fn problem(&self, bid: &Map<String, Value>, floor: Option<f64>) -> Option<String> {
        let price = match bid.get("price") {
            None | Some(Value::Null) => return Some("bid missing price".to_owned()),
            Some(price) => match price.as_f64() {
                Some(price) => price,
                None => return Some("bid price is not a number".to_owned()),
            },
        };
        let multiple = self.max_floor_multiple;
        match (self.max_price, floor) {
            _ if price < 0.0 => Some("bid price is negative".to_owned()),
            (Some(cap), _) if price > cap => Some(format!("bid price above cap {cap}")),
            (_, Some(floor)) if price > multiple * floor * (1.0 + SLACK) => {
                Some(format!("bid price over {multiple}x floor"))
            }
            (_, Some(floor)) if self.enforce_floor && price < floor * (1.0 - SLACK) => {
                Some("bid price below floor".to_owned())
            }
            _ => None,
        }
    }
}

fn floor(imp: &Map<String, Value>, currency: &str) -> Option<f64> {
    let of_floor = imp.get("bidfloorcur").and_then(Value::as_str).unwrap_or(DOLLARS);
    let floor = imp.get("bidfloor").and_then(Value::as_f64)?;
    (floor > 0.0 && of_floor.eq_ignore_ascii_case(currency)).then_some(floor)
}
