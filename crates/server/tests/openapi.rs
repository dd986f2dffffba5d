//! The OpenAPI document is checked in, so that reviews show its changes.

use std::path::Path;

#[test]
fn the_document_equals_the_checked_in_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let current = renown_server::openapi().to_pretty_json().unwrap() + "\n";
    if std::env::var_os("RENOWN_RENEW").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = checked_in.lines().zip(current.lines()).position(|(old, new)| old != new);
    assert!(
        checked_in == current,
        "openapi.json differs from line {} on; RENOWN_RENEW=1 cargo test -p renown-server --test openapi renews it",
        difference.unwrap_or_else(|| checked_in.lines().count().min(current.lines().count())) + 1
    );
}
