"""An independent calculation of the five scores, with exact fractions.

This program makes the project's own vectors and checks any vectors of the
same form. It follows the written rules and shares no code with the product,
so a mistake would have to be made twice to stay hidden.

    python3 vectors/reference check FILE...   recompute the vectors of files
    python3 vectors/reference make DIR        write the vectors of all kinds

A file's name says its kind: reputation, run, session, identity or
performance. Python 3.9 or later is enough; nothing else is needed.
"""

import sys
from fractions import Fraction
from pathlib import Path

from cases import CASES
from rules import (
    RULES,
    f64,
    is_integer,
    is_number,
    outcome_of,
    read_json,
    to_json,
)

def differences(expected, actual, path=""):
    """Return the paths at which `actual` lacks or contradicts `expected`."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            where = f"{path}.{key}" if path else key
            if key in actual:
                yield from differences(value, actual[key], where)
            else:
                yield f"{where}: missing"
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(expected)} entries, computed {len(actual)}"
        for index, pair in enumerate(zip(expected, actual)):
            yield from differences(*pair, f"{path}[{index}]")
    elif not same_scalar(expected, actual):
        yield f"{path}: {plain(expected)}, computed {plain(actual)}"


def same_scalar(expected, actual):
    """Equality after parsing: 1 is 1.0, and true is not 1."""
    if is_integer(expected) and is_integer(actual):
        return expected == actual
    if is_number(expected) and is_number(actual):
        return f64(expected) == f64(actual)
    return type(expected) is type(actual) and expected == actual


def plain(value):
    return repr(f64(value) if isinstance(value, Fraction) else value)


def check(paths):
    """Recompute the vectors of some files; true when all of them match."""
    all_match = True
    for path in map(Path, paths):
        if path.stem not in RULES:
            sys.exit(f"error: {path}: the name is none of {', '.join(RULES)}")
        vectors = read_json(path.read_text(encoding="utf-8"))
        mismatches = 0
        for vector in vectors:
            actual = outcome_of(path.stem, vector["input"])
            found = list(differences(vector["expected"], actual))
            if found:
                mismatches += 1
                print(f"{path}: {vector['name']}")
                print("".join(f"    {line}\n" for line in found), end="")
        print(f"{path}: {len(vectors)} vectors, {mismatches} mismatches")
        all_match = all_match and mismatches == 0
    return all_match


def make(directory):
    """Write the vectors of every kind, one per line, sorted by name."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for kind in RULES:
        lines = vector_lines(kind)
        path = directory / f"{kind}.json"
        path.write_bytes(("[\n" + ",\n".join(lines) + "\n]\n").encode())
        print(f"{path}: {len(lines)} vectors")


def vector_lines(kind):
    lines = {}

    def add(name, data, omitted=()):
        assert name not in lines, f"{kind}: {name!r} is there twice"
        lines[name] = vector_line(kind, name, data, omitted)

    for add_group in CASES[kind]:
        add_group(add)
    return [lines[name] for name in sorted(lines)]


def vector_line(kind, name, data, omitted):
    """Return a vector. Its result is computed from the text of its input."""
    text = to_json(data)
    expected = outcome_of(kind, read_json(text))
    for field in omitted:
        del expected[field]
    return (
        f'{{"name":{to_json(name)},"input":{text},'
        f'"expected":{to_json(expected)}}}'
    )


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "check":
        return 0 if check(arguments[1:]) else 1
    if len(arguments) == 2 and arguments[0] == "make":
        make(arguments[1])
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
