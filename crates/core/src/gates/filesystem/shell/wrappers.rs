//! Programs that run another one, and programs given as text.
//!
//! | program | what it runs |
//! |---|---|
//! | `sudo doas env command builtin exec nice nohup time timeout stdbuf setsid chroot busybox xargs` | the words after its options |
//! | `find -exec -execdir -ok -okdir` | the words up to `;` or `+` |
//! | `sh bash zsh dash ksh ash -c`, `su -c`, `env -S` | one word, as text |
//! | `eval`, `watch`, `ssh`, `cmd /c`, `powershell` and `pwsh -Command` | all words after its options, as text |
//! | `powershell` and `pwsh -EncodedCommand` | one word, decoded |

use crate::limits::SHELL_LEVELS_MAX;

use super::Trouble;
use super::encoded::decoded;
use super::lex::{Command, Word};

/// A range of a command's words that is run: a name and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gates::filesystem) struct Run {
    pub(in crate::gates::filesystem) start: usize,
    pub(in crate::gates::filesystem) end: usize,
    /// Whether more arguments come from standard input.
    pub(in crate::gates::filesystem) by_xargs: bool,
    /// Where the `find` begins that runs it.
    pub(in crate::gates::filesystem) by_find: Option<usize>,
}

/// A program whose arguments begin with the command that it runs.
struct Wrapper {
    name: &'static str,
    /// Letters of options that take a value.
    valued: &'static str,
    /// Names of long options that take a value as the next word.
    valued_long: &'static [&'static str],
    /// Arguments before the command.
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

const WATCH: Wrapper = wrapper("watch", "nq", &["interval", "equexit"], 0);
const SSH: Wrapper = wrapper("ssh", "bcDEeFIiJLlmOopQRSWwBP", &[], 0);
const SHELL: Wrapper = wrapper("sh", "oO", &["rcfile", "init-file"], 0);

/// The name of a program: the last part of its path, without `.exe`.
pub(in crate::gates::filesystem) fn name_of(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    match name.len().checked_sub(4).and_then(|end| name.split_at_checked(end)) {
        Some((name, exe)) if exe.eq_ignore_ascii_case(".exe") => name,
        _ => name,
    }
}

/// Whether a program runs another one.
pub(in crate::gates::filesystem) fn is_wrapper(name: &str) -> bool {
    wrapper_of(name).is_some() || is_program(name)
}

/// Whether a word may stand between a wrapper and what it runs.
pub(in crate::gates::filesystem) fn is_transparent(word: &str) -> bool {
    word.starts_with('-')
        || word.len() == 1
        || word == "{}"
        || word.bytes().all(|byte| byte.is_ascii_digit())
        || is_assignment(word)
        || wrapper_of(name_of(word)).is_some()
        || takes_text(name_of(word))
}

/// Whether a text of more than one word has that word where a command may begin.
pub(in crate::gates::filesystem) fn mentions(text: &str, name: &str) -> bool {
    let ends = |char: char| char.is_whitespace() || ";&|(){}`\"'".contains(char);
    text.contains(char::is_whitespace) && text.split(ends).any(|word| name_of(word) == name)
}

fn wrapper_of(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Whether a program is a shell, which `-c` gives a text.
pub(in crate::gates::filesystem) fn takes_text(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash")
}

fn is_powershell(name: &str) -> bool {
    name.eq_ignore_ascii_case("powershell") || name.eq_ignore_ascii_case("pwsh")
}

/// Whether a program is given others as text.
fn is_program(name: &str) -> bool {
    takes_text(name)
        || is_powershell(name)
        || name.eq_ignore_ascii_case("cmd")
        || matches!(name, "eval" | "su" | "watch" | "ssh")
}

/// Notes what a command runs, and answers the programs that it is given as text.
pub(super) fn open(command: &mut Command<'_>, level: usize, windows: bool) -> Result<Vec<String>, Trouble> {
    let words = &command.words;
    let mut texts = Vec::new();
    let whole = Run { start: 0, end: words.len(), by_xargs: false, by_find: None };
    let mut waiting = vec![(whole, level)];
    while let Some((run, level)) = waiting.pop() {
        if level > SHELL_LEVELS_MAX {
            return Err(Trouble::TooDeep);
        }
        let Some(run) = unwrapped(words, run, &mut texts) else { continue };
        command.runs.push(run);
        let argv = words.get(run.start..run.end).unwrap_or_default();
        let name = argv.first().map_or("", |word| name_of(&word.text));
        if is_program(name) {
            texts.extend(program(argv, windows).map(|program| program.text));
        } else if name == "find" {
            let inner = executed(argv).map(|(start, end)| Run {
                start: run.start + start,
                end: run.start + end,
                by_xargs: false,
                by_find: Some(run.start),
            });
            waiting.extend(inner.map(|run| (run, level + 1)));
        }
    }
    Ok(texts)
}

/// What is run when all wrappers before it are gone.
fn unwrapped(words: &[Word<'_>], mut run: Run, texts: &mut Vec<String>) -> Option<Run> {
    loop {
        let argv = words.get(run.start..run.end)?;
        let assignments = argv.iter().take_while(|word| is_assignment(&word.text)).count();
        let (first, rest) = argv.get(assignments..)?.split_first()?;
        let name = name_of(&first.text);
        let start = run.start + assignments;
        let Some(wrapper) = wrapper_of(name) else {
            run.start = start;
            return Some(run);
        };
        let operand = operands_from(rest, wrapper) + wrapper.skips;
        let options = || rest.iter().take(operand);
        // `command -v` only tells where a program lies.
        if name == "command" && options().any(|word| matches!(word.text.as_ref(), "-v" | "-V")) {
            return None;
        }
        if name == "env" {
            texts.extend(split_string(rest));
        }
        run.by_xargs |= name == "xargs";
        run.start = start + 1 + operand;
    }
}

/// The text of `env -S`.
fn split_string(options: &[Word<'_>]) -> Option<String> {
    let is_it = |text: &str| text.starts_with("-S") || long_split(text).is_some();
    let at = options.iter().position(|word| is_it(&word.text) || !word.text.starts_with('-'))?;
    let (first, rest) = options.get(at..)?.split_first()?;
    let text = long_split(&first.text).or_else(|| first.text.strip_prefix("-S"))?;
    let words = std::iter::once(text).chain(rest.iter().map(|word| word.text.as_ref()));
    Some(words.collect::<Vec<_>>().join(" ").trim_start_matches('=').to_owned())
}

/// What `--split-string=` holds, which may be cut as long names may: `--split`, `--s`.
fn long_split(word: &str) -> Option<&str> {
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

/// How many words are options.
fn operands_from(words: &[Word<'_>], wrapper: &Wrapper) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_ref();
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
                // A value may stand in the same word.
                1 + usize::from(valued.is_some_and(|place| place + 1 == letters.len()))
            }
            (None, None) if is_assignment(text) => 1,
            (None, None) => break,
        };
    }
    at.min(words.len())
}

/// The commands of `find`: where each begins and ends.
fn executed(argv: &[Word<'_>]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_exec = |word: &Word<'_>| matches!(word.text.as_ref(), "-exec" | "-execdir" | "-ok" | "-okdir");
        let start = at + argv.get(at..)?.iter().position(is_exec)? + 1;
        let is_end = |word: &Word<'_>| matches!(word.text.as_ref(), ";" | "+");
        let length = argv.get(start..)?.iter().position(is_end);
        at = length.map_or(argv.len(), |length| start + length);
        Some((start, at))
    })
}

/// A program that is given as text.
struct Program {
    text: String,
    /// The words that it is made of.
    words: std::ops::Range<usize>,
}

/// The text that a program is given; `argv` begins with its name.
fn program(argv: &[Word<'_>], windows: bool) -> Option<Program> {
    let (first, rest) = argv.split_first()?;
    let name = name_of(&first.text);
    let joined = |from: usize| {
        let words = rest.get(from..)?.iter().map(|word| word.text.as_ref());
        Some(Program { text: words.collect::<Vec<_>>().join(" "), words: from + 1..argv.len() })
    };
    let one =
        |at: usize| Some(Program { text: rest.get(at)?.text.clone().into_owned(), words: at + 1..at + 2 });
    match name {
        "eval" => joined(0),
        "watch" => joined(operands_from(rest, &WATCH)),
        "ssh" => {
            // Options may also follow the host.
            let host = operands_from(rest, &SSH);
            joined(host + 1 + operands_from(rest.get(host + 1..)?, &SSH))
        }
        "su" => {
            let at = rest.iter().position(|word| {
                let text = word.text.as_ref();
                text.starts_with("--c")
                    || (text.starts_with('-') && !text.starts_with("--") && text.contains('c'))
            })?;
            let option = rest.get(at)?.text.as_ref();
            let attached = match option.split_once('=') {
                Some((_, text)) if option.starts_with("--") => Some(text),
                _ => option.strip_prefix("-c").filter(|text| !text.is_empty()),
            };
            match attached {
                Some(text) => Some(Program { text: text.to_owned(), words: at + 1..at + 2 }),
                None => one(at + 1),
            }
        }
        name if takes_text(name) => {
            let options = shell_options(rest);
            let is_c = |word: &Word<'_>| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
            };
            if rest.iter().take(options).any(is_c) { one(options) } else { None }
        }
        name if windows && name.eq_ignore_ascii_case("cmd") => {
            let is_run = |word: &Word<'_>| {
                let option = word.text.trim_start_matches('/');
                option.len() < word.text.len() && matches!(option, "c" | "C" | "k" | "K" | "r" | "R")
            };
            let options = rest.iter().take_while(|word| word.text.starts_with('/')).count();
            joined(rest.iter().take(options).position(is_run)? + 1)
        }
        name if windows && is_powershell(name) => powershell(rest, joined),
        _ => None,
    }
}

/// How many words are options of a shell, which may also begin with `+`.
fn shell_options(words: &[Word<'_>]) -> usize {
    let mut at = 0;
    loop {
        let from = at;
        at += operands_from(words.get(at..).unwrap_or_default(), &SHELL);
        at +=
            words.get(at..).unwrap_or_default().iter().take_while(|word| word.text.starts_with('+')).count();
        let ended = at.checked_sub(1).and_then(|last| words.get(last)).is_some_and(|word| word.text == "--");
        if at == from || ended {
            return at;
        }
    }
}

fn powershell(rest: &[Word<'_>], joined: impl Fn(usize) -> Option<Program>) -> Option<Program> {
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        let Some(option) = word.text.strip_prefix(['-', '/']) else { return joined(at) };
        let option = option.trim_start_matches('-').to_ascii_lowercase();
        let is = |name: &str| !option.is_empty() && name.starts_with(&option);
        if is("encodedcommand") || option == "ec" {
            let text = decoded(&rest.get(at + 1)?.text)?;
            return Some(Program { text, words: at + 2..at + 3 });
        }
        if is("command") {
            return joined(at + 1);
        }
        if is("file") {
            return None;
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
    None
}

/// The texts in which commands may begin that begin anywhere: programs given as text, and whatever is quoted.
pub(super) fn texts_anywhere(command: &Command<'_>, windows: bool) -> Vec<String> {
    let words = &command.words;
    let (mut texts, mut claimed, mut asked_to) = (Vec::new(), 0..0, 0);
    for (at, word) in words.iter().enumerate() {
        if claimed.contains(&at) {
            continue;
        }
        // The whole of it, where the option is quoted too.
        match long_split(&word.text).filter(|text| !text.is_empty()) {
            Some(text) => texts.push(text.to_owned()),
            None => texts.extend(quoted(word)),
        }
        let (name, argv) = (name_of(&word.text), words.get(at..).unwrap_or_default());
        if at < asked_to || !is_program(name) {
            continue;
        }
        // A word belongs to one program, so that nothing is read twice at a level.
        match program(argv, windows) {
            Some(program) => {
                claimed = at + program.words.start..at + program.words.end;
                asked_to = claimed.end;
                texts.push(program.text);
            }
            None if takes_text(name) => asked_to = at + 1 + shell_options(argv.get(1..).unwrap_or_default()),
            None if name == "su" => asked_to = words.len(),
            None => {}
        }
    }
    texts
}

/// The quoted parts of a word that are more than a word.
fn quoted(word: &Word<'_>) -> impl Iterator<Item = String> {
    let parts = word.quoted.iter().filter_map(|(start, end)| word.text.get(*start..*end));
    let is_more =
        |part: &&str| part.bytes().any(|byte| byte.is_ascii_whitespace() || b"\"'`$;&|".contains(&byte));
    parts.filter(is_more).map(str::to_owned)
}
