// Sends telemetry as an agent with the OpenTelemetry SDK does: a list of jobs as JSON on standard input, one after the other.

import { readFileSync } from "node:fs";

import { ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPLogExporter as GrpcLogs } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtoLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPTraceExporter as ProtoSpans } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const CLASSES = { logs: { json: JsonLogs, http: ProtoLogs, grpc: GrpcLogs }, spans: { http: ProtoSpans } };

// Seconds and nanoseconds: a number of JavaScript cannot hold a time to the nanosecond.
const hr = (ns) => [Number(BigInt(ns) / 1_000_000_000n), Number(BigInt(ns) % 1_000_000_000n)];

// The exporter of a job. The SDK only logs what fails, so every result is noted.
function watched({ signal, transport, endpoint, gzip }, results) {
  const exporter = new CLASSES[signal][transport]({ url: endpoint, compression: gzip ? "gzip" : "none" });
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      results.push(result.error ? `${result.code} ${result.error.message}` : result.code);
      done(result);
    });
  return exporter;
}

async function sendLogs(job, exporter, resource) {
  const provider = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger("com.anthropic.claude_code.events", "2.1.0");
  for (const { time, body, attributes } of job.records) {
    logger.emit({ timestamp: hr(time), body, attributes });
  }
  await provider.forceFlush();
  await provider.shutdown();
}

// The first span is the parent of all others.
async function sendSpans(job, exporter, resource) {
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  const tracer = provider.getTracer("xtask");
  const [first, ...others] = job.records;
  const begin = ({ name, start, attributes }, context) =>
    tracer.startSpan(name, { startTime: hr(start), attributes }, context);
  const parent = begin(first, ROOT_CONTEXT);
  for (const record of others) {
    const span = begin(record, trace.setSpan(ROOT_CONTEXT, parent));
    if (record.failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(hr(record.end));
  }
  parent.end(hr(first.end));
  await provider.forceFlush();
  await provider.shutdown();
}

const SEND = { logs: sendLogs, spans: sendSpans };

for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  const results = [];
  await SEND[job.signal](job, watched(job, results), resourceFromAttributes(job.resource));
  if (results.length === 0 || results.some((result) => result !== 0)) {
    const compressed = job.gzip ? "gzip" : "plain";
    console.error(`Node, ${job.signal} over ${job.transport}, ${compressed}: the exporter says ${results}`);
    process.exit(1);
  }
}
