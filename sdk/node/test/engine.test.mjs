// Tests the engine: its results, its values, its settings and its errors.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import test from "node:test";
import { runInNewContext } from "node:vm";

import { Engine, SettingsError, gate, gates } from "renown";

import { temporary } from "./support.mjs";

const engine = Engine.default();

test("a result is a plain object in camel case", async () => {
  const before = Date.now();
  const result = await engine.evaluate({ agentId: "a1", output: "Ask bob@corp.io", tool: "search", latencyMs: 12.5 });
  const { evaluationId, timestamp, totalLatencyMs, gates, ...rest } = result;
  assert.match(evaluationId, /^[0-9A-Za-z_-]{16}$/);
  assert.ok(Date.parse(timestamp) >= before - 1 && Date.parse(timestamp) <= Date.now());
  assert.ok(totalLatencyMs >= 0 && gates.every(({ latencyMs }) => latencyMs <= totalLatencyMs));
  assert.deepEqual(rest, { passed: false, agentId: "a1", tool: "search", latencyMs: 12.5 });
  assert.deepEqual(
    gates.map(({ latencyMs, ...gate }) => gate),
    [
      { name: "filesystem", passed: true },
      { name: "pii", passed: false, reason: "email address detected in output" },
      { name: "content", passed: true },
      { name: "secrets", passed: true },
    ],
  );
  assert.equal(result.output, "Ask bob@corp.io");
  assert.ok(!JSON.stringify(result).includes("bob@"), "the JSON of a result does not contain the output");
});

test("plain values are judged as JSON.stringify writes them", async () => {
  const emails = [
    ["a string", "bob@corp.io", false],
    ["a value", { a: [{ b: "bob@corp.io" }] }, false],
    ["a key", { "bob@corp.io": 1 }, false],
    ["without a prototype", Object.assign(Object.create(null), { a: "bob@corp.io" }), false],
    ["of another realm", runInNewContext('({ a: [{ b: "bob@corp.io" }], on: new Date(0) })'), false],
    ["a getter", { get a() { return "bob@corp.io"; } }, false],
    ["a key named toJSON", { toJSON: "bob@corp.io" }, false],
    ["half a surrogate pair", "\ud800 fine", true],
    ["undefined", { a: undefined, b: [undefined, , 1], c: NaN }, true],
    ["a date", [new Date(0), new Date(NaN)], true],
    ["the same array twice", [[1], [1]].fill(["x"]), true],
  ];
  for (const [name, output, passed] of emails) {
    assert.equal((await engine.evaluate({ agentId: "a", output })).passed, passed, name);
    assert.equal(engine.evaluateSync({ agentId: "a", output }).passed, passed, name);
  }
  for (const output of [undefined, null, "", " ", [], {}]) {
    const { gates } = await engine.evaluate({ agentId: "a", output });
    assert.equal(gates.find(({ name }) => name === "content").reason, "output is empty");
  }
});

test("an invalid argument is a TypeError", async () => {
  const loop = {};
  loop.loop = loop;
  let deep = [];
  for (let turn = 0; turn < 100_000; turn += 1) deep = [deep];
  const invalid = [
    [{ output: 1n }, /^output: a bigint is not JSON/],
    [{ output: loop }, /^output: not JSON: .*circular/],
    [{ output: () => 1 }, /^output: a function is not JSON/],
    [{ output: "x", input: { n: [1n] } }, /^input\.n\[0\]: a bigint is not JSON/],
    [{ output: deep }, /^output: nested too deeply/],
    [{ agentId: "", output: "x" }, /^agentId: /],
    [{ agentId: 5, output: "x" }, /^agentId: number/],
    [{ tool: "t".repeat(201), output: "x" }, /^tool: /],
    [{ tool: 5, output: "x" }, /^tool: number/],
    [{ latencyMs: -1, output: "x" }, /^latencyMs: /],
    [{ latencyMs: "5", output: "x" }, /^latencyMs: string/],
    [{ tmaxMs: 1.5, output: "x" }, /^tmaxMs: 1.5/],
    [{ agentId: "a\ud800", output: "x" }, /^agentId: half a surrogate pair/],
    [{ tool: "\udc00t", output: "x" }, /^tool: half a surrogate pair/],
    [{ latency_ms: 5, output: "x" }, /^latency_ms: no such option/],
  ];
  for (const [evaluation, message] of invalid) {
    const expected = { name: "TypeError", message };
    await assert.rejects(engine.evaluate({ agentId: "a", ...evaluation }), expected);
    assert.throws(() => engine.evaluateSync({ agentId: "a", ...evaluation }), expected);
  }
});

// Each contains an address that `JSON.stringify` hides, or shows in a different form than the receiver of the output
// sees.
const HIDDEN = [
  [new Map([["to", "bob@corp.io"]]), /^output: a Map is not JSON/],
  [{ to: [new Set(["bob@corp.io"])] }, /^output\.to\[0\]: a Set is not JSON/],
  [{ why: new RangeError("bob@corp.io") }, /^output\.why: a RangeError is not JSON/],
  [{ to: Promise.resolve("bob@corp.io") }, /^output\.to: a Promise is not JSON/],
  [new (class Mail { #to = "bob@corp.io"; get to() { return this.#to; } })(), /^output: a Mail is not JSON/],
  [Buffer.from("bob@corp.io"), /^output: a Buffer is not JSON/],
  [{ raw: new TextEncoder().encode("bob@corp.io") }, /^output\.raw: an Uint8Array is not JSON/],
  [new String("bob@corp.io"), /^output: a String is not JSON/],
  [{ to: "bob@corp.io", toJSON: () => ({}) }, /^output\.toJSON: a function is not JSON/],
  [Readable.from(["bob@corp.io"]), /^output: a Readable is not JSON/],
  [new Response("bob@corp.io"), /^output: a Response is not JSON/],
  [new URL("mailto:bob@corp.io"), /^output: an? URL is not JSON/],
  [{ a: { to: () => "bob@corp.io" } }, /^output\.a\.to: a function is not JSON/],
  [{ a: Symbol("bob@corp.io") }, /^output\.a: a symbol is not JSON/],
  [{ [Symbol("to")]: "bob@corp.io" }, /^output\.Symbol\(to\): JSON shows no symbols/],
  [Object.defineProperty({ a: 1 }, "to", { value: "bob@corp.io" }), /^output\.to: JSON shows/],
  [Object.assign([1], { to: "bob@corp.io" }), /^output\.to: JSON shows only the items/],
  [Object.assign([1], { 4294967295: "bob@corp.io" }), /^output\.4294967295: JSON shows only the items/],
  [Object.assign([1, 2, 3], { "01": "bob@corp.io" }), /^output\.01: JSON shows only the items/],
  [Object.assign([], { [Symbol("to")]: "bob@corp.io" }), /^output\.Symbol\(to\): JSON shows only the items/],
  ["bob@corp.io".match(/o/), /^output\.groups: JSON shows only the items/],
  [new (class Row extends Array {})("bob@corp.io"), /^output: a Row is not JSON/],
  [Object.assign(new Date(0), { to: "bob@corp.io" }), /^output: a Date is not JSON/],
  [new (class Day extends Date { to = "bob@corp.io"; })(0), /^output: a Day is not JSON/],
  [new (class extends null { constructor() { return Object.create(new.target.prototype); } })(), /^output: a class is not JSON/],
  [Object.create({ to: "bob@corp.io" }), /^output: an Object is not JSON/],
];

test("a value with content that gates would not see is rejected", async () => {
  for (const [output, message] of HIDDEN) {
    const expected = { name: "TypeError", message };
    await assert.rejects(engine.evaluate({ agentId: "a", output }), expected);
    assert.throws(() => engine.evaluateSync({ agentId: "a", output }), expected);
  }
});

test("a large output does not block the event loop", async () => {
  const output = `${"all is well. ".repeat(200_000)} bob@corp.io`;
  const patient = new Engine([gates.pii(), gates.secrets(), gates.injection()], { budgetMs: 60_000 });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const result = await patient.evaluate({ agentId: "a", output });
  clearInterval(timer);
  assert.equal(result.gates[0].reason, "email address detected in output");
  assert.ok(turns > 0, "no timer ran during the evaluation");
  await assert.rejects(engine.evaluate({ agentId: "", output }), TypeError);
});

test("many evaluations can run at the same time", async () => {
  const small = Array.from({ length: 200 }, (_, index) => ({ agentId: `a${index}`, output: index % 2 ? "x" : "bob@corp.io" }));
  const large = Array.from({ length: 20 }, (_, index) => ({ agentId: `l${index}`, output: "y".repeat(50_000) }));
  const results = await Promise.all([...small, ...large].map((evaluation) => new Engine([gates.pii()], { budgetMs: 60_000 }).evaluate(evaluation)));
  assert.deepEqual(results.map(({ agentId }) => agentId), [...small, ...large].map(({ agentId }) => agentId));
  assert.equal(new Set(results.map(({ evaluationId }) => evaluationId)).size, 220);
  assert.equal(results.filter(({ passed }) => !passed).length, 100);
});

test("a redacting gate passes and returns the redacted output", async () => {
  const redacting = new Engine([gates.pii({ mode: "redact" })]);
  const result = await redacting.evaluate({ agentId: "a", output: { to: "bob@corp.io" } });
  assert.ok(result.passed);
  assert.deepEqual(result.output, { to: "[email address]" });
  assert.ok(!("redacted" in result));
  // A redacted output is plain JSON. An output without findings is returned unchanged.
  const mail = (to) => Object.assign(Object.create(null), { to, on: new Date(0), cc: undefined });
  const changed = await redacting.evaluate({ agentId: "a", output: mail("bob@corp.io") });
  assert.deepEqual(changed.output, { to: "[email address]", on: "1970-01-01T00:00:00.000Z" });
  const clean = mail("bob");
  assert.equal((await redacting.evaluate({ agentId: "a", output: clean })).output, clean);
});

test("every kind of gate can be built", async () => {
  const all = [
    gates.filesystem({ roots: ["/srv"], cwd: "/srv", windows: false, strictness: "balanced" }),
    gates.pii({ usSsn: false, usPhone: false, ipv4: true, mode: "observe" }),
    gates.content({ phrases: ["no can do"] }),
    gates.latency({ maxMs: 100 }),
    gates.schema({ type: "object", properties: { maxItems: { type: "number" } } }, { target: "output" }),
    gates.secrets({ disable: ["jwt"], extra: [{ name: "ours", regex: "ours_[a-z]{8}", keywords: ["ours_"], entropy: 1 }] }),
    gates.injection({ threshold: 6 }),
    gates.pii({ name: "again" }),
    ...gates.rtb(),
    gates.rtbBidSanity({ name: "sanity", maxFloorMultiple: 10, maxPrice: 25, enforceFloor: true }),
    gates.rtbAdomainVerify({ name: "adomain", requireAdomain: false, extraPlaceholders: ["x.com"] }),
    gates.rtbAudienceSafety({ name: "audience", unsafeCategories: ["IAB7"], childCategories: ["IAB13"], extraBundleKeywords: ["toy"] }),
    gates.rtbBcatCompliance({ name: "bcat", parents: true }),
  ];
  const engine = new Engine(all, { budgetMs: 60_000, failFast: false, strictness: "strict" });
  assert.deepEqual(engine.names, all.map(({ name }) => name));
  assert.deepEqual([engine.budgetMs, engine.failFast], [60_000, false]);
  const { gates: found } = await engine.evaluate({ agentId: "a", output: { a: 1 }, latencyMs: 143 });
  assert.equal(found[3].reason, "latency 143ms exceeds 100ms threshold");
});

test("a latency above one minute is judged and reported as one minute", async () => {
  const quick = new Engine([gates.latency({ maxMs: 2000 })]);
  const result = await quick.evaluate({ agentId: "a", output: "x", latencyMs: 130_000 });
  assert.match(result.gates[0].reason, /^latency \d+ms exceeds 2000ms threshold/);
  assert.deepEqual([result.passed, result.latencyMs], [false, 60_000]);
  for (const latencyMs of [-1, NaN, Infinity]) await assert.rejects(quick.evaluate({ agentId: "a", output: "x", latencyMs }), TypeError);
});

test("the guard gets tmaxMs and startedAt", async () => {
  const guarded = new Engine([gates.rtbTmaxGuard(), gates.rtbImpidMatch(), gates.pii()]);
  const spent = await guarded.evaluate({ agentId: "a", output: "x", tmaxMs: 100, startedAt: Date.now() - 95 });
  assert.deepEqual(spent.gates.map(({ reason }) => reason), ["tmax budget nearly spent", "renown:tmax", undefined]);
  const enough = await guarded.evaluate({ agentId: "a", output: "x", tmaxMs: 60_000, startedAt: Date.now() });
  assert.deepEqual(enough.gates.map(({ reason }) => reason), [undefined, "no imps in request", undefined]);
});

test("errors name the invalid setting", () => {
  const invalid = [
    [() => new Engine([]), /^gates: /],
    [() => new Engine(["pii"]), /^gates: expected built-in gates/],
    [() => new Engine([gates.pii(), gates.pii()]), /pii/],
    [() => new Engine([gates.pii({ emial: true })]), /gate\.pii\.emial/],
    [() => new Engine([gates.latency({ maxMs: -1 })]), /gate\.latency\.max_ms/],
    [() => new Engine([gates.secrets({ extra: [{ name: "ours", regex: /x/ }] })]), /^settings\.gate\.secrets\.extra\[0\]\.regex: a RegExp is not JSON/],
    [() => new Engine([gates.pii()], { budgetMs: 0 }), /budget_ms/],
    [() => new Engine([gate("pii", () => true), gates.pii()]), /pii/],
    [() => new Engine([gate("pii", () => true)]), /^gates: "pii" is the name of a built-in gate/],
    [() => new Engine([gate("rtb.tmax-guard", () => true)]), /built-in/],
    [() => new Engine([gate("\ud800", () => true)]), /^gates: .*expected a name/],
    [() => new Engine([gates.pii({ name: 5 })]), /^gates: number, expected a name/],
    [() => new Engine([gates.pii()], { budget_ms: 5, failfast: true }), /^budget_ms: no such option, expected one of budgetMs, failFast, strictness/],
    [() => new Engine([gates.pii()], { failfast: true }), /^failfast: no such option/],
    [() => new Engine([gates.pii()], null), /^options: null/],
    [() => Engine.fromFile("x.toml", "server"), /^place: "server"/],
    [() => Engine.fromFile("x.toml", "proxy", { gate: [] }), /^gate: no such option/],
    [() => Engine.fromFile("x.toml", "proxy", { gates: [gates.pii()] }), /^gates: expected a list of `gate/],
    [() => Engine.fromFile("x.toml", "proxy", { gates: [gate("pii", () => true)] }), /built-in/],
  ];
  for (const [build, message] of invalid) {
    assert.throws(build, (error) => error instanceof SettingsError && message.test(error.message));
  }
});

test("a custom gate cannot have the name of a built-in gate", () => {
  // The core lists all built-in gates in the error for an unknown kind.
  let kinds;
  try {
    new Engine([gates.pii({ name: "no-such-kind" })].map((gate) => Object.assign(gate, { table: { kind: "none" } })));
  } catch ({ message }) {
    kinds = message.split(/[ ,"]+/).filter((word) => word.startsWith("rtb.") || word in gates);
  }
  assert.equal(kinds.length, 13);
  for (const name of kinds) assert.throws(() => new Engine([gate(name, () => true)]), /is the name of a built-in gate/, name);
  for (const args of [[5, () => true], ["mine"], ["mine", true]]) assert.throws(() => gate(...args), TypeError);
});

test("a settings file has one set of gates per place", async (t) => {
  const folder = temporary(t);
  const file = join(folder, "renown.toml");
  writeFileSync(join(folder, "answer.json"), '{"type": "object"}');
  writeFileSync(file, '[gates]\nproxy = ["pii", "answer"]\nevaluate = ["mine", "content"]\n[gate.answer]\nkind = "schema"\nschema = "answer.json"\n');
  const proxy = Engine.fromFile(file, "proxy");
  assert.deepEqual(proxy.names, ["pii", "answer"]);
  assert.match((await proxy.evaluate({ agentId: "a", output: "x" })).gates[1].reason, /^schema validation failed \(1 issue\)/);
  const mine = [gate("mine", () => true), gate("other", () => true)];
  assert.deepEqual(Engine.fromFile(file, "evaluate", { gates: mine }).names, ["mine", "content", "other"]);
  assert.throws(() => Engine.fromFile(file), SettingsError);
  assert.throws(() => Engine.fromFile(join(folder, "missing.toml")), (error) => !(error instanceof SettingsError) && /missing\.toml/.test(error.message));
});
