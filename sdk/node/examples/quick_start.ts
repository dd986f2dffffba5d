// A program that gates the output of its agents.

import { Client, Engine, GateFailed, Telemetry, gate, gated, gates, type Context, type Result } from "renown";

const short = gate("short", ({ output }: Context) => {
  const length = String(output).length;
  return { passed: length < 10_000, reason: `${length} characters` };
});

async function search(query: string): Promise<string> {
  return `nothing about ${query}`;
}

/** Gates a tool and sends the verdicts to a server. */
export async function main(): Promise<void> {
  const engine = new Engine([gates.pii(), gates.latency({ maxMs: 2000 }), short], { budgetMs: 50 });
  const client = new Client("http://127.0.0.1:7070");
  const telemetry = new Telemetry(client, { spool: "spool" });
  const checked = gated(engine, search, { agentId: "research-bot", telemetry });
  try {
    const found: string = await checked("bob@corp.io");
    console.log(found);
  } catch (error) {
    if (error instanceof GateFailed) console.log(error.result.gates[0]?.reason);
  }
  for await (const event of client.iterEvents({ agent_id: "research-bot" })) console.log(event.created_at, event.passed);
  await telemetry.shutdown();
}

/** Returns the reasons for which an evaluation failed. */
export function reasons(result: Result): string[] {
  return result.gates.flatMap((found) => (found.passed ? [] : [`${found.name}: ${found.reason ?? ""}`]));
}
