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

FactKind: TypeAlias = Literal["tool_result", "prompt", "api_request", "api_error", "tool_decision", "feedback", "compaction", "refusal"]
"""What a fact is about."""

IdentityName: TypeAlias = str
"""A UUID."""

KeyKind: TypeAlias = Literal["publishable", "secret"]
"""What a key may do: send evidence and read scores, or also administer."""

LatencySource: TypeAlias = Literal["gate", "agent"]
"""Whose latency counts for reputations: that of the gates, or that of the agent where the caller
says it.
"""

Lifecycle: TypeAlias = Literal["new", "calibrating", "active", "mature"]
"""How settled a score is: `new` without an evaluation, `calibrating` below 50, `active` below 500,
then `mature`.
"""

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

AgentBreakdown = TypedDict("AgentBreakdown", {"agent_id": "str", "from": "str", "to": "str", "evaluations": "int", "passed": "int", "gates": "list[GateCount]", "tools": "list[ToolRow]", "left_out": "int", "latency": "LatencyView", "days": "list[DayPoint]", "pass_rate": "NotRequired[float | None]"})
"""What an agent's evaluations of some days were like."""


class AgentRow(TypedDict):
    """An agent in a list. What there is no evidence of is null."""

    agent_id: str
    """Its id."""
    identity_id: str
    """The identity of the agent, a UUIDv5 of its organization and id."""
    first_seen: str
    """When it was first named."""
    last_seen: str
    """When something of it was last accepted."""
    eval_count: int
    """Evaluations in the window."""
    score: int
    """Its reputation; 0 without an evaluation, and indicative only below 50."""
    lifecycle: Lifecycle
    """How settled the score is."""
    streak: int
    """Passes counted back from the newest evaluation."""
    avg_latency_ms: NotRequired[float | None]
    """The average latency of its evaluations."""
    days: NotRequired[list[DayPoint] | None]
    """Its last days, if they were asked for."""
    identity_reputation: NotRequired[IdentityBrief | None]
    """The long-term reputation of its identity."""
    latest_session: NotRequired[SessionBrief | None]
    """The session that began last."""
    pass_rate: NotRequired[float | None]
    """The share of evaluations that passed."""
    tier: NotRequired[Tier | None]
    """The tier of the last run that has a score."""


class AgentStanding(TypedDict):
    """Everything that is known of an agent."""

    agent_id: str
    """Its id."""
    identity_id: str
    """The identity of the agent, a UUIDv5 of its organization and id."""
    public: bool
    """Whether it is shown to everybody."""
    reputation: RecordReply
    """Its reputation."""
    identity_reputation: IdentityReply
    """The long-term reputation of its identity."""
    tier: Tier
    """That of its latest run with a score."""
    runs: list[RunReply]
    """Its latest runs."""
    sessions: list[Session]
    """Its latest sessions."""
    first_seen: NotRequired[str | None]
    """Null if it was never seen."""
    last_seen: NotRequired[str | None]
    """Null if it was never seen."""
    metrics: NotRequired[MetricsSummary | None]
    """What the traces of its latest session say, in short; null without one."""
    slug: NotRequired[str | None]
    """The name under which it is."""


class Agents(TypedDict):
    """A page of agents."""

    agents: list[AgentRow]
    """The agents in the order that was asked for."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


class CompetitionReply(TypedDict):
    """Who did best."""

    spec_id: str
    """The task that agents compete on."""
    ranking: list[RankedReply]
    """Every agent with its best run, the best first."""
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


class DayPoint(TypedDict):
    """One UTC day of an agent."""

    day: str
    """The day, such as `2026-11-15`."""
    evaluations: int
    """Evaluations on that day."""
    passed: int
    """Those that passed."""
    score: int
    """The score after the last of them."""
    score_min: int
    """The lowest score after any of them."""
    score_max: int
    """The highest score after any of them."""
    change: NotRequired[int | None]
    """By how many points the score changed on that day; null if the agent was calibrating when it
    began.
    """


class DayTotals(TypedDict):
    """What happened on one day, in numbers."""

    evaluations: int
    """Evaluations."""
    passed: int
    """Those that passed."""
    sessions: int
    """Sessions that began."""
    cost_usd: float
    """What they cost in dollars, as far as they say. A session adds at most 10 000."""
    runs: int
    """Runs that were accepted."""
    day: str
    """The UTC day."""
    avg_latency_ms: NotRequired[float | None]
    """The average latency; null without an evaluation."""
    pass_rate: NotRequired[float | None]
    """The share that passed; null without an evaluation."""


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


class FailingGate(TypedDict):
    """A gate that failed on a day."""

    gate: str
    """The gate."""
    failed: int
    """Evaluations that it failed on that day."""
    failed_before: int
    """On the seven days before."""
    is_new: bool
    """Whether it failed on none of these."""


class GateCount(TypedDict):
    """A gate and the evaluations that it failed."""

    gate: str
    """The gate."""
    failed: int
    """Evaluations that it failed."""


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


class IdentityBrief(TypedDict):
    """The reputation of an identity in few words."""

    overall_score: float
    """The weighted mean of its categories."""
    confidence: float
    """How much there is to go by, 0 to 1."""
    total_events: int
    """Events of the last 90 days."""
    trend_7d: NotRequired[float | None]
    """The change in a week; null if there were no events then."""


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
    """The reputation of an identity as of a time."""

    identity_id: str
    """The identity."""
    as_of: str
    """The time that the scores are of."""
    overall_score: float
    """The weighted mean of the categories over 90 days."""
    task_quality_score: float
    """The mean of the events about work."""
    economic_score: float
    """The mean of the events about payment."""
    identity_hygiene_score: float
    """The mean of the events about keys and sessions."""
    total_events: int
    """Events in the window."""
    positive_events: int
    """Those above 0."""
    negative_events: int
    """Those below 0."""
    confidence: float
    """How much there is to go by, 0 to 1."""
    score_7d_ago: float
    """The overall score a week before."""
    score_30d_ago: float
    """The overall score 30 days before."""
    formula_version: str
    """The version of the formula."""
    trend_30d: NotRequired[float | None]
    """The change since then; null if there were no events then."""
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


class LatencyBucket(TypedDict):
    """The evaluations that took longer than the bucket before and at most this long."""

    evaluations: int
    """Evaluations."""
    at_most_ms: NotRequired[float | None]
    """The upper bound; null of the last bucket, which has none."""


class LatencyView(TypedDict):
    """How long evaluations took."""

    buckets: list[LatencyBucket]
    """Evaluations by latency, each counted once."""
    avg_ms: NotRequired[float | None]
    """The average; null without an evaluation."""

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
    """Whether the score reaches the threshold."""
    band: str
    """The name of the score's range."""
    evaluable: bool
    """Whether there was anything to evaluate; if not, the score is 1."""
    formula_version: str
    """The version of the formula."""


class MetricsSummary(TypedDict):
    """Both metrics, without what they were made of."""

    agent_reliability: MetricSummary
    """How reliable the agent was."""
    agent_consistency: MetricSummary
    """How consistent its traces were."""

NextReply = TypedDict("NextReply", {"pass": "int", "fail": "int"})
"""The score after one more evaluation at the window's average latency."""


class Overview(TypedDict):
    """The overview of an organization."""

    day: str
    """The UTC day that it is about."""
    agents: int
    """How many agents there are."""
    today: Totals
    """That day."""
    week: Totals
    """That day and the six before it."""
    days: list[DayTotals]
    """The days of the last 30 on which anything happened, the oldest first."""
    falls: list[ScoreChange]
    """The largest falls of that day, at most 5. Agents that were calibrating when it began are left
    out.
    """
    rises: list[ScoreChange]
    """The largest rises of that day, at most 5."""
    failing_gates: list[FailingGate]
    """The gates that failed on that day, the most often first."""
    ranking: list[AgentRow]
    """The first agents by score, each with its last 30 days."""


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
    """Its place, from 1."""
    agent_id: str
    """Whose run it is."""
    run_id: str
    """Its id."""
    tier: Tier
    """The name of the score's range."""
    axes: NotRequired[RunAxes | None]
    """The parts of the score."""
    branch: NotRequired[str | None]
    """The branch with its work."""
    pull_request: NotRequired[str | None]
    """The pull request with its work."""
    score: NotRequired[int | None]
    """The scorecard."""
    wall_ms: NotRequired[int | None]
    """How long it took in milliseconds."""


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
    """The agent."""
    score: int
    """0 to 1000."""
    lifecycle: Lifecycle
    """How settled the score is."""
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
    """The average of the latencies that count."""
    streak: int
    """Passes counted back from the newest."""
    formula_version: str
    """The version of the formula."""


class RecordsPage(TypedDict):
    """A page of records."""

    data: list[SessionRecord]
    """The records in their order: spans and what has no time first, then by time."""
    next_cursor: NotRequired[str | None]
    """Where the next page begins; null on the last one."""


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
    """Its id."""
    agent_id: str
    """Whose run it is."""
    workspace: str
    """The workspace whose runs it is compared with."""
    tier: Tier
    """The name of the score's range."""
    formula_version: str
    """The version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and are 50."""
    warnings: list[str]
    """Parts of what was sent that do not count: impossible ones, which are as good as absent, and
    unknown fields.
    """
    scored_at: str
    """When it was scored."""
    outcome: RunOutcome
    """How it ended."""
    resources: RunResources
    """What it consumed."""
    finished_at: str
    """When it ended."""
    axes: NotRequired[RunAxes | None]
    """The parts of the score."""
    baseline: NotRequired[RunBaseline | None]
    """What its wall time was compared with."""
    score: NotRequired[int | None]
    """0 to 100; null if scoring failed inside."""
    spec_id: NotRequired[str | None]
    """The task that agents compete on."""
    attributes: NotRequired[dict[str, Any] | None]
    """What else was sent."""
    branch: NotRequired[str | None]
    """The branch with its work."""
    pull_request: NotRequired[str | None]
    """The pull request with its work."""
    stages: NotRequired[list[RunStage] | None]
    """Its stages, as they were sent."""
    started_at: NotRequired[str | None]
    """When it began."""
    wall_ms: NotRequired[int | None]
    """How long it took in milliseconds."""


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


class ScoreChange(TypedDict):
    """How the score of an agent changed on a day, and why."""

    agent_id: str
    """Whose score."""
    change: int
    """By how many points."""
    score_before: int
    """The score before the first evaluation of the day."""
    score: int
    """The score after the last one."""
    evaluations: int
    """Evaluations of the day."""
    failed: int
    """Those that failed."""
    cause: str
    """The cause in one sentence."""
    gate: NotRequired[str | None]
    """The gate that failed most often; null if none did."""


class ScoreReply(TypedDict):
    """The scorecard of a run."""

    run_id: str
    """Its id."""
    agent_id: str
    """Whose run it is."""
    workspace: str
    """The workspace whose runs it is compared with."""
    tier: Tier
    """The name of the score's range."""
    formula_version: str
    """The version of the formula."""
    defaulted: list[str]
    """Axes that could not be computed and are 50."""
    warnings: list[str]
    """Parts of what was sent that do not count: impossible ones, which are as good as absent, and
    unknown fields.
    """
    scored_at: str
    """When it was scored."""
    axes: NotRequired[RunAxes | None]
    """The parts of the score."""
    baseline: NotRequired[RunBaseline | None]
    """What its wall time was compared with."""
    score: NotRequired[int | None]
    """0 to 100; null if scoring failed inside."""
    spec_id: NotRequired[str | None]
    """The task that agents compete on."""


class Session(TypedDict):
    """A session."""

    session_id: str
    """Its id."""
    agent_id: str
    """Whose it is."""
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


class SessionBrief(TypedDict):
    """A session in few words."""

    session_id: str
    """Its id."""
    started_at: str
    """When it began."""
    open: bool
    """Whether something of it is still expected."""
    performance: NotRequired[float | None]
    """How well it went, 0 to 10; null without anything to score."""
    recommendation: NotRequired[Recommendation | None]
    """What to do with its masque."""


class SessionDetail(TypedDict):
    """A session with its traces."""

    session_id: str
    """Its id."""
    agent_id: str
    """Whose it is."""
    open: bool
    """Whether something of it is still expected."""
    last_seen: str
    """When something of it arrived last."""
    metrics: MetricsSummary
    """What its traces say, in short."""
    trace_count: int
    """How many traces it has."""
    traces: list[SessionTrace]
    """Its traces."""
    closed_at: NotRequired[str | None]
    """Since when it is over."""
    ended_at: NotRequired[str | None]
    """Its last event."""
    performance: NotRequired[Performance | None]
    """How well it went; null where only signals were sent."""
    started_at: NotRequired[str | None]
    """Its first event; null if none has a time."""


class SessionFact(TypedDict):
    """One fact of a record. What a fact of its kind does not have, or what was not said, is absent."""

    kind: FactKind
    """What it is about."""
    accepted: NotRequired[bool | None]
    """Whether the call of the tool was allowed."""
    cache_creation_tokens: NotRequired[int | None]
    """Tokens that were written to the cache."""
    cache_read_tokens: NotRequired[int | None]
    """Tokens that were read from the cache."""
    cost_usd: NotRequired[float | None]
    """What it cost in dollars."""
    decided_by: NotRequired[str | None]
    """Who decided: `user`, `policy`, `hook` or `unknown`."""
    duration_ms: NotRequired[float | None]
    """How long it took."""
    error_type: NotRequired[str | None]
    """The kind of error."""
    input_tokens: NotRequired[int | None]
    """Tokens that were sent."""
    model: NotRequired[str | None]
    """The model."""
    ok: NotRequired[bool | None]
    """Whether the call succeeded."""
    output_tokens: NotRequired[int | None]
    """Tokens that came back."""
    rating: NotRequired[int | None]
    """-1, 0 or 1."""
    status: NotRequired[int | None]
    """The HTTP status of a call that failed."""
    tokens_after: NotRequired[int | None]
    """And after."""
    tokens_before: NotRequired[int | None]
    """Tokens of the context before it was made shorter."""
    tool: NotRequired[str | None]
    """The tool."""


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


class SessionRecord(TypedDict):
    """A record of a session."""

    signal: str
    """`logs` or `spans`."""
    agent: str
    """The kind of agent that it comes from, such as `claude-code`."""
    facts: list[SessionFact]
    """What it says."""
    at: NotRequired[str | None]
    """When it happened; of a span, when it began."""
    until: NotRequired[str | None]
    """When a span ended."""


class SessionTrace(TypedDict):
    """A trace of a session."""

    trace_id: str
    """Its id."""
    signals: dict[str, float]
    """The signals that are known, by name."""
    source: NotRequired[SignalSource | None]
    """Whether they were sent, or derived from telemetry."""
    started_at: NotRequired[str | None]
    """When it began."""


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


class ToolRow(TypedDict):
    """A tool and its evaluations."""

    tool: str
    """The tool."""
    evaluations: int
    """Its evaluations."""
    failed: int
    """Those that failed."""


class Totals(TypedDict):
    """What happened, in numbers."""

    evaluations: int
    """Evaluations."""
    passed: int
    """Those that passed."""
    sessions: int
    """Sessions that began."""
    cost_usd: float
    """What they cost in dollars, as far as they say. A session adds at most 10 000."""
    runs: int
    """Runs that were accepted."""
    avg_latency_ms: NotRequired[float | None]
    """The average latency; null without an evaluation."""
    pass_rate: NotRequired[float | None]
    """The share that passed; null without an evaluation."""


class TraceRequest(TypedDict):
    """A trace."""

    trace_id: str
    """1 to 512 bytes."""
    signals: NotRequired[TraceSignals]
    """Absent is the same as empty: the trace counts, and the metrics skip it."""
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
        days: int | None = None,
        timeout: float | None = None,
    ) -> Agents:
        """List agents.

        One row for each agent, over all its evidence. The last seen first, unless `sort` says
        otherwise.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before, with the same `sort`
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default); `score`, the best first: agents with 50 evaluations
        or more, then those that are calibrating, then those without evaluations; `name`; or
        `evaluations`, the most first
        :param days: Show the last days of each agent, this many
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

        One row for each agent, over all its evidence. The last seen first, unless `sort` says
        otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default); `score`, the best first: agents with 50 evaluations
        or more, then those that are calibrating, then those without evaluations; `name`; or
        `evaluations`, the most first
        :param days: Show the last days of each agent, this many
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

    def get_breakdown(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AgentBreakdown:
        """Read what failed, and how long evaluations took.

        Failures by gate and by tool, and latencies, over the UTC days from `from` to `to`, both
        included: at most 366. Without them, the last 30 days. An agent that was never seen has a
        breakdown of zeros.

        :param agent_id: The agent, percent-encoded
        :param from_: A time in the first day
        :param to: A time in the last day
        """
        reply: AgentBreakdown = self._send(
            Request("GET", path("/v1/agents/{agent_id}/breakdown", agent_id), query={"from": from_, "to": to}),
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
        The key itself is never stored, so a retry with the same `Idempotency-Key` cannot return it:
        it is 409 with the id of the key that the first request created.

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

    def get_overview(
        self,
        *,
        day: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Overview:
        """Read the overview of an organization.

        Totals, the largest rises and falls of scores with their cause, failing gates, and the first
        agents by score. Days are UTC days. `limit` is how many agents the ranking has.

        :param day: The day, such as `2026-11-15`; today if absent
        :param limit: How many agents are ranked
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

        Equal steps from `from` to `to`, the last score in each. Without `from`, `to` and `points`:
        one step for each UTC day since the first evaluation, or 100 steps if that was less than
        three days ago. Steps of whole UTC days are answered from sums of days; other steps read the
        evaluations of every day that they cut.

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

    def list_session_records(
        self,
        session_id: SessionName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> RecordsPage:
        """Read the records of a session.

        What happened in it, one record at a time: tool calls, prompts, model calls, errors,
        decisions. Log records come by their time; spans, and records without a time, come first. A
        record that was sent twice is there once. Prompts, arguments and outputs are never kept.

        :param session_id: The session, percent-encoded
        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
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

        What happened in it, one record at a time: tool calls, prompts, model calls, errors,
        decisions. Log records come by their time; spans, and records without a time, come first. A
        record that was sent twice is there once. Prompts, arguments and outputs are never kept.

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
        days: int | None = None,
        timeout: float | None = None,
    ) -> Agents:
        """List agents.

        One row for each agent, over all its evidence. The last seen first, unless `sort` says
        otherwise.

        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before, with the same `sort`
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default); `score`, the best first: agents with 50 evaluations
        or more, then those that are calibrating, then those without evaluations; `name`; or
        `evaluations`, the most first
        :param days: Show the last days of each agent, this many
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

        One row for each agent, over all its evidence. The last seen first, unless `sort` says
        otherwise.

        :param page_size: How many are read at a time; all are given
        :param q: Only those whose id contains this, in any case
        :param sort: `last_seen` (the default); `score`, the best first: agents with 50 evaluations
        or more, then those that are calibrating, then those without evaluations; `name`; or
        `evaluations`, the most first
        :param days: Show the last days of each agent, this many
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

    async def get_breakdown(
        self,
        agent_id: AgentName,
        *,
        from_: TimeText | None = None,
        to: TimeText | None = None,
        timeout: float | None = None,
    ) -> AgentBreakdown:
        """Read what failed, and how long evaluations took.

        Failures by gate and by tool, and latencies, over the UTC days from `from` to `to`, both
        included: at most 366. Without them, the last 30 days. An agent that was never seen has a
        breakdown of zeros.

        :param agent_id: The agent, percent-encoded
        :param from_: A time in the first day
        :param to: A time in the last day
        """
        reply: AgentBreakdown = await self._send(
            Request("GET", path("/v1/agents/{agent_id}/breakdown", agent_id), query={"from": from_, "to": to}),
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
        The key itself is never stored, so a retry with the same `Idempotency-Key` cannot return it:
        it is 409 with the id of the key that the first request created.

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

    async def get_overview(
        self,
        *,
        day: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Overview:
        """Read the overview of an organization.

        Totals, the largest rises and falls of scores with their cause, failing gates, and the first
        agents by score. Days are UTC days. `limit` is how many agents the ranking has.

        :param day: The day, such as `2026-11-15`; today if absent
        :param limit: How many agents are ranked
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

        Equal steps from `from` to `to`, the last score in each. Without `from`, `to` and `points`:
        one step for each UTC day since the first evaluation, or 100 steps if that was less than
        three days ago. Steps of whole UTC days are answered from sums of days; other steps read the
        evaluations of every day that they cut.

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

    async def list_session_records(
        self,
        session_id: SessionName,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> RecordsPage:
        """Read the records of a session.

        What happened in it, one record at a time: tool calls, prompts, model calls, errors,
        decisions. Log records come by their time; spans, and records without a time, come first. A
        record that was sent twice is there once. Prompts, arguments and outputs are never kept.

        :param session_id: The session, percent-encoded
        :param limit: How many at most
        :param cursor: The `next_cursor` of the page before
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

        What happened in it, one record at a time: tool calls, prompts, model calls, errors,
        decisions. Log records come by their time; spans, and records without a time, come first. A
        record that was sent twice is there once. Prompts, arguments and outputs are never kept.

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
