// What every test starts: real servers, the official client, and `renown proxy` between them or not.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const renown = process.env.RENOWN_PROGRAM;
assert.ok(renown, "RENOWN_PROGRAM says which program is tested");

const everythingScript = here("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** The commands of the servers. */
export const everything = [process.execPath, everythingScript, "stdio"];
export const filesystem = (folder) => [
  process.execPath,
  here("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
  folder,
];
export const changing = (file) => [process.execPath, here("changing.mjs"), file];

/** A new and empty folder below the one that the test command empties. */
export const scratch = () => mkdtempSync(here("scratch/"));

/** The same command behind the proxy. */
export const through = (command, data, ...options) => [
  renown, "proxy", "--data", data, ...options, "--", ...command,
];

/** The environment of a test, without the `RENOWN_*` settings of the person who runs it. */
function environment() {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("RENOWN_"));
  return Object.fromEntries(own);
}

/** A client that answers every request of a server, and records the requests and notifications it receives. */
function newClient(roots) {
  const client = new Client(
    { name: "everyday-client", version: "1.0.0" },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  );
  const received = { logs: [], updated: [], asked: [] };
  client.setRequestHandler(CreateMessageRequestSchema, (request) => {
    received.asked.push(request);
    return { model: "none", role: "assistant", content: { type: "text", text: "sampled" } };
  });
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    received.asked.push(request);
    return { action: "accept", content: { name: "Ada", check: true } };
  });
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: roots.map((root) => ({ uri: `file://${root}`, name: "work" })),
  }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, (note) => void received.logs.push(note));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => void received.updated.push(note));
  return { client, received };
}

/** Connects to a server on standard input and output. `close` gives what it wrote to standard error. */
export async function overStdio(t, command, { roots = ["/srv/work"] } = {}) {
  const [program, ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, env: environment(), stderr: "pipe" });
  let stderr = "";
  transport.stderr.on("data", (bytes) => (stderr += bytes));
  const { client, received } = newClient(roots);
  t.after(() => client.close());
  await client.connect(transport);
  const close = async () => {
    const ended = once(transport.stderr, "end");
    await client.close();
    await ended;
    return stderr;
  };
  return { client, received, close, pid: transport.pid };
}

/** Connects to a streamable HTTP server. */
export async function overHttp(t, url, { roots = ["/srv/work"] } = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const { client, received } = newClient(roots);
  t.after(() => client.close());
  await client.connect(transport);
  return { client, received, transport };
}

/** Starts a process that serves until the test ends, and waits for a line on its standard error. */
async function serve(t, command, env, ready) {
  const [program, ...args] = command;
  const child = spawn(program, args, { env: { ...environment(), ...env }, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    return await exited;
  };
  t.after(stop);
  const lines = createInterface({ input: child.stderr });
  const found = await new Promise((resolve, reject) => {
    const seen = [];
    lines.on("line", (line) => {
      seen.push(line);
      const match = line.match(ready);
      if (match) resolve(match);
    });
    lines.on("close", () => reject(new Error(`${command.join(" ")} ended:\n${seen.join("\n")}`)));
  });
  return { found, stop };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** The address of `server-everything` over HTTP. */
export async function everythingOverHttp(t) {
  const port = await freePort();
  await serve(t, [process.execPath, everythingScript, "streamableHttp"], { PORT: String(port) }, /listening on port/);
  return `http://127.0.0.1:${port}/mcp`;
}

/** The address of a proxy before an HTTP server. */
export async function proxyOverHttp(t, upstream, data, ...options) {
  const command = [renown, "proxy", "--data", data, "--upstream", upstream, "--listen", "127.0.0.1:0", ...options];
  const { found, stop } = await serve(t, command, {}, /listening on (http:\S+)/);
  return { url: found[1], stop };
}

/** The lines of the proxy's log. */
export function log(data) {
  const folder = join(data, "proxy");
  if (!existsSync(folder)) return [];
  const days = readdirSync(folder).filter((name) => /^\d{4}-\d\d-\d\d\.jsonl$/.test(name)).sort();
  const text = days.map((name) => readFileSync(join(folder, name), "utf8")).join("");
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** A configuration file in a folder. */
export function configuration(folder, text) {
  const file = join(folder, "renown.toml");
  writeFileSync(file, text);
  return file;
}

/** The error of a call that must be blocked. */
export async function blocked(call) {
  const error = await call.then(
    (result) => assert.fail(`not blocked: ${JSON.stringify(result)}`),
    (error) => error,
  );
  assert.equal(error.code, -32000, error.stack);
  return error;
}

/** Waits until something is true. */
export async function until(what) {
  const end = Date.now() + 20_000;
  while (!(await what())) {
    assert.ok(Date.now() < end, `still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
