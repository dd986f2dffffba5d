//! `rtb.adomain-verify`: advertisers without a domain, or with a placeholder domain.
//!
//! | option | is | default |
//! |---|---|---|
//! | `require_adomain` | a bid without a domain fails | true |
//! | `extra_placeholders` | more placeholder domains | none |
//!
//! Reasons: `bid has no adomain`; `placeholder adomain: example.com`; `invalid adomain format`. A domain is trimmed
//! and converted to lower case. It has at least two labels, each of 1 to 63 letters, digits and inner hyphens; the
//! last label has only letters or begins with `xn--`. A single domain counts as a list of one.

use serde_json::Value;

use super::{Auction, Checked, list};
use crate::gates::options::{Options, SettingsError};
use crate::gates::verdict::Finding;

/// Placeholder domains.
const PLACEHOLDERS: [&str; 9] = [
    "advertiserdomain.com",
    "example.com",
    "example.org",
    "example.net",
    "test.com",
    "placeholder.com",
    "localhost",
    "foo.com",
    "bar.com",
];

const LABEL_BYTES_MAX: usize = 63;

#[derive(Debug)]
pub(in crate::gates) struct AdomainVerify {
    require: bool,
    placeholders: Vec<String>,
}

impl AdomainVerify {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let require = options.flag("require_adomain", true)?;
        let extra = options.texts("extra_placeholders", "a list of domains")?.unwrap_or_default();
        let placeholders = PLACEHOLDERS.into_iter().chain(extra);
        let placeholders = placeholders.map(|domain| domain.trim().to_ascii_lowercase()).collect();
        Ok(Self { require, placeholders })
    }

    pub(super) fn check(&self, auction: &Auction) -> Checked {
        let fail = |reason: &str| Err(Finding::Fail(reason.to_owned()));
        for bid in auction.bids()? {
            let domains = match bid.get("adomain") {
                Some(single @ Value::String(_)) => std::slice::from_ref(single),
                other => match list(other) {
                    Some(domains) => domains,
                    None => return fail("invalid adomain format"),
                },
            };
            if domains.is_empty() && self.require {
                return fail("bid has no adomain");
            }
            for domain in domains {
                let domain = domain.as_str().unwrap_or_default().trim().to_ascii_lowercase();
                if let Some(known) = self.placeholders.iter().find(|known| **known == domain) {
                    return fail(&format!("placeholder adomain: {known}"));
                }
                if !is_domain(&domain) {
                    return fail("invalid adomain format");
                }
            }
        }
        Ok(())
    }
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let Some((_, last)) = domain.rsplit_once('.') else { return false };
    let is_top = last.bytes().all(|byte| byte.is_ascii_alphabetic()) || last.starts_with("xn--");
    is_top && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_at_least_two_valid_labels() {
        let label = |length: usize| format!("{}.com", "a".repeat(length));
        for domain in ["acme.com", "a.b-c.d1.museum", "1.co", "shop.xn--p1ai", "a.b", &label(63)] {
            assert!(is_domain(domain), "{domain}");
        }
        for domain in [
            "",
            "com",
            ".com",
            "acme.",
            "acme..com",
            "-a.com",
            "a-.com",
            "a_b.com",
            "a.c0m",
            "a b.com",
            "é.com",
            "http://acme.com",
            "acme.com/x",
            "1.2.3.4",
            "a.xn--",
            &label(64),
        ] {
            assert!(!is_domain(domain), "{domain}");
        }
    }
}
