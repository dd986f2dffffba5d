//! Do errors for wrong arguments say what was found, what is expected, and what to do?

use std::fs::{self, File};

use renown_testing::Scratch;

use super::{Server, command, finish, run, run_with};

/// Checks the error and the hint of a failed command.
#[track_caller]
fn fails(args: &[&str], error: &str, hint: &str) {
    let found = run(args).refused();
    let (first, second) = found.split_once('\n').unwrap();
    assert!(first.contains(error), "{args:?}: {found}");
    assert!(second.contains(hint) && second.is_empty() == hint.is_empty(), "{args:?}: {found}");
}

#[test]
fn a_file_where_the_data_should_be() {
    let scratch = Scratch::new();
    let (file, below) = (scratch.write("file", "mine"), scratch.at("file/below"));
    for data in [&file, &below] {
        for command in [
            &["keys", "list"][..],
            &["keys", "create"],
            &["agents", "list"],
            &["verify"],
            &["backup", "copy.db"],
            &["restore", "copy.db"],
            &["serve", "--listen", "127.0.0.1:0"],
        ] {
            let error = format!("{data}: not a directory, expected the data directory");
            fails(
                &[command, &["--data", data]].concat(),
                &error,
                "choose another data directory with --data DIR",
            );
        }
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_directory_where_a_database_should_be() {
    let scratch = Scratch::new();
    let (dir, store) = (scratch.at("dir"), format!("sqlite:{}", scratch.at("dir")));
    fs::create_dir(&dir).unwrap();
    let error = format!("{dir}: is a directory, expected a database file");
    for command in
        [&["keys", "create"][..], &["agents", "list"], &["verify"], &["serve", "--listen", "127.0.0.1:0"]]
    {
        fails(
            &[command, &["--store", &store, "--data", &scratch.at("new")]].concat(),
            &error,
            "--store sqlite:PATH a file",
        );
    }
    fails(&["restore", &dir, "--data", &scratch.at("new")], "expected a backup file", "`renown backup`");
    let doctor = run(&["doctor", "--store", &store, "--data", &scratch.at("new")]);
    assert!(doctor.code == 1 && doctor.stdout.contains(&format!("BAD   store     {error}")), "{doctor:?}");
}

#[test]
fn an_invalid_backup_and_an_invalid_target() {
    let scratch = Scratch::new();
    let (data, new) = (scratch.at("data"), scratch.at("new"));
    assert!(Server::start(&data).stop().success());
    let made = "name a file that `renown backup` wrote";
    fails(&["restore", &scratch.at("no.db"), "--data", &new], "there is no database at", made);
    let text = scratch.write("text", "no database at all, and long enough to be one. ".repeat(20));
    fails(&["restore", &text, "--data", &new], "is not a database of Renown", made);
    fails(&["backup", "-", "--data", &data], "cannot go to standard output", "name a file");
    fails(&["backup", &scratch.at("no/copy.db"), "--data", &data], "no such directory", "create it first");
    let link = scratch.at("link");
    std::os::unix::fs::symlink(scratch.at("nowhere"), &link).unwrap();
    fails(&["backup", &link, "--data", &data], "exists already", "name another file");
}

#[test]
fn a_server_whose_port_or_directory_is_in_use() {
    let scratch = Scratch::new();
    let (data, other) = (scratch.at("data"), scratch.at("other"));
    let server = Server::start(&data);
    let address = server.url.trim_start_matches("http://");
    fails(
        &["serve", "--data", &other, "--listen", address],
        &format!("could not listen on {address}"),
        "a server may be running already",
    );
    assert!(!scratch.join("other").exists());
    fails(
        &["serve", "--data", &data, "--listen", "127.0.0.1:0"],
        &format!("renown serve on {}", server.url),
        "use that server, stop it, or choose another data directory",
    );
    fails(&["keys", "create", "--data", &data], "is in use by process", "--server URL");
}

#[test]
fn an_invalid_key_for_the_server_differs_from_an_unknown_key_id() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.at("data"));
    let unknown_id = "01890000-0000-7000-8000-000000000000";
    let unknown_key = format!("rn_sec_{}", "A".repeat(32));
    for (key, command, error, hint) in [
        (&unknown_key, &["list"][..], "RENOWN_KEY: there is no such key", "expected a key of this server"),
        (&server.publishable, &["create"], "RENOWN_KEY: a publishable key may not", "begin with rn_sec_"),
        (&server.secret, &["revoke", unknown_id], ": there is no such key", ""),
    ] {
        let args = [&["keys"], command, &["--server", &server.url]].concat();
        let found = run_with(&args, &[("RENOWN_KEY", key)]).refused();
        assert!(found.contains(error) && found.contains(hint), "{args:?}: {found}");
        assert_eq!(found.contains("RENOWN_KEY"), key != &server.secret, "{args:?}: {found}");
        assert!(!found.contains(key), "{found}");
    }
    let tls = server.url.replace("http:", "https:");
    let found = run_with(&["keys", "list", "--server", &tls], &[("RENOWN_KEY", &server.secret)]).refused();
    assert!(found.contains("does it speak https?"), "{found}");
}

#[test]
fn unknown_words() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    run(&["keys", "create", "--data", &data]).good();
    let id = "expected the id of a key, as `renown keys list` shows it";
    fails(&["keys", "revoke", "abc", "--data", &data], id, "");
    let label = |chars: usize| "é".repeat(chars);
    run(&["keys", "create", "--label", &label(200), "--data", &data]).good();
    let long = "201 characters, expected at most 200";
    fails(&["keys", "create", "--label", &label(201), "--data", &data], long, "");
    assert_eq!(run(&["keys", "list", "--org", "unknown", "--data", &data]).good(), "no keys in unknown\n");
    let org = "there is no organization \"unknown\"";
    fails(&["agents", "list", "--org", "unknown", "--data", &data], org, "`renown keys list`");
}

#[test]
fn a_key_that_could_not_be_shown_can_be_revoked() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let mut create = command(&["keys", "create", "--data", &data], &[]);
    let made = finish(create.stdout(File::options().write(true).open("/dev/full").unwrap()));
    assert_eq!(made.code, 2, "{made:?}");
    let listed = run(&["keys", "list", "--format", "json", "--data", &data]).json();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(made.stderr.contains(&format!("the key {id} was created but not shown")), "{made:?}");
    assert!(made.stderr.contains(&format!("hint: revoke it with `renown keys revoke {id}`")), "{made:?}");
}

#[test]
fn arguments_of_gate() {
    let scratch = Scratch::new();
    let (output, missing) = (scratch.write("output", "all is well"), scratch.at("missing.json"));
    let latency = ["gate", "--latency-ms", "-5", output.as_str()];
    fails(&latency, "'--latency-ms <N>': expected a number of milliseconds, 0 or more", "");
    let input = ["gate", "--input", &missing, &output];
    fails(&input, "missing.json: No such file", "the tool's input as JSON");
    let unset = ["gate", "--gates", "latency", output.as_str()];
    fails(&unset, "gate.latency.max_ms: missing", "gates are configured in renown.toml");
    // An empty variable counts as absent.
    let names = ["GATES", "STRICTNESS", "AS", "TOOL", "LATENCY_MS", "INPUT", "FORMAT", "ROOT"];
    let names = names.map(|name| format!("RENOWN_{name}"));
    let empty: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let passed = "pass  filesystem\npass  pii\npass  content\npass  secrets\nPASS\n";
    assert_eq!(run_with(&["gate", &output], &empty).good(), passed);
    assert_eq!(run_with(&["gate", &output], &[("RENOWN_FORMAT", "yaml")]).code, 2);
}

#[test]
fn unreadable_configurations() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let bytes = scratch.at("bytes.toml");
    fs::write(&bytes, [0xff, 0xfe]).unwrap();
    fails(&["serve", "--config", &bytes, "--data", &data], "not UTF-8, expected TOML", "");
    let missing = scratch.at("missing.toml");
    let hint = "--config and RENOWN_CONFIG name the file";
    fails(&["serve", "--config", &missing, "--data", &data], "No such file or directory", hint);
}
