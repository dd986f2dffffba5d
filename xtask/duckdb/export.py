"""Checks that the exports of a folder are the same in every format, and that the query of `docs/operations.md` runs.

usage: export.py FOLDER QUERY
"""

import csv
import datetime
import json
import os
import sys

import duckdb

folder, query = sys.argv[1:]
os.chdir(folder)
# A cell holds whole documents.
csv.field_size_limit(1 << 30)

TIME = "TIMESTAMP WITH TIME ZONE"


def plain(value):
    """Returns a form of the value that can be compared."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    return value


def from_parquet(kind):
    whole = duckdb.sql(f"SELECT * FROM '{kind}.parquet'")
    names, types = whole.columns, [str(type) for type in whole.types]
    # A time with a zone would want a module of Python that is not there.
    columns = (f"epoch_us({name})" if type == TIME else name for name, type in zip(names, types))
    for row in duckdb.sql(f"SELECT {', '.join(columns)} FROM '{kind}.parquet'").fetchall():
        yield {name: read(type, value) for name, type, value in zip(names, types, row)}


def read(type, value):
    """Returns the values of a Parquet column in the form of JSON Lines."""
    if value is None:
        return None
    if type == "JSON":
        return plain(json.loads(value))
    if type == TIME:
        time = datetime.datetime.fromtimestamp(value // 1_000_000, datetime.timezone.utc)
        return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value // 1000 % 1000:03}Z"
    return value


def from_csv(kind, like):
    """Cells are texts: each is parsed as the type that the other format has in its place."""
    with open(f"{kind}.csv", newline="", encoding="utf-8") as file:
        for row, other in zip(csv.DictReader(file), like, strict=True):
            read = {}
            for name, cell in row.items():
                value = other[name]
                if cell == "":
                    read[name] = None
                elif isinstance(value, (dict, list)):
                    read[name] = plain(json.loads(cell))
                elif isinstance(value, bool):
                    read[name] = {"true": True, "false": False}[cell]
                elif isinstance(value, (int, float)):
                    read[name] = type(value)(cell)
                else:
                    read[name] = cell
            yield read


for kind in ["evaluations", "events", "runs", "sessions"]:
    with open(f"{kind}.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    expected = [{name: plain(value) for name, value in row.items()} for row in rows]
    assert expected, kind
    for name, found in [("Parquet", from_parquet(kind)), ("CSV", from_csv(kind, rows))]:
        for number, (ours, theirs) in enumerate(zip(expected, found, strict=True)):
            assert ours == theirs, f"{kind}, row {number} of {name}:\n{ours}\n{theirs}"
    print(f"{len(rows)} {kind}: equal as JSON Lines, CSV and Parquet")

best = duckdb.sql(query).fetchall()
assert [row[0] for row in best] == ["codex", "claude", "gemini"], best
