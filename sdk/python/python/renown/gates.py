"""One function per built-in gate, and `gate` for custom gates.

An option that is not given has the default of the gate. These options are common:

- `name`: another name, so that a set can contain two gates of the same kind.
- `mode`: `"enforce"` (the default) or `"observe"`, which reports a failure as skipped. `pii` and `secrets` also have
  `"redact"`, which replaces what the gate finds, and passes.
- `strictness` (not for `rtb_…`): `"strict"` counts every mention; `"balanced"` counts only what looks intended.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict, overload

Mode: TypeAlias = Literal["enforce", "observe"]
RedactingMode: TypeAlias = Literal["enforce", "observe", "redact"]
Strictness: TypeAlias = Literal["strict", "balanced"]


class CustomResult(TypedDict, total=False):
    """What a custom gate may return instead of a bool."""

    passed: bool
    reason: str | None
    skipped: bool


@dataclass(frozen=True)
class Context:
    """What a custom gate sees of an evaluation.

    `output` and `input` are the objects of the caller, not copies. `deadline` is the end of the budget, on the clock of
    `time.monotonic()`.
    """

    agent_id: str
    output: Any
    tool: str | None
    input: Any
    latency_ms: float | None
    deadline: float


Answer: TypeAlias = bool | CustomResult | Mapping[str, Any]
Check: TypeAlias = Callable[[Context], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class BuiltIn:
    """A built-in gate with its options."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Custom:
    """A custom gate: a name and a function."""

    name: str
    check: Check

    def __call__(self, context: Context) -> Answer | Awaitable[Answer]:
        return self.check(context)


@overload
def gate(name: str, check: Check) -> Custom: ...
@overload
def gate(name: str) -> Callable[[Check], Custom]: ...
def gate(name: str, check: Check | None = None) -> Custom | Callable[[Check], Custom]:
    """Creates a custom gate from a name and a sync or async function. Also works as a decorator.

    The function gets a `Context` and returns a bool, or a dictionary with `passed`, `reason` and `skipped`. Custom
    gates run at the same time: sync gates on threads, async gates on the event loop. A gate fails if it raises,
    returns an invalid value or exceeds the budget.
    """
    if check is None:
        return lambda check: Custom(name, check)
    return Custom(name, check)


def _built_in(
    kind: str, name: str | None, mode: RedactingMode | None, strictness: Strictness | None, options: dict[str, Any]
) -> BuiltIn:
    settings = {"mode": mode, "strictness": strictness, **options}
    return BuiltIn(name or kind, kind, {key: value for key, value in settings.items() if value is not None})


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
    """Fails on destructive commands, path traversal, and paths of the system and of credentials.

    Paths inside `roots` pass. Relative paths start at `cwd`, by default the first root.
    """
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
    """Fails on personal data, such as e-mail addresses, phone numbers and card numbers. `ipv4` is off by default."""
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
    """Fails on empty outputs and refusals. `phrases` adds phrases that count as refusals."""
    options = {"empty": empty, "refusal": refusal, "phrases": None if phrases is None else list(phrases)}
    return _built_in("content", name, mode, strictness, options)


def latency(
    *, max_ms: float, name: str | None = None, mode: Mode | None = None, strictness: Strictness | None = None
) -> BuiltIn:
    """Fails if the `latency_ms` of the evaluation is above `max_ms`."""
    return _built_in("latency", name, mode, strictness, {"max_ms": max_ms})


def schema(
    schema: Mapping[str, Any] | str | os.PathLike[str],
    *,
    target: Literal["output", "input"] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
    strictness: Strictness | None = None,
) -> BuiltIn:
    """Fails if the output, or the input, does not match a JSON schema.

    :param schema: The schema itself, or the path of a file.
    :param target: What to check. Default: `"output"`.
    """
    value = dict(schema) if isinstance(schema, Mapping) else os.fspath(schema)
    return _built_in("schema", name, mode, strictness, {"schema": value, "target": target})


class SecretRule(TypedDict, total=False):
    """A custom rule for `secrets`."""

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
    """Fails on keys, tokens and passwords. `disable` lists the names of rules to turn off; `extra` adds rules."""
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
    """Fails on text that gives orders to the model that reads it, if its score is at least `threshold` (1 to 20)."""
    return _built_in("injection", name, mode, strictness, {"threshold": threshold})


def rtb_tmax_guard(
    *, buffer_ms: float | None = None, name: str | None = None, mode: Mode | None = None
) -> BuiltIn:
    """Skips the other `rtb.*` gates when less than `buffer_ms` of `tmax_ms` is left."""
    return _built_in("rtb.tmax-guard", name, mode, None, {"buffer_ms": buffer_ms})


def rtb_impid_match(*, name: str | None = None, mode: Mode | None = None) -> BuiltIn:
    """Fails on bids for an impression that was not requested."""
    return _built_in("rtb.impid-match", name, mode, None, {})


def rtb_adomain_verify(
    *,
    require_adomain: bool | None = None,
    extra_placeholders: Sequence[str] | None = None,
    name: str | None = None,
    mode: Mode | None = None,
) -> BuiltIn:
    """Fails on bids whose advertiser has an invalid or placeholder domain, or, with `require_adomain`, no domain."""
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
    """Fails on prices that are missing, negative, above `max_price`, or above `max_floor_multiple` times the floor.

    With `enforce_floor`, a price below the floor fails, too.
    """
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
    """Fails on ads of unsafe categories in inventory for children."""
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
    """Fails on categories that the request blocks. With `parents`, a blocked category also blocks its subcategories."""
    return _built_in("rtb.bcat-compliance", name, mode, None, {"parents": parents})


def rtb() -> list[BuiltIn]:
    """Returns the six OpenRTB gates with their defaults: `Engine([*gates.rtb()], budget_ms=15)`."""
    return [
        rtb_tmax_guard(),
        rtb_impid_match(),
        rtb_adomain_verify(),
        rtb_bid_sanity(),
        rtb_audience_safety(),
        rtb_bcat_compliance(),
    ]
