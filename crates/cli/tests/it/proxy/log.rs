//! What does the log contain, and what never?

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

#[test]
fn the_log_has_a_line_with_the_result_of_each_call() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &["--pre", "--agent", "reviewer-1"]);
    assert_eq!(text(&proxy.say(1, "fine")), "fine");
    let blocked = proxy.say(2, "jane.doe@corporation.org");
    assert_eq!(error(&blocked).1, "blocked by renown before the tool ran: pre.pii");
    proxy.call(&json!(3), "never", &json!({}));
    let failed = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}}\n";
    proxy.call(&json!(4), "raw", &json!({"base64": base64(failed)}));
    proxy.line();
    let refused = "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":\"no\"}}\n";
    proxy.call(&json!(5), "raw", &json!({"base64": base64(refused)}));
    assert_eq!(proxy.line(), refused.as_bytes());
    proxy.end();

    let lines = logged(&scratch);
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            (line["action"].as_str().unwrap(), line["passed"].as_bool().unwrap(), line["tool_error"] == true)
        })
        .collect();
    let expected = [
        ("forwarded", true, false),
        ("blocked", false, false),
        ("forwarded", true, true),
        ("forwarded", true, true),
        ("lost", false, false),
    ];
    assert_eq!(found, expected);
    for line in &lines {
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [
            "ts",
            "evaluation_id",
            "agent_id",
            "server",
            "tool",
            "action",
            "passed",
            "gates",
            "total_latency_ms",
            "latency_ms",
            "bytes",
            "tool_error",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(line["agent_id"], "reviewer-1");
        let server = line["server"].as_str().unwrap();
        assert!(server.starts_with("python3 server.py #"), "{line}");
    }
    let names = |line: &Value| -> Vec<String> {
        line["gates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|gate| gate["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&lines[0])[0], "pre.filesystem");
    assert!(
        names(&lines[0]).contains(&"content".to_owned())
            && !names(&lines[0]).contains(&"pre.content".to_owned())
    );
    assert!(names(&lines[1]).iter().all(|name| name.starts_with("pre.")));
}

#[test]
fn payloads_and_keys_are_never_written_or_printed() {
    let scratch = Scratch::new();
    let key = ["rn_pub_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"].concat();
    let options = ["--pre", "--verbose", "--observe", "--server", "http://127.0.0.1:9"];
    let mut command = command(&scratch, &options, &python(&[]));
    let mut proxy = Proxy::spawn(command.env("RENOWN_KEY", &key));
    proxy.say(1, "MARKER-one jane.MARKER@corporation.org rm -rf /MARKER");
    proxy.send("MARKER is no JSON\n{\"MARKER\":\"\n");
    proxy.call(&json!("MARKER-id"), "never", &json!({"MARKER": "MARKER"}));
    proxy.say(2, "MARKER-two");
    let (_, _, stderr) = proxy.end();
    let mut seen = stderr;
    for path in files(Path::new(&scratch.at("data"))) {
        seen += &String::from_utf8_lossy(&fs::read(path).unwrap());
    }
    assert!(seen.contains("\"action\":\"observed\""), "{seen}");
    assert!(!seen.contains("MARKER") && !seen.contains(&key), "{seen}");
}

#[test]
fn secrets_of_a_command_line_are_never_written_or_printed() {
    let scratch = Scratch::new();
    let pid = scratch.at("SECRET-folder-pid");
    let mut proxy =
        Proxy::spawn(&mut command(&scratch, &["--verbose"], &python(&["--pid", &pid, "--banner", ""])));
    proxy.send("{\"id\":1,\"method\":\"tools/list\"}\n");
    let tools = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"say\"}]}}\n";
    proxy.call(&json!(2), "raw", &json!({"base64": base64(tools)}));
    proxy.line();
    proxy.say(3, "fine");
    let (_, _, stderr) = proxy.end();
    let mut seen = stderr;
    for path in files(Path::new(&scratch.at("data"))) {
        seen += &path.display().to_string();
        seen += &String::from_utf8_lossy(&fs::read(path).unwrap());
    }
    assert!(seen.contains("python3 server.py --pid … --banner … #") && seen.contains("\"say\""), "{seen}");
    assert!(!seen.contains("SECRET"), "{seen}");
}

#[test]
fn the_server_gets_no_variable_of_renown() {
    let scratch = Scratch::new();
    let (key, seen) = (["rn_pub_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"].concat(), scratch.at("environment"));
    let server = ["sh", "-c", "env > \"$0\"", &seen].map(str::to_owned);
    let mut command = command(&scratch, &["--server", "http://127.0.0.1:9"], &server);
    command.env("RENOWN_KEY", &key).env("RENOWN_AGENT", "MARKER").env("renown_key", &key).env("KEPT", "yes");
    let (code, _, stderr) = Proxy::spawn(&mut command).end();
    assert_eq!(code, 0, "{stderr}");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("KEPT=yes"), "{seen}");
    assert!(
        !seen.contains(&key) && !seen.contains("MARKER") && !seen.to_uppercase().contains("RENOWN_"),
        "{seen}"
    );
}

#[test]
fn only_the_owner_can_read_the_files() {
    let scratch = Scratch::new();
    let key = ["rn_pub_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"].concat();
    let mut command = command(&scratch, &["--server", "http://127.0.0.1:9"], &python(&[]));
    let mut proxy = Proxy::spawn(command.env("RENOWN_KEY", key));
    proxy.say(1, "fine");
    proxy.end();
    let folder = scratch.at("data/proxy");
    let mode = fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "{folder} is {mode:o}");
}

/// Returns every file below a directory.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
