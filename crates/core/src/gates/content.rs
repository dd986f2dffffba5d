//! `content`: empty outputs and refusals.
//!
//! | option | is | default |
//! |---|---|---|
//! | `empty` | fails null, an empty or blank string, `[]` and `{}`; `false` and 0 pass | true |
//! | `refusal` | fails a phrase with which models refuse a request | true |
//! | `phrases` | more phrases that count as refusals | none |
//!
//! Reasons: `output is empty`, `refusal phrase in output`.
//!
//! Phrases match whole words, ignoring case, with straight or curly apostrophes and any white space between words:
//!
//! - `i (don't|do not) have (access|the ability)`
//! - `i (can't|cannot) (do|help|provide|access|complete|fulfill|assist)`
//! - `as an ai (language )?model`
//! - `(i'm|i am) (just )?an ai`
//! - `(i'm|i am) (unable|not able) to (help|assist|provide|complete|comply)`
//!
//! Balanced: phrases count only in the first 300 characters of a string.
//!
//! All phrases form one tree of characters, which is followed from each position where a phrase may begin. What it
//! ignores: empty strings deeper in the output, and refusals in other languages unless `phrases` has them.

mod phrases;

use super::options::{Options, SettingsError, SettingsProblem};
use super::scan::{Deadline, TimedOut, run_end};
use super::settings::Strictness;
use super::text::{View, decoded_char};
use super::verdict::Finding;
use crate::json::Found;
use phrases::Phrases;

/// Longest phrase that may be configured, in characters.
const PHRASE_CHARS_MAX: usize = 200;

/// *Balanced:* number of characters that are searched from the start of a string.
const HEAD_CHARS: usize = 300;

/// Its rules, with their phrases in reasons.
pub(super) const RULES: [(&str, &str); 2] = [("empty", "output is empty"), ("refusal", "refusal phrase")];

#[derive(Debug)]
pub(super) struct Content {
    empty: bool,
    phrases: Phrases,
    balanced: bool,
}

impl Content {
    pub(super) fn build(options: &mut Options<'_>, strictness: Strictness) -> Result<Self, SettingsError> {
        let empty = options.flag("empty", true)?;
        let refusal = options.flag("refusal", true)?;
        let expected = "a list of phrases of 1 to 200 characters";
        let own = options.texts("phrases", expected)?.unwrap_or_default();
        if let Some(long) = own.iter().find(|phrase| phrase.chars().count() > PHRASE_CHARS_MAX) {
            let problem = SettingsProblem::Value { found: Found::quoted(long), expected };
            return Err(options.error("phrases", problem));
        }
        let phrases = Phrases::new(refusal, &own);
        Ok(Self { empty, phrases, balanced: strictness == Strictness::Balanced })
    }

    /// Returns the finding if the output, a JSON text, is empty and must not be. `known` is set if the caller knows
    /// whether the output is empty.
    pub(super) fn check_empty(
        &self,
        output: &str,
        known: Option<bool>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Finding>, TimedOut> {
        if !self.empty {
            return Ok(None);
        }
        let empty = match known {
            Some(known) => known,
            None => is_empty(output, deadline)?,
        };
        Ok(empty.then(|| Finding::Fail("output is empty".to_owned())))
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        for text in view.texts() {
            let text = if self.balanced { head(text.text) } else { text.text };
            if self.phrases.are_in(text, deadline)? {
                return Ok(Finding::Fail("refusal phrase in output".to_owned()));
            }
        }
        Ok(Finding::Pass)
    }
}

/// Returns whether a JSON text is null, a blank string, or an empty array or object.
fn is_empty(output: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let (bytes, blank) = (output.as_bytes(), |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let start = run_end(bytes, 0, deadline, blank)?;
    let closes = match bytes.get(start) {
        Some(b'"') => return is_blank(output.get(start + 1..).unwrap_or_default(), deadline),
        Some(b'[') => b']',
        Some(b'{') => b'}',
        _ => return Ok(output.get(start..).is_some_and(|rest| rest.starts_with("null"))),
    };
    let inside = run_end(bytes, start + 1, deadline, blank)?;
    Ok(bytes.get(inside) == Some(&closes))
}

/// Returns whether a JSON string has only white space in front of its closing quote.
fn is_blank(raw: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let mut rest = raw;
    loop {
        let Some((char, length)) = decoded_char(rest) else { return Ok(false) };
        if rest.starts_with('"') {
            return Ok(true);
        }
        deadline.spend(length)?;
        if !char.is_whitespace() {
            return Ok(false);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
}

fn head(text: &str) -> &str {
    match text.char_indices().nth(HEAD_CHARS) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::gates::JudgedPart;

    fn check(options: &Value, strictness: Strictness, output: &str) -> Finding {
        let mut options = Options::new("gate.content".to_owned(), options.as_object().unwrap());
        let content = Content::build(&mut options, strictness).unwrap();
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        let view = View::read(output, JudgedPart::Output, &deadline).unwrap();
        content
            .check_empty(output, None, &deadline)
            .unwrap()
            .unwrap_or_else(|| content.check(&view, &deadline).unwrap())
    }

    #[test]
    fn empty_outputs_fail() {
        let empty = Finding::Fail("output is empty".to_owned());
        for output in ["null", r#""""#, r#"" \n\t ""#, "\"\u{a0}\"", "[]", "{}", "[ ]", "{\n}", r#""\u0020""#]
        {
            assert_eq!(check(&json!({}), Strictness::Strict, output), empty, "{output}");
            assert_eq!(
                check(&json!({"empty": false}), Strictness::Strict, output),
                Finding::Pass,
                "{output}"
            );
        }
        for output in ["false", "0", r#""x""#, r#"" \\n""#, "[null]", r#"{"a":null}"#, r#""[]""#, r#"[""]"#] {
            assert_eq!(check(&json!({}), Strictness::Strict, output), Finding::Pass, "{output}");
        }
    }

    #[test]
    fn refusals_fail() {
        let refusal = Finding::Fail("refusal phrase in output".to_owned());
        for text in [
            "I don't have access to that",
            "i do not have the ability",
            "Sorry, I can\u{2019}t help with that.",
            "I  cannot\n\tassist",
            "AS AN AI MODEL",
            "well, as an ai language model, I",
            "I'm an AI",
            "i am just an ai.",
            "I\u{2019}m unable to comply",
            "I am not able to provide",
            "Why?\u{a0}I\u{a0}cannot\u{a0}do",
        ] {
            let output = json!({ "a": [text] }).to_string();
            assert_eq!(check(&json!({}), Strictness::Strict, &output), refusal, "{text}");
            assert_eq!(
                check(&json!({"refusal": false}), Strictness::Strict, &output),
                Finding::Pass,
                "{text}"
            );
        }
        for text in [
            "I don't have time",
            "I cannot document this",
            "Wii cannot help",
            "an ai model",
            "as an ai",
            "I'm an aid worker",
            "I am not an AI",
            "I'm able to help",
            "icannot help",
            "I cannot",
        ] {
            let output = json!(text).to_string();
            assert_eq!(check(&json!({}), Strictness::Strict, &output), Finding::Pass, "{text}");
        }
    }

    #[test]
    fn phrases_can_be_added() {
        let options = json!({"phrases": ["No  Comment", "näin ei käy", "$$$"]});
        let refusal = Finding::Fail("refusal phrase in output".to_owned());
        for text in ["no\ncomment!", "NÄIN EI KÄY", "a$$$b", "i cannot do"] {
            assert_eq!(check(&options, Strictness::Strict, &json!(text).to_string()), refusal, "{text}");
        }
        for text in ["no comments", "piano comment", "no-comment", "$$"] {
            assert_eq!(
                check(&options, Strictness::Strict, &json!(text).to_string()),
                Finding::Pass,
                "{text}"
            );
        }
    }

    #[test]
    fn balanced_searches_only_the_start_of_a_string() {
        let refusal = Finding::Fail("refusal phrase in output".to_owned());
        let after = |chars: usize| json!(format!("{} I cannot do", "é".repeat(chars))).to_string();
        let last = HEAD_CHARS - " I cannot do".len();
        assert_eq!(check(&json!({}), Strictness::Balanced, &after(last)), refusal);
        assert_eq!(check(&json!({}), Strictness::Balanced, &after(last + 1)), Finding::Pass);
        assert_eq!(check(&json!({}), Strictness::Strict, &after(last + 1)), refusal);
    }
}
