// Tests that custom gates follow the rules of the engine, whatever they do.

import assert from "node:assert/strict";
import test from "node:test";

import { Engine, gate, gates } from "renown";

import { runScript } from "./support.mjs";

const outcome = ({ passed, reason, skipped = false }) => [passed, reason, skipped];

async function judge(checks, options = { budgetMs: 60_000 }) {
  const customs = checks.map((check, index) => gate(`g${index}`, check));
  return new Engine(customs, options).evaluate({ agentId: "a", output: "x", tool: "t", input: { q: 1 }, latencyMs: 5 });
}

const ERROR = [false, "renown:error", false];

const ANSWERS = [
  [() => true, [true, undefined, false]],
  [() => false, [false, "failed without a reason", false]],
  [() => ({ passed: true, reason: "ignored" }), [true, undefined, false]],
  [() => ({ passed: false, reason: "too long" }), [false, "too long", false]],
  [() => ({ passed: false, reason: null }), [false, "failed without a reason", false]],
  [() => ({ skipped: true, reason: "no text" }), [true, "no text", true]],
  [() => ({ skipped: true }), [true, "skipped without a reason", true]],
  [() => ({ passed: true, skipped: true }), [true, "skipped without a reason", true]],
  [() => ({ passed: false, skipped: true, reason: "both" }), ERROR],
  [() => ({ passed: "no", skipped: true }), ERROR],
  [() => ({ passed: true, skipped: "yes" }), ERROR],
  [() => ({ passed: false, reason: "é".repeat(600) }), [false, `${"é".repeat(499)}…`, false]],
  [() => { throw new Error("no"); }, ERROR],
  [() => { throw undefined; }, ERROR],
  [() => undefined, ERROR],
  [() => null, ERROR],
  [() => "yes", ERROR],
  [() => 1, ERROR],
  [() => ({}), ERROR],
  [() => ({ passed: "yes" }), ERROR],
  [() => ({ passed: true, reason: 5 }), ERROR],
  [() => ({ get passed() { throw new Error("no"); } }), ERROR],
];

test("each answer has its outcome, sync and async", async () => {
  for (const [check, expected] of ANSWERS) {
    const delayed = async (context) => {
      await new Promise(setImmediate);
      return check(context);
    };
    for (const variant of [check, async (context) => check(context), delayed]) {
      const { gates, passed } = await judge([variant]);
      assert.deepEqual(outcome(gates[0]), expected, check.toString());
      assert.equal(passed, expected[0]);
    }
  }
});

test("a gate may return a thenable", async () => {
  const thenable = { then: (resolve) => resolve({ passed: false, reason: "from a thenable" }) };
  const broken = { get then() { throw new Error("no"); } };
  const { gates } = await judge([() => thenable, () => broken, () => Promise.reject(new Error("no"))]);
  assert.deepEqual(gates.map(({ reason }) => reason), ["from a thenable", "renown:error", "renown:error"]);
});

test("the context has every field of the evaluation", async () => {
  let seen;
  const output = { a: 1 };
  const engine = new Engine([gate("mine", (context) => Boolean((seen = context)))], { budgetMs: 60_000 });
  const before = Date.now();
  await engine.evaluate({ agentId: "a1", output, tool: "t", input: [1], latencyMs: 7 });
  assert.deepEqual(seen.output, output);
  assert.deepEqual([seen.agentId, seen.tool, seen.input, seen.latencyMs], ["a1", "t", [1], 7]);
  assert.ok(seen.deadline > before + 30_000 && seen.deadline < Date.now() + 60_001);
  assert.ok(seen.signal.aborted, "the evaluation is over");
});

test("a gate cannot change the output for other gates or for the caller", async () => {
  const spoil = ({ output, input }) => {
    output.to = "bob@corp.io";
    output.list.push(1);
    input.length = 0;
    return output.to === "bob@corp.io";
  };
  const seen = [];
  const look = async ({ output, input }) => {
    await new Promise(setImmediate);
    return Boolean(seen.push([output, input]));
  };
  const engine = new Engine([gate("first", spoil), gates.pii(), gate("second", look)], { budgetMs: 60_000 });
  const output = { list: [], on: new Date(0) };
  const result = await engine.evaluate({ agentId: "a", output, input: [1] });
  assert.ok(result.passed && result.output === output);
  assert.deepEqual(output, { list: [], on: new Date(0) });
  assert.deepEqual(seen, [[{ list: [], on: "1970-01-01T00:00:00.000Z" }, [1]]]);
  const strings = [];
  await judge([({ output }) => Boolean(strings.push(output))]);
  assert.deepEqual(strings, ["x"]);
});

test("results are in the order of the set", async () => {
  const engine = new Engine([gate("one", () => true), gates.pii(), gate("two", async () => false)], { budgetMs: 60_000 });
  const { gates: found } = await engine.evaluate({ agentId: "a", output: "bob@corp.io" });
  assert.deepEqual(found.map(({ name, passed }) => [name, passed]), [["one", true], ["pii", false], ["two", false]]);
  assert.throws(() => engine.evaluateSync({ agentId: "a", output: "x" }), TypeError);
});

test("custom gates run at the same time, even for a large output", async () => {
  let [waiting, release] = [0, undefined];
  const all = new Promise((resolve) => (release = resolve));
  const meet = async () => {
    waiting += 1;
    if (waiting === 4) release();
    await all;
    return true;
  };
  const customs = [0, 1, 2, 3].map((index) => gate(`g${index}`, meet));
  const engine = new Engine([...customs, gates.pii()], { budgetMs: 60_000 });
  assert.ok((await engine.evaluate({ agentId: "a", output: "x".repeat(100_000) })).passed);
});

test("a gate that hangs fails closed, and its signal is aborted", async () => {
  let received;
  const hang = ({ signal }) => {
    received = signal;
    return new Promise(() => {});
  };
  const result = await judge([hang], { budgetMs: 40 });
  // How late the verdict is depends on the machine, so only the lower limit is checked.
  assert.deepEqual(outcome(result.gates[0]), [false, "renown:timeout", false]);
  assert.ok(result.totalLatencyMs >= 40 && result.gates[0].latencyMs > 0 && received.aborted);
});

test("a gate that blocks the event loop is late, and so are the gates after it", async () => {
  const busy = () => {
    const end = performance.now() + 30;
    while (performance.now() < end);
    return true;
  };
  let ran = false;
  const { gates } = await judge([busy, () => (ran = true)], { budgetMs: 10 });
  assert.deepEqual(gates.map(({ reason }) => reason), ["renown:timeout", "renown:timeout"]);
  assert.equal(ran, false);
});

test("an answer after the timeout is ignored", async () => {
  const slow = (settle) => () => new Promise((resolve, reject) => setTimeout(() => settle(resolve, reject), 30));
  const result = await judge([slow((resolve) => resolve(true)), slow((_, reject) => reject(new Error("late")))], { budgetMs: 5 });
  assert.deepEqual(result.gates.map(({ reason }) => reason), ["renown:timeout", "renown:timeout"]);
  await new Promise((resolve) => setTimeout(resolve, 60));
});

test("failFast skips the gates after a failure", async () => {
  const ran = [];
  const recording = (name) => gate(name, () => Boolean(ran.push(name)));
  const engine = new Engine([recording("before"), gates.pii(), recording("after")], { failFast: true, budgetMs: 60_000 });
  const { gates: found } = await engine.evaluate({ agentId: "a", output: "bob@corp.io" });
  assert.deepEqual(found.map(({ reason }) => reason), [undefined, "email address detected in output", "renown:aborted"]);
  assert.deepEqual(ran, ["before"]);
});

test("a program with a hanging gate gets its result and exits", async () => {
  const script = `
    import { Engine, gate } from "renown";
    const engine = new Engine([gate("mine", () => new Promise(() => {}))], { budgetMs: 20 });
    const { gates } = await engine.evaluate({ agentId: "a", output: "x" });
    console.log(gates[0].reason);
  `;
  const { code, stdout, stderr } = await runScript(script);
  assert.deepEqual([code, stdout], [0, "renown:timeout\n"], stderr);
});
