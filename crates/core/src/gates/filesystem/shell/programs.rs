//! Programs that are passed to others as text, see the table of `shell/wrappers.rs`.

use crate::gates::scan::{Deadline, TimedOut};

use super::command::{Command, Word, Words};
use super::encoded::decoded;
use super::lex::COST;
use super::wrappers::{
    SHELL, SSH, WATCH, is_powershell, is_program, joined, long_split, name_of, operands_from, takes_text,
};

/// A program that is passed as text.
pub(super) struct Program {
    pub(super) text: String,
    /// The words that it consists of.
    words: std::ops::Range<usize>,
}

/// The text that a program gets.
pub(super) enum ProgramText {
    Text(Program),
    /// No text. Holds the number of words after its name that were read to find out.
    Nothing(usize),
}

/// Returns the text that a program gets. `argv` begins with its name.
pub(super) fn program(argv: Words<'_>, windows: bool) -> ProgramText {
    let Some((first, rest)) = argv.split_first() else { return ProgramText::Nothing(0) };
    let name = name_of(first.text);
    let all = |from: usize| {
        let (first, more) = match rest.from(from)?.split_first() {
            Some((first, more)) => (first.text, joined(first.text, more)),
            None => ("", String::new()),
        };
        let text = if more.is_empty() { first.to_owned() } else { more };
        Some(Program { text, words: from + 1..argv.len() })
    };
    let one = |at: usize| Some(Program { text: rest.get(at)?.text.to_owned(), words: at + 1..at + 2 });
    let (program, read) = match name {
        "eval" => (all(0), rest.len()),
        "watch" => (all(operands_from(rest, &WATCH)), rest.len()),
        "ssh" => {
            // Options may also follow the host.
            let host = operands_from(rest, &SSH);
            let after = rest.from(host + 1).map(|after| host + 1 + operands_from(after, &SSH));
            (after.and_then(all), rest.len())
        }
        "su" => (su(rest, one), rest.len()),
        name if takes_text(name) => {
            let options = shell_options(rest);
            let is_c = |word: Word<'_>| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
            };
            let has_c = rest.iter().take(options).any(is_c);
            (if has_c { one(options) } else { None }, options)
        }
        name if windows && name.eq_ignore_ascii_case("cmd") => {
            let is_run = |word: Word<'_>| {
                let option = word.text.trim_start_matches('/');
                option.len() < word.text.len() && matches!(option, "c" | "C" | "k" | "K" | "r" | "R")
            };
            let options = rest.iter().take_while(|word| word.text.starts_with('/')).count();
            let run = rest.iter().take(options).position(is_run);
            (run.and_then(|run| all(run + 1)), options)
        }
        name if windows && is_powershell(name) => powershell(rest, all),
        _ => (None, 0),
    };
    program.map_or(ProgramText::Nothing(read), ProgramText::Text)
}

/// Returns the text after `-c` of `su`.
fn su(rest: Words<'_>, one: impl Fn(usize) -> Option<Program>) -> Option<Program> {
    let at = rest.iter().position(|Word { text, .. }| {
        text.starts_with("--c") || (text.starts_with('-') && !text.starts_with("--") && text.contains('c'))
    })?;
    let option = rest.get(at)?.text;
    let attached = match option.split_once('=') {
        Some((_, text)) if option.starts_with("--") => Some(text),
        _ => option.strip_prefix("-c").filter(|text| !text.is_empty()),
    };
    match attached {
        Some(text) => Some(Program { text: text.to_owned(), words: at + 1..at + 2 }),
        None => one(at + 1),
    }
}

/// Returns the number of words that are options of a shell, which may also begin with `+`.
fn shell_options(words: Words<'_>) -> usize {
    let mut at = 0;
    loop {
        let from = at;
        at += words.from(at).map_or(0, |words| operands_from(words, &SHELL));
        at += words
            .from(at)
            .map_or(0, |words| words.iter().take_while(|word| word.text.starts_with('+')).count());
        let ended = at.checked_sub(1).and_then(|last| words.get(last)).is_some_and(|word| word.text == "--");
        if at == from || ended {
            return at;
        }
    }
}

/// Returns the text that `powershell` gets, and the number of words that were read for it.
fn powershell(rest: Words<'_>, all: impl Fn(usize) -> Option<Program>) -> (Option<Program>, usize) {
    /// Longest option, in bytes.
    const OPTION_BYTES_MAX: usize = 64;
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        let Some(option) = word.text.strip_prefix(['-', '/']) else { return (all(at), at) };
        let option = option.trim_start_matches('-');
        let option =
            if option.len() > OPTION_BYTES_MAX { String::new() } else { option.to_ascii_lowercase() };
        let is = |name: &str| !option.is_empty() && name.starts_with(&option);
        if is("encodedcommand") || option == "ec" {
            let text = rest.get(at + 1).and_then(|word| decoded(word.text));
            return (text.map(|text| Program { text, words: at + 2..at + 3 }), at + 1);
        }
        if is("command") {
            return (all(at + 1), at + 1);
        }
        if is("file") {
            return (None, at + 1);
        }
        let takes_value = option == "ep"
            || option == "wd"
            || ["executionpolicy", "windowstyle", "version", "outputformat", "inputformat"]
                .iter()
                .any(|name| is(name))
            || ["configurationname", "psconsolefile", "workingdirectory", "settingsfile"]
                .iter()
                .any(|name| is(name));
        at += 1 + usize::from(takes_value);
    }
    (None, rest.len())
}

/// Finds the texts in which commands may begin, if commands may begin anywhere: programs passed as text, and all
/// quoted text.
pub(super) fn texts_anywhere(
    command: &Command,
    windows: bool,
    deadline: &Deadline<'_>,
    push: &mut dyn FnMut(&str),
) -> Result<(), TimedOut> {
    let words = command.words.all();
    let (mut claimed, mut asked_to, mut quoted) = (0..0, 0, 0);
    for (at, word) in words.iter().enumerate() {
        deadline.spend(COST)?;
        let is_claimed = claimed.contains(&at);
        // The whole word, if the option is quoted too.
        let split = long_split(word.text).filter(|text| !text.is_empty() && !is_claimed);
        if let Some(text) = split {
            push(text);
        }
        while let Some((_, part)) = command.words.quoted_at(quoted).filter(|(of, _)| *of == at) {
            quoted += 1;
            if split.is_none() && !is_claimed {
                deadline.spend(part.len())?;
                push(part);
            }
        }
        let name = name_of(word.text);
        if is_claimed || at < asked_to || !is_program(name) {
            continue;
        }
        // A word belongs to one program, even one that gets no text, so that no word is read twice at a level.
        let Some(argv) = words.from(at) else { continue };
        match program(argv, windows) {
            ProgramText::Text(program) => {
                deadline.spend(program.text.len())?;
                claimed = at + program.words.start..at + program.words.end;
                asked_to = claimed.end;
                push(&program.text);
            }
            ProgramText::Nothing(read) => asked_to = at + 1 + read,
        }
    }
    Ok(())
}
