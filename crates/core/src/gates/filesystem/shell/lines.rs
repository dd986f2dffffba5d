//! Lines as a shell sees them, and the prompts before them.

use super::wrappers::{is_wrapper, name_of};

/// A line, with the lines that continue it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gates::filesystem) struct Line<'t> {
    /// What stands after a prompt, if there is one.
    pub(in crate::gates::filesystem) body: &'t str,
    /// Whether a prompt stands before it.
    pub(in crate::gates::filesystem) has_prompt: bool,
    /// Where the next line begins in the text.
    pub(in crate::gates::filesystem) end: usize,
}

/// The line in which a place lies; before `from` no line begins. Prompts are only looked for in prose.
pub(in crate::gates::filesystem) fn line_at(text: &str, from: usize, at: usize, prose: bool) -> Line<'_> {
    let bytes = text.as_bytes();
    let mut start = at;
    loop {
        let newline = bytes.get(from..start).and_then(|head| head.iter().rposition(|byte| *byte == b'\n'));
        match newline.map(|place| from + place) {
            Some(newline) if goes_on(bytes, newline) => start = newline,
            Some(newline) => {
                start = newline + 1;
                break;
            }
            None => {
                start = from;
                break;
            }
        }
    }
    let mut end = at;
    loop {
        let newline = bytes.get(end..).and_then(|tail| tail.iter().position(|byte| *byte == b'\n'));
        match newline.map(|place| end + place) {
            Some(newline) if goes_on(bytes, newline) => end = newline + 1,
            Some(newline) => {
                end = newline + 1;
                break;
            }
            None => {
                end = bytes.len();
                break;
            }
        }
    }
    let line = text.get(start..end).unwrap_or_default();
    let body = if prose { after_prompt(line) } else { line };
    Line { body, has_prompt: body.len() < line.trim_start().len(), end }
}

/// Whether the line that ends with this newline goes on: after a `\` that is not escaped itself, and after a pipe.
fn goes_on(bytes: &[u8], newline: usize) -> bool {
    const BLANKS_MAX: usize = 64;
    let head = bytes.get(..newline).unwrap_or_default();
    let head = head.strip_suffix(b"\r").unwrap_or(head);
    let escapes = head.iter().rev().take_while(|byte| **byte == b'\\').count();
    let mut last = head.iter().rev().take(BLANKS_MAX).skip_while(|byte| matches!(byte, b' ' | b'\t'));
    escapes % 2 == 1 || last.next() == Some(&b'|')
}

/// Longest prompt, in bytes.
const PROMPT_BYTES_MAX: usize = 128;

/// What follows the prompt of a shell: `$ `, `# `, `% `, `> `, `user@host:~$ `, `[user@host dir]# `, `~/src$ `, `PS C:\>`,
/// `C:\>`.
fn after_prompt(line: &str) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    for _ in 0..3 {
        let next =
            simple(rest).or_else(|| of_windows(rest)).or_else(|| of_user(rest)).or_else(|| of_folder(rest));
        match next {
            Some(next) => rest = next.trim_start_matches([' ', '\t']),
            None => break,
        }
    }
    rest
}

fn simple(line: &str) -> Option<&str> {
    for prompt in ["$ ", "% ", "> ", "❯ "] {
        // What is written to a device is no command.
        if let Some(rest) = line.strip_prefix(prompt).filter(|rest| !rest.trim_start().starts_with("/dev/")) {
            return Some(rest);
        }
    }
    // It may as well be a comment, so what follows has to be a command.
    let rest = line.strip_prefix("# ")?;
    let word = rest.split_ascii_whitespace().next()?;
    let name: String = name_of(word).chars().filter(|char| !matches!(char, '\\' | '\'' | '"')).collect();
    (is_wrapper(&name) || is_destroyer(&name)).then_some(rest)
}

fn is_destroyer(name: &str) -> bool {
    const NAMES: [&str; 8] = ["rm", "find", "mke2fs", "wipefs", "dd", "shred", "chmod", "chown"];
    NAMES.contains(&name) || name.starts_with("mkfs")
}

fn of_windows(line: &str) -> Option<&str> {
    let is_drive = |line: &str| matches!(line.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    if !line.starts_with("PS ") && !is_drive(line) {
        return None;
    }
    let end = line.bytes().take(PROMPT_BYTES_MAX).position(|byte| byte == b'>')?;
    let head = line.get(..end)?;
    let (head, rest) = (head.trim_start_matches("PS "), line.get(end + 1..)?);
    (!head.ends_with(' ') && !head.contains(['"', '\n', ';', '|'])).then_some(rest)
}

fn of_user(line: &str) -> Option<&str> {
    let is_end = |pair: &[u8]| matches!(pair, [b'$' | b'#' | b'%' | b'>', b' ']);
    let end = line.as_bytes().windows(2).take(PROMPT_BYTES_MAX).position(is_end)?;
    let head = line.get(..end)?;
    let begins = head.split(' ').take(2).any(|word| word.contains('@'));
    let has_odd = head.contains(['"', '\'', ';', '|', '<', ',', '\n']);
    (begins && !has_odd && head.split(' ').count() <= 4).then(|| line.get(end + 2..)).flatten()
}

/// `~/src$ `, `/srv# `, `host:~$ `, `bash-5.2$ `.
fn of_folder(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(' ').filter(|(word, _)| word.len() <= PROMPT_BYTES_MAX)?;
    let folder = word.strip_suffix(['$', '#'])?;
    let is_folder = folder.starts_with(['~', '/']) || folder.contains(":~") || folder.contains(":/");
    let is_shell = folder.starts_with("bash-") || folder.starts_with("sh-");
    let has_odd = folder.contains(['"', '\'', ';', '|', '<', '`', '$', '(']);
    ((is_folder || is_shell) && !has_odd).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts() {
        for (line, expected) in [
            ("$ rm x", "rm x"),
            ("  # rm x", "rm x"),
            ("# sudo rm x", "sudo rm x"),
            ("# a comment", "# a comment"),
            ("> rm x", "rm x"),
            ("> $ rm x", "rm x"),
            ("ada@host:~$ rm x", "rm x"),
            ("root@host:/srv# rm x", "rm x"),
            ("[ada@host srv]$ rm x", "rm x"),
            ("root@host ~ # rm x", "rm x"),
            ("(venv) ada@host:~$ rm x", "rm x"),
            (r"PS C:\> del x", "del x"),
            (r"PS C:\Program Files>del x", "del x"),
            (r"C:\Users\ada>del x", "del x"),
            ("~/src$ rm x", "rm x"),
            ("bash-5.2# rm x", "rm x"),
            ("rm x", "rm x"),
            ("C# rm x", "C# rm x"),
            ("$HOME/x", "$HOME/x"),
            ("write to ada@host, it costs 5 $ or so", "write to ada@host, it costs 5 $ or so"),
        ] {
            assert_eq!(after_prompt(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_go_on() {
        let text = "one\ntwo \\\nthree\\\\\nfour |\nfive\nsix";
        for (at, expected) in [
            (0, "one\n"),
            (3, "one\n"),
            (4, "two \\\nthree\\\\\n"),
            (11, "two \\\nthree\\\\\n"),
            (20, "four |\nfive\n"),
            (28, "four |\nfive\n"),
            (33, "six"),
        ] {
            let line = line_at(text, 0, at, true);
            assert_eq!(line.body, expected, "{at}");
            assert!(!line.has_prompt);
        }
        assert_eq!(line_at(text, 10, 12, true).body, "three\\\\\n", "no line begins earlier");
        assert_eq!(line_at("", 0, 0, true).body, "");
    }
}
