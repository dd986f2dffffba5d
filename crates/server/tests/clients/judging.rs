//! The memory limit of all outputs that are being judged.

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::start;

/// Builds a request with an output of this many bytes.
fn body(bytes: usize) -> String {
    json!({"agent_id": "a", "output": "x".repeat(bytes)}).to_string()
}

#[tokio::test]
async fn an_output_that_needs_too_much_memory_is_refused_with_503() {
    let server = start(Limits { judging_bytes_max: 128 * 1024, ..Limits::default() }, system_clock()).await;
    // A verdict may need eight times its output.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = server.request("POST", "/v1/evaluate", "Connection: close\r\n", &body(16 * 1024));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    let (head, refused) = reply.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 503 ") && head.to_ascii_lowercase().contains("retry-after: 1"),
        "{head}"
    );
    let refused: Value = serde_json::from_str(refused).unwrap();
    assert_eq!(refused.get("code").and_then(Value::as_str), Some("overloaded"));
    // Outputs that fit are judged, and their memory is released.
    for count in 1..=20 {
        let (status, reply) = server.ask("POST", "/v1/evaluate", "", &body(14 * 1024)).await;
        assert_eq!(
            (status, &reply["reputation"]["eval_count"]),
            (200, &json!(count)),
            "the refused output was not counted"
        );
    }
}
