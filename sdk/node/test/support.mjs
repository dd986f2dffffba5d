// Servers for the tests: the real program on a fresh data directory, and one that answers what a test tells it to.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// `cargo xtask test node` says where the sources and the program are.
export const ROOT = process.env.RENOWN_ROOT ?? fileURLToPath(new URL("../../..", import.meta.url));
export const PROGRAM = process.env.RENOWN_PROGRAM ?? join(ROOT, "target/debug/renown");
export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/** Without the settings of whoever runs the tests. */
export function cleanEnvironment(more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("RENOWN_") && !name.startsWith("NODE_"));
  return { ...Object.fromEntries(kept), RENOWN_DATA: "no such directory", ...more };
}

/** A directory that is gone when the test ends. */
export function temporary(test) {
  const folder = mkdtempSync(join(tmpdir(), "renown-node-"));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A running server, stopped when the test ends. */
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

  /** A key that `renown keys create` makes through the server. */
  createKey(kind, org) {
    const args = ["keys", "create", "--kind", kind, "--org", org, "--format", "json", "--server", this.url];
    const made = execFileSync(PROGRAM, args, { env: cleanEnvironment({ RENOWN_KEY: this.secret }) });
    return JSON.parse(made).key;
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill("SIGTERM");
    await this.ended;
  }
}

export const OVERLOADED = [503, { error: "too much at once", code: "overloaded", status: 503 }, { "Retry-After": "0" }];
export const UNAVAILABLE = [503, { error: "no disk", code: "store_unavailable", status: 503 }, { "Retry-After": "0" }];
export const LIMITED = [429, { error: "too many", code: "rate_limited", status: 429 }, { "Retry-After": "1" }];
export const TAKEN = [202, ({ events }) => ({ accepted: events.length, duplicates: 0, reputation_updates: [] }), {}];

/** Gives its answers in order, the last one again and again. A reply is a text, a value, or a function of the request's body. */
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
        const said = typeof reply === "function" ? reply(body) : reply;
        response.end(typeof said === "string" ? said : JSON.stringify(said));
      });
    });
    fake.server.listen(0, "127.0.0.1");
    await once(fake.server, "listening");
    fake.url = `http://127.0.0.1:${fake.server.address().port}`;
    test.after(() => fake.stop());
    return fake;
  }

  /** The verdicts that came. */
  get events() {
    return this.requests.filter(({ path }) => path === "/v1/ingest").flatMap(({ body }) => body.events);
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Waits until something has happened. */
export async function waitFor(condition) {
  const until = Date.now() + 30_000;
  while (!condition()) {
    assert.ok(Date.now() < until, "it never happened");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Runs a script as a program of its own, beside the package. */
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
