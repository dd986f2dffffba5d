//! OpenCode with a telemetry plugin: the events of Claude Code under other names, with its own models and tools.

use super::claude_code::{Flavor, Tools};

const TOOLS: Tools =
    &[(26, "read"), (20, "edit"), (6, "write"), (30, "bash"), (10, "grep"), (4, "glob"), (4, "webfetch")];

pub(super) const OPENCODE: Flavor = Flavor {
    service: "opencode",
    version: "1.0.134",
    prefix: "opencode",
    scope: r#"{"name":"opencode-plugin-otel","version":"1.0.134"}"#,
    shell: "bash",
    models: &[(3, ("claude-opus-4-8", 150, 750)), (1, ("claude-sonnet-5", 30, 150))],
    kinds: &[(1, TOOLS)],
};
