// Tests the installed package: its modules, its types, its licenses and the scripts of its README.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { PACKAGE, ROOT, Server, runScript } from "./support.mjs";

// The project where `cargo xtask test node` installed the packed package. Default: this package.
const PROJECT = process.env.RENOWN_PROJECT ?? PACKAGE;

const SCRIPT = `
  const result = renown.Engine.default().evaluateSync({ agentId: "a", output: "bob@corp.io" });
  console.log(result.passed, Object.keys(renown).sort().join());
`;
const NAMES = "Client,Engine,GateFailed,RenownError,SettingsError,Telemetry,gate,gated,gates";

test("the package loads as an ES module and with require", async () => {
  const esm = await runScript(`import * as renown from "renown"; ${SCRIPT}`, { cwd: PROJECT });
  assert.deepEqual([esm.stdout, esm.stderr], [`false ${NAMES}\n`, ""]);
  const cjs = await runScript(`const renown = require("renown"); ${SCRIPT}`, { type: "commonjs", cwd: PROJECT });
  assert.deepEqual([cjs.stdout, cjs.stderr], [`false ${NAMES}\n`, ""]);
});

test("both module formats work together in one program", async () => {
  const script = `
    import { createRequire } from "node:module";
    import { Engine, GateFailed, RenownError, SettingsError, gate, gated, gates } from "renown";
    const other = createRequire(process.cwd() + "/x.cjs")("renown");
    const outputs = [Engine, other.Engine].map((Engine) => Engine.default().evaluateSync({ agentId: "a", output: "x" }).passed);
    const mixed = new other.Engine([gates.pii(), gate("mine", () => true)], { budgetMs: 60_000 });
    const failed = await gated(mixed, () => "bob@corp.io", { agentId: "a" })().catch((error) => error);
    const unreachable = await new other.Client("http://127.0.0.1:1", "k", { retries: 0 }).health().catch((error) => error);
    let settings;
    try { new other.Engine([]); } catch (error) { settings = error; }
    class Mine extends RenownError {}
    console.log(
      outputs.join(),
      failed instanceof other.GateFailed && failed instanceof GateFailed && failed instanceof Error,
      unreachable instanceof RenownError && !(unreachable instanceof Mine) && !(unreachable instanceof GateFailed),
      settings instanceof SettingsError,
      mixed instanceof Engine && !({} instanceof Engine) && !(null instanceof Engine),
    );
  `;
  const { stdout, stderr } = await runScript(script, { cwd: PROJECT });
  assert.equal(stdout, "true,true true true true true\n", stderr);
});

for (const file of ["docs/sdks.md", "sdk/node/README.md"]) {
  test(`the scripts of ${file} print what they show`, async (t) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const scripts = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, script]) => script);
    assert.ok(scripts.length > 0, `${file} has no script`);
    const server = await Server.start(t);
    for (const script of scripts) {
      const run = await runScript(script.replaceAll("http://127.0.0.1:7070", server.url), {
        cwd: PROJECT,
        env: { RENOWN_KEY: server.publishable },
      });
      assert.equal(run.code, 0, run.stderr);
      // The comment after a line shows what the line prints.
      const shown = [...script.matchAll(/console\.log\(.*\);\s+\/\/ (.*)$/gm)].map(([, line]) => line);
      assert.deepEqual(run.stdout.split("\n").slice(0, -1), shown);
    }
  });
}

test("the package contains its licenses", { skip: PROJECT === PACKAGE }, () => {
  for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    assert.deepEqual(readFileSync(join(PROJECT, "node_modules/renown", license)), readFileSync(join(ROOT, license)));
  }
});

const WITH_NODE = ["--types", "node", "--typeRoots", join(PACKAGE, "node_modules/@types")];

/**
 * Compiles a file next to the installed package and returns the errors. `.mts` is an ES module, `.cts` a CommonJS
 * module.
 */
function compile(t, name, text, types = WITH_NODE) {
  const file = join(PROJECT, name);
  writeFileSync(file, text);
  t.after(() => rmSync(file, { force: true }));
  const compiler = join(PACKAGE, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"];
  const run = spawnSync(process.execPath, [compiler, ...options, "--ignoreConfig", ...types, file], { cwd: PROJECT, encoding: "utf8" });
  return run.stdout + run.stderr;
}

test("the example compiles as both kinds of module", (t) => {
  const example = readFileSync(join(PACKAGE, "examples/quick_start.ts"), "utf8");
  assert.equal(compile(t, "typed.mts", example), "");
  assert.equal(compile(t, "typed.cts", example), "");
});

const GATED = `
  import { Client, Engine, gate, gated, type Context } from "renown";
  const engine = new Engine([gate("mine", ({ signal }: Context) => !signal.aborted)]);
  const options = { agentId: "a" };
  const plain = gated(engine, (topic: string, n = 1) => topic.repeat(n), options);
  const withInput = gated(engine, async (topic: string, n?: number) => ({ topic, n }), { ...options, input: (topic) => topic });
  const withThis = gated(engine, function (this: { x: number }, ...rest: number[]) { return this.x + rest.length; }, { ...options, onFail: () => 5 });
  export const made: [Promise<string>, Promise<string>, Promise<{ topic: string }>, Promise<number>] = [
    plain("x"), plain("x", 2), withInput("x"), withThis.call({ x: 1 }, 2, 3),
  ];
  export const status: Promise<string> = new Client().health({ timeoutMs: 5 }).then((health) => health.status);
`;

test("gated functions keep their types, even without the types of Node or of browsers", (t) => {
  const platforms = [WITH_NODE, ["--lib", "es2022,dom", "--types", ""], ["--lib", "es2022", "--types", ""]];
  for (const types of platforms) {
    for (const name of ["gated.mts", "gated.cts"]) assert.equal(compile(t, name, GATED, types), "", types.join(" "));
  }
});

test("the compiler finds mistakes", (t) => {
  const mistakes = [
    'new renown.Client().evaluate({ agent_id: "a" });',
    'new renown.Client().getReputation("a").then((found) => found.scor);',
    'renown.gates.pii({ mode: "redacted" });',
    'renown.Engine.default().evaluate({ agentId: 1, output: "x" });',
    'renown.gate("x", () => "yes");',
    'renown.gated(renown.Engine.default(), (n: number) => n, { agentId: "a" })("x");',
    'renown.gated(renown.Engine.default(), () => 1, { agentId: "a", onFail: "raise" });',
  ];
  const found = compile(t, "mistakes.mts", ['import * as renown from "renown";', ...mistakes].join("\n"));
  mistakes.forEach((mistake, index) => assert.match(found, new RegExp(`mistakes\\.mts\\(${index + 2},`), `${mistake}\n${found}`));
});
