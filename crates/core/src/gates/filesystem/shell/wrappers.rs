//! Programs that run another program, and programs passed as text.
//!
//! | program | runs |
//! |---|---|
//! | `sudo doas env command builtin exec nice nohup time timeout stdbuf setsid chroot busybox xargs` | the words after its options |
//! | `find -exec -execdir -ok -okdir` | the words up to `;` or `+` |
//! | `sh bash zsh dash ksh ash -c`, `su -c`, `env -S` | one word, as text |
//! | `eval`, `watch`, `ssh`, `cmd /c`, `powershell` and `pwsh -Command` | all words after its options, as text |
//! | `powershell` and `pwsh -EncodedCommand` | one word, decoded |

use crate::gates::scan::{Deadline, TimedOut};
use crate::limits::SHELL_LEVELS_MAX;

use super::Trouble;
use super::command::{Command, Word, Words};
use super::lex::COST;
use super::programs::{ProgramText, program};

/// A range of a command's words that is run: a name and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gates::filesystem) struct Run {
    pub(in crate::gates::filesystem) start: usize,
    pub(in crate::gates::filesystem) end: usize,
    /// Whether it gets more arguments from standard input.
    pub(in crate::gates::filesystem) by_xargs: bool,
    /// Index of the `find` that runs it.
    pub(in crate::gates::filesystem) by_find: Option<usize>,
}

/// A program whose arguments begin with the command that it runs.
pub(super) struct Wrapper {
    name: &'static str,
    /// Letters of options that take a value.
    valued: &'static str,
    /// Names of long options that take a value as the next word.
    valued_long: &'static [&'static str],
    /// Number of arguments in front of the command.
    skips: usize,
}

const fn wrapper(
    name: &'static str,
    valued: &'static str,
    valued_long: &'static [&'static str],
    skips: usize,
) -> Wrapper {
    Wrapper { name, valued, valued_long, skips }
}

const SUDO_LONG: &[&str] = &[
    "user",
    "group",
    "host",
    "prompt",
    "close-from",
    "chdir",
    "chroot",
    "role",
    "type",
    "other-user",
    "command-timeout",
];
const XARGS_LONG: &[&str] =
    &["arg-file", "delimiter", "max-args", "max-lines", "max-procs", "max-chars", "process-slot-var"];

const WRAPPERS: [Wrapper; 15] = [
    wrapper("sudo", "ughpCrtTUDR", SUDO_LONG, 0),
    wrapper("doas", "uCa", &[], 0),
    wrapper("env", "uCS", &["unset", "chdir"], 0),
    wrapper("command", "", &[], 0),
    wrapper("builtin", "", &[], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("nice", "n", &["adjustment"], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("time", "fo", &["format", "output"], 0),
    wrapper("timeout", "sk", &["signal", "kill-after"], 1),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("chroot", "", &["userspec", "groups"], 1),
    wrapper("busybox", "", &[], 0),
    wrapper("xargs", "InLPsdEa", XARGS_LONG, 0),
];

pub(super) const WATCH: Wrapper = wrapper("watch", "nq", &["interval", "equexit"], 0);
pub(super) const SSH: Wrapper = wrapper("ssh", "bcDEeFIiJLlmOopQRSWwBP", &[], 0);
pub(super) const SHELL: Wrapper = wrapper("sh", "oO", &["rcfile", "init-file"], 0);

/// Returns the name of a program: the last part of its path, without `.exe`.
pub(in crate::gates::filesystem) fn name_of(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    match name.len().checked_sub(4).and_then(|end| name.split_at_checked(end)) {
        Some((name, exe)) if exe.eq_ignore_ascii_case(".exe") => name,
        _ => name,
    }
}

/// Returns whether a program runs another one.
pub(in crate::gates::filesystem) fn is_wrapper(name: &str) -> bool {
    wrapper_of(name).is_some() || is_program(name)
}

/// Returns whether a word may be between a wrapper and its command.
pub(in crate::gates::filesystem) fn is_transparent(word: &str) -> bool {
    word.starts_with('-')
        || word.len() == 1
        || word == "{}"
        || word.bytes().all(|byte| byte.is_ascii_digit())
        || is_assignment(word)
        || wrapper_of(name_of(word)).is_some()
        || takes_text(name_of(word))
}

/// Returns whether a text of more than one word has this word where a command may begin.
pub(in crate::gates::filesystem) fn mentions(text: &str, name: &str) -> bool {
    let ends = |char: char| char.is_whitespace() || ";&|(){}`\"'".contains(char);
    text.contains(char::is_whitespace) && text.split(ends).any(|word| name_of(word) == name)
}

fn wrapper_of(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Returns whether a program is a shell that gets a text with `-c`.
pub(in crate::gates::filesystem) fn takes_text(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash")
}

pub(super) fn is_powershell(name: &str) -> bool {
    name.eq_ignore_ascii_case("powershell") || name.eq_ignore_ascii_case("pwsh")
}

/// Returns whether a program gets other programs as text.
pub(super) fn is_program(name: &str) -> bool {
    takes_text(name)
        || is_powershell(name)
        || name.eq_ignore_ascii_case("cmd")
        || matches!(name, "eval" | "su" | "watch" | "ssh")
}

/// A find whose commands are being read, its level, and the number of its words that were read.
struct OpenFind {
    run: Run,
    level: usize,
    at: usize,
}

/// Records the commands that a command runs, and passes on the programs that it gets as text. A find comes before its
/// commands.
pub(super) fn open(
    command: &mut Command,
    level: usize,
    windows: bool,
    deadline: &Deadline<'_>,
    push: &mut dyn FnMut(&str),
) -> Result<(), Trouble> {
    let (words, runs) = (command.words.all(), &mut command.runs);
    let whole = Run { start: 0, end: words.len(), by_xargs: false, by_find: None };
    let (mut next, mut finds) = (Some((whole, level)), Vec::new());
    loop {
        let (run, level) = match next.take() {
            Some(next) => next,
            None => match next_executed(words, &mut finds, deadline)? {
                Some(next) => next,
                None => return Ok(()),
            },
        };
        if level > SHELL_LEVELS_MAX {
            return Err(Trouble::TooDeep);
        }
        let Some(run) = unwrapped(words, run, deadline, push)? else { continue };
        if runs.len() == runs.capacity() {
            runs.reserve_exact((runs.len() / 2).max(4));
        }
        runs.push(run);
        let Some(argv) = words.between(run.start, run.end) else { continue };
        let name = argv.first().map_or("", |word| name_of(word.text));
        if is_program(name) {
            deadline.spend(COST * argv.len())?;
            if let ProgramText::Text(program) = program(argv, windows) {
                push(&program.text);
            }
        } else if name == "find" {
            finds.push(OpenFind { run, level, at: 0 });
        }
    }
}

/// Returns the next command of the innermost find that has one left, and its level.
fn next_executed(
    words: Words<'_>,
    finds: &mut Vec<OpenFind>,
    deadline: &Deadline<'_>,
) -> Result<Option<(Run, usize)>, TimedOut> {
    while let Some(OpenFind { run, level, at }) = finds.last_mut() {
        let argv = words.between(run.start, run.end);
        if let Some((start, end)) = argv.and_then(|argv| executed(argv, *at)) {
            deadline.spend(COST * (end - *at))?;
            *at = end;
            let by_find = Some(run.start);
            let inner = Run { start: run.start + start, end: run.start + end, by_xargs: false, by_find };
            return Ok(Some((inner, *level + 1)));
        }
        finds.pop();
    }
    Ok(None)
}

/// Returns the command inside all wrappers.
fn unwrapped(
    words: Words<'_>,
    mut run: Run,
    deadline: &Deadline<'_>,
    push: &mut dyn FnMut(&str),
) -> Result<Option<Run>, TimedOut> {
    loop {
        let Some(argv) = words.between(run.start, run.end) else { return Ok(None) };
        let assignments = argv.iter().take_while(|word| is_assignment(word.text)).count();
        deadline.spend(COST * (1 + assignments))?;
        let Some((first, rest)) = argv.from(assignments).and_then(Words::split_first) else {
            return Ok(None);
        };
        let name = name_of(first.text);
        let start = run.start + assignments;
        let Some(wrapper) = wrapper_of(name) else {
            run.start = start;
            return Ok(Some(run));
        };
        let operand = operands_from(rest, wrapper) + wrapper.skips;
        deadline.spend(COST * operand)?;
        let mut options = rest.iter().take(operand);
        // `command -v` only prints the path of a program.
        if name == "command" && options.any(|word| matches!(word.text, "-v" | "-V")) {
            return Ok(None);
        }
        if name == "env"
            && let Some(text) = split_string(rest)
        {
            // Everything after it is part of the text and is read only there.
            deadline.spend(text.len())?;
            push(&text);
            return Ok(None);
        }
        run.by_xargs |= name == "xargs";
        run.start = start + 1 + operand;
    }
}

/// Returns the text of `env -S`.
fn split_string(options: Words<'_>) -> Option<String> {
    let is_it = |text: &str| text.starts_with("-S") || long_split(text).is_some();
    let at = options.iter().position(|word| is_it(word.text) || !word.text.starts_with('-'))?;
    let (first, rest) = options.from(at)?.split_first()?;
    let text = long_split(first.text).or_else(|| first.text.strip_prefix("-S"))?;
    Some(joined(text, rest).trim_start_matches('=').to_owned())
}

/// Joins a text and words with blanks.
pub(super) fn joined(first: &str, rest: Words<'_>) -> String {
    rest.iter().fold(first.to_owned(), |mut text, word| {
        text.push(' ');
        text.push_str(word.text);
        text
    })
}

/// Returns the value of `--split-string=`, which may be abbreviated like any long name: `--split`, `--s`.
pub(super) fn long_split(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--s")?;
    let (name, text) = name.split_once('=').unwrap_or((name, ""));
    "plit-string".starts_with(name).then_some(text)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|char: char| char.is_ascii_digit())
    })
}

/// Returns the number of words that are options.
pub(super) fn operands_from(words: Words<'_>, wrapper: &Wrapper) -> usize {
    let mut at = 0;
    while let Some(Word { text, .. }) = words.get(at) {
        if text == "--" {
            return at + 1;
        }
        at += match (text.strip_prefix("--"), text.strip_prefix('-')) {
            (Some(long), _) => {
                let takes = wrapper.valued_long.iter().any(|known| known.starts_with(long));
                1 + usize::from(takes && !long.is_empty())
            }
            (None, Some(letters)) => {
                let valued = letters.find(|letter| wrapper.valued.contains(letter));
                // A value may be in the same word.
                1 + usize::from(valued.is_some_and(|position| position + 1 == letters.len()))
            }
            (None, None) if is_assignment(text) => 1,
            (None, None) => break,
        };
    }
    at.min(words.len())
}

/// Returns the start and end of the next command of a `find`, from this word on.
fn executed(argv: Words<'_>, at: usize) -> Option<(usize, usize)> {
    let is_exec = |word: Word<'_>| matches!(word.text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let start = at + argv.from(at)?.iter().position(is_exec)? + 1;
    let is_end = |word: Word<'_>| matches!(word.text, ";" | "+");
    let length = argv.from(start)?.iter().position(is_end);
    Some((start, length.map_or(argv.len(), |length| start + length)))
}
