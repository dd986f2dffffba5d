"""Renown tells whether an AI agent's work can be trusted.

    from renown import Client, Engine, Telemetry, gate, gated, gates

- `Engine` runs the gates in process, the same Rust code as the server.
- `gated` is a decorator that gates what a function returns.
- `Client` and `AsyncClient` have every route of a server.
- `Telemetry` brings verdicts to a server in the background.
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
