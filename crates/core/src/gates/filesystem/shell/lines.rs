//! Lines as a shell sees them, and the prompts in front of them.

use super::open_quotes::OpenQuotes;
use super::root_prompt::after_root_prompt;
use crate::gates::scan::{Deadline, TimedOut, find_byte, rfind_byte};

/// A line, including its continuation lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gates::filesystem) struct Line<'t> {
    /// The text, without its prompt.
    pub(in crate::gates::filesystem) body: &'t str,
    /// Whether it has a prompt.
    pub(in crate::gates::filesystem) has_prompt: bool,
    /// Whether `#` may begin a comment: only if no quote from an earlier line is open.
    pub(in crate::gates::filesystem) has_comments: bool,
    /// Start of the next line in the text.
    pub(in crate::gates::filesystem) end: usize,
}

impl Line<'_> {
    /// Returns whether it consists of rows of a Markdown table: a shell never begins a line with `|`.
    pub(super) fn is_table(&self) -> bool {
        let is_row = |line: &str| line.len() > 1 && line.starts_with('|') && line.ends_with('|');
        let mut rows = self.body.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        rows.peek().is_some() && rows.all(is_row)
    }
}

/// The lines of a text, in order.
#[derive(Debug)]
pub(in crate::gates::filesystem) struct Lines<'t> {
    text: &'t str,
    /// Whether the text is prose. Only prose is searched for prompts.
    prose: bool,
    /// No line begins in front of this position.
    from: usize,
    open: OpenQuotes,
}

impl<'t> Lines<'t> {
    pub(in crate::gates::filesystem) fn new(text: &'t str, prose: bool) -> Self {
        Self { text, prose, from: 0, open: OpenQuotes::default() }
    }

    /// Returns the line that contains a position. Positions must be requested in order.
    pub(in crate::gates::filesystem) fn at(
        &mut self,
        at: usize,
        deadline: &Deadline<'_>,
    ) -> Result<Line<'t>, TimedOut> {
        let bytes = self.text.as_bytes();
        let start = start_of(bytes, self.from, at, deadline)?;
        let end = end_of(bytes, at, deadline)?;
        let line = self.text.get(start..end).unwrap_or_default();
        let body = if self.prose { after_prompt(line) } else { line };
        let has_hash = find_byte(line.as_bytes(), 0, b'#', deadline)?.is_some();
        let has_comments = !has_hash || !self.open.at(bytes, start, deadline)?;
        self.from = end;
        Ok(Line { body, has_prompt: body.len() < line.trim_start().len(), has_comments, end })
    }
}

fn start_of(bytes: &[u8], from: usize, at: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    let mut start = at;
    loop {
        match rfind_byte(bytes, from, start, b'\n', deadline)? {
            Some(newline) if goes_on(bytes, newline) => start = newline,
            Some(newline) => return Ok(newline + 1),
            None => return Ok(from),
        }
    }
}

fn end_of(bytes: &[u8], at: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    let mut end = at;
    loop {
        match find_byte(bytes, end, b'\n', deadline)? {
            Some(newline) if goes_on(bytes, newline) => end = newline + 1,
            Some(newline) => return Ok(newline + 1),
            None => return Ok(bytes.len()),
        }
    }
}

/// Returns whether the line continues after this newline: after a `\` that is not escaped itself, and after a pipe.
fn goes_on(bytes: &[u8], newline: usize) -> bool {
    const BLANKS_MAX: usize = 64;
    const ESCAPES_MAX: usize = 1 << 16;
    let head = bytes.get(..newline).unwrap_or_default();
    let head = head.strip_suffix(b"\r").unwrap_or(head);
    let escapes = head.iter().rev().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
    let mut last = head.iter().rev().take(BLANKS_MAX).skip_while(|byte| matches!(byte, b' ' | b'\t'));
    escapes % 2 == 1 || last.next() == Some(&b'|')
}

/// Longest prompt, in bytes.
const PROMPT_BYTES_MAX: usize = 128;

/// Returns the text after a shell prompt: `$ `, `% `, `> `, `user@host:~$ `, `[user@host dir]# `, `~/src$ `,
/// `PS C:\>`, `C:\>`. A `# ` alone is a comment, unless it is a root prompt, see `shell/root_prompt.rs`.
fn after_prompt(line: &str) -> &str {
    // A shell does not indent its prompt, but comments are indented with the code around them.
    let mut rest = after_root_prompt(line).unwrap_or(line).trim_start_matches([' ', '\t']);
    for _ in 0..3 {
        let next =
            simple(rest).or_else(|| of_windows(rest)).or_else(|| of_user(rest)).or_else(|| of_folder(rest));
        match next {
            Some(next) => rest = after_root_prompt(next).unwrap_or(next).trim_start_matches([' ', '\t']),
            None => break,
        }
    }
    rest
}

fn simple(line: &str) -> Option<&str> {
    for prompt in ["$ ", "% ", "> ", "❯ "] {
        // Text written to a device is not a command.
        if let Some(rest) = line.strip_prefix(prompt).filter(|rest| !rest.trim_start().starts_with("/dev/")) {
            return Some(rest);
        }
    }
    None
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

/// Matches `~/src$ `, `/srv# `, `host:~$ `, `[srv]# `, `bash-5.2$ `.
fn of_folder(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(' ').filter(|(word, _)| word.len() <= PROMPT_BYTES_MAX)?;
    let folder = word.strip_suffix(['$', '#'])?;
    let is_folder = folder.starts_with(['~', '/']) || folder.contains(":~") || folder.contains(":/");
    let is_shell = folder.starts_with("bash-") || folder.starts_with("sh-");
    let is_bracket = folder.len() > 2 && folder.starts_with('[') && folder.ends_with(']');
    let has_odd = folder.contains(['"', '\'', ';', '|', '<', '`', '$', '(']);
    ((is_folder || is_shell || is_bracket) && !has_odd).then_some(rest)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn line_at(text: &str, from: usize, at: usize) -> Line<'_> {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        Lines { from, ..Lines::new(text, true) }.at(at, &deadline).unwrap()
    }

    #[test]
    fn prompts_are_removed() {
        for (line, expected) in [
            ("$ rm x", "rm x"),
            ("  # rm x", "# rm x"),
            ("\t# sudo rm x", "# sudo rm x"),
            ("[srv]# rm x", "rm x"),
            ("host:/srv# rm x", "rm x"),
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
            ("# rm -rf /", "rm -rf /"),
            ("> # rm -rf / --no-preserve-root", "rm -rf / --no-preserve-root"),
            ("  # rm -rf /", "# rm -rf /"),
            ("# rm -rf / would be the end of it", "# rm -rf / would be the end of it"),
            ("C# rm x", "C# rm x"),
            ("$HOME/x", "$HOME/x"),
            ("write to ada@host, it costs 5 $ or so", "write to ada@host, it costs 5 $ or so"),
        ] {
            assert_eq!(after_prompt(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_are_continued() {
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
            let line = line_at(text, 0, at);
            assert_eq!(line.body, expected, "{at}");
            assert!(!line.has_prompt);
        }
        assert_eq!(line_at(text, 10, 12).body, "three\\\\\n", "no line begins earlier");
        assert_eq!(line_at("", 0, 0).body, "");
    }
}
