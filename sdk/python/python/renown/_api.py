"""The API of a server, made by `cargo xtask sdk` from its OpenAPI document. Do not edit it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, TypeAlias, TypedDict

from ._http import AsyncHttp, Http, Request, StreamEvent, path

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

AgentKind: TypeAlias = Literal["claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "copilot", "pi", "genai", "unknown"]
"""A kind of agent."""

AgentName: TypeAlias = str
"""Id of an agent: 1 to 200 characters without control characters, not `.` or `..`."""

BaselineSource: TypeAlias = Literal["workspace", "contenders"]
"""The origin of the common baseline of a competition."""

CostSource: TypeAlias = Literal["reported", "priced", "mixed", "none"]
"""The source of costs."""

DurationKind: TypeAlias = Literal["active"]
"""How the duration of a session was measured."""

ErrorCode: TypeAlias = Literal["bad_json", "validation_error", "auth_missing", "auth_format", "auth_invalid", "auth_revoked", "forbidden", "not_found", "method_not_allowed", "timeout", "conflict", "too_large", "unsupported_media_type", "rate_limited", "head_too_large", "internal", "overloaded", "store_unavailable", "clock"]
"""The machine-readable codes of errors."""

EvalStatus: TypeAlias = Literal["pending", "running", "completed", "failed", "cancelled"]
"""The state of an eval run."""

FactKind: TypeAlias = Literal["tool_result", "prompt", "api_request", "api_error", "tool_decision", "feedback", "compaction", "refusal"]
"""The kind of a fact."""

IdentityName: TypeAlias = str
"""A UUID."""

KeyKind: TypeAlias = Literal["publishable", "secret"]
"""Permissions of a key: `publishable` sends evidence and reads scores, `secret` also administers."""

LatencySource: TypeAlias = Literal["gate", "agent"]
"""The latency that counts for reputations: `gate`, the latency of the gates, or `agent`, the
latency of the agent if it was sent.
"""

Lifecycle: TypeAlias = Literal["new", "calibrating", "active", "mature"]
"""How settled a score is: `new` without evaluations, `calibrating` below 50, `active` below 500,
then `mature`.
"""

MetricName: TypeAlias = Literal["agent_reliability", "agent_consistency"]
"""A metric of sessions."""

Moment: TypeAlias = "TimeText | TimeMillis"
"""A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970."""

OrgName: TypeAlias = str
"""The name of an organization."""

Recommendation: TypeAlias = Literal["keep", "review", "doff"]
"""The recommendation for the masque."""

ReferenceType: TypeAlias = Literal["session", "transaction", "attestation", ""]
"""Kind of the thing that an event refers to: `session`, `transaction` or `attestation`; empty if it
refers to nothing.
"""

ReputationCategory: TypeAlias = Literal["task_quality", "economic", "identity_hygiene"]
"""Category of an event: work, payment, or keys and sessions."""

RunName: TypeAlias = str
"""1 to 200 characters without control characters, not `.` or `..`."""

RunOutcome: TypeAlias = Literal["completed", "blocked", "failed"]
"""The outcome of a run: `completed` (all gates passed), `blocked` (partial progress) or `failed`
(no usable output).
"""

SessionName: TypeAlias = str
"""Id of a session, as its agent reports it: 1 to 256 bytes."""

SignalSource: TypeAlias = Literal["sent", "derived", "mixed"]
"""The source of signals: `sent`, `derived` from telemetry, or `mixed`."""

TelemetrySignal: TypeAlias = Literal["logs", "spans", "transcript"]
"""The source of a record: an OTLP signal, or a transcript. Many agents report the same work more
than once.
"""

TieBreak: TypeAlias = Literal["completion", "error_rate", "wall_ms", "finished_at"]
"""What decides between two neighbors of a ranking that have the same score."""

Tier: TypeAlias = Literal["Unranked", "Bronze", "Silver", "Gold", "Elite"]
"""The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score."""

TimeMillis: TypeAlias = int
"""A time as whole milliseconds after 1970."""

TimeText: TypeAlias = str
"""A time from 2000 to 2100 as RFC 3339."""


class AddAgentReply(TypedDict):
    """A known agent."""

    agent_id: AgentName
    identity_id: IdentityName
    """Identity of the agent: a UUIDv5 of its organization and id."""


class AddAgentRequest(TypedDict):
    """The agent to add."""

    agent_id: AgentName

AgentBreakdown = TypedDict("AgentBreakdown", {"agent_id": "AgentName", "from": "str", "to": "str", "evaluations": "int", "passed": "int", "gates": "list[GateCount]", "tools": "list[ToolRow]", "left_out": "int", "latency": "LatencyView", "days": "list[DayPoint]", "pass_rate": "NotRequired[float | None]"})
"""The failures and latencies of an agent over a range of days."""


class AgentRow(TypedDict):
    """An agent in a list. Values without evidence are null."""

    agent_id: AgentName
    """Id of the agent."""
    identity_id: IdentityName
    """Identity of the agent: a UUIDv5 of its organization and id."""
    first_seen: TimeText
    """Time when the agent was first named."""
    last_seen: TimeText
    """Time when evidence of the agent was last accepted."""
    eval_count: int
    """Number of evaluations in the window."""
    score: int
    """Reputation score; 0 without an evaluation, and only indicative below 50 evaluations."""
    lifecycle: Lifecycle
    """How settled the score is."""
    streak: int
    """Number of passes since the last failure."""
    avg_latency_ms: NotRequired[float | None]
    """Average latency of the evaluations."""
    days: NotRequired[list[DayPoint] | None]
    """Latest days, if they were requested."""
    identity_reputation: NotRequired[IdentityBrief | None]
    """Long-term reputation of the agent's identity."""
    latest_session: NotRequired[SessionBrief | None]
    """Session that began last."""
    pass_rate: NotRequired[float | None]
    """Share of the evaluations that passed."""
    tier: NotRequired[Tier | None]
    """Tier of the latest run with a score."""


class AgentStanding(TypedDict):
    """Everything known about an agent."""

    agent_id: AgentName
    """Id of the agent."""
    identity_id: IdentityName
    """Identity of the agent: a UUIDv5 of its organization and id."""
    public: bool
    """Whether the agent has a public page."""
    reputation: RecordReply
    """Reputation of the agent."""
    identity_reputation: IdentityReply
    """Long-term reputation of the agent's identity."""
    tier: Tier
    """Tier of the latest run with a score."""
    runs: list[RunReply]
    """Latest runs."""
    sessions: list[Session]
    """Latest sessions."""
    first_seen: NotRequired[TimeText | None]
    """Time when the agent was first named; null if the agent is unknown."""
    last_seen: NotRequired[TimeText | None]
    """Time when evidence of the agent was last accepted; null if the agent is unknown."""
    metrics: NotRequired[MetricsSummary | None]
    """Metrics of the latest session, in short; null without a session."""
    slug: NotRequired[str | None]
    """Name in the address of the public page."""


class Agents(TypedDict):
    """A page of agents."""

    agents: list[AgentRow]
    """Agents in the requested order."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class CompetitionReply(TypedDict):
    """The ranking of the agents that attempted a spec. All attempts are compared with one baseline,
    so that the time of an attempt does not matter.
    """

    spec_id: RunName
    """Task that agents compete on."""
    baseline: RunBaseline
    """Baseline that the wall time of every attempt is compared with."""
    baseline_source: BaselineSource
    """Origin of the baseline: runs of the workspace before the first attempt, or the attempts
    themselves.
    """
    ranking: list[RankedReply]
    """Every agent with its best run, best first."""
    winner: NotRequired[AgentName | None]
    """First agent of the ranking, if its run completed."""


class ComponentReply(TypedDict):
    """One part of a score. Points are in the unit of the score."""

    name: str
    """Name of the part in its formula."""
    inputs: dict[str, Any]
    """Values that the part was computed from."""
    points: float
    """Contribution of this part."""
    points_max: float
    """Largest possible contribution."""
    points_lost: float
    """Missing points: `points_max − points`."""


class CreateKeyReply(TypedDict):
    """A new key. It is shown only in this reply."""

    id: str
    key: str
    kind: KeyKind
    org: OrgName


class CreateKeyRequest(TypedDict):
    """The key to create."""

    kind: KeyKind
    label: NotRequired[str | None]
    """Label for people."""
    org: NotRequired[OrgName | None]
    """Organization of the key, which is created if it does not exist; default: the caller's
    organization.
    """


class DayPoint(TypedDict):
    """One UTC day of an agent."""

    day: str
    """The day, such as `2026-11-15`."""
    evaluations: int
    """Number of evaluations on that day."""
    passed: int
    """Number of evaluations that passed."""
    score: int
    """Score after the last evaluation of the day."""
    score_min: int
    """Lowest score of the day."""
    score_max: int
    """Highest score of the day."""
    change: NotRequired[int | None]
    """Change of the score on that day, in points; null if the agent was calibrating at the start of
    the day.
    """


class DayTotals(TypedDict):
    """Totals of one day."""

    evaluations: int
    """Number of evaluations."""
    passed: int
    """Number of evaluations that passed."""
    sessions: int
    """Number of sessions that began."""
    cost_usd: float
    """Known cost of these sessions in dollars. One session adds at most 10 000."""
    runs: int
    """Number of runs that were accepted."""
    day: str
    """The UTC day."""
    avg_latency_ms: NotRequired[float | None]
    """Average latency; null without an evaluation."""
    pass_rate: NotRequired[float | None]
    """Share of the evaluations that passed; null without an evaluation."""


class EraseReply(TypedDict):
    """The erased agent."""

    agent_sha256: str
    """SHA-256 of the agent's id."""


class ErrorBody(TypedDict):
    """The body of an error reply."""

    error: str
    """What was found and what is expected."""
    code: ErrorCode
    """The machine-readable code."""
    status: int
    """The HTTP status."""


class EvalChangeReply(TypedDict):
    """The state of an eval run after a change."""

    eval_run_id: str
    """Id of the eval run."""
    status: EvalStatus
    """State of the eval run."""

EvalFilter = TypedDict("EvalFilter", {"min_traces": "int", "agent_id": "NotRequired[AgentName | None]", "from": "NotRequired[TimeText | None]", "to": "NotRequired[TimeText | None]"})
"""A filter of sessions."""

EvalFilterRequest = TypedDict("EvalFilterRequest", {"agent_id": "NotRequired[AgentName | None]", "from": "NotRequired[Moment | None]", "min_traces": "NotRequired[int | None]", "to": "NotRequired[Moment | None]"})
"""A filter of sessions."""


class EvalMetricSummary(TypedDict):
    """The results of one metric over all sessions of a run."""

    name: MetricName
    """Name of the metric."""
    evaluated: int
    """Sessions with evidence for the metric. The others have the score 1 and are left out of the
    mean.
    """
    passed: int
    """Those that reach the threshold."""
    mean: NotRequired[float | None]
    """Mean score; null without an evaluated session."""


class EvalProgress(TypedDict):
    """How far an eval run is."""

    targets: int
    """Sessions to visit, as counted when the run started."""
    done: int
    """Sessions that need no more work."""
    scored: int
    """Sessions that were evaluated."""
    failed: int
    """Sessions that could not be evaluated."""
    skipped: int
    """Sessions that the sample or `min_traces` left out."""


class EvalRun(TypedDict):
    """An eval run: session metrics over many sessions."""

    metrics: list[MetricName]
    """Metrics that are computed."""
    sampling_rate: float
    """Share of the sessions that are evaluated."""
    signal_weights: SignalWeights
    """Weights of the signals."""
    thresholds: MetricThresholds
    """Scores from which a metric passes; null is the default, 0.5."""
    eval_run_id: str
    """Id of the eval run."""
    status: EvalStatus
    """State of the eval run."""
    seed: str
    """Seed of the sample, as 16 hexadecimal digits."""
    created_at: TimeText
    """Time when it was created."""
    progress: EvalProgress
    """Number of sessions, by what became of them."""
    summary: list[EvalMetricSummary]
    """Results of each metric over all sessions so far."""
    error: NotRequired[str | None]
    """Reason why the run failed."""
    filter: NotRequired[EvalFilter | None]
    """Filter that selects the sessions; null if they were listed."""
    finished_at: NotRequired[TimeText | None]
    """Time when it ended; null until then."""
    name: NotRequired[str | None]
    """Name of the eval run."""
    schedule_id: NotRequired[str | None]
    """Schedule that started it; null if a client did."""
    started_at: NotRequired[TimeText | None]
    """Time when it started; null while it waits."""


class EvalRunRequest(TypedDict):
    """An eval run to start."""

    filter: NotRequired[EvalFilterRequest | None]
    """Filter that selects the sessions to evaluate. `{}` selects all."""
    metrics: NotRequired[list[MetricName] | None]
    """Metrics to compute; all if absent."""
    name: NotRequired[str | None]
    """Name of the run, for people."""
    sampling_rate: NotRequired[float | None]
    """Share of the sessions to evaluate, more than 0; all if absent."""
    session_ids: NotRequired[list[SessionName] | None]
    """Sessions to evaluate, each once. Either this or `filter`."""
    signal_weights: NotRequired[SignalWeights | None]
    """Weights of the signals that differ from their defaults."""
    thresholds: NotRequired[MetricThresholds | None]
    """Scores from which a metric passes; 0.5 if absent."""


class EvalRunsReply(TypedDict):
    """A page of eval runs."""

    data: list[EvalRun]
    """Eval runs, the last created first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class EvalScore(TypedDict):
    """The result of one session of an eval run."""

    session_id: SessionName
    """Id of the session."""
    status: str
    """`pending`, `scored` or `failed`."""
    agent_id: NotRequired[AgentName | None]
    """Id of the agent; null if the session is unknown."""
    error: NotRequired[str | None]
    """Reason why the session could not be evaluated."""
    metrics: NotRequired[EvalScores | None]
    """Metrics that were chosen, by name, with their metadata, as `GET
    /v1/sessions/{session_id}/metrics` returns them; null if there are none.
    """


class EvalScores(TypedDict):
    """The results of one session: the chosen metrics."""

    agent_consistency: NotRequired[SessionMetric | None]
    """Consistency, if it was chosen."""
    agent_reliability: NotRequired[SessionMetric | None]
    """Reliability, if it was chosen."""


class EvalScoresReply(TypedDict):
    """A page of results."""

    data: list[EvalScore]
    """Results, sorted by session."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class EvalSettings(TypedDict):
    """What an eval run computes."""

    metrics: list[MetricName]
    """Metrics that are computed."""
    sampling_rate: float
    """Share of the sessions that are evaluated."""
    signal_weights: SignalWeights
    """Weights of the signals."""
    thresholds: MetricThresholds
    """Scores from which a metric passes; null is the default, 0.5."""


class EvaluateReply(TypedDict):
    """The verdict on one output. The status is 200 even if a gate failed."""

    evaluation_id: str
    """Id of this evaluation: the one that was sent, or a new one."""
    passed: bool
    """Whether every gate passed or was skipped."""
    gates: list[GateReport]
    """One result per gate, in the configured order."""
    total_latency_ms: float
    """Latency of the gates."""
    reputation: ReputationReply
    """Reputation of the agent right after this evaluation."""
    warnings: NotRequired[list[str]]
    """Unknown fields of the request, which were ignored. Absent if there are none."""


class EvaluateRequest(TypedDict):
    """The output to judge."""

    agent_id: AgentName
    """Agent that produced the output."""
    output: Any
    """The output: any JSON value. Required, but may be null. Never stored, logged or echoed."""
    evaluation_id: NotRequired[str | None]
    """Id of this evaluation, chosen by the caller. A repeated id returns the first result and
    counts nothing.
    """
    input: NotRequired[Any]
    """Input of the tool: any JSON value. Never stored, logged or echoed."""
    latency_ms: NotRequired[float | None]
    """Latency of the agent."""
    started_at: NotRequired[TimeMillis | None]
    """Start of that time, in milliseconds after 1970."""
    tmax_ms: NotRequired[int | None]
    """Time allowed for the output, in milliseconds, for `rtb.tmax-guard`."""
    tool: NotRequired[str | None]
    """Tool that returned the output."""


class EventReply(TypedDict):
    """One evaluation."""

    id: str
    agent_id: AgentName
    passed: bool
    """Whether every gate passed."""
    gates: list[GateReport]
    total_latency_ms: float
    """Latency of the gates."""
    reputation_score: int
    """Reputation score of the agent right after this evaluation."""
    created_at: TimeText
    """Time of the evaluation; if it was not sent, the time of acceptance."""
    latency_ms: NotRequired[float | None]
    """Latency of the agent, if it was sent."""
    tool_name: NotRequired[str | None]


class EventsReply(TypedDict):
    """A page of evaluations."""

    events: list[EventReply]
    """Evaluations, the last accepted first."""
    limit: int
    """Maximum number of evaluations on the page."""
    offset: int
    """Number of evaluations that were skipped."""
    count: int
    """Number of evaluations on the page."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class ExplainReply(TypedDict):
    """The explanation of a score."""

    score: int
    """Score from 0 to 1000."""
    formula_version: str
    """Version of the formula."""
    components: list[ComponentReply]
    """Parts of the formula."""
    next: NextReply
    """Scores after one more evaluation."""


class FailingGate(TypedDict):
    """A gate that failed evaluations on a day."""

    gate: str
    """Name of the gate."""
    failed: int
    """Number of evaluations that the gate failed on that day."""
    failed_before: int
    """Number of evaluations that the gate failed on the seven days before."""
    is_new: bool
    """Whether the gate failed no evaluation on the seven days before."""


class GateCount(TypedDict):
    """A gate and its failures."""

    gate: str
    """Name of the gate."""
    failed: int
    """Number of evaluations that the gate failed."""


class GateReport(TypedDict):
    """The result of one gate."""

    name: str
    """Name of the gate."""
    passed: bool
    """Whether the gate passed. A skipped gate passes."""
    latency_ms: float
    """Latency of the gate."""
    reason: NotRequired[str | None]
    """Reason for a failure or a skip."""
    skipped: NotRequired[bool | None]
    """Whether the gate was skipped."""


class HealthReply(TypedDict):
    """The health of the server."""

    status: str
    """Always `ok`."""
    version: str
    """Version of the program."""
    otlp_grpc_port: NotRequired[int | None]
    """Port for OTLP over gRPC; null if it is disabled."""
    otlp_http_port: NotRequired[int | None]
    """Port for OTLP over HTTP, which may accept telemetry from this machine without a key; null if
    it is disabled.
    """


class HistoryReply(TypedDict):
    """The history of a score."""

    points: list[PointReply]
    """Steps, oldest first. Steps without an evaluation are left out."""


class IdentityBrief(TypedDict):
    """The reputation of an identity in short."""

    overall_score: float
    """Weighted mean of the categories."""
    confidence: float
    """Confidence from 0 to 1, which grows with the number of events."""
    total_events: int
    """Number of events in the last 90 days."""
    trend_7d: NotRequired[float | None]
    """Change in the last 7 days; null if there were no events 7 days ago."""


class IdentityEventReply(TypedDict):
    """A reputation event of an identity."""

    event_id: str
    timestamp: TimeText
    identity_id: IdentityName
    category: ReputationCategory
    event_type: str
    score_delta: float
    confidence: float
    reference_type: ReferenceType
    attributes: dict[str, str]
    accepted_at: TimeText
    reference_id: NotRequired[str | None]


class IdentityEventsReply(TypedDict):
    """A page of reputation events."""

    data: list[IdentityEventReply]
    """Events, newest first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class IdentityReply(TypedDict):
    """The reputation of an identity as of a time."""

    identity_id: IdentityName
    """Id of the identity."""
    as_of: TimeText
    """Time of the scores."""
    overall_score: float
    """Weighted mean of the categories over 90 days."""
    task_quality_score: float
    """Mean of the events about work."""
    economic_score: float
    """Mean of the events about payment."""
    identity_hygiene_score: float
    """Mean of the events about keys and sessions."""
    total_events: int
    """Number of events in the window."""
    positive_events: int
    """Number of events with a change above 0."""
    negative_events: int
    """Number of events with a change below 0."""
    confidence: float
    """Confidence from 0 to 1, which grows with the number of events."""
    score_7d_ago: float
    """Overall score 7 days before."""
    score_30d_ago: float
    """Overall score 30 days before."""
    formula_version: str
    """Version of the formula."""
    trend_30d: NotRequired[float | None]
    """Change of the overall score in 30 days; null if there were no events 30 days before."""
    trend_7d: NotRequired[float | None]
    """Change of the overall score in 7 days; null if there were no events 7 days before."""


class IngestEvent(TypedDict):
    """One verdict."""

    agent_id: AgentName
    """Agent that produced the output."""
    passed: bool
    """Whether every gate passed."""
    total_latency_ms: float
    """Latency of the gates."""
    evaluation_id: NotRequired[str | None]
    """Id of the evaluation. A repeated id counts nothing."""
    gates: NotRequired[list[GateReport] | None]
    """Results of the gates."""
    latency_ms: NotRequired[float | None]
    """Latency of the agent."""
    timestamp: NotRequired[Moment | None]
    """Time of the evaluation; default: the time of acceptance."""
    tool: NotRequired[str | None]
    """Tool that returned the output."""


class IngestReply(TypedDict):
    """The result of a batch of verdicts."""

    accepted: int
    """Number of verdicts that were counted."""
    duplicates: int
    """Number of verdicts that had been counted before."""
    reputation_updates: list[ReputationUpdate]
    """Reputation of each agent in the batch, after the whole batch."""
    warnings: NotRequired[list[str]]
    """Unknown fields of the request, which were ignored. Absent if there are none."""


class IngestRequest(TypedDict):
    """Verdicts of other programs."""

    events: list[IngestEvent]
    """Verdicts, in the order in which they are counted."""


class KeyReply(TypedDict):
    """A key in a list, without the key itself."""

    id: str
    kind: KeyKind
    org: OrgName
    last_four: str
    """Last four characters of the key."""
    created_at: TimeText
    label: NotRequired[str | None]
    last_used_at: NotRequired[TimeText | None]
    """Time of the last use, to the minute."""
    revoked_at: NotRequired[TimeText | None]


class KeysReply(TypedDict):
    """A page of keys."""

    data: list[KeyReply]
    """Keys, oldest first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class LatencyBucket(TypedDict):
    """A bucket of a histogram: the evaluations above the bound of the previous bucket, up to its
    own bound.
    """

    evaluations: int
    """Number of evaluations in the bucket."""
    at_most_ms: NotRequired[float | None]
    """Upper bound, included; null for the last bucket, which has no bound."""


class LatencyView(TypedDict):
    """The latency of evaluations."""

    buckets: list[LatencyBucket]
    """Histogram of the latencies. Each evaluation is in exactly one bucket."""
    avg_ms: NotRequired[float | None]
    """Average latency; null without an evaluation."""

MetricBand = TypedDict("MetricBand", {"band": "str", "from": "float", "meaning": "str"})
"""A range of scores."""


class MetricDefinition(TypedDict):
    """The definition of a metric."""

    name: str
    """Name of the metric."""
    description: str
    """What the metric measures."""
    method: str
    """How the metric is computed."""
    threshold: float
    """Lowest score that passes, unless the caller sets another threshold."""
    formula_version: str
    """Version of the formula."""
    bands: list[MetricBand]
    """Ranges of scores, best first."""


class MetricSummary(TypedDict):
    """A metric, without the details of its computation."""

    score: float
    """Score from 0 to 1, with four decimals."""
    reason: str
    """The result in one sentence."""
    threshold: float
    """Lowest score that passes."""
    passed: bool
    """Whether the score reaches the threshold."""
    band: str
    """Name of the score's range."""
    evaluable: bool
    """Whether any trace could be evaluated; if not, the score is 1."""
    formula_version: str
    """Version of the formula."""


class MetricThresholds(TypedDict):
    """The thresholds that a caller sets. Absent thresholds keep the default."""

    agent_consistency: NotRequired[float | None]
    """Threshold of consistency."""
    agent_reliability: NotRequired[float | None]
    """Threshold of reliability."""


class MetricsSummary(TypedDict):
    """Both metrics, without the details of their computation."""

    agent_reliability: MetricSummary
    """Reliability of the agent."""
    agent_consistency: MetricSummary
    """Consistency of the agent's traces."""

NextReply = TypedDict("NextReply", {"pass": "int", "fail": "int"})
"""The score after one more evaluation with the average latency of the window."""


class Overview(TypedDict):
    """The overview of an organization."""

    day: str
    """UTC day of the overview."""
    agents: int
    """Number of agents in the organization."""
    today: Totals
    """Totals of the day."""
    week: Totals
    """Totals of the day and the six days before it."""
    days: list[DayTotals]
    """Totals of each of the last 30 days that has any evidence, oldest first."""
    falls: list[ScoreChange]
    """Largest falls of scores on the day, at most 5. Agents that were calibrating at the start of
    the day are left out.
    """
    rises: list[ScoreChange]
    """Largest rises of scores on the day, at most 5."""
    failing_gates: list[FailingGate]
    """Gates that failed evaluations on the day, most failures first."""
    ranking: list[AgentRow]
    """Agents with the best scores, each with its last 30 days."""


class PauseReply(TypedDict):
    """Whether a schedule is paused."""

    schedule_id: str
    """Id of the schedule."""
    paused: bool
    """Whether it is paused."""


class Performance(TypedDict):
    """The performance of a session."""

    duration_min: int
    """Duration in whole minutes."""
    dimensions: PerformanceDimensions
    """The dimensions of the performance."""
    composite: float
    """Performance from 0 to 10, with one decimal: the weighted sum of the dimensions."""
    recommendation: Recommendation
    """Recommendation for the masque."""
    stats: PerformanceStats
    """The sums that the dimensions are computed from."""
    masque: str
    """Masque of the agent, or `unknown`."""
    session_id: str
    """Id of the session."""
    agent_id: str
    """Id of the agent."""
    agent: AgentKind
    """Kind of the agent, such as `claude-code`."""
    formula_version: str
    """Version of the formula."""
    coverage: PerformanceCoverage
    """Evidence that the session contained, and evidence that was missing."""
    signals: PerformanceSignals
    """Counts that the formula does not use."""
    ended_at: NotRequired[TimeText | None]
    """Time of the last event; null if no event has a time."""
    started_at: NotRequired[TimeText | None]
    """Time of the first event; null if no event has a time."""


class PerformanceCoverage(TypedDict):
    """Which of `tools`, `prompts`, `cost` and `tokens` the evidence contains. Without costs, for
    example, the cost efficiency is 10.0 too.
    """

    present: list[str]
    """Kinds of evidence that the session contained."""
    missing: list[str]
    """Kinds of evidence that were missing."""
    partial: list[str]
    """Present kinds that only some of the calls have."""
    signal: TelemetrySignal
    """Source that was scored."""
    cost_source: CostSource
    """Source of the costs."""
    duration: NotRequired[DurationKind | None]
    """How the duration was measured, if not from the first to the last event."""


class PerformanceDimensions(TypedDict):
    """The dimensions of the performance, each from 0 to 10 with one decimal."""

    quality: float
    """Share of tool calls that succeeded."""
    autonomy: float
    """Tool calls per prompt."""
    productivity: float
    """Successful tool calls per minute."""
    token_efficiency: float
    """Share of tokens read from the cache."""
    cost_efficiency: float
    """Low cost per successful tool call."""


class PerformanceScore(TypedDict):
    """The score of a session and its parts."""

    duration_min: int
    """Duration in whole minutes."""
    dimensions: PerformanceDimensions
    """The dimensions of the performance."""
    composite: float
    """Performance from 0 to 10, with one decimal: the weighted sum of the dimensions."""
    recommendation: Recommendation
    """Recommendation for the masque."""
    stats: PerformanceStats
    """The sums that the dimensions are computed from."""


class PerformanceSignals(TypedDict):
    """Other counts, which the formula does not use."""

    api_errors: int
    """Number of model calls that failed."""
    accepts: int
    """Number of tool calls that were allowed."""
    rejects: int
    """Number of tool calls that were rejected."""
    rejects_by_user: int
    """Number of tool calls that the user rejected."""
    compactions: int
    """Number of times the agent shortened the conversation."""
    refusals: int
    """Number of times the model refused to answer."""
    feedback: NotRequired[int | None]
    """Latest rating by the user: -1, 0 or 1."""


class PerformanceStats(TypedDict):
    """The sums that the dimensions are computed from."""

    total_cost: float
    """Cost in dollars, with two decimals."""
    total_tools: int
    """Number of tool calls that ran."""
    tools_ok: int
    """Number of tool calls that succeeded."""
    tool_success_pct: int
    """Share of tool calls that succeeded, in whole percent."""
    prompts: int
    """Number of user prompts."""
    total_tokens: int
    """Number of tokens, each counted once."""
    cache_tokens: int
    """Number of tokens that were read from the cache."""


class PointReply(TypedDict):
    """One step of a history."""

    at: TimeText
    """Start of the step."""
    score: int
    """Score after the last evaluation of the step."""
    evaluations: int
    """Number of evaluations in the step."""


class PublishReply(TypedDict):
    """The publication of an agent."""

    agent_id: AgentName
    public: bool
    slug: NotRequired[str | None]


class PublishRequest(TypedDict):
    """The publication of an agent to change."""

    public: NotRequired[bool | None]
    """Whether the agent is public; default: as before."""
    slug: NotRequired[str | None]
    """Name in the public address; default: the current name, or one derived from the id."""


class RankedReply(TypedDict):
    """An agent with its best run."""

    rank: int
    """Rank of the agent, from 1."""
    agent_id: AgentName
    """Id of the agent."""
    run_id: RunName
    """Id of its best run."""
    tier: Tier
    """Name of that score's range."""
    defaulted: list[str]
    """Axes of the ranked score that could not be computed and count as 50."""
    axes: NotRequired[RunAxes | None]
    """Parts of that score."""
    branch: NotRequired[str | None]
    """Branch with the work of the run."""
    pull_request: NotRequired[str | None]
    """Pull request with the work of the run."""
    ranked_axes: NotRequired[RunAxes | None]
    """Parts of the ranked score."""
    ranked_score: NotRequired[int | None]
    """Score against the baseline of the competition, from 0 to 100, by which the agents are ranked."""
    score: NotRequired[int | None]
    """Score that the run got when it was accepted, from 0 to 100; null after an internal error."""
    tie_decided_by: NotRequired[TieBreak | None]
    """What decided between this run and a neighbor with the same ranked score; null without such a
    neighbor.
    """
    wall_ms: NotRequired[int | None]
    """Wall time of the run, in milliseconds."""


class ReadyReply(TypedDict):
    """The readiness of the store."""

    status: str
    """Always `ready`."""
    standstill: NotRequired[TimeText | None]
    """Only while the system clock shows an earlier time than already stored evidence, because it
    was ahead or is late: the time that all new evidence gets. After five minutes new evidence gets
    the time of the clock again.
    """


class RecordReply(TypedDict):
    """The reputation of an agent."""

    agent_id: AgentName
    """Id of the agent."""
    score: int
    """Score from 0 to 1000."""
    lifecycle: Lifecycle
    """How settled the score is."""
    status: Lifecycle
    """The same as `lifecycle`."""
    eval_count: int
    """Number of evaluations in the window."""
    evaluations: int
    """The same as `eval_count`."""
    window_size: int
    """Maximum number of evaluations in the window."""
    passed: int
    """Number of evaluations in the window that passed."""
    pass_rate: float
    """Share of the evaluations that passed, from 0 to 1."""
    avg_latency_ms: float
    """Average latency of the evaluations in the window."""
    streak: int
    """Number of passes since the last failure."""
    formula_version: str
    """Version of the formula."""


class RecordsPage(TypedDict):
    """A page of records."""

    data: list[SessionRecord]
    """Records: first spans and records without a time, then log records by time."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class RegistryReply(TypedDict):
    """All session metrics."""

    data: list[MetricDefinition]
    next_cursor: NotRequired[str | None]
    """Always null: there is one page."""


class ReputationEventRequest(TypedDict):
    """A reputation event."""

    event_id: str
    """Id of the event. A repeated event counts once; the first copy is kept."""
    timestamp: Moment
    """Time of the event: at most three years in the past and one day in the future."""
    category: ReputationCategory
    """Category of the event."""
    event_type: str
    """Kind of the event, such as `task_completed`."""
    score_delta: float
    """Change of the score of its category."""
    agent_id: NotRequired[AgentName | None]
    """The agent. Required unless `identity_id` is given."""
    attributes: NotRequired[dict[str, str] | None]
    """Other data to store with the event."""
    confidence: NotRequired[float | None]
    """How sure the sender is, from 0 to 1; default: 1. It is stored and returned, but does not
    change scores.
    """
    identity_id: NotRequired[IdentityName | None]
    """Identity of the agent. Required unless `agent_id` is given."""
    reference_id: NotRequired[str | None]
    """Id of the thing that the event refers to."""
    reference_type: NotRequired[ReferenceType | None]
    """Kind of the thing that the event refers to."""


class ReputationEventsReply(TypedDict):
    """The result of a batch of events."""

    accepted: int
    """Number of events that were counted."""
    duplicates: int
    """Number of events that had been counted before."""


class ReputationEventsRequest(TypedDict):
    """Reputation events."""

    events: list[ReputationEventRequest]
    """List of 1 to 1000 events."""


class ReputationReply(TypedDict):
    """The short form of a reputation."""

    score: int
    """Score from 0 to 1000."""
    lifecycle: Lifecycle
    """How settled the score is."""
    eval_count: int
    """Number of evaluations in the window, at most 500."""


class ReputationUpdate(TypedDict):
    """The reputation of an agent after the batch."""

    score: int
    """Score from 0 to 1000."""
    lifecycle: Lifecycle
    """How settled the score is."""
    eval_count: int
    """Number of evaluations in the window, at most 500."""
    agent_id: AgentName
    """Id of the agent."""


class RunAxes(TypedDict):
    """The axes of a score, each from 0 to 100."""

    completion: int
    """Whether the run finished."""
    error_rate: int
    """Share of stages that passed at the first attempt."""
    latency: int
    """Duration, compared with the baseline."""
    resource_efficiency: int
    """Share of memory and CPU that it did not use."""


class RunBaseline(TypedDict):
    """The baseline of the wall time."""

    runs: int
    """Number of compared runs."""
    p50_ms: NotRequired[float | None]
    """Median wall time of the compared runs, in milliseconds; null without such runs."""


class RunCoverage(TypedDict):
    """The evidence that a scorecard used."""

    present: list[str]
    """Kinds of evidence that the run has."""
    missing: list[str]
    """Kinds of evidence that are missing."""
    outcome_is_unsupported: bool
    """Whether only the run itself supports its outcome: it has no stages and names no spec."""


class RunReply(TypedDict):
    """A run with everything known about it."""

    run_id: RunName
    """Id of the run."""
    agent_id: AgentName
    """Id of the agent."""
    workspace: RunName
    """Workspace of the run, whose runs are compared with each other."""
    tier: Tier
    """Name of the score's range."""
    formula_version: str
    """Version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and have the default value 50."""
    warnings: list[str]
    """Parts of the request that do not count: invalid values, which count as absent, and unknown
    fields.
    """
    coverage: RunCoverage
    """Evidence behind the score, and what is missing."""
    scored_at: TimeText
    """Time when the run was scored."""
    outcome: RunOutcome
    """Outcome of the run."""
    resources: RunResources
    """Resource usage of the run."""
    finished_at: TimeText
    """End of the run."""
    axes: NotRequired[RunAxes | None]
    """Parts of the score."""
    baseline: NotRequired[RunBaseline | None]
    """Baseline that the wall time was compared with."""
    score: NotRequired[int | None]
    """Score from 0 to 100; null after an internal error."""
    spec_id: NotRequired[RunName | None]
    """Task that agents compete on."""
    attributes: NotRequired[dict[str, Any] | None]
    """Other data that was sent with the run."""
    branch: NotRequired[str | None]
    """Branch with the work of the run."""
    pull_request: NotRequired[str | None]
    """Pull request with the work of the run."""
    stages: NotRequired[list[RunStage] | None]
    """Stages of the run, as they were sent."""
    started_at: NotRequired[TimeText | None]
    """Start of the run."""
    wall_ms: NotRequired[int | None]
    """Wall time of the run, in milliseconds."""


class RunRequest(TypedDict):
    """A finished run."""

    agent_id: AgentName
    outcome: RunOutcome
    attributes: NotRequired[dict[str, Any] | None]
    """Any other data to store with the run, up to 64 KiB."""
    branch: NotRequired[str | None]
    """Branch with the work of the run."""
    finished_at: NotRequired[Moment | None]
    """End of the run; default: the time of acceptance."""
    pull_request: NotRequired[str | None]
    """Pull request with the work of the run."""
    resources: NotRequired[RunResources | None]
    run_id: NotRequired[RunName | None]
    """Id of the run; default: `run_` and a ULID. A repeated id returns the first scorecard."""
    spec_id: NotRequired[RunName | None]
    """Task that agents compete on."""
    stages: NotRequired[list[RunStage] | None]
    started_at: NotRequired[Moment | None]
    wall_ms: NotRequired[int | None]
    """Wall time of the run, in milliseconds."""
    workspace: NotRequired[RunName | None]
    """Workspace, whose runs are compared with each other; default: `default`."""


class RunResources(TypedDict):
    """The known resource usage of a run."""

    cpu_periods: NotRequired[int | None]
    """Scheduler periods in which the run was runnable."""
    cpu_throttled_ms: NotRequired[int | None]
    """Throttled time in milliseconds."""
    cpu_throttled_periods: NotRequired[int | None]
    """Scheduler periods in which it was throttled."""
    memory_limit_bytes: NotRequired[int | None]
    """Memory limit."""
    memory_peak_bytes: NotRequired[int | None]
    """Peak memory."""


class RunStage(TypedDict):
    """A stage of a run."""

    name: str
    """Name of the stage, for people."""
    passed: bool
    """Whether the stage passed."""
    attempts: NotRequired[int | None]
    """Number of attempts; default: 1."""


class RunsReply(TypedDict):
    """A page of runs."""

    data: list[RunReply]
    """Runs, the last accepted first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class Schedule(TypedDict):
    """When eval runs start by themselves."""

    metrics: list[MetricName]
    """Metrics that are computed."""
    sampling_rate: float
    """Share of the sessions that are evaluated."""
    signal_weights: SignalWeights
    """Weights of the signals."""
    thresholds: MetricThresholds
    """Scores from which a metric passes; null is the default, 0.5."""
    schedule_id: str
    """Id of the schedule."""
    name: str
    """Name of the schedule and of its runs."""
    cadence: str
    """When it fires, in UTC: `every_6h`, `daily`, `weekly`, or `cron:` and five fields."""
    filter: EvalFilter
    """Filter that selects the sessions of its runs."""
    only_if_changed: bool
    """Whether a tick starts no run if no evidence was accepted since the last run."""
    paused: bool
    """Whether it is paused."""
    created_at: TimeText
    """Time when it was created."""
    last_eval_run_id: NotRequired[str | None]
    """The last run that it started."""
    next_tick_at: NotRequired[TimeText | None]
    """Time of the next tick; null while it is paused."""


class SchedulePatch(TypedDict):
    """Changes of a schedule. Absent fields stay as they are."""

    cadence: NotRequired[str | None]
    """When it fires, in UTC. Ticks of the new cadence count from now."""
    filter: NotRequired[EvalFilterRequest | None]
    """Filter that selects the sessions to evaluate. Replaces the whole filter."""
    metrics: NotRequired[list[MetricName] | None]
    """Metrics to compute."""
    name: NotRequired[str | None]
    """Name of the schedule and of its later runs."""
    only_if_changed: NotRequired[bool | None]
    """Start no run if no evidence of the selected sessions was accepted since the last run."""
    sampling_rate: NotRequired[float | None]
    """Share of the sessions to evaluate, more than 0."""
    signal_weights: NotRequired[SignalWeights | None]
    """Weights of the signals. Replaces all weights; absent ones have their defaults."""
    thresholds: NotRequired[MetricThresholds | None]
    """Scores from which a metric passes. Replaces all thresholds."""


class ScheduleRequest(TypedDict):
    """A schedule to create."""

    name: str
    """Name of the schedule and of its runs."""
    cadence: str
    """When it fires, in UTC: `every_6h`, `daily`, `weekly` (Mondays), or `cron:` and five fields,
    such as `cron:30 2 * * MON-FRI`.
    """
    filter: NotRequired[EvalFilterRequest | None]
    """Filter that selects the sessions to evaluate; all if absent."""
    metrics: NotRequired[list[MetricName] | None]
    """Metrics to compute; all if absent."""
    only_if_changed: NotRequired[bool | None]
    """Start no run if no evidence of the selected sessions was accepted since the last run; `true`
    if absent.
    """
    sampling_rate: NotRequired[float | None]
    """Share of the sessions to evaluate, more than 0; all if absent."""
    signal_weights: NotRequired[SignalWeights | None]
    """Weights of the signals that differ from their defaults."""
    thresholds: NotRequired[MetricThresholds | None]
    """Scores from which a metric passes; 0.5 if absent."""


class SchedulesReply(TypedDict):
    """A page of schedules."""

    data: list[Schedule]
    """Schedules, the last created first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class ScoreChange(TypedDict):
    """The change of an agent's score on a day, with its cause."""

    agent_id: AgentName
    """Id of the agent."""
    change: int
    """Change of the score, in points."""
    score_before: int
    """Score before the first evaluation of the day."""
    score: int
    """Score after the last evaluation of the day."""
    evaluations: int
    """Number of evaluations on the day."""
    failed: int
    """Number of evaluations that failed."""
    cause: str
    """Cause of the change, in one sentence."""
    gate: NotRequired[str | None]
    """Gate with the most failures; null if no gate failed."""


class ScoreReply(TypedDict):
    """The scorecard of a run."""

    run_id: RunName
    """Id of the run."""
    agent_id: AgentName
    """Id of the agent."""
    workspace: RunName
    """Workspace of the run, whose runs are compared with each other."""
    tier: Tier
    """Name of the score's range."""
    formula_version: str
    """Version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and have the default value 50."""
    warnings: list[str]
    """Parts of the request that do not count: invalid values, which count as absent, and unknown
    fields.
    """
    coverage: RunCoverage
    """Evidence behind the score, and what is missing."""
    scored_at: TimeText
    """Time when the run was scored."""
    axes: NotRequired[RunAxes | None]
    """Parts of the score."""
    baseline: NotRequired[RunBaseline | None]
    """Baseline that the wall time was compared with."""
    score: NotRequired[int | None]
    """Score from 0 to 100; null after an internal error."""
    spec_id: NotRequired[RunName | None]
    """Task that agents compete on."""


class Session(TypedDict):
    """A session."""

    session_id: SessionName
    """Id of the session."""
    agent_id: AgentName
    """Id of the agent."""
    open: bool
    """Whether the session may still receive records."""
    last_seen: TimeText
    """Time when data of the session last arrived."""
    metrics: MetricsSummary
    """Metrics of the traces, in short."""
    trace_count: int
    """Number of traces."""
    closed_at: NotRequired[TimeText | None]
    """Time when the session was closed; null while it is open."""
    ended_at: NotRequired[TimeText | None]
    """Time of the last event; null if no event has a time."""
    performance: NotRequired[Performance | None]
    """Performance of the session; null if there is nothing to score, for example if only signals
    were sent.
    """
    started_at: NotRequired[TimeText | None]
    """Time of the first event; null if no event has a time."""


class SessionBrief(TypedDict):
    """A session in short."""

    session_id: SessionName
    """Id of the session."""
    started_at: TimeText
    """Start of the session."""
    open: bool
    """Whether the session may still receive records."""
    performance: NotRequired[float | None]
    """Performance from 0 to 10; null if there is nothing to score."""
    recommendation: NotRequired[Recommendation | None]
    """Recommendation for the masque of the session."""


class SessionDetail(TypedDict):
    """A session with its traces."""

    session_id: SessionName
    """Id of the session."""
    agent_id: AgentName
    """Id of the agent."""
    open: bool
    """Whether the session may still receive records."""
    last_seen: TimeText
    """Time when data of the session last arrived."""
    metrics: MetricsSummary
    """Metrics of the traces, in short."""
    trace_count: int
    """Number of traces."""
    traces: list[SessionTrace]
    """Traces of the session."""
    closed_at: NotRequired[TimeText | None]
    """Time when the session was closed; null while it is open."""
    ended_at: NotRequired[TimeText | None]
    """Time of the last event; null if no event has a time."""
    performance: NotRequired[Performance | None]
    """Performance of the session; null if there is nothing to score, for example if only signals
    were sent.
    """
    started_at: NotRequired[TimeText | None]
    """Time of the first event; null if no event has a time."""


class SessionFact(TypedDict):
    """One fact of a record. A field is absent if facts of this kind do not have it, or if its value
    is unknown.
    """

    kind: FactKind
    """Kind of the fact."""
    accepted: NotRequired[bool | None]
    """Whether the call of the tool was allowed."""
    cache_creation_tokens: NotRequired[int | None]
    """Number of tokens that were written to the cache."""
    cache_read_tokens: NotRequired[int | None]
    """Number of tokens that were read from the cache."""
    cost_usd: NotRequired[float | None]
    """Cost in dollars."""
    decided_by: NotRequired[str | None]
    """Who allowed or denied the call: `user`, `policy`, `hook` or `unknown`."""
    duration_ms: NotRequired[float | None]
    """Duration of the call."""
    error_type: NotRequired[str | None]
    """Type of the error."""
    input_tokens: NotRequired[int | None]
    """Number of input tokens."""
    model: NotRequired[str | None]
    """Name of the model."""
    ok: NotRequired[bool | None]
    """Whether the call succeeded."""
    output_tokens: NotRequired[int | None]
    """Number of output tokens."""
    rating: NotRequired[int | None]
    """Rating by the user: -1, 0 or 1."""
    status: NotRequired[int | None]
    """HTTP status of a failed call."""
    tokens_after: NotRequired[int | None]
    """Number of tokens in the context after the compaction."""
    tokens_before: NotRequired[int | None]
    """Number of tokens in the context before the compaction."""
    tool: NotRequired[str | None]
    """Name of the tool."""


class SessionMetric(TypedDict):
    """A metric of a session."""

    name: str
    """Name of the metric."""
    score: float
    """Score from 0 to 1, with four decimals."""
    reason: str
    """The result in one sentence."""
    threshold: float
    """Lowest score that passes."""
    passed: bool
    """Whether the score reaches the threshold."""
    band: str
    """Name of the score's range."""
    evaluable: bool
    """Whether any trace could be evaluated; if not, the score is 1, and a client can ignore it."""
    formula_version: str
    """Version of the formula."""
    metadata: dict[str, Any]
    """Details of the computation: the number of traces and of evaluated traces, and, if any were
    evaluated, the weights, the risks of each trace with the `source` of its signals, and how the
    risks were combined.
    """


class SessionMetrics(TypedDict):
    """Both metrics of a session."""

    agent_reliability: SessionMetric
    """Reliability: the worst moments."""
    agent_consistency: SessionMetric
    """Consistency: the spread."""


class SessionRecord(TypedDict):
    """A record of a session."""

    signal: TelemetrySignal
    """`logs` or `spans`."""
    agent: AgentKind
    """Kind of the agent that sent the record, such as `claude-code`."""
    facts: list[SessionFact]
    """Facts of the record."""
    at: NotRequired[TimeText | None]
    """Time of the record. For a span: its start."""
    until: NotRequired[TimeText | None]
    """End of a span."""


class SessionTrace(TypedDict):
    """A trace of a session."""

    trace_id: str
    """Id of the trace."""
    signals: dict[str, float]
    """Known signals by name."""
    source: NotRequired[SignalSource | None]
    """Whether the signals were sent, or derived from telemetry."""
    started_at: NotRequired[TimeText | None]
    """Start of the trace."""


class SessionsReply(TypedDict):
    """A page of sessions."""

    data: list[Session]
    """Sessions, the one that began last first."""
    next_cursor: NotRequired[str | None]
    """Cursor of the next page; null on the last page."""


class SettingsReply(TypedDict):
    """The settings of an organization."""

    latency_source: LatencySource


class SettingsRequest(TypedDict):
    """The settings to change. Absent settings stay as they are."""

    latency_source: NotRequired[LatencySource | None]


class SignalWeights(TypedDict):
    """The weights of the signals. In a request, absent weights keep their defaults."""

    coherence: NotRequired[float]
    """Weight of coherence."""
    confidence: NotRequired[float]
    """Weight of confidence."""
    loop_detection: NotRequired[float]
    """Weight of loop detection."""
    tool_correctness: NotRequired[float]
    """Weight of tool correctness."""


class SignalsReply(TypedDict):
    """The result of sending signals."""

    accepted: int
    """Number of traces that were stored."""


class SignalsRequest(TypedDict):
    """Signals of the traces of a session."""

    traces: list[TraceRequest]
    """Traces with their signals. Each trace may appear only once."""
    agent_id: NotRequired[AgentName | None]
    """Agent of the session. Used only if its telemetry names no agent."""


class ToolRow(TypedDict):
    """A tool and its evaluations."""

    tool: str
    """Name of the tool."""
    evaluations: int
    """Number of evaluations of the tool."""
    failed: int
    """Number of evaluations that failed."""


class Totals(TypedDict):
    """Totals of one or several days."""

    evaluations: int
    """Number of evaluations."""
    passed: int
    """Number of evaluations that passed."""
    sessions: int
    """Number of sessions that began."""
    cost_usd: float
    """Known cost of these sessions in dollars. One session adds at most 10 000."""
    runs: int
    """Number of runs that were accepted."""
    avg_latency_ms: NotRequired[float | None]
    """Average latency; null without an evaluation."""
    pass_rate: NotRequired[float | None]
    """Share of the evaluations that passed; null without an evaluation."""


class TraceRequest(TypedDict):
    """A trace."""

    trace_id: str
    """Id of the trace: 1 to 512 bytes."""
    signals: NotRequired[TraceSignals]
    """Signals of the trace. Without signals, the trace is stored but the metrics skip it."""
    started_at: NotRequired[Moment | None]
    """Start of the trace. It determines the order of the traces."""


class TraceSignals(TypedDict):
    """Signals of a trace, each from 0 (bad) to 1 (good). An absent signal is unknown."""

    coherence: NotRequired[float | None]
    """How coherent the steps were."""
    confidence: NotRequired[float | None]
    """How confident the agent was."""
    loop_detection: NotRequired[float | None]
    """How free of loops the trace was."""
    tool_correctness: NotRequired[float | None]
    """How correctly the agent chose and used tools."""


class TriggerReply(TypedDict):
    """The run that a client asked for."""

    eval_run_id: str
    """Id of the eval run."""


class Client(Http):
    """Every route of a server; each call waits for its reply."""

    def health(
        self,
        *,
        timeout: float | None = None,
    ) -> HealthReply:
        """Check whether the server is alive."""
        reply: HealthReply = self._send(
            Request("GET", "/health"),
            timeout,
        )
        return reply

    def metrics(
        self,
        *,
        timeout: float | None = None,
    ) -> str:
        """Read the metrics for Prometheus."""
        reply: str = self._send(
            Request("GET", "/metrics", text=True),
            timeout,
        )
        return reply

    def openapi(
        self,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Read this document."""
        reply: Any = self._send(
            Request("GET", "/openapi.json"),
            timeout,
        )
        return reply

    def ready(
        self,
        *,
        timeout: float | None = None,
    ) -> ReadyReply:
        """Check whether the store can write.

        Writes to the store and waits until the write is durable, at most once per second.
        """
        reply: ReadyReply = self._send(
            Request("GET", "/ready"),
            timeout,
        )
        return reply

    def list_agents(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> Agents:
        """List agents.

        Returns one row per agent, over all its evidence. The most recently seen agent is first,
        unless `sort` says otherwise.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page, with the same `sort`
        :param q: Only agents whose id contains this text, ignoring case
        :param sort: `last_seen` (the default); `score`: first agents with 50 evaluations or more,
        best score first, then calibrating agents, then agents without evaluations; `name`; or
        `evaluations`, highest number first
        :param days: Number of latest days to return per agent
        """
        reply: Agents = self._send(
            Request("GET", "/v1/agents", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "days": days}),
            timeout,
        )
        return reply

    def iter_agents(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
        sort: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[AgentRow]:
        """List agents. Page after page is read as they are used.

        Returns one row per agent, over all its evidence. The most recently seen agent is first,
        unless `sort` says otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only agents whose id contains this text, ignoring case
        :param sort: `last_seen` (the default); `score`: first agents with 50 evaluations or more,
        best score first, then calibrating agents, then agents without evaluations; `name`; or
        `evaluations`, highest number first
        :param days: Number of latest days to return per agent
        """
        return self._pages(
            Request("GET", "/v1/agents", query={"limit": page_size, "q": q, "sort": sort, "days": days}),
            "agents",
            timeout,
        )

    def add_agent(
        self,
        *,
        agent_id: AgentName,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> AddAgentReply:
        """Add an agent.

        Adds an agent before its first evaluation. The first evaluation of an unknown agent also
        adds it.
        """
        reply: AddAgentReply = self._send(
            Request("POST", "/v1/agents", body={"agent_id": agent_id}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def erase_agent(
        self,
        agent_id: AgentName,
        *,
        confirm: AgentName,
        timeout: float | None = None,
    ) -> EraseReply:
        """Erase an agent.

        The agent is no longer visible from now on. Its evidence, runs, events, scores and request
        keys are deleted within a minute. A tombstone remains: a time, a count, and the SHA-256 of
        the id. Needs a secret key.

        :param agent_id: The agent, percent-encoded
        :param confirm: The `agent_id` again, as a confirmation
        """
        reply: EraseReply = self._send(
            Request("DELETE", path("/v1/agents/{agent_id}", agent_id), query={"confirm": confirm}),
            timeout,
        )
        return reply

    def get_agent(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> AgentStanding:
        """Read everything about an agent.

        For an unknown agent, all scores are 0 and all lists are empty.

        :param agent_id: The agent, percent-encoded
        """
        reply: AgentStanding = self._send(
            Request("GET", path("/v1/agents/{agent_id}", agent_id)),
            timeout,
        )
        return reply

    def publish_agent(
        self,
        agent_id: AgentName,
        *,
        public: bool | None = None,
        slug: str | None = None,
        timeout: float | None = None,
    ) -> PublishReply:
        """Publish or unpublish an agent.

        A public agent has a page and a badge that need no login. Needs a secret key.

        :param agent_id: The agent, percent-encoded
        :param public: Whether the agent is public; default: as before.
        :param slug: Name in the public address; default: the current name, or one derived from the
        id.
        """
        reply: PublishReply = self._send(
            Request("PATCH", path("/v1/agents/{agent_id}", agent_id), body={}, optional={"public": public, "slug": slug}),
            timeout,
        )
        return reply

    def get_breakdown(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AgentBreakdown:
        """Read the failures and latencies of an agent.

        Returns failures by gate and by tool, and latencies, for the UTC days from `from` to `to`,
        both included: at most 366 days; default: the last 30 days. For an unknown agent, all values
        are 0.

        :param agent_id: The agent, percent-encoded
        :param from_: A time on the first day
        :param to: A time on the last day
        """
        reply: AgentBreakdown = self._send(
            Request("GET", path("/v1/agents/{agent_id}/breakdown", agent_id), query={"from": from_, "to": to}),
            timeout,
        )
        return reply

    def list_eval_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: EvalStatus | None = None,
        schedule_id: str | None = None,
        timeout: float | None = None,
    ) -> EvalRunsReply:
        """List eval runs.

        Returns the last created run first.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only runs in this state
        :param schedule_id: Only runs of this schedule
        """
        reply: EvalRunsReply = self._send(
            Request("GET", "/v1/eval-runs", query={"limit": limit, "cursor": cursor, "status": status, "schedule_id": schedule_id}),
            timeout,
        )
        return reply

    def iter_eval_runs(
        self,
        *,
        page_size: int | None = None,
        status: EvalStatus | None = None,
        schedule_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[EvalRun]:
        """List eval runs. Page after page is read as they are used.

        Returns the last created run first.

        :param page_size: How many are read at a time; all are given
        :param status: Only runs in this state
        :param schedule_id: Only runs of this schedule
        """
        return self._pages(
            Request("GET", "/v1/eval-runs", query={"limit": page_size, "status": status, "schedule_id": schedule_id}),
            "data",
            timeout,
        )

    def create_eval_run(
        self,
        *,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        name: str | None = None,
        sampling_rate: float | None = None,
        session_ids: list[SessionName] | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalRun:
        """Start an eval run.

        Computes session metrics for a list of sessions, or for all sessions that a filter selects.
        The run continues in the background, also after a restart of the server. A session that
        cannot be evaluated is counted as failed and does not stop the run. Needs a secret key.

        :param filter: Filter that selects the sessions to evaluate. `{}` selects all.
        :param metrics: Metrics to compute; all if absent.
        :param name: Name of the run, for people.
        :param sampling_rate: Share of the sessions to evaluate, more than 0; all if absent.
        :param session_ids: Sessions to evaluate, each once. Either this or `filter`.
        :param signal_weights: Weights of the signals that differ from their defaults.
        :param thresholds: Scores from which a metric passes; 0.5 if absent.
        """
        reply: EvalRun = self._send(
            Request("POST", "/v1/eval-runs", body={}, optional={"filter": filter, "metrics": metrics, "name": name, "sampling_rate": sampling_rate, "session_ids": session_ids, "signal_weights": signal_weights, "thresholds": thresholds}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def get_eval_run(
        self,
        eval_run_id: str,
        *,
        timeout: float | None = None,
    ) -> EvalRun:
        """Read an eval run.

        :param eval_run_id: The eval run
        """
        reply: EvalRun = self._send(
            Request("GET", path("/v1/eval-runs/{eval_run_id}", eval_run_id)),
            timeout,
        )
        return reply

    def cancel_eval_run(
        self,
        eval_run_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalChangeReply:
        """Cancel an eval run.

        The results so far stay. Needs a secret key.

        :param eval_run_id: The eval run
        """
        reply: EvalChangeReply = self._send(
            Request("POST", path("/v1/eval-runs/{eval_run_id}/cancel", eval_run_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def retry_eval_run(
        self,
        eval_run_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalChangeReply:
        """Retry the failed sessions of an eval run.

        Evaluates them again; a run that failed as a whole goes on. Results that exist stay. Needs a
        secret key.

        :param eval_run_id: The eval run
        """
        reply: EvalChangeReply = self._send(
            Request("POST", path("/v1/eval-runs/{eval_run_id}/retry", eval_run_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def list_eval_scores(
        self,
        eval_run_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: str | None = None,
        timeout: float | None = None,
    ) -> EvalScoresReply:
        """Read the results of an eval run.

        Returns one result per session, sorted by session, with the metadata of each metric.

        :param eval_run_id: The eval run
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only results in this state
        """
        reply: EvalScoresReply = self._send(
            Request("GET", path("/v1/eval-runs/{eval_run_id}/scores", eval_run_id), query={"limit": limit, "cursor": cursor, "status": status}),
            timeout,
        )
        return reply

    def iter_eval_scores(
        self,
        eval_run_id: str,
        *,
        page_size: int | None = None,
        status: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[EvalScore]:
        """Read the results of an eval run. Page after page is read as they are used.

        Returns one result per session, sorted by session, with the metadata of each metric.

        :param eval_run_id: The eval run
        :param page_size: How many are read at a time; all are given
        :param status: Only results in this state
        """
        return self._pages(
            Request("GET", path("/v1/eval-runs/{eval_run_id}/scores", eval_run_id), query={"limit": page_size, "status": status}),
            "data",
            timeout,
        )

    def evaluate(
        self,
        *,
        agent_id: AgentName,
        output: Any,
        evaluation_id: str | None = None,
        input: Any = None,
        latency_ms: float | None = None,
        started_at: TimeMillis | None = None,
        tmax_ms: int | None = None,
        tool: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvaluateReply:
        """Judge an output.

        Runs the configured gates, counts the verdict for the agent, and returns the verdict and the
        agent's new reputation.

        :param agent_id: Agent that produced the output.
        :param output: The output: any JSON value. Required, but may be null. Never stored, logged
        or echoed.
        :param evaluation_id: Id of this evaluation, chosen by the caller. A repeated id returns the
        first result and counts nothing.
        :param input: Input of the tool: any JSON value. Never stored, logged or echoed.
        :param latency_ms: Latency of the agent.
        :param started_at: Start of that time, in milliseconds after 1970.
        :param tmax_ms: Time allowed for the output, in milliseconds, for `rtb.tmax-guard`.
        :param tool: Tool that returned the output.
        """
        reply: EvaluateReply = self._send(
            Request("POST", "/v1/evaluate", body={"agent_id": agent_id, "output": output}, optional={"evaluation_id": evaluation_id, "input": input, "latency_ms": latency_ms, "started_at": started_at, "tmax_ms": tmax_ms, "tool": tool}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def list_events(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        tool: str | None = None,
        gate: str | None = None,
        passed: bool | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> EventsReply:
        """List evaluations.

        Returns the last accepted evaluation first. An evaluation must match all filters.

        :param limit: Maximum number of rows
        :param offset: Number of rows to skip
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only evaluations of this agent
        :param tool: Only evaluations of this tool
        :param gate: Only evaluations with a result of this gate
        :param passed: Only evaluations that passed, or that failed
        :param from_: Only evaluations at this time or later
        :param to: Only evaluations at this time or earlier
        """
        reply: EventsReply = self._send(
            Request("GET", "/v1/events", query={"limit": limit, "offset": offset, "cursor": cursor, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_events(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        tool: str | None = None,
        gate: str | None = None,
        passed: bool | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> Iterator[EventReply]:
        """List evaluations. Page after page is read as they are used.

        Returns the last accepted evaluation first. An evaluation must match all filters.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only evaluations of this agent
        :param tool: Only evaluations of this tool
        :param gate: Only evaluations with a result of this gate
        :param passed: Only evaluations that passed, or that failed
        :param from_: Only evaluations at this time or later
        :param to: Only evaluations at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/events", query={"limit": page_size, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            "events",
            timeout,
        )

    def list_identity_events(
        self,
        identity_id: IdentityName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> IdentityEventsReply:
        """List the reputation events of an identity.

        Returns the newest event first.

        :param identity_id: The identity
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: IdentityEventsReply = self._send(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_identity_events(
        self,
        identity_id: IdentityName,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[IdentityEventReply]:
        """List the reputation events of an identity. Page after page is read as they are used.

        Returns the newest event first.

        :param identity_id: The identity
        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": page_size}),
            "data",
            timeout,
        )

    def get_identity_reputation(
        self,
        identity_id: IdentityName,
        *,
        as_of: TimeText | None = None,
        timeout: float | None = None,
    ) -> IdentityReply:
        """Read the reputation of an identity.

        For an unknown identity, all values are 0.

        :param identity_id: The identity
        :param as_of: Time of the reputation; default: now
        """
        reply: IdentityReply = self._send(
            Request("GET", path("/v1/identities/{identity_id}/reputation", identity_id), query={"as_of": as_of}),
            timeout,
        )
        return reply

    def ingest(
        self,
        *,
        events: list[IngestEvent],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> IngestReply:
        """Count verdicts.

        Counts verdicts of an SDK, a proxy or another system. All or nothing: if one event is
        invalid, the whole batch is refused and the error names the index of the event.

        :param events: Verdicts, in the order in which they are counted.
        """
        reply: IngestReply = self._send(
            Request("POST", "/v1/ingest", body={"events": events}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        org: OrgName | None = None,
        timeout: float | None = None,
    ) -> KeysReply:
        """List keys.

        Lists the keys of the caller's organization. A secret key of the default organization may
        name another one.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param org: The organization
        """
        reply: KeysReply = self._send(
            Request("GET", "/v1/keys", query={"limit": limit, "cursor": cursor, "org": org}),
            timeout,
        )
        return reply

    def iter_keys(
        self,
        *,
        page_size: int | None = None,
        org: OrgName | None = None,
        timeout: float | None = None,
    ) -> Iterator[KeyReply]:
        """List keys. Page after page is read as they are used.

        Lists the keys of the caller's organization. A secret key of the default organization may
        name another one.

        :param page_size: How many are read at a time; all are given
        :param org: The organization
        """
        return self._pages(
            Request("GET", "/v1/keys", query={"limit": page_size, "org": org}),
            "data",
            timeout,
        )

    def create_key(
        self,
        *,
        kind: KeyKind,
        label: str | None = None,
        org: OrgName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> CreateKeyReply:
        """Create a key.

        A secret key of the default organization may name any organization, other keys only their
        own. The key itself is never stored, so a retry with the same `Idempotency-Key` cannot
        return it: the reply is 409 with the id of the key that the first request created.

        :param label: Label for people.
        :param org: Organization of the key, which is created if it does not exist; default: the
        caller's organization.
        """
        reply: CreateKeyReply = self._send(
            Request("POST", "/v1/keys", body={"kind": kind}, optional={"label": label, "org": org}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def revoke_key(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke a key.

        Revokes a key of the caller's organization at once. A secret key of the default organization
        may revoke any key.

        :param id: Id of the key
        """
        self._send(Request("DELETE", path("/v1/keys/{id}", id)), timeout)

    def list_metrics(
        self,
        *,
        timeout: float | None = None,
    ) -> RegistryReply:
        """List the metrics."""
        reply: RegistryReply = self._send(
            Request("GET", "/v1/metrics"),
            timeout,
        )
        return reply

    def get_overview(
        self,
        *,
        day: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Overview:
        """Read the overview of an organization.

        Returns totals, the largest rises and falls of scores with their causes, failing gates, and
        the agents with the best scores. Days are UTC days.

        :param day: The day, such as `2026-11-15`; default: today
        :param limit: Number of agents in the ranking
        """
        reply: Overview = self._send(
            Request("GET", "/v1/overview", query={"day": day, "limit": limit}),
            timeout,
        )
        return reply

    def add_reputation_events(
        self,
        *,
        events: list[ReputationEventRequest],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ReputationEventsReply:
        """Count reputation events.

        All or nothing: if one event is invalid, the whole batch is refused and the error names the
        index of the event. Needs a secret key.

        :param events: List of 1 to 1000 events.
        """
        reply: ReputationEventsReply = self._send(
            Request("POST", "/v1/reputation-events", body={"events": events}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def get_reputation(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> RecordReply:
        """Read a reputation.

        For an unknown agent, all values are 0.

        :param agent_id: The agent, percent-encoded
        """
        reply: RecordReply = self._send(
            Request("GET", path("/v1/reputation/{agent_id}", agent_id)),
            timeout,
        )
        return reply

    def explain_reputation(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> ExplainReply:
        """Explain a reputation.

        Returns the parts of the score with their inputs and points, and the score after one more
        pass or failure.

        :param agent_id: The agent, percent-encoded
        """
        reply: ExplainReply = self._send(
            Request("GET", path("/v1/reputation/{agent_id}/explain", agent_id)),
            timeout,
        )
        return reply

    def get_reputation_history(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        points: int | None = None,
        timeout: float | None = None,
    ) -> HistoryReply:
        """Read the history of a reputation.

        Returns the last score in each of `points` equal steps from `from` to `to`. Without
        parameters: one step per UTC day since the first evaluation, or 100 steps if that was less
        than three days ago. Steps of whole UTC days are fast, because the server keeps sums per
        day. Other steps read all evaluations of the days that a step boundary cuts.

        :param agent_id: The agent, percent-encoded
        :param from_: Start of the first step
        :param to: End of the last step
        :param points: Number of steps
        """
        reply: HistoryReply = self._send(
            Request("GET", path("/v1/reputation/{agent_id}/history", agent_id), query={"from": from_, "to": to, "points": points}),
            timeout,
        )
        return reply

    def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        workspace: RunName | None = None,
        spec_id: RunName | None = None,
        tier: str | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> RunsReply:
        """List runs.

        Returns the last accepted run first. `from` and `to` filter by the end of a run.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only runs of this agent
        :param workspace: Only runs in this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only runs with this tier
        :param from_: Only runs that ended at this time or later
        :param to: Only runs that ended at this time or earlier
        """
        reply: RunsReply = self._send(
            Request("GET", "/v1/runs", query={"limit": limit, "cursor": cursor, "agent_id": agent_id, "workspace": workspace, "spec_id": spec_id, "tier": tier, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_runs(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        workspace: RunName | None = None,
        spec_id: RunName | None = None,
        tier: str | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> Iterator[RunReply]:
        """List runs. Page after page is read as they are used.

        Returns the last accepted run first. `from` and `to` filter by the end of a run.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only runs of this agent
        :param workspace: Only runs in this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only runs with this tier
        :param from_: Only runs that ended at this time or later
        :param to: Only runs that ended at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/runs", query={"limit": page_size, "agent_id": agent_id, "workspace": workspace, "spec_id": spec_id, "tier": tier, "from": from_, "to": to}),
            "data",
            timeout,
        )

    def submit_run(
        self,
        *,
        agent_id: AgentName,
        outcome: RunOutcome,
        attributes: dict[str, Any] | None = None,
        branch: str | None = None,
        finished_at: Moment | None = None,
        pull_request: str | None = None,
        resources: RunResources | None = None,
        run_id: RunName | None = None,
        spec_id: RunName | None = None,
        stages: list[RunStage] | None = None,
        started_at: Moment | None = None,
        wall_ms: int | None = None,
        workspace: RunName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ScoreReply:
        """Score a run.

        A run is never refused because of missing or invalid data: invalid values count as absent
        and are listed in `warnings`, like unknown fields. Only `agent_id` and `outcome` must be
        valid.

        :param attributes: Any other data to store with the run, up to 64 KiB.
        :param branch: Branch with the work of the run.
        :param finished_at: End of the run; default: the time of acceptance.
        :param pull_request: Pull request with the work of the run.
        :param run_id: Id of the run; default: `run_` and a ULID. A repeated id returns the first
        scorecard.
        :param spec_id: Task that agents compete on.
        :param wall_ms: Wall time of the run, in milliseconds.
        :param workspace: Workspace, whose runs are compared with each other; default: `default`.
        """
        reply: ScoreReply = self._send(
            Request("POST", "/v1/runs", body={"agent_id": agent_id, "outcome": outcome}, optional={"attributes": attributes, "branch": branch, "finished_at": finished_at, "pull_request": pull_request, "resources": resources, "run_id": run_id, "spec_id": spec_id, "stages": stages, "started_at": started_at, "wall_ms": wall_ms, "workspace": workspace}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def get_run(
        self,
        run_id: RunName,
        *,
        timeout: float | None = None,
    ) -> RunReply:
        """Read a run.

        :param run_id: The run, percent-encoded
        """
        reply: RunReply = self._send(
            Request("GET", path("/v1/runs/{run_id}", run_id)),
            timeout,
        )
        return reply

    def get_run_score(
        self,
        run_id: RunName,
        *,
        timeout: float | None = None,
    ) -> ScoreReply:
        """Read a scorecard.

        :param run_id: The run, percent-encoded
        """
        reply: ScoreReply = self._send(
            Request("GET", path("/v1/runs/{run_id}/score", run_id)),
            timeout,
        )
        return reply

    def list_schedules(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> SchedulesReply:
        """List schedules.

        Returns the last created schedule first.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: SchedulesReply = self._send(
            Request("GET", "/v1/schedules", query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_schedules(
        self,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[Schedule]:
        """List schedules. Page after page is read as they are used.

        Returns the last created schedule first.

        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", "/v1/schedules", query={"limit": page_size}),
            "data",
            timeout,
        )

    def create_schedule(
        self,
        *,
        name: str,
        cadence: str,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        only_if_changed: bool | None = None,
        sampling_rate: float | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Schedule:
        """Create a schedule.

        Its first run starts at the first tick after now. Ticks that are missed while the server is
        down start one run when it is back. Needs a secret key.

        :param name: Name of the schedule and of its runs.
        :param cadence: When it fires, in UTC: `every_6h`, `daily`, `weekly` (Mondays), or `cron:`
        and five fields, such as `cron:30 2 * * MON-FRI`.
        :param filter: Filter that selects the sessions to evaluate; all if absent.
        :param metrics: Metrics to compute; all if absent.
        :param only_if_changed: Start no run if no evidence of the selected sessions was accepted
        since the last run; `true` if absent.
        :param sampling_rate: Share of the sessions to evaluate, more than 0; all if absent.
        :param signal_weights: Weights of the signals that differ from their defaults.
        :param thresholds: Scores from which a metric passes; 0.5 if absent.
        """
        reply: Schedule = self._send(
            Request("POST", "/v1/schedules", body={"name": name, "cadence": cadence}, optional={"filter": filter, "metrics": metrics, "only_if_changed": only_if_changed, "sampling_rate": sampling_rate, "signal_weights": signal_weights, "thresholds": thresholds}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def delete_schedule(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a schedule.

        Its runs stay. Needs a secret key.

        :param schedule_id: The schedule
        """
        self._send(Request("DELETE", path("/v1/schedules/{schedule_id}", schedule_id)), timeout)

    def get_schedule(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> Schedule:
        """Read a schedule.

        :param schedule_id: The schedule
        """
        reply: Schedule = self._send(
            Request("GET", path("/v1/schedules/{schedule_id}", schedule_id)),
            timeout,
        )
        return reply

    def update_schedule(
        self,
        schedule_id: str,
        *,
        cadence: str | None = None,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        name: str | None = None,
        only_if_changed: bool | None = None,
        sampling_rate: float | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        timeout: float | None = None,
    ) -> Schedule:
        """Change a schedule.

        Needs a secret key.

        :param schedule_id: The schedule
        :param cadence: When it fires, in UTC. Ticks of the new cadence count from now.
        :param filter: Filter that selects the sessions to evaluate. Replaces the whole filter.
        :param metrics: Metrics to compute.
        :param name: Name of the schedule and of its later runs.
        :param only_if_changed: Start no run if no evidence of the selected sessions was accepted
        since the last run.
        :param sampling_rate: Share of the sessions to evaluate, more than 0.
        :param signal_weights: Weights of the signals. Replaces all weights; absent ones have their
        defaults.
        :param thresholds: Scores from which a metric passes. Replaces all thresholds.
        """
        reply: Schedule = self._send(
            Request("PATCH", path("/v1/schedules/{schedule_id}", schedule_id), body={}, optional={"cadence": cadence, "filter": filter, "metrics": metrics, "name": name, "only_if_changed": only_if_changed, "sampling_rate": sampling_rate, "signal_weights": signal_weights, "thresholds": thresholds}),
            timeout,
        )
        return reply

    def pause_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> PauseReply:
        """Pause a schedule.

        It starts no run until it is resumed. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: PauseReply = self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/pause", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def resume_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> PauseReply:
        """Resume a schedule.

        Ticks that passed during the pause start no run. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: PauseReply = self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/resume", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def list_schedule_runs(
        self,
        schedule_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: EvalStatus | None = None,
        timeout: float | None = None,
    ) -> EvalRunsReply:
        """List the runs of a schedule.

        Returns the last created run first.

        :param schedule_id: The schedule
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only runs in this state
        """
        reply: EvalRunsReply = self._send(
            Request("GET", path("/v1/schedules/{schedule_id}/runs", schedule_id), query={"limit": limit, "cursor": cursor, "status": status}),
            timeout,
        )
        return reply

    def iter_schedule_runs(
        self,
        schedule_id: str,
        *,
        page_size: int | None = None,
        status: EvalStatus | None = None,
        timeout: float | None = None,
    ) -> Iterator[EvalRun]:
        """List the runs of a schedule. Page after page is read as they are used.

        Returns the last created run first.

        :param schedule_id: The schedule
        :param page_size: How many are read at a time; all are given
        :param status: Only runs in this state
        """
        return self._pages(
            Request("GET", path("/v1/schedules/{schedule_id}/runs", schedule_id), query={"limit": page_size, "status": status}),
            "data",
            timeout,
        )

    def trigger_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> TriggerReply:
        """Start a run of a schedule now.

        Starts a run also if nothing has changed, and if the schedule is paused. The next tick
        stays. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: TriggerReply = self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/trigger", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def list_sessions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> SessionsReply:
        """List sessions.

        Returns the session that began last first. `from` and `to` filter by the start of a session;
        if it is unknown, by the time when its first record arrived.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only sessions of this agent
        :param from_: Only sessions that began at this time or later
        :param to: Only sessions that began at this time or earlier
        """
        reply: SessionsReply = self._send(
            Request("GET", "/v1/sessions", query={"limit": limit, "cursor": cursor, "agent_id": agent_id, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_sessions(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> Iterator[Session]:
        """List sessions. Page after page is read as they are used.

        Returns the session that began last first. `from` and `to` filter by the start of a session;
        if it is unknown, by the time when its first record arrived.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only sessions of this agent
        :param from_: Only sessions that began at this time or later
        :param to: Only sessions that began at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/sessions", query={"limit": page_size, "agent_id": agent_id, "from": from_, "to": to}),
            "data",
            timeout,
        )

    def get_session(
        self,
        session_id: SessionName,
        *,
        timeout: float | None = None,
    ) -> SessionDetail:
        """Read a session.

        :param session_id: The session, percent-encoded
        """
        reply: SessionDetail = self._send(
            Request("GET", path("/v1/sessions/{session_id}", session_id)),
            timeout,
        )
        return reply

    def get_session_metrics(
        self,
        session_id: SessionName,
        *,
        signal_weights: str | None = None,
        thresholds: str | None = None,
        timeout: float | None = None,
    ) -> SessionMetrics:
        """Read the metrics of a session.

        Computes the metrics over the traces of the session, in the order of `started_at`, then of
        arrival; traces without a start come last. If no signals were sent, they are derived from
        telemetry, with one trace per prompt.

        :param session_id: The session, percent-encoded
        :param signal_weights: A JSON object with weights from 0 to 10 for any of `confidence`,
        `loop_detection`, `tool_correctness`, `coherence`
        :param thresholds: A JSON object with the score from 0 to 1 at which `agent_reliability` or
        `agent_consistency` passes
        """
        reply: SessionMetrics = self._send(
            Request("GET", path("/v1/sessions/{session_id}/metrics", session_id), query={"signal_weights": signal_weights, "thresholds": thresholds}),
            timeout,
        )
        return reply

    def get_session_performance(
        self,
        session_id: SessionName,
        *,
        timeout: float | None = None,
    ) -> Performance:
        """Read the performance of a session.

        The score is current, also while the session is open. A session without a tool result, a
        prompt or an API request has no performance: the reply is 404.

        :param session_id: The session, percent-encoded
        """
        reply: Performance = self._send(
            Request("GET", path("/v1/sessions/{session_id}/performance", session_id)),
            timeout,
        )
        return reply

    def list_session_records(
        self,
        session_id: SessionName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> RecordsPage:
        """Read the records of a session.

        Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
        and records without a time come first, then log records by time. Repeated records appear
        once. Prompts, arguments and outputs are never stored.

        :param session_id: The session, percent-encoded
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: RecordsPage = self._send(
            Request("GET", path("/v1/sessions/{session_id}/records", session_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_session_records(
        self,
        session_id: SessionName,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[SessionRecord]:
        """Read the records of a session. Page after page is read as they are used.

        Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
        and records without a time come first, then log records by time. Repeated records appear
        once. Prompts, arguments and outputs are never stored.

        :param session_id: The session, percent-encoded
        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", path("/v1/sessions/{session_id}/records", session_id), query={"limit": page_size}),
            "data",
            timeout,
        )

    def add_signals(
        self,
        session_id: SessionName,
        *,
        traces: list[TraceRequest],
        agent_id: AgentName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SignalsReply:
        """Send signals of the traces of a session.

        A trace that was sent before is replaced with all its signals. Sent signals override those
        that are derived from telemetry. `agent_id` names the agent of the session, unless its
        telemetry does.

        :param session_id: The session, percent-encoded
        :param traces: Traces with their signals. Each trace may appear only once.
        :param agent_id: Agent of the session. Used only if its telemetry names no agent.
        """
        reply: SignalsReply = self._send(
            Request("POST", path("/v1/sessions/{session_id}/signals", session_id), body={"traces": traces}, optional={"agent_id": agent_id}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    def get_settings(
        self,
        *,
        timeout: float | None = None,
    ) -> SettingsReply:
        """Read the settings."""
        reply: SettingsReply = self._send(
            Request("GET", "/v1/settings"),
            timeout,
        )
        return reply

    def update_settings(
        self,
        *,
        latency_source: LatencySource | None = None,
        timeout: float | None = None,
    ) -> SettingsReply:
        """Change the settings.

        The new settings apply from the next evaluation on. Existing scores do not change.
        """
        reply: SettingsReply = self._send(
            Request("PATCH", "/v1/settings", body={}, optional={"latency_source": latency_source}),
            timeout,
        )
        return reply

    def get_competition(
        self,
        spec_id: RunName,
        *,
        timeout: float | None = None,
    ) -> CompetitionReply:
        """Compare the agents of a spec.

        Returns every agent with its best run, best first: by `ranked_score`, then completion, error
        rate, wall time and end of the run. `ranked_score` compares every attempt with one baseline;
        `score` is what the run got when it was accepted.

        :param spec_id: The spec, percent-encoded
        """
        reply: CompetitionReply = self._send(
            Request("GET", path("/v1/specs/{spec_id}/competition", spec_id)),
            timeout,
        )
        return reply

    def stream(
        self,
        *,
        timeout: float | None = None,
    ) -> Iterator[StreamEvent]:
        """Stream new scores.

        Sends server-sent events. `score` has `agent_id`, `score`, `lifecycle` and `eval_count`, and
        is sent after an agent was evaluated; many evaluations of one agent in a short time may be
        one event. `session.scored` has the session, and is sent when a session with a performance
        is closed, also when it is closed again after late records. `missed` has the number of
        changes that this client was too slow to receive. The stream ends when the server stops or
        the key is revoked.
        """
        return self._events(
            Request("GET", "/v1/stream"),
            timeout,
        )


class AsyncClient(AsyncHttp):
    """Every route of a server, for `async` code."""

    async def health(
        self,
        *,
        timeout: float | None = None,
    ) -> HealthReply:
        """Check whether the server is alive."""
        reply: HealthReply = await self._send(
            Request("GET", "/health"),
            timeout,
        )
        return reply

    async def metrics(
        self,
        *,
        timeout: float | None = None,
    ) -> str:
        """Read the metrics for Prometheus."""
        reply: str = await self._send(
            Request("GET", "/metrics", text=True),
            timeout,
        )
        return reply

    async def openapi(
        self,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Read this document."""
        reply: Any = await self._send(
            Request("GET", "/openapi.json"),
            timeout,
        )
        return reply

    async def ready(
        self,
        *,
        timeout: float | None = None,
    ) -> ReadyReply:
        """Check whether the store can write.

        Writes to the store and waits until the write is durable, at most once per second.
        """
        reply: ReadyReply = await self._send(
            Request("GET", "/ready"),
            timeout,
        )
        return reply

    async def list_agents(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> Agents:
        """List agents.

        Returns one row per agent, over all its evidence. The most recently seen agent is first,
        unless `sort` says otherwise.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page, with the same `sort`
        :param q: Only agents whose id contains this text, ignoring case
        :param sort: `last_seen` (the default); `score`: first agents with 50 evaluations or more,
        best score first, then calibrating agents, then agents without evaluations; `name`; or
        `evaluations`, highest number first
        :param days: Number of latest days to return per agent
        """
        reply: Agents = await self._send(
            Request("GET", "/v1/agents", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "days": days}),
            timeout,
        )
        return reply

    def iter_agents(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
        sort: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[AgentRow]:
        """List agents. Page after page is read as they are used.

        Returns one row per agent, over all its evidence. The most recently seen agent is first,
        unless `sort` says otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only agents whose id contains this text, ignoring case
        :param sort: `last_seen` (the default); `score`: first agents with 50 evaluations or more,
        best score first, then calibrating agents, then agents without evaluations; `name`; or
        `evaluations`, highest number first
        :param days: Number of latest days to return per agent
        """
        return self._pages(
            Request("GET", "/v1/agents", query={"limit": page_size, "q": q, "sort": sort, "days": days}),
            "agents",
            timeout,
        )

    async def add_agent(
        self,
        *,
        agent_id: AgentName,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> AddAgentReply:
        """Add an agent.

        Adds an agent before its first evaluation. The first evaluation of an unknown agent also
        adds it.
        """
        reply: AddAgentReply = await self._send(
            Request("POST", "/v1/agents", body={"agent_id": agent_id}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def erase_agent(
        self,
        agent_id: AgentName,
        *,
        confirm: AgentName,
        timeout: float | None = None,
    ) -> EraseReply:
        """Erase an agent.

        The agent is no longer visible from now on. Its evidence, runs, events, scores and request
        keys are deleted within a minute. A tombstone remains: a time, a count, and the SHA-256 of
        the id. Needs a secret key.

        :param agent_id: The agent, percent-encoded
        :param confirm: The `agent_id` again, as a confirmation
        """
        reply: EraseReply = await self._send(
            Request("DELETE", path("/v1/agents/{agent_id}", agent_id), query={"confirm": confirm}),
            timeout,
        )
        return reply

    async def get_agent(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> AgentStanding:
        """Read everything about an agent.

        For an unknown agent, all scores are 0 and all lists are empty.

        :param agent_id: The agent, percent-encoded
        """
        reply: AgentStanding = await self._send(
            Request("GET", path("/v1/agents/{agent_id}", agent_id)),
            timeout,
        )
        return reply

    async def publish_agent(
        self,
        agent_id: AgentName,
        *,
        public: bool | None = None,
        slug: str | None = None,
        timeout: float | None = None,
    ) -> PublishReply:
        """Publish or unpublish an agent.

        A public agent has a page and a badge that need no login. Needs a secret key.

        :param agent_id: The agent, percent-encoded
        :param public: Whether the agent is public; default: as before.
        :param slug: Name in the public address; default: the current name, or one derived from the
        id.
        """
        reply: PublishReply = await self._send(
            Request("PATCH", path("/v1/agents/{agent_id}", agent_id), body={}, optional={"public": public, "slug": slug}),
            timeout,
        )
        return reply

    async def get_breakdown(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AgentBreakdown:
        """Read the failures and latencies of an agent.

        Returns failures by gate and by tool, and latencies, for the UTC days from `from` to `to`,
        both included: at most 366 days; default: the last 30 days. For an unknown agent, all values
        are 0.

        :param agent_id: The agent, percent-encoded
        :param from_: A time on the first day
        :param to: A time on the last day
        """
        reply: AgentBreakdown = await self._send(
            Request("GET", path("/v1/agents/{agent_id}/breakdown", agent_id), query={"from": from_, "to": to}),
            timeout,
        )
        return reply

    async def list_eval_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: EvalStatus | None = None,
        schedule_id: str | None = None,
        timeout: float | None = None,
    ) -> EvalRunsReply:
        """List eval runs.

        Returns the last created run first.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only runs in this state
        :param schedule_id: Only runs of this schedule
        """
        reply: EvalRunsReply = await self._send(
            Request("GET", "/v1/eval-runs", query={"limit": limit, "cursor": cursor, "status": status, "schedule_id": schedule_id}),
            timeout,
        )
        return reply

    def iter_eval_runs(
        self,
        *,
        page_size: int | None = None,
        status: EvalStatus | None = None,
        schedule_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[EvalRun]:
        """List eval runs. Page after page is read as they are used.

        Returns the last created run first.

        :param page_size: How many are read at a time; all are given
        :param status: Only runs in this state
        :param schedule_id: Only runs of this schedule
        """
        return self._pages(
            Request("GET", "/v1/eval-runs", query={"limit": page_size, "status": status, "schedule_id": schedule_id}),
            "data",
            timeout,
        )

    async def create_eval_run(
        self,
        *,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        name: str | None = None,
        sampling_rate: float | None = None,
        session_ids: list[SessionName] | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalRun:
        """Start an eval run.

        Computes session metrics for a list of sessions, or for all sessions that a filter selects.
        The run continues in the background, also after a restart of the server. A session that
        cannot be evaluated is counted as failed and does not stop the run. Needs a secret key.

        :param filter: Filter that selects the sessions to evaluate. `{}` selects all.
        :param metrics: Metrics to compute; all if absent.
        :param name: Name of the run, for people.
        :param sampling_rate: Share of the sessions to evaluate, more than 0; all if absent.
        :param session_ids: Sessions to evaluate, each once. Either this or `filter`.
        :param signal_weights: Weights of the signals that differ from their defaults.
        :param thresholds: Scores from which a metric passes; 0.5 if absent.
        """
        reply: EvalRun = await self._send(
            Request("POST", "/v1/eval-runs", body={}, optional={"filter": filter, "metrics": metrics, "name": name, "sampling_rate": sampling_rate, "session_ids": session_ids, "signal_weights": signal_weights, "thresholds": thresholds}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def get_eval_run(
        self,
        eval_run_id: str,
        *,
        timeout: float | None = None,
    ) -> EvalRun:
        """Read an eval run.

        :param eval_run_id: The eval run
        """
        reply: EvalRun = await self._send(
            Request("GET", path("/v1/eval-runs/{eval_run_id}", eval_run_id)),
            timeout,
        )
        return reply

    async def cancel_eval_run(
        self,
        eval_run_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalChangeReply:
        """Cancel an eval run.

        The results so far stay. Needs a secret key.

        :param eval_run_id: The eval run
        """
        reply: EvalChangeReply = await self._send(
            Request("POST", path("/v1/eval-runs/{eval_run_id}/cancel", eval_run_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def retry_eval_run(
        self,
        eval_run_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvalChangeReply:
        """Retry the failed sessions of an eval run.

        Evaluates them again; a run that failed as a whole goes on. Results that exist stay. Needs a
        secret key.

        :param eval_run_id: The eval run
        """
        reply: EvalChangeReply = await self._send(
            Request("POST", path("/v1/eval-runs/{eval_run_id}/retry", eval_run_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def list_eval_scores(
        self,
        eval_run_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: str | None = None,
        timeout: float | None = None,
    ) -> EvalScoresReply:
        """Read the results of an eval run.

        Returns one result per session, sorted by session, with the metadata of each metric.

        :param eval_run_id: The eval run
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only results in this state
        """
        reply: EvalScoresReply = await self._send(
            Request("GET", path("/v1/eval-runs/{eval_run_id}/scores", eval_run_id), query={"limit": limit, "cursor": cursor, "status": status}),
            timeout,
        )
        return reply

    def iter_eval_scores(
        self,
        eval_run_id: str,
        *,
        page_size: int | None = None,
        status: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[EvalScore]:
        """Read the results of an eval run. Page after page is read as they are used.

        Returns one result per session, sorted by session, with the metadata of each metric.

        :param eval_run_id: The eval run
        :param page_size: How many are read at a time; all are given
        :param status: Only results in this state
        """
        return self._pages(
            Request("GET", path("/v1/eval-runs/{eval_run_id}/scores", eval_run_id), query={"limit": page_size, "status": status}),
            "data",
            timeout,
        )

    async def evaluate(
        self,
        *,
        agent_id: AgentName,
        output: Any,
        evaluation_id: str | None = None,
        input: Any = None,
        latency_ms: float | None = None,
        started_at: TimeMillis | None = None,
        tmax_ms: int | None = None,
        tool: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> EvaluateReply:
        """Judge an output.

        Runs the configured gates, counts the verdict for the agent, and returns the verdict and the
        agent's new reputation.

        :param agent_id: Agent that produced the output.
        :param output: The output: any JSON value. Required, but may be null. Never stored, logged
        or echoed.
        :param evaluation_id: Id of this evaluation, chosen by the caller. A repeated id returns the
        first result and counts nothing.
        :param input: Input of the tool: any JSON value. Never stored, logged or echoed.
        :param latency_ms: Latency of the agent.
        :param started_at: Start of that time, in milliseconds after 1970.
        :param tmax_ms: Time allowed for the output, in milliseconds, for `rtb.tmax-guard`.
        :param tool: Tool that returned the output.
        """
        reply: EvaluateReply = await self._send(
            Request("POST", "/v1/evaluate", body={"agent_id": agent_id, "output": output}, optional={"evaluation_id": evaluation_id, "input": input, "latency_ms": latency_ms, "started_at": started_at, "tmax_ms": tmax_ms, "tool": tool}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def list_events(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        tool: str | None = None,
        gate: str | None = None,
        passed: bool | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> EventsReply:
        """List evaluations.

        Returns the last accepted evaluation first. An evaluation must match all filters.

        :param limit: Maximum number of rows
        :param offset: Number of rows to skip
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only evaluations of this agent
        :param tool: Only evaluations of this tool
        :param gate: Only evaluations with a result of this gate
        :param passed: Only evaluations that passed, or that failed
        :param from_: Only evaluations at this time or later
        :param to: Only evaluations at this time or earlier
        """
        reply: EventsReply = await self._send(
            Request("GET", "/v1/events", query={"limit": limit, "offset": offset, "cursor": cursor, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_events(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        tool: str | None = None,
        gate: str | None = None,
        passed: bool | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[EventReply]:
        """List evaluations. Page after page is read as they are used.

        Returns the last accepted evaluation first. An evaluation must match all filters.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only evaluations of this agent
        :param tool: Only evaluations of this tool
        :param gate: Only evaluations with a result of this gate
        :param passed: Only evaluations that passed, or that failed
        :param from_: Only evaluations at this time or later
        :param to: Only evaluations at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/events", query={"limit": page_size, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            "events",
            timeout,
        )

    async def list_identity_events(
        self,
        identity_id: IdentityName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> IdentityEventsReply:
        """List the reputation events of an identity.

        Returns the newest event first.

        :param identity_id: The identity
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: IdentityEventsReply = await self._send(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_identity_events(
        self,
        identity_id: IdentityName,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[IdentityEventReply]:
        """List the reputation events of an identity. Page after page is read as they are used.

        Returns the newest event first.

        :param identity_id: The identity
        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": page_size}),
            "data",
            timeout,
        )

    async def get_identity_reputation(
        self,
        identity_id: IdentityName,
        *,
        as_of: TimeText | None = None,
        timeout: float | None = None,
    ) -> IdentityReply:
        """Read the reputation of an identity.

        For an unknown identity, all values are 0.

        :param identity_id: The identity
        :param as_of: Time of the reputation; default: now
        """
        reply: IdentityReply = await self._send(
            Request("GET", path("/v1/identities/{identity_id}/reputation", identity_id), query={"as_of": as_of}),
            timeout,
        )
        return reply

    async def ingest(
        self,
        *,
        events: list[IngestEvent],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> IngestReply:
        """Count verdicts.

        Counts verdicts of an SDK, a proxy or another system. All or nothing: if one event is
        invalid, the whole batch is refused and the error names the index of the event.

        :param events: Verdicts, in the order in which they are counted.
        """
        reply: IngestReply = await self._send(
            Request("POST", "/v1/ingest", body={"events": events}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        org: OrgName | None = None,
        timeout: float | None = None,
    ) -> KeysReply:
        """List keys.

        Lists the keys of the caller's organization. A secret key of the default organization may
        name another one.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param org: The organization
        """
        reply: KeysReply = await self._send(
            Request("GET", "/v1/keys", query={"limit": limit, "cursor": cursor, "org": org}),
            timeout,
        )
        return reply

    def iter_keys(
        self,
        *,
        page_size: int | None = None,
        org: OrgName | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[KeyReply]:
        """List keys. Page after page is read as they are used.

        Lists the keys of the caller's organization. A secret key of the default organization may
        name another one.

        :param page_size: How many are read at a time; all are given
        :param org: The organization
        """
        return self._pages(
            Request("GET", "/v1/keys", query={"limit": page_size, "org": org}),
            "data",
            timeout,
        )

    async def create_key(
        self,
        *,
        kind: KeyKind,
        label: str | None = None,
        org: OrgName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> CreateKeyReply:
        """Create a key.

        A secret key of the default organization may name any organization, other keys only their
        own. The key itself is never stored, so a retry with the same `Idempotency-Key` cannot
        return it: the reply is 409 with the id of the key that the first request created.

        :param label: Label for people.
        :param org: Organization of the key, which is created if it does not exist; default: the
        caller's organization.
        """
        reply: CreateKeyReply = await self._send(
            Request("POST", "/v1/keys", body={"kind": kind}, optional={"label": label, "org": org}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def revoke_key(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke a key.

        Revokes a key of the caller's organization at once. A secret key of the default organization
        may revoke any key.

        :param id: Id of the key
        """
        await self._send(Request("DELETE", path("/v1/keys/{id}", id)), timeout)

    async def list_metrics(
        self,
        *,
        timeout: float | None = None,
    ) -> RegistryReply:
        """List the metrics."""
        reply: RegistryReply = await self._send(
            Request("GET", "/v1/metrics"),
            timeout,
        )
        return reply

    async def get_overview(
        self,
        *,
        day: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Overview:
        """Read the overview of an organization.

        Returns totals, the largest rises and falls of scores with their causes, failing gates, and
        the agents with the best scores. Days are UTC days.

        :param day: The day, such as `2026-11-15`; default: today
        :param limit: Number of agents in the ranking
        """
        reply: Overview = await self._send(
            Request("GET", "/v1/overview", query={"day": day, "limit": limit}),
            timeout,
        )
        return reply

    async def add_reputation_events(
        self,
        *,
        events: list[ReputationEventRequest],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ReputationEventsReply:
        """Count reputation events.

        All or nothing: if one event is invalid, the whole batch is refused and the error names the
        index of the event. Needs a secret key.

        :param events: List of 1 to 1000 events.
        """
        reply: ReputationEventsReply = await self._send(
            Request("POST", "/v1/reputation-events", body={"events": events}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def get_reputation(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> RecordReply:
        """Read a reputation.

        For an unknown agent, all values are 0.

        :param agent_id: The agent, percent-encoded
        """
        reply: RecordReply = await self._send(
            Request("GET", path("/v1/reputation/{agent_id}", agent_id)),
            timeout,
        )
        return reply

    async def explain_reputation(
        self,
        agent_id: AgentName,
        *,
        timeout: float | None = None,
    ) -> ExplainReply:
        """Explain a reputation.

        Returns the parts of the score with their inputs and points, and the score after one more
        pass or failure.

        :param agent_id: The agent, percent-encoded
        """
        reply: ExplainReply = await self._send(
            Request("GET", path("/v1/reputation/{agent_id}/explain", agent_id)),
            timeout,
        )
        return reply

    async def get_reputation_history(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        points: int | None = None,
        timeout: float | None = None,
    ) -> HistoryReply:
        """Read the history of a reputation.

        Returns the last score in each of `points` equal steps from `from` to `to`. Without
        parameters: one step per UTC day since the first evaluation, or 100 steps if that was less
        than three days ago. Steps of whole UTC days are fast, because the server keeps sums per
        day. Other steps read all evaluations of the days that a step boundary cuts.

        :param agent_id: The agent, percent-encoded
        :param from_: Start of the first step
        :param to: End of the last step
        :param points: Number of steps
        """
        reply: HistoryReply = await self._send(
            Request("GET", path("/v1/reputation/{agent_id}/history", agent_id), query={"from": from_, "to": to, "points": points}),
            timeout,
        )
        return reply

    async def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        workspace: RunName | None = None,
        spec_id: RunName | None = None,
        tier: str | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> RunsReply:
        """List runs.

        Returns the last accepted run first. `from` and `to` filter by the end of a run.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only runs of this agent
        :param workspace: Only runs in this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only runs with this tier
        :param from_: Only runs that ended at this time or later
        :param to: Only runs that ended at this time or earlier
        """
        reply: RunsReply = await self._send(
            Request("GET", "/v1/runs", query={"limit": limit, "cursor": cursor, "agent_id": agent_id, "workspace": workspace, "spec_id": spec_id, "tier": tier, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_runs(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        workspace: RunName | None = None,
        spec_id: RunName | None = None,
        tier: str | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[RunReply]:
        """List runs. Page after page is read as they are used.

        Returns the last accepted run first. `from` and `to` filter by the end of a run.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only runs of this agent
        :param workspace: Only runs in this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only runs with this tier
        :param from_: Only runs that ended at this time or later
        :param to: Only runs that ended at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/runs", query={"limit": page_size, "agent_id": agent_id, "workspace": workspace, "spec_id": spec_id, "tier": tier, "from": from_, "to": to}),
            "data",
            timeout,
        )

    async def submit_run(
        self,
        *,
        agent_id: AgentName,
        outcome: RunOutcome,
        attributes: dict[str, Any] | None = None,
        branch: str | None = None,
        finished_at: Moment | None = None,
        pull_request: str | None = None,
        resources: RunResources | None = None,
        run_id: RunName | None = None,
        spec_id: RunName | None = None,
        stages: list[RunStage] | None = None,
        started_at: Moment | None = None,
        wall_ms: int | None = None,
        workspace: RunName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ScoreReply:
        """Score a run.

        A run is never refused because of missing or invalid data: invalid values count as absent
        and are listed in `warnings`, like unknown fields. Only `agent_id` and `outcome` must be
        valid.

        :param attributes: Any other data to store with the run, up to 64 KiB.
        :param branch: Branch with the work of the run.
        :param finished_at: End of the run; default: the time of acceptance.
        :param pull_request: Pull request with the work of the run.
        :param run_id: Id of the run; default: `run_` and a ULID. A repeated id returns the first
        scorecard.
        :param spec_id: Task that agents compete on.
        :param wall_ms: Wall time of the run, in milliseconds.
        :param workspace: Workspace, whose runs are compared with each other; default: `default`.
        """
        reply: ScoreReply = await self._send(
            Request("POST", "/v1/runs", body={"agent_id": agent_id, "outcome": outcome}, optional={"attributes": attributes, "branch": branch, "finished_at": finished_at, "pull_request": pull_request, "resources": resources, "run_id": run_id, "spec_id": spec_id, "stages": stages, "started_at": started_at, "wall_ms": wall_ms, "workspace": workspace}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def get_run(
        self,
        run_id: RunName,
        *,
        timeout: float | None = None,
    ) -> RunReply:
        """Read a run.

        :param run_id: The run, percent-encoded
        """
        reply: RunReply = await self._send(
            Request("GET", path("/v1/runs/{run_id}", run_id)),
            timeout,
        )
        return reply

    async def get_run_score(
        self,
        run_id: RunName,
        *,
        timeout: float | None = None,
    ) -> ScoreReply:
        """Read a scorecard.

        :param run_id: The run, percent-encoded
        """
        reply: ScoreReply = await self._send(
            Request("GET", path("/v1/runs/{run_id}/score", run_id)),
            timeout,
        )
        return reply

    async def list_schedules(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> SchedulesReply:
        """List schedules.

        Returns the last created schedule first.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: SchedulesReply = await self._send(
            Request("GET", "/v1/schedules", query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_schedules(
        self,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Schedule]:
        """List schedules. Page after page is read as they are used.

        Returns the last created schedule first.

        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", "/v1/schedules", query={"limit": page_size}),
            "data",
            timeout,
        )

    async def create_schedule(
        self,
        *,
        name: str,
        cadence: str,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        only_if_changed: bool | None = None,
        sampling_rate: float | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Schedule:
        """Create a schedule.

        Its first run starts at the first tick after now. Ticks that are missed while the server is
        down start one run when it is back. Needs a secret key.

        :param name: Name of the schedule and of its runs.
        :param cadence: When it fires, in UTC: `every_6h`, `daily`, `weekly` (Mondays), or `cron:`
        and five fields, such as `cron:30 2 * * MON-FRI`.
        :param filter: Filter that selects the sessions to evaluate; all if absent.
        :param metrics: Metrics to compute; all if absent.
        :param only_if_changed: Start no run if no evidence of the selected sessions was accepted
        since the last run; `true` if absent.
        :param sampling_rate: Share of the sessions to evaluate, more than 0; all if absent.
        :param signal_weights: Weights of the signals that differ from their defaults.
        :param thresholds: Scores from which a metric passes; 0.5 if absent.
        """
        reply: Schedule = await self._send(
            Request("POST", "/v1/schedules", body={"name": name, "cadence": cadence}, optional={"filter": filter, "metrics": metrics, "only_if_changed": only_if_changed, "sampling_rate": sampling_rate, "signal_weights": signal_weights, "thresholds": thresholds}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def delete_schedule(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a schedule.

        Its runs stay. Needs a secret key.

        :param schedule_id: The schedule
        """
        await self._send(Request("DELETE", path("/v1/schedules/{schedule_id}", schedule_id)), timeout)

    async def get_schedule(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> Schedule:
        """Read a schedule.

        :param schedule_id: The schedule
        """
        reply: Schedule = await self._send(
            Request("GET", path("/v1/schedules/{schedule_id}", schedule_id)),
            timeout,
        )
        return reply

    async def update_schedule(
        self,
        schedule_id: str,
        *,
        cadence: str | None = None,
        filter: EvalFilterRequest | None = None,
        metrics: list[MetricName] | None = None,
        name: str | None = None,
        only_if_changed: bool | None = None,
        sampling_rate: float | None = None,
        signal_weights: SignalWeights | None = None,
        thresholds: MetricThresholds | None = None,
        timeout: float | None = None,
    ) -> Schedule:
        """Change a schedule.

        Needs a secret key.

        :param schedule_id: The schedule
        :param cadence: When it fires, in UTC. Ticks of the new cadence count from now.
        :param filter: Filter that selects the sessions to evaluate. Replaces the whole filter.
        :param metrics: Metrics to compute.
        :param name: Name of the schedule and of its later runs.
        :param only_if_changed: Start no run if no evidence of the selected sessions was accepted
        since the last run.
        :param sampling_rate: Share of the sessions to evaluate, more than 0.
        :param signal_weights: Weights of the signals. Replaces all weights; absent ones have their
        defaults.
        :param thresholds: Scores from which a metric passes. Replaces all thresholds.
        """
        reply: Schedule = await self._send(
            Request("PATCH", path("/v1/schedules/{schedule_id}", schedule_id), body={}, optional={"cadence": cadence, "filter": filter, "metrics": metrics, "name": name, "only_if_changed": only_if_changed, "sampling_rate": sampling_rate, "signal_weights": signal_weights, "thresholds": thresholds}),
            timeout,
        )
        return reply

    async def pause_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> PauseReply:
        """Pause a schedule.

        It starts no run until it is resumed. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: PauseReply = await self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/pause", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def resume_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> PauseReply:
        """Resume a schedule.

        Ticks that passed during the pause start no run. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: PauseReply = await self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/resume", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def list_schedule_runs(
        self,
        schedule_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: EvalStatus | None = None,
        timeout: float | None = None,
    ) -> EvalRunsReply:
        """List the runs of a schedule.

        Returns the last created run first.

        :param schedule_id: The schedule
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param status: Only runs in this state
        """
        reply: EvalRunsReply = await self._send(
            Request("GET", path("/v1/schedules/{schedule_id}/runs", schedule_id), query={"limit": limit, "cursor": cursor, "status": status}),
            timeout,
        )
        return reply

    def iter_schedule_runs(
        self,
        schedule_id: str,
        *,
        page_size: int | None = None,
        status: EvalStatus | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[EvalRun]:
        """List the runs of a schedule. Page after page is read as they are used.

        Returns the last created run first.

        :param schedule_id: The schedule
        :param page_size: How many are read at a time; all are given
        :param status: Only runs in this state
        """
        return self._pages(
            Request("GET", path("/v1/schedules/{schedule_id}/runs", schedule_id), query={"limit": page_size, "status": status}),
            "data",
            timeout,
        )

    async def trigger_schedule(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> TriggerReply:
        """Start a run of a schedule now.

        Starts a run also if nothing has changed, and if the schedule is paused. The next tick
        stays. Needs a secret key.

        :param schedule_id: The schedule
        """
        reply: TriggerReply = await self._send(
            Request("POST", path("/v1/schedules/{schedule_id}/trigger", schedule_id), idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def list_sessions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        agent_id: AgentName | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> SessionsReply:
        """List sessions.

        Returns the session that began last first. `from` and `to` filter by the start of a session;
        if it is unknown, by the time when its first record arrived.

        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        :param agent_id: Only sessions of this agent
        :param from_: Only sessions that began at this time or later
        :param to: Only sessions that began at this time or earlier
        """
        reply: SessionsReply = await self._send(
            Request("GET", "/v1/sessions", query={"limit": limit, "cursor": cursor, "agent_id": agent_id, "from": from_, "to": to}),
            timeout,
        )
        return reply

    def iter_sessions(
        self,
        *,
        page_size: int | None = None,
        agent_id: AgentName | None = None,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Session]:
        """List sessions. Page after page is read as they are used.

        Returns the session that began last first. `from` and `to` filter by the start of a session;
        if it is unknown, by the time when its first record arrived.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only sessions of this agent
        :param from_: Only sessions that began at this time or later
        :param to: Only sessions that began at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/sessions", query={"limit": page_size, "agent_id": agent_id, "from": from_, "to": to}),
            "data",
            timeout,
        )

    async def get_session(
        self,
        session_id: SessionName,
        *,
        timeout: float | None = None,
    ) -> SessionDetail:
        """Read a session.

        :param session_id: The session, percent-encoded
        """
        reply: SessionDetail = await self._send(
            Request("GET", path("/v1/sessions/{session_id}", session_id)),
            timeout,
        )
        return reply

    async def get_session_metrics(
        self,
        session_id: SessionName,
        *,
        signal_weights: str | None = None,
        thresholds: str | None = None,
        timeout: float | None = None,
    ) -> SessionMetrics:
        """Read the metrics of a session.

        Computes the metrics over the traces of the session, in the order of `started_at`, then of
        arrival; traces without a start come last. If no signals were sent, they are derived from
        telemetry, with one trace per prompt.

        :param session_id: The session, percent-encoded
        :param signal_weights: A JSON object with weights from 0 to 10 for any of `confidence`,
        `loop_detection`, `tool_correctness`, `coherence`
        :param thresholds: A JSON object with the score from 0 to 1 at which `agent_reliability` or
        `agent_consistency` passes
        """
        reply: SessionMetrics = await self._send(
            Request("GET", path("/v1/sessions/{session_id}/metrics", session_id), query={"signal_weights": signal_weights, "thresholds": thresholds}),
            timeout,
        )
        return reply

    async def get_session_performance(
        self,
        session_id: SessionName,
        *,
        timeout: float | None = None,
    ) -> Performance:
        """Read the performance of a session.

        The score is current, also while the session is open. A session without a tool result, a
        prompt or an API request has no performance: the reply is 404.

        :param session_id: The session, percent-encoded
        """
        reply: Performance = await self._send(
            Request("GET", path("/v1/sessions/{session_id}/performance", session_id)),
            timeout,
        )
        return reply

    async def list_session_records(
        self,
        session_id: SessionName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> RecordsPage:
        """Read the records of a session.

        Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
        and records without a time come first, then log records by time. Repeated records appear
        once. Prompts, arguments and outputs are never stored.

        :param session_id: The session, percent-encoded
        :param limit: Maximum number of rows
        :param cursor: `next_cursor` of the previous page
        """
        reply: RecordsPage = await self._send(
            Request("GET", path("/v1/sessions/{session_id}/records", session_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_session_records(
        self,
        session_id: SessionName,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[SessionRecord]:
        """Read the records of a session. Page after page is read as they are used.

        Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
        and records without a time come first, then log records by time. Repeated records appear
        once. Prompts, arguments and outputs are never stored.

        :param session_id: The session, percent-encoded
        :param page_size: How many are read at a time; all are given
        """
        return self._pages(
            Request("GET", path("/v1/sessions/{session_id}/records", session_id), query={"limit": page_size}),
            "data",
            timeout,
        )

    async def add_signals(
        self,
        session_id: SessionName,
        *,
        traces: list[TraceRequest],
        agent_id: AgentName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SignalsReply:
        """Send signals of the traces of a session.

        A trace that was sent before is replaced with all its signals. Sent signals override those
        that are derived from telemetry. `agent_id` names the agent of the session, unless its
        telemetry does.

        :param session_id: The session, percent-encoded
        :param traces: Traces with their signals. Each trace may appear only once.
        :param agent_id: Agent of the session. Used only if its telemetry names no agent.
        """
        reply: SignalsReply = await self._send(
            Request("POST", path("/v1/sessions/{session_id}/signals", session_id), body={"traces": traces}, optional={"agent_id": agent_id}, idempotency_key=idempotency_key),
            timeout,
        )
        return reply

    async def get_settings(
        self,
        *,
        timeout: float | None = None,
    ) -> SettingsReply:
        """Read the settings."""
        reply: SettingsReply = await self._send(
            Request("GET", "/v1/settings"),
            timeout,
        )
        return reply

    async def update_settings(
        self,
        *,
        latency_source: LatencySource | None = None,
        timeout: float | None = None,
    ) -> SettingsReply:
        """Change the settings.

        The new settings apply from the next evaluation on. Existing scores do not change.
        """
        reply: SettingsReply = await self._send(
            Request("PATCH", "/v1/settings", body={}, optional={"latency_source": latency_source}),
            timeout,
        )
        return reply

    async def get_competition(
        self,
        spec_id: RunName,
        *,
        timeout: float | None = None,
    ) -> CompetitionReply:
        """Compare the agents of a spec.

        Returns every agent with its best run, best first: by `ranked_score`, then completion, error
        rate, wall time and end of the run. `ranked_score` compares every attempt with one baseline;
        `score` is what the run got when it was accepted.

        :param spec_id: The spec, percent-encoded
        """
        reply: CompetitionReply = await self._send(
            Request("GET", path("/v1/specs/{spec_id}/competition", spec_id)),
            timeout,
        )
        return reply

    def stream(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncIterator[StreamEvent]:
        """Stream new scores.

        Sends server-sent events. `score` has `agent_id`, `score`, `lifecycle` and `eval_count`, and
        is sent after an agent was evaluated; many evaluations of one agent in a short time may be
        one event. `session.scored` has the session, and is sent when a session with a performance
        is closed, also when it is closed again after late records. `missed` has the number of
        changes that this client was too slow to receive. The stream ends when the server stops or
        the key is revoked.
        """
        return self._events(
            Request("GET", "/v1/stream"),
            timeout,
        )
