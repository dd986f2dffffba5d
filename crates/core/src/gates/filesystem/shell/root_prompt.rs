//! The root prompt, `# `, in front of a destructive command.
//!
//! A `# ` also begins a comment, and comments mention commands: `# rm -rf / would be the end of it`. So it is a
//! prompt only at the very start of a line, and only if nothing but a command follows: first the name of a
//! destructive program (root needs no `sudo`), then no word of a sentence.
//!
//! | word | counts as |
//! |---|---|
//! | with one of `- / ~ $ * = : . { } \ < >` in front of its end | an operand or an option |
//! | of digits | a mode or a size |
//! | after an option | possibly its value |
//! | any other | a word of a sentence |
//!
//! A commented-out command at the start of a line is found too: it cannot be distinguished from one that root ran.
//! Text after a separator is not checked here.

use super::wrappers::name_of;

/// Destructive programs.
const NAMES: [&str; 11] =
    ["rm", "find", "mkfs", "mke2fs", "wipefs", "dd", "shred", "chmod", "chown", "tee", "rmdir"];

/// Longest line that is checked, in bytes.
const LINE_BYTES_MAX: usize = 4096;

/// Returns the text after the root prompt at the start of a line.
pub(super) fn after_root_prompt(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# ")?.trim_start_matches([' ', '\t']);
    let end = (0..=rest.len().min(LINE_BYTES_MAX)).rev().find(|end| rest.is_char_boundary(*end))?;
    let near = rest.get(..end)?;
    // Only the first command.
    let command = near.split(['\n', ';', '&', '|']).next()?;
    let mut words = command.split_ascii_whitespace();
    let name = name_of(words.next()?);
    let destroys = NAMES.contains(&name) || name.starts_with("mkfs.");
    let mut after_option = false;
    let is_command = words.all(|word| {
        let fits = after_option || is_operand(word);
        after_option = word.starts_with('-');
        fits
    });
    (destroys && is_command).then_some(rest)
}

fn is_operand(word: &str) -> bool {
    let is_mark = |char: char| "-/~$*=:.{}\\<>".contains(char);
    // A period or a colon at its end belongs to a sentence.
    let inner = word.trim_end_matches(['.', ':', ',']);
    word.bytes().all(|byte| byte.is_ascii_digit())
        || inner.contains(is_mark)
        || !word.is_empty() && word.chars().all(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destructive_command_after_the_root_prompt_is_found() {
        for line in [
            "# rm -rf /",
            "# rm -rf /*",
            "# rm -rf ~ && echo done",
            "# /bin/rm -r -f /home",
            "# dd if=/dev/zero of=/dev/sda bs=1M",
            "# mkfs.ext4 /dev/sda1",
            "# wipefs -a /dev/sda",
            "# chmod -R 777 /",
            "# chown -R root:root /etc",
            "# find / -name core -delete",
            "# shred /dev/sda",
        ] {
            assert!(after_root_prompt(line).is_some(), "{line}");
        }
    }

    #[test]
    fn comments_are_not_commands() {
        for line in [
            "# remove the folder",
            "# rm -rf / would be the end of it",
            "# rm is run with -rf here",
            "# find all files in /etc",
            "# rm -rf build, then make",
            "# tee writes to /dev/sda here",
            "# chmod the files below /etc.",
            "# dd",
            "#rm -rf /",
            "# sudo rm -rf /opt",
            "  # rm -rf /",
            "## rm -rf /",
            "# echo x > /dev/sda",
            "# ",
        ] {
            let is_name_alone = line == "# dd";
            assert_eq!(after_root_prompt(line).is_some(), is_name_alone, "{line}");
        }
    }
}
