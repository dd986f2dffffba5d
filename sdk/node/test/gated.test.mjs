// Does a gated function give what passed, and nothing else?

import assert from "node:assert/strict";
import test from "node:test";

import { Engine, GateFailed, gate, gated, gates } from "renown";

const engine = new Engine([gates.pii(), gate("mine", ({ input }) => input?.topic !== "wasps")], { budgetMs: 60_000 });
const tracked = [];
const telemetry = { track: (result) => tracked.push(result) };

function report(topic, address = "") {
  return `${topic}: ${address}`;
}

test("sync and async functions, and what passed is returned as it is", async () => {
  const value = { a: 1 };
  assert.equal(await gated(engine, report, { agentId: "a" })("bees"), "bees: ");
  assert.equal(await gated(engine, async () => value, { agentId: "a" })(), value);
  const counter = { count: 1, next: gated(engine, function (by) { return this.count + by; }, { agentId: "a" }) };
  assert.equal(await counter.next(2), 3);
  assert.equal(gated(engine, report, { agentId: "a" }).name, "report");
});

test("what did not pass is thrown with its result, and tracked", async () => {
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

test("what happens instead can be said", async () => {
  const options = { agentId: "a", tool: "t", input: (topic) => ({ topic }) };
  assert.equal(await gated(engine, report, { ...options, onFail: "return" })("wasps"), "wasps: ");
  const why = ({ gates }) => gates.find(({ passed }) => !passed).name;
  assert.equal(await gated(engine, report, { ...options, onFail: why })("wasps"), "mine");
  assert.equal(await gated(engine, report, { ...options, onFail: async (result) => why(result) })("wasps"), "mine");
  await assert.rejects(gated(engine, report, { ...options, onFail: () => { throw new RangeError("mine"); } })("wasps"), RangeError);
});

test("a function may take longer than a minute, and is judged by it", async (t) => {
  const quick = new Engine([gates.latency({ maxMs: 2000 })]);
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const slow = gated(quick, () => { now += 130_000; return "x"; }, { agentId: "a" });
  await assert.rejects(slow(), (error) => error instanceof GateFailed && error.result.latencyMs === 60_000);
});

test("redacted outputs are returned redacted", async () => {
  const redacting = new Engine([gates.pii({ mode: "redact" })]);
  assert.equal(await gated(redacting, report, { agentId: "a" })("bees", "bob@corp.io"), "bees: [email address]");
});

test("what the function itself throws is not looked at", async () => {
  tracked.length = 0;
  const breaks = () => { throw new RangeError("its own"); };
  await assert.rejects(gated(engine, breaks, { agentId: "a", telemetry })(), { name: "RangeError", message: "its own" });
  await assert.rejects(gated(engine, async () => breaks(), { agentId: "a", telemetry })(), RangeError);
  assert.equal(tracked.length, 0);
});

test("what gates cannot see is not handed on", async () => {
  const unseen = gated(engine, () => new Map([["to", "bob@corp.io"]]), { agentId: "a", onFail: "return" });
  await assert.rejects(unseen(), { name: "TypeError", message: /^output: a Map is no JSON/ });
});

test("what is wrong is said when a function is gated, not when it has run", () => {
  const wrong = [
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
  for (const [args, message] of wrong) assert.throws(() => gated(...args), { name: "TypeError", message });
});
