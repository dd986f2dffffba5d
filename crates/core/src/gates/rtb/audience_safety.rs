//! `rtb.audience-safety`: ads that children must not see.
//!
//! | option | is | default |
//! |---|---|---|
//! | `unsafe_categories` | categories that children must not see; if empty, the gate is skipped | IAB7-39, IAB8-5, IAB8-18, IAB14-1, IAB25, IAB25-1…7, IAB26, IAB26-1…4 |
//! | `child_categories` | categories of apps and sites for children | IAB13 |
//! | `extra_bundle_keywords` | more words in the names of apps for children | none |
//!
//! Child-directed: `regs.coppa` is 1, `app.cat` or `site.cat` has one of the `child_categories`, or `app.bundle`
//! contains kids, child, toddler, preschool or baby, ignoring case. Otherwise skipped, `not child-directed`.
//!
//! Reasons: `child-directed inventory served unsafe category: IAB8-5`; `bid cat is not a list of categories`.
//! Skipped: `no unsafe categories configured`. IAB13 is the documented default, but it means personal finance in
//! taxonomy 1.0: set the category that your exchange uses.

use serde_json::Value;

use super::{Auction, Checked, categories, with_code};
use crate::gates::options::{Options, SettingsError};
use crate::gates::verdict::Finding;

const UNSAFE: [&str; 17] = [
    "IAB7-39", "IAB8-5", "IAB8-18", "IAB14-1", "IAB25", "IAB25-1", "IAB25-2", "IAB25-3", "IAB25-4",
    "IAB25-5", "IAB25-6", "IAB25-7", "IAB26", "IAB26-1", "IAB26-2", "IAB26-3", "IAB26-4",
];
const CHILD: [&str; 1] = ["IAB13"];
const BUNDLE_KEYWORDS: [&str; 5] = ["kids", "child", "toddler", "preschool", "baby"];

#[derive(Debug)]
pub(in crate::gates) struct AudienceSafety {
    unsafe_categories: Vec<String>,
    child_categories: Vec<String>,
    bundle_keywords: Vec<String>,
}

impl AudienceSafety {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let upper = |codes: Vec<&str>| codes.iter().map(|code| code.trim().to_ascii_uppercase()).collect();
        let expected = "a list of categories";
        let unsafe_categories = options.texts("unsafe_categories", expected)?.unwrap_or(UNSAFE.to_vec());
        let child_categories = options.texts("child_categories", expected)?.unwrap_or(CHILD.to_vec());
        let extra = options.texts("extra_bundle_keywords", "a list of words")?.unwrap_or_default();
        let words = BUNDLE_KEYWORDS.into_iter().chain(extra);
        Ok(Self {
            unsafe_categories: upper(unsafe_categories),
            child_categories: upper(child_categories),
            bundle_keywords: words.map(|word| word.trim().to_lowercase()).collect(),
        })
    }

    pub(super) fn check(&self, auction: &Auction) -> Checked {
        if self.unsafe_categories.is_empty() {
            return Err(Finding::Skip("no unsafe categories configured".into()));
        }
        if !self.is_for_children(auction) {
            return Err(Finding::Skip("not child-directed".into()));
        }
        for bid in auction.bids()? {
            let Some(served) = categories(bid.get("cat")) else {
                return Err(Finding::Fail("bid cat is not a list of categories".to_owned()));
            };
            if let Some(code) = served.iter().find(|code| self.unsafe_categories.contains(code)) {
                return Err(with_code("child-directed inventory served unsafe category", code));
            }
        }
        Ok(())
    }

    fn is_for_children(&self, auction: &Auction) -> bool {
        let has_category = |object| {
            let found = categories(auction.request_field(object, "cat")).unwrap_or_default();
            found.iter().any(|code| self.child_categories.contains(code))
        };
        let bundle =
            auction.request_field("app", "bundle").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let coppa = auction.request_field("regs", "coppa").and_then(Value::as_f64);
        coppa == Some(1.0)
            || has_category("app")
            || has_category("site")
            || self.bundle_keywords.iter().any(|word| bundle.contains(word.as_str()))
    }
}
