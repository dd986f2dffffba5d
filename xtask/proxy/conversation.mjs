// One conversation with `server-everything` that uses all of the protocol. What comes back must be the same with the
// proxy and without it.

import assert from "node:assert/strict";

import { until } from "./peers.mjs";

/** Without the time of day that some resources tell, and ids that the server makes by chance. */
const withoutChance = (value) =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, "time")
      .replace(/session [0-9a-f-]{36}/g, "session")
      .replace(/"taskId":"[0-9a-f]{32}"/g, '"taskId":"task"'),
  );

/** Blobs of resources are texts with the time of day. */
const withoutBlobs = (value) =>
  JSON.parse(JSON.stringify(value), (key, item) =>
    key === "blob" && typeof item === "string" ? Buffer.from(item, "base64").toString() : item,
  );

/** Talks to a server, and gives everything that it said. */
export async function conversation({ client, told }) {
  const said = {};
  said.server = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()];
  // The server adds tools after the handshake, and asks for roots a moment later.
  await until(() => told.logs.some((note) => /Roots updated/.test(note.params.data)));
  said.tools = await client.listTools();
  assert.ok(said.tools.tools.length > 15);
  const call = (name, args = {}, ...rest) => client.callTool({ name, arguments: args }, undefined, ...rest);
  said.echo = await call("echo", { message: "héllo \u{1F600} \u2028 wörld" });
  said.sum = await call("get-sum", { a: 2, b: 40 });
  said.image = await call("get-tiny-image");
  said.annotated = await call("get-annotated-message", { messageType: "error", includeImage: true });
  said.structured = await call("get-structured-content", { location: "Chicago" });
  said.links = await call("get-resource-links", { count: 3 });
  said.reference = await call("get-resource-reference", { resourceType: "Blob", resourceId: 2 });
  said.roots = await call("get-roots-list");
  said.bad = await call("get-sum", { a: "two", b: null });
  assert.equal(said.bad.isError, true);
  said.unknown = await outcome(call("no-such-tool"));
  said.progress = await progress(call);
  said.cancelled = await cancelled(call);
  said.sampled = await call("trigger-sampling-request", { prompt: "say something", maxTokens: 5 });
  said.elicited = await call("trigger-elicitation-request");
  said.asked = told.asked;
  said.task = await task(client);
  said.resources = await resources(client, told);
  said.prompts = await prompts(client);
  await client.setLoggingLevel("debug");
  const before = told.logs.length;
  said.logging = await call("toggle-simulated-logging");
  await until(() => told.logs.length > before);
  await call("toggle-simulated-logging");
  await client.ping();
  return withoutChance(withoutBlobs(said));
}

async function progress(call) {
  const steps = [];
  const result = await call(
    "trigger-long-running-operation",
    { duration: 0.2, steps: 4 },
    { onprogress: (step) => steps.push(step) },
  );
  // A client that reads the last step together with the result may leave the step out.
  assert.ok(steps.length >= 3);
  return { steps: steps.slice(0, 3), result };
}

async function cancelled(call) {
  const cancel = new AbortController();
  const long = call("trigger-long-running-operation", { duration: 60, steps: 60 }, { signal: cancel.signal });
  setTimeout(() => cancel.abort("changed my mind"), 50);
  return await outcome(long);
}

async function task(client) {
  const seen = [];
  const stream = client.experimental.tasks.callToolStream({
    name: "simulate-research-query",
    arguments: { topic: "bridges" },
  });
  for await (const message of stream) {
    if (message.type === "result") return { seen: [...new Set(seen)], result: message.result };
    assert.notEqual(message.type, "error", String(message.error));
    seen.push(message.type);
  }
  return assert.fail("the task gave no result");
}

async function resources(client, told) {
  const uri = "demo://resource/dynamic/text/7";
  const found = {
    list: await client.listResources(),
    templates: await client.listResourceTemplates(),
    text: await client.readResource({ uri }),
    blob: await client.readResource({ uri: "demo://resource/dynamic/blob/8" }),
    missing: await outcome(client.readResource({ uri: "demo://nothing" })),
    completed: await client.complete({
      ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
      argument: { name: "resourceId", value: "7" },
    }),
  };
  await client.subscribeResource({ uri });
  await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
  await until(() => told.updated.some((note) => note.params.uri === uri));
  await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
  await client.unsubscribeResource({ uri });
  return found;
}

async function prompts(client) {
  return {
    list: await client.listPrompts(),
    simple: await client.getPrompt({ name: "simple-prompt" }),
    args: await client.getPrompt({ name: "args-prompt", arguments: { city: "Paris", state: "Texas" } }),
    missing: await outcome(client.getPrompt({ name: "none" })),
  };
}

/** What became of a request, also if that is an error. */
async function outcome(request) {
  return await request.then(
    (result) => ({ result }),
    ({ code, message }) => ({ code, message }),
  );
}
