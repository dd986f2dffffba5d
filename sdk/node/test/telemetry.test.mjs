// Tests that verdicts reach the server, whatever happens to the server and this process.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import test from "node:test";

import { Client, Engine, Telemetry } from "renown";

import { ACCEPTED, Fake, LIMITED, OVERLOADED, Server, runScript, temporary, waitFor } from "./support.mjs";

const engine = Engine.default();
const verdict = (output = "x", agentId = "a") => engine.evaluateSync({ agentId, output, tool: "t", latencyMs: 5 });

test("a verdict arrives unchanged", async (t) => {
  const server = await Server.start(t);
  const client = new Client(server.url, server.publishable);
  const telemetry = new Telemetry(client, { intervalS: 1000 });
  const result = verdict("bob@corp.io");
  telemetry.track(result);
  assert.equal(telemetry.waiting, 1);
  assert.ok(await telemetry.flush());
  assert.deepEqual([telemetry.waiting, telemetry.dropped], [0, 0]);
  const { events } = await client.listEvents();
  const [event] = events;
  assert.deepEqual([events.length, event.id, event.agent_id, event.tool_name], [1, result.evaluationId, "a", "t"]);
  assert.deepEqual([event.passed, event.created_at, event.latency_ms], [false, result.timestamp, 5]);
  // A copy of a result can be tracked, too. The server counts a repeated verdict once.
  telemetry.track(JSON.parse(JSON.stringify(result)));
  assert.ok(await telemetry.flush());
  assert.equal((await client.listEvents()).count, 1);
  await telemetry.shutdown();
});

test("events contain no payload", async (t) => {
  const fake = await Fake.start(t, ACCEPTED);
  const telemetry = new Telemetry(new Client(fake.url, "the-key"));
  telemetry.track({ ...verdict("marker@corp.io"), output: "marker", input: "marker" });
  assert.ok(await telemetry.flush());
  assert.equal(fake.requests[0].headers.authorization, "Bearer the-key");
  assert.ok(!JSON.stringify(fake.requests).includes("marker"));
  await telemetry.shutdown();
});

test("verdicts are sent when a batch is full or the interval has passed", async (t) => {
  const fake = await Fake.start(t, ACCEPTED);
  const client = new Client(fake.url, "k");
  const batched = new Telemetry(client, { intervalS: 1000, batch: 3 });
  for (let turn = 0; turn < 3; turn += 1) batched.track(verdict());
  await waitFor(() => fake.events.length === 3);
  const timed = new Telemetry(client, { intervalS: 0.05 });
  timed.track(verdict());
  await waitFor(() => fake.events.length === 4);
  await Promise.all([batched.shutdown(), timed.shutdown()]);
});

test("verdicts wait while the server is down", async (t) => {
  const data = join(temporary(t), "data");
  const server = await Server.start(t, { data });
  await server.stop();
  const notices = [];
  const client = new Client(server.url, server.publishable);
  const telemetry = new Telemetry(client, { intervalS: 0.05, onNotice: (message) => notices.push(message) });
  for (let turn = 0; turn < 5; turn += 1) telemetry.track(verdict());
  await waitFor(() => notices.length > 0);
  assert.equal(await telemetry.flush(0.2), false);
  assert.equal(telemetry.waiting, 5);
  assert.ok(!notices.join().includes(server.publishable));
  await Server.start(t, { data, listen: server.url.replace("http://", ""), first: false });
  assert.ok(await telemetry.flush());
  assert.equal((await client.getReputation("a")).eval_count, 5);
  await telemetry.shutdown();
});

test("Retry-After of a busy server is obeyed", async (t) => {
  const fake = await Fake.start(t, OVERLOADED, LIMITED, ACCEPTED);
  const telemetry = new Telemetry(new Client(fake.url, "k"), { intervalS: 0.01, onNotice: () => {} });
  const start = Date.now();
  telemetry.track(verdict());
  await waitFor(() => telemetry.waiting === 0);
  assert.ok(Date.now() - start >= 999);
  assert.deepEqual([fake.requests.length, telemetry.dropped], [3, 0]);
  await telemetry.shutdown();
});

test("a full buffer drops the oldest verdicts or spools them", async (t) => {
  const closed = new Client("http://127.0.0.1:1", "k");
  const settings = { intervalS: 1000, batch: 10, buffer: 10, onNotice: () => {} };
  const telemetry = new Telemetry(closed, settings);
  for (let turn = 0; turn < 25; turn += 1) telemetry.track(verdict());
  assert.ok(telemetry.dropped >= 15);
  await telemetry.shutdown(0.1);
  const spool = join(temporary(t), "spool");
  const spooled = new Telemetry(closed, { ...settings, spool });
  for (let turn = 0; turn < 25; turn += 1) spooled.track(verdict());
  await spooled.shutdown(1);
  assert.equal(spooled.dropped, 0);
  const fake = await Fake.start(t, ACCEPTED);
  // The new sender adopts the spool of the old one.
  const next = new Telemetry(new Client(fake.url, "k"), { intervalS: 0.05, spool });
  await waitFor(() => fake.events.length === 25);
  await next.shutdown();
});

test("verdicts that are spooled first survive when the program is killed", async (t) => {
  for (const signal of ["SIGKILL", "SIGTERM"]) {
    const spool = join(temporary(t), "spool");
    const run = await runScript(`
      import { Client, Engine, Telemetry } from "renown";
      const telemetry = new Telemetry(new Client("http://127.0.0.1:1", "k"), { intervalS: 1000, spool: ${JSON.stringify(spool)}, spoolFirst: true });
      for (let turn = 0; turn < 3; turn += 1) telemetry.track(Engine.default().evaluateSync({ agentId: "a", output: "x" }));
      process.kill(process.pid, "${signal}");
      setInterval(() => {}, 1000);
    `);
    assert.equal(run.signal, signal, run.stderr);
    const fake = await Fake.start(t, ACCEPTED);
    const next = new Telemetry(new Client(fake.url, "k"), { intervalS: 0.05, spool });
    await waitFor(() => fake.events.length === 3);
    await next.shutdown();
  }
});

test("after shutdown nothing throws and verdicts are dropped", async (t) => {
  const fake = await Fake.start(t, ACCEPTED);
  const notices = [];
  const telemetry = new Telemetry(new Client(fake.url, "k"), { intervalS: 1000, onNotice: (message) => notices.push(message) });
  telemetry.track(verdict());
  await Promise.all([telemetry.shutdown(), telemetry.shutdown()]);
  await telemetry.shutdown();
  assert.equal(fake.events.length, 1);
  telemetry.track(verdict());
  assert.equal(telemetry.dropped, 1);
  for (const nonsense of ["not a verdict", undefined, null, {}, { agentId: 1n }]) telemetry.track(nonsense);
  assert.equal(notices.filter((message) => message.startsWith("a verdict was not tracked")).length, 5);
});

test("many flushes at the same time do not block the thread pool of Node", async (t) => {
  const telemetry = new Telemetry(new Client("http://127.0.0.1:1", "k"), { intervalS: 1000, onNotice: () => {} });
  telemetry.track(verdict());
  const flushes = Array.from({ length: 20 }, () => telemetry.flush(1));
  const start = performance.now();
  await engine.evaluate({ agentId: "a", output: "x".repeat(50_000) });
  assert.ok(performance.now() - start < 900, "the flushes blocked the thread pool of Node");
  assert.deepEqual(new Set(await Promise.all(flushes)), new Set([false]));
  await telemetry.shutdown(0.1);
});

test("waiting verdicts are sent when the program exits", async (t) => {
  const endings = ["", "process.exit(0);", "process.exitCode = 0;", "setTimeout(() => {}, 20);"];
  for (const ending of endings) {
    const fake = await Fake.start(t, ACCEPTED);
    const { code, stderr } = await runScript(`
      import { Client, Engine, Telemetry } from "renown";
      const telemetry = new Telemetry(new Client(${JSON.stringify(fake.url)}, "k"), { intervalS: 1000 });
      telemetry.track(Engine.default().evaluateSync({ agentId: "a", output: "x" }));
      ${ending}
    `);
    assert.equal(code, 0, stderr);
    assert.equal(fake.events.length, 1, ending);
  }
});

test("verdicts that process.exit() loses are reported, and several senders share one time limit", async (t) => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const folder = temporary(t);
  const script = (count, options, url) => `
    import { writeSync } from "node:fs";
    import { Client, Engine, Telemetry } from "renown";
    const result = Engine.default().evaluateSync({ agentId: "a", output: "x" });
    for (let turn = 0; turn < ${count}; turn += 1) {
      const telemetry = new Telemetry(new Client(${JSON.stringify(url)}, "k"), ${options});
      telemetry.track(result);
      telemetry.track(result);
    }
    process.on("exit", () => {});
    process.exit(3);
  `;
  const lost = "2 verdicts were not delivered when the program ended\n";
  const closed = "http://127.0.0.1:1";
  const table = [
    [1, "{}", closed, "", `renown: ${lost}`],
    [1, "{ onNotice: (text) => writeSync(1, text + '\\n') }", closed, lost, ""],
    [1, `{ spool: ${JSON.stringify(join(folder, "spool"))} }`, closed, "", ""],
    [3, "{}", `http://127.0.0.1:${silent.address().port}`, "", `renown: ${lost}`.repeat(3)],
  ];
  for (const [count, options, url, stdout, stderr] of table) {
    const start = Date.now();
    const run = await runScript(script(count, options, url));
    assert.deepEqual([run.code, run.stdout, run.stderr], [3, stdout, stderr], options);
    assert.ok(Date.now() - start < 9_500, "the senders were shut down one after the other");
  }
});

test("telemetry alone does not keep a program running", async () => {
  const start = Date.now();
  const { code, stderr } = await runScript(`
    import { Client, Telemetry } from "renown";
    new Telemetry(new Client("http://127.0.0.1:1", "k"), { intervalS: 1000 });
  `);
  assert.equal(code, 0, stderr);
  assert.ok(Date.now() - start < 30_000);
});

test("invalid settings are rejected", () => {
  const client = new Client("http://127.0.0.1:1", "k");
  for (const [settings, message] of [
    [{ batch: 0 }, /^batch: 0/],
    [{ batch: 101 }, /^batch: 101/],
    [{ buffer: 0 }, /^buffer: 0/],
    [{ intervalS: -1 }, /^intervalS: -1/],
    [{ intervalS: NaN }, /^intervalS: NaN/],
  ]) {
    assert.throws(() => new Telemetry(client, settings), { name: "RangeError", message });
  }
  for (const [settings, message] of [
    [{ interval: 5 }, /^interval: no such option/],
    [{ spool: 5 }, /^spool: expected a directory/],
    [{ spoolFirst: true }, /^spoolFirst: true, expected .* only with a spool/],
    [{ spoolFirst: "no", spool: "x" }, /^spoolFirst: no/],
    [{ onNotice: "stderr" }, /^onNotice: string/],
  ]) {
    assert.throws(() => new Telemetry(client, settings), { name: "TypeError", message });
  }
});
