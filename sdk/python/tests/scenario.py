"""Builds requests and checks replies of the files in `api-scenarios`. The README there describes the format."""

from __future__ import annotations

import json
import re
from typing import Any

TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"
UUID = r"^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"

Variables = dict[str, Any]


def fill(text: str, variables: Variables) -> str:
    """Replaces each `${name}` in a string with the variable."""

    def value(found: re.Match[str]) -> str:
        variable = variables[found[1]]
        return variable if isinstance(variable, str) else json.dumps(variable)

    return re.sub(r"\$\{([^}]*)\}", value, text)


def make(value: Any, variables: Variables) -> Any:
    """Returns the value with `$text`, `$list` and variables replaced."""
    if isinstance(value, str):
        return fill(value, variables)
    if isinstance(value, list):
        return [make(item, variables) for item in value]
    if isinstance(value, dict):
        if "$text" in value:
            return make_text(value["$text"], variables)
        if "$list" in value:
            item, count = value["$list"]
            return [make(item, {**variables, "index": index}) for index in range(count)]
        return {name: make(item, variables) for name, item in value.items()}
    return value


def make_text(value: Any, variables: Variables) -> str:
    """Builds a string from a string, or from an array of strings and `[string, times]`."""
    if isinstance(value, str):
        return fill(value, variables)
    parts = (
        fill(part[0], variables) * part[1] if isinstance(part, list) else fill(part, variables) for part in value
    )
    return "".join(parts)


MISSING = object()


def check(path: str, expected: Any, found: Any, variables: Variables) -> None:
    """Checks that a value is as expected, and stores the values of `$capture`."""
    if isinstance(expected, dict) and any(name.startswith("$") for name in expected):
        for name, argument in expected.items():
            special(path, name, argument, found, variables)
        return
    assert found is not MISSING, f"{path}: nothing, expected {expected!r}"
    if isinstance(expected, str):
        expected = fill(expected, variables)
    if isinstance(expected, dict):
        assert isinstance(found, dict), f"{path}: {found!r}, expected an object"
        for name, inside in expected.items():
            check(f"{path}.{name}", inside, found.get(name, MISSING), variables)
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), f"{path}: {found!r}, expected {expected!r}"
        for index, inside in enumerate(expected):
            check(f"{path}[{index}]", inside, found[index], variables)
    else:
        # In Python a bool is an int; in JSON it is not a number.
        same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
        assert same, f"{path}: {found!r}, expected {expected!r}"


def special(path: str, name: str, argument: Any, found: Any, variables: Variables) -> None:
    """Applies one matcher."""
    wrong = f"{path}: {'nothing' if found is MISSING else repr(found)}, expected {name} {argument!r}"
    if name == "$absent":
        assert found is MISSING, wrong
        return
    assert found is not MISSING, wrong
    if name == "$is":
        assert is_kind(argument, found), wrong
    elif name == "$matches":
        text = found if isinstance(found, str) else json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        assert re.search(fill(argument, variables), text), wrong
    elif name == "$between":
        assert is_kind("number", found) and argument[0] <= found <= argument[1], wrong
    elif name == "$length":
        assert isinstance(found, list) and len(found) == argument, wrong
    elif name == "$each":
        for index, item in enumerate(found):
            check(f"{path}[{index}]", argument, item, variables)
    elif name == "$only":
        assert isinstance(found, dict) and found.keys() <= argument.keys(), wrong
        check(path, argument, found, variables)
    elif name == "$capture":
        variables[argument] = found
    else:
        raise AssertionError(f"{path}: no matcher {name}")


def is_kind(kind: str, found: Any) -> bool:
    """Checks the kind of a value, for `$is`."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str, "boolean": bool, "null": type(None), "array": list, "object": dict,
    }  # fmt: skip
    if kind == "any":
        return True
    if kind == "number":
        return isinstance(found, int | float) and not isinstance(found, bool)
    if kind in ("time", "uuid"):
        return isinstance(found, str) and re.search(TIME if kind == "time" else UUID, found) is not None
    return isinstance(found, kinds[kind])
