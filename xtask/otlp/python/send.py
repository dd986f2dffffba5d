"""Sends telemetry with the OpenTelemetry SDK, as an agent does. Standard input is a JSON list of jobs, which run one after the other."""

import json
import sys

import grpc
from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

CLASSES = {
    ("logs", "http"): HttpLogs,
    ("logs", "grpc"): GrpcLogs,
    ("spans", "http"): HttpSpans,
    ("spans", "grpc"): GrpcSpans,
    ("metrics", "http"): HttpMetrics,
    ("metrics", "grpc"): GrpcMetrics,
}


def watched(job, results):
    """The exporter of a job. The SDK only logs failures, so every result is recorded."""
    signal, transport, gzip = job["signal"], job["transport"], job["gzip"]

    class Watched(CLASSES[signal, transport]):
        def export(self, *args, **kwargs):
            result = super().export(*args, **kwargs)
            results.append(result.name)
            return result

    if transport == "grpc":
        compression = grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression
        return Watched(endpoint=job["endpoint"], insecure=True, compression=compression, timeout=10)
    compression = Compression.Gzip if gzip else Compression.NoCompression
    return Watched(endpoint=job["endpoint"], compression=compression, timeout=10)


def send_logs(job, exporter, resource):
    provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = provider.get_logger("com.anthropic.claude_code.events", "2.1.0")
    for record in job["records"]:
        logger.emit(
            LogRecord(
                timestamp=int(record["time"]),
                severity_number=SeverityNumber.INFO,
                body=record["body"],
                attributes=record["attributes"],
            )
        )
    assert provider.force_flush(10_000)
    provider.shutdown()


def send_spans(job, exporter, resource):
    """The first span is the parent of all others."""
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("xtask")
    first, *others = job["records"]
    parent = tracer.start_span(first["name"], start_time=int(first["start"]), attributes=first["attributes"])
    for record in others:
        span = tracer.start_span(
            record["name"],
            context=trace.set_span_in_context(parent),
            start_time=int(record["start"]),
            attributes=record["attributes"],
        )
        if record["failed"]:
            span.set_status(trace.StatusCode.ERROR)
        span.end(end_time=int(record["end"]))
    parent.end(end_time=int(first["end"]))
    assert provider.force_flush(10_000)
    provider.shutdown()


def send_metrics(job, exporter, resource):
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=60_000)
    provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    counter = provider.get_meter("xtask").create_counter("claude_code.session.count")
    for record in job["records"]:
        counter.add(1, record["attributes"])
    assert provider.force_flush(10_000)
    provider.shutdown()


SEND = {"logs": send_logs, "spans": send_spans, "metrics": send_metrics}

for job in json.load(sys.stdin):
    results = []
    SEND[job["signal"]](job, watched(job, results), Resource(job["resource"]))
    if not results or set(results) != {"SUCCESS"}:
        compressed = "gzip" if job["gzip"] else "plain"
        sys.exit(f"Python, {job['signal']} over {job['transport']}, {compressed}: the exporter says {results}")
