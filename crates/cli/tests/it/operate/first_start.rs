//! The first start of a server, and every later start.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use renown_testing::Scratch;
use serde_json::Value;

use super::{Server, command, finish, run};

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_first_start_creates_a_private_directory_and_shows_two_keys() {
    let scratch = Scratch::new();
    let data = scratch.at("new/data");
    let server = Server::start(&data);
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&format!("{data}/renown.db")), 0o600);
    let greeting = &server.greeting;
    assert!(greeting.starts_with(&format!("renown {} on {}\n", env!("CARGO_PKG_VERSION"), server.url)));
    assert!(greeting.contains(&format!("data in {data}\n")), "{greeting}");
    for prefix in ["rn_pub_", "rn_sec_"] {
        assert!(greeting.contains(&format!("  {prefix}")), "{greeting}");
    }

    let curl = greeting.lines().find(|line| line.trim_start().starts_with("curl ")).unwrap();
    let pasted = Command::new("sh").args(["-c", curl]).output().unwrap();
    let reply: Value = serde_json::from_slice(&pasted.stdout).unwrap();
    assert_eq!((&reply["passed"], &reply["reputation"]["eval_count"]), (&true.into(), &1.into()), "{reply}");
    assert_eq!(server.get("/v1/reputation/my-agent")["evaluations"], 1);

    let (publishable, score) = (server.publishable.clone(), server.get("/v1/reputation/my-agent"));
    assert_eq!(server.stop().code(), Some(0));
    let mut server = Server::start(&data);
    assert!(!server.greeting.contains("rn_"), "{}", server.greeting);
    server.publishable = publishable;
    assert_eq!(server.get("/v1/reputation/my-agent"), score);
}

#[test]
fn quiet_still_prints_the_first_keys() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start_with(&["--quiet", "--data", &data]);
    assert!(server.greeting.contains(&server.secret) && !server.secret.is_empty(), "{}", server.greeting);
    drop(server);
    assert_eq!(Server::start_with(&["-q", "--data", &data]).greeting, "");
}

#[test]
fn keys_of_another_organization_do_not_prevent_the_first_keys() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    run(&["keys", "create", "--org", "acme", "--data", &data]).good();
    assert!(Server::start(&data).greeting.contains("rn_sec_"));
}

#[test]
fn a_port_in_use_is_an_error_and_nothing_is_created() {
    let scratch = Scratch::new();
    let (taken, data) = (TcpListener::bind("127.0.0.1:0").unwrap(), scratch.at("data"));
    let address = taken.local_addr().unwrap().to_string();
    let message = run(&["serve", "--data", &data, "--listen", &address]).refused();
    assert!(
        message.starts_with(&format!("error: could not listen on {address}: Address already in use")),
        "{message}"
    );
    assert!(message.contains("choose another address with --listen"), "{message}");
    assert!(!Path::new(&data).exists());
}

#[test]
fn a_closed_standard_output_does_not_end_the_server() {
    let scratch = Scratch::new();
    let mut command = command(&["serve", "--listen", "127.0.0.1:0", "--data", &scratch.at("data")], &[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut message = String::new();
    let mut stderr = child.stderr.take().unwrap();
    let mut byte = [0];
    while !message.contains("\"serving\"") && stderr.read(&mut byte).unwrap() > 0 {
        message.push(char::from(byte[0]));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(message.contains("\"serving\""), "{message}");
    assert!(message.contains("could not print the first keys"), "{message}");
    assert!(!message.contains("rn_pub_") && !message.contains("rn_sec_"), "{message}");
}

#[test]
fn shutdown_is_clean_with_open_connections() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 20), 202);
    // A browser opens connections before it needs them.
    let idle = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let started = std::time::Instant::now();
    assert_eq!(server.stop().code(), Some(0));
    assert!(started.elapsed().as_secs() < 8, "nothing was accepted from it, so nothing has to be finished");
    drop(idle);
    let mut names: Vec<_> =
        fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["renown.db", "renown.db-mark", "renown.lock"], "all of the log is in the database");
    assert!(run(&["verify", "--data", &data]).good().starts_with("verified 20 evaluations of 1 agent"));
}

#[test]
fn two_servers_never_share_a_data_directory() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let first = Server::start(&data);
    let second = run(&["serve", "--data", &data, "--listen", "127.0.0.1:0"]);
    let message = second.refused();
    let holder = format!("is in use by process {} (renown serve on {})", first.child.id(), first.url);
    assert!(message.contains(&holder), "{message}");
    assert_eq!(first.ingest("a", "e", 1), 202);
}

#[test]
fn a_data_directory_that_cannot_be_created_is_an_error() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "");
    let serve = |data: &str| run(&["serve", "--listen", "127.0.0.1:0", "--data", data]).refused();
    assert!(serve(&file).contains(&file), "{}", serve(&file));
    let message = serve(&format!("{file}/below"));
    assert!(message.contains("file/below") && message.contains("not a directory"), "{message}");
    let nowhere = finish(&mut command(&["serve", "--listen", "127.0.0.1:0"], &[])).refused();
    assert!(
        nowhere.contains("no data directory: HOME is not set") && nowhere.contains("--data DIR"),
        "{nowhere}"
    );
}
