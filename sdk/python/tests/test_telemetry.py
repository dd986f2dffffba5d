"""Tests that verdicts reach the server, whatever happens to the server, this process and its children."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Server, clean_environment
from fake import ACCEPTED, LIMITED, OVERLOADED, Fake

from renown import AsyncClient, Client, Engine, Result, Telemetry

ENGINE = Engine.default()


def verdict(output: str = "x", agent: str = "a") -> Result:
    return ENGINE.evaluate(agent_id=agent, output=output, tool="t", latency_ms=5)


def sent(fake: Fake) -> list[Any]:
    return [event for _, path, _, body in fake.requests for event in body["events"] if path == "/v1/ingest"]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true within 30 s"
        time.sleep(0.005)


def test_a_verdict_arrives_unchanged(server: Server) -> None:
    result = verdict("bob@corp.io")
    with Client(server.url, server.publishable) as client, Telemetry(client, interval_s=1000) as telemetry:
        telemetry.track(result)
        assert telemetry.waiting == 1
        assert telemetry.flush()
        assert (telemetry.waiting, telemetry.dropped) == (0, 0)
        (event,) = client.list_events()["events"]
        assert (event["id"], event["agent_id"], event.get("tool_name")) == (result.evaluation_id, "a", "t")
        assert not event["passed"] and event["created_at"] == result.timestamp and event.get("latency_ms") == 5
        telemetry.track(result)
        assert telemetry.flush()
        assert client.list_events()["count"] == 1


def test_events_contain_no_payload() -> None:
    with Fake(ACCEPTED) as fake, Client(fake.url, "the-key") as client, Telemetry(client) as telemetry:
        telemetry.track(verdict("marker@corp.io"))
        assert telemetry.flush()
        assert fake.requests[0][2]["authorization"] == "Bearer the-key"
        assert "marker" not in str(fake.requests[0][3])


def test_verdicts_are_sent_when_a_batch_is_full_or_the_interval_has_passed() -> None:
    with Fake(ACCEPTED) as fake, Client(fake.url, "k") as client:
        with Telemetry(client, interval_s=1000, batch=3) as telemetry:
            for _ in range(3):
                telemetry.track(verdict())
            wait_for(lambda: len(sent(fake)) == 3)
        with Telemetry(client, interval_s=0.05) as telemetry:
            telemetry.track(verdict())
            wait_for(lambda: len(sent(fake)) == 4)


def test_verdicts_wait_while_the_server_is_down(
    start: Callable[..., Server], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = start(data=tmp_path / "data")
    key, address = server.publishable, server.url.removeprefix("http://")
    server.stop()
    with Client(server.url, key) as client, Telemetry(client, interval_s=0.05) as telemetry:
        with caplog.at_level(logging.WARNING, "renown"):
            for _ in range(5):
                telemetry.track(verdict())
            wait_for(lambda: bool(caplog.records))
        assert not telemetry.flush(0.2) and telemetry.waiting == 5
        assert caplog.records[0].name == "renown" and key not in caplog.text
        start(data=tmp_path / "data", listen=address)
        assert telemetry.flush()
        assert client.get_reputation("a")["eval_count"] == 5


def test_retry_after_of_a_busy_server_is_obeyed() -> None:
    with Fake(OVERLOADED, LIMITED, ACCEPTED) as fake, Client(fake.url, "k") as client:
        with Telemetry(client, interval_s=0.01) as telemetry:
            start = time.monotonic()
            telemetry.track(verdict())
            wait_for(lambda: telemetry.waiting == 0)
            assert time.monotonic() - start >= 1 and len(fake.requests) == 3
            assert telemetry.dropped == 0


def test_a_full_buffer_drops_the_oldest_verdicts_or_spools_them(tmp_path: Path) -> None:
    with Fake(ACCEPTED) as fake:
        closed = fake.url
    with Client(closed, "k") as client:
        telemetry = Telemetry(client, interval_s=1000, batch=10, buffer=10)
        for _ in range(25):
            telemetry.track(verdict())
        assert telemetry.dropped >= 15
        telemetry.shutdown(0.1)
        spooled = Telemetry(client, interval_s=1000, batch=10, buffer=10, spool=tmp_path / "spool")
        for _ in range(25):
            spooled.track(verdict())
        spooled.shutdown(1)
        assert spooled.dropped == 0
    with Fake(ACCEPTED) as fake, Client(fake.url, "k") as client:
        with Telemetry(client, interval_s=0.05, spool=tmp_path / "spool"):
            # The new sender adopts the spool of the old one.
            wait_for(lambda: len(sent(fake)) == 25)


def test_after_shutdown_nothing_raises_and_verdicts_are_dropped() -> None:
    with Fake(ACCEPTED) as fake, Client(fake.url, "k") as client:
        telemetry = Telemetry(client, interval_s=1000)
        telemetry.track(verdict())
        telemetry.shutdown()
        telemetry.shutdown()
        assert len(sent(fake)) == 1
        telemetry.track(verdict())
        assert telemetry.dropped == 1
        telemetry.track("not a verdict")  # type: ignore[arg-type]


def test_async_code_can_track_and_flush() -> None:
    async def main(url: str) -> None:
        async with AsyncClient(url, "k") as client, Telemetry(client, interval_s=1000) as telemetry:
            telemetry.track(await ENGINE.aevaluate(agent_id="a", output="x"))
            assert await telemetry.aflush()

    with Fake(ACCEPTED) as fake:
        asyncio.run(main(fake.url))
        assert len(sent(fake)) == 1


def run_script(script: str, url: str) -> None:
    head = f"""
        import os, sys
        from renown import Client, Engine, Telemetry
        engine, telemetry = Engine.default(), Telemetry(Client({url!r}, "k"), interval_s=1000)
        def track(agent):
            telemetry.track(engine.evaluate(agent_id=agent, output="x"))
    """
    text = textwrap.dedent(head) + textwrap.dedent(script)
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60, env=clean_environment())


def test_waiting_verdicts_are_sent_when_the_program_exits() -> None:
    for script in ["track('a')", "track('a')\nsys.exit(0)", "track('a')\ntelemetry = None"]:
        with Fake(ACCEPTED) as fake:
            run_script(script, fake.url)
            assert len(sent(fake)) == 1, script


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_sends_its_own_verdicts() -> None:
    script = """
        track("parent")
        child = os.fork()
        if child == 0:
            track("child")
            assert telemetry.waiting == 1, "waiting verdicts stay with the parent"
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """
    with Fake(ACCEPTED) as fake:
        run_script(script, fake.url)
        assert sorted(event["agent_id"] for event in sent(fake)) == ["child", "parent"]


def test_invalid_settings_are_rejected() -> None:
    client = Client("http://127.0.0.1:1", "k")
    for settings, part in [
        ({"batch": 0}, "batch: 0"),
        ({"buffer": 0}, "buffer: 0"),
        ({"interval_s": -1}, "interval_s: -1"),
        ({"spool_first": True}, "spool_first: True"),
    ]:
        with pytest.raises(ValueError, match=part):
            Telemetry(client, **settings)  # type: ignore[arg-type]


def test_a_reply_of_a_captive_portal_does_not_count_as_delivery() -> None:
    portal = (200, b"<html>portal</html>", {})
    with Fake(portal) as fake, Client(fake.url, "k") as client:
        telemetry = Telemetry(client, interval_s=1000)
        telemetry.track(verdict())
        assert not telemetry.flush(0.2) and telemetry.waiting == 1
        telemetry.shutdown(1)
        assert (telemetry.waiting, telemetry.dropped) == (0, 1)


def test_flush_returns_false_once_after_a_rejected_verdict() -> None:
    rejection = (400, {"error": "events[0]: no", "code": "validation_error", "status": 400}, {})
    with Fake(rejection, ACCEPTED) as fake, Client(fake.url, "k") as client, Telemetry(client) as telemetry:
        telemetry.track(verdict())
        assert not telemetry.flush()
        assert telemetry.flush()


def test_ctrl_c_interrupts_a_flush() -> None:
    flush = "telemetry.flush(50)"
    aflush = "import asyncio; asyncio.run(telemetry.aflush(50))"
    for wait in [flush, aflush]:
        script = f"""
            import signal, threading, time
            # A shell that runs the tests in the background makes them ignore SIGINT.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            track("a")
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            try:
                {wait}
                sys.exit("the flush was not interrupted")
            except KeyboardInterrupt:
                pass
            assert time.monotonic() - start < 10
            os._exit(0)
        """
        with socket.create_server(("127.0.0.1", 0)) as silent:
            run_script(script, f"http://127.0.0.1:{silent.getsockname()[1]}")


def test_several_senders_share_one_time_limit_at_exit() -> None:
    script = """
        more = [Telemetry(Client(telemetry._settings[0], "k"), interval_s=1000) for _ in range(3)]
        for sender in [telemetry, *more]:
            sender.track(engine.evaluate(agent_id="a", output="x"))
    """
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        run_script(script, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - start < 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_does_not_lock_the_spool_of_its_dead_parent(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    script = f"""
        import time
        from renown import Client, Engine, Telemetry
        telemetry = Telemetry(Client("http://127.0.0.1:1", "k"), interval_s=1000, spool={str(spool)!r}, spool_first=True)
        telemetry.track(Engine.default().evaluate(agent_id="left", output="x"))
        import os
        ready, signal_ready = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(1)
            # Otherwise the child itself might adopt the spool of its parent.
            telemetry.shutdown()
            os.write(signal_ready, b"x")
            time.sleep(60)
            os._exit(0)
        os.read(ready, 1)
        print(child, flush=True)
        os._exit(0)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, check=True, timeout=60, env=clean_environment()
    )
    try:
        with Fake(ACCEPTED) as fake, Client(fake.url, "k") as client, Telemetry(client, spool=spool):
            wait_for(lambda: [event["agent_id"] for event in sent(fake)] == ["left"])
    finally:
        os.kill(int(run.stdout), signal.SIGKILL)
