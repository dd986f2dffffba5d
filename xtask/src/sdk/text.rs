//! Names and comments for both languages.

/// Maximum length of a comment line.
pub(super) const WIDTH: usize = 100;

/// `list_agents` as `listAgents`.
pub(super) fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capital(word))
}

/// `list_agents` as `ListAgents`.
pub(super) fn pascal(name: &str) -> String {
    name.split('_').map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

/// Wraps a text to `WIDTH` characters, including the indentation. Keeps paragraphs but not line breaks.
pub(super) fn wrap(text: &str, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n") {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let mut line = indent.to_owned();
        for word in paragraph.split_whitespace() {
            if line.len() > indent.len() && line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
            }
            if line.len() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Returns the first sentence without its full stop, as summaries are written.
pub(super) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_each_style() {
        for (name, in_camel, in_pascal) in
            [("list_agents", "listAgents", "ListAgents"), ("evaluate", "evaluate", "Evaluate"), ("", "", "")]
        {
            assert_eq!((camel(name), pascal(name)), (in_camel.to_owned(), in_pascal.to_owned()));
        }
    }

    #[test]
    fn lines_end_before_the_width() {
        let lines = wrap(&"word ".repeat(60), "    ");
        assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert_eq!(wrap("one\ntwo\n\nthree", "  "), ["  one two", "", "  three"]);
        let long = "x".repeat(200);
        assert_eq!(wrap(&long, ""), [long], "a word that is too long has a line of its own");
    }
}
