"""Renown tells you whether you can trust an AI agent's work.

    from renown import Client, Engine, Telemetry, gate, gated, gates

- `Engine` runs the gates in your process. It is the same Rust code as in the server.
- `gated` is a decorator that gates the return value of a function.
- `Client` and `AsyncClient` have a method for every route of the server.
- `Telemetry` sends verdicts to a server in the background.
"""

from . import gates
from ._api import AsyncClient, Client
from ._engine import Engine
from ._gated import GateFailed, gated
from ._http import RenownError, StreamEvent
from ._native import GateResult, Result, SettingsError
from ._telemetry import Telemetry
from .gates import Context, gate

__all__ = [
    "AsyncClient",
    "Client",
    "Context",
    "Engine",
    "GateFailed",
    "GateResult",
    "RenownError",
    "Result",
    "SettingsError",
    "StreamEvent",
    "Telemetry",
    "gate",
    "gated",
    "gates",
]
