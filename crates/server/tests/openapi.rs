//! The document of the API is checked in, so that a change of it is seen in review.

use std::path::Path;

#[test]
fn the_document_is_the_one_that_is_checked_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let made = renown_server::openapi().to_pretty_json().unwrap() + "\n";
    if std::env::var_os("RENOWN_RENEW").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "openapi.json differs from line {} on; RENOWN_RENEW=1 cargo test -p renown-server --test openapi renews it",
        difference.unwrap_or_else(|| kept.lines().count().min(made.lines().count())) + 1
    );
}
