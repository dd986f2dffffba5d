//! Retries that cannot return the first reply.

use renown_server::Limits;
use renown_store::sqlite::system_clock;

use super::running::start;

#[tokio::test]
async fn a_retry_of_creating_a_key_names_the_first_key_but_does_not_show_it() {
    let server = start(Limits::default(), system_clock()).await;
    let create = || server.ask("POST", "/v1/keys", "Idempotency-Key: k\r\n", r#"{"kind":"publishable"}"#);
    let (status, created) = create().await;
    assert_eq!(status, 201, "{created}");
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    let (status, refused) = create().await;
    assert_eq!((status, refused["code"].as_str()), (409, Some("conflict")), "{refused}");
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains(id) && !error.contains(key), "{error}");
    let (_, keys) = server.ask("GET", "/v1/keys", "", "").await;
    assert_eq!(keys["data"].as_array().map(Vec::len), Some(2), "the retry created no key: {keys}");
}
