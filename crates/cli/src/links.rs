//! Resolves symbolic links in paths, for gates with roots.
//!
//! Links are followed after the lexical resolution of a path. A dangling link leads where it points.

use std::fs;
use std::path::{Path, PathBuf};

use renown_core::gates::Links;

/// Maximum number of dangling links to follow. A path with more cannot be resolved.
const LINKS_MAX: usize = 40;

/// Returns a resolver of links on this machine.
pub(crate) fn links() -> Links {
    Links::new(|path| real(Path::new(path))?.into_os_string().into_string().ok())
}

/// Resolves a path. Its last components need not exist yet.
fn real(path: &Path) -> Option<PathBuf> {
    let (mut head, mut tail) = (path.to_owned(), Vec::new());
    let mut links = 0;
    loop {
        if let Ok(mut real) = fs::canonicalize(&head) {
            real.extend(tail.iter().rev());
            return Some(real);
        }
        let parent = head.parent()?.to_owned();
        // A write to a dangling link creates its target.
        if let Ok(target) = fs::read_link(&head) {
            links += 1;
            if links > LINKS_MAX {
                return None;
            }
            head = parent.join(target);
        } else {
            tail.push(head.file_name()?.to_owned());
            head = parent;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use renown_testing::Scratch;

    use super::*;

    #[test]
    fn links_are_resolved_even_if_their_target_is_missing() {
        let scratch = Scratch::new();
        let root = fs::canonicalize(scratch.path()).unwrap();
        fs::create_dir(root.join("in")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        symlink(root.join("out"), root.join("in/link")).unwrap();
        symlink("../out/later", root.join("in/dangling")).unwrap();
        symlink("loop", root.join("in/loop")).unwrap();
        for (path, expected) in [
            ("in/x/y", Some("in/x/y")),
            ("in/link", Some("out")),
            ("in/link/x/y", Some("out/x/y")),
            ("in/dangling", Some("out/later")),
            ("in/loop", None),
        ] {
            assert_eq!(real(&root.join(path)), expected.map(|path| root.join(path)), "{path}");
        }
    }
}
