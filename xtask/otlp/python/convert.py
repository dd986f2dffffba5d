"""Sends logs of OTLP JSON as protobuf, line by line: http|grpc ADDRESS FILE…

What is written here is only what the JSON mapping of OTLP has of its own: ids are in hexadecimal, not in base64.
"""

import base64
import gzip
import json
import sys

import grpc
import requests
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

LOGS = (
    "logs",
    logs_service_pb2.ExportLogsServiceRequest,
    logs_service_pb2.ExportLogsServiceResponse,
    logs_service_pb2_grpc.LogsServiceStub,
)
SPANS = (
    "traces",
    trace_service_pb2.ExportTraceServiceRequest,
    trace_service_pb2.ExportTraceServiceResponse,
    trace_service_pb2_grpc.TraceServiceStub,
)
IDS = ("traceId", "spanId", "parentSpanId")


def with_ids(value):
    if isinstance(value, list):
        return [with_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64encode(bytes.fromhex(item)).decode() if name in IDS else with_ids(item)
        for name, item in value.items()
    }


def over_http(address):
    session = requests.Session()

    def send(kind, message, number):
        signal, _, reply, _ = kind
        body, headers = message.SerializeToString(), {"Content-Type": "application/x-protobuf"}
        # Every second one is compressed: that changes nothing.
        if number % 2:
            body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
        answer = session.post(f"http://{address}/v1/{signal}", body, headers=headers, timeout=10)
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        return reply.FromString(answer.content)

    return send


def over_grpc(address):
    channel = grpc.insecure_channel(address)
    stubs = {kind[0]: kind[3](channel) for kind in (LOGS, SPANS)}

    def send(kind, message, number):
        compression = grpc.Compression.Gzip if number % 2 else grpc.Compression.NoCompression
        return stubs[kind[0]].Export(message, timeout=10, compression=compression)

    return send


transport, address, *files = sys.argv[1:]
send = {"http": over_http, "grpc": over_grpc}[transport](address)
for file in files:
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            parsed = json.loads(line)
            kind = SPANS if "resourceSpans" in parsed else LOGS
            message = json_format.ParseDict(with_ids(parsed), kind[1]())
            reply = send(kind, message, number)
            assert not reply.HasField("partial_success"), f"{file}:{number}: {reply}"
