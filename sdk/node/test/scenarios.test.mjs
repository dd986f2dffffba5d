// Runs the scenarios of the API through the transport of this client.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { setTimeout } from "node:timers/promises";

import { Client } from "renown";

import { check, make, makeText } from "./scenario.mjs";
import { ROOT, Server } from "./support.mjs";

const FOLDER = join(ROOT, "api-scenarios");
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

/**
 * Returns a replacement for `fetch` that sends requests unchanged. `fetch` would normalize an unusual path, and would
 * not send a GET with a body or a TRACE request.
 */
const unchanged = (base) => (url, { method, headers, body }) => {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path: url.slice(base.length), headers: Object.fromEntries(headers) };
    const sent = httpRequest(options, async (reply) => {
      const pieces = [];
      for await (const piece of reply) pieces.push(piece);
      const empty = [204, 304].includes(reply.statusCode);
      const pairs = Object.entries(reply.headers).map(([name, value]) => [name, String(value)]);
      resolve(new Response(empty ? null : Buffer.concat(pieces), { status: reply.statusCode, headers: pairs }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
};

function client(server, key, target, method, body) {
  const isNormalized = target.startsWith("/") && new URL(server.url + target).href === server.url + target;
  const fetchable = isNormalized && method !== "TRACE" && !(body !== undefined && (method === "GET" || method === "HEAD"));
  return new Client(server.url, key, { retries: 0, ...(fetchable ? {} : { fetch: unchanged(server.url) }) });
}

async function runStep(server, step, keys, variables) {
  const { request, expect: expected } = step;
  // Spaces at the ends of a header value have no meaning, and this transport does not send them.
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name, makeText(value, variables).trim()]),
  );
  let body;
  if ("body" in request) body = JSON.stringify(make(request.body, variables));
  else if ("raw_body" in request) body = makeText(request.raw_body, variables);
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  if (body !== undefined && !hasType) headers["Content-Type"] = "application/json";
  const name = request.key ?? "publishable";
  const key = name === "none" ? "" : keys[name];
  const target = makeText(request.path, variables);
  const { method } = request;
  const reply = await client(server, key, target, method, body).raw(target, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await reply.text();
  assert.equal(reply.status, expected.status, text.slice(0, 500));
  assert.equal(reply.headers.get("x-request-id")?.length, 36);
  for (const [header, value] of Object.entries(expected.headers ?? {})) {
    check(`header ${header}`, value, reply.headers.get(header) ?? undefined, variables);
  }
  let found = text;
  try {
    found = JSON.parse(text);
  } catch {
    // A body that is not JSON is compared as a string.
  }
  if (reply.status >= 400 && method !== "HEAD") {
    const shape = { error: { $matches: "." }, code: { $is: "string" }, status: reply.status };
    check("error", { $only: shape }, found, variables);
  }
  if ("body" in expected) check("body", expected.body, found, variables);
  if ("same_body_as" in expected) assert.equal(text, variables[expected.same_body_as]);
  if ("save_body" in expected) variables[expected.save_body] = text;
}

/** Runs a step; one that has to pass eventually, again and again for a minute. */
async function runUntil(server, step, keys, variables) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await runStep(server, step, keys, variables);
    } catch (error) {
      if (!step.eventually || performance.now() > deadline) throw error;
    }
    await setTimeout(10);
  }
}

for (const file of FILES) {
  test(file, async (t) => {
    const scenario = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
    const server = await Server.start(t, { settings: scenario.settings });
    const keys = { publishable: server.publishable, secret: server.secret };
    for (const [name, { kind, org }] of Object.entries(scenario.keys ?? {})) keys[name] = server.createKey(kind, org);
    const variables = Object.fromEntries(Object.entries(keys).map(([name, key]) => [`key:${name}`, key]));
    const failures = [];
    for (const step of scenario.steps) {
      try {
        for (let turn = 0; turn < (step.repeat ?? 1); turn += 1) {
          variables.time = turn;
          await runUntil(server, step, keys, variables);
          // Later steps can use a key that this step created, by the name `made`.
          if (typeof variables.key === "string") keys.made = variables.key;
        }
      } catch (error) {
        failures.push(`${step.name}: ${String(error.stack).slice(0, 1000)}`);
      }
    }
    assert.equal(failures.join("\n"), "");
  });
}

test("the scenarios are found", () => assert.ok(FILES.length > 10));
