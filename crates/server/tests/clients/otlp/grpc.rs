//! OTLP over gRPC, with the client of another project (tonic).

use std::net::SocketAddr;

use bytes::{Buf, BufMut, Bytes};
use hyper::http::uri::PathAndQuery;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;
use renown_server::OtlpAuth;
use renown_store::WriteError;
use tonic::client::Grpc;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use super::super::running::{Setup, start_with};
use super::count;
use super::records::{as_protobuf, call, prompt, session};

const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// A codec that passes raw bytes.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// A client. A test changes the parts that matter to it.
pub(super) struct Client {
    endpoint: Endpoint,
    is_gzip: bool,
    metadata: MetadataMap,
}

impl Client {
    pub(super) fn new(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        Self { endpoint, is_gzip: false, metadata: MetadataMap::new() }
    }

    pub(super) fn gzip(self, is_gzip: bool) -> Self {
        Self { is_gzip, ..self }
    }

    pub(super) fn authority(self, authority: &str) -> Self {
        Self { endpoint: self.endpoint.origin(authority.parse().unwrap()), ..self }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.metadata.insert(name, value.parse().unwrap());
        self
    }

    async fn call(&self, method: &'static str, message: Vec<u8>) -> Result<Bytes, Status> {
        let channel: Channel = self.endpoint.connect().await.unwrap();
        let mut client = Grpc::new(channel);
        if self.is_gzip {
            client = client.send_compressed(CompressionEncoding::Gzip);
        }
        client.ready().await.unwrap();
        let request = Request::from_parts(self.metadata.clone(), tonic::Extensions::default(), message);
        client.unary(request, PathAndQuery::from_static(method), Raw).await.map(tonic::Response::into_inner)
    }

    pub(super) async fn logs(&self, message: Vec<u8>) -> Result<Bytes, Status> {
        self.call(LOGS, message).await
    }

    pub(super) async fn traces(&self, message: Vec<u8>) -> Result<Bytes, Status> {
        self.call(TRACES, message).await
    }
}

#[tokio::test]
async fn rejected_records_are_reported_and_the_others_are_stored() {
    let server = start_with(Setup::default()).await;
    let client = Client::new(server.otlp_grpc);
    let reply = client.logs(as_protobuf(&[prompt("s-1"), call(-1), call(-2)])).await.unwrap();
    let partial = ExportLogsServiceResponse::decode(reply).unwrap().partial_success.unwrap();
    assert_eq!(partial.rejected_log_records, 2);
    assert!(partial.error_message.contains("input_tokens (2)"), "{}", partial.error_message);
    assert_eq!(count(&server).await, 1);
    assert!(client.call(METRICS, b"anything at all".to_vec()).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_error_has_its_grpc_status() {
    let server = start_with(Setup::default()).await;
    let client = || Client::new(server.otlp_grpc);
    let good = as_protobuf(&session());
    let large = vec![0; 16 * 1024 * 1024 + 1];
    let wrong = format!("Bearer rn_pub_{}", "x".repeat(32));
    for (client, method, message, code, said) in [
        (client(), LOGS, b"\x0a\x05x".to_vec(), Code::InvalidArgument, "ends within a field"),
        (client(), LOGS, large.clone(), Code::ResourceExhausted, "at most 16777216"),
        (client().gzip(true), LOGS, large.clone(), Code::ResourceExhausted, "when it is inflated"),
        (client().gzip(true), METRICS, large, Code::ResourceExhausted, "when it is inflated"),
        (client(), "/x.Y/Z", good.clone(), Code::Unimplemented, "Export"),
        (client().with("authorization", &wrong), LOGS, good.clone(), Code::Unauthenticated, "no such key"),
        (client().with("authorization", "Basic x"), LOGS, good.clone(), Code::Unauthenticated, "rn_pub_"),
        (client().with("origin", "http://localhost"), LOGS, good.clone(), Code::Unauthenticated, "web page"),
        (client().with("forwarded", "for=x"), LOGS, good.clone(), Code::Unauthenticated, "proxy"),
        (
            client().authority("http://evil.example"),
            LOGS,
            good.clone(),
            Code::Unauthenticated,
            "evil.example",
        ),
        (client().with("grpc-encoding", "zstd"), LOGS, good.clone(), Code::Unimplemented, "zstd"),
    ] {
        let status = client.call(method, message).await.unwrap_err();
        assert!(status.code() == code && status.message().contains(said), "{code:?} {said}: {status:?}");
        assert_eq!(count(&server).await, 0, "{status:?}");
    }
    for (failure, code, retries) in [
        (WriteError::Overloaded, Code::ResourceExhausted, true),
        (WriteError::Unavailable("the store has shut down".into()), Code::Unavailable, true),
    ] {
        server.store.fail(failure);
        let status = client().logs(good.clone()).await.unwrap_err();
        assert_eq!(status.code(), code, "{status:?}");
        let info = b"google.rpc.RetryInfo";
        assert_eq!(status.details().windows(info.len()).any(|part| part == info), retries, "{status:?}");
        assert_eq!(count(&server).await, 0);
    }
    let key = format!("Bearer {}", server.secret);
    client().with("authorization", &key).with("x-forwarded-for", "1.2.3.4").logs(good).await.unwrap();
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_key_may_be_required() {
    let server = start_with(Setup { otlp_auth: OtlpAuth::Required, ..Setup::default() }).await;
    let status = Client::new(server.otlp_grpc).logs(as_protobuf(&session())).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    let key = format!("Bearer {}", server.secret);
    Client::new(server.otlp_grpc).with("authorization", &key).logs(as_protobuf(&session())).await.unwrap();
    assert_eq!(count(&server).await, 1);
}
