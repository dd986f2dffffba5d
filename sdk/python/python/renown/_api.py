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

AgentName: TypeAlias = str
"""What the caller calls an agent: 1 to 200 characters without control characters, not `.` or `..`."""

ErrorCode: TypeAlias = Literal["bad_json", "validation_error", "auth_missing", "auth_format", "auth_invalid", "auth_revoked", "forbidden", "not_found", "method_not_allowed", "timeout", "conflict", "too_large", "unsupported_media_type", "rate_limited", "head_too_large", "internal", "overloaded", "store_unavailable", "clock"]
"""The machine codes."""

IdentityName: TypeAlias = str
"""A UUID."""

KeyKind: TypeAlias = Literal["publishable", "secret"]
"""What a key may do: send evidence and read scores, or also administer."""

LatencySource: TypeAlias = Literal["gate", "agent"]
"""Whose latency counts for reputations: that of the gates, or that of the agent where the caller
says it.
"""

Lifecycle: TypeAlias = Literal["new", "calibrating", "active", "mature"]
"""How settled a score is: no evaluations, fewer than 50, fewer than 500, 500."""

Moment: TypeAlias = "TimeText | TimeMillis"
"""A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970."""

OrgName: TypeAlias = str
"""The name of an organization."""

Recommendation: TypeAlias = Literal["keep", "review", "doff"]
"""What to do with the masque."""

ReferenceType: TypeAlias = str
"""What an event refers to: `session`, `transaction` or `attestation`; empty for nothing."""

ReputationCategory: TypeAlias = Literal["task_quality", "economic", "identity_hygiene"]
"""What an event is about: work, payment, or keys and sessions."""

RunName: TypeAlias = str
"""1 to 200 characters without control characters, not `.` or `..`."""

RunOutcome: TypeAlias = Literal["completed", "blocked", "failed"]
"""How a run ended: all of it worked, some of it did, or nothing usable came out."""

SessionName: TypeAlias = str
"""A session, as its agent names it: 1 to 256 bytes."""

SignalSource: TypeAlias = Literal["sent", "derived", "mixed"]
"""Where signals come from: `sent`, `derived`, or some of each, `mixed`."""

Tier: TypeAlias = Literal["Unranked", "Bronze", "Silver", "Gold", "Elite"]
"""The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score."""

TimeMillis: TypeAlias = int
"""A time as whole milliseconds after 1970."""

TimeText: TypeAlias = str
"""A time from 2000 to 2100 as RFC 3339."""


class AddAgentReply(TypedDict):
    """An agent that is known."""

    agent_id: str
    identity_id: str
    """The identity of the agent, a UUIDv5 of its organization and id."""


class AddAgentRequest(TypedDict):
    """An agent that is to be known."""

    agent_id: AgentName


class AgentReply(TypedDict):
    """An agent as it is listed."""

    agent_id: str
    identity_id: str
    """The identity of the agent, a UUIDv5 of its organization and id."""
    first_seen: str
    last_seen: str
    eval_count: int
    """Evaluations in the window."""
    score: int
    lifecycle: Lifecycle


class AgentStanding(TypedDict):
    """Everything that is known of an agent."""

    agent_id: str
    identity_id: str
    """The identity of the agent, a UUIDv5 of its organization and id."""
    public: bool
    """Whether it is shown to everybody."""
    reputation: RecordReply
    identity_reputation: IdentityReply
    tier: Tier
    """That of its latest run with a score."""
    runs: list[RunReply]
    """Its latest runs."""
    sessions: list[Session]
    """Its latest sessions."""
    first_seen: NotRequired[str | None]
    """Null if it was never seen."""
    last_seen: NotRequired[str | None]
    metrics: NotRequired[MetricsSummary | None]
    """What the traces of its latest session say, in short; null without one."""
    slug: NotRequired[str | None]
    """The name under which it is."""


class AgentsReply(TypedDict):
    """A page of agents."""

    agents: list[AgentReply]
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class CompetitionReply(TypedDict):
    """Who did best."""

    spec_id: str
    ranking: list[RankedReply]
    winner: NotRequired[str | None]
    """The first of the ranking, if its run completed."""


class ComponentReply(TypedDict):
    """One part of a score."""

    name: str
    inputs: dict[str, Any]
    """What the part looked at."""
    points: float
    points_max: float
    points_lost: float


class CreateKeyReply(TypedDict):
    """A new key. It is shown this once."""

    id: str
    key: str
    kind: KeyKind
    org: str


class CreateKeyRequest(TypedDict):
    """A key that is to be made."""

    kind: KeyKind
    label: NotRequired[str | None]
    """What its owner calls it."""
    org: NotRequired[OrgName | None]
    """Its organization, which is made when it is new; the caller's own if absent."""


class EraseReply(TypedDict):
    """What stays of an agent that is erased."""

    agent_sha256: str
    """SHA-256 of its id."""


class ErrorBody(TypedDict):
    """A refusal as it is sent."""

    error: str
    """What was found and what is allowed."""
    code: ErrorCode
    """For machines."""
    status: int
    """The HTTP status."""


class EvaluateReply(TypedDict):
    """The verdict on one output. A failed gate is still 200."""

    evaluation_id: str
    """The id of this evaluation, as sent or made here."""
    passed: bool
    """Whether every gate passed or was skipped."""
    gates: list[GateReport]
    """One result a gate, in the configured order."""
    total_latency_ms: float
    """How long the gates took."""
    reputation: ReputationReply
    """The agent's reputation right after this evaluation."""
    warnings: NotRequired[list[str]]
    """Fields of the request that are unknown and were ignored; absent if there are none."""


class EvaluateRequest(TypedDict):
    """What is to be judged."""

    agent_id: AgentName
    """Whose output it is."""
    output: Any
    """The output, any JSON; it may be null but has to be there. It is never stored, logged or
    echoed.
    """
    evaluation_id: NotRequired[str | None]
    """The caller's own id of this evaluation: its second arrival returns the first result and
    counts nothing.
    """
    input: NotRequired[Any]
    """What the tool was given, any JSON. It is never stored, logged or echoed."""
    latency_ms: NotRequired[float | None]
    """How long the agent took."""
    started_at: NotRequired[TimeMillis | None]
    """When that time began, in milliseconds after 1970."""
    tmax_ms: NotRequired[int | None]
    """The time that whoever asked for the output gives for it, in milliseconds, for
    `rtb.tmax-guard`.
    """
    tool: NotRequired[str | None]
    """The tool that made it."""


class EventReply(TypedDict):
    """One evaluation."""

    id: str
    agent_id: str
    passed: bool
    """Whether every gate passed."""
    gates: list[GateReport]
    total_latency_ms: float
    """How long the gates took."""
    reputation_score: int
    """The agent's score right after this evaluation."""
    created_at: str
    """When it happened, else when it was accepted."""
    latency_ms: NotRequired[float | None]
    """How long the agent took, if that was said."""
    tool_name: NotRequired[str | None]


class EventsReply(TypedDict):
    """A page of the log."""

    events: list[EventReply]
    """The last accepted first."""
    limit: int
    """The most that the page could hold."""
    offset: int
    """How many were stepped over."""
    count: int
    """How many the page has."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class ExplainReply(TypedDict):
    """Why a score is what it is."""

    score: int
    formula_version: str
    components: list[ComponentReply]
    """The parts of the formula."""
    next: NextReply


class GateReport(TypedDict):
    """The result of one gate."""

    name: str
    """The name of the gate."""
    passed: bool
    """Whether it passed; a skipped gate passes."""
    latency_ms: float
    """How long it took."""
    reason: NotRequired[str | None]
    """Why it failed or was skipped."""
    skipped: NotRequired[bool | None]
    """Whether it had nothing to say."""


class HealthReply(TypedDict):
    """The server answers."""

    status: str
    """Always `ok`."""
    version: str
    """The version of the program."""
    otlp_grpc_port: NotRequired[int | None]
    """The same for OTLP over gRPC."""
    otlp_http_port: NotRequired[int | None]
    """The port that takes OTLP over HTTP, also without a key from this machine; null if there is
    none.
    """


class HistoryReply(TypedDict):
    """How a score went."""

    points: list[PointReply]
    """Oldest first; steps without an evaluation are left out."""


class IdentityEventReply(TypedDict):
    """An event about an identity."""

    event_id: str
    timestamp: str
    identity_id: str
    category: ReputationCategory
    event_type: str
    score_delta: float
    confidence: float
    reference_type: ReferenceType
    attributes: dict[str, str]
    accepted_at: str
    reference_id: NotRequired[str | None]


class IdentityEventsReply(TypedDict):
    """A page of events."""

    data: list[IdentityEventReply]
    """The latest first."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class IdentityReply(TypedDict):
    """The reputation of an identity."""

    identity_id: str
    as_of: str
    """The time that the scores are of."""
    overall_score: float
    """The weighted mean of the categories over 90 days."""
    task_quality_score: float
    economic_score: float
    identity_hygiene_score: float
    total_events: int
    positive_events: int
    negative_events: int
    confidence: float
    """How much there is to go by, 0 to 1."""
    score_7d_ago: float
    score_30d_ago: float
    formula_version: str
    trend_30d: NotRequired[float | None]
    trend_7d: NotRequired[float | None]
    """The change since then; null if there were no events then."""


class IngestEvent(TypedDict):
    """One verdict."""

    agent_id: AgentName
    """Whose output it was."""
    passed: bool
    """Whether every gate passed."""
    total_latency_ms: float
    """How long the gates took."""
    evaluation_id: NotRequired[str | None]
    """The id of the evaluation: its second arrival counts nothing."""
    gates: NotRequired[list[GateReport] | None]
    """The results of the gates."""
    latency_ms: NotRequired[float | None]
    """How long the agent took."""
    timestamp: NotRequired[Moment | None]
    """When it happened; when it is accepted, if absent."""
    tool: NotRequired[str | None]
    """The tool whose output it was."""


class IngestReply(TypedDict):
    """What became of the verdicts."""

    accepted: int
    """How many were counted."""
    duplicates: int
    """How many had been counted before."""
    reputation_updates: list[ReputationUpdate]
    """The reputation of each agent that was named, after all of them."""
    warnings: NotRequired[list[str]]
    """Fields of the request that are unknown and were ignored; absent if there are none."""


class IngestRequest(TypedDict):
    """Verdicts that were made elsewhere."""

    events: list[IngestEvent]
    """In the order in which they are to be counted."""


class KeyReply(TypedDict):
    """A key as it is listed: never the key itself."""

    id: str
    kind: KeyKind
    org: str
    last_four: str
    """Its last four characters."""
    created_at: str
    label: NotRequired[str | None]
    last_used_at: NotRequired[str | None]
    """To the minute."""
    revoked_at: NotRequired[str | None]


class KeysReply(TypedDict):
    """A page of keys."""

    data: list[KeyReply]
    """The oldest first."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""

MetricBand = TypedDict("MetricBand", {"band": "str", "from": "float", "meaning": "str"})
"""A range of scores."""


class MetricDefinition(TypedDict):
    """A metric that there is."""

    name: str
    description: str
    method: str
    threshold: float
    formula_version: str
    bands: list[MetricBand]


class MetricSummary(TypedDict):
    """A metric, without what it was made of."""

    score: float
    """0 to 1, four places."""
    reason: str
    """The result in one sentence."""
    threshold: float
    """The score from which it passes."""
    passed: bool
    band: str
    """The name of the score's range."""
    evaluable: bool
    """Whether there was anything to evaluate; if not, the score is 1."""
    formula_version: str


class MetricsSummary(TypedDict):
    """Both metrics, without what they were made of."""

    agent_reliability: MetricSummary
    agent_consistency: MetricSummary

NextReply = TypedDict("NextReply", {"pass": "int", "fail": "int"})
"""The score after one more evaluation at the window's average latency."""


class Performance(TypedDict):
    """How well a session went."""

    masque: str
    """The masque that the agent wore, or `unknown`."""
    duration_min: int
    """Whole minutes."""
    dimensions: PerformanceDimensions
    composite: float
    """0 to 10, one decimal."""
    recommendation: Recommendation
    stats: PerformanceStats
    session_id: str
    agent_id: str
    agent: str
    """The kind of agent, such as `claude-code`."""
    formula_version: str
    coverage: PerformanceCoverage
    signals: PerformanceSignals
    ended_at: NotRequired[str | None]
    started_at: NotRequired[str | None]


class PerformanceCoverage(TypedDict):
    """Which of `tools`, `prompts`, `cost` and `tokens` there is evidence of."""

    present: list[str]
    missing: list[str]
    partial: list[str]
    """Those of the present that only some of the calls have."""
    signal: str
    """`logs` or `spans`."""
    cost_source: str
    """`reported`, `priced`, `mixed` or `none`."""


class PerformanceDimensions(TypedDict):
    """0 to 10 each, one decimal."""

    quality: float
    autonomy: float
    productivity: float
    token_efficiency: float
    cost_efficiency: float


class PerformanceSignals(TypedDict):
    """What else was counted."""

    api_errors: int
    accepts: int
    rejects: int
    rejects_by_user: int
    compactions: int
    refusals: int
    feedback: NotRequired[int | None]
    """The latest: -1, 0 or 1."""


class PerformanceStats(TypedDict):
    """The sums that the dimensions were made of."""

    total_cost: float
    """Dollars, two decimals."""
    total_tools: int
    tools_ok: int
    tool_success_pct: int
    prompts: int
    total_tokens: int
    cache_tokens: int


class PointReply(TypedDict):
    """One step of a history."""

    at: str
    """Where the step begins."""
    score: int
    """The score after its last evaluation."""
    evaluations: int
    """How many evaluations it has."""


class PublishReply(TypedDict):
    """How an agent is shown."""

    agent_id: str
    public: bool
    slug: NotRequired[str | None]


class PublishRequest(TypedDict):
    """Whether an agent is shown to everybody."""

    public: NotRequired[bool | None]
    """Whether everybody may see it; if absent as before."""
    slug: NotRequired[str | None]
    """The name under which it is shown; if absent the one it has, or one made from its id."""


class RankedReply(TypedDict):
    """An agent with its best run."""

    rank: int
    agent_id: str
    run_id: str
    tier: Tier
    axes: NotRequired[RunAxes | None]
    branch: NotRequired[str | None]
    pull_request: NotRequired[str | None]
    score: NotRequired[int | None]
    wall_ms: NotRequired[int | None]


class ReadyReply(TypedDict):
    """The store takes writes."""

    status: str
    """Always `ready`."""
    standstill: NotRequired[str | None]
    """The time that everything gets which is accepted now, while the system clock shows an earlier
    one. It was ahead, or it is late. After five minutes times follow the clock again.
    """


class RecordReply(TypedDict):
    """The reputation of an agent."""

    agent_id: str
    score: int
    """0 to 1000."""
    lifecycle: Lifecycle
    status: Lifecycle
    """The same as `lifecycle`."""
    eval_count: int
    """Evaluations in the window."""
    evaluations: int
    """The same as `eval_count`."""
    window_size: int
    """The most evaluations that count."""
    passed: int
    """Those that passed."""
    pass_rate: float
    """The share that passed, 0 to 1."""
    avg_latency_ms: float
    """The average latency of the gates."""
    streak: int
    """Passes counted back from the newest."""
    formula_version: str
    """The version of the formula."""


class RegistryReply(TypedDict):
    """Every metric that there is."""

    data: list[MetricDefinition]
    next_cursor: NotRequired[str | None]
    """Always null: there is one page."""


class ReputationEventRequest(TypedDict):
    """An event about an identity."""

    event_id: str
    """Its own id: an event counts once however often it is sent, and the first copy stands."""
    timestamp: Moment
    """When it happened: at most three years ago, at most a day ahead."""
    category: ReputationCategory
    event_type: str
    """The name of its kind, such as `task_completed`."""
    score_delta: float
    """How it moves its category."""
    agent_id: NotRequired[AgentName | None]
    """The agent it is about."""
    attributes: NotRequired[dict[str, str] | None]
    confidence: NotRequired[float | None]
    """How sure you are; 1 if absent."""
    identity_id: NotRequired[IdentityName | None]
    """Whom it is about; or say `agent_id`."""
    reference_id: NotRequired[str | None]
    reference_type: NotRequired[ReferenceType | None]


class ReputationEventsReply(TypedDict):
    """What became of the events."""

    accepted: int
    """How many were counted."""
    duplicates: int
    """How many had been counted before."""


class ReputationEventsRequest(TypedDict):
    """Events about identities."""

    events: list[ReputationEventRequest]
    """1 to 1000 events."""


class ReputationReply(TypedDict):
    """The short form of a reputation."""

    score: int
    """0 to 1000."""
    lifecycle: Lifecycle
    eval_count: int
    """Evaluations in the window, at most 500."""


class ReputationUpdate(TypedDict):
    """An agent's reputation after the verdicts."""

    agent_id: str
    score: int
    lifecycle: Lifecycle
    eval_count: int


class RunAxes(TypedDict):
    """The axes of a score, 0 to 100 each."""

    completion: int
    error_rate: int
    latency: int
    resource_efficiency: int


class RunBaseline(TypedDict):
    """What the wall time was compared with."""

    runs: int
    p50_ms: NotRequired[float | None]
    """The median of the runs; null without one."""


class RunReply(TypedDict):
    """A run with all that is known of it."""

    run_id: str
    agent_id: str
    workspace: str
    tier: Tier
    formula_version: str
    """The version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and are 50."""
    warnings: list[str]
    """Parts of what was sent that do not count: impossible ones, which are as good as absent, and
    unknown fields.
    """
    scored_at: str
    outcome: RunOutcome
    resources: RunResources
    finished_at: str
    axes: NotRequired[RunAxes | None]
    baseline: NotRequired[RunBaseline | None]
    score: NotRequired[int | None]
    """0 to 100; null if scoring failed inside."""
    spec_id: NotRequired[str | None]
    attributes: NotRequired[dict[str, Any] | None]
    branch: NotRequired[str | None]
    pull_request: NotRequired[str | None]
    stages: NotRequired[list[RunStage] | None]
    started_at: NotRequired[str | None]
    wall_ms: NotRequired[int | None]


class RunRequest(TypedDict):
    """A run that is finished."""

    agent_id: AgentName
    outcome: RunOutcome
    attributes: NotRequired[dict[str, Any] | None]
    """Whatever else you want to keep with it, up to 64 KiB."""
    branch: NotRequired[str | None]
    """The branch with its work."""
    finished_at: NotRequired[Moment | None]
    """When it ended; when it was accepted if absent."""
    pull_request: NotRequired[str | None]
    """The pull request with its work."""
    resources: NotRequired[RunResources | None]
    run_id: NotRequired[RunName | None]
    """What you call the run; `run_` and a ULID if absent. Sent again it returns the first
    scorecard.
    """
    spec_id: NotRequired[RunName | None]
    """The task that agents compete on."""
    stages: NotRequired[list[RunStage] | None]
    started_at: NotRequired[Moment | None]
    wall_ms: NotRequired[int | None]
    """How long the run took, in milliseconds."""
    workspace: NotRequired[RunName | None]
    """The runs of a workspace are compared with each other; `default` if absent."""


class RunResources(TypedDict):
    """What a run consumed, as far as it is known."""

    cpu_periods: NotRequired[int | None]
    cpu_throttled_ms: NotRequired[int | None]
    cpu_throttled_periods: NotRequired[int | None]
    memory_limit_bytes: NotRequired[int | None]
    memory_peak_bytes: NotRequired[int | None]


class RunStage(TypedDict):
    """A stage of a run."""

    name: str
    passed: bool
    attempts: NotRequired[int | None]
    """How often it was tried; once if absent."""


class RunsReply(TypedDict):
    """A page of runs."""

    data: list[RunReply]
    """The last accepted first."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class ScoreReply(TypedDict):
    """The scorecard of a run."""

    run_id: str
    agent_id: str
    workspace: str
    tier: Tier
    formula_version: str
    """The version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and are 50."""
    warnings: list[str]
    """Parts of what was sent that do not count: impossible ones, which are as good as absent, and
    unknown fields.
    """
    scored_at: str
    axes: NotRequired[RunAxes | None]
    baseline: NotRequired[RunBaseline | None]
    score: NotRequired[int | None]
    """0 to 100; null if scoring failed inside."""
    spec_id: NotRequired[str | None]


class Session(TypedDict):
    """A session."""

    session_id: str
    agent_id: str
    open: bool
    """Whether something of it is still expected."""
    last_seen: str
    """When something of it arrived last."""
    metrics: MetricsSummary
    """What its traces say, in short."""
    trace_count: int
    """How many traces it has."""
    closed_at: NotRequired[str | None]
    """Since when it is over."""
    ended_at: NotRequired[str | None]
    """Its last event."""
    performance: NotRequired[Performance | None]
    """How well it went; null where only signals were sent."""
    started_at: NotRequired[str | None]
    """Its first event; null if none has a time."""


class SessionDetail(TypedDict):
    """A session with its traces."""

    session_id: str
    agent_id: str
    open: bool
    """Whether something of it is still expected."""
    last_seen: str
    """When something of it arrived last."""
    metrics: MetricsSummary
    """What its traces say, in short."""
    trace_count: int
    """How many traces it has."""
    traces: list[SessionTrace]
    closed_at: NotRequired[str | None]
    """Since when it is over."""
    ended_at: NotRequired[str | None]
    """Its last event."""
    performance: NotRequired[Performance | None]
    """How well it went; null where only signals were sent."""
    started_at: NotRequired[str | None]
    """Its first event; null if none has a time."""


class SessionMetric(TypedDict):
    """A metric of a session."""

    name: str
    score: float
    """0 to 1, four places."""
    reason: str
    threshold: float
    passed: bool
    band: str
    evaluable: bool
    formula_version: str
    metadata: dict[str, Any]
    """What the score was made of: how many traces there are and were evaluated, and if any were,
    the weights, the risks of each trace with the `source` of its signals, and how they were put
    together.
    """


class SessionMetrics(TypedDict):
    """Both metrics of a session."""

    agent_reliability: SessionMetric
    agent_consistency: SessionMetric


class SessionTrace(TypedDict):
    """A trace of a session."""

    trace_id: str
    signals: dict[str, float]
    """The signals that are known, by name."""
    source: NotRequired[SignalSource | None]
    """Whether they were sent, or derived from telemetry."""
    started_at: NotRequired[str | None]


class SessionsReply(TypedDict):
    """A page of sessions."""

    data: list[Session]
    """The last to begin first."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class SettingsReply(TypedDict):
    """The settings of an organization."""

    latency_source: LatencySource


class SettingsRequest(TypedDict):
    """Settings that change; what is absent stays."""

    latency_source: NotRequired[LatencySource | None]


class SignalsReply(TypedDict):
    """What was kept."""

    accepted: int
    """How many traces."""


class SignalsRequest(TypedDict):
    """Signals of the traces of a session."""

    traces: list[TraceRequest]
    """Each trace once."""
    agent_id: NotRequired[AgentName | None]
    """Whose session it is, where its telemetry names nobody."""


class TraceRequest(TypedDict):
    """A trace."""

    trace_id: str
    """1 to 512 bytes."""
    signals: TraceSignals
    started_at: NotRequired[Moment | None]
    """When it began, which is its place among the others."""


class TraceSignals(TypedDict):
    """Signals of a trace, each from 0 to 1, where 1 is good. One that is absent is unknown."""

    coherence: NotRequired[float | None]
    """How coherent its steps were."""
    confidence: NotRequired[float | None]
    """How sure the agent was."""
    loop_detection: NotRequired[float | None]
    """How free of loops the trace was."""
    tool_correctness: NotRequired[float | None]
    """How right its choice and use of tools was."""


class Client(Http):
    """Every route of a server; each call waits for its reply."""

    def health(
        self,
        *,
        timeout: float | None = None,
    ) -> HealthReply:
        """Is it alive?"""
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
        """Figures for Prometheus."""
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
        """This document."""
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
        """Can it write?

        Writes to the store and waits until that is durable, at most once a second.
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
        timeout: float | None = None,
    ) -> AgentsReply:
        """List agents.

        The last seen first, unless `sort` says otherwise.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before, with the same `sort`
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default), `score` (the best first) or `agent_id`
        """
        reply: AgentsReply = self._send(
            Request("GET", "/v1/agents", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort}),
            timeout,
        )
        return reply

    def iter_agents(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
        sort: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[AgentReply]:
        """List agents. Page after page is read as they are used.

        The last seen first, unless `sort` says otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default), `score` (the best first) or `agent_id`
        """
        return self._pages(
            Request("GET", "/v1/agents", query={"limit": page_size, "q": q, "sort": sort}),
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
        """Make an agent known.

        Before its first evaluation, which would do the same.
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

        Its evidence, runs, events, scores and kept replies are deleted within a minute, and nothing
        of it is seen from here on. A tombstone stays: a time, a count, and SHA-256 of the id. It
        takes a secret key.

        :param agent_id: The agent, percent-encoded
        :param confirm: The agent once more
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

        One that was never seen has a standing of zeros.

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
        """Show an agent to everybody, or no longer.

        It takes a secret key.

        :param agent_id: The agent, percent-encoded
        :param public: Whether everybody may see it; if absent as before.
        :param slug: The name under which it is shown; if absent the one it has, or one made from
        its id.
        """
        reply: PublishReply = self._send(
            Request("PATCH", path("/v1/agents/{agent_id}", agent_id), body={}, optional={"public": public, "slug": slug}),
            timeout,
        )
        return reply

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

        Runs the configured gates, counts the verdict for the agent, and returns both the verdict
        and the reputation after it.

        :param agent_id: Whose output it is.
        :param output: The output, any JSON; it may be null but has to be there. It is never stored,
        logged or echoed.
        :param evaluation_id: The caller's own id of this evaluation: its second arrival returns the
        first result and counts nothing.
        :param input: What the tool was given, any JSON. It is never stored, logged or echoed.
        :param latency_ms: How long the agent took.
        :param started_at: When that time began, in milliseconds after 1970.
        :param tmax_ms: The time that whoever asked for the output gives for it, in milliseconds,
        for `rtb.tmax-guard`.
        :param tool: The tool that made it.
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

        The last accepted first. Filters combine: an evaluation has to fit all of them.

        :param limit: How many at most
        :param offset: How many to step over
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param tool: Only of this tool
        :param gate: Only those in which this gate took part
        :param passed: Only those that passed, or that did not
        :param from_: Only those that happened at this time or later
        :param to: Only those that happened at this time or earlier
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

        The last accepted first. Filters combine: an evaluation has to fit all of them.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param tool: Only of this tool
        :param gate: Only those in which this gate took part
        :param passed: Only those that passed, or that did not
        :param from_: Only those that happened at this time or later
        :param to: Only those that happened at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/events", query={"limit": page_size, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            "events",
            timeout,
        )

    def list_identity_events(
        self,
        identity_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> IdentityEventsReply:
        """List the events of an identity.

        The latest first.

        :param identity_id: The identity
        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        """
        reply: IdentityEventsReply = self._send(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_identity_events(
        self,
        identity_id: str,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[IdentityEventReply]:
        """List the events of an identity. Page after page is read as they are used.

        The latest first.

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
        identity_id: str,
        *,
        as_of: TimeText | None = None,
        timeout: float | None = None,
    ) -> IdentityReply:
        """Read the reputation of an identity.

        An identity that was never seen has a record of zeros.

        :param identity_id: The identity
        :param as_of: As of this time; now if absent
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

        Counts verdicts that were made by an SDK, a proxy or another system. All or none: one bad
        event refuses the batch and is named by its index.

        :param events: In the order in which they are to be counted.
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

        Of the caller's organization; a secret key of the default organization may name another.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
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

        Of the caller's organization; a secret key of the default organization may name another.

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
        """Make a key.

        A secret key of the default organization may name any organization, others only their own.

        :param label: What its owner calls it.
        :param org: Its organization, which is made when it is new; the caller's own if absent.
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

        At once. Of the caller's organization; a secret key of the default organization may revoke
        any.

        :param id: The id of the key
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

    def add_reputation_events(
        self,
        *,
        events: list[ReputationEventRequest],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ReputationEventsReply:
        """Count reputation events.

        All or none: one bad event refuses the batch and is named by its index. It takes a secret
        key.

        :param events: 1 to 1000 events.
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

        An agent that was never seen has a record of zeros.

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

        The parts of the score, what went into each, what each contributed, and where the next
        evaluation would take it.

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
        """Read how a reputation went.

        Equal steps from `from` to `to`, the last score in each. Without them, from its first
        evaluation until now.

        :param agent_id: The agent, percent-encoded
        :param from_: Where the first step begins
        :param to: Where the last step ends
        :param points: How many steps
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

        The last accepted first. `from` and `to` look at when a run ended.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param workspace: Only of this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only of this tier
        :param from_: Only those that ended at this time or later
        :param to: Only those that ended at this time or earlier
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

        The last accepted first. `from` and `to` look at when a run ended.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param workspace: Only of this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only of this tier
        :param from_: Only those that ended at this time or later
        :param to: Only those that ended at this time or earlier
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

        A run is never refused for missing or odd data: what is impossible counts as absent and is
        named in `warnings`, and so are unknown fields. Only `agent_id` and `outcome` have to be
        right.

        :param attributes: Whatever else you want to keep with it, up to 64 KiB.
        :param branch: The branch with its work.
        :param finished_at: When it ended; when it was accepted if absent.
        :param pull_request: The pull request with its work.
        :param run_id: What you call the run; `run_` and a ULID if absent. Sent again it returns the
        first scorecard.
        :param spec_id: The task that agents compete on.
        :param wall_ms: How long the run took, in milliseconds.
        :param workspace: The runs of a workspace are compared with each other; `default` if absent.
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

        The last to begin first. `from` and `to` look at when a session began; where nothing says
        so, at when it was first heard of.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param from_: Only those that began at this time or later
        :param to: Only those that began at this time or earlier
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

        The last to begin first. `from` and `to` look at when a session began; where nothing says
        so, at when it was first heard of.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param from_: Only those that began at this time or later
        :param to: Only those that began at this time or earlier
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

        Computed now, over its traces by `started_at`, then as they arrived; those without a start
        come last. Where nobody sent signals they are derived from telemetry, one trace a prompt.

        :param session_id: The session, percent-encoded
        :param signal_weights: A JSON object with weights from 0 to 10 of any of `confidence`,
        `loop_detection`, `tool_correctness`, `coherence`
        :param thresholds: A JSON object with the score from 0 to 1 from which `agent_reliability`
        or `agent_consistency` passes
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
        """Read how well a session went.

        As of now: an open session is scored as it happens. A session without a tool result, a
        prompt or an API request has no performance: 404.

        :param session_id: The session, percent-encoded
        """
        reply: Performance = self._send(
            Request("GET", path("/v1/sessions/{session_id}/performance", session_id)),
            timeout,
        )
        return reply

    def add_signals(
        self,
        session_id: SessionName,
        *,
        traces: list[TraceRequest],
        agent_id: AgentName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SignalsReply:
        """Send signals of a session's traces.

        A trace that was sent before is replaced with all its signals. What is sent wins over what
        is derived from telemetry. An `agent_id` says whose session it is, unless its telemetry
        does.

        :param session_id: The session, percent-encoded
        :param traces: Each trace once.
        :param agent_id: Whose session it is, where its telemetry names nobody.
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

        They count from the next evaluation on; no score that was given changes.
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

        Every agent with its best run, the best first: by score, then completion, error rate, wall
        time and finish.

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
        """Listen to new scores.

        Server-sent events: `score` with `agent_id`, `score`, `lifecycle`, `eval_count` whenever an
        agent was evaluated; many evaluations of one agent in an instant may be one event;
        `session.scored` with the session whenever one that can be scored is over, also when it is
        over once more after something of it arrived late. `missed` tells that this listener was too
        slow for some. The stream ends when the server does, or when the key is revoked.
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
        """Is it alive?"""
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
        """Figures for Prometheus."""
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
        """This document."""
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
        """Can it write?

        Writes to the store and waits until that is durable, at most once a second.
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
        timeout: float | None = None,
    ) -> AgentsReply:
        """List agents.

        The last seen first, unless `sort` says otherwise.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before, with the same `sort`
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default), `score` (the best first) or `agent_id`
        """
        reply: AgentsReply = await self._send(
            Request("GET", "/v1/agents", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort}),
            timeout,
        )
        return reply

    def iter_agents(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
        sort: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[AgentReply]:
        """List agents. Page after page is read as they are used.

        The last seen first, unless `sort` says otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default), `score` (the best first) or `agent_id`
        """
        return self._pages(
            Request("GET", "/v1/agents", query={"limit": page_size, "q": q, "sort": sort}),
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
        """Make an agent known.

        Before its first evaluation, which would do the same.
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

        Its evidence, runs, events, scores and kept replies are deleted within a minute, and nothing
        of it is seen from here on. A tombstone stays: a time, a count, and SHA-256 of the id. It
        takes a secret key.

        :param agent_id: The agent, percent-encoded
        :param confirm: The agent once more
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

        One that was never seen has a standing of zeros.

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
        """Show an agent to everybody, or no longer.

        It takes a secret key.

        :param agent_id: The agent, percent-encoded
        :param public: Whether everybody may see it; if absent as before.
        :param slug: The name under which it is shown; if absent the one it has, or one made from
        its id.
        """
        reply: PublishReply = await self._send(
            Request("PATCH", path("/v1/agents/{agent_id}", agent_id), body={}, optional={"public": public, "slug": slug}),
            timeout,
        )
        return reply

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

        Runs the configured gates, counts the verdict for the agent, and returns both the verdict
        and the reputation after it.

        :param agent_id: Whose output it is.
        :param output: The output, any JSON; it may be null but has to be there. It is never stored,
        logged or echoed.
        :param evaluation_id: The caller's own id of this evaluation: its second arrival returns the
        first result and counts nothing.
        :param input: What the tool was given, any JSON. It is never stored, logged or echoed.
        :param latency_ms: How long the agent took.
        :param started_at: When that time began, in milliseconds after 1970.
        :param tmax_ms: The time that whoever asked for the output gives for it, in milliseconds,
        for `rtb.tmax-guard`.
        :param tool: The tool that made it.
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

        The last accepted first. Filters combine: an evaluation has to fit all of them.

        :param limit: How many at most
        :param offset: How many to step over
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param tool: Only of this tool
        :param gate: Only those in which this gate took part
        :param passed: Only those that passed, or that did not
        :param from_: Only those that happened at this time or later
        :param to: Only those that happened at this time or earlier
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

        The last accepted first. Filters combine: an evaluation has to fit all of them.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param tool: Only of this tool
        :param gate: Only those in which this gate took part
        :param passed: Only those that passed, or that did not
        :param from_: Only those that happened at this time or later
        :param to: Only those that happened at this time or earlier
        """
        return self._pages(
            Request("GET", "/v1/events", query={"limit": page_size, "agent_id": agent_id, "tool": tool, "gate": gate, "passed": passed, "from": from_, "to": to}),
            "events",
            timeout,
        )

    async def list_identity_events(
        self,
        identity_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> IdentityEventsReply:
        """List the events of an identity.

        The latest first.

        :param identity_id: The identity
        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        """
        reply: IdentityEventsReply = await self._send(
            Request("GET", path("/v1/identities/{identity_id}/events", identity_id), query={"limit": limit, "cursor": cursor}),
            timeout,
        )
        return reply

    def iter_identity_events(
        self,
        identity_id: str,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[IdentityEventReply]:
        """List the events of an identity. Page after page is read as they are used.

        The latest first.

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
        identity_id: str,
        *,
        as_of: TimeText | None = None,
        timeout: float | None = None,
    ) -> IdentityReply:
        """Read the reputation of an identity.

        An identity that was never seen has a record of zeros.

        :param identity_id: The identity
        :param as_of: As of this time; now if absent
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

        Counts verdicts that were made by an SDK, a proxy or another system. All or none: one bad
        event refuses the batch and is named by its index.

        :param events: In the order in which they are to be counted.
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

        Of the caller's organization; a secret key of the default organization may name another.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
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

        Of the caller's organization; a secret key of the default organization may name another.

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
        """Make a key.

        A secret key of the default organization may name any organization, others only their own.

        :param label: What its owner calls it.
        :param org: Its organization, which is made when it is new; the caller's own if absent.
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

        At once. Of the caller's organization; a secret key of the default organization may revoke
        any.

        :param id: The id of the key
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

    async def add_reputation_events(
        self,
        *,
        events: list[ReputationEventRequest],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ReputationEventsReply:
        """Count reputation events.

        All or none: one bad event refuses the batch and is named by its index. It takes a secret
        key.

        :param events: 1 to 1000 events.
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

        An agent that was never seen has a record of zeros.

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

        The parts of the score, what went into each, what each contributed, and where the next
        evaluation would take it.

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
        """Read how a reputation went.

        Equal steps from `from` to `to`, the last score in each. Without them, from its first
        evaluation until now.

        :param agent_id: The agent, percent-encoded
        :param from_: Where the first step begins
        :param to: Where the last step ends
        :param points: How many steps
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

        The last accepted first. `from` and `to` look at when a run ended.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param workspace: Only of this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only of this tier
        :param from_: Only those that ended at this time or later
        :param to: Only those that ended at this time or earlier
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

        The last accepted first. `from` and `to` look at when a run ended.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param workspace: Only of this workspace
        :param spec_id: Only attempts at this spec
        :param tier: Only of this tier
        :param from_: Only those that ended at this time or later
        :param to: Only those that ended at this time or earlier
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

        A run is never refused for missing or odd data: what is impossible counts as absent and is
        named in `warnings`, and so are unknown fields. Only `agent_id` and `outcome` have to be
        right.

        :param attributes: Whatever else you want to keep with it, up to 64 KiB.
        :param branch: The branch with its work.
        :param finished_at: When it ended; when it was accepted if absent.
        :param pull_request: The pull request with its work.
        :param run_id: What you call the run; `run_` and a ULID if absent. Sent again it returns the
        first scorecard.
        :param spec_id: The task that agents compete on.
        :param wall_ms: How long the run took, in milliseconds.
        :param workspace: The runs of a workspace are compared with each other; `default` if absent.
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

        The last to begin first. `from` and `to` look at when a session began; where nothing says
        so, at when it was first heard of.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
        :param agent_id: Only of this agent
        :param from_: Only those that began at this time or later
        :param to: Only those that began at this time or earlier
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

        The last to begin first. `from` and `to` look at when a session began; where nothing says
        so, at when it was first heard of.

        :param page_size: How many are read at a time; all are given
        :param agent_id: Only of this agent
        :param from_: Only those that began at this time or later
        :param to: Only those that began at this time or earlier
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

        Computed now, over its traces by `started_at`, then as they arrived; those without a start
        come last. Where nobody sent signals they are derived from telemetry, one trace a prompt.

        :param session_id: The session, percent-encoded
        :param signal_weights: A JSON object with weights from 0 to 10 of any of `confidence`,
        `loop_detection`, `tool_correctness`, `coherence`
        :param thresholds: A JSON object with the score from 0 to 1 from which `agent_reliability`
        or `agent_consistency` passes
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
        """Read how well a session went.

        As of now: an open session is scored as it happens. A session without a tool result, a
        prompt or an API request has no performance: 404.

        :param session_id: The session, percent-encoded
        """
        reply: Performance = await self._send(
            Request("GET", path("/v1/sessions/{session_id}/performance", session_id)),
            timeout,
        )
        return reply

    async def add_signals(
        self,
        session_id: SessionName,
        *,
        traces: list[TraceRequest],
        agent_id: AgentName | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SignalsReply:
        """Send signals of a session's traces.

        A trace that was sent before is replaced with all its signals. What is sent wins over what
        is derived from telemetry. An `agent_id` says whose session it is, unless its telemetry
        does.

        :param session_id: The session, percent-encoded
        :param traces: Each trace once.
        :param agent_id: Whose session it is, where its telemetry names nobody.
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

        They count from the next evaluation on; no score that was given changes.
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

        Every agent with its best run, the best first: by score, then completion, error rate, wall
        time and finish.

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
        """Listen to new scores.

        Server-sent events: `score` with `agent_id`, `score`, `lifecycle`, `eval_count` whenever an
        agent was evaluated; many evaluations of one agent in an instant may be one event;
        `session.scored` with the session whenever one that can be scored is over, also when it is
        over once more after something of it arrived late. `missed` tells that this listener was too
        slow for some. The stream ends when the server does, or when the key is revoked.
        """
        return self._events(
            Request("GET", "/v1/stream"),
            timeout,
        )
