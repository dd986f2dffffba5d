"""The built-in gates, one function each, and `gate` for your own.

What is not given has the default of the gate. Every built-in gate takes `name` (another name, so that a set can have two of a
kind), `mode` (`"enforce"`, or `"observe"`: a failure is reported as skipped; `pii` and `secrets` also `"redact"`) and `strictness`
(`"strict"`: any mention counts; `"balanced"`: what looks intended).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict, overload

Mode: TypeAlias = Literal["enforce", "observe"]
RedactingMode: TypeAlias = Literal["enforce", "observe", "redact"]
Strictness: TypeAlias = Literal["strict", "balanced"]


class Said(TypedDict, total=False):
    """What a gate of your own may answer instead of a bool."""

    passed: bool
    reason: str | None
    skipped: bool


@dataclass(frozen=True)
class Context:
    """What a gate of your own sees."""

    agent_id: str
    output: Any
    tool: str | None
    input: Any
    latency_ms: float | None
    # When the evaluation has to be done, on the clock of `time.monotonic()`.
    deadline: float


Answer: TypeAlias = bool | Said | Mapping[str, Any]
Check: TypeAlias = Callable[[Context], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class BuiltIn:
    """A built-in gate with its options."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Custom:
    """A gate of your own."""

    name: str
    check: Check

    def __call__(self, context: Context) -> Answer | Awaitable[Answer]:
        return self.check(context)


@overload
def gate(name: str, check: Check) -> Custom: ...
@overload
def gate(name: str) -> Callable[[Check], Custom]: ...
def gate(name: str, check: Check | None = None) -> Custom | Callable[[Check], Custom]:
    """A gate of your own: a name and a function of the context, sync or async.

    It gives a bool, or `{"passed", "reason", "skipped"}`. It runs in a thread beside the others of its kind (an async one on the
    event loop), and fails where it raises, answers something else or is not done within the budget. Also a decorator.
    """
    if check is None:
        return lambda check: Custom(name, check)
    return Custom(name, check)


def _built_in(
    kind: str, name: str | None, mode: RedactingMode | None, strictness: Strictness | None, options: dict[str, Any]
) -> BuiltIn:
    given = {"mode": mode, "strictness": strictness, **options}
    return BuiltIn(name or kind, kind, {key: value for key, value in given.items() if value is not None})


def filesystem(
    *,
    destructive: bool | None = None,
    traversal: bool | None = None,
    sensitive: bool | None = None,
    windows: bool | None = None,
    roots: Sequence[str | os.PathLike[str]] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Destructive commands, paths that climb, and paths of systems and credentials. Paths inside of `roots` pass."""
    options = {
        "destructive": destructive,
        "traversal": traversal,
        "sensitive": sensitive,
        "windows": windows,
        "roots": None if roots is None else [os.fspath(root) for root in roots],
        "cwd": None if cwd is None else os.fspath(cwd),
    }
    return _built_in("filesystem", name, mode, strictness, options)


def pii(
    *,
    email: bool | None = None,
    us_ssn: bool | None = None,
    us_phone: bool | None = None,
    card: bool | None = None,
    iban: bool | None = None,
    ipv4: bool | None = None,
    name: str | None = None,
    mode: RedactingMode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Numbers and addresses of persons. `ipv4` is off unless it is asked for."""
    options = {
        "email": email,
        "us_ssn": us_ssn,
        "us_phone": us_phone,
        "card": card,
        "iban": iban,
        "ipv4": ipv4,
    }
    return _built_in("pii", name, mode, strictness, options)


def content(
    *,
    empty: bool | None = None,
    refusal: bool | None = None,
    phrases: Sequence[str] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Empty outputs and refusals; `phrases` are more that count as refusals."""
    options = {"empty": empty, "refusal": refusal, "phrases": None if phrases is None else list(phrases)}
    return _built_in("content", name, mode, strictness, options)


def latency(
    *, max_ms: float, name: str | None = None, mode: Mode | None = None, strictness: Strictness | None = None
) -> BuiltIn:
    """An agent that took longer than `max_ms`, by the `latency_ms` of the evaluation."""
    return _built_in("latency", name, mode, strictness, {"max_ms": max_ms})


def schema(
    schema: Mapping[str, Any] | str | os.PathLike[str],
    *,
    target: Literal["output", "input"] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """An output, or input, of another shape than a JSON schema, which is given as such or as a file."""
    given = dict(schema) if isinstance(schema, Mapping) else os.fspath(schema)
    return _built_in("schema", name, mode, strictness, {"schema": given, "target": target})


class SecretRule(TypedDict, total=False):
    """A rule of your own for `secrets`."""

    name: str
    regex: str
    keywords: list[str]
    entropy: float


def secrets(
    *,
    disable: Sequence[str] | None = None,
    extra: Sequence[SecretRule] | None = None,
    name: str | None = None,
    mode: RedactingMode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Keys, tokens and passwords. `disable` names rules that are not wanted, `extra` adds some."""
    options = {
        "disable": None if disable is None else list(disable),
        "extra": None if extra is None else [dict(rule) for rule in extra],
    }
    return _built_in("secrets", name, mode, strictness, options)


def injection(
    *,
    threshold: int | None = None,
    name: str | None = None,
    mode: Mode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Text that gives orders to whoever reads it; fails from a score of `threshold` on."""
    return _built_in("injection", name, mode, strictness, {"threshold": threshold})


def rtb_tmax_guard(
    *, buffer_ms: float | None = None, name: str | None = None, mode: Mode | None = None
) -> BuiltIn:
    """Skips the other `rtb.*` gates when less than `buffer_ms` of `tmax_ms` is left."""
    return _built_in("rtb.tmax-guard", name, mode, None, {"buffer_ms": buffer_ms})


def rtb_impid_match(*, name: str | None = None, mode: Mode | None = None) -> BuiltIn:
    """Bids for an impression that the request does not have."""
    return _built_in("rtb.impid-match", name, mode, None, {})


def rtb_adomain_verify(
    *,
    require_adomain: bool | None = None,
    extra_placeholders: Sequence[str] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
) -> BuiltIn:
    """Bids without an advertiser's domain, or with one that is none."""
    placeholders = None if extra_placeholders is None else list(extra_placeholders)
    options = {"require_adomain": require_adomain, "extra_placeholders": placeholders}
    return _built_in("rtb.adomain-verify", name, mode, None, options)


def rtb_bid_sanity(
    *,
    max_floor_multiple: float | None = None,
    max_price: float | None = None,
    enforce_floor: bool | None = None,
    name: str | None = None,
    mode: Mode | None = None,
) -> BuiltIn:
    """Prices that are missing, negative, above a cap or far from the floor."""
    options = {"max_floor_multiple": max_floor_multiple, "max_price": max_price, "enforce_floor": enforce_floor}
    return _built_in("rtb.bid-sanity", name, mode, None, options)


def rtb_audience_safety(
    *,
    unsafe_categories: Sequence[str] | None = None,
    child_categories: Sequence[str] | None = None,
    extra_bundle_keywords: Sequence[str] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
) -> BuiltIn:
    """Unsafe categories on inventory that is directed at children."""
    lists = {
        "unsafe_categories": unsafe_categories,
        "child_categories": child_categories,
        "extra_bundle_keywords": extra_bundle_keywords,
    }
    options = {key: None if value is None else list(value) for key, value in lists.items()}
    return _built_in("rtb.audience-safety", name, mode, None, options)


def rtb_bcat_compliance(
    *, parents: bool | None = None, name: str | None = None, mode: Mode | None = None
) -> BuiltIn:
    """Categories that the request blocks; with `parents` a blocked category blocks those below it."""
    return _built_in("rtb.bcat-compliance", name, mode, None, {"parents": parents})


def rtb() -> list[BuiltIn]:
    """The six gates of OpenRTB with their defaults: `Engine([*gates.rtb()], budget_ms=15)`."""
    return [
        rtb_tmax_guard(),
        rtb_impid_match(),
        rtb_adomain_verify(),
        rtb_bid_sanity(),
        rtb_audience_safety(),
        rtb_bcat_compliance(),
    ]
