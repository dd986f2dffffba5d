//! `filesystem`: commands that destroy, paths that climb, and paths of systems and credentials.
//!
//! | option | is | default |
//! |---|---|---|
//! | `destructive` | looks for commands that destroy, see `filesystem/destructive.rs` | true |
//! | `traversal` | looks for `..` as a component, see `filesystem/traversal.rs` | true |
//! | `sensitive` | looks for system paths and credentials, see `filesystem/sensitive.rs` | true |
//! | `windows` | drives, `C:\Windows`, `%USERPROFILE%`, `del` and the like count too | true |
//! | `roots` | absolute directories: a path inside of one passes both checks of paths | none |
//! | `cwd` | where relative paths begin | the first root |
//!
//! Reasons: `destructive command in output: <findings>`, or `shell nesting too deep` alone; `path traversal in output`,
//! balanced `path outside roots in output`; `sensitive path in output: system, credentials`. Where more than one check
//! fails, they are joined by `; ` in this order.
//!
//! Commands are parsed, see `filesystem/shell.rs`. Resolution of paths is lexical: this crate asks no file system. Who
//! can follow links gives a [`super::Links`], and then a path that leads out of every root is in none.

mod destructive;
mod operands;
mod paths;
mod sensitive;
mod shell;
mod traversal;
mod words;

use super::options::{Options, SettingsError, SettingsProblem};
use super::scan::{Deadline, TimedOut};
use super::settings::{Choice, Strictness};
use super::text::View;
use super::verdict::Finding;
use crate::json::Found;
use paths::{Place, Roots};
use shell::Trouble;

const TOO_DEEP: &str = "shell nesting too deep";

/// Its rules beside those of destructive commands, and how reasons call them.
const OTHER_RULES: [(&str, &str); 5] = [
    ("nesting", TOO_DEEP),
    ("traversal", "path traversal"),
    ("outside-roots", "path outside roots"),
    ("system", "system"),
    ("credentials", "credentials"),
];

/// All its rules, and how reasons call them.
pub(super) fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    destructive::names().map(|name| (name, name)).chain(OTHER_RULES)
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the settings")]
#[derive(Debug)]
pub(super) struct Filesystem {
    destructive: bool,
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
        choice: &Choice<'_>,
    ) -> Result<Self, SettingsError> {
        let destructive = options.flag("destructive", true)?;
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
        for root in choice.roots {
            roots.push(absolute(options, "roots", root)?);
        }
        let cwd = options.text("cwd", "an absolute path")?;
        let cwd =
            cwd.map(|cwd| absolute(options, "cwd", cwd)).transpose()?.or_else(|| roots.first().cloned());
        let balanced = strictness == Strictness::Balanced;
        let roots = Roots::new(roots, cwd, choice.links.clone());
        Ok(Self { destructive, traversal, sensitive, windows, balanced, roots })
    }

    pub(super) fn check(&self, view: &View<'_>, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        let mut destroys = destructive::Findings::default();
        let (mut climbs, mut found) = (false, sensitive::Kinds::default());
        if self.destructive {
            match self.commands().run_all(view, &mut destroys, deadline) {
                Ok(()) => {}
                Err(Trouble::TimedOut) => return Err(TimedOut),
                Err(Trouble::TooDeep) => return Ok(Finding::Fail(TOO_DEEP.to_owned())),
            }
        }
        for text in view.texts() {
            let is_shell = destructive::is_shell(text);
            if self.traversal && !climbs {
                let (roots, windows) = (&self.roots, self.windows);
                climbs = if self.balanced {
                    traversal::leaves_roots(text, roots, windows, deadline)?
                        || traversal::commands_leave_roots(text.text, is_shell, roots, windows, deadline)?
                } else {
                    traversal::is_in(text.text, &self.roots, deadline)?
                };
            }
            if self.sensitive {
                let search = sensitive::Search {
                    text: text.text,
                    is_shell,
                    roots: &self.roots,
                    windows: self.windows,
                    balanced: self.balanced,
                };
                search.run(&mut found, deadline)?;
            }
        }
        let name = view.name();
        let destructive = destroys.names().map(|names| format!("destructive command in {name}: {names}"));
        let traversal = climbs.then(|| {
            let what = if self.balanced { "path outside roots" } else { "path traversal" };
            format!("{what} in {name}")
        });
        let sensitive = found.names().map(|names| format!("sensitive path in {name}: {names}"));
        let reasons: Vec<String> = destructive.into_iter().chain(traversal).chain(sensitive).collect();
        Ok(if reasons.is_empty() { Finding::Pass } else { Finding::Fail(reasons.join("; ")) })
    }

    fn commands(&self) -> destructive::Search<'_> {
        destructive::Search { roots: &self.roots, windows: self.windows, balanced: self.balanced }
    }
}

#[cfg(test)]
mod tests;
