"""Tests that the scripts in `docs/sdks.md` and in the README of the package print what they show."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Server, clean_environment

READMES = [ROOT / "docs/sdks.md", ROOT / "sdk/python/README.md"]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_the_scripts_print_what_they_show(readme: Path, server: Server) -> None:
    scripts = blocks(readme.read_text(), "python")
    assert scripts, f"{readme} has no script"
    for script in scripts:
        script = script.replace("http://127.0.0.1:7070", server.url)
        run = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment({"RENOWN_KEY": server.publishable}),
        )
        # The comment after a line shows what the line prints.
        shown = re.findall(r"^\s*print\(.*\)  # (.*)$", script, re.MULTILINE)
        assert run.returncode == 0, run.stderr
        assert run.stdout.splitlines() == shown


def test_the_wheel_contains_its_licenses() -> None:
    names = {file.name for file in importlib.metadata.files("renown") or []}
    assert {"LICENSE-MIT", "LICENSE-APACHE"} <= names
