"""A program that gates the output of its agents."""

from __future__ import annotations

import asyncio

from renown import AsyncClient, Client, Context, Engine, GateFailed, Telemetry, gate, gated, gates


@gate("short")
def short(context: Context) -> dict[str, object]:
    """A custom gate: fails on outputs of 10 000 characters or more."""
    length = len(str(context.output))
    return {"passed": length < 10_000, "reason": f"{length} characters"}


async def main() -> None:
    """Gates a tool and sends the verdicts to a server."""
    engine = Engine([gates.pii(), gates.latency(max_ms=2000), short], budget_ms=50)
    async with AsyncClient("http://127.0.0.1:7070") as client, Telemetry(client, spool="spool") as telemetry:

        @gated(engine, agent_id="research-bot", telemetry=telemetry)
        async def search(query: str) -> str:
            return f"nothing about {query}"

        try:
            print(await search("bob@corp.io"))
        except GateFailed as failed:
            print(failed.result.failed[0].reason)
        async for event in client.iter_events(agent_id="research-bot"):
            print(event["created_at"], event["passed"])


def scores() -> list[int]:
    """Returns the scores of all agents."""
    with Client() as client:
        return [agent["score"] for agent in client.iter_agents(sort="score")]


if __name__ == "__main__":
    asyncio.run(main())
