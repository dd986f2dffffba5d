//! Operands of commands: those that mean everything, those that may be deleted, and devices.

use std::borrow::Cow;

use super::paths::{Location, Roots};

/// Deepest nesting of defaults that is read.
const DEFAULTS_MAX: usize = 8;

/// Returns whether an operand is `/`, `~`, `$HOME`, `.`, `..`, `*` or a drive, in any spelling. For `${X:-/}` the
/// default counts.
pub(super) fn is_everything(operand: &str, windows: bool) -> bool {
    let mut operand = Cow::Borrowed(operand);
    for _ in 0..DEFAULTS_MAX {
        match defaulted(&operand) {
            Some(default) => operand = Cow::Owned(default),
            None => break,
        }
    }
    is_plain_everything(&operand, windows)
}

/// Returns the operand if its first variable has no value: `${X:-/srv}/x` is `/srv/x`.
fn defaulted(operand: &str) -> Option<String> {
    let inside = operand.strip_prefix("${")?;
    let end = inside.find(|char: char| !char.is_ascii_alphanumeric() && char != '_')?;
    let (_, rest) = inside.split_at_checked(end)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let (default, after) = rest.strip_prefix(['-', '='])?.split_once('}')?;
    Some(format!("{default}{after}"))
}

fn is_plain_everything(operand: &str, windows: bool) -> bool {
    if windows && is_drive(operand) {
        return true;
    }
    let home = ["~", "$HOME", "${HOME}"].iter().find_map(|home| operand.strip_prefix(home));
    let rest = match home {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        Some(_) => return false,
        None => operand,
    };
    let is_all = |name: &str| matches!(name, "" | "." | "..") || is_stars(name);
    !operand.is_empty() && rest.split('/').all(is_all)
}

fn is_stars(name: &str) -> bool {
    name.contains('*') && name.chars().all(|char| matches!(char, '*' | '.' | '?'))
}

/// Returns whether an operand is a drive: `C:`, `C:\`, `C:\*` and similar.
pub(super) fn is_drive(operand: &str) -> bool {
    match operand.as_bytes() {
        [letter, b':', rest @ ..] => {
            letter.is_ascii_alphabetic()
                && rest.iter().all(|byte| matches!(byte, b'/' | b'\\' | b'*' | b'.' | b' '))
        }
        _ => false,
    }
}

/// Returns whether an operand may be deleted: a relative path that is not everything, a path in a root, or a path
/// below `/tmp`. A variable and its default count as a relative path, unless the operand would be everything without
/// them. A substitution alone does not count, because its output is unknown, and neither does an environment variable
/// of Windows.
pub(super) fn may_be_deleted(operand: &str, roots: &Roots, windows: bool) -> bool {
    let mut operand = Cow::Borrowed(operand);
    for _ in 0..DEFAULTS_MAX {
        if !plain_may_be_deleted(&operand, roots, windows) {
            return false;
        }
        match defaulted(&operand) {
            Some(default) => operand = Cow::Owned(default),
            None => return true,
        }
    }
    false
}

fn plain_may_be_deleted(operand: &str, roots: &Roots, windows: bool) -> bool {
    if roots.hold(operand) && !is_everything(operand, windows) {
        return true;
    }
    if operand.starts_with(['~', '%']) || operand.starts_with("$HOME") || operand.starts_with("${HOME}") {
        return false;
    }
    if let Some(location) = Location::absolute(operand) {
        return matches!(location.names(), [first, _, ..] if first == "tmp");
    }
    if operand.starts_with(['/', '\\']) {
        return false;
    }
    if operand.is_empty() {
        return true;
    }
    // What find and xargs insert is not known here; `$PWD` is `.`.
    if operand.contains("{}") || matches!(operand, "$PWD" | "${PWD}" | "$()") || is_of_environment(operand) {
        return false;
    }
    let rest = if operand.starts_with('$') {
        // A slash in a default does not count as a slash of the operand.
        let after = operand.strip_prefix("${").and_then(|inside| inside.split_once('}'));
        match after.map_or(operand, |(_, after)| after).split_once('/') {
            Some((_, rest)) => rest,
            None => return true,
        }
    } else {
        operand
    };
    let climbs = rest.split(['/', '\\']).any(|name| name == "..");
    !climbs && !is_everything(rest, windows) && !rest.is_empty()
}

/// Returns whether an operand is `$env:USERPROFILE` or similar, ignoring case.
fn is_of_environment(operand: &str) -> bool {
    const START: &str = "$env:";
    operand.get(..START.len()).is_some_and(|start| start.eq_ignore_ascii_case(START))
}

/// Returns the name of an operand below `/dev`.
fn device(operand: &str) -> Option<String> {
    if !operand.contains("dev") {
        return None;
    }
    let location = Location::absolute(operand)?;
    let (first, rest) = location.names().split_first()?;
    (first == "dev" && !rest.is_empty()).then(|| rest.join("/"))
}

/// Returns whether an operand is a device but not a stream such as `/dev/null`.
pub(super) fn is_device(operand: &str) -> bool {
    const STREAMS: [&str; 6] = ["null", "zero", "stdout", "stderr", "tty", "fd"];
    device(operand).is_some_and(|name| !STREAMS.contains(&name.split('/').next().unwrap_or_default()))
}

/// Returns whether an operand is a stream below `/dev`.
pub(super) fn is_stream(operand: &str) -> bool {
    device(operand).is_some() && !is_device(operand) || operand == "/dev/stdin"
}

/// Returns whether an operand is a disk or a partition.
pub(super) fn is_disk(operand: &str) -> bool {
    const LETTERED: [&str; 4] = ["sd", "hd", "vd", "xvd"];
    const NUMBERED: [&str; 10] = ["md", "dm-", "loop", "nbd", "sr", "ram", "zd", "pmem", "mtdblock", "mtd"];
    const NAMED: [&str; 6] = ["nvme", "mmcblk", "disk", "rdisk", "mapper/", "block/"];
    let Some(name) = device(operand) else { return false };
    let after = |known: &str| name.strip_prefix(known).and_then(|rest| rest.chars().next());
    LETTERED
        .iter()
        .any(|known| after(known).is_some_and(|char| char.is_ascii_alphabetic() || "*?[{$".contains(char)))
        || NUMBERED.iter().any(|known| after(known).is_some_and(|char| char.is_ascii_digit()))
        || NAMED.iter().any(|known| after(known).is_some())
}

/// Returns whether an operand is `/` or a system directory.
pub(super) fn is_system_root(operand: &str) -> bool {
    const DIRECTORIES: [&str; 13] =
        ["bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "sbin", "sys", "usr", "var"];
    if !operand.starts_with('/') {
        return false;
    }
    let Some(location) = Location::absolute(operand) else { return false };
    let names = location.names();
    let names = names.strip_suffix(&["*".to_owned()]).unwrap_or(names);
    match names {
        [] => true,
        [only] => DIRECTORIES.contains(&only.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_that_mean_everything() {
        for operand in [
            "/",
            "//",
            "/*",
            "/.",
            "/..",
            "~",
            "~/",
            "~/*",
            "$HOME",
            "${HOME}/",
            ".",
            "./",
            "..",
            "../..",
            "*",
            "./*",
            ".*",
            "C:",
            r"c:\",
            r"C:\*",
            "${X:-/}",
            "${X-/}/*",
            "${X:=~}",
            "${X:-${Y:-/}}",
            "${X:-$HOME}/",
        ] {
            assert!(is_everything(operand, true), "{operand}");
        }
        for operand in [
            "", "/a", "a", "./a", "~a", "~/a", "$HOMER", "$X", "*.o", "a/*", "/etc", "C:a", r"C:\a",
            "${X:-/a}", "${X:?}",
        ] {
            assert!(!is_everything(operand, true), "{operand}");
        }
        assert!(!is_everything("C:", false));
    }

    #[test]
    fn operands_that_may_be_deleted() {
        let roots = Roots::new(
            vec![Location::absolute("/srv/repo").unwrap()],
            Location::absolute("/srv/repo/sub"),
            None,
        );
        for operand in [
            "build",
            "./build",
            "*.o",
            "a/*",
            "/tmp/x",
            "/tmp/*",
            "/srv/repo/x",
            "../x",
            "$DIR",
            "$DIR/x",
            "$()/x",
            "${DIR:-build}",
            "${DIR:-build}/x",
            "${DIR:?}/x",
            "",
        ] {
            assert!(may_be_deleted(operand, &roots, true), "{operand}");
        }
        for operand in [
            ".",
            "..",
            "*",
            "./*",
            "/",
            "/tmp",
            "/tmp/../etc",
            "/opt",
            "/srv/repo",
            "../../x",
            "~/x",
            "$HOME/x",
            "$X/",
            "$X/*",
            "${X:-/}",
            "${X:-/}/*",
            "${X:-/opt}/x",
            "${X:-~/y}",
            "$()",
            "$env:USERPROFILE",
            r"$Env:TEMP\x",
            r"C:\x",
        ] {
            assert!(!may_be_deleted(operand, &roots, true), "{operand}");
        }
        assert!(!may_be_deleted("../x", &Roots::default(), true));
    }

    #[test]
    fn devices() {
        for operand in [
            "/dev/sda",
            "/dev/sdb1",
            "//dev//nvme0n1",
            "/dev/disk2",
            "/dev/mapper/x",
            "/dev/sd*",
            "/dev/loop0",
            "/dev/vda",
        ] {
            assert!(is_disk(operand) && is_device(operand), "{operand}");
        }
        for operand in
            ["/dev/null", "/dev/tty", "/dev/fd/3", "/dev/zero", "/dev/stdout", "/dev", "dev/sda", "/devx/sda"]
        {
            assert!(!is_disk(operand) && !is_device(operand), "{operand}");
        }
        for operand in ["/dev/shm", "/dev/ttyS0", "/dev/random", "/dev/loop"] {
            assert!(!is_disk(operand) && is_device(operand), "{operand}");
        }
        for operand in ["/", "/*", "/etc", "/usr/", "/var/*"] {
            assert!(is_system_root(operand), "{operand}");
        }
        for operand in ["/home", "/etc/x", "etc", "./", "/srv"] {
            assert!(!is_system_root(operand), "{operand}");
        }
    }
}
