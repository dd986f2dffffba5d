//! The code blocks of a Markdown document.

/// The start of the line above a block that cannot run. The reason follows.
const NOT_RUN: &str = "<!-- not run: ";

/// A fenced code block.
pub(super) struct Block {
    pub(super) language: String,
    /// Whether the line above it says why it cannot run.
    pub(super) not_run: bool,
    pub(super) text: String,
    /// The line of its first fence, from 1.
    pub(super) line: usize,
}

/// All code blocks of a document, in order. Fails on blocks that no test could find: indented ones, and fences without a language.
pub(super) fn blocks(document: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_open, mut above) = (false, "");
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        match (line.strip_prefix("```"), blocks.last_mut()) {
            (Some(_), _) if is_open => is_open = false,
            (Some(language), _) => {
                assert!(!language.is_empty(), "{document}:{number}: a code block without a language");
                let not_run = above.strip_prefix(NOT_RUN).is_some_and(|reason| reason.len() > " -->".len());
                blocks.push(Block {
                    language: language.to_owned(),
                    not_run,
                    text: String::new(),
                    line: number,
                });
                is_open = true;
            }
            (None, Some(block)) if is_open => block.text.extend([line, "\n"]),
            (None, _) => {
                assert!(
                    !line.starts_with("    "),
                    "{document}:{number}: an indented code block, expected ```"
                );
            }
        }
        above = line;
    }
    assert!(!is_open, "{document}: the last code block is not closed");
    blocks
}

#[test]
fn a_block_has_a_language_a_text_and_perhaps_a_reason_not_to_run() {
    let text = "text\n<!-- not run: slow -->\n```sh\nsleep 9\n```\n```json\n{}\n[]\n```\n";
    let found: Vec<_> =
        blocks("a.md", text).into_iter().map(|b| (b.language, b.not_run, b.text, b.line)).collect();
    assert_eq!(
        found,
        [
            ("sh".to_owned(), true, "sleep 9\n".to_owned(), 3),
            ("json".to_owned(), false, "{}\n[]\n".to_owned(), 6)
        ]
    );
}
