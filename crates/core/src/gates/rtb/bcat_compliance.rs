//! `rtb.bcat-compliance`: categories that the publisher blocked.
//!
//! | option | is | default |
//! |---|---|---|
//! | `parents` | IAB25 also blocks IAB25-2 | false |
//!
//! Reasons: `blocked category in response: IAB25-2`, where a code is shown only if it is `IAB\d{1,2}(-\d{1,2})?`;
//! `bid cat is not a list of categories`; `bcat is not a list of categories`. Skipped: `no bcat in request`, also if
//! it is empty.

use super::{Auction, Checked, categories, with_code};
use crate::gates::options::{Options, SettingsError};
use crate::gates::verdict::Finding;

#[derive(Debug)]
pub(in crate::gates) struct BcatCompliance {
    parents: bool,
}

impl BcatCompliance {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        Ok(Self { parents: options.flag("parents", false)? })
    }

    pub(super) fn check(&self, auction: &Auction) -> Checked {
        let fail = |reason: &str| Finding::Fail(reason.to_owned());
        let blocked = categories(auction.request.get("bcat"))
            .ok_or_else(|| fail("bcat is not a list of categories"))?;
        if blocked.is_empty() {
            return Err(Finding::Skip("no bcat in request".into()));
        }
        for bid in auction.bids()? {
            let served =
                categories(bid.get("cat")).ok_or_else(|| fail("bid cat is not a list of categories"))?;
            let is_blocked = |code: &&String| {
                let parent = code.split_once('-').map(|(parent, _)| parent).filter(|_| self.parents);
                blocked.iter().any(|known| known == *code || Some(known.as_str()) == parent)
            };
            if let Some(code) = served.iter().find(is_blocked) {
                return Err(with_code("blocked category in response", code));
            }
        }
        Ok(())
    }
}
