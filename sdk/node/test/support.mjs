// Servers for the tests: the real program with a new data directory, and a fake server with replies that a test
// chooses.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// `cargo xtask test node` sets the paths of the sources and of the program.
export const ROOT = process.env.RENOWN_ROOT ?? fileURLToPath(new URL("../../..", import.meta.url));
export const PROGRAM = process.env.RENOWN_PROGRAM ?? join(ROOT, "target/debug/renown");
export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/** Returns the environment without the Renown and Node settings of the developer. */
export function cleanEnvironment(more = {}) {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("RENOWN_") && !name.startsWith("NODE_"));
  return { ...Object.fromEntries(others), RENOWN_DATA: "no such directory", ...more };
}

/** Creates a directory that is deleted when the test ends. */
export function temporary(test) {
  const folder = mkdtempSync(join(tmpdir(), "renown-node-"));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A running server. It is stopped when the test ends. */
export class Server {
  static async start(test, { settings = {}, data = join(temporary(test), "data"), listen = "127.0.0.1:0", first = true } = {}) {
    const server = new Server();
    mkdirSync(data, { recursive: true });
    const log = openSync(join(data, "log"), "a");
    server.process = spawn(PROGRAM, ["serve", "--listen", listen, "--otlp-grpc", "off", "--otlp-http", "off", "--data", data], {
      env: cleanEnvironment(settings),
      stdio: ["ignore", "pipe", log],
    });
    closeSync(log);
    server.ended = once(server.process, "exit");
    test.after(() => server.stop());
    const lines = createInterface({ input: server.process.stdout });
    for await (const line of lines) {
      const [word, value] = line.trim().split(/\s+/);
      if (line.includes(" on http://")) server.url = `http://${line.split("http://")[1].trim()}`;
      else if (word === "publishable" || word === "secret") server[word] = value;
      if (server.url !== undefined && (!first || server.secret !== undefined)) break;
    }
    assert.ok(server.url, "the server did not start");
    return server;
  }

  /** Creates a key with `renown keys create`. */
  createKey(kind, org) {
    const args = ["keys", "create", "--kind", kind, "--org", org, "--format", "json", "--server", this.url];
    const output = execFileSync(PROGRAM, args, { env: cleanEnvironment({ RENOWN_KEY: this.secret }) });
    return JSON.parse(output).key;
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill("SIGTERM");
    await this.ended;
  }
}

export const OVERLOADED = [503, { error: "too much at once", code: "overloaded", status: 503 }, { "Retry-After": "0" }];
export const UNAVAILABLE = [503, { error: "no disk", code: "store_unavailable", status: 503 }, { "Retry-After": "0" }];
export const LIMITED = [429, { error: "too many", code: "rate_limited", status: 429 }, { "Retry-After": "1" }];
export const ACCEPTED = [202, ({ events }) => ({ accepted: events.length, duplicates: 0, reputation_updates: [] }), {}];

/**
 * Sends its answers in order, then repeats the last one. Records all requests. A reply is a string, a value, or a
 * function of the request body.
 */
export class Fake {
  requests = [];

  static async start(test, ...answers) {
    const fake = new Fake();
    fake.server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        const body = text === "" ? undefined : JSON.parse(text);
        fake.requests.push({ method: request.method, path: request.url, headers: request.headers, body });
        const [status, reply, headers] = answers.length > 1 ? answers.shift() : answers[0];
        response.writeHead(status, { "X-Request-Id": "the-request", ...headers });
        const content = typeof reply === "function" ? reply(body) : reply;
        response.end(typeof content === "string" ? content : JSON.stringify(content));
      });
    });
    fake.server.listen(0, "127.0.0.1");
    await once(fake.server, "listening");
    fake.url = `http://127.0.0.1:${fake.server.address().port}`;
    test.after(() => fake.stop());
    return fake;
  }

  /** The verdicts that arrived. */
  get events() {
    return this.requests.filter(({ path }) => path === "/v1/ingest").flatMap(({ body }) => body.events);
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Waits until a condition is true. */
export async function waitFor(condition) {
  const deadline = Date.now() + 30_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, "the condition did not become true within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Runs a script in a new process, in the directory of the package. */
export async function runScript(text, { type = "module", env = {}, cwd = PACKAGE } = {}) {
  const child = spawn(process.execPath, [`--input-type=${type}`, "-"], { cwd, env: cleanEnvironment(env), stdio: "pipe" });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece) => (stdout += piece));
  child.stderr.on("data", (piece) => (stderr += piece));
  child.stdin.end(text);
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  return { code, signal, stdout, stderr };
}
