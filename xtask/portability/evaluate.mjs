// Judges outputs in process, and sends the verdicts: SERVER AGENT OUTPUT…, the key is in RENOWN_KEY.
import assert from "node:assert/strict";
import { Client, Engine, Telemetry } from "renown";

const [server, agentId, ...outputs] = process.argv.slice(2);
const engine = Engine.default();
const telemetry = new Telemetry(new Client(server));
for (const output of outputs) telemetry.track(await engine.evaluate({ agentId, output, tool: "node" }));
assert(await telemetry.flush());
await telemetry.shutdown();
