//! `filesystem`: paths that climb, and paths of systems and credentials.
//!
//! | option | is | default |
//! |---|---|---|
//! | `traversal` | looks for `..` as a component, see `filesystem/traversal.rs` | true |
//! | `sensitive` | looks for system paths and credentials, see `filesystem/sensitive.rs` | true |
//! | `windows` | drives, `C:\Windows`, `%USERPROFILE%` and the like count too | true |
//! | `roots` | absolute directories: a path inside of one passes both checks | none |
//! | `cwd` | where relative paths begin | the first root |
//!
//! Reasons: `path traversal in output`, balanced `path outside roots in output`;
//! `sensitive path in output: system, credentials`. Where both checks fail, they are joined by `; `.
//!
//! Resolution is lexical: no file system is asked, and links are not followed.
//!
//! What it ignores: commands. They are not parsed here, so `destructive = true` is refused, and where *balanced* asks
//! what a command does, only a value under a key that names a path and the target of `>` count.

mod paths;
mod sensitive;
mod traversal;

use super::options::{Options, SettingsError, SettingsProblem};
use super::scan::{Deadline, TimedOut};
use super::settings::Strictness;
use super::text::View;
use super::verdict::Finding;
use crate::json::Found;
use paths::{Place, Roots};

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the settings")]
#[derive(Debug)]
pub(super) struct Filesystem {
    traversal: bool,
    sensitive: bool,
    windows: bool,
    balanced: bool,
    roots: Roots,
}

impl Filesystem {
    pub(super) fn build(
        options: &mut Options<'_>,
        strictness: Strictness,
        more_roots: &[String],
    ) -> Result<Self, SettingsError> {
        if options.flag("destructive", false)? {
            let what = "the check of destructive commands";
            return Err(options.refused("destructive", SettingsProblem::NotYet(what)));
        }
        let (traversal, sensitive) = (options.flag("traversal", true)?, options.flag("sensitive", true)?);
        let windows = options.flag("windows", true)?;
        let absolute = |options: &Options<'_>, name: &str, text: &str| {
            let expected = "an absolute path";
            let refused =
                || options.refused(name, SettingsProblem::Value { found: Found::quoted(text), expected });
            Place::absolute(text).ok_or_else(refused)
        };
        let mut roots = Vec::new();
        for root in options.texts("roots", "a list of absolute paths")?.unwrap_or_default() {
            roots.push(absolute(options, "roots", root)?);
        }
        for root in more_roots {
            roots.push(absolute(options, "roots", root)?);
        }
        let cwd = options.text("cwd", "an absolute path")?;
        let cwd =
            cwd.map(|cwd| absolute(options, "cwd", cwd)).transpose()?.or_else(|| roots.first().cloned());
        let balanced = strictness == Strictness::Balanced;
        Ok(Self { traversal, sensitive, windows, balanced, roots: Roots { roots, cwd } })
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let (mut climbs, mut found) = (false, sensitive::Kinds::default());
        for text in view.texts() {
            if self.traversal && !climbs {
                climbs = if self.balanced {
                    traversal::leaves_roots(text, &self.roots, self.windows, deadline)?
                } else {
                    traversal::is_in(text.text, &self.roots, deadline)?
                };
            }
            if self.sensitive {
                let search = sensitive::Search {
                    text: text.text,
                    roots: &self.roots,
                    windows: self.windows,
                    balanced: self.balanced,
                };
                search.run(&mut found, deadline)?;
            }
        }
        let traversal = climbs.then(|| {
            let what = if self.balanced { "path outside roots" } else { "path traversal" };
            format!("{what} in {}", view.name())
        });
        let sensitive = found.names().map(|names| format!("sensitive path in {}: {names}", view.name()));
        let reasons: Vec<String> = traversal.into_iter().chain(sensitive).collect();
        Ok(if reasons.is_empty() { Finding::Pass } else { Finding::Fail(reasons.join("; ")) })
    }
}

#[cfg(test)]
mod tests;
