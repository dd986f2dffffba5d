//! Changes one variable of an `.env` file and nothing else.

/// A line that sets the variable, split into parts.
struct Assignment<'a> {
    /// Everything before the value, including its opening quote.
    head: &'a str,
    value: &'a str,
    /// Everything after the value: its closing quote, a comment, a carriage return.
    tail: &'a str,
}

/// Returns the value of the variable. The last line counts, as for the readers of these files.
pub(crate) fn get<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().filter_map(|line| assignment(line, name)).next_back().map(|line| line.value)
}

/// Sets the variable. The value must not need quotes.
pub(crate) fn set(text: &str, name: &str, value: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let found = lines.iter_mut().rev().find_map(|line| {
        let Assignment { head, tail, .. } = assignment(line, name)?;
        let replaced = format!("{head}{value}{tail}");
        *line = replaced;
        Some(())
    });
    if found.is_some() {
        return lines.join("\n");
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}{name}={value}{newline}")
}

fn assignment<'a>(line: &'a str, name: &str) -> Option<Assignment<'a>> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(rest);
    let rest = rest.trim_start().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
    let quoted = quote.and_then(|quote| {
        let inner = rest.strip_prefix(quote)?;
        Some(inner.split_at(inner.find(quote)?))
    });
    let (value, tail) = quoted.unwrap_or_else(|| {
        let value = rest.split_once('#').map_or(rest, |(value, _)| value).trim_end();
        rest.split_at(value.len())
    });
    let (head, _) = line.split_at(line.len() - value.len() - tail.len());
    Some(Assignment { head, value, tail })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_variable_is_changed() {
        for (text, was, expected) in [
            ("", None, "A=new\n"),
            ("B=1", None, "B=1\nA=new\n"),
            ("B=1\r\n", None, "B=1\r\nA=new\r\n"),
            ("# A=no\nAB=1\n", None, "# A=no\nAB=1\nA=new\n"),
            ("A=old\nB=1\n", Some("old"), "A=new\nB=1\n"),
            ("A=\nB=1\n", Some(""), "A=new\nB=1\n"),
            ("  export A = old # why\nB", Some("old"), "  export A = new # why\nB"),
            ("A='x y' # why\r\nB=1\r\n", Some("x y"), "A='new' # why\r\nB=1\r\n"),
            ("A=\"x#y\"\n", Some("x#y"), "A=\"new\"\n"),
            ("A=\"open\n", Some("\"open"), "A=new\n"),
            ("A=1\nA=2\n", Some("2"), "A=1\nA=new\n"),
            ("exportA=1\n", None, "exportA=1\nA=new\n"),
        ] {
            assert_eq!(get(text, "A"), was, "{text:?}");
            let written = set(text, "A", "new");
            assert_eq!(written, expected, "{text:?}");
            assert_eq!(get(&written, "A"), Some("new"));
            assert_eq!(set(&written, "A", "new"), written);
        }
    }
}
