"""The native module, written in Rust."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

from ._api import GateReport, IngestEvent

class SettingsError(ValueError):
    """Raised for invalid gates or gate options."""

@final
class GateResult:
    """The result of one gate."""

    @property
    def name(self) -> str:
        """Name of the gate in the configuration."""
    @property
    def passed(self) -> bool:
        """Whether the gate passed. A skipped gate counts as passed."""
    @property
    def latency_ms(self) -> float:
        """Time that the gate took, in milliseconds."""
    @property
    def reason(self) -> str | None:
        """Why the gate failed or was skipped. `None` if it passed without a remark."""
    @property
    def skipped(self) -> bool:
        """Whether the gate was skipped."""
    def to_dict(self) -> GateReport:
        """Returns the result in the format of the API. Absent values are left out."""
    @staticmethod
    def _restored(text: str) -> GateResult: ...

@final
class Result:
    """The result of an evaluation. It is true if the output passed."""

    @property
    def evaluation_id(self) -> str:
        """Id of this evaluation."""
    @property
    def agent_id(self) -> str:
        """Agent that returned the output."""
    @property
    def tool(self) -> str | None:
        """Tool that returned the output."""
    @property
    def latency_ms(self) -> float | None:
        """Latency of the agent in milliseconds, at most 60 000. `None` if it was not given."""
    @property
    def passed(self) -> bool:
        """Whether every gate passed or was skipped."""
    @property
    def gates(self) -> list[GateResult]:
        """One result per gate, in the configured order."""
    @property
    def failed(self) -> list[GateResult]:
        """Results of the gates that failed."""
    @property
    def total_latency_ms(self) -> float:
        """Time that the whole evaluation took, in milliseconds."""
    @property
    def timestamp(self) -> str:
        """Time of the evaluation, RFC 3339 in UTC."""
    @property
    def output(self) -> Any:
        """The output, redacted if a gate redacted it. Otherwise it is the same object that was evaluated."""
    def to_dict(self) -> IngestEvent:
        """Returns the verdict as an event for `POST /v1/ingest`. It contains no part of the output or the input."""
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
        run_customs: Callable[[list[str], float], list[tuple[str, str | None, float]]] | None,
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
    def flush(self, timeout_s: float, is_cancelled: Callable[[], bool] | None) -> bool: ...
    def begin_shutdown(self) -> None: ...
    def shutdown(self, timeout_s: float) -> None: ...
    @property
    def dropped(self) -> int: ...
    @property
    def waiting(self) -> int: ...
