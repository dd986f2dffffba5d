// The API of a server, made by `cargo xtask sdk` from its OpenAPI document. Do not edit it.

import { Http, path, type CallOptions, type PostOptions, type StreamEvent } from "./http.js";

/** A known agent. */
export interface AddAgentReply {
  agent_id: AgentName;
  /** Identity of the agent: a UUIDv5 of its organization and id. */
  identity_id: IdentityName;
}

/** The agent to add. */
export interface AddAgentRequest {
  agent_id: AgentName;
}

/** The failures and latencies of an agent over a range of days. */
export interface AgentBreakdown {
  /** Id of the agent. */
  agent_id: AgentName;
  /** First UTC day. */
  from: string;
  /** Last UTC day, included. */
  to: string;
  /** Number of evaluations. */
  evaluations: number;
  /** Number of evaluations that passed. */
  passed: number;
  /** Gates that failed evaluations, most failures first, at most 50. */
  gates: Array<GateCount>;
  /** Tools that were evaluated, most failures first, at most 50. */
  tools: Array<ToolRow>;
  /** Number of gates and tools that are left out. */
  left_out: number;
  /** Latency of the evaluations. */
  latency: LatencyView;
  /** Days with at least one evaluation, oldest first. */
  days: Array<DayPoint>;
  /** Share of the evaluations that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** A kind of agent. */
export type AgentKind = "claude-code" | "codex" | "gemini-cli" | "qwen-code" | "opencode" | "copilot" | "pi" | "genai" | "unknown";

/** Id of an agent: 1 to 200 characters without control characters, not `.` or `..`. */
export type AgentName = string;

/** An agent in a list. Values without evidence are null. */
export interface AgentRow {
  /** Id of the agent. */
  agent_id: AgentName;
  /** Identity of the agent: a UUIDv5 of its organization and id. */
  identity_id: IdentityName;
  /** Time when the agent was first named. */
  first_seen: TimeText;
  /** Time when evidence of the agent was last accepted. */
  last_seen: TimeText;
  /** Number of evaluations in the window. */
  eval_count: number;
  /** Reputation score; 0 without an evaluation, and only indicative below 50 evaluations. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** Number of passes since the last failure. */
  streak: number;
  /** Average latency of the evaluations. */
  avg_latency_ms?: number | null;
  /** Latest days, if they were requested. */
  days?: Array<DayPoint> | null;
  /** Long-term reputation of the agent's identity. */
  identity_reputation?: IdentityBrief | null;
  /** Session that began last. */
  latest_session?: SessionBrief | null;
  /** Share of the evaluations that passed. */
  pass_rate?: number | null;
  /** Tier of the latest run with a score. */
  tier?: Tier | null;
}

/** Everything known about an agent. */
export interface AgentStanding {
  /** Id of the agent. */
  agent_id: AgentName;
  /** Identity of the agent: a UUIDv5 of its organization and id. */
  identity_id: IdentityName;
  /** Whether the agent has a public page. */
  public: boolean;
  /** Reputation of the agent. */
  reputation: RecordReply;
  /** Long-term reputation of the agent's identity. */
  identity_reputation: IdentityReply;
  /** Tier of the latest run with a score. */
  tier: Tier;
  /** Latest runs. */
  runs: Array<RunReply>;
  /** Latest sessions. */
  sessions: Array<Session>;
  /** Time when the agent was first named; null if the agent is unknown. */
  first_seen?: TimeText | null;
  /** Time when evidence of the agent was last accepted; null if the agent is unknown. */
  last_seen?: TimeText | null;
  /** Metrics of the latest session, in short; null without a session. */
  metrics?: MetricsSummary | null;
  /** Name in the address of the public page. */
  slug?: string | null;
}

/** A page of agents. */
export interface Agents {
  /** Agents in the requested order. */
  agents: Array<AgentRow>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** The origin of the common baseline of a competition. */
export type BaselineSource = "workspace" | "contenders";

/**
 * The ranking of the agents that attempted a spec. All attempts are compared with one baseline, so
 * that the time of an attempt does not matter.
 */
export interface CompetitionReply {
  /** Task that agents compete on. */
  spec_id: RunName;
  /** Baseline that the wall time of every attempt is compared with. */
  baseline: RunBaseline;
  /**
   * Origin of the baseline: runs of the workspace before the first attempt, or the attempts
   * themselves.
   */
  baseline_source: BaselineSource;
  /** Every agent with its best run, best first. */
  ranking: Array<RankedReply>;
  /** First agent of the ranking, if its run completed. */
  winner?: AgentName | null;
}

/** One part of a score. Points are in the unit of the score. */
export interface ComponentReply {
  /** Name of the part in its formula. */
  name: string;
  /** Values that the part was computed from. */
  inputs: Record<string, unknown>;
  /** Contribution of this part. */
  points: number;
  /** Largest possible contribution. */
  points_max: number;
  /** Missing points: `points_max − points`. */
  points_lost: number;
}

/** The source of costs. */
export type CostSource = "reported" | "priced" | "mixed" | "none";

/** A new key. It is shown only in this reply. */
export interface CreateKeyReply {
  id: string;
  key: string;
  kind: KeyKind;
  org: OrgName;
}

/** The key to create. */
export interface CreateKeyRequest {
  kind: KeyKind;
  /** Label for people. */
  label?: string | null;
  /**
   * Organization of the key, which is created if it does not exist; default: the caller's
   * organization.
   */
  org?: OrgName | null;
}

/** One UTC day of an agent. */
export interface DayPoint {
  /** The day, such as `2026-11-15`. */
  day: string;
  /** Number of evaluations on that day. */
  evaluations: number;
  /** Number of evaluations that passed. */
  passed: number;
  /** Score after the last evaluation of the day. */
  score: number;
  /** Lowest score of the day. */
  score_min: number;
  /** Highest score of the day. */
  score_max: number;
  /**
   * Change of the score on that day, in points; null if the agent was calibrating at the start of
   * the day.
   */
  change?: number | null;
}

/** Totals of one day. */
export interface DayTotals {
  /** Number of evaluations. */
  evaluations: number;
  /** Number of evaluations that passed. */
  passed: number;
  /** Number of sessions that began. */
  sessions: number;
  /** Known cost of these sessions in dollars. One session adds at most 10 000. */
  cost_usd: number;
  /** Number of runs that were accepted. */
  runs: number;
  /** The UTC day. */
  day: string;
  /** Average latency; null without an evaluation. */
  avg_latency_ms?: number | null;
  /** Share of the evaluations that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** How the duration of a session was measured. */
export type DurationKind = "active";

/** The erased agent. */
export interface EraseReply {
  /** SHA-256 of the agent's id. */
  agent_sha256: string;
}

/** The body of an error reply. */
export interface ErrorBody {
  /** What was found and what is expected. */
  error: string;
  /** The machine-readable code. */
  code: ErrorCode;
  /** The HTTP status. */
  status: number;
}

/** The machine-readable codes of errors. */
export type ErrorCode = "bad_json" | "validation_error" | "auth_missing" | "auth_format" | "auth_invalid" | "auth_revoked" | "forbidden" | "not_found" | "method_not_allowed" | "timeout" | "conflict" | "too_large" | "unsupported_media_type" | "rate_limited" | "head_too_large" | "internal" | "overloaded" | "store_unavailable" | "clock";

/** The state of an eval run after a change. */
export interface EvalChangeReply {
  /** Id of the eval run. */
  eval_run_id: string;
  /** State of the eval run. */
  status: EvalStatus;
}

/** A filter of sessions. */
export interface EvalFilter {
  /** Only sessions with this many traces or more. */
  min_traces: number;
  /** Only sessions of this agent. */
  agent_id?: AgentName | null;
  /** Only sessions that began at this time or later. */
  from?: TimeText | null;
  /** Only sessions that began at this time or earlier. */
  to?: TimeText | null;
}

/** A filter of sessions. */
export interface EvalFilterRequest {
  /** Only sessions of this agent. */
  agent_id?: AgentName | null;
  /** Only sessions that began at this time or later. */
  from?: Moment | null;
  /** Only sessions with this many traces or more. */
  min_traces?: number | null;
  /** Only sessions that began at this time or earlier. */
  to?: Moment | null;
}

/** The results of one metric over all sessions of a run. */
export interface EvalMetricSummary {
  /** Name of the metric. */
  name: MetricName;
  /**
   * Sessions with evidence for the metric. The others have the score 1 and are left out of the
   * mean.
   */
  evaluated: number;
  /** Those that reach the threshold. */
  passed: number;
  /** Mean score; null without an evaluated session. */
  mean?: number | null;
}

/** How far an eval run is. */
export interface EvalProgress {
  /** Sessions to visit, as counted when the run started. */
  targets: number;
  /** Sessions that need no more work. */
  done: number;
  /** Sessions that were evaluated. */
  scored: number;
  /** Sessions that could not be evaluated. */
  failed: number;
  /** Sessions that the sample or `min_traces` left out. */
  skipped: number;
}

/** An eval run: session metrics over many sessions. */
export interface EvalRun {
  /** Metrics that are computed. */
  metrics: Array<MetricName>;
  /** Share of the sessions that are evaluated. */
  sampling_rate: number;
  /** Weights of the signals. */
  signal_weights: SignalWeights;
  /** Scores from which a metric passes; null is the default, 0.5. */
  thresholds: MetricThresholds;
  /** Id of the eval run. */
  eval_run_id: string;
  /** State of the eval run. */
  status: EvalStatus;
  /** Seed of the sample, as 16 hexadecimal digits. */
  seed: string;
  /** Time when it was created. */
  created_at: TimeText;
  /** Number of sessions, by what became of them. */
  progress: EvalProgress;
  /** Results of each metric over all sessions so far. */
  summary: Array<EvalMetricSummary>;
  /** Reason why the run failed. */
  error?: string | null;
  /** Filter that selects the sessions; null if they were listed. */
  filter?: EvalFilter | null;
  /** Time when it ended; null until then. */
  finished_at?: TimeText | null;
  /** Name of the eval run. */
  name?: string | null;
  /** Schedule that started it; null if a client did. */
  schedule_id?: string | null;
  /** Time when it started; null while it waits. */
  started_at?: TimeText | null;
}

/** An eval run to start. */
export interface EvalRunRequest {
  /** Filter that selects the sessions to evaluate. `{}` selects all. */
  filter?: EvalFilterRequest | null;
  /** Metrics to compute; all if absent. */
  metrics?: Array<MetricName> | null;
  /** Name of the run, for people. */
  name?: string | null;
  /** Share of the sessions to evaluate, more than 0; all if absent. */
  sampling_rate?: number | null;
  /** Sessions to evaluate, each once. Either this or `filter`. */
  session_ids?: Array<SessionName> | null;
  /** Weights of the signals that differ from their defaults. */
  signal_weights?: SignalWeights | null;
  /** Scores from which a metric passes; 0.5 if absent. */
  thresholds?: MetricThresholds | null;
}

/** A page of eval runs. */
export interface EvalRunsReply {
  /** Eval runs, the last created first. */
  data: Array<EvalRun>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** The result of one session of an eval run. */
export interface EvalScore {
  /** Id of the session. */
  session_id: SessionName;
  /** `pending`, `scored` or `failed`. */
  status: string;
  /** Id of the agent; null if the session is unknown. */
  agent_id?: AgentName | null;
  /** Reason why the session could not be evaluated. */
  error?: string | null;
  /**
   * Metrics that were chosen, by name, with their metadata, as `GET
   * /v1/sessions/{session_id}/metrics` returns them; null if there are none.
   */
  metrics?: EvalScores | null;
}

/** The results of one session: the chosen metrics. */
export interface EvalScores {
  /** Consistency, if it was chosen. */
  agent_consistency?: SessionMetric | null;
  /** Reliability, if it was chosen. */
  agent_reliability?: SessionMetric | null;
}

/** A page of results. */
export interface EvalScoresReply {
  /** Results, sorted by session. */
  data: Array<EvalScore>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** What an eval run computes. */
export interface EvalSettings {
  /** Metrics that are computed. */
  metrics: Array<MetricName>;
  /** Share of the sessions that are evaluated. */
  sampling_rate: number;
  /** Weights of the signals. */
  signal_weights: SignalWeights;
  /** Scores from which a metric passes; null is the default, 0.5. */
  thresholds: MetricThresholds;
}

/** The state of an eval run. */
export type EvalStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

/** The verdict on one output. The status is 200 even if a gate failed. */
export interface EvaluateReply {
  /** Id of this evaluation: the one that was sent, or a new one. */
  evaluation_id: string;
  /** Whether every gate passed or was skipped. */
  passed: boolean;
  /** One result per gate, in the configured order. */
  gates: Array<GateReport>;
  /** Latency of the gates. */
  total_latency_ms: number;
  /** Reputation of the agent right after this evaluation. */
  reputation: ReputationReply;
  /** Unknown fields of the request, which were ignored. Absent if there are none. */
  warnings?: Array<string>;
}

/** The output to judge. */
export interface EvaluateRequest {
  /** Agent that produced the output. */
  agent_id: AgentName;
  /** The output: any JSON value. Required, but may be null. Never stored, logged or echoed. */
  output: unknown;
  /**
   * Id of this evaluation, chosen by the caller. A repeated id returns the first result and counts
   * nothing.
   */
  evaluation_id?: string | null;
  /** Input of the tool: any JSON value. Never stored, logged or echoed. */
  input?: unknown;
  /** Latency of the agent. */
  latency_ms?: number | null;
  /** Start of that time, in milliseconds after 1970. */
  started_at?: TimeMillis | null;
  /** Time allowed for the output, in milliseconds, for `rtb.tmax-guard`. */
  tmax_ms?: number | null;
  /** Tool that returned the output. */
  tool?: string | null;
}

/** One evaluation. */
export interface EventReply {
  id: string;
  agent_id: AgentName;
  /** Whether every gate passed. */
  passed: boolean;
  gates: Array<GateReport>;
  /** Latency of the gates. */
  total_latency_ms: number;
  /** Reputation score of the agent right after this evaluation. */
  reputation_score: number;
  /** Time of the evaluation; if it was not sent, the time of acceptance. */
  created_at: TimeText;
  /** Latency of the agent, if it was sent. */
  latency_ms?: number | null;
  tool_name?: string | null;
}

/** A page of evaluations. */
export interface EventsReply {
  /** Evaluations, the last accepted first. */
  events: Array<EventReply>;
  /** Maximum number of evaluations on the page. */
  limit: number;
  /** Number of evaluations that were skipped. */
  offset: number;
  /** Number of evaluations on the page. */
  count: number;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** The explanation of a score. */
export interface ExplainReply {
  /** Score from 0 to 1000. */
  score: number;
  /** Version of the formula. */
  formula_version: string;
  /** Parts of the formula. */
  components: Array<ComponentReply>;
  /** Scores after one more evaluation. */
  next: NextReply;
}

/** The kind of a fact. */
export type FactKind = "tool_result" | "prompt" | "api_request" | "api_error" | "tool_decision" | "feedback" | "compaction" | "refusal";

/** A gate that failed evaluations on a day. */
export interface FailingGate {
  /** Name of the gate. */
  gate: string;
  /** Number of evaluations that the gate failed on that day. */
  failed: number;
  /** Number of evaluations that the gate failed on the seven days before. */
  failed_before: number;
  /** Whether the gate failed no evaluation on the seven days before. */
  is_new: boolean;
}

/** A gate and its failures. */
export interface GateCount {
  /** Name of the gate. */
  gate: string;
  /** Number of evaluations that the gate failed. */
  failed: number;
}

/** The result of one gate. */
export interface GateReport {
  /** Name of the gate. */
  name: string;
  /** Whether the gate passed. A skipped gate passes. */
  passed: boolean;
  /** Latency of the gate. */
  latency_ms: number;
  /** Reason for a failure or a skip. */
  reason?: string | null;
  /** Whether the gate was skipped. */
  skipped?: boolean | null;
}

/** The health of the server. */
export interface HealthReply {
  /** Always `ok`. */
  status: string;
  /** Version of the program. */
  version: string;
  /** Port for OTLP over gRPC; null if it is disabled. */
  otlp_grpc_port?: number | null;
  /**
   * Port for OTLP over HTTP, which may accept telemetry from this machine without a key; null if it
   * is disabled.
   */
  otlp_http_port?: number | null;
}

/** The history of a score. */
export interface HistoryReply {
  /** Steps, oldest first. Steps without an evaluation are left out. */
  points: Array<PointReply>;
}

/** The reputation of an identity in short. */
export interface IdentityBrief {
  /** Weighted mean of the categories. */
  overall_score: number;
  /** Confidence from 0 to 1, which grows with the number of events. */
  confidence: number;
  /** Number of events in the last 90 days. */
  total_events: number;
  /** Change in the last 7 days; null if there were no events 7 days ago. */
  trend_7d?: number | null;
}

/** A reputation event of an identity. */
export interface IdentityEventReply {
  event_id: string;
  timestamp: TimeText;
  identity_id: IdentityName;
  category: ReputationCategory;
  event_type: string;
  score_delta: number;
  confidence: number;
  reference_type: ReferenceType;
  attributes: Record<string, string>;
  accepted_at: TimeText;
  reference_id?: string | null;
}

/** A page of reputation events. */
export interface IdentityEventsReply {
  /** Events, newest first. */
  data: Array<IdentityEventReply>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** A UUID. */
export type IdentityName = string;

/** The reputation of an identity as of a time. */
export interface IdentityReply {
  /** Id of the identity. */
  identity_id: IdentityName;
  /** Time of the scores. */
  as_of: TimeText;
  /** Weighted mean of the categories over 90 days. */
  overall_score: number;
  /** Mean of the events about work. */
  task_quality_score: number;
  /** Mean of the events about payment. */
  economic_score: number;
  /** Mean of the events about keys and sessions. */
  identity_hygiene_score: number;
  /** Number of events in the window. */
  total_events: number;
  /** Number of events with a change above 0. */
  positive_events: number;
  /** Number of events with a change below 0. */
  negative_events: number;
  /** Confidence from 0 to 1, which grows with the number of events. */
  confidence: number;
  /** Overall score 7 days before. */
  score_7d_ago: number;
  /** Overall score 30 days before. */
  score_30d_ago: number;
  /** Version of the formula. */
  formula_version: string;
  /** Change of the overall score in 30 days; null if there were no events 30 days before. */
  trend_30d?: number | null;
  /** Change of the overall score in 7 days; null if there were no events 7 days before. */
  trend_7d?: number | null;
}

/** One verdict. */
export interface IngestEvent {
  /** Agent that produced the output. */
  agent_id: AgentName;
  /** Whether every gate passed. */
  passed: boolean;
  /** Latency of the gates. */
  total_latency_ms: number;
  /** Id of the evaluation. A repeated id counts nothing. */
  evaluation_id?: string | null;
  /** Results of the gates. */
  gates?: Array<GateReport> | null;
  /** Latency of the agent. */
  latency_ms?: number | null;
  /** Time of the evaluation; default: the time of acceptance. */
  timestamp?: Moment | null;
  /** Tool that returned the output. */
  tool?: string | null;
}

/** The result of a batch of verdicts. */
export interface IngestReply {
  /** Number of verdicts that were counted. */
  accepted: number;
  /** Number of verdicts that had been counted before. */
  duplicates: number;
  /** Reputation of each agent in the batch, after the whole batch. */
  reputation_updates: Array<ReputationUpdate>;
  /** Unknown fields of the request, which were ignored. Absent if there are none. */
  warnings?: Array<string>;
}

/** Verdicts of other programs. */
export interface IngestRequest {
  /** Verdicts, in the order in which they are counted. */
  events: Array<IngestEvent>;
}

/** Permissions of a key: `publishable` sends evidence and reads scores, `secret` also administers. */
export type KeyKind = "publishable" | "secret";

/** A key in a list, without the key itself. */
export interface KeyReply {
  id: string;
  kind: KeyKind;
  org: OrgName;
  /** Last four characters of the key. */
  last_four: string;
  created_at: TimeText;
  label?: string | null;
  /** Time of the last use, to the minute. */
  last_used_at?: TimeText | null;
  revoked_at?: TimeText | null;
}

/** A page of keys. */
export interface KeysReply {
  /** Keys, oldest first. */
  data: Array<KeyReply>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/**
 * A bucket of a histogram: the evaluations above the bound of the previous bucket, up to its own
 * bound.
 */
export interface LatencyBucket {
  /** Number of evaluations in the bucket. */
  evaluations: number;
  /** Upper bound, included; null for the last bucket, which has no bound. */
  at_most_ms?: number | null;
}

/**
 * The latency that counts for reputations: `gate`, the latency of the gates, or `agent`, the
 * latency of the agent if it was sent.
 */
export type LatencySource = "gate" | "agent";

/** The latency of evaluations. */
export interface LatencyView {
  /** Histogram of the latencies. Each evaluation is in exactly one bucket. */
  buckets: Array<LatencyBucket>;
  /** Average latency; null without an evaluation. */
  avg_ms?: number | null;
}

/**
 * How settled a score is: `new` without evaluations, `calibrating` below 50, `active` below 500,
 * then `mature`.
 */
export type Lifecycle = "new" | "calibrating" | "active" | "mature";

/** A range of scores. */
export interface MetricBand {
  /** Name of the range. */
  band: string;
  /** Lowest score of the range. The range ends where the next better one begins. */
  from: number;
  /** What a score in the range means. */
  meaning: string;
}

/** The definition of a metric. */
export interface MetricDefinition {
  /** Name of the metric. */
  name: string;
  /** What the metric measures. */
  description: string;
  /** How the metric is computed. */
  method: string;
  /** Lowest score that passes, unless the caller sets another threshold. */
  threshold: number;
  /** Version of the formula. */
  formula_version: string;
  /** Ranges of scores, best first. */
  bands: Array<MetricBand>;
}

/** A metric of sessions. */
export type MetricName = "agent_reliability" | "agent_consistency";

/** A metric, without the details of its computation. */
export interface MetricSummary {
  /** Score from 0 to 1, with four decimals. */
  score: number;
  /** The result in one sentence. */
  reason: string;
  /** Lowest score that passes. */
  threshold: number;
  /** Whether the score reaches the threshold. */
  passed: boolean;
  /** Name of the score's range. */
  band: string;
  /** Whether any trace could be evaluated; if not, the score is 1. */
  evaluable: boolean;
  /** Version of the formula. */
  formula_version: string;
}

/** The thresholds that a caller sets. Absent thresholds keep the default. */
export interface MetricThresholds {
  /** Threshold of consistency. */
  agent_consistency?: number | null;
  /** Threshold of reliability. */
  agent_reliability?: number | null;
}

/** Both metrics, without the details of their computation. */
export interface MetricsSummary {
  /** Reliability of the agent. */
  agent_reliability: MetricSummary;
  /** Consistency of the agent's traces. */
  agent_consistency: MetricSummary;
}

/** A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970. */
export type Moment = TimeText | TimeMillis;

/** The score after one more evaluation with the average latency of the window. */
export interface NextReply {
  /** Score if it passes. */
  pass: number;
  /** Score if it fails. */
  fail: number;
}

/** The name of an organization. */
export type OrgName = string;

/** The overview of an organization. */
export interface Overview {
  /** UTC day of the overview. */
  day: string;
  /** Number of agents in the organization. */
  agents: number;
  /** Totals of the day. */
  today: Totals;
  /** Totals of the day and the six days before it. */
  week: Totals;
  /** Totals of each of the last 30 days that has any evidence, oldest first. */
  days: Array<DayTotals>;
  /**
   * Largest falls of scores on the day, at most 5. Agents that were calibrating at the start of the
   * day are left out.
   */
  falls: Array<ScoreChange>;
  /** Largest rises of scores on the day, at most 5. */
  rises: Array<ScoreChange>;
  /** Gates that failed evaluations on the day, most failures first. */
  failing_gates: Array<FailingGate>;
  /** Agents with the best scores, each with its last 30 days. */
  ranking: Array<AgentRow>;
}

/** Whether a schedule is paused. */
export interface PauseReply {
  /** Id of the schedule. */
  schedule_id: string;
  /** Whether it is paused. */
  paused: boolean;
}

/** The performance of a session. */
export interface Performance {
  /** Duration in whole minutes. */
  duration_min: number;
  /** The dimensions of the performance. */
  dimensions: PerformanceDimensions;
  /** Performance from 0 to 10, with one decimal: the weighted sum of the dimensions. */
  composite: number;
  /** Recommendation for the masque. */
  recommendation: Recommendation;
  /** The sums that the dimensions are computed from. */
  stats: PerformanceStats;
  /** Masque of the agent, or `unknown`. */
  masque: string;
  /** Id of the session. */
  session_id: string;
  /** Id of the agent. */
  agent_id: string;
  /** Kind of the agent, such as `claude-code`. */
  agent: AgentKind;
  /** Version of the formula. */
  formula_version: string;
  /** Evidence that the session contained, and evidence that was missing. */
  coverage: PerformanceCoverage;
  /** Counts that the formula does not use. */
  signals: PerformanceSignals;
  /** Time of the last event; null if no event has a time. */
  ended_at?: TimeText | null;
  /** Time of the first event; null if no event has a time. */
  started_at?: TimeText | null;
}

/**
 * Which of `tools`, `prompts`, `cost` and `tokens` the evidence contains. Without costs, for
 * example, the cost efficiency is 10.0 too.
 */
export interface PerformanceCoverage {
  /** Kinds of evidence that the session contained. */
  present: Array<string>;
  /** Kinds of evidence that were missing. */
  missing: Array<string>;
  /** Present kinds that only some of the calls have. */
  partial: Array<string>;
  /** Source that was scored. */
  signal: TelemetrySignal;
  /** Source of the costs. */
  cost_source: CostSource;
  /** How the duration was measured, if not from the first to the last event. */
  duration?: DurationKind | null;
}

/** The dimensions of the performance, each from 0 to 10 with one decimal. */
export interface PerformanceDimensions {
  /** Share of tool calls that succeeded. */
  quality: number;
  /** Tool calls per prompt. */
  autonomy: number;
  /** Successful tool calls per minute. */
  productivity: number;
  /** Share of tokens read from the cache. */
  token_efficiency: number;
  /** Low cost per successful tool call. */
  cost_efficiency: number;
}

/** The score of a session and its parts. */
export interface PerformanceScore {
  /** Duration in whole minutes. */
  duration_min: number;
  /** The dimensions of the performance. */
  dimensions: PerformanceDimensions;
  /** Performance from 0 to 10, with one decimal: the weighted sum of the dimensions. */
  composite: number;
  /** Recommendation for the masque. */
  recommendation: Recommendation;
  /** The sums that the dimensions are computed from. */
  stats: PerformanceStats;
}

/** Other counts, which the formula does not use. */
export interface PerformanceSignals {
  /** Number of model calls that failed. */
  api_errors: number;
  /** Number of tool calls that were allowed. */
  accepts: number;
  /** Number of tool calls that were rejected. */
  rejects: number;
  /** Number of tool calls that the user rejected. */
  rejects_by_user: number;
  /** Number of times the agent shortened the conversation. */
  compactions: number;
  /** Number of times the model refused to answer. */
  refusals: number;
  /** Latest rating by the user: -1, 0 or 1. */
  feedback?: number | null;
}

/** The sums that the dimensions are computed from. */
export interface PerformanceStats {
  /** Cost in dollars, with two decimals. */
  total_cost: number;
  /** Number of tool calls that ran. */
  total_tools: number;
  /** Number of tool calls that succeeded. */
  tools_ok: number;
  /** Share of tool calls that succeeded, in whole percent. */
  tool_success_pct: number;
  /** Number of user prompts. */
  prompts: number;
  /** Number of tokens, each counted once. */
  total_tokens: number;
  /** Number of tokens that were read from the cache. */
  cache_tokens: number;
}

/** One step of a history. */
export interface PointReply {
  /** Start of the step. */
  at: TimeText;
  /** Score after the last evaluation of the step. */
  score: number;
  /** Number of evaluations in the step. */
  evaluations: number;
}

/** The publication of an agent. */
export interface PublishReply {
  agent_id: AgentName;
  public: boolean;
  slug?: string | null;
}

/** The publication of an agent to change. */
export interface PublishRequest {
  /** Whether the agent is public; default: as before. */
  public?: boolean | null;
  /** Name in the public address; default: the current name, or one derived from the id. */
  slug?: string | null;
}

/** An agent with its best run. */
export interface RankedReply {
  /** Rank of the agent, from 1. */
  rank: number;
  /** Id of the agent. */
  agent_id: AgentName;
  /** Id of its best run. */
  run_id: RunName;
  /** Name of that score's range. */
  tier: Tier;
  /** Axes of the ranked score that could not be computed and count as 50. */
  defaulted: Array<string>;
  /** Parts of that score. */
  axes?: RunAxes | null;
  /** Branch with the work of the run. */
  branch?: string | null;
  /** Pull request with the work of the run. */
  pull_request?: string | null;
  /** Parts of the ranked score. */
  ranked_axes?: RunAxes | null;
  /** Score against the baseline of the competition, from 0 to 100, by which the agents are ranked. */
  ranked_score?: number | null;
  /** Score that the run got when it was accepted, from 0 to 100; null after an internal error. */
  score?: number | null;
  /**
   * What decided between this run and a neighbor with the same ranked score; null without such a
   * neighbor.
   */
  tie_decided_by?: TieBreak | null;
  /** Wall time of the run, in milliseconds. */
  wall_ms?: number | null;
}

/** The readiness of the store. */
export interface ReadyReply {
  /** Always `ready`. */
  status: string;
  /**
   * Only while the system clock shows an earlier time than already stored evidence, because it was
   * ahead or is late: the time that all new evidence gets. After five minutes new evidence gets the
   * time of the clock again.
   */
  standstill?: TimeText | null;
}

/** The recommendation for the masque. */
export type Recommendation = "keep" | "review" | "doff";

/** The reputation of an agent. */
export interface RecordReply {
  /** Id of the agent. */
  agent_id: AgentName;
  /** Score from 0 to 1000. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** The same as `lifecycle`. */
  status: Lifecycle;
  /** Number of evaluations in the window. */
  eval_count: number;
  /** The same as `eval_count`. */
  evaluations: number;
  /** Maximum number of evaluations in the window. */
  window_size: number;
  /** Number of evaluations in the window that passed. */
  passed: number;
  /** Share of the evaluations that passed, from 0 to 1. */
  pass_rate: number;
  /** Average latency of the evaluations in the window. */
  avg_latency_ms: number;
  /** Number of passes since the last failure. */
  streak: number;
  /** Version of the formula. */
  formula_version: string;
}

/** A page of records. */
export interface RecordsPage {
  /** Records: first spans and records without a time, then log records by time. */
  data: Array<SessionRecord>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/**
 * Kind of the thing that an event refers to: `session`, `transaction` or `attestation`; empty if it
 * refers to nothing.
 */
export type ReferenceType = "session" | "transaction" | "attestation" | "";

/** All session metrics. */
export interface RegistryReply {
  data: Array<MetricDefinition>;
  /** Always null: there is one page. */
  next_cursor?: string | null;
}

/** Category of an event: work, payment, or keys and sessions. */
export type ReputationCategory = "task_quality" | "economic" | "identity_hygiene";

/** A reputation event. */
export interface ReputationEventRequest {
  /** Id of the event. A repeated event counts once; the first copy is kept. */
  event_id: string;
  /** Time of the event: at most three years in the past and one day in the future. */
  timestamp: Moment;
  /** Category of the event. */
  category: ReputationCategory;
  /** Kind of the event, such as `task_completed`. */
  event_type: string;
  /** Change of the score of its category. */
  score_delta: number;
  /** The agent. Required unless `identity_id` is given. */
  agent_id?: AgentName | null;
  /** Other data to store with the event. */
  attributes?: Record<string, string> | null;
  /**
   * How sure the sender is, from 0 to 1; default: 1. It is stored and returned, but does not change
   * scores.
   */
  confidence?: number | null;
  /** Identity of the agent. Required unless `agent_id` is given. */
  identity_id?: IdentityName | null;
  /** Id of the thing that the event refers to. */
  reference_id?: string | null;
  /** Kind of the thing that the event refers to. */
  reference_type?: ReferenceType | null;
}

/** The result of a batch of events. */
export interface ReputationEventsReply {
  /** Number of events that were counted. */
  accepted: number;
  /** Number of events that had been counted before. */
  duplicates: number;
}

/** Reputation events. */
export interface ReputationEventsRequest {
  /** List of 1 to 1000 events. */
  events: Array<ReputationEventRequest>;
}

/** The short form of a reputation. */
export interface ReputationReply {
  /** Score from 0 to 1000. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** Number of evaluations in the window, at most 500. */
  eval_count: number;
}

/** The reputation of an agent after the batch. */
export interface ReputationUpdate {
  /** Score from 0 to 1000. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** Number of evaluations in the window, at most 500. */
  eval_count: number;
  /** Id of the agent. */
  agent_id: AgentName;
}

/** The axes of a score, each from 0 to 100. */
export interface RunAxes {
  /** Whether the run finished. */
  completion: number;
  /** Share of stages that passed at the first attempt. */
  error_rate: number;
  /** Duration, compared with the baseline. */
  latency: number;
  /** Share of memory and CPU that it did not use. */
  resource_efficiency: number;
}

/** The baseline of the wall time. */
export interface RunBaseline {
  /** Number of compared runs. */
  runs: number;
  /** Median wall time of the compared runs, in milliseconds; null without such runs. */
  p50_ms?: number | null;
}

/** The evidence that a scorecard used. */
export interface RunCoverage {
  /** Kinds of evidence that the run has. */
  present: Array<string>;
  /** Kinds of evidence that are missing. */
  missing: Array<string>;
  /** Whether only the run itself supports its outcome: it has no stages and names no spec. */
  outcome_is_unsupported: boolean;
}

/** 1 to 200 characters without control characters, not `.` or `..`. */
export type RunName = string;

/**
 * The outcome of a run: `completed` (all gates passed), `blocked` (partial progress) or `failed`
 * (no usable output).
 */
export type RunOutcome = "completed" | "blocked" | "failed";

/** A run with everything known about it. */
export interface RunReply {
  /** Id of the run. */
  run_id: RunName;
  /** Id of the agent. */
  agent_id: AgentName;
  /** Workspace of the run, whose runs are compared with each other. */
  workspace: RunName;
  /** Name of the score's range. */
  tier: Tier;
  /** Version of the formula. */
  formula_version: string;
  /** Axes that could not be computed and have the default value 50. */
  defaulted: Array<string>;
  /**
   * Parts of the request that do not count: invalid values, which count as absent, and unknown
   * fields.
   */
  warnings: Array<string>;
  /** Evidence behind the score, and what is missing. */
  coverage: RunCoverage;
  /** Time when the run was scored. */
  scored_at: TimeText;
  /** Outcome of the run. */
  outcome: RunOutcome;
  /** Resource usage of the run. */
  resources: RunResources;
  /** End of the run. */
  finished_at: TimeText;
  /** Parts of the score. */
  axes?: RunAxes | null;
  /** Baseline that the wall time was compared with. */
  baseline?: RunBaseline | null;
  /** Score from 0 to 100; null after an internal error. */
  score?: number | null;
  /** Task that agents compete on. */
  spec_id?: RunName | null;
  /** Other data that was sent with the run. */
  attributes?: Record<string, unknown> | null;
  /** Branch with the work of the run. */
  branch?: string | null;
  /** Pull request with the work of the run. */
  pull_request?: string | null;
  /** Stages of the run, as they were sent. */
  stages?: Array<RunStage> | null;
  /** Start of the run. */
  started_at?: TimeText | null;
  /** Wall time of the run, in milliseconds. */
  wall_ms?: number | null;
}

/** A finished run. */
export interface RunRequest {
  agent_id: AgentName;
  outcome: RunOutcome;
  /** Any other data to store with the run, up to 64 KiB. */
  attributes?: Record<string, unknown> | null;
  /** Branch with the work of the run. */
  branch?: string | null;
  /** End of the run; default: the time of acceptance. */
  finished_at?: Moment | null;
  /** Pull request with the work of the run. */
  pull_request?: string | null;
  resources?: RunResources | null;
  /** Id of the run; default: `run_` and a ULID. A repeated id returns the first scorecard. */
  run_id?: RunName | null;
  /** Task that agents compete on. */
  spec_id?: RunName | null;
  stages?: Array<RunStage> | null;
  started_at?: Moment | null;
  /** Wall time of the run, in milliseconds. */
  wall_ms?: number | null;
  /** Workspace, whose runs are compared with each other; default: `default`. */
  workspace?: RunName | null;
}

/** The known resource usage of a run. */
export interface RunResources {
  /** Scheduler periods in which the run was runnable. */
  cpu_periods?: number | null;
  /** Throttled time in milliseconds. */
  cpu_throttled_ms?: number | null;
  /** Scheduler periods in which it was throttled. */
  cpu_throttled_periods?: number | null;
  /** Memory limit. */
  memory_limit_bytes?: number | null;
  /** Peak memory. */
  memory_peak_bytes?: number | null;
}

/** A stage of a run. */
export interface RunStage {
  /** Name of the stage, for people. */
  name: string;
  /** Whether the stage passed. */
  passed: boolean;
  /** Number of attempts; default: 1. */
  attempts?: number | null;
}

/** A page of runs. */
export interface RunsReply {
  /** Runs, the last accepted first. */
  data: Array<RunReply>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** When eval runs start by themselves. */
export interface Schedule {
  /** Metrics that are computed. */
  metrics: Array<MetricName>;
  /** Share of the sessions that are evaluated. */
  sampling_rate: number;
  /** Weights of the signals. */
  signal_weights: SignalWeights;
  /** Scores from which a metric passes; null is the default, 0.5. */
  thresholds: MetricThresholds;
  /** Id of the schedule. */
  schedule_id: string;
  /** Name of the schedule and of its runs. */
  name: string;
  /** When it fires, in UTC: `every_6h`, `daily`, `weekly`, or `cron:` and five fields. */
  cadence: string;
  /** Filter that selects the sessions of its runs. */
  filter: EvalFilter;
  /** Whether a tick starts no run if no evidence was accepted since the last run. */
  only_if_changed: boolean;
  /** Whether it is paused. */
  paused: boolean;
  /** Time when it was created. */
  created_at: TimeText;
  /** The last run that it started. */
  last_eval_run_id?: string | null;
  /** Time of the next tick; null while it is paused. */
  next_tick_at?: TimeText | null;
}

/** Changes of a schedule. Absent fields stay as they are. */
export interface SchedulePatch {
  /** When it fires, in UTC. Ticks of the new cadence count from now. */
  cadence?: string | null;
  /** Filter that selects the sessions to evaluate. Replaces the whole filter. */
  filter?: EvalFilterRequest | null;
  /** Metrics to compute. */
  metrics?: Array<MetricName> | null;
  /** Name of the schedule and of its later runs. */
  name?: string | null;
  /** Start no run if no evidence of the selected sessions was accepted since the last run. */
  only_if_changed?: boolean | null;
  /** Share of the sessions to evaluate, more than 0. */
  sampling_rate?: number | null;
  /** Weights of the signals. Replaces all weights; absent ones have their defaults. */
  signal_weights?: SignalWeights | null;
  /** Scores from which a metric passes. Replaces all thresholds. */
  thresholds?: MetricThresholds | null;
}

/** A schedule to create. */
export interface ScheduleRequest {
  /** Name of the schedule and of its runs. */
  name: string;
  /**
   * When it fires, in UTC: `every_6h`, `daily`, `weekly` (Mondays), or `cron:` and five fields,
   * such as `cron:30 2 * * MON-FRI`.
   */
  cadence: string;
  /** Filter that selects the sessions to evaluate; all if absent. */
  filter?: EvalFilterRequest | null;
  /** Metrics to compute; all if absent. */
  metrics?: Array<MetricName> | null;
  /**
   * Start no run if no evidence of the selected sessions was accepted since the last run; `true` if
   * absent.
   */
  only_if_changed?: boolean | null;
  /** Share of the sessions to evaluate, more than 0; all if absent. */
  sampling_rate?: number | null;
  /** Weights of the signals that differ from their defaults. */
  signal_weights?: SignalWeights | null;
  /** Scores from which a metric passes; 0.5 if absent. */
  thresholds?: MetricThresholds | null;
}

/** A page of schedules. */
export interface SchedulesReply {
  /** Schedules, the last created first. */
  data: Array<Schedule>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** The change of an agent's score on a day, with its cause. */
export interface ScoreChange {
  /** Id of the agent. */
  agent_id: AgentName;
  /** Change of the score, in points. */
  change: number;
  /** Score before the first evaluation of the day. */
  score_before: number;
  /** Score after the last evaluation of the day. */
  score: number;
  /** Number of evaluations on the day. */
  evaluations: number;
  /** Number of evaluations that failed. */
  failed: number;
  /** Cause of the change, in one sentence. */
  cause: string;
  /** Gate with the most failures; null if no gate failed. */
  gate?: string | null;
}

/** The scorecard of a run. */
export interface ScoreReply {
  /** Id of the run. */
  run_id: RunName;
  /** Id of the agent. */
  agent_id: AgentName;
  /** Workspace of the run, whose runs are compared with each other. */
  workspace: RunName;
  /** Name of the score's range. */
  tier: Tier;
  /** Version of the formula. */
  formula_version: string;
  /** Axes that could not be computed and have the default value 50. */
  defaulted: Array<string>;
  /**
   * Parts of the request that do not count: invalid values, which count as absent, and unknown
   * fields.
   */
  warnings: Array<string>;
  /** Evidence behind the score, and what is missing. */
  coverage: RunCoverage;
  /** Time when the run was scored. */
  scored_at: TimeText;
  /** Parts of the score. */
  axes?: RunAxes | null;
  /** Baseline that the wall time was compared with. */
  baseline?: RunBaseline | null;
  /** Score from 0 to 100; null after an internal error. */
  score?: number | null;
  /** Task that agents compete on. */
  spec_id?: RunName | null;
}

/** A session. */
export interface Session {
  /** Id of the session. */
  session_id: SessionName;
  /** Id of the agent. */
  agent_id: AgentName;
  /** Whether the session may still receive records. */
  open: boolean;
  /** Time when data of the session last arrived. */
  last_seen: TimeText;
  /** Metrics of the traces, in short. */
  metrics: MetricsSummary;
  /** Number of traces. */
  trace_count: number;
  /** Time when the session was closed; null while it is open. */
  closed_at?: TimeText | null;
  /** Time of the last event; null if no event has a time. */
  ended_at?: TimeText | null;
  /**
   * Performance of the session; null if there is nothing to score, for example if only signals were
   * sent.
   */
  performance?: Performance | null;
  /** Time of the first event; null if no event has a time. */
  started_at?: TimeText | null;
}

/** A session in short. */
export interface SessionBrief {
  /** Id of the session. */
  session_id: SessionName;
  /** Start of the session. */
  started_at: TimeText;
  /** Whether the session may still receive records. */
  open: boolean;
  /** Performance from 0 to 10; null if there is nothing to score. */
  performance?: number | null;
  /** Recommendation for the masque of the session. */
  recommendation?: Recommendation | null;
}

/** A session with its traces. */
export interface SessionDetail {
  /** Id of the session. */
  session_id: SessionName;
  /** Id of the agent. */
  agent_id: AgentName;
  /** Whether the session may still receive records. */
  open: boolean;
  /** Time when data of the session last arrived. */
  last_seen: TimeText;
  /** Metrics of the traces, in short. */
  metrics: MetricsSummary;
  /** Number of traces. */
  trace_count: number;
  /** Traces of the session. */
  traces: Array<SessionTrace>;
  /** Time when the session was closed; null while it is open. */
  closed_at?: TimeText | null;
  /** Time of the last event; null if no event has a time. */
  ended_at?: TimeText | null;
  /**
   * Performance of the session; null if there is nothing to score, for example if only signals were
   * sent.
   */
  performance?: Performance | null;
  /** Time of the first event; null if no event has a time. */
  started_at?: TimeText | null;
}

/**
 * One fact of a record. A field is absent if facts of this kind do not have it, or if its value is
 * unknown.
 */
export interface SessionFact {
  /** Kind of the fact. */
  kind: FactKind;
  /** Whether the call of the tool was allowed. */
  accepted?: boolean | null;
  /** Number of tokens that were written to the cache. */
  cache_creation_tokens?: number | null;
  /** Number of tokens that were read from the cache. */
  cache_read_tokens?: number | null;
  /** Cost in dollars. */
  cost_usd?: number | null;
  /** Who allowed or denied the call: `user`, `policy`, `hook` or `unknown`. */
  decided_by?: string | null;
  /** Duration of the call. */
  duration_ms?: number | null;
  /** Type of the error. */
  error_type?: string | null;
  /** Number of input tokens. */
  input_tokens?: number | null;
  /** Name of the model. */
  model?: string | null;
  /** Whether the call succeeded. */
  ok?: boolean | null;
  /** Number of output tokens. */
  output_tokens?: number | null;
  /** Rating by the user: -1, 0 or 1. */
  rating?: number | null;
  /** HTTP status of a failed call. */
  status?: number | null;
  /** Number of tokens in the context after the compaction. */
  tokens_after?: number | null;
  /** Number of tokens in the context before the compaction. */
  tokens_before?: number | null;
  /** Name of the tool. */
  tool?: string | null;
}

/** A metric of a session. */
export interface SessionMetric {
  /** Name of the metric. */
  name: string;
  /** Score from 0 to 1, with four decimals. */
  score: number;
  /** The result in one sentence. */
  reason: string;
  /** Lowest score that passes. */
  threshold: number;
  /** Whether the score reaches the threshold. */
  passed: boolean;
  /** Name of the score's range. */
  band: string;
  /** Whether any trace could be evaluated; if not, the score is 1, and a client can ignore it. */
  evaluable: boolean;
  /** Version of the formula. */
  formula_version: string;
  /**
   * Details of the computation: the number of traces and of evaluated traces, and, if any were
   * evaluated, the weights, the risks of each trace with the `source` of its signals, and how the
   * risks were combined.
   */
  metadata: Record<string, unknown>;
}

/** Both metrics of a session. */
export interface SessionMetrics {
  /** Reliability: the worst moments. */
  agent_reliability: SessionMetric;
  /** Consistency: the spread. */
  agent_consistency: SessionMetric;
}

/** Id of a session, as its agent reports it: 1 to 256 bytes. */
export type SessionName = string;

/** A record of a session. */
export interface SessionRecord {
  /** `logs` or `spans`. */
  signal: TelemetrySignal;
  /** Kind of the agent that sent the record, such as `claude-code`. */
  agent: AgentKind;
  /** Facts of the record. */
  facts: Array<SessionFact>;
  /** Time of the record. For a span: its start. */
  at?: TimeText | null;
  /** End of a span. */
  until?: TimeText | null;
}

/** A trace of a session. */
export interface SessionTrace {
  /** Id of the trace. */
  trace_id: string;
  /** Known signals by name. */
  signals: Record<string, number>;
  /** Whether the signals were sent, or derived from telemetry. */
  source?: SignalSource | null;
  /** Start of the trace. */
  started_at?: TimeText | null;
}

/** A page of sessions. */
export interface SessionsReply {
  /** Sessions, the one that began last first. */
  data: Array<Session>;
  /** Cursor of the next page; null on the last page. */
  next_cursor?: string | null;
}

/** The settings of an organization. */
export interface SettingsReply {
  latency_source: LatencySource;
}

/** The settings to change. Absent settings stay as they are. */
export interface SettingsRequest {
  latency_source?: LatencySource | null;
}

/** The source of signals: `sent`, `derived` from telemetry, or `mixed`. */
export type SignalSource = "sent" | "derived" | "mixed";

/** The weights of the signals. In a request, absent weights keep their defaults. */
export interface SignalWeights {
  /** Weight of coherence. */
  coherence?: number;
  /** Weight of confidence. */
  confidence?: number;
  /** Weight of loop detection. */
  loop_detection?: number;
  /** Weight of tool correctness. */
  tool_correctness?: number;
}

/** The result of sending signals. */
export interface SignalsReply {
  /** Number of traces that were stored. */
  accepted: number;
}

/** Signals of the traces of a session. */
export interface SignalsRequest {
  /** Traces with their signals. Each trace may appear only once. */
  traces: Array<TraceRequest>;
  /** Agent of the session. Used only if its telemetry names no agent. */
  agent_id?: AgentName | null;
}

/**
 * The source of a record: an OTLP signal, or a transcript. Many agents report the same work more
 * than once.
 */
export type TelemetrySignal = "logs" | "spans" | "transcript";

/** What decides between two neighbors of a ranking that have the same score. */
export type TieBreak = "completion" | "error_rate" | "wall_ms" | "finished_at";

/** The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score. */
export type Tier = "Unranked" | "Bronze" | "Silver" | "Gold" | "Elite";

/** A time as whole milliseconds after 1970. */
export type TimeMillis = number;

/** A time from 2000 to 2100 as RFC 3339. */
export type TimeText = string;

/** A tool and its evaluations. */
export interface ToolRow {
  /** Name of the tool. */
  tool: string;
  /** Number of evaluations of the tool. */
  evaluations: number;
  /** Number of evaluations that failed. */
  failed: number;
}

/** Totals of one or several days. */
export interface Totals {
  /** Number of evaluations. */
  evaluations: number;
  /** Number of evaluations that passed. */
  passed: number;
  /** Number of sessions that began. */
  sessions: number;
  /** Known cost of these sessions in dollars. One session adds at most 10 000. */
  cost_usd: number;
  /** Number of runs that were accepted. */
  runs: number;
  /** Average latency; null without an evaluation. */
  avg_latency_ms?: number | null;
  /** Share of the evaluations that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** A trace. */
export interface TraceRequest {
  /** Id of the trace: 1 to 512 bytes. */
  trace_id: string;
  /** Signals of the trace. Without signals, the trace is stored but the metrics skip it. */
  signals?: TraceSignals;
  /** Start of the trace. It determines the order of the traces. */
  started_at?: Moment | null;
}

/** Signals of a trace, each from 0 (bad) to 1 (good). An absent signal is unknown. */
export interface TraceSignals {
  /** How coherent the steps were. */
  coherence?: number | null;
  /** How confident the agent was. */
  confidence?: number | null;
  /** How free of loops the trace was. */
  loop_detection?: number | null;
  /** How correctly the agent chose and used tools. */
  tool_correctness?: number | null;
}

/** The run that a client asked for. */
export interface TriggerReply {
  /** Id of the eval run. */
  eval_run_id: string;
}

/** What listAgents may ask for. */
export interface ListAgentsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page, with the same `sort` */
  cursor?: string;
  /** Only agents whose id contains this text, ignoring case */
  q?: string;
  /**
   * `last_seen` (the default); `score`: first agents with 50 evaluations or more, best score first,
   * then calibrating agents, then agents without evaluations; `name`; or `evaluations`, highest
   * number first
   */
  sort?: string;
  /** Number of latest days to return per agent */
  days?: number;
}

/** What eraseAgent may ask for. */
export interface EraseAgentQuery {
  /** The `agent_id` again, as a confirmation */
  confirm: AgentName;
}

/** What getBreakdown may ask for. */
export interface GetBreakdownQuery {
  /** A time on the first day */
  from?: TimeText;
  /** A time on the last day */
  to?: TimeText;
}

/** What listEvalRuns may ask for. */
export interface ListEvalRunsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only runs in this state */
  status?: EvalStatus;
  /** Only runs of this schedule */
  schedule_id?: string;
}

/** What listEvalScores may ask for. */
export interface ListEvalScoresQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only results in this state */
  status?: string;
}

/** What listEvents may ask for. */
export interface ListEventsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** Number of rows to skip */
  offset?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only evaluations of this agent */
  agent_id?: AgentName;
  /** Only evaluations of this tool */
  tool?: string;
  /** Only evaluations with a result of this gate */
  gate?: string;
  /** Only evaluations that passed, or that failed */
  passed?: boolean;
  /** Only evaluations at this time or later */
  from?: TimeText;
  /** Only evaluations at this time or earlier */
  to?: TimeText;
}

/** What listIdentityEvents may ask for. */
export interface ListIdentityEventsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
}

/** What getIdentityReputation may ask for. */
export interface GetIdentityReputationQuery {
  /** Time of the reputation; default: now */
  as_of?: TimeText;
}

/** What listKeys may ask for. */
export interface ListKeysQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** The organization */
  org?: OrgName;
}

/** What getOverview may ask for. */
export interface GetOverviewQuery {
  /** The day, such as `2026-11-15`; default: today */
  day?: string;
  /** Number of agents in the ranking */
  limit?: number;
}

/** What getReputationHistory may ask for. */
export interface GetReputationHistoryQuery {
  /** Start of the first step */
  from?: TimeText;
  /** End of the last step */
  to?: TimeText;
  /** Number of steps */
  points?: number;
}

/** What listRuns may ask for. */
export interface ListRunsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only runs of this agent */
  agent_id?: AgentName;
  /** Only runs in this workspace */
  workspace?: RunName;
  /** Only attempts at this spec */
  spec_id?: RunName;
  /** Only runs with this tier */
  tier?: string;
  /** Only runs that ended at this time or later */
  from?: TimeText;
  /** Only runs that ended at this time or earlier */
  to?: TimeText;
}

/** What listSchedules may ask for. */
export interface ListSchedulesQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
}

/** What listScheduleRuns may ask for. */
export interface ListScheduleRunsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only runs in this state */
  status?: EvalStatus;
}

/** What listSessions may ask for. */
export interface ListSessionsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
  /** Only sessions of this agent */
  agent_id?: AgentName;
  /** Only sessions that began at this time or later */
  from?: TimeText;
  /** Only sessions that began at this time or earlier */
  to?: TimeText;
}

/** What getSessionMetrics may ask for. */
export interface GetSessionMetricsQuery {
  /**
   * A JSON object with weights from 0 to 10 for any of `confidence`, `loop_detection`,
   * `tool_correctness`, `coherence`
   */
  signal_weights?: string;
  /**
   * A JSON object with the score from 0 to 1 at which `agent_reliability` or `agent_consistency`
   * passes
   */
  thresholds?: string;
}

/** What listSessionRecords may ask for. */
export interface ListSessionRecordsQuery {
  /** Maximum number of rows */
  limit?: number;
  /** `next_cursor` of the previous page */
  cursor?: string;
}

/** Every route of a server. */
export class Client extends Http {
  /** Check whether the server is alive. */
  health(options: CallOptions = {}): Promise<HealthReply> {
    return this.send({ method: "GET", path: "/health" }, options);
  }

  /** Read the metrics for Prometheus. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.send({ method: "GET", path: "/metrics", text: true }, options);
  }

  /** Read this document. */
  openapi(options: CallOptions = {}): Promise<unknown> {
    return this.send({ method: "GET", path: "/openapi.json" }, options);
  }

  /**
   * Check whether the store can write.
   *
   * Writes to the store and waits until the write is durable, at most once per second.
   */
  ready(options: CallOptions = {}): Promise<ReadyReply> {
    return this.send({ method: "GET", path: "/ready" }, options);
  }

  /**
   * List agents.
   *
   * Returns one row per agent, over all its evidence. The most recently seen agent is first, unless
   * `sort` says otherwise.
   */
  listAgents(query: ListAgentsQuery = {}, options: CallOptions = {}): Promise<Agents> {
    return this.send({ method: "GET", path: "/v1/agents", query: { ...query } }, options);
  }

  /**
   * List agents. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns one row per agent, over all its evidence. The most recently seen agent is first, unless
   * `sort` says otherwise.
   */
  iterAgents({ pageSize, ...query }: Omit<ListAgentsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<AgentRow, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/agents", query: { ...query, limit: pageSize } }, "agents", options);
  }

  /**
   * Add an agent.
   *
   * Adds an agent before its first evaluation. The first evaluation of an unknown agent also adds
   * it.
   */
  addAgent(body: AddAgentRequest, options: PostOptions = {}): Promise<AddAgentReply> {
    return this.send({ method: "POST", path: "/v1/agents", body }, options);
  }

  /**
   * Erase an agent.
   *
   * The agent is no longer visible from now on. Its evidence, runs, events, scores and request keys
   * are deleted within a minute. A tombstone remains: a time, a count, and the SHA-256 of the id.
   * Needs a secret key.
   */
  eraseAgent(agentId: AgentName, query: EraseAgentQuery, options: CallOptions = {}): Promise<EraseReply> {
    return this.send({ method: "DELETE", path: path("/v1/agents/{agent_id}", agentId), query: { ...query } }, options);
  }

  /**
   * Read everything about an agent.
   *
   * For an unknown agent, all scores are 0 and all lists are empty.
   */
  getAgent(agentId: AgentName, options: CallOptions = {}): Promise<AgentStanding> {
    return this.send({ method: "GET", path: path("/v1/agents/{agent_id}", agentId) }, options);
  }

  /**
   * Publish or unpublish an agent.
   *
   * A public agent has a page and a badge that need no login. Needs a secret key.
   */
  publishAgent(agentId: AgentName, body: PublishRequest = {}, options: CallOptions = {}): Promise<PublishReply> {
    return this.send({ method: "PATCH", path: path("/v1/agents/{agent_id}", agentId), body }, options);
  }

  /**
   * Read the failures and latencies of an agent.
   *
   * Returns failures by gate and by tool, and latencies, for the UTC days from `from` to `to`, both
   * included: at most 366 days; default: the last 30 days. For an unknown agent, all values are 0.
   */
  getBreakdown(agentId: AgentName, query: GetBreakdownQuery = {}, options: CallOptions = {}): Promise<AgentBreakdown> {
    return this.send({ method: "GET", path: path("/v1/agents/{agent_id}/breakdown", agentId), query: { ...query } }, options);
  }

  /**
   * List eval runs.
   *
   * Returns the last created run first.
   */
  listEvalRuns(query: ListEvalRunsQuery = {}, options: CallOptions = {}): Promise<EvalRunsReply> {
    return this.send({ method: "GET", path: "/v1/eval-runs", query: { ...query } }, options);
  }

  /**
   * List eval runs. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the last created run first.
   */
  iterEvalRuns({ pageSize, ...query }: Omit<ListEvalRunsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<EvalRun, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/eval-runs", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Start an eval run.
   *
   * Computes session metrics for a list of sessions, or for all sessions that a filter selects. The
   * run continues in the background, also after a restart of the server. A session that cannot be
   * evaluated is counted as failed and does not stop the run. Needs a secret key.
   */
  createEvalRun(body: EvalRunRequest = {}, options: PostOptions = {}): Promise<EvalRun> {
    return this.send({ method: "POST", path: "/v1/eval-runs", body }, options);
  }

  /** Read an eval run. */
  getEvalRun(evalRunId: string, options: CallOptions = {}): Promise<EvalRun> {
    return this.send({ method: "GET", path: path("/v1/eval-runs/{eval_run_id}", evalRunId) }, options);
  }

  /**
   * Cancel an eval run.
   *
   * The results so far stay. Needs a secret key.
   */
  cancelEvalRun(evalRunId: string, options: PostOptions = {}): Promise<EvalChangeReply> {
    return this.send({ method: "POST", path: path("/v1/eval-runs/{eval_run_id}/cancel", evalRunId) }, options);
  }

  /**
   * Retry the failed sessions of an eval run.
   *
   * Evaluates them again; a run that failed as a whole goes on. Results that exist stay. Needs a
   * secret key.
   */
  retryEvalRun(evalRunId: string, options: PostOptions = {}): Promise<EvalChangeReply> {
    return this.send({ method: "POST", path: path("/v1/eval-runs/{eval_run_id}/retry", evalRunId) }, options);
  }

  /**
   * Read the results of an eval run.
   *
   * Returns one result per session, sorted by session, with the metadata of each metric.
   */
  listEvalScores(evalRunId: string, query: ListEvalScoresQuery = {}, options: CallOptions = {}): Promise<EvalScoresReply> {
    return this.send({ method: "GET", path: path("/v1/eval-runs/{eval_run_id}/scores", evalRunId), query: { ...query } }, options);
  }

  /**
   * Read the results of an eval run. Page after page is read as they are used, `pageSize` at a
   * time.
   *
   * Returns one result per session, sorted by session, with the metadata of each metric.
   */
  iterEvalScores(evalRunId: string, { pageSize, ...query }: Omit<ListEvalScoresQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<EvalScore, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/eval-runs/{eval_run_id}/scores", evalRunId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Judge an output.
   *
   * Runs the configured gates, counts the verdict for the agent, and returns the verdict and the
   * agent's new reputation.
   */
  evaluate(body: EvaluateRequest, options: PostOptions = {}): Promise<EvaluateReply> {
    return this.send({ method: "POST", path: "/v1/evaluate", body }, options);
  }

  /**
   * List evaluations.
   *
   * Returns the last accepted evaluation first. An evaluation must match all filters.
   */
  listEvents(query: ListEventsQuery = {}, options: CallOptions = {}): Promise<EventsReply> {
    return this.send({ method: "GET", path: "/v1/events", query: { ...query } }, options);
  }

  /**
   * List evaluations. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the last accepted evaluation first. An evaluation must match all filters.
   */
  iterEvents({ pageSize, ...query }: Omit<ListEventsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<EventReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/events", query: { ...query, limit: pageSize } }, "events", options);
  }

  /**
   * List the reputation events of an identity.
   *
   * Returns the newest event first.
   */
  listIdentityEvents(identityId: IdentityName, query: ListIdentityEventsQuery = {}, options: CallOptions = {}): Promise<IdentityEventsReply> {
    return this.send({ method: "GET", path: path("/v1/identities/{identity_id}/events", identityId), query: { ...query } }, options);
  }

  /**
   * List the reputation events of an identity. Page after page is read as they are used, `pageSize`
   * at a time.
   *
   * Returns the newest event first.
   */
  iterIdentityEvents(identityId: IdentityName, { pageSize, ...query }: Omit<ListIdentityEventsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<IdentityEventReply, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/identities/{identity_id}/events", identityId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Read the reputation of an identity.
   *
   * For an unknown identity, all values are 0.
   */
  getIdentityReputation(identityId: IdentityName, query: GetIdentityReputationQuery = {}, options: CallOptions = {}): Promise<IdentityReply> {
    return this.send({ method: "GET", path: path("/v1/identities/{identity_id}/reputation", identityId), query: { ...query } }, options);
  }

  /**
   * Count verdicts.
   *
   * Counts verdicts of an SDK, a proxy or another system. All or nothing: if one event is invalid,
   * the whole batch is refused and the error names the index of the event.
   */
  ingest(body: IngestRequest, options: PostOptions = {}): Promise<IngestReply> {
    return this.send({ method: "POST", path: "/v1/ingest", body }, options);
  }

  /**
   * List keys.
   *
   * Lists the keys of the caller's organization. A secret key of the default organization may name
   * another one.
   */
  listKeys(query: ListKeysQuery = {}, options: CallOptions = {}): Promise<KeysReply> {
    return this.send({ method: "GET", path: "/v1/keys", query: { ...query } }, options);
  }

  /**
   * List keys. Page after page is read as they are used, `pageSize` at a time.
   *
   * Lists the keys of the caller's organization. A secret key of the default organization may name
   * another one.
   */
  iterKeys({ pageSize, ...query }: Omit<ListKeysQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<KeyReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/keys", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Create a key.
   *
   * A secret key of the default organization may name any organization, other keys only their own.
   * The key itself is never stored, so a retry with the same `Idempotency-Key` cannot return it:
   * the reply is 409 with the id of the key that the first request created.
   */
  createKey(body: CreateKeyRequest, options: PostOptions = {}): Promise<CreateKeyReply> {
    return this.send({ method: "POST", path: "/v1/keys", body }, options);
  }

  /**
   * Revoke a key.
   *
   * Revokes a key of the caller's organization at once. A secret key of the default organization
   * may revoke any key.
   */
  revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    return this.send({ method: "DELETE", path: path("/v1/keys/{id}", id) }, options);
  }

  /** List the metrics. */
  listMetrics(options: CallOptions = {}): Promise<RegistryReply> {
    return this.send({ method: "GET", path: "/v1/metrics" }, options);
  }

  /**
   * Read the overview of an organization.
   *
   * Returns totals, the largest rises and falls of scores with their causes, failing gates, and the
   * agents with the best scores. Days are UTC days.
   */
  getOverview(query: GetOverviewQuery = {}, options: CallOptions = {}): Promise<Overview> {
    return this.send({ method: "GET", path: "/v1/overview", query: { ...query } }, options);
  }

  /**
   * Count reputation events.
   *
   * All or nothing: if one event is invalid, the whole batch is refused and the error names the
   * index of the event. Needs a secret key.
   */
  addReputationEvents(body: ReputationEventsRequest, options: PostOptions = {}): Promise<ReputationEventsReply> {
    return this.send({ method: "POST", path: "/v1/reputation-events", body }, options);
  }

  /**
   * Read a reputation.
   *
   * For an unknown agent, all values are 0.
   */
  getReputation(agentId: AgentName, options: CallOptions = {}): Promise<RecordReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}", agentId) }, options);
  }

  /**
   * Explain a reputation.
   *
   * Returns the parts of the score with their inputs and points, and the score after one more pass
   * or failure.
   */
  explainReputation(agentId: AgentName, options: CallOptions = {}): Promise<ExplainReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}/explain", agentId) }, options);
  }

  /**
   * Read the history of a reputation.
   *
   * Returns the last score in each of `points` equal steps from `from` to `to`. Without parameters:
   * one step per UTC day since the first evaluation, or 100 steps if that was less than three days
   * ago. Steps of whole UTC days are fast, because the server keeps sums per day. Other steps read
   * all evaluations of the days that a step boundary cuts.
   */
  getReputationHistory(agentId: AgentName, query: GetReputationHistoryQuery = {}, options: CallOptions = {}): Promise<HistoryReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}/history", agentId), query: { ...query } }, options);
  }

  /**
   * List runs.
   *
   * Returns the last accepted run first. `from` and `to` filter by the end of a run.
   */
  listRuns(query: ListRunsQuery = {}, options: CallOptions = {}): Promise<RunsReply> {
    return this.send({ method: "GET", path: "/v1/runs", query: { ...query } }, options);
  }

  /**
   * List runs. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the last accepted run first. `from` and `to` filter by the end of a run.
   */
  iterRuns({ pageSize, ...query }: Omit<ListRunsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<RunReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/runs", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Score a run.
   *
   * A run is never refused because of missing or invalid data: invalid values count as absent and
   * are listed in `warnings`, like unknown fields. Only `agent_id` and `outcome` must be valid.
   */
  submitRun(body: RunRequest, options: PostOptions = {}): Promise<ScoreReply> {
    return this.send({ method: "POST", path: "/v1/runs", body }, options);
  }

  /** Read a run. */
  getRun(runId: RunName, options: CallOptions = {}): Promise<RunReply> {
    return this.send({ method: "GET", path: path("/v1/runs/{run_id}", runId) }, options);
  }

  /** Read a scorecard. */
  getRunScore(runId: RunName, options: CallOptions = {}): Promise<ScoreReply> {
    return this.send({ method: "GET", path: path("/v1/runs/{run_id}/score", runId) }, options);
  }

  /**
   * List schedules.
   *
   * Returns the last created schedule first.
   */
  listSchedules(query: ListSchedulesQuery = {}, options: CallOptions = {}): Promise<SchedulesReply> {
    return this.send({ method: "GET", path: "/v1/schedules", query: { ...query } }, options);
  }

  /**
   * List schedules. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the last created schedule first.
   */
  iterSchedules({ pageSize, ...query }: Omit<ListSchedulesQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<Schedule, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/schedules", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Create a schedule.
   *
   * Its first run starts at the first tick after now. Ticks that are missed while the server is
   * down start one run when it is back. Needs a secret key.
   */
  createSchedule(body: ScheduleRequest, options: PostOptions = {}): Promise<Schedule> {
    return this.send({ method: "POST", path: "/v1/schedules", body }, options);
  }

  /**
   * Delete a schedule.
   *
   * Its runs stay. Needs a secret key.
   */
  deleteSchedule(scheduleId: string, options: CallOptions = {}): Promise<void> {
    return this.send({ method: "DELETE", path: path("/v1/schedules/{schedule_id}", scheduleId) }, options);
  }

  /** Read a schedule. */
  getSchedule(scheduleId: string, options: CallOptions = {}): Promise<Schedule> {
    return this.send({ method: "GET", path: path("/v1/schedules/{schedule_id}", scheduleId) }, options);
  }

  /**
   * Change a schedule.
   *
   * Needs a secret key.
   */
  updateSchedule(scheduleId: string, body: SchedulePatch = {}, options: CallOptions = {}): Promise<Schedule> {
    return this.send({ method: "PATCH", path: path("/v1/schedules/{schedule_id}", scheduleId), body }, options);
  }

  /**
   * Pause a schedule.
   *
   * It starts no run until it is resumed. Needs a secret key.
   */
  pauseSchedule(scheduleId: string, options: PostOptions = {}): Promise<PauseReply> {
    return this.send({ method: "POST", path: path("/v1/schedules/{schedule_id}/pause", scheduleId) }, options);
  }

  /**
   * Resume a schedule.
   *
   * Ticks that passed during the pause start no run. Needs a secret key.
   */
  resumeSchedule(scheduleId: string, options: PostOptions = {}): Promise<PauseReply> {
    return this.send({ method: "POST", path: path("/v1/schedules/{schedule_id}/resume", scheduleId) }, options);
  }

  /**
   * List the runs of a schedule.
   *
   * Returns the last created run first.
   */
  listScheduleRuns(scheduleId: string, query: ListScheduleRunsQuery = {}, options: CallOptions = {}): Promise<EvalRunsReply> {
    return this.send({ method: "GET", path: path("/v1/schedules/{schedule_id}/runs", scheduleId), query: { ...query } }, options);
  }

  /**
   * List the runs of a schedule. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the last created run first.
   */
  iterScheduleRuns(scheduleId: string, { pageSize, ...query }: Omit<ListScheduleRunsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<EvalRun, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/schedules/{schedule_id}/runs", scheduleId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Start a run of a schedule now.
   *
   * Starts a run also if nothing has changed, and if the schedule is paused. The next tick stays.
   * Needs a secret key.
   */
  triggerSchedule(scheduleId: string, options: PostOptions = {}): Promise<TriggerReply> {
    return this.send({ method: "POST", path: path("/v1/schedules/{schedule_id}/trigger", scheduleId) }, options);
  }

  /**
   * List sessions.
   *
   * Returns the session that began last first. `from` and `to` filter by the start of a session; if
   * it is unknown, by the time when its first record arrived.
   */
  listSessions(query: ListSessionsQuery = {}, options: CallOptions = {}): Promise<SessionsReply> {
    return this.send({ method: "GET", path: "/v1/sessions", query: { ...query } }, options);
  }

  /**
   * List sessions. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the session that began last first. `from` and `to` filter by the start of a session; if
   * it is unknown, by the time when its first record arrived.
   */
  iterSessions({ pageSize, ...query }: Omit<ListSessionsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<Session, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/sessions", query: { ...query, limit: pageSize } }, "data", options);
  }

  /** Read a session. */
  getSession(sessionId: SessionName, options: CallOptions = {}): Promise<SessionDetail> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}", sessionId) }, options);
  }

  /**
   * Read the metrics of a session.
   *
   * Computes the metrics over the traces of the session, in the order of `started_at`, then of
   * arrival; traces without a start come last. If no signals were sent, they are derived from
   * telemetry, with one trace per prompt.
   */
  getSessionMetrics(sessionId: SessionName, query: GetSessionMetricsQuery = {}, options: CallOptions = {}): Promise<SessionMetrics> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/metrics", sessionId), query: { ...query } }, options);
  }

  /**
   * Read the performance of a session.
   *
   * The score is current, also while the session is open. A session without a tool result, a prompt
   * or an API request has no performance: the reply is 404.
   */
  getSessionPerformance(sessionId: SessionName, options: CallOptions = {}): Promise<Performance> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/performance", sessionId) }, options);
  }

  /**
   * Read the records of a session.
   *
   * Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
   * and records without a time come first, then log records by time. Repeated records appear once.
   * Prompts, arguments and outputs are never stored.
   */
  listSessionRecords(sessionId: SessionName, query: ListSessionRecordsQuery = {}, options: CallOptions = {}): Promise<RecordsPage> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/records", sessionId), query: { ...query } }, options);
  }

  /**
   * Read the records of a session. Page after page is read as they are used, `pageSize` at a time.
   *
   * Returns the facts of each record: tool calls, prompts, model calls, errors, decisions. Spans
   * and records without a time come first, then log records by time. Repeated records appear once.
   * Prompts, arguments and outputs are never stored.
   */
  iterSessionRecords(sessionId: SessionName, { pageSize, ...query }: Omit<ListSessionRecordsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<SessionRecord, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/sessions/{session_id}/records", sessionId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Send signals of the traces of a session.
   *
   * A trace that was sent before is replaced with all its signals. Sent signals override those that
   * are derived from telemetry. `agent_id` names the agent of the session, unless its telemetry
   * does.
   */
  addSignals(sessionId: SessionName, body: SignalsRequest, options: PostOptions = {}): Promise<SignalsReply> {
    return this.send({ method: "POST", path: path("/v1/sessions/{session_id}/signals", sessionId), body }, options);
  }

  /** Read the settings. */
  getSettings(options: CallOptions = {}): Promise<SettingsReply> {
    return this.send({ method: "GET", path: "/v1/settings" }, options);
  }

  /**
   * Change the settings.
   *
   * The new settings apply from the next evaluation on. Existing scores do not change.
   */
  updateSettings(body: SettingsRequest = {}, options: CallOptions = {}): Promise<SettingsReply> {
    return this.send({ method: "PATCH", path: "/v1/settings", body }, options);
  }

  /**
   * Compare the agents of a spec.
   *
   * Returns every agent with its best run, best first: by `ranked_score`, then completion, error
   * rate, wall time and end of the run. `ranked_score` compares every attempt with one baseline;
   * `score` is what the run got when it was accepted.
   */
  getCompetition(specId: RunName, options: CallOptions = {}): Promise<CompetitionReply> {
    return this.send({ method: "GET", path: path("/v1/specs/{spec_id}/competition", specId) }, options);
  }

  /**
   * Stream new scores.
   *
   * Sends server-sent events. `score` has `agent_id`, `score`, `lifecycle` and `eval_count`, and is
   * sent after an agent was evaluated; many evaluations of one agent in a short time may be one
   * event. `session.scored` has the session, and is sent when a session with a performance is
   * closed, also when it is closed again after late records. `missed` has the number of changes
   * that this client was too slow to receive. The stream ends when the server stops or the key is
   * revoked.
   */
  stream(options: CallOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return this.events({ method: "GET", path: "/v1/stream" }, options);
  }
}
