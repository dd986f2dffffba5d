"""The inputs of the vectors.

Cases are picked by hand, found by a search for what a careless calculation
gets wrong, or drawn from a seeded generator. None of them tests what the
rules do not say; where they leave one field of a result open, a case names
it in `omitted` and the vector does without it.
"""

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import islice, product

from rules import (
    CATEGORY_WEIGHTS,
    COMPLETION,
    DAY_MS,
    DEFAULT_SIGNAL_WEIGHTS,
    DIMENSION_WEIGHTS,
    LATENCY_MS_MAX,
    MILLION,
    MINUTE_MS,
    RESOURCE_FIELDS,
    expect_time,
    latency_us,
    performance,
    read_json,
    reputation,
    round4,
    round_half_away,
    sum_in_order,
    time_text,
    to_json,
)

def found(candidates, is_wanted, count):
    """Return the first `count` matches among the first 200 000 candidates."""
    wanted = filter(is_wanted, islice(candidates, 200_000))
    chosen = list(islice(wanted, count))
    assert len(chosen) == count, f"only {len(chosen)} of {count} found"
    return chosen


def without(mapping, field):
    return {key: value for key, value in mapping.items() if key != field}


class Written:
    """A number with its exact spelling in JSON."""

    def __init__(self, text):
        self.as_written = text


class Dice:
    """Seeded random draws, by the one method that is stable across Python releases."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def chance(self, probability):
        return self.random() < probability

    def whole(self, low, high):
        return low + int(self.random() * (high - low + 1))

    def one_of(self, options):
        return options[self.whole(0, len(options) - 1)]

    def decimal(self, low, high, digits):
        return round(low + self.random() * (high - low), digits)

    def shuffled(self, values):
        return sorted(values, key=lambda _: self.random())


# Cases of reputation


def evaluated(*groups):
    """Groups of (count, passed) or (count, passed, latency_ms)."""
    listed = []
    for count, passed, *latency in groups:
        evaluation = {"passed": passed}
        if latency:
            evaluation["latency_ms"] = latency[0]
        listed += [evaluation] * count
    return {"evaluations": listed}


def reputation_windows(add):
    for n in (0, 1, 2, 49, 50, 51, 499, 500, 501):
        add(f"window: {n:03} passes without a latency",
            evaluated((n, True)))
    for n in (49, 50):
        add(f"window: {n:03} failures", evaluated((n, False)))
    add("window: 1000, the older half failed and was slow",
        evaluated((500, False, 9), (500, True)))
    add("window: 501, the one outside has the largest latency",
        evaluated((1, True, LATENCY_MS_MAX), (500, True)))
    add("window: 500, the oldest has the largest latency",
        evaluated((1, True, LATENCY_MS_MAX), (499, True)))

    for streak in (49, 50, 51):
        add(f"streak: {streak} after a failure",
            evaluated((1, False), (streak, True)))
        add(f"streak: {streak} after a failure, passes before it",
            evaluated((30, True), (1, False), (streak, True)))
    add("streak: broken by the newest", evaluated((60, True), (1, False)))
    add("streak: one after a failure",
        evaluated((60, True), (1, False), (1, True)))
    add("streak: broken by the oldest inside the window",
        evaluated((1, False), (499, True)))
    add("streak: broken just outside the window",
        evaluated((1, False), (500, True)))


def reputation_latencies(add):
    for ms in (0, 0.001, 99.999, 100, 100.001, LATENCY_MS_MAX):
        add(f"latency: one pass at {ms} ms", evaluated((1, True, ms)))
        add(f"latency: one failure at {ms} ms", evaluated((1, False, ms)))
    add("latency: exactly 100 ms on average",
        evaluated((1, False, 0), (1, False, 200)))
    add("latency: a microsecond under 100 ms on average",
        evaluated((1, False, 0), (1, False, 199.998)))
    add("latency: a slow one can lose no more than all points",
        evaluated((1, True, LATENCY_MS_MAX), (9, True, 0)))
    add("latency: absent is zero",
        evaluated((2, True), (2, True, 0), (1, True, 50)))
    # 0.9 for the volume and 0.1 for the latency make exactly one point.
    add("latency: the only point is kept", evaluated((3, False, 99.96)))
    add("latency: the only point is lost", evaluated((3, False, 99.961)))

    # Halves of a microsecond that the float product puts on either side.
    halves = [ms + 0.0005 for ms in range(1, 200)]
    ups = [ms for ms in halves if latency_us({"latency_ms": ms}) % 1000 == 1]
    downs = [ms for ms in halves if ms not in ups]
    for ms in ups[:4]:
        add(f"microseconds: {ms} ms goes up", evaluated((1, True, ms)))
    for ms in downs[:4]:
        add(f"microseconds: {ms} ms goes down", evaluated((1, True, ms)))
    below = math.nextafter(0.0005, 0.0)
    for ms in (0.0004, below, 0.0005, 0.0014999, 0.0015, 59999.9995):
        add(f"microseconds: {ms} ms", evaluated((1, True, ms)))


def reputation_ratios(add):
    # A seventh decimal of 5 and nothing after it: odd parts of 128.
    for passes, n in ((1, 128), (3, 128), (127, 128), (1, 3), (2, 3), (6, 7)):
        add(f"pass rate: {passes} of {n}",
            evaluated((passes, True), (n - passes, False)))
    for latencies in (
        (0.001, 0), (0.003, 0), (0.001, 0.001, 0, 0), (0.001, 0, 0, 0),
        (0.001, 0, 0), (0.001, 0.001, 0), (12.345, 12.346),
        (12.346, 12.347), (99.999, 100), (60000, 59999.999),
    ):
        add(f"average latency: {', '.join(map(str, latencies))}",
            evaluated(*((1, True, ms) for ms in latencies)))


def documented_floor(n, passes, streak, latencies):
    """The documented formula in floats, as one would write it down."""
    average = sum_in_order(latencies) / n
    return math.floor(
        passes / n * 400
        + max(0.0, 1 - average / 100) * 250
        + min(streak, 50) / 50 * 200
        + min(n, 500) / 500 * 150
    )


def reduced_floor(n, passes, streak, latencies):
    """The same in floats, with the constants multiplied out."""
    average_us = sum_in_order(latencies) * 1000 / n
    return math.floor(
        400.0 * passes / n
        + max(0.0, 250.0 - average_us / 400)
        + 4.0 * min(streak, 50)
        + 0.3 * n
    )


def whole_scores(dice):
    """Endless evidence whose exact score is whole before the floor.

    The latencies lose just the fraction that the other terms have, and some
    whole points besides. Each is ((n, passes, streak, latencies), input).
    """
    while True:
        n = dice.whole(2, 40)
        fails = dice.whole(0, n - 1)
        passes = n - fails
        streak = dice.whole(0, passes) if fails else n
        others = Fraction(400 * passes, n) + Fraction(3 * n, 10)
        points_lost = others % 1 + dice.whole(0, 248)
        base, longer = divmod(int(points_lost * 400 * n), n)
        latencies = [(base + (i < longer)) / 1000 for i in range(n)]
        outcomes = [True] * (passes - streak) + [False] * fails
        outcomes += [True] * streak
        data = evaluated(*((1, *pair) for pair in zip(outcomes, latencies)))
        yield (n, passes, streak, latencies), data


def reputation_floors(add):
    dice = Dice("reputation floors")

    def documented_is_wrong(case):
        return documented_floor(*case[0]) != reputation(case[1])["score"]

    def reduced_is_wrong(case):
        return reduced_floor(*case[0]) != reputation(case[1])["score"]

    for title, is_wrong in (
        ("as documented", documented_is_wrong),
        ("multiplied out", reduced_is_wrong),
    ):
        wrong = found(whole_scores(dice), is_wrong, 10)
        for number, (_, data) in enumerate(wrong):
            add(f"floor: floats lose a point, {title}, {number}", data)


def reputation_random(add):
    dice = Dice("reputation")
    for n in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 503):
        chance = dice.one_of((0.1, 0.5, 0.9, 0.99))
        longest = dice.one_of((5, 50, 150, 300))
        digits = dice.one_of((1, 4)) if n < 100 else 0
        add(f"random: {n:03}", evaluated(*(
            (1, dice.chance(chance), dice.decimal(0, longest, digits))
            for _ in range(n)
        )))


def reputation_refusals(add):
    add("refused: evaluations missing", {})
    add("refused: evaluations an object", {"evaluations": {}})
    add("refused: passed missing", {"evaluations": [{"latency_ms": 1}]})
    for passed in (1, "true", None):
        add(f"refused: passed {to_json(passed)}",
            evaluated((1, passed, 1)))
    for ms in (-0.001, -1, 60000.001, 60001, "5", True):
        add(f"refused: latency_ms {to_json(ms)}", evaluated((1, True, ms)))
    add("null: latency_ms", evaluated((3, True, None), (1, False, 7)))
    add("refused: latency_ms of the second one",
        evaluated((1, True, 1), (1, True, -1), (1, True, 1)))


# Cases of run


def staged(first_try, total):
    """Stages. Some pass at once; others fail or take longer."""
    passed = {"passed": True}
    others = (
        {"passed": False},
        {"passed": True, "attempts": 2},
        {"passed": False, "attempts": 3},
    )
    return [
        {"name": f"s{i}"} | (passed if i < first_try else others[i % 3])
        for i in range(total)
    ]


def run_with_axes(outcome, error_rate, latency, resource_efficiency):
    """A run whose three other axes are exactly these."""
    total = 20 if error_rate % 5 == 0 else 100
    used = 100 - resource_efficiency
    return {
        "outcome": outcome,
        "stages": staged(error_rate * total // 100, total),
        "wall_ms": 25 * (120 - latency),
        "baseline_wall_ms": [1000],
        "resources": memory_use(used, 100) | cpu_use(used, 100),
    }


def memory_use(peak, limit):
    return {"memory_peak_bytes": peak, "memory_limit_bytes": limit}


def cpu_use(throttled, total):
    return {"cpu_periods": total, "cpu_throttled_periods": throttled}


def run_stages(add):
    for first_try, total in (
        (0, 8), (1, 8), (3, 8), (7, 8), (8, 8), (1, 40), (39, 40),
        (1, 200), (199, 200), (1, 3), (2, 3), (1, 6), (3, 7),
    ):
        add(f"error rate: {first_try} of {total}",
            {"outcome": "completed", "stages": staged(first_try, total)})
    add("error rate: no stages", {"outcome": "completed", "stages": []})


def run_baselines(add):
    def add_timed(name, wall, walls, omitted=()):
        data = {"outcome": "blocked", "wall_ms": wall}
        add(name, data | {"baseline_wall_ms": walls}, omitted)

    # Against 80 ms every odd time is a tie.
    for wall in (0, 39, 40, 41, 79, 80, 81, 159, 160, 161, 239, 240, 300):
        add_timed(f"latency: {wall} ms against 80", wall, [80])
    for wall in (29874, 29875, 29876):
        add_timed(f"latency: {wall} ms against 10000", wall, [10000])
    add_timed("latency: 2^53 ms against as much", 2**53, [2**53] * 2)
    add_timed("latency: the largest 64-bit numbers", 2**63 - 1,
              [2**63 - 1] * 2, omitted=("baseline",))
    add("latency: a baseline and no wall time",
        {"outcome": "completed", "baseline_wall_ms": [10, 20, 30]})
    add("latency: a wall time and no baseline",
        {"outcome": "completed", "wall_ms": 10})

    for runs in (19, 20, 21, 40):
        walls = [900_000] * (runs - 10) + list(range(100, 1100, 100))
        add_timed(f"baseline: {runs} runs", 700, walls)
    for title, wall, walls in (
        ("empty", 5, []),
        ("all zero", 0, [0, 0, 0]),
        ("zero in the middle", 5, [0, 0, 0, 5]),
        ("half way from zero", 5, [0, 0, 5, 5]),
        ("half a millisecond", 1, [0, 1]),
        ("odd and unsorted", 300, [500, 100, 300]),
        ("even and unsorted", 300, [400, 100, 500, 200]),
        ("even, with a half", 161, [81, 80]),
        ("the 20th back is in", 10, [1000] + [10] * 10 + [30] * 9),
        ("the 21st back is out", 10, [1000] + [10] * 10 + [30] * 10),
    ):
        add_timed(f"median: {title}", wall, walls)


def run_resources(add):
    def add_used(title, resources, **others):
        data = {"outcome": "completed", **others, "resources": resources}
        add(f"resources: {title}", data)

    for peak, limit in (
        (0, 100), (55, 100), (551, 1000), (99, 100), (100, 100), (101, 100),
    ):
        add_used(f"memory {peak} of {limit}", memory_use(peak, limit))
    for throttled, total in (
        (0, 100), (5, 100), (51, 1000), (100, 100), (101, 100),
    ):
        add_used(f"periods {throttled} of {total}", cpu_use(throttled, total))
    for throttled in (0, 5, 101):
        add_used(f"throttled {throttled} of 100 ms",
                 {"cpu_throttled_ms": throttled}, wall_ms=100)
    for used, throttled in ((55, 100), (45, 20), (100, 45), (0, 0)):
        add_used(f"memory {used} and periods {throttled} of 100",
                 memory_use(used, 100) | cpu_use(throttled, 100))

    add_used("none", {})
    add_used("a limit without a peak", {"memory_limit_bytes": 100})
    add_used("a peak without a limit", {"memory_peak_bytes": 100})
    add_used("a limit of zero", memory_use(0, 0))
    add_used("periods without throttled ones", {"cpu_periods": 9})
    add_used("zero periods", cpu_use(0, 0))
    by_time = {"cpu_throttled_ms": 90}
    add_used("throttled time without a wall time", by_time)
    add_used("throttled time in no time", by_time, wall_ms=0)
    add_used("periods come before time", cpu_use(1, 4) | by_time, wall_ms=100)
    add_used("time where throttled periods are missing",
             {"cpu_periods": 4} | by_time, wall_ms=100)
    add_used("time where the periods are zero", cpu_use(0, 0) | by_time,
             wall_ms=100)

    # What Linux reports as the limit of a group that has none.
    no_limit = 9_223_372_036_854_771_712
    for title, peak in (
        ("one byte", 1), ("half of it", no_limit // 2), ("all", no_limit),
        ("all but a byte", no_limit - 1), ("more than it", 2**63 - 1),
    ):
        add_used(f"no memory limit, {title}", memory_use(peak, no_limit))
    # 55 % of a limit beyond 2^53 is a tie, and a byte more is none.
    limit = 20 * (2**58 + 1)
    tie = limit * 11 // 20
    add_used("a tie of large numbers", memory_use(tie, limit))
    add_used("a byte over a tie of large numbers", memory_use(tie + 1, limit))


def run_totals(add):
    add("total: the documented example",
        run_with_axes("completed", 85, 72, 93))
    for axes in (
        ("failed", 80, 50, 54), ("failed", 80, 50, 55),
        ("completed", 60, 40, 34), ("completed", 60, 40, 35),
        ("completed", 90, 80, 64), ("completed", 90, 80, 65),
        ("blocked", 90, 0, 4), ("blocked", 90, 0, 5),
        ("completed", 100, 100, 94), ("completed", 100, 100, 95),
        ("failed", 0, 0, 4), ("failed", 0, 0, 5),
        ("completed", 100, 100, 100), ("failed", 0, 0, 0),
        ("completed", 77, 33, 11),
    ):
        add(f"total: {' '.join(map(str, axes))}", run_with_axes(*axes))
    for outcome in COMPLETION:
        add(f"total: {outcome} alone", {"outcome": outcome})


def run_warnings(add):
    good = run_with_axes("completed", 85, 72, 93)
    lint = {"name": "lint", "passed": True}
    test = {"name": "test"}
    for field, values in {
        "wall_ms": (-1, "60000", True, [60000]),
        "baseline_wall_ms": ("1000", 1000, [1000, -1], [1000, "1000"]),
        "stages": (
            lint,
            [lint, "test"],
            [lint, test],
            [lint, test | {"passed": "yes"}],
            [lint | {"attempts": 0}],
            [lint, lint | {"attempts": -1}],
            [lint, lint | {"attempts": "1"}],
        ),
        "resources": ("none", []),
    }.items():
        for value in values:
            add(f"warning: {field} {to_json(value)}", good | {field: value})
    for field in RESOURCE_FIELDS:
        resources = good["resources"] | {field: -1}
        add(f"warning: {field} -1", good | {"resources": resources})
    for field in ("memory_peak_bytes", "cpu_throttled_ms"):
        resources = good["resources"] | {field: "1"}
        add(f"warning: {field} a text", good | {"resources": resources})
    throttled = {"cpu_throttled_ms": 40}
    add("warning: impossible periods, so time decides",
        {"outcome": "completed", "wall_ms": 100,
         "resources": cpu_use(0, -1) | throttled})
    add("warning: impossible wall time, so throttled time says nothing",
        {"outcome": "completed", "wall_ms": -1, "resources": throttled})


def run_notations(add):
    """Whole numbers in any notation, null for absent, the largest numbers."""
    good = run_with_axes("completed", 85, 72, 93)
    for text in ("60000.0", "6e4", "6.00E+4", "600000e-1", "-0", "-0.0"):
        add(f"notation: wall_ms {text}", good | {"wall_ms": Written(text)})
    for text in (
        "60000.5", "0.99999999999999999999", "60000.00000000000000001",
        "-1e-400", "1e400", "9223372036854775808", "9223372036854775808.0",
    ):
        add(f"warning: wall_ms {text}", good | {"wall_ms": Written(text)})
    for wall_ms, *walls in (
        (2**53 + 1, 2**53 + 1), (2**63 - 1, 2**63 - 1),
        (1, 6385956176727293504, 5), (1, 1883534583299773),
    ):
        add(f"baseline: {walls} against {wall_ms}",
            good | {"wall_ms": wall_ms, "baseline_wall_ms": walls})
    add("notation: 9007199254740993.0 is not its neighbour",
        good | {"baseline_wall_ms": [Written("9007199254740993.0")]})
    for field in ("stages", "wall_ms", "baseline_wall_ms", "resources"):
        add(f"null: {field}", good | {field: None})
    for field in RESOURCE_FIELDS:
        resources = good["resources"] | {field: None}
        add(f"null: {field}", good | {"resources": resources})
    lint = {"name": "lint", "passed": True}
    for attempts in (None, Written("1.0"), Written("2.0")):
        add(f"notation: attempts {to_json(attempts)}",
            good | {"stages": [lint, lint | {"attempts": attempts}]})
    for name in (None, 1):
        add(f"warning: a stage with the name {to_json(name)}",
            good | {"stages": [lint, lint | {"name": name}]})
    add("warning: a bad entry that is too old to count",
        good | {"baseline_wall_ms": [-1] + 20 * [1000]})


def run_random(add):
    dice = Dice("run")
    most = dict(zip(RESOURCE_FIELDS, (2**30, 2**30, 5000, 5000, 400_000)))
    for number in range(12):
        total = dice.whole(1, 12)
        parts = {
            "stages": staged(dice.whole(0, total), total),
            "wall_ms": dice.whole(0, 400_000),
            "baseline_wall_ms": [
                dice.whole(1, 300_000) for _ in range(dice.whole(1, 25))
            ],
            "resources": {
                field: dice.whole(0, limit)
                for field, limit in most.items()
                if dice.chance(0.75)
            },
        }
        kept = {name: parts[name] for name in parts if dice.chance(0.85)}
        outcome = dice.one_of(list(COMPLETION))
        add(f"random: {number:02}", {"outcome": outcome} | kept)


def run_refusals(add):
    add("refused: outcome missing", {"wall_ms": 5})
    for outcome in ("done", "", 1, None, ["completed"]):
        add(f"refused: outcome {to_json(outcome)}", {"outcome": outcome})


# Cases of session


def traced(*signals, **weights):
    """Traces t0, t1, ... with these signals, and perhaps some weights."""
    data = {
        "traces": [
            {"trace_id": f"t{i}", "signals": present}
            for i, present in enumerate(signals)
        ]
    }
    return data | ({"signal_weights": weights} if weights else {})


def all_signals(*values):
    """Confidence, loop detection, tool correctness, coherence."""
    return dict(zip(DEFAULT_SIGNAL_WEIGHTS, values))


def signal_draws(seed, count, digits):
    """Endless lists of this many signals."""
    dice = Dice(seed)
    while True:
        yield [dice.decimal(0, 1, digits) for _ in range(count)]


def session_limits(add):
    for limit in ("0.9", "0.8", "0.7", "0.5", "0.3"):
        for offset in ("-0.00006", "-0.00004", "0"):
            confidence = float(Decimal(limit) + Decimal(offset))
            add(f"limit: confidence {confidence}",
                traced({"confidence": confidence}))
    for confidence in (0, 1, 0.00004, 0.99996):
        add(f"limit: confidence {confidence}",
            traced({"confidence": confidence}))

    def coherent(*values):
        return traced(*({"coherence": value} for value in values))

    add("flagged: a step risk of exactly a half is not",
        traced({"confidence": 0.5}, {"loop_detection": 0.5},
               {"tool_correctness": 0.375}, {"coherence": 0.5}))
    # The float below a half leaves a risk of a half; the one below that,
    # a risk just above.
    add("flagged: floats around a half",
        coherent(0.5, 0.5 - 2**-54, 0.5 - 2**-53, 0.5 + 2**-53))
    add("flagged: in the order of the session",
        coherent(0.4, 0.9, 0.1, 0.2))

    dice = Dice("session tails")
    for n in (1, 2, 6, 7, 13, 14, 20, 21, 40, 41, 100):
        values = [round(0.01 + 0.0093 * i, 4) for i in range(n)]
        add(f"tail: {n:03} traces", coherent(*dice.shuffled(values)))
    add("tail: traces without signals do not count",
        traced({}, *({"coherence": i / 10} for i in range(1, 7)), {}))
    add("tail: one catastrophe among good traces",
        traced(*[all_signals(0.9, 1, 1, 0.95)] * 6, all_signals(0, 0, 0, 0)))


def session_presence(add):
    calm = all_signals(0.88, 0.95, 0.92, 0.97)
    risky = all_signals(0.35, 0.28, 0.9, 0.85)
    add("worked: risks 0.12, 0.05, 0.08, 0.03", traced(calm))
    add("worked: step risks 0.12 and 0.72", traced(calm, risky))
    add("worked: step risk 0.72", traced(risky))

    nulls = all_signals(None, None, None, None)
    add("presence: no traces", traced())
    add("presence: no signals", traced({}, {}, {}))
    add("presence: only null signals", traced(nulls, {}))
    for name in DEFAULT_SIGNAL_WEIGHTS:
        add(f"presence: {name} alone", traced({name: 0.3}))
        add(f"presence: {name} missing", traced(without(risky, name)))
        add(f"presence: {name} null", traced(risky | {name: None}))
    add("presence: confidence in some traces",
        traced({"confidence": 0.9}, {"coherence": 0.2}, {},
               {"confidence": 0.6, "loop_detection": 0.7},
               {"confidence": None, "tool_correctness": 0.1}))
    add("presence: whole numbers", traced(all_signals(1, 0, 1, 0)))
    add("presence: all zero", traced(all_signals(0, 0, 0, 0)))
    add("presence: all one", traced(*[all_signals(1, 1, 1, 1)] * 2))


def session_weights(add):
    given = all_signals(0.7, 0.8, 0.6, 0.9)
    ten = dict.fromkeys(given, 10)
    for title, weights in (
        ("all zero", dict.fromkeys(given, 0)),
        ("all ten", ten),
        ("confidence zero", {"confidence": 0}),
        ("confidence ten", {"confidence": 10}),
        ("tool one", {"tool_correctness": 1}),
        ("loop ten, coherence zero", {"loop_detection": 10, "coherence": 0}),
        ("more than four decimals", {"confidence": 0.123456}),
        ("tiny", {"confidence": 0.00001}),
    ):
        add(f"weights: {title}", traced(given, **weights))
    add("weights: ten and the worst", traced(all_signals(0, 0, 0, 0), **ten))
    add("weights: ten and the best", traced(all_signals(1, 1, 1, 1), **ten))
    add("weights: a step risk of exactly one",
        traced({"coherence": 0.875}, coherence=8))
    add("weights: a step risk of exactly a half",
        traced({"loop_detection": 0.75}, loop_detection=2))
    add("weights: no traces", traced(confidence=2))


def session_rounding(add):
    # Odd parts of 32 are the only floats that are ties at four decimals.
    for odd in (1, 3, 5, 7, 13, 19, 25, 31):
        add(f"tie: confidence {odd:02}/32", traced({"confidence": odd / 32}))
    add("tie: penalty and uncertainty",
        traced(all_signals(0.5, 31 / 32, 1, 1),
               all_signals(0.5, 1, 1, 29 / 32), confidence=0.0625))

    draws = signal_draws("session rounding", 1, 5)

    def scaling_misleads(signals):
        risk = 1.0 - signals[0]
        return round4(risk) != math.floor(risk * 10000 + 0.5) / 10000

    for (signal,) in found(draws, scaling_misleads, 4):
        add(f"rounding: scaling misleads, {signal}",
            traced({"confidence": signal}))

    def blend_matters(signals):
        risk = 1.0 - signals[0]
        return round4(0.9 * risk + 0.1 * risk) != round4(risk)

    for (signal,) in found(draws, blend_matters, 4):
        add(f"rounding: the blend decides, {signal}",
            traced({"coherence": signal}))


def session_order(add):
    def sum_order_matters(signals):
        a, b, c = sorted((1.0 - s for s in signals), reverse=True)
        return round4((a + b + c) / 3) != round4((c + b + a) / 3)

    good = [{"coherence": 1}] * 11
    draws = signal_draws("session tail order", 3, 5)
    for i, worst in enumerate(found(draws, sum_order_matters, 2)):
        add(f"order: the tail is summed from the worst, {i}",
            traced(*good, *({"coherence": signal} for signal in worst)))

    def penalty_order_matters(signals):
        _, loop, tool, coherence = (1.0 - signal for signal in signals)
        tool = 0.8 * tool
        by_rule = round4(loop + tool + coherence)
        return by_rule != round4(coherence + tool + loop)

    draws = signal_draws("session penalty order", 4, 5)
    for i, values in enumerate(found(draws, penalty_order_matters, 2)):
        add(f"order: loop, tool, coherence, {i}",
            traced(all_signals(*values)))

    weight = 0.7

    def product_order_matters(signals):
        base, loop = (1.0 - signal for signal in signals)
        weighted = weight * base
        by_rule = round4((1.0 + loop) * weighted)
        regrouped = round4((1.0 + loop) * weight * base)
        spread_out = round4(weighted + loop * weighted)
        return by_rule not in (regrouped, spread_out)

    draws = signal_draws("session product order", 2, 2)
    for i, values in enumerate(found(draws, product_order_matters, 2)):
        add(f"order: weight times risk comes first, {i}",
            traced(all_signals(*values), confidence=weight))


def session_random(add):
    dice = Dice("session")
    for number in range(10):
        lowest = dice.one_of((0, 0.4, 0.8, 0.9))
        signals = [
            {
                name: dice.decimal(lowest, 1, dice.one_of((1, 2, 4, 6)))
                for name in DEFAULT_SIGNAL_WEIGHTS
                if dice.chance(0.8)
            }
            for _ in range(dice.one_of((1, 2, 3, 5, 8, 15)))
        ]
        weights = {
            name: dice.decimal(0, dice.one_of((1, 3)), 2)
            for name in DEFAULT_SIGNAL_WEIGHTS
            if dice.chance(0.3)
        }
        add(f"random: {number:02}", traced(*signals, **weights))


def session_refusals(add):
    add("refused: traces missing", {})
    add("refused: traces an object", {"traces": {}})
    for name, value in (
        ("confidence", 1.0001), ("confidence", -0.0001), ("coherence", 2),
        ("tool_correctness", "0.5"), ("coherence", True), ("charm", 0.5),
        ("confidence_risk", 0.5),
    ):
        add(f"refused: signal {name} {to_json(value)}",
            traced({"loop_detection": 1, name: value}))
    for name, value in (
        ("confidence", 10.0001), ("coherence", -0.1), ("coherence", "1"),
        ("charm", 1), ("tool", 1),
    ):
        add(f"refused: weight {name} {to_json(value)}",
            traced({"loop_detection": 1}, **{name: value}))
    add("null: weight", traced({"confidence": 0.25}, confidence=None))
    add("null: weights", traced({"confidence": 0.25}) | {"signal_weights": None})
    for trace_id in ("t", "t" * 512, "é" * 256):
        session = traced({"confidence": 0.25})
        session["traces"][0]["trace_id"] = trace_id
        add(f"trace id of {len(trace_id.encode())} bytes: {trace_id[0]}",
            session)
    for trace_id in ("", "t" * 513, "é" * 257, None, 7):
        session = traced({"confidence": 0.25})
        session["traces"][0]["trace_id"] = trace_id
        add(f"refused: trace_id {to_json(trace_id)[:9]}", session)
    for signals in (None, []):
        session = traced({"confidence": 0.25})
        session["traces"][0]["signals"] = signals
        add(f"refused: signals {to_json(signals)}", session)
    twice = traced({"confidence": 1}, {}, {"coherence": 1})
    twice["traces"][2]["trace_id"] = "t0"
    add("refused: a trace id twice", twice)


# Cases of identity

NOW = "2026-11-15T12:00:00.000Z"
NOW_MS = int(expect_time({"now": NOW}, "now"))


def event(number, delta, when=0, category="task_quality"):
    """An event. `when` is milliseconds from now, or a text that is used unchanged."""
    if not isinstance(when, str):
        when = time_text(NOW_MS + when)
    return {
        "event_id": f"00000000-0000-4000-8000-{number:012x}",
        "timestamp": when,
        "category": category,
        "event_type": "x",
        "score_delta": delta,
    }


def events_as_of(as_of, *events):
    return {"as_of": as_of, "events": events}


def events_now(*events):
    return events_as_of(NOW, *events)


def identity_windows(add):
    add("window: no events", events_now())
    edges = [
        (f"{days:03} days {title}ago", step - days * DAY_MS)
        for days in (0, 7, 30, 90, 97, 120)
        for title, step in (("and 1 ms ", -1), ("", 0), ("less 1 ms ", 1))
    ]
    for title, when in edges:
        add(f"window: {title}", events_now(event(1, 0.6, when)))
    add("window: at all edges", events_now(*(
        event(i, 2**i, when) for i, (_, when) in enumerate(edges)
    )))


def identity_signs(add):
    words = {0.7: "plus", 0: "zero", -0.3: "minus"}
    for deltas in product(words, repeat=3):
        add(f"signs: {' '.join(words[delta] for delta in deltas)}",
            events_now(*(
                event(i, delta, -DAY_MS, category)
                for i, (delta, category)
                in enumerate(zip(deltas, CATEGORY_WEIGHTS))
            )))


def identity_rounding(add):
    for sign, word in ((1, "plus"), (-1, "minus")):
        for part, count in ((1, 2), (3, 2), (1, 4), (1, 3)):
            zeros = (event(i, 0) for i in range(1, count))
            add(f"rounding: {word}, a mean of {part}/{count} millionths",
                events_now(event(0, sign * part / 1e6), *zeros))
        for category, part in (
            ("economic", 10), ("economic", 9), ("identity_hygiene", 2),
            ("identity_hygiene", 1), ("task_quality", 1),
        ):
            add(f"rounding: {word}, {part} millionths in {category}",
                events_now(event(1, sign * part / 1e6, 0, category)))
        for days, then in ((7, -10 * DAY_MS), (30, -40 * DAY_MS)):
            # 0.7 then and 1.2 now: 1 and 1 are shown, and a trend of 1.
            add(f"rounding: {word}, {days} days, a trend of 1/2 millionth",
                events_now(event(1, sign * 2e-6, then, "economic"),
                           event(2, sign * 2e-6, 0, "identity_hygiene")))
            # 0.4 then and 0.75 now: 0 and 1 are shown, and a trend of 0.
            add(f"rounding: {word}, {days} days, a trend under 1/2",
                events_now(event(1, sign * 1e-6, then),
                           event(2, sign * 1e-6, 0, "economic")))
    add("rounding: thirds", events_now(*(
        event(i, delta, 0, category)
        for i, (delta, category) in enumerate((
            (1, "task_quality"), (0, "task_quality"), (0, "task_quality"),
            (-1, "economic"), (-1, "economic"), (0, "economic"),
        ))
    )))


def identity_copies(add):
    for title, first, second in (
        ("differ", 0, 0),
        ("the first is too old", -91 * DAY_MS, -DAY_MS),
        ("the first is older than every window", -200 * DAY_MS, -DAY_MS),
        ("the first is in the future", 1, -40 * DAY_MS),
        ("the first is younger", -DAY_MS, -40 * DAY_MS),
    ):
        add(f"copies: {title}",
            events_now(event(1, 0.5, first),
                       event(1, -0.9, second, "economic")))
    add("copies: three, and another between",
        events_now(event(1, 0.5), event(2, 0.1), event(1, 0.7),
                   event(1, 0.9)))
    add("copies: alike but for the id",
        events_now(event(1, 0.5), event(2, 0.5)))


def identity_times(add):
    oldest = NOW_MS - 90 * DAY_MS
    edges = (oldest, oldest + 1, NOW_MS, NOW_MS + 1)
    add("time: whole milliseconds", events_now(*(
        event(i, 2**i) | {"timestamp": at} for i, at in enumerate(edges)
    )))
    for title, inside, outside in (
        ("+02:00", "2026-11-15T14:00:00+02:00",
         "2026-11-15T14:00:00.001+02:00"),
        ("-05:30", "2026-11-15T06:30:00-05:30",
         "2026-11-15T06:30:00.001-05:30"),
        ("+14:00, the next day", "2026-11-16T02:00:00+14:00",
         "2026-11-16T02:00:00.001+14:00"),
        ("-12:00, 90 days ago", "2026-08-17T00:00:00.001-12:00",
         "2026-08-17T00:00:00-12:00"),
        ("Z without decimals", "2026-11-15T12:00:00Z",
         "2026-11-15T12:00:01Z"),
        ("Z with one decimal", "2026-11-15T11:59:59.9Z",
         "2026-11-15T12:00:00.1Z"),
    ):
        add(f"time: offset {title}",
            events_now(event(1, 0.25, inside), event(2, 0.5, outside)))
    for as_of in ("2026-11-15T17:30:00.000+05:30", "2026-11-15T12:00:00Z"):
        add(f"time: as of {as_of}",
            events_as_of(as_of, event(1, 0.25), event(2, 0.5, 1)),
            omitted=("as_of",))
    for as_of, *times in (
        ("2028-03-01T00:00:00.000Z", "2028-02-29T00:00:00.000Z",
         "2027-12-02T00:00:00.000Z", "2027-12-02T00:00:00.001Z"),
        ("2027-01-07T23:59:59.999Z", "2026-12-31T23:59:59.999Z",
         "2027-01-01T00:00:00.000Z"),
        ("2000-01-01T00:00:00.000Z", "2000-01-01T00:00:00.000Z"),
        ("2100-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"),
        (NOW_MS, "2026-11-15T12:00:00.000Z"),
    ):
        add(f"time: as of {as_of}", events_as_of(as_of, *(
            event(i, 2**i, at) for i, at in enumerate(times)
        )))
    nanosecond = "2026-11-15T12:00:00.000000001Z"
    add("time: as of a nanosecond later", events_as_of(
        nanosecond, event(1, 0.25, nanosecond), event(2, 0.5, 90 * DAY_MS)))
    add("time: what is finer than a nanosecond is cut off", events_now(
        event(1, 0.25, "2026-11-15T12:00:00.00000000099999Z"),
        event(2, 0.5, nanosecond)))
    add("time: lower case", events_now(event(1, 0.25, "2026-11-15t12:00:00z")))
    add("time: milliseconds with a point", events_now(
        event(1, 0.25) | {"timestamp": Written(f"{NOW_MS}.0")}))


def identity_optional(add):
    full = {
        "identity_id": "00000000-0000-4000-8000-00000000000A",
        "confidence": 0.5,
        "reference_type": "session",
        "reference_id": "s-1",
        "attributes": {"k": "v"},
    }
    add("optional: all of them", events_now(event(1, 0.5) | full))
    same = full | {"identity_id": "00000000-0000-4000-8000-00000000000a"}
    add("optional: one identity in two cases",
        events_now(event(1, 0.5) | full, event(2, -1) | same, event(3, 1)))
    for field in full:
        add(f"null: {field}", events_now(event(1, 0.5) | {field: None}))
    add("optional: an empty reference",
        events_now(event(1, 0.5) | {"reference_type": ""}))
    for event_type in ("x", "x" * 200, "é" * 200):
        add(f"event type of {len(event_type)}: {event_type[0]}",
            events_now(event(1, 0.5) | {"event_type": event_type}))
    other = full | {"identity_id": "00000000-0000-4000-8000-00000000000b"}
    add("refused: identity_id of another",
        events_now(event(1, 0.5) | full, event(2, -1) | other))


def identity_deltas(add):
    for delta in (
        1000000, -1000000, 999999.9999995, 1, 0, 0.000001, 0.0000005,
        -0.0000005, 0.0000004, -0.0000004, 0.0000015, -0.0000015, 0.0000025,
    ):
        add(f"delta: {delta}", events_now(event(1, delta)))

    def product_misleads(delta):
        exact = round_half_away(Fraction(repr(delta)) * MILLION)
        return round_half_away(Fraction(delta * 1e6)) != exact

    halves = ((i + 0.5) / 1e6 for i in range(1000, 100_000))
    for delta in found(halves, product_misleads, 3):
        for signed in (delta, -delta):
            add(f"delta: a tie for decimals only, {signed}",
                events_now(event(1, signed)))
    add("delta: the largest cancel out",
        events_now(event(1, 1000000), event(2, -1000000), event(3, 3e-6)))
    add("delta: the confidence of an event changes no mean", events_now(*(
        event(i, i / 10) | {"confidence": confidence}
        for i, confidence in enumerate((0, 0.25, 1, 1.0))
    )))


def identity_counts(add):
    categories = list(CATEGORY_WEIGHTS)
    for count in (99, 100, 101):
        add(f"count: {count:03} events", events_now(*(
            event(i, (i % 7 - 3) / 10, 0, categories[i % 3])
            | {"timestamp": NOW_MS - i}
            for i in range(count)
        )))


def identity_random(add):
    dice = Dice("identity")
    for number, count in enumerate((1, 2, 3, 5, 8, 13, 21, 34)):
        add(f"random: {number:02}", events_now(*(
            event(
                i,
                dice.decimal(-1, 1, dice.one_of((1, 2, 6))),
                dice.whole(-130 * DAY_MS, 2 * DAY_MS),
                dice.one_of(list(CATEGORY_WEIGHTS)),
            )
            for i in range(count)
        )))


def identity_refusals(add):
    good = event(1, 0.5)
    add("refused: events missing", {"as_of": NOW})
    add("refused: as_of now", events_as_of("now", good))
    for field in ("event_id", "timestamp", "category", "score_delta"):
        add(f"refused: {field} missing", events_now(without(good, field)))
    for field, values in {
        "event_id": ("00000000-0000-4000-8000-00000000000g", 7),
        "timestamp": (
            "2026-11-14", "2026-11-14T12:00:00", "2026-02-30T12:00:00Z",
            "1999-12-31T23:59:59.999Z", "2000-01-01T00:00:00+00:01",
            "2100-01-01T00:00:00.001Z", "2100-06-01T00:00:00Z",
            946_684_799_999, 4_102_444_800_001, Written("946684800000.5"),
            "2026-11-14 12:00:00Z", "2026-11-14T12:00:60Z",
            "2026-11-14T12:00:00+24:00", "2026-11-14T12:00:00+01:60",
            "2026-11-14T12:00:00+0100", "2026-11-14T12:00:00,5Z",
            "2026-11-14T12:00:00.Z", True, None,
        ),
        "category": ("karma", "", 1),
        "score_delta": (1000000.000001, -1000000.000001, "1", None, True),
        "confidence": (1.000001, -0.000001, "high"),
        "event_type": (None, "", "x" * 201, 7),
        "identity_id": ("me", 7),
        "reference_type": ("rumour", 7),
        "reference_id": (7,),
        "attributes": (7, {"k": 1}),
    }.items():
        for value in values:
            add(f"refused: {field} {to_json(value)[:40]}",
                events_now(event(2, 1), good | {field: value}))
    for as_of in ("1999-12-31T23:59:59.999Z", "2100-01-01T00:00:00.001Z"):
        add(f"refused: as_of {as_of}", events_as_of(as_of, good))


# Cases of performance

STARTED_AT = "2026-11-15T09:00:00.000Z"
STARTED_MS = int(expect_time({"started_at": STARTED_AT}, "started_at"))
SAMPLE = {
    "prompts": 12,
    "total_tools": 87,
    "tools_ok": 80,
    "total_cost": Decimal("0.34"),
    "total_tokens": 142_000,
    "cache_tokens": 98_000,
}


def facts(duration_ms=45 * MINUTE_MS, **others):
    """The facts of a session. Those that are not given are those of the sample."""
    ended_at = time_text(STARTED_MS + duration_ms)
    return {"started_at": STARTED_AT, "ended_at": ended_at} | SAMPLE | others


def tool_facts(ok, total, **others):
    return facts(tools_ok=ok, total_tools=total, **others)


def performance_durations(add):
    add("sample", facts())
    for seconds in (
        0, 59.999, 60, 62.999, 63, 66, 86.999, 87, 90, 146.999, 147, 177,
        2700, 86400,
    ):
        add(f"duration: {seconds} s",
            tool_facts(1, 2, duration_ms=round(1000 * seconds)))
    for title, start, end in (
        ("87 s less a nanosecond", "00:00.000000000", "01:26.999999999"),
        ("87 s from a nanosecond on", "00:00.000000001", "01:27.000000001"),
        ("87 s less the first nanosecond", "00:00.000000001", "01:27"),
    ):
        add(f"duration: {title}",
            tool_facts(1, 2, started_at=f"2026-11-15T09:{start}Z",
                       ended_at=f"2026-11-15T09:{end}Z"))
    for end in (STARTED_MS + 86_999, STARTED_MS + 87_000):
        add(f"duration: whole milliseconds {STARTED_MS} to {end}",
            tool_facts(1, 2, started_at=STARTED_MS, ended_at=end))
    add("duration: other offsets",
        tool_facts(1, 2, started_at="2026-11-15T10:00:00+01:00",
                   ended_at="2026-11-15T04:01:27-05:00"))


def performance_dimensions(add):
    for ok, total in (
        (0, 9), (1, 8), (3, 8), (8, 8), (1, 3), (1, 200), (1, 201),
        (199, 200), (9949, 10_000),
    ):
        add(f"quality: {ok} of {total}", tool_facts(ok, total))
    for total, prompts in (
        (4, 1), (5, 1), (6, 1), (199, 40), (198, 40), (201, 40), (1, 40),
        (1, 41),
    ):
        add(f"autonomy: {total} tools, {prompts} prompts",
            tool_facts(total, total, prompts=prompts))
    for ok, minutes in (
        (44, 45), (45, 45), (46, 45), (1, 8), (3, 8), (1, 200), (1, 201),
        (199, 200),
    ):
        add(f"productivity: {ok} in {minutes} min",
            tool_facts(ok, 1000, duration_ms=minutes * MINUTE_MS))
    for cache, total in (
        (0, 1), (1, 1), (1, 8), (1, 200), (1, 201), (199, 200),
        (995 * 10**12, 10**15), (995 * 10**12 - 1, 10**15),
    ):
        add(f"tokens: {cache} of {total}",
            facts(cache_tokens=cache, total_tokens=total))

    nothing = dict.fromkeys(SAMPLE, 0)
    add("nothing: no facts at all", facts(0, **nothing), omitted=("stats",))
    add("nothing: no tools", tool_facts(0, 0), omitted=("stats",))
    add("nothing: no tool succeeded", tool_facts(0, 87))
    add("nothing: no prompts", tool_facts(3, 4, prompts=0))
    add("nothing: no tokens", facts(total_tokens=0, cache_tokens=0))
    add("nothing: no cost", facts(total_cost=0))


def performance_costs(add):
    def add_cost(title, cost, ok):
        add(f"{title}: ${cost} for {ok} tools",
            tool_facts(ok, max(1, ok), total_cost=Decimal(cost)))

    for cost, ok in (
        ("0", 1), ("0.01", 1), ("0.05", 1), ("0.10", 1), ("0.50", 10),
        ("0.0004", 1), ("0.0005", 1), ("0.0015", 1), ("0.0495", 1),
        ("0.0505", 1), ("0.0994", 1), ("0.0995", 1), ("0.0996", 1),
        ("0.1001", 1), ("12345.67", 3), ("0.001", 3), ("0.0035", 7),
        ("0.02", 0),
    ):
        add_cost("cost", cost, ok)
    for cost in ("0.004", "0.005", "0.014999999", "0.015", "1.005", "2.675"):
        add_cost("cents", cost, 80)
    # Nano-dollars come first, and make some of these a tie.
    for cost in (
        "0.0049999994", "0.0049999995", "0.0005000004", "0.0005000005",
        "0.0014999995", "0.0015000005", "0.0000000005",
    ):
        add_cost("nano-dollars", cost, 1)
    # A decimal counts as it is written, with more digits than a float has.
    for cost in ("0.004999999499999999999999", "0.000500000499999999999999"):
        add_cost("nano-dollars, as written", cost, 1)


def weighted_tenths(data):
    """The composite before it is rounded, in thousandths."""
    dimensions = performance(read_json(to_json(data)))["dimensions"]
    return sum(
        weight * round(10 * dimensions[name])
        for name, weight in DIMENSION_WEIGHTS.items()
    )


def facts_with_sum(dice, target):
    """Facts with this composite before rounding, in thousandths.

    Draws tools, prompts and duration. Then chooses tokens and cost, which can
    give any tenths, so that the rest comes out.
    """
    while True:
        total = dice.whole(1, 40)
        ok = dice.one_of((0, total, dice.whole(0, total)))
        data = facts(
            dice.one_of((1, 7, 30)) * MINUTE_MS,
            total_tools=total,
            tools_ok=ok,
            prompts=dice.one_of((1, 10, 1000)),
            total_tokens=100,
            cache_tokens=0,
            total_cost=Decimal(ok or 1) / 10,
        )
        rest = target - weighted_tenths(data)
        pairs = [
            (token, (rest - 15 * token) // 10)
            for token in range(101)
            if (rest - 15 * token) % 10 == 0
            and 0 <= rest - 15 * token <= 1000
        ]
        if pairs:
            token, cost = dice.one_of(pairs)
            data["cache_tokens"] = token
            data["total_cost"] = Decimal((ok or 1) * (100 - cost)) / 1000
            assert weighted_tenths(data) == target
            return data


def performance_composites(add):
    dice = Dice("performance composites")
    for target in (
        0, 45, 50, 3945, 3950, 4045, 4050, 5545, 5550, 6945, 6950, 7045,
        7050, 9945, 9950, 10_000,
    ):
        add(f"composite: {target / 1000}", facts_with_sum(dice, target))


def performance_random(add):
    dice = Dice("performance")
    for number in range(10):
        total = dice.whole(1, 10 ** dice.whole(1, 4))
        tokens = dice.whole(1, 10 ** dice.whole(2, 7))
        nano_dollars = dice.whole(0, 10 ** dice.whole(6, 10))
        add(f"random: {number:02}", {
            "started_at": STARTED_MS,
            "ended_at": STARTED_MS + dice.whole(0, 200 * MINUTE_MS),
            "prompts": dice.whole(0, 40),
            "total_tools": total,
            "tools_ok": dice.whole(0, total),
            "total_cost": Decimal(nano_dollars).scaleb(-9),
            "total_tokens": tokens,
            "cache_tokens": dice.whole(0, tokens),
        })


def performance_notations(add):
    good = facts(tools_ok=7, cache_tokens=0)
    for text in ("12.0", "1.2e1", "9007199254740993.0", "9223372036854775807"):
        add(f"notation: prompts {text}", good | {"prompts": Written(text)})
    for text in (
        "1e15", "1000000000000000.00000000049", "740865532228085.97",
        "377164607639173", "3.4e-1", "5e-10", "4.9e-10",
    ):
        add(f"notation: total_cost {text}", good | {"total_cost": Written(text)})


def performance_refusals(add):
    good = facts(tools_ok=0, cache_tokens=0)
    for field in good:
        add(f"refused: {field} missing", without(good, field))
    for field, values in {
        "started_at": ("today", True),
        "ended_at": (
            "2026-11-15T09:45:00", "2026-11-15T08:59:59.999Z", STARTED_MS - 1,
        ),
        "prompts": (
            -1, 1.5, "1", Written("-1e-400"), Written("0.99999999999999999999"),
            Written("9223372036854775808"),
        ),
        "total_tools": (-1, True),
        "tools_ok": (-1, 88),
        "total_cost": (
            Decimal("-0.01"), "0.34", True, Written("1e16"),
            Written("1000000000000000.0000000005"),
        ),
        "total_tokens": (-1, None),
        "cache_tokens": (-1, 142_001),
    }.items():
        for value in values:
            add(f"refused: {field} {to_json(value)}", good | {field: value})


CASES = {
    "reputation": (
        reputation_windows,
        reputation_latencies,
        reputation_ratios,
        reputation_floors,
        reputation_random,
        reputation_refusals,
    ),
    "run": (
        run_stages,
        run_baselines,
        run_resources,
        run_totals,
        run_warnings,
        run_notations,
        run_random,
        run_refusals,
    ),
    "session": (
        session_limits,
        session_presence,
        session_weights,
        session_rounding,
        session_order,
        session_random,
        session_refusals,
    ),
    "identity": (
        identity_windows,
        identity_signs,
        identity_rounding,
        identity_copies,
        identity_times,
        identity_optional,
        identity_deltas,
        identity_counts,
        identity_random,
        identity_refusals,
    ),
    "performance": (
        performance_durations,
        performance_dimensions,
        performance_costs,
        performance_composites,
        performance_random,
        performance_notations,
        performance_refusals,
    ),
}
