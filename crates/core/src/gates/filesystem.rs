//! `filesystem`: destructive commands, path traversal, and paths of the system and of credentials.
//!
//! | option | is | default |
//! |---|---|---|
//! | `destructive` | looks for destructive commands, see `filesystem/destructive.rs` | true |
//! | `traversal` | looks for `..` as a component, see `filesystem/traversal.rs` | true |
//! | `sensitive` | looks for system paths and credentials, see `filesystem/sensitive.rs` | true |
//! | `windows` | also looks for drives, `C:\Windows`, `%USERPROFILE%`, `del` and similar | true |
//! | `roots` | absolute directories: a path inside one passes both path checks | none |
//! | `cwd` | base of relative paths | the first root |
//!
//! Reasons: `destructive command in output: <findings>`, or only `shell nesting too deep`;
//! `path traversal in output`, balanced `path outside roots in output`;
//! `sensitive path in output: system, credentials`. If more than one check fails, the reasons are joined by `; ` in
//! this order.
//!
//! Commands are parsed, see `filesystem/shell.rs`. Paths are resolved as text: this crate does not access a file
//! system. A caller that can follow symbolic links passes a [`super::Links`]; then a path that leads out of every
//! root counts as outside.

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
use paths::{Location, Roots};
use shell::Trouble;

const TOO_DEEP: &str = "shell nesting too deep";

/// Its rules except those for destructive commands, with their phrases in reasons.
const OTHER_RULES: [(&str, &str); 5] = [
    ("nesting", TOO_DEEP),
    ("traversal", "path traversal"),
    ("outside-roots", "path outside roots"),
    ("system", "system"),
    ("credentials", "credentials"),
];

/// Returns all its rules, with their phrases in reasons.
pub(super) fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    destructive::names().map(|name| (name, name)).chain(OTHER_RULES)
}

#[expect(clippy::struct_excessive_bools, reason = "each is an option of the settings")]
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
            let rejected =
                || options.error(name, SettingsProblem::Value { found: Found::quoted(text), expected });
            Location::absolute(text).ok_or_else(rejected)
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
