"""Tests the type annotations of the package with mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SDK = Path(__file__).resolve().parents[1]


def mypy(*paths: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-incremental", *paths]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=SDK)
    return run.stdout + run.stderr


def test_the_package_and_the_example_pass_mypy() -> None:
    assert mypy(SDK / "python" / "renown", SDK / "examples") == ""


def test_a_result_has_the_type_of_an_ingested_event(tmp_path: Path) -> None:
    file = tmp_path / "ingest.py"
    file.write_text(
        "from renown import Client, Engine\n"
        'result = Engine.default().evaluate(agent_id="a", output="x")\n'
        "Client().ingest(events=[result.to_dict()])\n"
        "for event in Client().iter_events(page_size=5):\n"
        '    print(event["id"])\n'
    )
    assert mypy(file) == ""


def test_mypy_finds_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "mistakes.py"
    file.write_text(
        "from renown import Client, Engine, gates\n"
        'Client().evaluate(agent_id="a")\n'
        'Client().get_reputation("a")["scor"]\n'
        'gates.pii(mode="redacted")\n'
        'Engine.default().evaluate(agent_id=1, output="x")\n'
    )
    found = mypy(file)
    for line in range(2, 6):
        assert f"mistakes.py:{line}: error" in found, found
