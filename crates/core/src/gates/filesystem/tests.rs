//! Hits and near misses of the checks: strict, balanced and with roots. Commands have their own table.

use core::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::gates::{JudgedPart, Place as At};

fn check(options: &Value, strictness: Strictness, output: &Value) -> Option<String> {
    let mut options = Options::new("gate.filesystem".to_owned(), options.as_object().unwrap());
    let gate = Filesystem::build(&mut options, strictness, &Choice::of(At::Cli)).unwrap();
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let output = output.to_string();
    let view = View::read(&output, JudgedPart::Output, &deadline).unwrap();
    match gate.check(&view, &deadline).unwrap() {
        Finding::Pass => None,
        Finding::Fail(reason) => Some(reason),
        Finding::Skip(reason) => panic!("skipped: {reason}"),
    }
}

fn strict(text: &str) -> Option<String> {
    check(&json!({}), Strictness::Strict, &json!(text))
}

const CLIMBS: Option<&str> = Some("path traversal in output");
const SYSTEM: Option<&str> = Some("sensitive path in output: system");
const CREDENTIALS: Option<&str> = Some("sensitive path in output: credentials");

#[test]
fn traversal() {
    for text in [
        "..",
        "../x",
        "a/../b",
        r"a\..\b",
        "cd ..",
        "'..'",
        "\"..\"",
        ".. and",
        "%2e%2e/x",
        "..%2fx",
        "%2E%2E%5Cx",
        "%252e%252e%252f",
        "%2e./x",
        "x\u{a0}..",
        "`../secrets`",
        "“../x”",
        "‘..’",
    ] {
        assert_eq!(strict(text).as_deref(), CLIMBS, "{text}");
    }
    for text in
        ["a..b", "...", "/.../", "1..2", "(..)", "..x", "x..", "a/..b", "%25252e%25252e/", "%2", "%zz", "."]
    {
        assert_eq!(strict(text), None, "{text}");
    }
    assert_eq!(check(&json!({"traversal": false}), Strictness::Strict, &json!("../x")), None);
}

#[test]
fn system_paths() {
    for text in [
        "/etc/passwd",
        "cat /etc",
        "/etcé",
        "/etcя",
        "“/etc”",
        "«/etc/passwd»",
        "file://localhost/etc/passwd",
        "FILE://LocalHost/etc/passwd",
        "'/usr/bin/env'",
        "PATH=/usr/bin:/bin",
        "file:///etc/hosts",
        "(/var/log)",
        "x>/etc/x",
        "//etc/passwd",
        "/./etc/passwd",
        "see `/etc/x`",
        "a:/etc",
        r"C:\Windows\System32",
        "c:/windows",
        r"C:\\Program Files (x86)\x",
    ] {
        assert_eq!(strict(text).as_deref(), SYSTEM, "{text}");
    }
    for text in [
        "https://host/etc/x",
        "http://etc/x",
        "./etc",
        "src/usr",
        "#!/usr/bin/env python",
        "/etcetera",
        "/usr-local",
        "/var.old",
        "/opt/etc",
        "~/etc",
        "etc/passwd",
        r"D:\Windows",
        r"C:\WindowsApps",
        r"xC:\Windows",
        "C:Windows",
    ] {
        assert_eq!(strict(text), None, "{text}");
    }
    assert_eq!(check(&json!({"windows": false}), Strictness::Strict, &json!(r"C:\Windows")), None);
    assert_eq!(check(&json!({"sensitive": false}), Strictness::Strict, &json!("/etc")), None);
}

#[test]
fn credentials() {
    for text in [
        "~/.ssh/id_rsa",
        "cat ~ada/.aws/credentials",
        "$HOME/.gnupg",
        "\"${HOME}/.kube/config\"",
        "/home/ada/.netrc",
        "/Users/ada/.git-credentials",
        "/root/.ssh",
        "~/.config/gcloud/x",
        r"C:\Users\ada\.ssh\id_rsa",
        r"%USERPROFILE%\.aws",
        r"C:\users\bob\.SSH",
        r"%UserProfile%\.Config\GCloud",
        "/home/bob/.sshé",
        "“~/.ssh”",
        "file://localhost/home/ada/.ssh",
        "file:///home/ada/.ssh/config",
        "~//.ssh",
    ] {
        assert_eq!(strict(text).as_deref(), CREDENTIALS, "{text}");
        let balanced = check(&json!({}), Strictness::Balanced, &json!(text));
        assert_eq!(balanced.as_deref(), CREDENTIALS, "{text}");
    }
    for text in [
        "~/.sshd",
        "~/.SSH",
        "https://localhost/etc/passwd",
        "file://localhosts/etc/passwd",
        "~/.ssh-old",
        "/home/.ssh",
        "/home/ada/x/.ssh",
        "~/.config/gcloudy",
        "~/.config",
        "project/.aws/x",
        "$HOMER/.ssh",
        "%USER%/.ssh",
        "x~/.ssh",
    ] {
        assert_eq!(strict(text), None, "{text}");
    }
}

#[test]
fn findings_are_joined_in_order() {
    assert_eq!(
        check(&json!({}), Strictness::Strict, &json!({"a": "~/.ssh", "../b": ["/etc"]})).as_deref(),
        Some("path traversal in output; sensitive path in output: system, credentials")
    );
}

#[test]
fn paths_in_a_root_pass() {
    let roots = json!({"roots": ["/srv/repo", "/usr/src/app"], "cwd": "/srv/repo/sub"});
    let of = |text: &str| check(&roots, Strictness::Strict, &json!(text));
    for text in
        ["/srv/repo/a/../b", "../lib", "../../repo/x ../y", "/usr/src/app/x", "a/../../b", "('/usr/src/app')"]
    {
        assert_eq!(of(text), None, "{text}");
    }
    for text in ["../../x", "/srv/repo/../x", "../x ../../y", "/srv/repository/../x"] {
        assert_eq!(of(text).as_deref(), CLIMBS, "{text}");
    }
    for text in ["/usr/src/application", "/usr/src/app /usr/src"] {
        assert_eq!(of(text).as_deref(), SYSTEM, "{text}");
    }
    let home =
        |root: &str| check(&json!({"roots": [root]}), Strictness::Strict, &json!("/home/ada/.ssh/config"));
    assert_eq!(home("/home/ada").as_deref(), CREDENTIALS);
    assert_eq!(home("/home/ada/.ssh"), None);
    let drive = json!({"roots": [r"C:\Windows\Temp"]});
    assert_eq!(check(&drive, Strictness::Strict, &json!(r"c:\Windows\Temp\..\Temp\x")), None);
}

#[test]
fn balanced_finds_only_what_looks_intended() {
    let roots = json!({"roots": ["/srv/repo"]});
    let of = |output: Value| check(&roots, Strictness::Balanced, &output);
    let outside = Some("path outside roots in output");
    for output in [
        json!({"path": "/opt/x"}),
        json!({"path": "../x"}),
        json!({"File": ["a", "/tmp/x"]}),
        json!({"uri": "file:///opt/x"}),
        json!({"cwd": "~/x"}),
        json!({"target": "%2e%2e/x"}),
        json!({"a": "{\"path\":\"/opt\"}"}),
    ] {
        assert_eq!(of(output.clone()).as_deref(), outside, "{output}");
        assert_eq!(
            check(&json!({}), Strictness::Balanced, &output),
            None,
            "without roots nothing is outside: {output}"
        );
    }
    for output in [
        json!({"path": "/srv/repo/x"}),
        json!({"path": "a/../b"}),
        json!({"uri": "https://host/x"}),
        json!({"text": "../x"}),
        json!({"source": "// code\n../x"}),
        json!("see .."),
    ] {
        assert_eq!(of(output.clone()), None, "{output}");
    }
    for (text, expected) in [
        ("see /etc/hosts", None),
        ("echo x > /etc/hosts", SYSTEM),
        ("echo x >> '/etc/hosts'", SYSTEM),
        ("a > b /etc", None),
    ] {
        assert_eq!(of(json!(text)).as_deref(), expected, "{text}");
    }
}

#[test]
fn invalid_options_are_rejected() {
    for (options, expected) in [
        (json!({"roots": ["src"]}), "gate.filesystem.roots: \"src\", expected an absolute path"),
        (json!({"roots": "/srv"}), "gate.filesystem.roots: \"/srv\", expected a list of absolute paths"),
        (json!({"cwd": "src"}), "gate.filesystem.cwd: \"src\", expected an absolute path"),
        (json!({"windows": 1}), "gate.filesystem.windows: 1, expected true or false"),
        (json!({"destructive": "no"}), "gate.filesystem.destructive: \"no\", expected true or false"),
    ] {
        let mut options = Options::new("gate.filesystem".to_owned(), options.as_object().unwrap());
        let error = Filesystem::build(&mut options, Strictness::Strict, &Choice::of(At::Cli)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn balanced_checks_the_files_that_commands_write_to() {
    let of = |output: Value| check(&json!({"destructive": false}), Strictness::Balanced, &output);
    for text in [
        "echo x > /etc/hosts",
        "echo x >> '/etc/hosts'",
        "$ echo x | sudo tee -a /etc/hosts",
        "cp x /usr/local/bin",
        "cp a.conf b c /etc",
        "$ cp the three files /etc",
        "install prog /usr/local/bin",
        "cp -t /usr/bin x y",
        "mv x /usr/bin/y",
        "mv /etc/hosts /tmp/x",
        "install -m 755 x /usr/local/bin/x",
        "install -d /var/lib/x",
        "ln -sf x /usr/bin/y",
        "touch /var/x",
        "mkdir -p /etc/x",
        "rm /etc/x",
        "rmdir /var/x",
        "truncate -s 0 /var/log/x",
        "dd if=x of=/usr/x",
        "sed -i s/a/b/ /etc/hosts",
        "sed -i.bak -e s/a/b/ /etc/hosts",
        "cd x && cp y /etc",
        "bash -c 'cp y /etc'",
        "run `cp y /etc` then",
        r"copy x > C:\Windows\x",
        r"cp x 'C:\Program Files\x'",
    ] {
        assert_eq!(of(json!(text)).as_deref(), SYSTEM, "{text}");
    }
    for text in [
        "see /etc/hosts",
        "cat /etc/hosts",
        "cp /etc/hosts .",
        "ln -s /usr/bin/python3 python",
        "lrwxrwxrwx 1 root root 9 python -> /usr/bin/python3",
        "libc.so.6 => /usr/lib/libc.so.6 (0x7f)",
        "<prefix>/usr</prefix>",
        "> /etc/hosts is a file",
        "sed -n /x/p /etc/hosts",
        "sed s/a/b/ /etc/hosts",
        "touch -r /etc/hosts x",
        "dd if=/etc/x of=y",
        "say cp x /etc",
        "install the package into /usr/local",
        "touch up the /etc paths later",
        "mkdir is in /usr/bin",
        "| cp x /etc | copies |",
        "echo 'cp x /etc'",
        "a < /etc/x",
        "tee x < /etc/hosts",
    ] {
        assert_eq!(of(json!(text)), None, "{text}");
    }
    assert_eq!(of(json!({"command": "x => /etc/y"})).as_deref(), SYSTEM, "in a command it is not an arrow");
}

#[test]
fn balanced_checks_the_paths_of_commands() {
    let roots = json!({"roots": ["/srv/repo"], "destructive": false, "sensitive": false});
    let of = |output: Value| check(&roots, Strictness::Balanced, &output);
    let outside = Some("path outside roots in output");
    for output in [
        json!({"command": "cat /opt/x"}),
        json!({"command": "python3 ../x.py"}),
        json!({"cmd": "make && ./run --out=/opt/x"}),
        json!({"script": "set -e\nls ~/x"}),
        json!({"command": "echo x > /opt/x"}),
        json!({"command": "bash -c 'cat /opt/x'"}),
        json!({"command": "cat $HOME/x"}),
        json!("cat /opt/x"),
        json!("cd .."),
        json!("$ python3 /opt/x"),
        json!("ada@host:~$ less /opt/x"),
        json!("see `cat /opt/x`"),
        json!("a && cp x ../../y"),
        json!(r"cat C:\x"),
    ] {
        assert_eq!(of(output.clone()).as_deref(), outside, "{output}");
        let none = check(&json!({"destructive": false, "sensitive": false}), Strictness::Balanced, &output);
        assert_eq!(none, None, "without roots nothing is outside: {output}");
    }
    for output in [
        json!({"command": "cat /srv/repo/x ./y sub/../z"}),
        json!({"command": "make 2>/dev/null"}),
        json!({"command": "grep -r /opt/x ."}),
        json!({"command": "echo /opt/x"}),
        json!({"command": "sed -n /opt/p x"}),
        json!({"command": "curl https://host/x"}),
        json!({"command": "cat \"$X/y\""}),
        json!("The file is in /opt/x; it's old"),
        json!("error: /opt/x: not found"),
        json!("cat: /opt/x: no such file | x"),
        json!("use `/opt/x`, `GET /users` and `f / 2`"),
        json!("head over to it"),
    ] {
        assert_eq!(of(output.clone()), None, "{output}");
    }
}

#[test]
fn all_three_checks_are_joined_in_order() {
    let all = json!(["rm -rf /", "../x", "/etc"]);
    assert_eq!(
        check(&json!({}), Strictness::Strict, &all).as_deref(),
        Some(
            "destructive command in output: rm-recursive-force, rm-root; path traversal in output; \
             sensitive path in output: system"
        )
    );
    let deep = json!([format!("{}rm", "$(".repeat(9)), "../x", "/etc"]);
    for strictness in [Strictness::Strict, Strictness::Balanced] {
        assert_eq!(check(&json!({}), strictness, &deep).as_deref(), Some("shell nesting too deep"));
    }
    assert_eq!(check(&json!({"destructive": false}), Strictness::Strict, &json!("rm -rf /")), None);
}

#[test]
fn a_list_of_words_is_also_a_command() {
    let found = Some("destructive command in output: rm-recursive-force, rm-root");
    for strictness in [Strictness::Strict, Strictness::Balanced] {
        let of = |output: Value| check(&json!({}), strictness, &output);
        for output in [
            json!({"command": ["rm", "-rf", "/"]}),
            json!({"a": "b", "cmd": ["sudo", "rm", "-rf", "it's", "/"], "c": "d"}),
            json!({"command": ["bash", "-lc", "rm -rf /"]}),
            json!({"script": ["set -e", "rm -rf /"]}),
            json!({"command": "rm", "args": ["-rf", "/"]}),
            json!([{"arguments": ["rm", "-rf", "/"], "cmd": "sudo"}]),
            json!({"args": ["rm", "-rf", "/"]}),
            json!(r#"{"name": "sh", "command": "rm", "args": ["-rf", "/"]}"#),
        ] {
            assert_eq!(of(output.clone()).as_deref(), found, "{output}");
        }
        for output in [
            json!({"words": ["rm", "-rf", "/"]}),
            json!([{"command": "rm"}, {"command": "-rf"}, {"command": "/"}]),
            json!({"command": ["rm", "-f", "x y"]}),
            json!({"command": "ls", "args": ["-rf", "/"]}),
            json!({"args": ["--rm", "-rf", "/"]}),
        ] {
            assert_eq!(of(output.clone()), None, "{output}");
        }
    }
}

#[test]
fn roots_allow_the_paths_in_them() {
    let roots = json!({"roots": ["/srv/repo"]});
    let of = |text: &str| check(&roots, Strictness::Balanced, &json!({"command": text}));
    assert_eq!(of("rm -rf /srv/repo/build ../repo/x sub"), None);
    let strict = |text: &str| check(&roots, Strictness::Strict, &json!(text));
    assert_eq!(strict("“../repo/x” or `../repo/y`"), None);
    assert_eq!(strict("“../../repo/x”").as_deref(), CLIMBS);
    assert_eq!(of("find /srv/repo/x -delete"), None);
    let lost = Some("destructive command in output: rm-recursive-force".to_owned());
    assert_eq!(of("rm -rf /srv/repo"), lost, "a root is not inside itself");
}

#[test]
fn links_that_lead_out_of_the_roots_are_outside() {
    let build = |links: Option<crate::gates::Links>| {
        let table = json!({"roots": ["/srv/repo"]});
        let mut options = Options::new("gate.filesystem".to_owned(), table.as_object().unwrap());
        let choice = Choice { links, ..Choice::of(At::Cli) };
        Filesystem::build(&mut options, Strictness::Balanced, &choice).unwrap()
    };
    // `/srv` links to `/data`, and `out` inside it links to somewhere else.
    let links = crate::gates::Links::new(|path: &str| match path {
        path if path.starts_with("/srv/repo/unknown") => None,
        path if path.starts_with("/srv/repo/out") => Some("/opt/x".to_owned()),
        path => Some(path.replacen("/srv", "/data", 1)),
    });
    let check = |gate: &Filesystem, path: &str| {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        let output = json!({"path": path}).to_string();
        let view = View::read(&output, JudgedPart::Output, &deadline).unwrap();
        gate.check(&view, &deadline).unwrap() == Finding::Pass
    };
    let (lexical, real) = (build(None), build(Some(links)));
    for (path, expected) in [
        ("/srv/repo/x", true),
        ("x", true),
        ("/srv/repo/unknown/x", true),
        ("/srv/repo/out/x", false),
        ("out/../out/x", false),
        ("/opt/x", false),
    ] {
        assert_eq!(check(&real, path), expected, "{path}");
        assert_eq!(check(&lexical, path), path != "/opt/x", "{path}");
    }
    assert!(format!("{real:?}").contains("Links"));
}
