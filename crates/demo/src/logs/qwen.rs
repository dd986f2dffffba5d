//! Qwen Code: a fork of Gemini CLI, with names, models and tools of its own, and a rating by the user.

use super::gemini::Flavour;

pub(super) const QWEN: Flavour = Flavour {
    service: "qwen-code",
    prefix: "qwen-code",
    scope: r#"{"name":"qwen-code"}"#,
    auth_type: "qwen-oauth",
    models: &["qwen3-coder-plus", "qwen3-coder-flash"],
    tools: &[
        (30, "read_file"),
        (25, "run_shell_command"),
        (20, "edit"),
        (8, "write_file"),
        (8, "grep_search"),
        (5, "glob"),
        (4, "todo_write"),
    ],
    has_feedback: true,
    has_status: true,
};
