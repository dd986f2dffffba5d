//! # Qwen Code
//!
//! Logs, `qwen-code.*`: the events of Gemini CLI ([`super::gemini`]), and
//!
//! | event | fact | attributes |
//! |---|---|---|
//! | `user_feedback` | feedback | `rating`: 1 bad −1, 2 fine 0, 3 good +1 |

use super::gemini;
use crate::attributes::Key;
use crate::facts::Fact;
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// Returns the reader of a log event.
pub(super) fn log(name: &str) -> Option<Reader> {
    if name == "user_feedback" { Some(feedback) } else { gemini::log(name) }
}

fn feedback<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Result<(), BadValue> {
    let rating = match fields.integer(Key::Rating)? {
        Some(1) => -1,
        Some(2) => 0,
        Some(3) => 1,
        _ => return Ok(()),
    };
    facts.push(Fact::Feedback { rating });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::log;

    #[test]
    fn ratings_from_one_to_three_are_feedback() {
        for (rating, expected) in
            [("1", Some(-1)), ("2", Some(0)), ("\"3\"", Some(1)), ("4", None), ("0", None)]
        {
            let expected: Vec<_> = expected.map(|rating| Fact::Feedback { rating }).into_iter().collect();
            assert_eq!(log("qwen-code.user_feedback", &format!("rating={rating}")), expected, "{rating}");
        }
    }
}
