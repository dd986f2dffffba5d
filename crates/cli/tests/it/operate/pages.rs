//! `renown open` and `renown report`, while a server runs.

use std::fs;

use renown_testing::Scratch;

use super::{Server, run};

#[test]
fn open_prints_a_link_while_a_server_runs() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let open = || run(&["open", "--print", "--data", &data]);
    let stderr = open().stderr;
    assert!(
        stderr.contains("no server is running on") && stderr.contains("`renown serve` starts one"),
        "{stderr}"
    );
    let server = Server::start(&data);
    let link = open().good();
    assert!(server.greeting.contains(link.trim()), "the link that was printed: {link}");
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/login?token="), "{link}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(scratch.at("data/login-url")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "only its owner reads it");
    }
    assert_eq!(server.stop().code(), Some(0));
    assert!(open().stderr.contains("no server is running on"), "the link is gone with the server");
}

#[test]
fn a_report_is_one_file_and_shows_no_score_below_50_evaluations() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("old|hand", "a", 60), 202);
    assert_eq!(server.ingest("new", "b", 49), 202);
    let report = |agent: &str, args: &[&str]| run(&[&["report", agent, "--data", &data], args].concat());
    let markdown = report("old|hand", &[]).good();
    assert!(markdown.starts_with("# old\\|hand: "), "{markdown}");
    assert!(markdown.contains(" of 1000, active 60/500") && markdown.contains("| pass rate |"), "{markdown}");
    let markdown = report("new", &["--format", "md"]).good();
    assert!(
        markdown.starts_with("# new: calibrating 49/50\n") && !markdown.contains("of 1000"),
        "{markdown}"
    );
    let file = scratch.at("report.html");
    assert_eq!(report("old|hand", &["--format", "html", "-o", &file]).good(), "");
    let html = fs::read_to_string(&file).unwrap();
    assert!(html.contains("<h1><bdi>old|hand</bdi></h1>") && html.contains("<style>"), "{html}");
    for reference in ["src=", "href=\"/", "http://", "https://", "<form"] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !found.replace("href=\"#main\"", "").contains(reference),
            "it loads nothing and leads nowhere: {reference}"
        );
    }
    let stderr = report("unknown", &[]).stderr;
    assert!(stderr.contains("no agent \"unknown\" in default") && stderr.contains("--search"), "{stderr}");
}
