// Real servers on standard input and output.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { conversation } from "./conversation.mjs";
import { blocked, configuration, everything, filesystem, log, overStdio, scratch, through } from "./peers.mjs";

test("a conversation is the same with the proxy and without it", async (t) => {
  const data = scratch();
  const direct = await overStdio(t, everything);
  const proxied = await overStdio(t, through(everything, data));
  const [expected, found] = await Promise.all([conversation(direct), conversation(proxied)]);
  assert.deepEqual(found, expected);
  await direct.close();
  await proxied.close();

  const lines = log(data);
  const of = (tool) => lines.filter((line) => line.tool === tool);
  assert.deepEqual(of("echo").map(({ action, passed }) => [action, passed]), [["forwarded", true]]);
  assert.ok(lines.every((line) => line.agent_id === "everyday-client" && /^node index\.js … #[0-9a-f]{8}$/.test(line.server)));
  assert.deepEqual(of("get-sum").map((line) => line.tool_error), [false, true]);
  assert.deepEqual(
    of("echo")[0].gates.map((gate) => gate.name),
    ["filesystem", "pii", "content", "secrets", "injection"],
  );
  // The cancelled call does not count as lost.
  assert.ok(lines.every((line) => line.action === "forwarded"), JSON.stringify(lines));
  assert.equal(of("simulate-research-query").filter((line) => line.gates.length > 0).length, 1);
  const ids = lines.map((line) => line.evaluation_id);
  assert.equal(new Set(ids).size, ids.length);
});

test("what a tool must not say is blocked, and the session goes on", async (t) => {
  const data = scratch();
  const { client, close } = await overStdio(t, through(everything, data, "--agent", "reviewer-1"));
  const echo = (message) => client.callTool({ name: "echo", arguments: { message } });
  const error = await blocked(echo("write to jane.doe@corporation.org, MARKER-TEXT"));
  assert.match(error.message, /blocked by renown, the tool did run: pii$/);
  const [pii] = error.data.gates.filter((gate) => !gate.passed);
  assert.deepEqual([pii.name, pii.reason], ["pii", "email address detected in output"]);
  assert.deepEqual((await echo("fine")).content, [{ type: "text", text: "Echo: fine" }]);
  // Many at once, each with its own verdict.
  const many = Array.from({ length: 40 }, (_, i) => echo(i % 3 ? `number ${i}` : `mail${i}@corporation.org`));
  const outcomes = await Promise.allSettled(many);
  outcomes.forEach((outcome, i) => assert.equal(outcome.status, i % 3 ? "fulfilled" : "rejected", String(i)));
  const stderr = await close();

  const lines = log(data);
  assert.equal(lines.length, 42);
  const line = lines.find((line) => line.evaluation_id === error.data.evaluation_id);
  assert.deepEqual(
    [line.action, line.passed, line.tool, line.agent_id],
    ["blocked", false, "echo", "reviewer-1"],
  );
  assert.ok(line.bytes > 0 && line.latency_ms > 0 && line.total_latency_ms >= 0);
  assert.ok(!(JSON.stringify(lines) + stderr).includes("MARKER-TEXT"));
});

test("--observe lets everything through and records the truth", async (t) => {
  const data = scratch();
  const { client, close } = await overStdio(t, through(everything, data, "--observe", "--pre", "--verbose"));
  const message = "rm -rf / jane.doe@corporation.org";
  const result = await client.callTool({ name: "echo", arguments: { message } });
  assert.equal(result.content[0].text, `Echo: ${message}`);
  const stderr = await close();
  const [line] = log(data);
  assert.deepEqual([line.action, line.passed], ["observed", false]);
  const failed = line.gates.filter((gate) => !gate.passed).map((gate) => gate.name);
  assert.ok(failed.includes("pre.pii") && failed.includes("pii"), JSON.stringify(failed));
  assert.ok(stderr.includes(line.evaluation_id), "--verbose repeats the log");
});

test("--pre stops a call before the tool runs", async (t) => {
  const [data, folder] = [scratch(), scratch()];
  const { client } = await overStdio(t, through(filesystem(folder), data, "--pre"));
  const write = (path, content) => client.callTool({ name: "write_file", arguments: { path, content } });
  const error = await blocked(write(join(folder, "a.sh"), "#!/bin/sh\nrm -rf /\n"));
  assert.match(error.message, /blocked by renown before the tool ran: pre\.filesystem$/);
  assert.match(error.data.gates.find((gate) => !gate.passed).reason, /in arguments/);
  await write(join(folder, "b.txt"), "all is well");
  const list = await client.callTool({ name: "list_directory", arguments: { path: folder } });
  assert.equal(list.content[0].text, "[FILE] b.txt", "the blocked one never ran, empty arguments are no matter");
  assert.deepEqual(log(data).map((line) => line.action), ["blocked", "forwarded", "forwarded"]);
});

test("a file system server is not blocked for its own files, but for what is in them", async (t) => {
  const [data, folder] = [scratch(), scratch()];
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/main.rs"), "fn main() {}\n");
  const secret = ["ghp", "_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"].join("");
  writeFileSync(join(folder, "secret.env"), `GITHUB_TOKEN=${secret}\n`);
  const direct = (await overStdio(t, filesystem(folder), { roots: [folder] })).client;
  const { client, close } = await overStdio(t, through(filesystem(folder), data), { roots: [folder] });
  assert.deepEqual(await client.listTools(), await direct.listTools());
  for (const [name, args] of [
    ["read_text_file", { path: join(folder, "src/main.rs") }],
    ["list_allowed_directories", {}],
    ["directory_tree", { path: folder }],
    ["search_files", { path: folder, pattern: "**/*.rs" }],
    ["read_text_file", { path: join(folder, "missing") }],
    ["read_text_file", { path: "/etc/passwd" }],
  ]) {
    const call = { name, arguments: args };
    assert.deepEqual(await client.callTool(call), await direct.callTool(call), name);
  }
  const error = await blocked(
    client.callTool({ name: "read_text_file", arguments: { path: join(folder, "secret.env") } }),
  );
  assert.match(error.message, /the tool did run: secrets$/);
  assert.ok(!(JSON.stringify(error.data) + (await close()) + JSON.stringify(log(data))).includes(secret));
});

test("redact takes out what is found and lets the rest through", async (t) => {
  const data = scratch();
  const config = configuration(data, '[gates]\nproxy = ["pii"]\n[gate.pii]\nmode = "redact"\n');
  const { client } = await overStdio(t, through(everything, data, "--config", config));
  const result = await client.callTool({ name: "echo", arguments: { message: "ask jane.doe@corporation.org" } });
  assert.deepEqual(result, { content: [{ type: "text", text: "Echo: ask [email address]" }] });
  const [line] = log(data);
  assert.deepEqual([line.action, line.passed], ["redacted", true]);
});

test("further methods are gated where the configuration says so", async (t) => {
  const data = scratch();
  const config = configuration(
    data,
    '[gates]\nproxy = ["answer"]\n[gate.answer]\nkind = "content"\nphrases = ["this is a plaintext"]\n[proxy]\nmethods = ["resources/read"]\n',
  );
  const { client } = await overStdio(t, through(everything, data, "--config", config));
  const error = await blocked(client.readResource({ uri: "demo://resource/dynamic/text/1" }));
  assert.match(error.message, /answer$/);
  await client.readResource({ uri: "demo://resource/dynamic/blob/1" });
});
