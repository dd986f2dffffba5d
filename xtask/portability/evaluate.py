"""Judges outputs in process and sends the verdicts to a server. Arguments: SERVER AGENT OUTPUT…. The key is RENOWN_KEY."""

import sys

from renown import Client, Engine, Telemetry

server, agent, *outputs = sys.argv[1:]
engine = Engine.default()
with Client(server) as client, Telemetry(client) as telemetry:
    for output in outputs:
        telemetry.track(engine.evaluate(agent_id=agent, output=output, tool="python"))
    assert telemetry.flush()
