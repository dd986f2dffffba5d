//! What is said to whoever names the wrong thing: what was found, what was expected, what to do.

use std::fs::{self, File};

use super::{Scratch, Server, command, finish, run, run_with};

/// The error and the hint of a command that was refused.
#[track_caller]
fn said(args: &[&str], error: &str, hint: &str) {
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
            let error = format!("{data}: is no directory, expected one for the data");
            said(&[command, &["--data", data]].concat(), &error, "name another place with --data DIR");
        }
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_directory_where_a_database_should_be() {
    let scratch = Scratch::new();
    let (dir, store) = (scratch.at("dir"), format!("sqlite:{}", scratch.at("dir")));
    fs::create_dir(&dir).unwrap();
    let error = format!("{dir}: is a directory, expected the file of a database");
    for command in
        [&["keys", "create"][..], &["agents", "list"], &["verify"], &["serve", "--listen", "127.0.0.1:0"]]
    {
        said(
            &[command, &["--store", &store, "--data", &scratch.at("new")]].concat(),
            &error,
            "--store sqlite:PATH a file",
        );
    }
    said(
        &["restore", &dir, "--data", &scratch.at("new")],
        "expected a copy of a database",
        "`renown backup`",
    );
    let doctor = run(&["doctor", "--store", &store, "--data", &scratch.at("new")]);
    assert!(doctor.code == 1 && doctor.stdout.contains(&format!("BAD   store     {error}")), "{doctor:?}");
}

#[test]
fn a_copy_that_is_none_and_a_place_that_can_hold_none() {
    let scratch = Scratch::new();
    let (data, new) = (scratch.at("data"), scratch.at("new"));
    assert!(Server::start(&data).stop().success());
    let made = "name a file that `renown backup` made";
    said(&["restore", &scratch.at("no.db"), "--data", &new], "there is no database at", made);
    let text = scratch.write("text", &"no database at all, and long enough to be one. ".repeat(20));
    said(&["restore", &text, "--data", &new], "is not a database of Renown", made);
    said(&["backup", "-", "--data", &data], "cannot go to standard output", "name a file");
    said(
        &["backup", &scratch.at("no/copy.db"), "--data", &data],
        "there is no such directory",
        "make it first",
    );
    let link = scratch.at("link");
    std::os::unix::fs::symlink(scratch.at("nowhere"), &link).unwrap();
    said(&["backup", &link, "--data", &data], "is there already", "name another file");
}

#[test]
fn a_server_that_finds_its_place_taken() {
    let scratch = Scratch::new();
    let (data, other) = (scratch.at("data"), scratch.at("other"));
    let server = Server::start(&data);
    let address = server.url.trim_start_matches("http://");
    said(
        &["serve", "--data", &other, "--listen", address],
        &format!("could not listen on {address}"),
        "perhaps a server runs there already",
    );
    assert!(!scratch.0.join("other").exists());
    said(
        &["serve", "--data", &data, "--listen", "127.0.0.1:0"],
        &format!("renown serve on {}", server.url),
        "use that server, or stop it, or name another data directory",
    );
    said(&["keys", "create", "--data", &data], "is in use by process", "--server URL");
}

#[test]
fn a_key_that_the_server_does_not_take_is_told_from_one_that_is_asked_about() {
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
fn words_that_mean_nothing() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    run(&["keys", "create", "--data", &data]).good();
    let id = "expected the id of a key, as `renown keys list` shows it";
    said(&["keys", "revoke", "abc", "--data", &data], id, "");
    let label = |chars: usize| "é".repeat(chars);
    run(&["keys", "create", "--label", &label(200), "--data", &data]).good();
    let long = "201 characters, expected at most 200";
    said(&["keys", "create", "--label", &label(201), "--data", &data], long, "");
    assert_eq!(run(&["keys", "list", "--org", "nobody", "--data", &data]).good(), "no keys of nobody\n");
    let org = "there is no organization \"nobody\"";
    said(&["agents", "list", "--org", "nobody", "--data", &data], org, "`renown keys list`");
}

#[test]
fn a_key_that_could_not_be_shown_is_named_so_that_it_can_be_ended() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let mut create = command(&["keys", "create", "--data", &data], &[]);
    let made = finish(create.stdout(File::options().write(true).open("/dev/full").unwrap()));
    assert_eq!(made.code, 2, "{made:?}");
    let listed = run(&["keys", "list", "--format", "json", "--data", &data]).json();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(made.stderr.contains(&format!("the key {id} was made and not shown")), "{made:?}");
    assert!(made.stderr.contains(&format!("hint: end it with `renown keys revoke {id}`")), "{made:?}");
}

#[test]
fn what_a_gate_is_told() {
    let scratch = Scratch::new();
    let (output, missing) = (scratch.write("output", "all is well"), scratch.at("missing.json"));
    let latency = ["gate", "--latency-ms", "-5", output.as_str()];
    said(&latency, "'--latency-ms <N>': expected a number of milliseconds, 0 or more", "");
    let input = ["gate", "--input", &missing, &output];
    said(&input, "missing.json: No such file", "what the tool was given, as JSON");
    let unset = ["gate", "--gates", "latency", output.as_str()];
    said(&unset, "gate.latency.max_ms: missing", "options of gates stand in renown.toml");
    // A variable that is set to nothing is not set.
    let names = ["GATES", "STRICTNESS", "AS", "TOOL", "LATENCY_MS", "INPUT", "FORMAT", "ROOT"];
    let names = names.map(|name| format!("RENOWN_{name}"));
    let empty: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let passed = "pass  filesystem\npass  pii\npass  content\npass  secrets\nPASS\n";
    assert_eq!(run_with(&["gate", &output], &empty).good(), passed);
    assert_eq!(run_with(&["gate", &output], &[("RENOWN_FORMAT", "yaml")]).code, 2);
}

#[test]
fn configurations_that_cannot_be_read() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let bytes = scratch.at("bytes.toml");
    fs::write(&bytes, [0xff, 0xfe]).unwrap();
    said(&["serve", "--config", &bytes, "--data", &data], "not UTF-8, expected TOML", "");
    let missing = scratch.at("missing.toml");
    let hint = "--config and RENOWN_CONFIG name a file";
    said(&["serve", "--config", &missing, "--data", &data], "No such file or directory", hint);
}
