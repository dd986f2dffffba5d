// One conversation with `server-everything` that uses all of the protocol. What comes back must be the same with the
// proxy and without it.

import assert from "node:assert/strict";

import { until } from "./peers.mjs";

/** Removes the time of day in some resources, and the random ids of the server. */
const withoutChance = (value) =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, "time")
      .replace(/session [0-9a-f-]{36}/g, "session")
      .replace(/"taskId":"[0-9a-f]{32}"/g, '"taskId":"task"'),
  );

/** Decodes the blobs of resources: they are texts with the time of day. */
const withoutBlobs = (value) =>
  JSON.parse(JSON.stringify(value), (key, item) =>
    key === "blob" && typeof item === "string" ? Buffer.from(item, "base64").toString() : item,
  );

/** Talks to a server, and returns everything that it replied. */
export async function conversation({ client, received }) {
  const replies = {};
  replies.server = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()];
  // The server adds tools after the handshake, and asks for roots a moment later.
  await until(() => received.logs.some((note) => /Roots updated/.test(note.params.data)));
  replies.tools = await client.listTools();
  assert.ok(replies.tools.tools.length > 15);
  const call = (name, args = {}, ...rest) => client.callTool({ name, arguments: args }, undefined, ...rest);
  replies.echo = await call("echo", { message: "héllo \u{1F600} \u2028 wörld" });
  replies.sum = await call("get-sum", { a: 2, b: 40 });
  replies.image = await call("get-tiny-image");
  replies.annotated = await call("get-annotated-message", { messageType: "error", includeImage: true });
  replies.structured = await call("get-structured-content", { location: "Chicago" });
  replies.links = await call("get-resource-links", { count: 3 });
  replies.reference = await call("get-resource-reference", { resourceType: "Blob", resourceId: 2 });
  replies.roots = await call("get-roots-list");
  replies.bad = await call("get-sum", { a: "two", b: null });
  assert.equal(replies.bad.isError, true);
  replies.unknown = await outcome(call("no-such-tool"));
  replies.progress = await progress(call);
  replies.cancelled = await cancelled(call);
  replies.sampled = await call("trigger-sampling-request", { prompt: "say something", maxTokens: 5 });
  replies.elicited = await call("trigger-elicitation-request");
  replies.asked = received.asked;
  replies.task = await task(client);
  replies.resources = await resources(client, received);
  replies.prompts = await prompts(client);
  await client.setLoggingLevel("debug");
  const before = received.logs.length;
  replies.logging = await call("toggle-simulated-logging");
  await until(() => received.logs.length > before);
  await call("toggle-simulated-logging");
  await client.ping();
  return withoutChance(withoutBlobs(replies));
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

async function resources(client, received) {
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
  await until(() => received.updated.some((note) => note.params.uri === uri));
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

/** Returns the result of a request, or its error. */
async function outcome(request) {
  return await request.then(
    (result) => ({ result }),
    ({ code, message }) => ({ code, message }),
  );
}
