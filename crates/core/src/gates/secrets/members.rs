//! Members of JSON objects, for the rules that need the name of a value.
//!
//! `assigned`, `aws-secret` and `gcp-account` look for a name and a value. In an object the name is the key of a
//! member, and key and value are separate texts. So the two are joined as in JSON, `"key": "value"`, and the rules
//! run on that text. Only findings in the value count.

use regex::bytes::Regex;

use super::{ActiveRule, Secrets};
use crate::gates::redact::Match;
use crate::gates::scan::{Deadline, TimedOut};
use crate::gates::text::{Text, View};

/// The rules that need a name.
const NAMED: [&str; 3] = ["aws-secret", "gcp-account", "assigned"];
/// Words in the names of secrets, ignoring case.
const WORDS: [&[u8]; 5] = [b"key", b"secret", b"token", b"passw", b"private"];
/// Longest name of a secret, in bytes.
const KEY_BYTES_MAX: usize = 128;
/// Shortest secret, in bytes.
const VALUE_BYTES_MIN: usize = 16;
/// Number of bytes of a value that are checked. The longest secret has 128.
const VALUE_BYTES_MAX: usize = 192;

impl Secrets {
    /// Adds the values that are secrets because of their key.
    pub(super) fn members(
        &self,
        view: &View<'_>,
        deadline: &Deadline<'_>,
        found: &mut Vec<Match>,
    ) -> Result<(), TimedOut> {
        let named = |(number, rule): (usize, &'_ ActiveRule)| {
            let is_named = matches!(rule, ActiveRule::Known(rule) if NAMED.contains(&rule.name));
            is_named.then_some(number)
        };
        let rules: Vec<usize> = self.rules.iter().enumerate().filter_map(named).collect();
        let mut last: Option<(&str, bool)> = None;
        for (text, member) in view.texts().enumerate() {
            let Text { text: value, key: Some(key) } = member else { continue };
            if value.len() < VALUE_BYTES_MIN || key.len() > KEY_BYTES_MAX {
                continue;
            }
            // Elements of a list share their key.
            let is_name = match last {
                Some((known, is_name)) if std::ptr::eq(known, key) => is_name,
                _ => is_name(key.as_bytes()),
            };
            last = Some((key, is_name));
            deadline.spend(key.len())?;
            if !is_name {
                continue;
            }
            let written = Written::new(key, value);
            for rule in &rules {
                deadline.spend(written.text.len())?;
                let active = self.rules.get(*rule);
                let span = active.and_then(|active| written.find(active, active.regex()?));
                found.extend(span.map(|(start, end)| Match { text, start, end, kind: *rule }));
            }
        }
        Ok(())
    }
}

fn is_name(key: &[u8]) -> bool {
    let has = |word: &&[u8]| key.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    WORDS.iter().any(has)
}

/// A member as JSON text.
struct Written {
    text: String,
    /// Start of the value.
    value: usize,
}

impl Written {
    fn new(key: &str, value: &str) -> Self {
        let mut text = format!("\"{key}\": \"");
        let begins = text.len();
        let end = (0..=value.len().min(VALUE_BYTES_MAX)).rev().find(|end| value.is_char_boundary(*end));
        let near = end.and_then(|end| value.get(..end)).unwrap_or(value);
        text.push_str(near);
        if near.len() == value.len() {
            text.push('"');
        }
        Self { text, value: begins }
    }

    /// Returns the start and end of a secret in the value.
    fn find(&self, active: &ActiveRule, regex: &Regex) -> Option<(usize, usize)> {
        let secret = regex.captures(self.text.as_bytes())?.get(1)?;
        let (start, end) = (secret.start().checked_sub(self.value)?, secret.end().checked_sub(self.value)?);
        active.accepts(secret.as_bytes()).then_some((start, end))
    }
}
