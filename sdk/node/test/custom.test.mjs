// Do gates of JavaScript keep the rules of the engine, whatever they do?

import assert from "node:assert/strict";
import test from "node:test";

import { Engine, gate, gates } from "renown";

import { runScript } from "./support.mjs";

const said = ({ passed, reason, skipped = false }) => [passed, reason, skipped];

async function judge(checks, options = { budgetMs: 60_000 }) {
  const own = checks.map((check, place) => gate(`g${place}`, check));
  return new Engine(own, options).evaluate({ agentId: "a", output: "x", tool: "t", input: { q: 1 }, latencyMs: 5 });
}

const ERROR = [false, "renown:error", false];

const ANSWERS = [
  [() => true, [true, undefined, false]],
  [() => false, [false, "failed without a reason", false]],
  [() => ({ passed: true, reason: "not said" }), [true, undefined, false]],
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

test("answers, sync and async", async () => {
  for (const [check, expected] of ANSWERS) {
    const late = async (context) => {
      await new Promise(setImmediate);
      return check(context);
    };
    for (const one of [check, async (context) => check(context), late]) {
      const { gates, passed } = await judge([one]);
      assert.deepEqual(said(gates[0]), expected, check.toString());
      assert.equal(passed, expected[0]);
    }
  }
});

test("a promise of somebody else will do", async () => {
  const thenable = { then: (resolve) => resolve({ passed: false, reason: "theirs" }) };
  const broken = { get then() { throw new Error("no"); } };
  const { gates } = await judge([() => thenable, () => broken, () => Promise.reject(new Error("no"))]);
  assert.deepEqual(gates.map(({ reason }) => reason), ["theirs", "renown:error", "renown:error"]);
});

test("the context has it all", async () => {
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

test("a gate cannot change what the others judge, nor what is handed on", async () => {
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
  const texts = [];
  await judge([({ output }) => Boolean(texts.push(output))]);
  assert.deepEqual(texts, ["x"]);
});

test("results stand in the order of the set", async () => {
  const engine = new Engine([gate("one", () => true), gates.pii(), gate("two", async () => false)], { budgetMs: 60_000 });
  const { gates: found } = await engine.evaluate({ agentId: "a", output: "bob@corp.io" });
  assert.deepEqual(found.map(({ name, passed }) => [name, passed]), [["one", true], ["pii", false], ["two", false]]);
  assert.throws(() => engine.evaluateSync({ agentId: "a", output: "x" }), TypeError);
});

test("they run together, also after a large output", async () => {
  let [waiting, release] = [0, undefined];
  const all = new Promise((resolve) => (release = resolve));
  const meet = async () => {
    waiting += 1;
    if (waiting === 4) release();
    await all;
    return true;
  };
  const own = [0, 1, 2, 3].map((place) => gate(`g${place}`, meet));
  const engine = new Engine([...own, gates.pii()], { budgetMs: 60_000 });
  assert.ok((await engine.evaluate({ agentId: "a", output: "x".repeat(100_000) })).passed);
});

test("a gate that hangs fails closed, and is told so", async () => {
  let told;
  const hang = ({ signal }) => {
    told = signal;
    return new Promise(() => {});
  };
  const result = await judge([hang], { budgetMs: 40 });
  // How late the answer is depends on the machine; that there is one, and not before its time, does not.
  assert.deepEqual(said(result.gates[0]), [false, "renown:timeout", false]);
  assert.ok(result.totalLatencyMs >= 40 && result.gates[0].latencyMs > 0 && told.aborted);
});

test("a gate that holds the event loop is late, and so are those after it", async () => {
  const busy = () => {
    const until = performance.now() + 30;
    while (performance.now() < until);
    return true;
  };
  let ran = false;
  const { gates } = await judge([busy, () => (ran = true)], { budgetMs: 10 });
  assert.deepEqual(gates.map(({ reason }) => reason), ["renown:timeout", "renown:timeout"]);
  assert.equal(ran, false);
});

test("what comes too late does no harm", async () => {
  const slow = (settle) => () => new Promise((resolve, reject) => setTimeout(() => settle(resolve, reject), 30));
  const result = await judge([slow((resolve) => resolve(true)), slow((_, reject) => reject(new Error("late")))], { budgetMs: 5 });
  assert.deepEqual(result.gates.map(({ reason }) => reason), ["renown:timeout", "renown:timeout"]);
  await new Promise((resolve) => setTimeout(resolve, 60));
});

test("fail fast skips what stands after", async () => {
  const ran = [];
  const note = (name) => gate(name, () => Boolean(ran.push(name)));
  const engine = new Engine([note("before"), gates.pii(), note("after")], { failFast: true, budgetMs: 60_000 });
  const { gates: found } = await engine.evaluate({ agentId: "a", output: "bob@corp.io" });
  assert.deepEqual(found.map(({ reason }) => reason), [undefined, "email address detected in output", "renown:aborted"]);
  assert.deepEqual(ran, ["before"]);
});

test("a program with a hanging gate gets its answer and ends", async () => {
  const script = `
    import { Engine, gate } from "renown";
    const engine = new Engine([gate("mine", () => new Promise(() => {}))], { budgetMs: 20 });
    const { gates } = await engine.evaluate({ agentId: "a", output: "x" });
    console.log(gates[0].reason);
  `;
  const { code, stdout, stderr } = await runScript(script);
  assert.deepEqual([code, stdout], [0, "renown:timeout\n"], stderr);
});
