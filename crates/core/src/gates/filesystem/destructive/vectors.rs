//! Commands as lists of words.
//!
//! | JSON | command |
//! |---|---|
//! | `"command": ["rm", "-rf", "/"]`, also under `cmd` and `script` | its words |
//! | `"command": "rm", "args": ["-rf", "/"]`, also under `arguments`, in any order | both, one after the other |
//! | `"args": ["rm", "-rf", "/"]` without a command nearby | its words |
//!
//! Members of one object cannot be distinguished from those of the next. So a command and a list belong together if
//! no other command or list and at most 16 other texts are between them. Each is used once, so that the work stays
//! linear.

use super::is_shell;
use crate::gates::scan::{Deadline, TimedOut};
use crate::gates::text::Text;

const ARGUMENT_KEYS: [&str; 2] = ["args", "arguments"];
/// Most texts between a command and its arguments.
const APART_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Command,
    Arguments,
}

fn kind_of(text: Text<'_>) -> Option<Kind> {
    let is_arguments = |key: &str| ARGUMENT_KEYS.iter().any(|name| key.eq_ignore_ascii_case(name));
    if is_shell(text) {
        return Some(Kind::Command);
    }
    text.key.is_some_and(is_arguments).then_some(Kind::Arguments)
}

/// The texts under one key.
#[derive(Debug)]
struct List<'v> {
    kind: Kind,
    key: &'v str,
    /// The only text, unchanged.
    single: Option<&'v str>,
    /// All texts as shell words.
    words: String,
}

impl<'v> List<'v> {
    fn new(kind: Kind, key: &'v str, text: &'v str) -> Self {
        Self { kind, key, single: Some(text), words: String::new() }
    }

    fn push(&mut self, text: &str) {
        // Most lists have one text, which is used unchanged.
        if let Some(single) = self.single.take() {
            push_quoted(&mut self.words, single);
        }
        self.words.push(' ');
        push_quoted(&mut self.words, text);
    }

    fn text(&self) -> &str {
        self.single.unwrap_or(&self.words)
    }
}

fn push_quoted(words: &mut String, text: &str) {
    words.push('\'');
    for (number, part) in text.split('\'').enumerate() {
        if number > 0 {
            words.push_str(r"'\''");
        }
        words.push_str(part);
    }
    words.push('\'');
}

/// The lists seen so far that may be commands.
#[derive(Debug, Default)]
pub(super) struct Vectors<'v> {
    open: Option<List<'v>>,
    /// A finished list that may belong to the next one, and the number of texts since.
    waiting: Option<(List<'v>, usize)>,
}

impl<'v> Vectors<'v> {
    /// Adds the next text, and returns the commands that are complete.
    pub(super) fn next(&mut self, text: Text<'v>, deadline: &Deadline<'_>) -> Result<Vec<String>, TimedOut> {
        if let (Some(list), Some(key)) = (&mut self.open, text.key)
            && std::ptr::eq(list.key, key)
        {
            deadline.spend(text.text.len())?;
            list.push(text.text);
            return Ok(Vec::new());
        }
        let mut ended = self.end();
        if let (Some(kind), Some(key)) = (kind_of(text), text.key) {
            self.open = Some(List::new(kind, key, text.text));
        } else {
            if let Some((_, apart)) = &mut self.waiting {
                *apart += 1;
            }
            let too_far = self.waiting.take_if(|(_, apart)| *apart > APART_MAX);
            ended.extend(too_far.and_then(|(list, _)| alone(list)));
        }
        Ok(ended)
    }

    /// Returns the remaining commands.
    pub(super) fn finish(mut self) -> Vec<String> {
        let mut ended = self.end();
        ended.extend(self.waiting.take().and_then(|(list, _)| alone(list)));
        ended
    }

    /// Ends the open list.
    fn end(&mut self) -> Vec<String> {
        let Some(list) = self.open.take() else { return Vec::new() };
        match self.waiting.take() {
            Some((other, _)) if other.kind != list.kind => {
                let (command, arguments) =
                    if list.kind == Kind::Command { (&list, &other) } else { (&other, &list) };
                vec![format!("{} {}", command.text(), arguments.text())]
            }
            waiting => {
                let ended = waiting.and_then(|(other, _)| alone(other));
                self.waiting = Some((list, 0));
                ended.into_iter().collect()
            }
        }
    }
}

/// Returns a list as a command of its own. A single text was already read.
fn alone(list: List<'_>) -> Option<String> {
    list.single.is_none().then_some(list.words)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::gates::JudgedPart;
    use crate::gates::text::View;

    #[test]
    fn commands_are_put_together() {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        let far: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        for (output, expected) in [
            (json!({"command": "rm"}), vec![]),
            (json!({"command": ["rm", "-rf", "it's"]}), vec![r"'rm' '-rf' 'it'\''s'"]),
            (json!([{"cmd": "rm", "n": 1}, {"args": ["-rf", "/"]}]), vec!["rm '-rf' '/'"]),
            (json!({"args": ["-rf", "/"], "command": "rm"}), vec!["rm '-rf' '/'"]),
            (json!({"Command": "sudo rm", "arguments": "-rf /"}), vec!["sudo rm -rf /"]),
            (json!({"args": ["rm", "-rf", "x"]}), vec!["'rm' '-rf' 'x'"]),
            (json!({"args": ["rm", "x"], "b": far}), vec!["'rm' 'x'"]),
            (
                json!([{"args": ["a", "b"], "cmd": "c"}, {"args": ["d", "e"], "cmd": "f"}]),
                vec!["c 'a' 'b'", "f 'd' 'e'"],
            ),
            (json!([{"cmd": "c", "args": "a"}, {"cmd": "f", "args": "d"}]), vec!["c a", "f d"]),
            (json!({"arguments": {"path": "x", "mode": "y"}}), vec![]),
        ] {
            let source = output.to_string();
            let view = View::read(&source, JudgedPart::Output, &deadline).unwrap();
            let mut vectors = Vectors::default();
            let mut found: Vec<String> =
                view.texts().flat_map(|text| vectors.next(text, &deadline).unwrap()).collect();
            found.extend(vectors.finish());
            assert_eq!(found, expected, "{output}");
        }
    }
}
