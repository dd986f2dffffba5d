//! `injection`: text that gives orders to the model that reads it.
//!
//! | option | is | default |
//! |---|---|---|
//! | `threshold` | the score at which an output fails, a whole number from 1 to 20 | 4; balanced 5 |
//!
//! | kind | points | one sentence, together with the next, has |
//! |---|---|---|
//! | `override` | 3 | `ignore disregard forget override bypass` within 8 words of `previous prior above system your` and of `instructions prompt rules` |
//! | `exfiltration` | 3 | `send post upload forward leak reveal` with `key password token credential secret env conversation`; 1 more with an e-mail address or a URL |
//! | `concealment` | 2 | `do not tell\|mention\|inform`, `without telling`, `silently` |
//! | `role` | 2 | `system:`, `<\|im_start\|>`, `[INST]`, `new instructions`, `you are now` |
//! | `tool` | 1 | `call\|use\|run the … tool` with up to six words between, `before any other tool` |
//!
//! Each kind counts once. The score is 2 higher if these kinds occur only in a hidden or decoded view or an HTML
//! comment, and in no visible sentence. It is 2 lower if the sentences are about injection: `prompt injection`,
//! `such as`. The sentence with the highest score counts:
//!
//! Reason: `prompt injection suspected in output: override, concealment (score 5)`.
//!
//! | view of a string | hidden |
//! |---|---|
//! | NFKC, without HTML comments | no |
//! | each HTML comment | yes |
//! | NFKC without zero-width, bidi and tag characters, if there are any | yes |
//! | the tag characters, read as ASCII | yes |
//! | decoded base64 (24 characters or more), hex (32 or more) and percent escapes, if printable; decoded twice; 64 KiB in total | yes |
//!
//! Nouns count in singular and plural, and `don't` counts as `do not`. A sentence ends at `. ! ?` in front of a blank
//! or a closing mark, at a line break unless the next line starts in lower case, and after 64 words, because logs
//! have no periods.
//!
//! One pass for a few words decides whether a text can reach the threshold at all; most cannot. What it ignores:
//! other languages, letters of other scripts that look like Latin ones, and orders in other words.

mod decode;
mod score;
mod views;
mod words;

use super::keywords::Keywords;
use super::options::{Options, SettingsError, SettingsProblem};
use super::scan::{Deadline, TimedOut};
use super::settings::Strictness;
use super::text::View;
use super::verdict::Finding;
use crate::json::Found;
pub(super) use score::names;
use score::{HIDDEN, Kinds, Seen};

const STRICT: i32 = 4;
const BALANCED: i32 = 5;
const THRESHOLD_MAX: i32 = 20;

/// Words that a kind needs, and their bits.
const ANCHORS: [(&str, u8); 30] = [
    ("ignore", VERB),
    ("disregard", VERB),
    ("forget", VERB),
    ("override", VERB),
    ("bypass", VERB),
    ("instruction", NOUN | ROLE),
    ("prompt", NOUN),
    ("rule", NOUN),
    ("send", SEND),
    ("post", SEND),
    ("upload", SEND),
    ("forward", SEND),
    ("leak", SEND),
    ("reveal", SEND),
    ("key", TARGET),
    ("password", TARGET),
    ("token", TARGET),
    ("credential", TARGET),
    ("secret", TARGET),
    ("env", TARGET),
    ("conversation", TARGET),
    ("tell", CONCEAL),
    ("mention", CONCEAL),
    ("inform", CONCEAL),
    ("silently", CONCEAL),
    ("system:", ROLE),
    ("im_start", ROLE),
    ("[inst]", ROLE),
    ("now", ROLE),
    ("tool", TOOL),
];
const VERB: u8 = 1;
const NOUN: u8 = 1 << 1;
const SEND: u8 = 1 << 2;
const TARGET: u8 = 1 << 3;
const CONCEAL: u8 = 1 << 4;
const ROLE: u8 = 1 << 5;
const TOOL: u8 = 1 << 6;

#[derive(Debug)]
pub(super) struct Injection {
    threshold: i32,
    anchors: Keywords,
}

/// The highest score so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Best {
    score: i32,
    kinds: Kinds,
}

impl Injection {
    pub(super) fn build(options: &mut Options<'_>, strictness: Strictness) -> Result<Self, SettingsError> {
        let expected = "a whole number from 1 to 20";
        let default = if strictness == Strictness::Balanced { BALANCED } else { STRICT };
        let threshold = match options.get("threshold") {
            None => default,
            Some(value) => {
                let whole = value.as_i64().and_then(|number| i32::try_from(number).ok());
                whole.filter(|number| (1..=THRESHOLD_MAX).contains(number)).ok_or_else(|| {
                    let found = Found::new(&value.to_string());
                    options.error("threshold", SettingsProblem::Value { found, expected })
                })?
            }
        };
        let anchors = Keywords::new(&ANCHORS.map(|(word, _)| word))
            .map_err(|error| options.error("threshold", SettingsProblem::Regex(error)))?;
        Ok(Self { threshold, anchors })
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let mut best = Best::default();
        for text in view.texts() {
            self.judge(text.text, &mut best, deadline)?;
        }
        Ok(if best.score < self.threshold {
            Finding::Pass
        } else {
            let (name, kinds, score) = (view.name(), best.kinds.names(), best.score);
            Finding::Fail(format!("prompt injection suspected in {name}: {kinds} (score {score})"))
        })
    }

    fn judge(&self, text: &str, best: &mut Best, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        let views = views::Views::of(text, deadline)?;
        // Hidden text scores more only if it is visible nowhere. So all visible text has to be read first.
        let hides = views.hidden.iter().any(|view| !view.is_empty());
        let mut seen = Seen::default();
        if hides || self.can_reach(&views.visible, 0, deadline)? {
            score::each_sentence(&views.visible, deadline, |kinds, score| {
                seen.add(kinds);
                best.add(kinds, score);
            })?;
        }
        for view in &views.hidden {
            if self.can_reach(view, HIDDEN, deadline)? {
                score::each_sentence(view, deadline, |kinds, score| {
                    best.add(kinds, score + if seen.covers(kinds) { 0 } else { HIDDEN });
                })?;
            }
        }
        Ok(())
    }

    /// Returns whether the words of a text can reach the threshold.
    fn can_reach(&self, text: &str, more: i32, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        let mut found = 0;
        self.anchors.each(text.as_bytes(), deadline, |_, word| {
            found |= ANCHORS.get(word).map_or(0, |(_, bits)| *bits);
        })?;
        let has = |bits: u8, points: i32| if found & bits == bits { points } else { 0 };
        let points =
            has(VERB | NOUN, 3) + has(SEND | TARGET, 4) + has(CONCEAL, 2) + has(ROLE, 2) + has(TOOL, 1);
        Ok(points > 0 && points + more >= self.threshold)
    }
}

impl Best {
    fn add(&mut self, kinds: Kinds, score: i32) {
        if score > self.score {
            *self = Self { score, kinds };
        }
    }
}

#[cfg(test)]
mod tests;
