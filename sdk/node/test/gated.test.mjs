// Tests that a gated function returns only outputs that passed.

import assert from "node:assert/strict";
import test from "node:test";

import { Engine, GateFailed, gate, gated, gates } from "renown";

const engine = new Engine([gates.pii(), gate("mine", ({ input }) => input?.topic !== "wasps")], { budgetMs: 60_000 });
const tracked = [];
const telemetry = { track: (result) => tracked.push(result) };

function report(topic, address = "") {
  return `${topic}: ${address}`;
}

test("an output that passes is returned unchanged, from sync and async functions", async () => {
  const value = { a: 1 };
  assert.equal(await gated(engine, report, { agentId: "a" })("bees"), "bees: ");
  assert.equal(await gated(engine, async () => value, { agentId: "a" })(), value);
  const counter = { count: 1, next: gated(engine, function (by) { return this.count + by; }, { agentId: "a" }) };
  assert.equal(await counter.next(2), 3);
  assert.equal(gated(engine, report, { agentId: "a" }).name, "report");
});

test("an output that fails throws GateFailed with its result, and is tracked", async () => {
  tracked.length = 0;
  const checked = gated(engine, report, { agentId: "a", telemetry });
  await assert.rejects(checked("bees", "bob@corp.io"), (error) => {
    assert.ok(error instanceof GateFailed && !error.message.includes("bob@"));
    assert.equal(error.message, "the output did not pass: pii: email address detected in output");
    assert.deepEqual([error.result.agentId, error.result.tool], ["a", "report"]);
    assert.ok(error.result.latencyMs >= 0);
    return true;
  });
  assert.deepEqual(tracked.map(({ passed }) => passed), [false]);
});

test("onFail returns the output or a replacement", async () => {
  const options = { agentId: "a", tool: "t", input: (topic) => ({ topic }) };
  assert.equal(await gated(engine, report, { ...options, onFail: "return" })("wasps"), "wasps: ");
  const failedGate = ({ gates }) => gates.find(({ passed }) => !passed).name;
  assert.equal(await gated(engine, report, { ...options, onFail: failedGate })("wasps"), "mine");
  assert.equal(await gated(engine, report, { ...options, onFail: async (result) => failedGate(result) })("wasps"), "mine");
  await assert.rejects(gated(engine, report, { ...options, onFail: () => { throw new RangeError("mine"); } })("wasps"), RangeError);
});

test("a function that takes longer than one minute fails the latency gate", async (t) => {
  const quick = new Engine([gates.latency({ maxMs: 2000 })]);
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const slow = gated(quick, () => { now += 130_000; return "x"; }, { agentId: "a" });
  await assert.rejects(slow(), (error) => error instanceof GateFailed && error.result.latencyMs === 60_000);
});

test("a redacted output is returned redacted", async () => {
  const redacting = new Engine([gates.pii({ mode: "redact" })]);
  assert.equal(await gated(redacting, report, { agentId: "a" })("bees", "bob@corp.io"), "bees: [email address]");
});

test("an error of the function passes through", async () => {
  tracked.length = 0;
  const throws = () => { throw new RangeError("own error"); };
  await assert.rejects(gated(engine, throws, { agentId: "a", telemetry })(), { name: "RangeError", message: "own error" });
  await assert.rejects(gated(engine, async () => throws(), { agentId: "a", telemetry })(), RangeError);
  assert.equal(tracked.length, 0);
});

test("an output that gates cannot see completely is not returned", async () => {
  const hidden = gated(engine, () => new Map([["to", "bob@corp.io"]]), { agentId: "a", onFail: "return" });
  await assert.rejects(hidden(), { name: "TypeError", message: /^output: a Map is not JSON/ });
});

test("invalid arguments are rejected before the function runs", () => {
  const invalid = [
    [[engine, report, { agentId: "" }], /^agentId: /],
    [[engine, report, { agentId: "a\u0000" }], /^agentId: /],
    [[engine, report, { agentId: "\ud800" }], /^agentId: half/],
    [[engine, report, {}], /^agentId: undefined/],
    [[engine, report, { agentId: "a", tool: "t".repeat(201) }], /^tool: /],
    [[engine, { ["f".repeat(201)]: () => 1 }["f".repeat(201)], { agentId: "a" }], /^tool: /],
    [[engine, report, { agentId: "a", onFail: "raise" }], /^onFail: "raise", expected "throw", "return" or a function/],
    [[engine, report, { agentId: "a", onfail: "return" }], /^onfail: no such option/],
    [[engine, report, { agentId: "a", input: {} }], /^input: object/],
    [[engine, report, { agentId: "a", telemetry: "http://x" }], /^telemetry: /],
    [[engine, report], /^options: undefined/],
    [[engine, "report", { agentId: "a" }], /^fn: string/],
    [[undefined, report, { agentId: "a" }], /^engine: /],
  ];
  for (const [args, message] of invalid) assert.throws(() => gated(...args), { name: "TypeError", message });
});
