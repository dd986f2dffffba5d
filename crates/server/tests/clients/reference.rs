//! The API reference contains every operation, and the server accepts its examples.

use renown_pages::reference::{example, operations};
use serde_json::Value;

use super::running::{Setup, start_with};

fn document() -> Value {
    serde_json::to_value(renown_server::openapi()).unwrap()
}

#[tokio::test]
async fn every_operation_is_on_the_page() {
    let server = start_with(Setup::default()).await;
    let (page, document) = (server.text("/docs").await, document());
    let mut count = 0;
    for (path, method, described) in operations(&document) {
        let heading = format!("<b>{}</b> {path}</code>", method.to_uppercase());
        assert!(page.contains(&heading), "{heading}");
        let id = described["operationId"].as_str().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        count += 1;
    }
    assert!(count >= 35, "{count}");
    assert_eq!(page.matches("curl -s").count(), count + 1, "one line per operation, and one for telemetry");
    for wanted in ["/otlp/v1/logs", "LogsService/Export"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

/// Only two fields may have the type "any JSON".
#[tokio::test]
async fn the_type_of_every_field_is_known() {
    let server = start_with(Setup::default()).await;
    let page = server.text("/docs").await;
    let any = page.split("<tr>").filter(|row| row.contains(">any JSON<")).map(|row| {
        let (_, rest) = row.split_once("<code>").unwrap();
        rest.split('<').next().unwrap().to_owned()
    });
    let mut any: Vec<String> = any.collect();
    any.sort_unstable();
    any.dedup();
    assert_eq!(any, ["input", "output"], "only these accept any JSON");
}

#[tokio::test]
async fn every_example_is_accepted() {
    let server = start_with(Setup::default()).await;
    let document = document();
    // The run and the agent of the examples must exist before they are read, and a key before it is revoked.
    let (first, last): (Vec<_>, Vec<_>) = operations(&document)
        .filter(|(path, _, _)| path.starts_with("/v1/") && *path != "/v1/stream")
        .partition(|(_, method, _)| *method == "post");
    let is_delete = |found: &&(&str, &str, &Value)| found.1 == "delete";
    let (deletes, reads): (Vec<_>, Vec<_>) = last.into_iter().partition(|found| is_delete(&found));
    for (path, method, described) in first.into_iter().chain(reads).chain(deletes) {
        let address = example::path(&document, path, described);
        let body = example::body(&document, described).map(|body| body.to_string()).unwrap_or_default();
        let (status, reply) = server.ask(&method.to_uppercase(), &address, "", &body).await;
        let may_be_missing = matches!(path, "/v1/keys/{id}" | "/v1/sessions/{session_id}/performance")
            || path.contains("{eval_run_id}")
            || path.contains("{schedule_id}");
        assert!(
            (200..300).contains(&status) || (status == 404 && may_be_missing),
            "{method} {address} {body}: {status} {reply}"
        );
    }
}
