//! Qwen Code: a fork of Gemini CLI with its own names, models and tools, and with ratings by the user.

use super::gemini::Flavor;

pub(super) const QWEN: Flavor = Flavor {
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
