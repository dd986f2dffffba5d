"""Generates valid texts of our formats, for the generator of requests.

JSON Schema cannot say that a time lies between 2000 and 2100 or within the last three years, that the bytes in a cursor are UTF-8,
that a field repeats another or that no two traces have one id: the descriptions do.
"""

import json
from datetime import date, datetime, timezone
from urllib.parse import unquote

import schemathesis
from hypothesis import strategies as st


def _millis(time):
    return time.isoformat(timespec="milliseconds") + "Z"


TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)).map(_millis)

AGENTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=50).filter(
    lambda agent: agent not in (".", "..")
)

CURSORS = st.tuples(st.integers(0, 2**50), AGENTS).map(lambda parts: f"{parts[0]:x}.{parts[1].encode().hex()}")

# Nanoseconds from 2000 to 2100, and a place.
TIME_CURSORS = st.tuples(st.integers(946684800 * 10**9, 4102444800 * 10**9), st.integers(0, 2**50)).map(
    lambda parts: f"{parts[0]:x}.{parts[1]:x}"
)

# A time in nanoseconds, and any key.
RECORD_CURSORS = st.tuples(st.integers(0, 2**62), st.integers(0, 2**64 - 1)).map(
    lambda parts: f"{parts[0]:x}.{parts[1]:x}"
)

DAYS = st.dates(date(2000, 1, 1), date(2099, 12, 31)).map(str)

# Of at most 256 and 512 bytes.
SESSIONS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64).filter(
    lambda session: session not in (".", "..")
)


def _objects(names, largest):
    return st.dictionaries(st.sampled_from(names), st.floats(0, largest)).map(json.dumps)


SIGNAL_WEIGHTS = _objects(["confidence", "loop_detection", "tool_correctness", "coherence"], 10)
THRESHOLDS = _objects(["agent_reliability", "agent_consistency"], 1)

schemathesis.openapi.format("session-id", SESSIONS)
schemathesis.openapi.format("trace-id", SESSIONS)
schemathesis.openapi.format("signal-weights", SIGNAL_WEIGHTS)
schemathesis.openapi.format("thresholds", THRESHOLDS)
schemathesis.openapi.format("date-time", TIMES)
schemathesis.openapi.format("agents-cursor", CURSORS)
schemathesis.openapi.format("time-cursor", TIME_CURSORS)
schemathesis.openapi.format("record-cursor", RECORD_CURSORS)
schemathesis.openapi.format("utc-day", DAYS)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Completes a request that is meant to be valid."""
    if not case.meta or not case.meta.generation.mode.is_positive:
        return
    if case.operation.label == "GET /v1/agents/{agent_id}/breakdown":
        # At most 366 days before `to`.
        case.query.pop("from", None)
    if case.operation.label == "DELETE /v1/agents/{agent_id}":
        case.query["confirm"] = unquote(case.path_parameters["agent_id"])
    if case.operation.label == "POST /v1/sessions/{session_id}/signals":
        case.body["traces"] = list({trace["trace_id"]: trace for trace in case.body["traces"]}.values())
    if case.operation.label == "POST /v1/reputation-events":
        now = int(datetime.now(timezone.utc).timestamp() * 1000)
        for event in case.body["events"]:
            event["timestamp"] = now
            if event.get("identity_id"):
                event["agent_id"] = None
            elif not event.get("agent_id"):
                event["agent_id"] = "somebody"
    if case.operation.label in ("POST /v1/eval-runs", "POST /v1/schedules", "PATCH /v1/schedules/{schedule_id}"):
        _complete_eval(case.operation.label, case.body)


def _complete_eval(label, body):
    """Completes the settings of an eval run or a schedule: each metric once, a sample that selects something, a known cadence."""
    if body.get("metrics"):
        body["metrics"] = sorted(set(body["metrics"]))
    if body.get("sampling_rate") == 0:
        body["sampling_rate"] = 1
    if body.get("name") is not None:
        body["name"] = "nightly"
    if body.get("cadence") is not None:
        body["cadence"] = "daily"
    if body.get("filter"):
        body["filter"]["agent_id"] = None
    if label == "POST /v1/eval-runs":
        # Either a list of sessions, each once, or a filter.
        if body.get("session_ids"):
            body["session_ids"] = sorted(set(body["session_ids"]))
            body["filter"] = None
        elif not body.get("filter"):
            body["filter"] = {}
