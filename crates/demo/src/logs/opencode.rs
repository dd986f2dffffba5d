//! OpenCode with a telemetry plugin: the events of Claude Code under other names, with models and tools of its own.

use super::claude_code::{Flavour, Tools};

const TOOLS: Tools =
    &[(26, "read"), (20, "edit"), (6, "write"), (30, "bash"), (10, "grep"), (4, "glob"), (4, "webfetch")];

pub(super) const OPENCODE: Flavour = Flavour {
    service: "opencode",
    version: "1.0.134",
    prefix: "opencode",
    scope: r#"{"name":"opencode-plugin-otel","version":"1.0.134"}"#,
    shell: "bash",
    models: &[(3, ("claude-opus-4-8", 150, 750)), (1, ("claude-sonnet-5", 30, 150))],
    kinds: &[(1, TOOLS)],
};
