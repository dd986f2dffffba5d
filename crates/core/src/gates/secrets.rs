//! `secrets`: keys, tokens and passwords.
//!
//! | option | is | default |
//! |---|---|---|
//! | `disable` | names of rules to switch off | none |
//! | `extra` | more rules, each `{name, regex, keywords, entropy}` | none |
//!
//! An extra rule has a `name` of `a-z 0-9 -`, a `regex` of at most 1000 characters without Unicode classes, up to 16
//! `keywords` (without keywords it runs on every output) and an `entropy` from 0 to 8, by default 3.0.
//!
//! Reason: `secret in output: github (2 findings)`. It names the first rule of the table that found something, extra
//! rules last, and counts the findings of that rule, up to 65 536. A secret in JSON inside a string is seen twice but
//! counts once.
//!
//! | step | what |
//! |---|---|
//! | words | one pass over all texts, ignoring case, selects the rules, see `secrets/rules.rs` |
//! | match | the rule's regular expression, on bytes, ASCII only; compiled when its first word is seen |
//! | value | the capture group of the match, if it has one, else the match |
//! | entropy | Shannon entropy in bits per character: at least 3.0, or the value of the rule |
//! | placeholder | a placeholder value passes: `example`, `xxxx`, `${`, six equal characters in a row, eight ascending, … |
//! | mixed | the value of the last two rules must have two of lower case, upper case and digit |
//!
//! Three rules need the name of the value, which in JSON is the key of a member, see `secrets/members.rs`. What has
//! to follow the first line of a private key is in `secrets/key.rs`. A key whose lines are separate strings counts
//! once per string.
//!
//! A key may be glued to an escape, as in `\e[01;31mghp_…` and `%3Dghp_…`, where `\b` does not match. So rules also
//! run on a copy of the text with blanks in place of such escapes, see `gates/escape.rs`.
//!
//! Words count for the whole output: the token of a bot may be a value, and `discord` its key. A rule whose match
//! contains its word runs only on blocks with that word. Expressions run on windows of the text, so that the deadline
//! is checked in between. A match that reaches the end of its window is repeated in a larger one. What it ignores: a
//! match that cannot be recognized by its first 64 KiB.
//!
//! Unicode is off because `\w` and case folding of all scripts would cost seconds and hundreds of megabytes.

mod key;
mod members;
mod rules;
mod values;

use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::escape::unglued;
use super::keywords::Keywords;
use super::options::{Options, SettingsError, SettingsProblem};
use super::redact::{Match, edits};
use super::scan::{Deadline, TimedOut};
use super::text::View;
use super::verdict::Finding;
use crate::json::Found;
use crate::limits::{GATE_FINDINGS_MAX, GATE_STRIDE_BYTES};
use rules::{PRIVATE_KEY, RULES, Rule};

/// Most extra rules.
const EXTRA_MAX: usize = 64;
/// Longest expression of an extra rule, in characters.
const REGEX_CHARS_MAX: usize = 1000;
/// Largest compiled expression of an extra rule, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// Most keywords of an extra rule.
const KEYWORDS_MAX: usize = 16;
/// Longest name or keyword, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// Largest distance from the start of a match to its word. The longest is that of `openai`.
const BEFORE_WORD: usize = 256;

#[derive(Debug)]
pub(super) struct Secrets {
    rules: Vec<ActiveRule>,
    words: Keywords,
    /// The rule that each word selects.
    picks: Vec<usize>,
}

/// A rule that is searched for.
#[derive(Debug)]
enum ActiveRule {
    Known(&'static Rule),
    Extra { name: String, regex: Regex, entropy: f64, keywords: Vec<String> },
}

impl ActiveRule {
    fn name(&self) -> &str {
        match self {
            Self::Known(rule) => rule.name,
            Self::Extra { name, .. } => name,
        }
    }

    fn regex(&self) -> Option<&Regex> {
        match self {
            Self::Known(rule) => rule.regex(),
            Self::Extra { regex, .. } => Some(regex),
        }
    }

    fn words(&self) -> Vec<&str> {
        match self {
            Self::Known(rule) => rule.words.to_vec(),
            Self::Extra { keywords, .. } => keywords.iter().map(String::as_str).collect(),
        }
    }

    /// Returns whether only the text near a word has to be searched.
    fn is_near(&self) -> bool {
        matches!(self, Self::Known(rule) if rule.near)
    }

    fn accepts(&self, value: &[u8]) -> bool {
        let (entropy, mixed) = match self {
            Self::Known(rule) => (rule.entropy, rule.mixed),
            Self::Extra { entropy, .. } => (*entropy, false),
        };
        !values::is_made_up(value)
            && (!mixed || values::is_mixed(value))
            && values::has_entropy(value, entropy)
    }
}

/// A block of a text that has words: its start, and the rules that its words select, one bit each.
type Block = (usize, u128);

impl Secrets {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let expected = "a list of names of rules";
        let disabled = options.texts("disable", expected)?.unwrap_or_default();
        if let Some(name) = disabled.iter().find(|name| RULES.iter().all(|rule| rule.name != **name)) {
            let known = RULES.iter().map(|rule| rule.name).collect();
            let problem = SettingsProblem::UnknownRule { found: Found::quoted(name), known };
            return Err(options.error("disable", problem));
        }
        let wanted = RULES.iter().filter(|rule| !disabled.contains(&rule.name));
        let mut rules: Vec<ActiveRule> = wanted.map(ActiveRule::Known).collect();
        let extra = match options.get("extra") {
            None => &[][..],
            Some(Value::Array(extra)) if extra.len() <= EXTRA_MAX => extra,
            Some(other) => {
                let found = Found::new(&other.to_string());
                let expected = "a list of at most 64 rules {name, regex, keywords, entropy}";
                return Err(options.error("extra", SettingsProblem::Value { found, expected }));
            }
        };
        for rule in extra {
            let rule = extra_rule(options, rule)?;
            if RULES.iter().any(|known| known.name == rule.name())
                || rules.iter().any(|known| known.name() == rule.name())
            {
                return Err(options.error("extra", SettingsProblem::Repeated(Found::quoted(rule.name()))));
            }
            rules.push(rule);
        }
        let (mut words, mut picks) = (Vec::new(), Vec::new());
        for (number, rule) in rules.iter().enumerate() {
            for word in rule.words() {
                words.push(word);
                picks.push(number);
            }
        }
        let words =
            Keywords::new(&words).map_err(|error| options.error("extra", SettingsProblem::Regex(error)))?;
        Ok(Self { rules, words, picks })
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let mut found = self.matches(view, deadline)?;
        found.truncate(GATE_FINDINGS_MAX);
        let Some(first) = found.iter().map(|found| found.kind).min() else { return Ok(Finding::Pass) };
        found.retain(|found| found.kind == first);
        let count = edits(view, found, deadline)?.len().max(1);
        let findings = if count == 1 { "finding" } else { "findings" };
        let name = self.label(first);
        Ok(Finding::Fail(format!("secret in {}: {name} ({count} {findings})", view.name())))
    }

    /// Returns the names of its rules, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(ActiveRule::name)
    }

    /// Returns the name of a rule by its index.
    pub(super) fn label(&self, kind: usize) -> &str {
        self.rules.get(kind).map_or("secret", ActiveRule::name)
    }

    /// Returns all secrets. Stops after one more than can be redacted.
    pub(super) fn matches(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Vec<Match>, TimedOut> {
        let (mut found, mut picked, mut blocks) = (Vec::new(), 0_u128, Vec::new());
        for (text, piece) in view.texts().enumerate() {
            self.blocks(piece.text.as_bytes(), &mut blocks, deadline)?;
            picked |= blocks.iter().fold(0, |all, (_, picked)| all | picked);
            self.near(view, text, &blocks, &mut found, deadline)?;
        }
        let is_far = |(rule, active): &(usize, &ActiveRule)| {
            active.words().is_empty() || !active.is_near() && picked & (1_u128 << rule) != 0
        };
        if self.rules.iter().enumerate().any(|rule| is_far(&rule)) {
            for text in 0..view.texts().count() {
                let bytes = view.text(text).as_bytes();
                let copy = unglued(bytes, deadline)?;
                for (rule, active) in self.rules.iter().enumerate().filter(is_far) {
                    let search = Search { active, rule, view, text, bytes, deadline };
                    search.both(copy.as_deref(), &mut found, &|search, found| search.everywhere(found))?;
                }
            }
        }
        self.members(view, deadline, &mut found)?;
        Ok(found)
    }

    /// Adds the findings of the rules whose matches contain one of their words.
    fn near(
        &self,
        view: &View<'_>,
        text: usize,
        blocks: &[Block],
        found: &mut Vec<Match>,
        deadline: &Deadline<'_>,
    ) -> Result<(), TimedOut> {
        let picked = blocks.iter().fold(0, |all, (_, picked)| all | picked);
        if picked == 0 {
            return Ok(());
        }
        let bytes = view.text(text).as_bytes();
        let copy = unglued(bytes, deadline)?;
        for (rule, active) in self.rules.iter().enumerate() {
            let bit = 1_u128 << rule;
            if picked & bit != 0 && active.is_near() {
                let search = Search { active, rule, view, text, bytes, deadline };
                let of_rule = |search: &Search<'_, '_>, found: &mut Vec<Match>| {
                    search.blocks(blocks.iter().filter(|(_, picked)| picked & bit != 0), found)
                };
                search.both(copy.as_deref(), found, &of_rule)?;
            }
        }
        Ok(())
    }

    /// Collects the blocks of a text that have words.
    fn blocks(&self, bytes: &[u8], blocks: &mut Vec<Block>, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        blocks.clear();
        self.words.each(bytes, deadline, |start, word| {
            let picked = 1_u128 << self.picks.get(word).copied().unwrap_or_default();
            match blocks.last_mut().filter(|block| block.0 == start) {
                Some(block) => block.1 |= picked,
                None => blocks.push((start, picked)),
            }
        })
    }
}

/// One rule in one text.
#[derive(Clone, Copy)]
struct Search<'s, 'd> {
    active: &'s ActiveRule,
    rule: usize,
    view: &'s View<'s>,
    text: usize,
    bytes: &'s [u8],
    deadline: &'s Deadline<'d>,
}

/// Searches some part of a text for a rule.
type SearchPart<'w> = dyn Fn(&Search<'_, '_>, &mut Vec<Match>) -> Result<(), TimedOut> + 'w;

impl Search<'_, '_> {
    /// Searches the text and, if there is one, its copy without glued escapes. A finding in both counts once.
    fn both(
        &self,
        copy: Option<&[u8]>,
        found: &mut Vec<Match>,
        search: &SearchPart<'_>,
    ) -> Result<(), TimedOut> {
        let first = found.len();
        search(self, found)?;
        let Some(copy) = copy else { return Ok(()) };
        let mut more = Vec::new();
        search(&Search { bytes: copy, ..*self }, &mut more)?;
        let position = |found: &Match| (found.text, found.start, found.end);
        let mut known: Vec<_> = found.get(first..).unwrap_or_default().iter().map(position).collect();
        known.sort_unstable();
        found.extend(more.into_iter().filter(|found| known.binary_search(&position(found)).is_err()));
        Ok(())
    }

    /// Adds the findings in the whole text.
    fn everywhere(&self, found: &mut Vec<Match>) -> Result<(), TimedOut> {
        let mut from = 0;
        for start in (0..self.bytes.len()).step_by(GATE_STRIDE_BYTES) {
            from = self.run(from.max(start), start + GATE_STRIDE_BYTES, found)?;
        }
        Ok(())
    }

    /// Adds the findings near the words of these blocks.
    fn blocks<'b>(
        &self,
        blocks: impl Iterator<Item = &'b Block>,
        found: &mut Vec<Match>,
    ) -> Result<(), TimedOut> {
        let mut next = 0;
        for (start, _) in blocks {
            let from = start.saturating_sub(BEFORE_WORD).max(next);
            next = self.run(from, start + GATE_STRIDE_BYTES, found)?;
        }
        Ok(())
    }

    /// Adds the values of matches that begin in this part of the text. Returns the position to go on from.
    fn run(&self, mut from: usize, to: usize, found: &mut Vec<Match>) -> Result<usize, TimedOut> {
        let Some(regex) = self.active.regex() else { return Ok(to) };
        let mut window = GATE_STRIDE_BYTES;
        let grouped = regex.captures_len() > 1;
        self.deadline.spend(to.min(self.bytes.len()).saturating_sub(from))?;
        while from < to && from < self.bytes.len() && found.len() <= GATE_FINDINGS_MAX {
            let end = to.saturating_add(window).min(self.bytes.len());
            let text = self.bytes.get(..end).unwrap_or_default();
            let Some(whole) = regex.find_at(text, from) else { break };
            if whole.start() >= to {
                break;
            }
            // A match at the end of the window may be longer in a larger window.
            if whole.end() == end && end < self.bytes.len() {
                self.deadline.spend(window)?;
                window = window.saturating_mul(2);
                continue;
            }
            let group = || regex.captures_at(text, whole.start())?.iter().skip(1).flatten().next();
            let value = grouped.then(group).flatten().unwrap_or(whole);
            self.deadline.spend(whole.len() + 16)?;
            if !self.active.accepts(value.as_bytes()) {
                from = value.end().max(whole.start() + 1);
                continue;
            }
            let mut parts = vec![(self.text, value.start(), value.end())];
            if self.active.name() == PRIVATE_KEY {
                parts = key::parts(self.view, self.text, (value.start(), value.end()), self.deadline)?;
            }
            let matched = |(text, start, end)| Match { text, start, end, kind: self.rule };
            found.extend(parts.into_iter().map(matched));
            from = value.end().max(whole.start() + 1);
        }
        Ok(from.max(to))
    }
}

/// Returns the error of a regular expression on one line, without the drawing of its position.
fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once("\nerror: ") {
        Some((_, what)) => format!("regex parse error: {what}"),
        None => text,
    }
}

/// Reads one extra rule.
fn extra_rule(options: &Options<'_>, rule: &Value) -> Result<ActiveRule, SettingsError> {
    let empty = Map::new();
    let mut fields = Options::new(options.key_of("extra"), rule.as_object().unwrap_or(&empty));
    let rejected = |fields: &Options<'_>, name: &str, value: &str, expected| {
        fields.error(name, SettingsProblem::Value { found: Found::quoted(value), expected })
    };
    let expected = "a name of 1 to 64 characters a-z, 0-9 and -";
    let name = fields.text("name", expected)?;
    let name = name.ok_or_else(|| fields.error("name", SettingsProblem::Missing { expected }))?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > WORD_BYTES_MAX || !name.bytes().all(is_plain) {
        return Err(rejected(&fields, "name", name, expected));
    }
    let expected = "a regular expression of 1 to 1000 characters that does not match the empty string";
    let pattern = fields.text("regex", expected)?;
    let pattern = pattern.ok_or_else(|| fields.error("regex", SettingsProblem::Missing { expected }))?;
    if pattern.is_empty() || pattern.chars().count() > REGEX_CHARS_MAX {
        return Err(rejected(&fields, "regex", pattern, expected));
    }
    let built = RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build();
    let regex = built.map_err(|error| fields.error("regex", SettingsProblem::Regex(one_line(&error))))?;
    if regex.is_match(b"") {
        return Err(rejected(&fields, "regex", pattern, expected));
    }
    let expected = "a list of at most 16 words of 1 to 64 bytes";
    let keywords = fields.texts("keywords", expected)?.unwrap_or_default();
    if let Some(long) = keywords.iter().find(|word| word.len() > WORD_BYTES_MAX) {
        return Err(rejected(&fields, "keywords", long, expected));
    }
    if let Some(more) = keywords.get(KEYWORDS_MAX) {
        return Err(rejected(&fields, "keywords", more, expected));
    }
    let expected = "bits per character from 0 to 8";
    let entropy = fields.number("entropy", expected, |bits| (0.0..=8.0).contains(&bits))?.unwrap_or(3.0);
    fields.finish()?;
    let keywords = keywords.into_iter().map(str::to_owned).collect();
    Ok(ActiveRule::Extra { name: name.to_owned(), regex, entropy, keywords })
}

#[cfg(test)]
mod tests;
