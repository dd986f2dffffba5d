// A real streamable HTTP server.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { conversation } from "./conversation.mjs";
import { blocked, everythingOverHttp, log, overHttp, proxyOverHttp, scratch, until } from "./peers.mjs";

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "by-hand", version: "1" } },
};

const post = (url, message, more = {}) =>
  fetch(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(message) });

/** The events of a whole stream. */
const events = (text) =>
  text.split("\n\n").filter((event) => event.includes("data:")).map((event) => ({
    id: event.match(/^id: (.*)$/m)?.[1],
    data: event.match(/^data: (.+)$/m) ? JSON.parse(event.match(/^data: (.+)$/m)[1]) : undefined,
  }));

/** A session without a client: the headers that belong to it. */
async function session(url) {
  const reply = await post(url, initialize);
  assert.equal(reply.status, 200);
  await reply.text();
  const own = { "mcp-session-id": reply.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-06-18" };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, own);
  return own;
}

const echo = (id, message) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "echo", arguments: { message } },
});

test("a conversation is the same with the proxy and without it", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const direct = await overHttp(t, upstream);
  const proxied = await overHttp(t, url);
  const [expected, found] = await Promise.all([conversation(direct), conversation(proxied)]);
  assert.deepEqual(found, expected);
  await proxied.transport.terminateSession();
  assert.equal(proxied.transport.sessionId, undefined);
  const lines = log(data);
  assert.ok(lines.every((line) => line.agent_id === "everyday-client" && line.server.startsWith(`${upstream} #`)));
  assert.equal(lines.filter((line) => line.tool === "echo").length, 1);
  assert.ok(lines.every((line) => ["forwarded", "lost"].includes(line.action)), JSON.stringify(lines));
});

test("a blocked call is an error with status 200, in the event of the answer", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const { client } = await overHttp(t, url);
  const call = (message) => client.callTool({ name: "echo", arguments: { message } });
  const error = await blocked(call("jane.doe@corporation.org MARKER-TEXT"));
  assert.match(error.message, /the tool did run: pii$/);
  assert.equal((await call("fine")).content[0].text, "Echo: fine");

  const own = await session(url);
  const reply = await post(url, echo("seven", "jane.doe@corporation.org"), own);
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get("content-type"), /^text\/event-stream/);
  const last = events(await reply.text()).at(-1);
  assert.ok(last.id, "the event keeps its id");
  assert.deepEqual([last.data.id, last.data.error.code], ["seven", -32000]);
  assert.ok(!JSON.stringify(log(data)).includes("MARKER-TEXT"));
});

test("--pre answers before the server is asked", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data, "--pre");
  const { client } = await overHttp(t, url);
  const error = await blocked(client.callTool({ name: "echo", arguments: { message: "a@corporation.org" } }));
  assert.match(error.message, /before the tool ran: pre\.pii$/);
  assert.equal(error.data.gates.every((gate) => gate.name.startsWith("pre.")), true);
});

test("a stream that broke off is resumed, and what was missed is judged", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const own = await session(url);
  // One whole answer gives the id of an event after which the server replays all that followed.
  const first = events(await (await post(url, echo(2, "first"), own)).text());
  const bad = await post(url, echo(3, "jane.doe@corporation.org"), own);
  await bad.body.cancel();
  await until(() => log(data).length === 2);
  const resumed = await fetch(url, {
    headers: { ...own, accept: "text/event-stream", "last-event-id": first[0].id },
  });
  assert.equal(resumed.status, 200);
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of resumed.body) {
    text += decoder.decode(bytes, { stream: true });
    assert.ok(!text.includes("jane.doe"), "a replayed answer is no way round");
    if (events(text).some((event) => event.data?.id === 3)) break;
  }
  const replayed = events(text).find((event) => event.data?.id === 3);
  assert.equal(replayed.data.error.code, -32000);
});

test("a deleted session is gone, and the server answers for an unknown session", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const own = await session(url);
  const stream = await fetch(url, { headers: { ...own, accept: "text/event-stream" } });
  assert.equal(stream.status, 200);
  const ended = await fetch(url, { method: "DELETE", headers: own });
  assert.equal(ended.status, 200);
  await stream.text();
  for (const address of [upstream, url]) {
    const reply = await post(address, echo(9, "x"), own);
    assert.equal(reply.status, 400);
    assert.match(await reply.text(), /No valid session ID/);
  }
});

test("only this machine may ask, and headers pass", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const foreign = await post(url, initialize, { origin: "https://evil.example" });
  assert.equal(foreign.status, 403);
  const local = await post(url, initialize, { origin: "http://localhost:3000" });
  assert.equal(local.status, 200);
  assert.equal(local.headers.get("access-control-allow-origin"), "*", "the server's own headers");
});

test("the end is in order while a stream is open", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url, stop } = await proxyOverHttp(t, upstream, data);
  const own = await session(url);
  const long = { name: "trigger-long-running-operation", arguments: { duration: 60, steps: 2 } };
  const reply = await post(url, { jsonrpc: "2.0", id: 5, method: "tools/call", params: long }, own);
  const [code] = await stop();
  assert.equal(code, 0);
  await reply.text().catch(() => {});
  assert.deepEqual(log(data).map(({ action, tool }) => [action, tool]), [["lost", long.name]]);
});

test("what only the client could read does not reach it", async (t) => {
  const answer = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: "jane.doe@corporation.org" }] },
  });
  const replies = {
    "/gzip": [{ "content-type": "application/json", "content-encoding": "gzip" }, gzipSync(answer)],
    "/events": [
      { "content-type": "text/event-stream", "content-encoding": "gzip" },
      gzipSync(`data: ${answer}\n\n`),
    ],
    "/mark": [{ "content-type": "application/json" }, `\ufeff${answer}`],
    "/both": [{ "content-type": "application/json, text/event-stream" }, answer],
    "/lines": [{ "content-type": "text/event-stream" }, `data:${answer.slice(0, 1)}\rdata:${answer.slice(1)}\r\r`],
    "/typeless": [{}, answer],
    "/utf16": [{ "content-type": "application/json; charset=utf-16" }, Buffer.from(answer, "utf16le")],
    "/utf16-unnamed": [{ "content-type": "application/json" }, Buffer.from(`\ufeff${answer}`, "utf16le")],
    "/gzip-text": [{ "content-type": "text/plain", "content-encoding": "gzip" }, gzipSync(answer)],
    "/folded": [{ "content-type": "application/json" }, answer.replace('"result"', '"Result"')],
    "/two": [{ "content-type": "application/json" }, `{"id":9,"result":{}}${answer}`],
    "/event-separator": [
      { "content-type": "text/event-stream" },
      `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\u2028\u2028data: ${answer.replaceAll('"', '\\"')}"}}\n\ndata: ${answer}\n\n`,
    ],
    "/event-folded": [{ "content-type": "text/event-stream" }, `Data: ${answer}\n\ndata: ${answer}\n\n`],
    "/event-parts": [
      { "content-type": "text/event-stream" },
      `data: {"id":1,"result":{"structuredContent":\ndata: ${answer}\ndata: }}\n\n`,
    ],
    "/error-text": [{ "content-type": "text/plain" }, "write to jane.doe@corporation.org", 500],
    "/location": [{ location: "http://127.0.0.1:1/", "content-type": "application/json" }, answer, 307],
  };
  const server = createServer((request, response) => {
    request.resume();
    const [headers, body, status = 200] = replies[request.url];
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { url } = await proxyOverHttp(t, `http://127.0.0.1:${server.address().port}/`, scratch());
  for (const path of Object.keys(replies)) {
    const reply = await post(new URL(path, url), echo(1, "x"));
    const text = await reply.text();
    assert.ok(!text.includes("jane.doe"), `${path} gave ${reply.status} ${text}`);
    assert.ok(reply.status >= 500 || text.includes("-32000"), `${path} gave ${reply.status} ${text}`);
  }
});

test("a redirect leads to the proxy or nowhere", async (t) => {
  const seen = [];
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "fine" }] } });
  const server = createServer((request, response) => {
    request.resume();
    seen.push(request.url);
    const own = `http://${request.headers.host}`;
    const led = { "/slash": "/mcp/", "/origin": `${own}/mcp/`, "/away": "http://127.0.0.1:1/mcp", "/other": "//evil.example/mcp" };
    const location = led[request.url];
    if (location) return response.writeHead(307, { location }).end();
    response
      .writeHead(200, { "content-type": "application/json", "alt-svc": 'h2="evil.example:443"', refresh: "0; url=http://evil.example/" })
      .end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.address().port}`;
  // A slash at the end of the address is part of it.
  const { url } = await proxyOverHttp(t, `${origin}/mcp/`, scratch());
  const direct = await post(url, echo(1, "x"));
  assert.deepEqual([direct.status, seen.at(-1), await direct.text()], [200, "/mcp/", answer]);
  assert.deepEqual([direct.headers.get("alt-svc"), direct.headers.get("refresh")], [null, null]);
  for (const path of ["/slash", "/origin"]) {
    const reply = await fetch(new URL(path, url), {
      method: "POST",
      headers,
      body: JSON.stringify(echo(1, "x")),
      redirect: "manual",
    });
    assert.deepEqual([reply.status, reply.headers.get("location")], [307, "/mcp/"], path);
    const followed = await post(new URL(path, url), echo(1, "x"));
    assert.equal(followed.status, 200, path);
    assert.equal(new URL(followed.url).port, new URL(url).port, "the client stays with the proxy");
  }
  for (const path of ["/away", "/other"]) {
    assert.equal((await post(new URL(path, url), echo(1, "x"))).status, 502, path);
  }
});

test("a request of the server that fails is answered to the server, and the client never sees it", async (t) => {
  const [upstream, data] = [await everythingOverHttp(t), scratch()];
  const { url } = await proxyOverHttp(t, upstream, data);
  const { client, received } = await overHttp(t, url);
  // The server adds this tool a moment after the handshake.
  await until(() => received.logs.some((note) => /Roots updated/.test(note.params.data)));
  const call = { name: "trigger-sampling-request", arguments: { prompt: "ask jane.doe@corporation.org", maxTokens: 5 } };
  const result = await client.callTool(call).catch((error) => ({ error: String(error) }));
  assert.match(JSON.stringify(result), /blocked by renown: pii/);
  assert.deepEqual(received.asked, []);
  assert.deepEqual(
    log(data).filter((line) => line.action === "blocked").map((line) => line.tool),
    ["sampling/createMessage"],
  );
});
