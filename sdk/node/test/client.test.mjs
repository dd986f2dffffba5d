// Tests that the client has a method for every route, and that its errors are clear.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import test from "node:test";
import { inspect } from "node:util";

import { Client, RenownError } from "renown";

import { ACCEPTED, Fake, LIMITED, OVERLOADED, ROOT, Server, UNAVAILABLE } from "./support.mjs";

const OK = [200, { status: "ok", version: "1" }, {}];
const EVENT = { agent_id: "a", passed: true, total_latency_ms: 1 };

const hasCode = (code, status) => (error) => error instanceof RenownError && error.code === code && error.status === status;

async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

test("every operation of the OpenAPI document is a method", () => {
  const document = JSON.parse(readFileSync(join(ROOT, "crates/server/openapi.json"), "utf8"));
  const names = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.ok(names.length > 10);
  for (const name of names.filter((name) => name !== "docs")) {
    const method = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    assert.equal(typeof Client.prototype[method], "function", name);
  }
});

test("the common operations work on a real server", async (t) => {
  const server = await Server.start(t);
  const client = new Client(server.url, server.secret);
  const agent = "a/b c?é";
  assert.equal((await client.health()).status, "ok");
  assert.equal((await client.ready()).status, "ready");
  assert.match(await client.metrics(), /# TYPE/);
  assert.equal((await client.openapi()).info.title, "Renown");
  const verdict = await client.evaluate({ agent_id: agent, output: "bob@corp.io", tool: "mail", latency_ms: 3 });
  assert.deepEqual([verdict.passed, verdict.gates[1].reason], [false, "email address detected in output"]);
  assert.equal((await client.getReputation(agent)).eval_count, 1);
  assert.ok((await client.explainReputation(agent)).next.pass > 0);
  assert.equal((await client.getReputationHistory(agent, { points: 10 })).points.length, 1);
  assert.equal((await client.addAgent({ agent_id: "new" })).agent_id, "new");
  assert.deepEqual((await client.listAgents({ q: "NEW" })).agents.map(({ agent_id }) => agent_id), ["new"]);
  assert.equal((await client.listEvents({ passed: true })).count, 0);
  const key = await client.createKey({ kind: "publishable", label: "ci" });
  assert.ok((await collect(client.iterKeys({ pageSize: 1 }))).some(({ id }) => id === key.id));
  assert.equal(await client.revokeKey(key.id), undefined);
  await assert.rejects(new Client(server.url, key.key).listAgents(), hasCode("auth_revoked", 401));
  await assert.rejects(new Client(server.url, server.publishable).listKeys(), hasCode("forbidden", 403));
  await assert.rejects(client.evaluate({ agent_id: "", output: "x" }), (error) => {
    assert.ok(hasCode("validation_error", 400)(error) && /agent_id/.test(error.message));
    return error.requestId.length === 36;
  });
  await assert.rejects(collect(new Client(server.url, "").stream()), hasCode("auth_missing", 401));
});

test("an iterator reads all pages, and a repeat with an idempotency key returns the first reply", async (t) => {
  const server = await Server.start(t);
  const client = new Client(server.url, server.publishable);
  const tools = Array.from({ length: 25 }, (_, index) => `t${index}`);
  await client.ingest({ events: tools.map((tool) => ({ ...EVENT, tool })) });
  const found = await collect(client.iterEvents({ pageSize: 10, agent_id: "a" }));
  assert.deepEqual(found.map(({ tool_name }) => tool_name), tools.reverse());
  const once = { idempotencyKey: "k1" };
  const first = await client.evaluate({ agent_id: "b", output: "x" }, once);
  assert.deepEqual(await client.evaluate({ agent_id: "b", output: "x" }, once), first);
  await assert.rejects(client.evaluate({ agent_id: "b", output: "y" }, once), hasCode("conflict", 409));
});

test("the stream delivers scores", async (t) => {
  const server = await Server.start(t);
  const client = new Client(server.url, server.publishable);
  // Repeats, because the stream may not be open yet.
  const evaluating = setInterval(() => void client.evaluate({ agent_id: "a", output: "x" }).catch(() => {}), 20);
  const found = [];
  for await (const event of client.stream()) {
    found.push(event);
    if (found.length === 2) break;
  }
  clearInterval(evaluating);
  assert.deepEqual([found[0].event, found[0].data.agent_id], ["score", "a"]);
});

test("only requests that are safe to repeat are retried", async (t) => {
  const calls = {
    health: (client) => client.health(),
    ingest: (client) => client.ingest({ events: [EVENT] }),
    ingestOnce: (client) => client.ingest({ events: [EVENT] }, { idempotencyKey: "k" }),
  };
  const table = [
    [[OVERLOADED, ACCEPTED], "ingest", {}, 2, undefined],
    [[OVERLOADED], "ingest", { retries: 1 }, 2, "overloaded"],
    [[UNAVAILABLE, ACCEPTED], "ingest", {}, 1, "store_unavailable"],
    [[UNAVAILABLE, ACCEPTED], "ingestOnce", {}, 2, undefined],
    [[UNAVAILABLE, OK], "health", {}, 2, undefined],
    [[LIMITED, ACCEPTED], "ingest", {}, 2, undefined],
    [[LIMITED], "ingest", { retryWaitMaxMs: 500 }, 1, "rate_limited"],
    [[[500, { error: "oh", code: "internal", status: 500 }, {}]], "health", {}, 1, "internal"],
    [[[200, "<html>", {}]], "health", {}, 1, "bad_reply"],
    [[[502, "<html>", {}]], "health", {}, 1, "bad_reply"],
  ];
  for (const [answers, call, options, attempts, code] of table) {
    const fake = await Fake.start(t, ...answers);
    const found = await calls[call](new Client(fake.url, "k", options)).catch((error) => error);
    assert.deepEqual([fake.requests.length, found.code], [attempts, code], `${call} ${code}`);
  }
});

test("a closed port is unreachable, a silent server times out, and a signal aborts the call", async (t) => {
  const closed = new Client("http://127.0.0.1:1", "k", { retries: 0 });
  await assert.rejects(closed.health(), hasCode("unreachable", undefined));
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const waiting = new Client(`http://127.0.0.1:${silent.address().port}`, "k", { retries: 0, timeoutMs: 50 });
  await assert.rejects(waiting.health(), hasCode("timed_out", undefined));
  await assert.rejects(waiting.health({ timeoutMs: 10_000, signal: AbortSignal.abort(new RangeError("mine")) }), RangeError);
});

test("timeoutMs limits each attempt, a signal limits the call", async (t) => {
  let attempts = 0;
  const silent = createServer(() => (attempts += 1)).listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const client = new Client(`http://127.0.0.1:${silent.address().port}`, "k", { retries: 1, timeoutMs: 300 });
  const start = performance.now();
  await assert.rejects(client.health(), hasCode("timed_out", undefined));
  assert.ok(attempts === 2 && performance.now() - start >= 600, `${attempts} attempts`);
  await assert.rejects(client.health({ timeoutMs: 30_000, signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
});

test("the key comes from the environment and is never shown", async (t) => {
  const fake = await Fake.start(t, OK);
  process.env.RENOWN_KEY = "rn_pub_from_outside";
  t.after(() => delete process.env.RENOWN_KEY);
  const client = new Client(fake.url);
  await client.health();
  assert.equal(fake.requests[0].headers.authorization, "Bearer rn_pub_from_outside");
  assert.ok(!inspect(client, { showHidden: true, depth: 9 }).includes("rn_pub") && !JSON.stringify(client).includes("rn_pub"));
});

test("a key is trimmed, and an invalid key is rejected without being shown", async (t) => {
  const fake = await Fake.start(t, OK);
  await new Client(fake.url, " \trn_pub_spaced\r\n").health();
  assert.equal(fake.requests[0].headers.authorization, "Bearer rn_pub_spaced");
  for (const key of ["rn_pub_one\nrn_pub_two", "rn_pub a", "rn_pub_é", "rn_pub_\u0000", "rn_pub_\ud800", 5, null]) {
    assert.throws(() => new Client(fake.url, key), (error) => {
      assert.ok(error instanceof TypeError && /^key: /.test(error.message) && !inspect(error).includes("rn_pub"), inspect(error));
      return true;
    });
  }
  process.env.RENOWN_KEY = "rn_pub_one\n\nrn_pub_two";
  t.after(() => delete process.env.RENOWN_KEY);
  assert.throws(() => new Client(fake.url), (error) => !inspect(error).includes("rn_pub"));
});

test("an invalid argument is rejected before anything is sent", async (t) => {
  const fake = await Fake.start(t, OK);
  const client = new Client(fake.url, "k");
  const loop = { agent_id: "a" };
  loop.output = loop;
  const calls = [
    [() => client.evaluate({ agent_id: "a", output: 1n }), "TypeError", /^body\.output: a bigint/],
    [() => client.evaluate({ agent_id: "a", output: new Map() }), "TypeError", /^body\.output: a Map/],
    [() => client.evaluate(loop), "TypeError", /^body: not JSON: .*circular/],
    [() => client.health({ timeoutMs: -1 }), "RangeError", /^timeoutMs: -1, expected milliseconds, more than 0/],
    [() => client.health({ timeoutMs: NaN }), "RangeError", /^timeoutMs: NaN/],
    [() => client.health({ timeoutMs: "5" }), "RangeError", /^timeoutMs: "5"/],
    [() => client.health({ timeout: 5 }), "TypeError", /^timeout: no such option, expected one of timeoutMs, signal$/],
    [() => client.health({ signal: "no" }), "TypeError", /^signal: /],
    [() => client.health(null), "TypeError", /^options: null/],
    ...["", "a\nb", "é", " a", "a".repeat(201), 5].map((idempotencyKey) => [
      () => client.ingest({ events: [EVENT] }, { idempotencyKey }), "TypeError", /^idempotencyKey: .*expected 1 to 200/,
    ]),
    ...["", ".", "..", "\ud800", undefined].map((id) => [async () => client.getReputation(id), "TypeError", /^agent_id: /]),
    [() => collect(client.stream({ timeoutMs: 0 })), "RangeError", /^timeoutMs: 0/],
    [() => collect(client.iterEvents({}, { timeoutMs: -1 })), "RangeError", /^timeoutMs: -1/],
  ];
  for (const [call, name, message] of calls) await assert.rejects(call, { name, message });
  assert.equal(fake.requests.length, 0);
});

test("invalid settings of a client are rejected", () => {
  const invalid = [
    ["127.0.0.1:7070", {}, /^baseUrl: .*expected a URL/],
    ["localhost:7070", {}, /^baseUrl: "localhost:7070", expected a URL/],
    ["", {}, /^baseUrl: "" is not a URL/],
    ["ftp://x", {}, /^baseUrl: "ftp/],
    ["http://x/?a=b", {}, /^baseUrl: .*query/],
    ["http://me:secret@x", {}, /^baseUrl: contains a user name or a password/],
    ["http://me:secret@x:port", {}, /^baseUrl: "…@x:port" is not a URL/],
    [5, {}, /^baseUrl: number/],
    ["http://x", { timeout: 5 }, /^timeout: no such option/],
    ["http://x", { timeoutMs: 0 }, /^timeoutMs: 0/],
    ["http://x", { retries: NaN }, /^retries: NaN/],
    ["http://x", { retries: -1 }, /^retries: -1/],
    ["http://x", { retryWaitMaxMs: -1 }, /^retryWaitMaxMs: -1/],
    ["http://x", { fetch: 5 }, /^fetch: number/],
  ];
  for (const [url, options, message] of invalid) {
    assert.throws(() => new Client(url, "k", options), (error) => message.test(error.message) && !inspect(error).includes("secret"), url);
  }
});

test("a time limit above the maximum of timers does not fire early", async (t) => {
  const fake = await Fake.start(t, OK);
  const client = new Client(`${fake.url}//`, "k", { timeoutMs: Infinity, retries: Infinity, retryWaitMaxMs: 2 ** 40 });
  assert.equal((await client.health()).status, "ok");
  assert.equal((await client.health({ timeoutMs: 2 ** 33 })).status, "ok");
});

test("an invalid reply is an error and is not retried", async (t) => {
  const table = [
    [[200, {}, {}], (client) => collect(client.iterEvents())],
    [[200, "", {}], (client) => collect(client.iterEvents())],
    [[200, { events: [], next_cursor: "again" }, {}], (client) => collect(client.iterEvents())],
    [[200, "no gzip", { "Content-Encoding": "gzip" }], (client) => client.health()],
  ];
  for (const [answer, call] of table) {
    const fake = await Fake.start(t, answer);
    await assert.rejects(call(new Client(fake.url, "k")), (error) => error instanceof RenownError && error.code === "bad_reply");
    assert.ok(fake.requests.length <= 2, "the request was retried");
  }
});
