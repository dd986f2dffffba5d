//! The prompt of root, `# `, before a command that destroys.
//!
//! A `# ` also begins a comment, and comments speak of commands: `# rm -rf / would be the end of it`. So it is a prompt only at the
//! very beginning of a line, and where nothing but a command follows it: first the name of a program that can destroy (root needs no
//! `sudo`), then no word of a sentence.
//!
//! | a word | is |
//! |---|---|
//! | with one of `- / ~ $ * = : . { } \ < >` before its end | an operand or an option |
//! | of digits | a mode or a size |
//! | after an option | perhaps its value |
//! | any other | one of a sentence |
//!
//! A command at the beginning of a line that was commented out is found too: nothing tells it from one that root has run. What
//! stands after a separator is not looked at here.

use super::wrappers::name_of;

/// Programs that can destroy.
const NAMES: [&str; 11] =
    ["rm", "find", "mkfs", "mke2fs", "wipefs", "dd", "shred", "chmod", "chown", "tee", "rmdir"];

/// Longest line that is looked at, in bytes.
const LINE_BYTES_MAX: usize = 4096;

/// What follows the prompt of root with which a line begins.
pub(super) fn after_root_prompt(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# ")?.trim_start_matches([' ', '\t']);
    let end = (0..=rest.len().min(LINE_BYTES_MAX)).rev().find(|end| rest.is_char_boundary(*end))?;
    let near = rest.get(..end)?;
    // The first command only.
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
    // A full stop or a colon at its end ends a sentence.
    let inner = word.trim_end_matches(['.', ':', ',']);
    word.bytes().all(|byte| byte.is_ascii_digit())
        || inner.contains(is_mark)
        || !word.is_empty() && word.chars().all(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_destroys_follows_the_prompt_of_root() {
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
    fn comments_are_no_commands() {
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
