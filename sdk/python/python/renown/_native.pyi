"""What the package does in Rust."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

from ._api import GateReport, IngestEvent

class SettingsError(ValueError):
    """Gates or their options that are not allowed."""

@final
class GateResult:
    """The result of one gate."""

    @property
    def name(self) -> str:
        """The name by which the gate is configured."""
    @property
    def passed(self) -> bool:
        """Whether it passed; a skipped gate passes."""
    @property
    def latency_ms(self) -> float:
        """How long it took."""
    @property
    def reason(self) -> str | None:
        """Why it failed or was skipped, in the gate's own words."""
    @property
    def skipped(self) -> bool:
        """Whether it had nothing to say."""
    def to_dict(self) -> GateReport:
        """As the API writes it: what is absent is left out."""
    @staticmethod
    def _restored(text: str) -> GateResult: ...

@final
class Result:
    """What an evaluation found. It is true when the output passed."""

    @property
    def evaluation_id(self) -> str:
        """The id of this evaluation."""
    @property
    def agent_id(self) -> str:
        """Whose output it is."""
    @property
    def tool(self) -> str | None:
        """The tool that made it."""
    @property
    def latency_ms(self) -> float | None:
        """How long the agent took, if that was said."""
    @property
    def passed(self) -> bool:
        """Whether every gate passed or was skipped."""
    @property
    def gates(self) -> list[GateResult]:
        """One result a gate, in the configured order."""
    @property
    def failed(self) -> list[GateResult]:
        """The gates that failed."""
    @property
    def total_latency_ms(self) -> float:
        """How long the whole took."""
    @property
    def timestamp(self) -> str:
        """When it happened, RFC 3339 in UTC."""
    @property
    def output(self) -> Any:
        """The output, with what gates redacted; the very object that was given if they redacted nothing."""
    def to_dict(self) -> IngestEvent:
        """The verdict as an event of `POST /v1/ingest`. It has no part of the output or the input."""
    def __bool__(self) -> bool: ...
    @staticmethod
    def _restored(text: str) -> Result: ...

@final
class Engine:
    def __init__(self, settings: str, names: list[str] | None, customs: list[str]) -> None: ...
    @staticmethod
    def from_file(path: str | PathLike[str], place: str, customs: list[str]) -> Engine: ...
    @staticmethod
    def check(agent_id: str, tool: str | None) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def budget_ms(self) -> int: ...
    @property
    def fail_fast(self) -> bool: ...
    def evaluate(
        self,
        agent_id: str,
        output: Any,
        tool: str | None,
        input: Any,
        latency_ms: float | None,
        tmax_ms: int | None,
        started_at: int | None,
        run: Callable[[list[str], float], list[tuple[str, str | None, float]]] | None,
    ) -> Result: ...

@final
class Telemetry:
    def __init__(
        self,
        server: str,
        key: str,
        interval_s: float,
        batch: int,
        buffer: int,
        spool: str | PathLike[str] | None,
        spool_first: bool,
    ) -> None: ...
    def track(self, judged: Result) -> None: ...
    def flush(self, timeout_s: float, stopped: Callable[[], bool] | None) -> bool: ...
    def begin_shutdown(self) -> None: ...
    def shutdown(self, timeout_s: float) -> None: ...
    @property
    def dropped(self) -> int: ...
    @property
    def waiting(self) -> int: ...
