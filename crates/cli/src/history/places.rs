//! Where each agent keeps its sessions.
//!
//! | agent | directory | variables |
//! |---|---|---|
//! | Claude Code | `~/.claude/projects`, `~/.config/claude/projects` | `CLAUDE_CONFIG_DIR` (a list with commas), `XDG_CONFIG_HOME` |
//! | Codex | `~/.codex` | `CODEX_HOME` |
//! | Gemini CLI | `~/.gemini/tmp` | `GEMINI_CLI_HOME` instead of `~` |
//! | Qwen Code | `~/.qwen` | `QWEN_RUNTIME_DIR`, `QWEN_HOME` |
//! | OpenCode | `~/.local/share/opencode` | `XDG_DATA_HOME`, `OPENCODE_DB` |
//! | Copilot CLI | `~/.copilot` | `COPILOT_HOME` |
//! | pi | `~/.pi/agent/sessions` | `PI_CODING_AGENT_DIR` instead of `~/.pi/agent` |
//!
//! `~` is `HOME`, on Windows `USERPROFILE`.

use std::path::PathBuf;

use crate::config::path_variable;

/// The directories of all agents. They may not exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) claude: Vec<PathBuf>,
    pub(crate) codex: Option<PathBuf>,
    pub(crate) gemini: Option<PathBuf>,
    pub(crate) qwen: Option<PathBuf>,
    pub(crate) opencode: Option<PathBuf>,
    /// The database of OpenCode, if it was moved.
    pub(crate) opencode_db: Option<PathBuf>,
    pub(crate) copilot: Option<PathBuf>,
    pub(crate) pi: Option<PathBuf>,
}

impl Places {
    pub(crate) fn of_this_machine() -> Self {
        Self::of(&path_variable)
    }

    /// Returns the places for these variables of the environment.
    fn of(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        let home = variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let opencode = variable("XDG_DATA_HOME").or_else(|| below_home(".local/share"));
        let opencode = opencode.map(|dir| dir.join("opencode"));
        let opencode_db = variable("OPENCODE_DB").filter(|path| path.as_os_str() != ":memory:");
        Self {
            claude: claude(variable, &below_home),
            codex: variable("CODEX_HOME").or_else(|| below_home(".codex")),
            gemini: variable("GEMINI_CLI_HOME").or_else(|| home.clone()).map(|dir| dir.join(".gemini/tmp")),
            qwen: variable("QWEN_RUNTIME_DIR")
                .or_else(|| variable("QWEN_HOME"))
                .or_else(|| below_home(".qwen")),
            opencode_db: opencode_db.and_then(|path| {
                if path.is_absolute() { Some(path) } else { Some(opencode.as_ref()?.join(path)) }
            }),
            opencode,
            copilot: variable("COPILOT_HOME").or_else(|| below_home(".copilot")),
            pi: variable("PI_CODING_AGENT_DIR")
                .or_else(|| below_home(".pi/agent"))
                .map(|dir| dir.join("sessions")),
        }
    }
}

fn claude(
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    below_home: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<PathBuf> {
    if let Some(list) = variable("CLAUDE_CONFIG_DIR") {
        let list = list.to_string_lossy().into_owned();
        let dirs = list.split(',').map(str::trim).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        return dirs.map(|dir| if dir.ends_with("projects") { dir } else { dir.join("projects") }).collect();
    }
    let config = variable("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let dirs = [below_home(".claude"), config.map(|config| config.join("claude"))];
    dirs.into_iter().flatten().map(|dir| dir.join("projects")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Places {
        Places::of(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
        })
    }

    #[cfg(unix)]
    #[test]
    fn each_agent_has_a_default_and_its_own_variable() {
        let path = |text: &str| Some(PathBuf::from(text));
        let usual = places(&[("HOME", "/h")]);
        assert_eq!(usual.claude, ["/h/.claude/projects", "/h/.config/claude/projects"].map(PathBuf::from));
        assert_eq!(usual.codex, path("/h/.codex"));
        assert_eq!(usual.gemini, path("/h/.gemini/tmp"));
        assert_eq!(usual.qwen, path("/h/.qwen"));
        assert_eq!(usual.opencode, path("/h/.local/share/opencode"));
        assert_eq!(usual.copilot, path("/h/.copilot"));
        assert_eq!(usual.pi, path("/h/.pi/agent/sessions"));
        let moved = places(&[
            ("HOME", "/h"),
            ("CLAUDE_CONFIG_DIR", "/a, /b/projects"),
            ("CODEX_HOME", "/c"),
            ("GEMINI_CLI_HOME", "/g"),
            ("QWEN_HOME", "/q"),
            ("QWEN_RUNTIME_DIR", "/r"),
            ("XDG_DATA_HOME", "/d"),
            ("OPENCODE_DB", "my.db"),
            ("COPILOT_HOME", "/p"),
            ("PI_CODING_AGENT_DIR", "/pi"),
        ]);
        assert_eq!(moved.claude, ["/a/projects", "/b/projects"].map(PathBuf::from));
        assert_eq!(moved.codex, path("/c"));
        assert_eq!(moved.gemini, path("/g/.gemini/tmp"));
        assert_eq!(moved.qwen, path("/r"));
        assert_eq!(moved.opencode, path("/d/opencode"));
        assert_eq!(moved.opencode_db, path("/d/opencode/my.db"));
        assert_eq!(moved.copilot, path("/p"));
        assert_eq!(moved.pi, path("/pi/sessions"));
        assert!(places(&[]).claude.is_empty() && places(&[]).codex.is_none());
    }
}
