"""The five rules, each as plain as its written form.

Four of them are computed with integers and fractions. The session rule is
defined over 64-bit floats, operation by operation, and Python's floats are
exactly those. Decimals are read as they are written and become floats only
where a rule says so.
"""

import json
import math
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

# Reading and rounding

HALF = Fraction(1, 2)
WHOLE_MAX = 2**63 - 1


class Refused(Exception):
    """Bad evidence; `field` is the name that the error has to mention."""

    def __init__(self, field, why):
        super().__init__(f"{field}: {why}")
        self.field = field


def read_json(text):
    """Parse JSON and keep every decimal exactly as it is written."""

    def refuse_constant(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(
        text, parse_float=Fraction, parse_constant=refuse_constant
    )


def to_json(value):
    """Compact JSON; a Decimal is written out digit by digit."""
    if isinstance(value, dict):
        pairs = (f"{to_json(k)}:{to_json(v)}" for k, v in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(to_json, value)) + "]"
    if hasattr(value, "as_written"):
        return value.as_written
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def whole(value):
    """A whole number that is not negative, in any notation; else None."""
    if isinstance(value, Fraction) and value.denominator == 1:
        value = value.numerator
    if is_integer(value) and 0 <= value <= WHOLE_MAX:
        return value
    return None


def is_number(value):
    return is_integer(value) or isinstance(value, (float, Fraction))


def f64(value):
    """The 64-bit float nearest to an exact number."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round_half_up(value):
    return math.floor(value + HALF)


def round_half_away(value):
    return -round_half_up(-value) if value < 0 else round_half_up(value)


def to_places(value, places, rounding):
    """Round an exact value to some decimals, given as the nearest float."""
    scale = 10**places
    return f64(Fraction(rounding(value * scale), scale))


def expect_object(value, field):
    if not isinstance(value, dict):
        raise Refused(field, "is not an object")
    return value


def expect_list(container, field):
    value = container.get(field)
    if not isinstance(value, list):
        raise Refused(field, "is not a list")
    return value


def expect_number(value, field, low, high):
    """A number from `low` to `high`, as a 64-bit float."""
    if not is_number(value):
        raise Refused(field, "is not a number")
    value = f64(value)
    if not low <= value <= high:
        raise Refused(field, f"is outside {low}..{high}")
    return value


def expect_count(container, field):
    value = whole(container.get(field))
    if value is None:
        raise Refused(field, "is not a whole number from 0 to 2^63 - 1")
    return value


def expect_text(container, field, length, longest):
    """A text of 1 to `longest`, as `length` counts."""
    value = container.get(field)
    if not isinstance(value, str):
        raise Refused(field, "is not a text")
    if not 1 <= length(value) <= longest:
        raise Refused(field, f"is not of 1 to {longest}")
    return value


def bytes_of(text):
    return len(text.encode())


def optional(container, field, default):
    """An optional field. Null means absent."""
    value = container.get(field)
    return default if value is None else value


# Time, as exact milliseconds since 1970

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MINUTE_MS = 60_000
DAY_MS = 86_400_000
EARLIEST_MS = 946_684_800_000  # 2000-01-01T00:00:00Z
LATEST_MS = 4_102_444_800_000  # 2100-01-01T00:00:00Z
RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):([0-5]\d)(?:\.(\d+))?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)


def expect_time(container, field):
    """RFC 3339 text or whole milliseconds, from 2000 to 2100."""
    time = read_time(container.get(field), field)
    if not EARLIEST_MS <= time <= LATEST_MS:
        raise Refused(field, "is outside 2000-2100")
    return time


def read_time(value, field):
    if whole(value) is not None:
        return Fraction(whole(value))
    match = RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Refused(field, "is neither RFC 3339 nor whole milliseconds")
    *calendar, digits, sign, hours, minutes = match.groups()
    try:
        local = datetime(*map(int, calendar), tzinfo=timezone.utc)
    except ValueError as error:
        raise Refused(field, str(error)) from error
    time = Fraction((local - EPOCH) // timedelta(milliseconds=1))
    if digits:
        # Times are kept in nanoseconds; what is finer is cut off.
        time += Fraction(int(digits[:9].ljust(9, "0")), 10**6)
    if sign:
        offset = (60 * int(hours) + int(minutes)) * MINUTE_MS
        time -= offset if sign == "+" else -offset
    return time


def time_text(time):
    """RFC 3339 in UTC with milliseconds. Smaller digits are cut off."""
    seconds, milliseconds = divmod(math.floor(time), 1000)
    moment = EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds:03}Z"


# 1. Reputation of an agent, 0 to 1000
#
#   score = floor(400 p/n + max(0, 250 - L/(400 n)) + 4 min(s, 50) + 3 n/10)
#
# n evaluations in the window, p of them passed, s passes in a row counted
# back from the newest, L the sum of their latencies in whole microseconds.

WINDOW = 500
LATENCY_MS_MAX = 60_000


def latency_us(evaluation):
    """Whole microseconds, by the float expression that the rule fixes."""
    value = optional(evaluation, "latency_ms", 0)
    value = expect_number(value, "latency_ms", 0, LATENCY_MS_MAX)
    return math.floor(value * 1000.0 + 0.5)


def reputation(data):
    outcomes = []
    for evaluation in expect_list(data, "evaluations"):
        expect_object(evaluation, "evaluations")
        passed = evaluation.get("passed")
        if not isinstance(passed, bool):
            raise Refused("passed", "is not true or false")
        outcomes.append((passed, latency_us(evaluation)))

    window = outcomes[-WINDOW:]
    n = len(window)
    passes = sum(passed for passed, _ in window)
    latency_sum_us = sum(us for _, us in window)
    streak = 0
    while streak < n and window[-1 - streak][0]:
        streak += 1

    score = 0
    pass_rate = avg_latency_ms = Fraction(0)
    if n > 0:
        pass_rate = Fraction(passes, n)
        avg_latency_ms = Fraction(latency_sum_us, 1000 * n)
        score = math.floor(
            400 * pass_rate
            + max(Fraction(0), 250 - Fraction(latency_sum_us, 400 * n))
            + 4 * min(streak, 50)
            + Fraction(3 * n, 10)
        )
    return {
        "score": score,
        "lifecycle": lifecycle(n),
        "status": lifecycle(n),
        "eval_count": n,
        "evaluations": n,
        "window_size": WINDOW,
        "passed": passes,
        "pass_rate": to_places(pass_rate, 6, round_half_up),
        "avg_latency_ms": to_places(avg_latency_ms, 3, round_half_up),
        "streak": streak,
        "formula_version": "1",
    }


def lifecycle(n):
    if n == 0:
        return "new"
    if n < 50:
        return "calibrating"
    return "active" if n < WINDOW else "mature"


# 2. Performance of a session, 0 to 10
#
# Costs are whole nano-dollars; the duration, the dimensions and the
# composite are whole tenths. Every rounding is half away from zero.

DIMENSION_WEIGHTS = {
    "quality": 30,
    "autonomy": 25,
    "productivity": 20,
    "token_efficiency": 15,
    "cost_efficiency": 10,
}
COST_USD_MAX = 10**15


def performance(data):
    started_at = expect_time(data, "started_at")
    ended_at = expect_time(data, "ended_at")
    prompts = expect_count(data, "prompts")
    total_tools = expect_count(data, "total_tools")
    tools_ok = expect_count(data, "tools_ok")
    total_cost = data.get("total_cost")
    total_tokens = expect_count(data, "total_tokens")
    cache_tokens = expect_count(data, "cache_tokens")
    if not is_number(total_cost):
        raise Refused("total_cost", "is not a number")
    if total_cost < 0:
        raise Refused("total_cost", "is negative")
    if ended_at < started_at:
        raise Refused("ended_at", "is before started_at")
    if tools_ok > total_tools:
        raise Refused("tools_ok", "is more than total_tools")
    if cache_tokens > total_tokens:
        raise Refused("cache_tokens", "is more than total_tokens")

    cost = Fraction(round_half_up(total_cost * 10**9), 10**9)
    if cost > COST_USD_MAX:
        raise Refused("total_cost", "is above 10^15")
    elapsed_min = (ended_at - started_at) / MINUTE_MS
    duration = max(10, round_half_away(10 * elapsed_min))
    success = Fraction(tools_ok, max(1, total_tools))

    # Each on its scale of 0 to 10, before it is rounded to tenths.
    exact = {
        "quality": 10 * success,
        "autonomy": Fraction(2 * total_tools, max(1, prompts)),
        "productivity": tools_ok / Fraction(duration, 10) * 10,
        "token_efficiency": Fraction(10 * cache_tokens, max(1, total_tokens)),
        "cost_efficiency": 10 - 100 * cost / max(1, tools_ok),
    }
    tenths = {
        name: min(100, max(0, round_half_away(10 * value)))
        for name, value in exact.items()
    }
    weighted = sum(DIMENSION_WEIGHTS[name] * tenths[name] for name in tenths)
    composite = round_half_away(Fraction(weighted, 100))
    if composite >= 70:
        recommendation = "keep"
    elif composite >= 40:
        recommendation = "review"
    else:
        recommendation = "doff"
    return {
        "duration_min": round_half_away(Fraction(duration, 10)),
        "dimensions": {name: tenths[name] / 10 for name in tenths},
        "composite": composite / 10,
        "recommendation": recommendation,
        "stats": {
            "total_cost": to_places(cost, 2, round_half_away),
            "total_tools": total_tools,
            "tools_ok": tools_ok,
            "tool_success_pct": round_half_away(100 * success),
            "prompts": prompts,
            "total_tokens": total_tokens,
            "cache_tokens": cache_tokens,
        },
        "formula_version": "1",
    }


# 3. Scorecard of a run, 0 to 100
#
# Only the outcome can be refused. Any other part that is impossible counts
# as absent and leaves its name in the warnings. Roundings are half up.

COMPLETION = {"completed": 100, "blocked": 30, "failed": 0}
DEFAULT_AXIS = 50
BASELINE_RUNS = 20
TIERS = ((90, "Elite"), (70, "Gold"), (40, "Silver"), (0, "Bronze"))
RESOURCE_FIELDS = (
    "memory_peak_bytes",
    "memory_limit_bytes",
    "cpu_periods",
    "cpu_throttled_periods",
    "cpu_throttled_ms",
)


def wholes(value):
    if not isinstance(value, list):
        return None
    values = [whole(each) for each in value]
    return None if None in values else values


def stage(value):
    """Whether a stage passed, and its attempts; None if it is malformed."""
    if not isinstance(value, dict):
        return None
    attempts = whole(optional(value, "attempts", 1))
    is_stage = (
        isinstance(value.get("name"), str)
        and isinstance(value.get("passed"), bool)
        and attempts is not None
        and attempts >= 1
    )
    return (value["passed"], attempts) if is_stage else None


def stages_of(value):
    if not isinstance(value, list):
        return None
    stages = [stage(each) for each in value]
    return None if None in stages else stages


def mapping(value):
    return value if isinstance(value, dict) else None


def run(data):
    outcome = data.get("outcome")
    if not isinstance(outcome, str) or outcome not in COMPLETION:
        raise Refused("outcome", "is not completed, blocked or failed")

    warnings = []

    def part(container, field, read):
        """What `read` returns for a field; None, with a warning, if it is invalid."""
        if container.get(field) is None:
            return None
        value = read(container[field])
        if value is None:
            warnings.append(field)
        return value

    stages = part(data, "stages", stages_of)
    wall_ms = part(data, "wall_ms", whole)
    walls = part(data, "baseline_wall_ms", wholes)
    resources = part(data, "resources", mapping)
    usage = {
        field: part(resources or {}, field, whole)
        for field in RESOURCE_FIELDS
    }
    baseline = (walls or [])[-BASELINE_RUNS:]
    p50_ms = median(baseline)

    axes = {
        "completion": COMPLETION[outcome],
        "error_rate": error_rate_axis(stages),
        "latency": latency_axis(wall_ms, p50_ms),
        "resource_efficiency": resource_axis(usage, wall_ms),
    }
    defaulted = [name for name, axis in axes.items() if axis is None]
    axes.update(dict.fromkeys(defaulted, DEFAULT_AXIS))
    score = (
        4 * axes["completion"]
        + 3 * axes["error_rate"]
        + 2 * axes["latency"]
        + axes["resource_efficiency"]
        + 5
    ) // 10
    return {
        "score": score,
        "tier": next(tier for low, tier in TIERS if score >= low),
        "formula_version": "2",
        "axes": axes,
        "defaulted": defaulted,
        "warnings": warnings,
        "baseline": {
            "p50_ms": None if p50_ms is None else f64(p50_ms),
            "runs": len(baseline),
        },
    }


def median(values):
    """The middle value, or the mean of the two middle ones."""
    if not values:
        return None
    ordered = sorted(values)
    n = len(ordered)
    return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)


def error_rate_axis(stages):
    if not stages:
        return None
    first_try = sum(passed and attempts == 1 for passed, attempts in stages)
    return round_half_up(Fraction(100 * first_try, len(stages)))


def latency_axis(wall_ms, p50_ms):
    """100 at half the typical time or less, 0 at three times or more."""
    if wall_ms is None or not p50_ms:
        return None
    share = (3 - Fraction(wall_ms) / p50_ms) / Fraction(5, 2)
    return round_half_up(100 * min(Fraction(1), max(Fraction(0), share)))


def resource_axis(usage, wall_ms):
    """70 % unused memory and 30 % unthrottled time; one half may be absent."""

    def unused_percent(part, whole):
        if part is None or not whole:
            return None
        return 100 * (1 - min(Fraction(1), Fraction(part, whole)))

    memory = unused_percent(
        usage["memory_peak_bytes"], usage["memory_limit_bytes"]
    )
    cpu = unused_percent(usage["cpu_throttled_periods"], usage["cpu_periods"])
    if cpu is None:
        cpu = unused_percent(usage["cpu_throttled_ms"], wall_ms)
    if memory is None and cpu is None:
        return None
    memory = DEFAULT_AXIS if memory is None else memory
    cpu = DEFAULT_AXIS if cpu is None else cpu
    return round_half_up(Fraction(7 * memory + 3 * cpu) / 10)


# 4. Session metrics: reliability and consistency, 0 to 1
#
# Floats throughout, from left to right; only the number of traces in the
# tail is a matter of integers.

DEFAULT_SIGNAL_WEIGHTS = {
    "confidence": 1.0,
    "loop_detection": 1.0,
    "tool_correctness": 0.8,
    "coherence": 1.0,
}
RISK_NAMES = {
    "confidence": "confidence_risk",
    "loop_detection": "loop_risk",
    "tool_correctness": "tool_risk",
    "coherence": "coherence_risk",
}
SIGNAL_WEIGHT_MAX = 10
TRACE_ID_BYTES_MAX = 512
THRESHOLD = 0.5
BAND_LIMITS = (0.9, 0.7, 0.5, 0.3)
RELIABILITY_BANDS = (
    "highly_reliable",
    "generally_reliable",
    "moderate_risk",
    "elevated_risk",
    "high_risk",
)
CONSISTENCY_BANDS = (
    "highly_consistent",
    "generally_consistent",
    "moderate_instability",
    "high_instability",
    "unstable",
)


def round4(value):
    """Four decimals, ties to even on the exact binary value."""
    return float(f"{value:.4f}")


def session(data):
    traces = expect_list(data, "traces")
    weights = dict(DEFAULT_SIGNAL_WEIGHTS)
    overrides = optional(data, "signal_weights", {})
    for name, weight in expect_object(overrides, "signal_weights").items():
        if name not in weights:
            raise Refused(name, "is not a signal")
        if weight is not None:
            weights[name] = expect_number(weight, name, 0, SIGNAL_WEIGHT_MAX)

    risks = {}
    for trace in traces:
        expect_object(trace, "traces")
        trace_id = expect_text(trace, "trace_id", bytes_of, TRACE_ID_BYTES_MAX)
        if trace_id in risks:
            raise Refused("trace_id", "is there twice")
        risks[trace_id] = signal_risks(trace)
    return {
        "agent_reliability": agent_reliability(risks, weights),
        "agent_consistency": agent_consistency(risks, weights),
    }


def signal_risks(trace):
    """Risk by signal, in the fixed order of the signals."""
    signals = expect_object(trace.get("signals", {}), "signals")
    for name in signals:
        if name not in RISK_NAMES:
            raise Refused(name, "is not a signal")
    return {
        name: 1.0 - expect_number(signals[name], name, 0, 1)
        for name in RISK_NAMES
        if signals.get(name) is not None
    }


def agent_reliability(risks, weights):
    """How bad the worst 15 % of the traces are."""
    steps = {
        trace_id: max(weights[name] * risk for name, risk in present.items())
        for trace_id, present in risks.items()
        if present
    }
    n = len(steps)
    if n == 0:
        return not_evaluable("agent_reliability", RELIABILITY_BANDS, risks)

    descending = sorted(steps.values(), reverse=True)
    k = max(1, -(-15 * n // 100))
    mean_top_k = sum_in_order(descending[:k]) / k
    max_risk = descending[0]
    raw_risk = 0.9 * mean_top_k + 0.1 * max_risk
    flagged = [trace_id for trace_id, step in steps.items() if step > 0.5]
    if flagged:
        reason = f"Elevated risk in {len(flagged)} of {n} traces."
    else:
        reason = f"No elevated risk across {n} traces."
    return metric_result(
        "agent_reliability",
        RELIABILITY_BANDS,
        score_of(raw_risk),
        reason,
        {
            "total_traces_in_session": len(risks),
            "traces_evaluated": n,
            "raw_risk": round4(raw_risk),
            "signal_weights": weights,
            "per_trace_signals": {
                trace_id: shown_risks(risks[trace_id])
                | {"step_risk": round4(step)}
                for trace_id, step in steps.items()
            },
            "flagged_traces": flagged,
            "aggregation": {
                "method": "max_compose_top_k",
                "top_k_percentile": 0.15,
                "ensemble_weight": 0.1,
                "mean_top_k_risk": round4(mean_top_k),
                "max_risk": round4(max_risk),
            },
        },
    )


def agent_consistency(risks, weights):
    """The spread of all traces that have a confidence."""
    per_trace = {}
    squares = []
    for trace_id, present in risks.items():
        if "confidence" not in present:
            continue
        penalty = sum_in_order(
            weights[name] * risk
            for name, risk in present.items()
            if name != "confidence"
        )
        base = weights["confidence"] * present["confidence"]
        uncertainty = (1.0 + penalty) * base
        squares.append(uncertainty * uncertainty)
        per_trace[trace_id] = shown_risks(present) | {
            "situational_penalty": round4(penalty),
            "weighted_uncertainty": round4(uncertainty),
        }
    n = len(per_trace)
    if n == 0:
        return not_evaluable("agent_consistency", CONSISTENCY_BANDS, risks)

    rms = math.sqrt(sum_in_order(squares) / n)
    score = score_of(rms)
    if score >= 0.8:
        reason = f"Consistent performance across {n} traces."
    elif score >= 0.5:
        reason = f"Moderate instability detected across {n} traces."
    else:
        reason = (
            f"High instability across {n} traces; multiple signals compound."
        )
    return metric_result(
        "agent_consistency",
        CONSISTENCY_BANDS,
        score,
        reason,
        {
            "total_traces_in_session": len(risks),
            "traces_evaluated": n,
            "raw_instability": round4(rms),
            "signal_weights": weights,
            "per_trace_signals": per_trace,
            "aggregation": {
                "method": "weighted_rms",
                "rms_value": round4(rms),
            },
        },
    )


def sum_in_order(values):
    """A plain sum; the built-in one compensates in newer Pythons."""
    total = 0.0
    for value in values:
        total += value
    return total


def score_of(raw):
    return round4(min(1.0, max(0.0, 1.0 - raw)))


def shown_risks(present):
    return {RISK_NAMES[name]: round4(risk) for name, risk in present.items()}


def metric_result(name, bands, score, reason, metadata, evaluable=True):
    reached = [limit for limit in BAND_LIMITS if score >= limit]
    return {
        "name": name,
        "score": score,
        "reason": reason,
        "threshold": THRESHOLD,
        "passed": score >= THRESHOLD,
        "band": bands[len(BAND_LIMITS) - len(reached)],
        "evaluable": evaluable,
        "metadata": metadata,
    }


def not_evaluable(name, bands, risks):
    if any(risks.values()):
        reason = "No evaluable traces."
    else:
        reason = "No traces or signals to evaluate."
    metadata = {"total_traces_in_session": len(risks), "traces_evaluated": 0}
    return metric_result(name, bands, 1.0, reason, metadata, evaluable=False)


# 5. Reputation of an identity over time
#
# Plain means of whole millionths over the 90 days that end at a time, by
# category; the same function gives the standing of 7 and of 30 days before.

CATEGORY_WEIGHTS = {
    "task_quality": Fraction(40, 100),
    "economic": Fraction(35, 100),
    "identity_hygiene": Fraction(25, 100),
}
SCORE_DELTA_MAX = 1_000_000
MILLION = 10**6
EVENT_TYPE_CHARS_MAX = 200
REFERENCES = ("", "session", "transaction", "attestation")
UUID_TEXT = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def identity(data):
    as_of = expect_time(data, "as_of")
    events = {}
    identities = set()
    for event in expect_list(data, "events"):
        event_id, facts = identity_event(expect_object(event, "events"))
        events.setdefault(event_id, facts)  # the first copy wins
        if event.get("identity_id") is not None:
            identities.add(expect_uuid(event, "identity_id"))
    if len(identities) > 1:
        raise Refused("identity_id", "is not the same in all events")
    events = list(events.values())

    now = standing(events, as_of)
    week_ago = standing(events, as_of - 7 * DAY_MS)
    month_ago = standing(events, as_of - 30 * DAY_MS)

    def shown(value):
        return to_places(value, 6, round_half_away)

    def trend(then):
        if then["total"] == 0:
            return None
        return shown(now["overall"] - then["overall"])

    result = {
        f"{category}_score": shown(now["means"][category])
        for category in CATEGORY_WEIGHTS
    }
    return result | {
        "as_of": time_text(as_of),
        "overall_score": shown(now["overall"]),
        "total_events": now["total"],
        "positive_events": now["positive"],
        "negative_events": now["negative"],
        "confidence": shown(min(Fraction(1), Fraction(now["total"], 100))),
        "score_7d_ago": shown(week_ago["overall"]),
        "score_30d_ago": shown(month_ago["overall"]),
        "trend_7d": trend(week_ago),
        "trend_30d": trend(month_ago),
        "formula_version": "1",
    }


def expect_uuid(container, field):
    value = container.get(field)
    if not isinstance(value, str) or not UUID_TEXT.fullmatch(value):
        raise Refused(field, "is not a UUID")
    return UUID(value)


def identity_event(event):
    """The id of an event and its (time, category, millionths)."""
    event_id = expect_uuid(event, "event_id")
    time = expect_time(event, "timestamp")
    category = event.get("category")
    if not isinstance(category, str) or category not in CATEGORY_WEIGHTS:
        raise Refused("category", "is unknown")
    expect_text(event, "event_type", len, EVENT_TYPE_CHARS_MAX)
    limit = SCORE_DELTA_MAX
    delta = expect_number(
        event.get("score_delta"), "score_delta", -limit, limit
    )
    expect_number(optional(event, "confidence", 1), "confidence", 0, 1)
    reference = optional(event, "reference_type", "")
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise Refused("reference_type", "is unknown")
    if not isinstance(optional(event, "reference_id", ""), str):
        raise Refused("reference_id", "is not a text")
    attributes = optional(event, "attributes", {})
    if not isinstance(attributes, dict) or not all(
        isinstance(value, str) for value in attributes.values()
    ):
        raise Refused("attributes", "is not a map of texts")
    millionths = round_half_away(Fraction(delta * 1e6))
    return event_id, (time, category, millionths)


def standing(events, at):
    """The exact scores and the counts over the 90 days up to `at`."""
    window = [
        (category, millionths)
        for time, category, millionths in events
        if at - 90 * DAY_MS < time <= at
    ]
    means = {}
    for category in CATEGORY_WEIGHTS:
        deltas = [delta for where, delta in window if where == category]
        means[category] = Fraction(sum(deltas), max(1, len(deltas)) * MILLION)
    return {
        "means": means,
        "overall": sum(
            weight * means[category]
            for category, weight in CATEGORY_WEIGHTS.items()
        ),
        "total": len(window),
        "positive": sum(delta > 0 for _, delta in window),
        "negative": sum(delta < 0 for _, delta in window),
    }


# Checking vectors

RULES = {
    "reputation": reputation,
    "run": run,
    "session": session,
    "identity": identity,
    "performance": performance,
}


def outcome_of(kind, data):
    """The result of a rule for an input, which may be an error."""
    try:
        return RULES[kind](expect_object(data, "input"))
    except Refused as refusal:
        return {"error_names": refusal.field}
