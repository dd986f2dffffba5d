// The API of a server, made by `cargo xtask sdk` from its OpenAPI document. Do not edit it.

import { Http, path, type CallOptions, type PostOptions, type StreamEvent } from "./http.js";

/** An agent that is known. */
export interface AddAgentReply {
  agent_id: string;
  /** The identity of the agent, a UUIDv5 of its organization and id. */
  identity_id: string;
}

/** An agent that is to be known. */
export interface AddAgentRequest {
  agent_id: AgentName;
}

/** What an agent's evaluations of some days were like. */
export interface AgentBreakdown {
  /** Whose evaluations. */
  agent_id: string;
  /** The first UTC day. */
  from: string;
  /** The last UTC day, included. */
  to: string;
  /** Evaluations. */
  evaluations: number;
  /** Those that passed. */
  passed: number;
  /** The gates that failed, the most often first, at most 50. */
  gates: Array<GateCount>;
  /** The tools that were evaluated, those with most failures first, at most 50. */
  tools: Array<ToolRow>;
  /** How many gates and tools are not shown. */
  left_out: number;
  /** How long evaluations took. */
  latency: LatencyView;
  /** The days that have an evaluation, the oldest first. */
  days: Array<DayPoint>;
  /** The share that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** What the caller calls an agent: 1 to 200 characters without control characters, not `.` or `..`. */
export type AgentName = string;

/** An agent in a list. What there is no evidence of is null. */
export interface AgentRow {
  /** Its id. */
  agent_id: string;
  /** The identity of the agent, a UUIDv5 of its organization and id. */
  identity_id: string;
  /** When it was first named. */
  first_seen: string;
  /** When something of it was last accepted. */
  last_seen: string;
  /** Evaluations in the window. */
  eval_count: number;
  /** Its reputation; 0 without an evaluation, and indicative only below 50. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** Passes counted back from the newest evaluation. */
  streak: number;
  /** The average latency of its evaluations. */
  avg_latency_ms?: number | null;
  /** Its last days, if they were asked for. */
  days?: Array<DayPoint> | null;
  /** The long-term reputation of its identity. */
  identity_reputation?: IdentityBrief | null;
  /** The session that began last. */
  latest_session?: SessionBrief | null;
  /** The share of evaluations that passed. */
  pass_rate?: number | null;
  /** The tier of the last run that has a score. */
  tier?: Tier | null;
}

/** Everything that is known of an agent. */
export interface AgentStanding {
  /** Its id. */
  agent_id: string;
  /** The identity of the agent, a UUIDv5 of its organization and id. */
  identity_id: string;
  /** Whether it is shown to everybody. */
  public: boolean;
  /** Its reputation. */
  reputation: RecordReply;
  /** The long-term reputation of its identity. */
  identity_reputation: IdentityReply;
  /** That of its latest run with a score. */
  tier: Tier;
  /** Its latest runs. */
  runs: Array<RunReply>;
  /** Its latest sessions. */
  sessions: Array<Session>;
  /** Null if it was never seen. */
  first_seen?: string | null;
  /** Null if it was never seen. */
  last_seen?: string | null;
  /** What the traces of its latest session say, in short; null without one. */
  metrics?: MetricsSummary | null;
  /** The name under which it is. */
  slug?: string | null;
}

/** A page of agents. */
export interface Agents {
  /** The agents in the order that was asked for. */
  agents: Array<AgentRow>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** Who did best. */
export interface CompetitionReply {
  /** The task that agents compete on. */
  spec_id: string;
  /** Every agent with its best run, the best first. */
  ranking: Array<RankedReply>;
  /** The first of the ranking, if its run completed. */
  winner?: string | null;
}

/** One part of a score. */
export interface ComponentReply {
  name: string;
  /** What the part looked at. */
  inputs: Record<string, unknown>;
  points: number;
  points_max: number;
  points_lost: number;
}

/** A new key. It is shown this once. */
export interface CreateKeyReply {
  id: string;
  key: string;
  kind: KeyKind;
  org: string;
}

/** A key that is to be made. */
export interface CreateKeyRequest {
  kind: KeyKind;
  /** What its owner calls it. */
  label?: string | null;
  /** Its organization, which is made when it is new; the caller's own if absent. */
  org?: OrgName | null;
}

/** One UTC day of an agent. */
export interface DayPoint {
  /** The day, such as `2026-11-15`. */
  day: string;
  /** Evaluations on that day. */
  evaluations: number;
  /** Those that passed. */
  passed: number;
  /** The score after the last of them. */
  score: number;
  /** The lowest score after any of them. */
  score_min: number;
  /** The highest score after any of them. */
  score_max: number;
  /**
   * By how many points the score changed on that day; null if the agent was calibrating when it
   * began.
   */
  change?: number | null;
}

/** What happened on one day, in numbers. */
export interface DayTotals {
  /** Evaluations. */
  evaluations: number;
  /** Those that passed. */
  passed: number;
  /** Sessions that began. */
  sessions: number;
  /** What they cost in dollars, as far as they say. A session adds at most 10 000. */
  cost_usd: number;
  /** Runs that were accepted. */
  runs: number;
  /** The UTC day. */
  day: string;
  /** The average latency; null without an evaluation. */
  avg_latency_ms?: number | null;
  /** The share that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** What stays of an agent that is erased. */
export interface EraseReply {
  /** SHA-256 of its id. */
  agent_sha256: string;
}

/** A refusal as it is sent. */
export interface ErrorBody {
  /** What was found and what is allowed. */
  error: string;
  /** For machines. */
  code: ErrorCode;
  /** The HTTP status. */
  status: number;
}

/** The machine codes. */
export type ErrorCode = "bad_json" | "validation_error" | "auth_missing" | "auth_format" | "auth_invalid" | "auth_revoked" | "forbidden" | "not_found" | "method_not_allowed" | "timeout" | "conflict" | "too_large" | "unsupported_media_type" | "rate_limited" | "head_too_large" | "internal" | "overloaded" | "store_unavailable" | "clock";

/** The verdict on one output. A failed gate is still 200. */
export interface EvaluateReply {
  /** The id of this evaluation, as sent or made here. */
  evaluation_id: string;
  /** Whether every gate passed or was skipped. */
  passed: boolean;
  /** One result a gate, in the configured order. */
  gates: Array<GateReport>;
  /** How long the gates took. */
  total_latency_ms: number;
  /** The agent's reputation right after this evaluation. */
  reputation: ReputationReply;
  /** Fields of the request that are unknown and were ignored; absent if there are none. */
  warnings?: Array<string>;
}

/** What is to be judged. */
export interface EvaluateRequest {
  /** Whose output it is. */
  agent_id: AgentName;
  /** The output, any JSON; it may be null but has to be there. It is never stored, logged or echoed. */
  output: unknown;
  /**
   * The caller's own id of this evaluation: its second arrival returns the first result and counts
   * nothing.
   */
  evaluation_id?: string | null;
  /** What the tool was given, any JSON. It is never stored, logged or echoed. */
  input?: unknown;
  /** How long the agent took. */
  latency_ms?: number | null;
  /** When that time began, in milliseconds after 1970. */
  started_at?: TimeMillis | null;
  /** The time that whoever asked for the output gives for it, in milliseconds, for `rtb.tmax-guard`. */
  tmax_ms?: number | null;
  /** The tool that made it. */
  tool?: string | null;
}

/** One evaluation. */
export interface EventReply {
  id: string;
  agent_id: string;
  /** Whether every gate passed. */
  passed: boolean;
  gates: Array<GateReport>;
  /** How long the gates took. */
  total_latency_ms: number;
  /** The agent's score right after this evaluation. */
  reputation_score: number;
  /** When it happened, else when it was accepted. */
  created_at: string;
  /** How long the agent took, if that was said. */
  latency_ms?: number | null;
  tool_name?: string | null;
}

/** A page of the log. */
export interface EventsReply {
  /** The last accepted first. */
  events: Array<EventReply>;
  /** The most that the page could hold. */
  limit: number;
  /** How many were stepped over. */
  offset: number;
  /** How many the page has. */
  count: number;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** Why a score is what it is. */
export interface ExplainReply {
  score: number;
  formula_version: string;
  /** The parts of the formula. */
  components: Array<ComponentReply>;
  next: NextReply;
}

/** What a fact is about. */
export type FactKind = "tool_result" | "prompt" | "api_request" | "api_error" | "tool_decision" | "feedback" | "compaction" | "refusal";

/** A gate that failed on a day. */
export interface FailingGate {
  /** The gate. */
  gate: string;
  /** Evaluations that it failed on that day. */
  failed: number;
  /** On the seven days before. */
  failed_before: number;
  /** Whether it failed on none of these. */
  is_new: boolean;
}

/** A gate and the evaluations that it failed. */
export interface GateCount {
  /** The gate. */
  gate: string;
  /** Evaluations that it failed. */
  failed: number;
}

/** The result of one gate. */
export interface GateReport {
  /** The name of the gate. */
  name: string;
  /** Whether it passed; a skipped gate passes. */
  passed: boolean;
  /** How long it took. */
  latency_ms: number;
  /** Why it failed or was skipped. */
  reason?: string | null;
  /** Whether it had nothing to say. */
  skipped?: boolean | null;
}

/** The server answers. */
export interface HealthReply {
  /** Always `ok`. */
  status: string;
  /** The version of the program. */
  version: string;
  /** The same for OTLP over gRPC. */
  otlp_grpc_port?: number | null;
  /**
   * The port that takes OTLP over HTTP, also without a key from this machine; null if there is
   * none.
   */
  otlp_http_port?: number | null;
}

/** How a score went. */
export interface HistoryReply {
  /** Oldest first; steps without an evaluation are left out. */
  points: Array<PointReply>;
}

/** The reputation of an identity in few words. */
export interface IdentityBrief {
  /** The weighted mean of its categories. */
  overall_score: number;
  /** How much there is to go by, 0 to 1. */
  confidence: number;
  /** Events of the last 90 days. */
  total_events: number;
  /** The change in a week; null if there were no events then. */
  trend_7d?: number | null;
}

/** An event about an identity. */
export interface IdentityEventReply {
  event_id: string;
  timestamp: string;
  identity_id: string;
  category: ReputationCategory;
  event_type: string;
  score_delta: number;
  confidence: number;
  reference_type: ReferenceType;
  attributes: Record<string, string>;
  accepted_at: string;
  reference_id?: string | null;
}

/** A page of events. */
export interface IdentityEventsReply {
  /** The latest first. */
  data: Array<IdentityEventReply>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** A UUID. */
export type IdentityName = string;

/** The reputation of an identity as of a time. */
export interface IdentityReply {
  /** The identity. */
  identity_id: string;
  /** The time that the scores are of. */
  as_of: string;
  /** The weighted mean of the categories over 90 days. */
  overall_score: number;
  /** The mean of the events about work. */
  task_quality_score: number;
  /** The mean of the events about payment. */
  economic_score: number;
  /** The mean of the events about keys and sessions. */
  identity_hygiene_score: number;
  /** Events in the window. */
  total_events: number;
  /** Those above 0. */
  positive_events: number;
  /** Those below 0. */
  negative_events: number;
  /** How much there is to go by, 0 to 1. */
  confidence: number;
  /** The overall score a week before. */
  score_7d_ago: number;
  /** The overall score 30 days before. */
  score_30d_ago: number;
  /** The version of the formula. */
  formula_version: string;
  /** The change since then; null if there were no events then. */
  trend_30d?: number | null;
  /** The change since then; null if there were no events then. */
  trend_7d?: number | null;
}

/** One verdict. */
export interface IngestEvent {
  /** Whose output it was. */
  agent_id: AgentName;
  /** Whether every gate passed. */
  passed: boolean;
  /** How long the gates took. */
  total_latency_ms: number;
  /** The id of the evaluation: its second arrival counts nothing. */
  evaluation_id?: string | null;
  /** The results of the gates. */
  gates?: Array<GateReport> | null;
  /** How long the agent took. */
  latency_ms?: number | null;
  /** When it happened; when it is accepted, if absent. */
  timestamp?: Moment | null;
  /** The tool whose output it was. */
  tool?: string | null;
}

/** What became of the verdicts. */
export interface IngestReply {
  /** How many were counted. */
  accepted: number;
  /** How many had been counted before. */
  duplicates: number;
  /** The reputation of each agent that was named, after all of them. */
  reputation_updates: Array<ReputationUpdate>;
  /** Fields of the request that are unknown and were ignored; absent if there are none. */
  warnings?: Array<string>;
}

/** Verdicts that were made elsewhere. */
export interface IngestRequest {
  /** In the order in which they are to be counted. */
  events: Array<IngestEvent>;
}

/** What a key may do: send evidence and read scores, or also administer. */
export type KeyKind = "publishable" | "secret";

/** A key as it is listed: never the key itself. */
export interface KeyReply {
  id: string;
  kind: KeyKind;
  org: string;
  /** Its last four characters. */
  last_four: string;
  created_at: string;
  label?: string | null;
  /** To the minute. */
  last_used_at?: string | null;
  revoked_at?: string | null;
}

/** A page of keys. */
export interface KeysReply {
  /** The oldest first. */
  data: Array<KeyReply>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** The evaluations that took longer than the bucket before and at most this long. */
export interface LatencyBucket {
  /** Evaluations. */
  evaluations: number;
  /** The upper bound; null of the last bucket, which has none. */
  at_most_ms?: number | null;
}

/**
 * Whose latency counts for reputations: that of the gates, or that of the agent where the caller
 * says it.
 */
export type LatencySource = "gate" | "agent";

/** How long evaluations took. */
export interface LatencyView {
  /** Evaluations by latency, each counted once. */
  buckets: Array<LatencyBucket>;
  /** The average; null without an evaluation. */
  avg_ms?: number | null;
}

/**
 * How settled a score is: `new` without an evaluation, `calibrating` below 50, `active` below 500,
 * then `mature`.
 */
export type Lifecycle = "new" | "calibrating" | "active" | "mature";

/** A range of scores. */
export interface MetricBand {
  band: string;
  /** The score from which it reaches up to the next better one. */
  from: number;
  meaning: string;
}

/** A metric that there is. */
export interface MetricDefinition {
  name: string;
  description: string;
  method: string;
  threshold: number;
  formula_version: string;
  bands: Array<MetricBand>;
}

/** A metric, without what it was made of. */
export interface MetricSummary {
  /** 0 to 1, four places. */
  score: number;
  /** The result in one sentence. */
  reason: string;
  /** The score from which it passes. */
  threshold: number;
  /** Whether the score reaches the threshold. */
  passed: boolean;
  /** The name of the score's range. */
  band: string;
  /** Whether there was anything to evaluate; if not, the score is 1. */
  evaluable: boolean;
  /** The version of the formula. */
  formula_version: string;
}

/** Both metrics, without what they were made of. */
export interface MetricsSummary {
  /** How reliable the agent was. */
  agent_reliability: MetricSummary;
  /** How consistent its traces were. */
  agent_consistency: MetricSummary;
}

/** A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970. */
export type Moment = TimeText | TimeMillis;

/** The score after one more evaluation at the window's average latency. */
export interface NextReply {
  pass: number;
  fail: number;
}

/** The name of an organization. */
export type OrgName = string;

/** The overview of an organization. */
export interface Overview {
  /** The UTC day that it is about. */
  day: string;
  /** How many agents there are. */
  agents: number;
  /** That day. */
  today: Totals;
  /** That day and the six before it. */
  week: Totals;
  /** The days of the last 30 on which anything happened, the oldest first. */
  days: Array<DayTotals>;
  /**
   * The largest falls of that day, at most 5. Agents that were calibrating when it began are left
   * out.
   */
  falls: Array<ScoreChange>;
  /** The largest rises of that day, at most 5. */
  rises: Array<ScoreChange>;
  /** The gates that failed on that day, the most often first. */
  failing_gates: Array<FailingGate>;
  /** The first agents by score, each with its last 30 days. */
  ranking: Array<AgentRow>;
}

/** How well a session went. */
export interface Performance {
  /** The masque that the agent wore, or `unknown`. */
  masque: string;
  /** Whole minutes. */
  duration_min: number;
  dimensions: PerformanceDimensions;
  /** 0 to 10, one decimal. */
  composite: number;
  recommendation: Recommendation;
  stats: PerformanceStats;
  session_id: string;
  agent_id: string;
  /** The kind of agent, such as `claude-code`. */
  agent: string;
  formula_version: string;
  coverage: PerformanceCoverage;
  signals: PerformanceSignals;
  ended_at?: string | null;
  started_at?: string | null;
}

/** Which of `tools`, `prompts`, `cost` and `tokens` there is evidence of. */
export interface PerformanceCoverage {
  present: Array<string>;
  missing: Array<string>;
  /** Those of the present that only some of the calls have. */
  partial: Array<string>;
  /** `logs` or `spans`. */
  signal: string;
  /** `reported`, `priced`, `mixed` or `none`. */
  cost_source: string;
}

/** 0 to 10 each, one decimal. */
export interface PerformanceDimensions {
  quality: number;
  autonomy: number;
  productivity: number;
  token_efficiency: number;
  cost_efficiency: number;
}

/** What else was counted. */
export interface PerformanceSignals {
  api_errors: number;
  accepts: number;
  rejects: number;
  rejects_by_user: number;
  compactions: number;
  refusals: number;
  /** The latest: -1, 0 or 1. */
  feedback?: number | null;
}

/** The sums that the dimensions were made of. */
export interface PerformanceStats {
  /** Dollars, two decimals. */
  total_cost: number;
  total_tools: number;
  tools_ok: number;
  tool_success_pct: number;
  prompts: number;
  total_tokens: number;
  cache_tokens: number;
}

/** One step of a history. */
export interface PointReply {
  /** Where the step begins. */
  at: string;
  /** The score after its last evaluation. */
  score: number;
  /** How many evaluations it has. */
  evaluations: number;
}

/** How an agent is shown. */
export interface PublishReply {
  agent_id: string;
  public: boolean;
  slug?: string | null;
}

/** Whether an agent is shown to everybody. */
export interface PublishRequest {
  /** Whether everybody may see it; if absent as before. */
  public?: boolean | null;
  /** The name under which it is shown; if absent the one it has, or one made from its id. */
  slug?: string | null;
}

/** An agent with its best run. */
export interface RankedReply {
  /** Its place, from 1. */
  rank: number;
  /** Whose run it is. */
  agent_id: string;
  /** Its id. */
  run_id: string;
  /** The name of the score's range. */
  tier: Tier;
  /** The parts of the score. */
  axes?: RunAxes | null;
  /** The branch with its work. */
  branch?: string | null;
  /** The pull request with its work. */
  pull_request?: string | null;
  /** The scorecard. */
  score?: number | null;
  /** How long it took in milliseconds. */
  wall_ms?: number | null;
}

/** The store takes writes. */
export interface ReadyReply {
  /** Always `ready`. */
  status: string;
  /**
   * The time that everything gets which is accepted now, while the system clock shows an earlier
   * one. It was ahead, or it is late. After five minutes times follow the clock again.
   */
  standstill?: string | null;
}

/** What to do with the masque. */
export type Recommendation = "keep" | "review" | "doff";

/** The reputation of an agent. */
export interface RecordReply {
  /** The agent. */
  agent_id: string;
  /** 0 to 1000. */
  score: number;
  /** How settled the score is. */
  lifecycle: Lifecycle;
  /** The same as `lifecycle`. */
  status: Lifecycle;
  /** Evaluations in the window. */
  eval_count: number;
  /** The same as `eval_count`. */
  evaluations: number;
  /** The most evaluations that count. */
  window_size: number;
  /** Those that passed. */
  passed: number;
  /** The share that passed, 0 to 1. */
  pass_rate: number;
  /** The average of the latencies that count. */
  avg_latency_ms: number;
  /** Passes counted back from the newest. */
  streak: number;
  /** The version of the formula. */
  formula_version: string;
}

/** A page of records. */
export interface RecordsPage {
  /** The records in their order: spans and what has no time first, then by time. */
  data: Array<SessionRecord>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** What an event refers to: `session`, `transaction` or `attestation`; empty for nothing. */
export type ReferenceType = string;

/** Every metric that there is. */
export interface RegistryReply {
  data: Array<MetricDefinition>;
  /** Always null: there is one page. */
  next_cursor?: string | null;
}

/** What an event is about: work, payment, or keys and sessions. */
export type ReputationCategory = "task_quality" | "economic" | "identity_hygiene";

/** An event about an identity. */
export interface ReputationEventRequest {
  /** Its own id: an event counts once however often it is sent, and the first copy stands. */
  event_id: string;
  /** When it happened: at most three years ago, at most a day ahead. */
  timestamp: Moment;
  category: ReputationCategory;
  /** The name of its kind, such as `task_completed`. */
  event_type: string;
  /** How it moves its category. */
  score_delta: number;
  /** The agent it is about. */
  agent_id?: AgentName | null;
  attributes?: Record<string, string> | null;
  /** How sure you are; 1 if absent. */
  confidence?: number | null;
  /** Whom it is about; or say `agent_id`. */
  identity_id?: IdentityName | null;
  reference_id?: string | null;
  reference_type?: ReferenceType | null;
}

/** What became of the events. */
export interface ReputationEventsReply {
  /** How many were counted. */
  accepted: number;
  /** How many had been counted before. */
  duplicates: number;
}

/** Events about identities. */
export interface ReputationEventsRequest {
  /** 1 to 1000 events. */
  events: Array<ReputationEventRequest>;
}

/** The short form of a reputation. */
export interface ReputationReply {
  /** 0 to 1000. */
  score: number;
  lifecycle: Lifecycle;
  /** Evaluations in the window, at most 500. */
  eval_count: number;
}

/** An agent's reputation after the verdicts. */
export interface ReputationUpdate {
  agent_id: string;
  score: number;
  lifecycle: Lifecycle;
  eval_count: number;
}

/** The axes of a score, 0 to 100 each. */
export interface RunAxes {
  completion: number;
  error_rate: number;
  latency: number;
  resource_efficiency: number;
}

/** What the wall time was compared with. */
export interface RunBaseline {
  runs: number;
  /** The median of the runs; null without one. */
  p50_ms?: number | null;
}

/** 1 to 200 characters without control characters, not `.` or `..`. */
export type RunName = string;

/** How a run ended: all of it worked, some of it did, or nothing usable came out. */
export type RunOutcome = "completed" | "blocked" | "failed";

/** A run with all that is known of it. */
export interface RunReply {
  /** Its id. */
  run_id: string;
  /** Whose run it is. */
  agent_id: string;
  /** The workspace whose runs it is compared with. */
  workspace: string;
  /** The name of the score's range. */
  tier: Tier;
  /** The version of the formula. */
  formula_version: string;
  /** Axes that could not be computed and are 50. */
  defaulted: Array<string>;
  /**
   * Parts of what was sent that do not count: impossible ones, which are as good as absent, and
   * unknown fields.
   */
  warnings: Array<string>;
  /** When it was scored. */
  scored_at: string;
  /** How it ended. */
  outcome: RunOutcome;
  /** What it consumed. */
  resources: RunResources;
  /** When it ended. */
  finished_at: string;
  /** The parts of the score. */
  axes?: RunAxes | null;
  /** What its wall time was compared with. */
  baseline?: RunBaseline | null;
  /** 0 to 100; null if scoring failed inside. */
  score?: number | null;
  /** The task that agents compete on. */
  spec_id?: string | null;
  /** What else was sent. */
  attributes?: Record<string, unknown> | null;
  /** The branch with its work. */
  branch?: string | null;
  /** The pull request with its work. */
  pull_request?: string | null;
  /** Its stages, as they were sent. */
  stages?: Array<RunStage> | null;
  /** When it began. */
  started_at?: string | null;
  /** How long it took in milliseconds. */
  wall_ms?: number | null;
}

/** A run that is finished. */
export interface RunRequest {
  agent_id: AgentName;
  outcome: RunOutcome;
  /** Whatever else you want to keep with it, up to 64 KiB. */
  attributes?: Record<string, unknown> | null;
  /** The branch with its work. */
  branch?: string | null;
  /** When it ended; when it was accepted if absent. */
  finished_at?: Moment | null;
  /** The pull request with its work. */
  pull_request?: string | null;
  resources?: RunResources | null;
  /** What you call the run; `run_` and a ULID if absent. Sent again it returns the first scorecard. */
  run_id?: RunName | null;
  /** The task that agents compete on. */
  spec_id?: RunName | null;
  stages?: Array<RunStage> | null;
  started_at?: Moment | null;
  /** How long the run took, in milliseconds. */
  wall_ms?: number | null;
  /** The runs of a workspace are compared with each other; `default` if absent. */
  workspace?: RunName | null;
}

/** What a run consumed, as far as it is known. */
export interface RunResources {
  cpu_periods?: number | null;
  cpu_throttled_ms?: number | null;
  cpu_throttled_periods?: number | null;
  memory_limit_bytes?: number | null;
  memory_peak_bytes?: number | null;
}

/** A stage of a run. */
export interface RunStage {
  name: string;
  passed: boolean;
  /** How often it was tried; once if absent. */
  attempts?: number | null;
}

/** A page of runs. */
export interface RunsReply {
  /** The last accepted first. */
  data: Array<RunReply>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** How the score of an agent changed on a day, and why. */
export interface ScoreChange {
  /** Whose score. */
  agent_id: string;
  /** By how many points. */
  change: number;
  /** The score before the first evaluation of the day. */
  score_before: number;
  /** The score after the last one. */
  score: number;
  /** Evaluations of the day. */
  evaluations: number;
  /** Those that failed. */
  failed: number;
  /** The cause in one sentence. */
  cause: string;
  /** The gate that failed most often; null if none did. */
  gate?: string | null;
}

/** The scorecard of a run. */
export interface ScoreReply {
  /** Its id. */
  run_id: string;
  /** Whose run it is. */
  agent_id: string;
  /** The workspace whose runs it is compared with. */
  workspace: string;
  /** The name of the score's range. */
  tier: Tier;
  /** The version of the formula. */
  formula_version: string;
  /** Axes that could not be computed and are 50. */
  defaulted: Array<string>;
  /**
   * Parts of what was sent that do not count: impossible ones, which are as good as absent, and
   * unknown fields.
   */
  warnings: Array<string>;
  /** When it was scored. */
  scored_at: string;
  /** The parts of the score. */
  axes?: RunAxes | null;
  /** What its wall time was compared with. */
  baseline?: RunBaseline | null;
  /** 0 to 100; null if scoring failed inside. */
  score?: number | null;
  /** The task that agents compete on. */
  spec_id?: string | null;
}

/** A session. */
export interface Session {
  /** Its id. */
  session_id: string;
  /** Whose it is. */
  agent_id: string;
  /** Whether something of it is still expected. */
  open: boolean;
  /** When something of it arrived last. */
  last_seen: string;
  /** What its traces say, in short. */
  metrics: MetricsSummary;
  /** How many traces it has. */
  trace_count: number;
  /** Since when it is over. */
  closed_at?: string | null;
  /** Its last event. */
  ended_at?: string | null;
  /** How well it went; null where only signals were sent. */
  performance?: Performance | null;
  /** Its first event; null if none has a time. */
  started_at?: string | null;
}

/** A session in few words. */
export interface SessionBrief {
  /** Its id. */
  session_id: string;
  /** When it began. */
  started_at: string;
  /** Whether something of it is still expected. */
  open: boolean;
  /** How well it went, 0 to 10; null without anything to score. */
  performance?: number | null;
  /** What to do with its masque. */
  recommendation?: Recommendation | null;
}

/** A session with its traces. */
export interface SessionDetail {
  /** Its id. */
  session_id: string;
  /** Whose it is. */
  agent_id: string;
  /** Whether something of it is still expected. */
  open: boolean;
  /** When something of it arrived last. */
  last_seen: string;
  /** What its traces say, in short. */
  metrics: MetricsSummary;
  /** How many traces it has. */
  trace_count: number;
  /** Its traces. */
  traces: Array<SessionTrace>;
  /** Since when it is over. */
  closed_at?: string | null;
  /** Its last event. */
  ended_at?: string | null;
  /** How well it went; null where only signals were sent. */
  performance?: Performance | null;
  /** Its first event; null if none has a time. */
  started_at?: string | null;
}

/** One fact of a record. What a fact of its kind does not have, or what was not said, is absent. */
export interface SessionFact {
  /** What it is about. */
  kind: FactKind;
  /** Whether the call of the tool was allowed. */
  accepted?: boolean | null;
  /** Tokens that were written to the cache. */
  cache_creation_tokens?: number | null;
  /** Tokens that were read from the cache. */
  cache_read_tokens?: number | null;
  /** What it cost in dollars. */
  cost_usd?: number | null;
  /** Who decided: `user`, `policy`, `hook` or `unknown`. */
  decided_by?: string | null;
  /** How long it took. */
  duration_ms?: number | null;
  /** The kind of error. */
  error_type?: string | null;
  /** Tokens that were sent. */
  input_tokens?: number | null;
  /** The model. */
  model?: string | null;
  /** Whether the call succeeded. */
  ok?: boolean | null;
  /** Tokens that came back. */
  output_tokens?: number | null;
  /** -1, 0 or 1. */
  rating?: number | null;
  /** The HTTP status of a call that failed. */
  status?: number | null;
  /** And after. */
  tokens_after?: number | null;
  /** Tokens of the context before it was made shorter. */
  tokens_before?: number | null;
  /** The tool. */
  tool?: string | null;
}

/** A metric of a session. */
export interface SessionMetric {
  name: string;
  /** 0 to 1, four places. */
  score: number;
  reason: string;
  threshold: number;
  passed: boolean;
  band: string;
  evaluable: boolean;
  formula_version: string;
  /**
   * What the score was made of: how many traces there are and were evaluated, and if any were, the
   * weights, the risks of each trace with the `source` of its signals, and how they were put
   * together.
   */
  metadata: Record<string, unknown>;
}

/** Both metrics of a session. */
export interface SessionMetrics {
  agent_reliability: SessionMetric;
  agent_consistency: SessionMetric;
}

/** A session, as its agent names it: 1 to 256 bytes. */
export type SessionName = string;

/** A record of a session. */
export interface SessionRecord {
  /** `logs` or `spans`. */
  signal: string;
  /** The kind of agent that it comes from, such as `claude-code`. */
  agent: string;
  /** What it says. */
  facts: Array<SessionFact>;
  /** When it happened; of a span, when it began. */
  at?: string | null;
  /** When a span ended. */
  until?: string | null;
}

/** A trace of a session. */
export interface SessionTrace {
  /** Its id. */
  trace_id: string;
  /** The signals that are known, by name. */
  signals: Record<string, number>;
  /** Whether they were sent, or derived from telemetry. */
  source?: SignalSource | null;
  /** When it began. */
  started_at?: string | null;
}

/** A page of sessions. */
export interface SessionsReply {
  /** The last to begin first. */
  data: Array<Session>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
}

/** The settings of an organization. */
export interface SettingsReply {
  latency_source: LatencySource;
}

/** Settings that change; what is absent stays. */
export interface SettingsRequest {
  latency_source?: LatencySource | null;
}

/** Where signals come from: `sent`, `derived`, or some of each, `mixed`. */
export type SignalSource = "sent" | "derived" | "mixed";

/** What was kept. */
export interface SignalsReply {
  /** How many traces. */
  accepted: number;
}

/** Signals of the traces of a session. */
export interface SignalsRequest {
  /** Each trace once. */
  traces: Array<TraceRequest>;
  /** Whose session it is, where its telemetry names nobody. */
  agent_id?: AgentName | null;
}

/** The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score. */
export type Tier = "Unranked" | "Bronze" | "Silver" | "Gold" | "Elite";

/** A time as whole milliseconds after 1970. */
export type TimeMillis = number;

/** A time from 2000 to 2100 as RFC 3339. */
export type TimeText = string;

/** A tool and its evaluations. */
export interface ToolRow {
  /** The tool. */
  tool: string;
  /** Its evaluations. */
  evaluations: number;
  /** Those that failed. */
  failed: number;
}

/** What happened, in numbers. */
export interface Totals {
  /** Evaluations. */
  evaluations: number;
  /** Those that passed. */
  passed: number;
  /** Sessions that began. */
  sessions: number;
  /** What they cost in dollars, as far as they say. A session adds at most 10 000. */
  cost_usd: number;
  /** Runs that were accepted. */
  runs: number;
  /** The average latency; null without an evaluation. */
  avg_latency_ms?: number | null;
  /** The share that passed; null without an evaluation. */
  pass_rate?: number | null;
}

/** A trace. */
export interface TraceRequest {
  /** 1 to 512 bytes. */
  trace_id: string;
  /** Absent is the same as empty: the trace counts, and the metrics skip it. */
  signals?: TraceSignals;
  /** When it began, which is its place among the others. */
  started_at?: Moment | null;
}

/** Signals of a trace, each from 0 to 1, where 1 is good. One that is absent is unknown. */
export interface TraceSignals {
  /** How coherent its steps were. */
  coherence?: number | null;
  /** How sure the agent was. */
  confidence?: number | null;
  /** How free of loops the trace was. */
  loop_detection?: number | null;
  /** How right its choice and use of tools was. */
  tool_correctness?: number | null;
}

/** What listAgents may ask for. */
export interface ListAgentsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before, with the same `sort` */
  cursor?: string;
  /** Only those whose id contains this, in any case */
  q?: string;
  /**
   * `last_seen` (the default); `score`, the best first: agents with 50 evaluations or more, then
   * those that are calibrating, then those without evaluations; `name`; or `evaluations`, the most
   * first
   */
  sort?: string;
  /** Show the last days of each agent, this many */
  days?: number;
}

/** What eraseAgent may ask for. */
export interface EraseAgentQuery {
  /** The agent once more */
  confirm: AgentName;
}

/** What getBreakdown may ask for. */
export interface GetBreakdownQuery {
  /** A time in the first day */
  from?: TimeText;
  /** A time in the last day */
  to?: TimeText;
}

/** What listEvents may ask for. */
export interface ListEventsQuery {
  /** How many at most */
  limit?: number;
  /** How many to step over */
  offset?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
  /** Only of this agent */
  agent_id?: AgentName;
  /** Only of this tool */
  tool?: string;
  /** Only those in which this gate took part */
  gate?: string;
  /** Only those that passed, or that did not */
  passed?: boolean;
  /** Only those that happened at this time or later */
  from?: TimeText;
  /** Only those that happened at this time or earlier */
  to?: TimeText;
}

/** What listIdentityEvents may ask for. */
export interface ListIdentityEventsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
}

/** What getIdentityReputation may ask for. */
export interface GetIdentityReputationQuery {
  /** As of this time; now if absent */
  as_of?: TimeText;
}

/** What listKeys may ask for. */
export interface ListKeysQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
  /** The organization */
  org?: OrgName;
}

/** What getOverview may ask for. */
export interface GetOverviewQuery {
  /** The day, such as `2026-11-15`; today if absent */
  day?: string;
  /** How many agents are ranked */
  limit?: number;
}

/** What getReputationHistory may ask for. */
export interface GetReputationHistoryQuery {
  /** Where the first step begins */
  from?: TimeText;
  /** Where the last step ends */
  to?: TimeText;
  /** How many steps */
  points?: number;
}

/** What listRuns may ask for. */
export interface ListRunsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
  /** Only of this agent */
  agent_id?: AgentName;
  /** Only of this workspace */
  workspace?: RunName;
  /** Only attempts at this spec */
  spec_id?: RunName;
  /** Only of this tier */
  tier?: string;
  /** Only those that ended at this time or later */
  from?: TimeText;
  /** Only those that ended at this time or earlier */
  to?: TimeText;
}

/** What listSessions may ask for. */
export interface ListSessionsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
  /** Only of this agent */
  agent_id?: AgentName;
  /** Only those that began at this time or later */
  from?: TimeText;
  /** Only those that began at this time or earlier */
  to?: TimeText;
}

/** What getSessionMetrics may ask for. */
export interface GetSessionMetricsQuery {
  /**
   * A JSON object with weights from 0 to 10 of any of `confidence`, `loop_detection`,
   * `tool_correctness`, `coherence`
   */
  signal_weights?: string;
  /**
   * A JSON object with the score from 0 to 1 from which `agent_reliability` or `agent_consistency`
   * passes
   */
  thresholds?: string;
}

/** What listSessionRecords may ask for. */
export interface ListSessionRecordsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
}

/** Every route of a server. */
export class Client extends Http {
  /** Is it alive? */
  health(options: CallOptions = {}): Promise<HealthReply> {
    return this.send({ method: "GET", path: "/health" }, options);
  }

  /** Figures for Prometheus. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.send({ method: "GET", path: "/metrics", text: true }, options);
  }

  /** This document. */
  openapi(options: CallOptions = {}): Promise<unknown> {
    return this.send({ method: "GET", path: "/openapi.json" }, options);
  }

  /**
   * Can it write?
   *
   * Writes to the store and waits until that is durable, at most once a second.
   */
  ready(options: CallOptions = {}): Promise<ReadyReply> {
    return this.send({ method: "GET", path: "/ready" }, options);
  }

  /**
   * List agents.
   *
   * One row for each agent, over all its evidence. The last seen first, unless `sort` says
   * otherwise.
   */
  listAgents(query: ListAgentsQuery = {}, options: CallOptions = {}): Promise<Agents> {
    return this.send({ method: "GET", path: "/v1/agents", query: { ...query } }, options);
  }

  /**
   * List agents. Page after page is read as they are used, `pageSize` at a time.
   *
   * One row for each agent, over all its evidence. The last seen first, unless `sort` says
   * otherwise.
   */
  iterAgents({ pageSize, ...query }: Omit<ListAgentsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<AgentRow, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/agents", query: { ...query, limit: pageSize } }, "agents", options);
  }

  /**
   * Make an agent known.
   *
   * Before its first evaluation, which would do the same.
   */
  addAgent(body: AddAgentRequest, options: PostOptions = {}): Promise<AddAgentReply> {
    return this.send({ method: "POST", path: "/v1/agents", body }, options);
  }

  /**
   * Erase an agent.
   *
   * Its evidence, runs, events, scores and kept replies are deleted within a minute, and nothing of
   * it is seen from here on. A tombstone stays: a time, a count, and SHA-256 of the id. It takes a
   * secret key.
   */
  eraseAgent(agentId: AgentName, query: EraseAgentQuery, options: CallOptions = {}): Promise<EraseReply> {
    return this.send({ method: "DELETE", path: path("/v1/agents/{agent_id}", agentId), query: { ...query } }, options);
  }

  /**
   * Read everything about an agent.
   *
   * One that was never seen has a standing of zeros.
   */
  getAgent(agentId: AgentName, options: CallOptions = {}): Promise<AgentStanding> {
    return this.send({ method: "GET", path: path("/v1/agents/{agent_id}", agentId) }, options);
  }

  /**
   * Show an agent to everybody, or no longer.
   *
   * It takes a secret key.
   */
  publishAgent(agentId: AgentName, body: PublishRequest = {}, options: CallOptions = {}): Promise<PublishReply> {
    return this.send({ method: "PATCH", path: path("/v1/agents/{agent_id}", agentId), body }, options);
  }

  /**
   * Read what failed, and how long evaluations took.
   *
   * Failures by gate and by tool, and latencies, over the UTC days from `from` to `to`, both
   * included: at most 366. Without them, the last 30 days. An agent that was never seen has a
   * breakdown of zeros.
   */
  getBreakdown(agentId: AgentName, query: GetBreakdownQuery = {}, options: CallOptions = {}): Promise<AgentBreakdown> {
    return this.send({ method: "GET", path: path("/v1/agents/{agent_id}/breakdown", agentId), query: { ...query } }, options);
  }

  /**
   * Judge an output.
   *
   * Runs the configured gates, counts the verdict for the agent, and returns both the verdict and
   * the reputation after it.
   */
  evaluate(body: EvaluateRequest, options: PostOptions = {}): Promise<EvaluateReply> {
    return this.send({ method: "POST", path: "/v1/evaluate", body }, options);
  }

  /**
   * List evaluations.
   *
   * The last accepted first. Filters combine: an evaluation has to fit all of them.
   */
  listEvents(query: ListEventsQuery = {}, options: CallOptions = {}): Promise<EventsReply> {
    return this.send({ method: "GET", path: "/v1/events", query: { ...query } }, options);
  }

  /**
   * List evaluations. Page after page is read as they are used, `pageSize` at a time.
   *
   * The last accepted first. Filters combine: an evaluation has to fit all of them.
   */
  iterEvents({ pageSize, ...query }: Omit<ListEventsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<EventReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/events", query: { ...query, limit: pageSize } }, "events", options);
  }

  /**
   * List the events of an identity.
   *
   * The latest first.
   */
  listIdentityEvents(identityId: string, query: ListIdentityEventsQuery = {}, options: CallOptions = {}): Promise<IdentityEventsReply> {
    return this.send({ method: "GET", path: path("/v1/identities/{identity_id}/events", identityId), query: { ...query } }, options);
  }

  /**
   * List the events of an identity. Page after page is read as they are used, `pageSize` at a time.
   *
   * The latest first.
   */
  iterIdentityEvents(identityId: string, { pageSize, ...query }: Omit<ListIdentityEventsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<IdentityEventReply, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/identities/{identity_id}/events", identityId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Read the reputation of an identity.
   *
   * An identity that was never seen has a record of zeros.
   */
  getIdentityReputation(identityId: string, query: GetIdentityReputationQuery = {}, options: CallOptions = {}): Promise<IdentityReply> {
    return this.send({ method: "GET", path: path("/v1/identities/{identity_id}/reputation", identityId), query: { ...query } }, options);
  }

  /**
   * Count verdicts.
   *
   * Counts verdicts that were made by an SDK, a proxy or another system. All or none: one bad event
   * refuses the batch and is named by its index.
   */
  ingest(body: IngestRequest, options: PostOptions = {}): Promise<IngestReply> {
    return this.send({ method: "POST", path: "/v1/ingest", body }, options);
  }

  /**
   * List keys.
   *
   * Of the caller's organization; a secret key of the default organization may name another.
   */
  listKeys(query: ListKeysQuery = {}, options: CallOptions = {}): Promise<KeysReply> {
    return this.send({ method: "GET", path: "/v1/keys", query: { ...query } }, options);
  }

  /**
   * List keys. Page after page is read as they are used, `pageSize` at a time.
   *
   * Of the caller's organization; a secret key of the default organization may name another.
   */
  iterKeys({ pageSize, ...query }: Omit<ListKeysQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<KeyReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/keys", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Make a key.
   *
   * A secret key of the default organization may name any organization, others only their own. The
   * key itself is never stored, so a retry with the same `Idempotency-Key` cannot return it: it is
   * 409 with the id of the key that the first request created.
   */
  createKey(body: CreateKeyRequest, options: PostOptions = {}): Promise<CreateKeyReply> {
    return this.send({ method: "POST", path: "/v1/keys", body }, options);
  }

  /**
   * Revoke a key.
   *
   * At once. Of the caller's organization; a secret key of the default organization may revoke any.
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
   * Totals, the largest rises and falls of scores with their cause, failing gates, and the first
   * agents by score. Days are UTC days. `limit` is how many agents the ranking has.
   */
  getOverview(query: GetOverviewQuery = {}, options: CallOptions = {}): Promise<Overview> {
    return this.send({ method: "GET", path: "/v1/overview", query: { ...query } }, options);
  }

  /**
   * Count reputation events.
   *
   * All or none: one bad event refuses the batch and is named by its index. It takes a secret key.
   */
  addReputationEvents(body: ReputationEventsRequest, options: PostOptions = {}): Promise<ReputationEventsReply> {
    return this.send({ method: "POST", path: "/v1/reputation-events", body }, options);
  }

  /**
   * Read a reputation.
   *
   * An agent that was never seen has a record of zeros.
   */
  getReputation(agentId: AgentName, options: CallOptions = {}): Promise<RecordReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}", agentId) }, options);
  }

  /**
   * Explain a reputation.
   *
   * The parts of the score, what went into each, what each contributed, and where the next
   * evaluation would take it.
   */
  explainReputation(agentId: AgentName, options: CallOptions = {}): Promise<ExplainReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}/explain", agentId) }, options);
  }

  /**
   * Read how a reputation went.
   *
   * Equal steps from `from` to `to`, the last score in each. Without `from`, `to` and `points`: one
   * step for each UTC day since the first evaluation, or 100 steps if that was less than three days
   * ago. Steps of whole UTC days are answered from sums of days; other steps read the evaluations
   * of every day that they cut.
   */
  getReputationHistory(agentId: AgentName, query: GetReputationHistoryQuery = {}, options: CallOptions = {}): Promise<HistoryReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}/history", agentId), query: { ...query } }, options);
  }

  /**
   * List runs.
   *
   * The last accepted first. `from` and `to` look at when a run ended.
   */
  listRuns(query: ListRunsQuery = {}, options: CallOptions = {}): Promise<RunsReply> {
    return this.send({ method: "GET", path: "/v1/runs", query: { ...query } }, options);
  }

  /**
   * List runs. Page after page is read as they are used, `pageSize` at a time.
   *
   * The last accepted first. `from` and `to` look at when a run ended.
   */
  iterRuns({ pageSize, ...query }: Omit<ListRunsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<RunReply, void, undefined> {
    return this.pages({ method: "GET", path: "/v1/runs", query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Score a run.
   *
   * A run is never refused for missing or odd data: what is impossible counts as absent and is
   * named in `warnings`, and so are unknown fields. Only `agent_id` and `outcome` have to be right.
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
   * List sessions.
   *
   * The last to begin first. `from` and `to` look at when a session began; where nothing says so,
   * at when it was first heard of.
   */
  listSessions(query: ListSessionsQuery = {}, options: CallOptions = {}): Promise<SessionsReply> {
    return this.send({ method: "GET", path: "/v1/sessions", query: { ...query } }, options);
  }

  /**
   * List sessions. Page after page is read as they are used, `pageSize` at a time.
   *
   * The last to begin first. `from` and `to` look at when a session began; where nothing says so,
   * at when it was first heard of.
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
   * Computed now, over its traces by `started_at`, then as they arrived; those without a start come
   * last. Where nobody sent signals they are derived from telemetry, one trace a prompt.
   */
  getSessionMetrics(sessionId: SessionName, query: GetSessionMetricsQuery = {}, options: CallOptions = {}): Promise<SessionMetrics> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/metrics", sessionId), query: { ...query } }, options);
  }

  /**
   * Read how well a session went.
   *
   * As of now: an open session is scored as it happens. A session without a tool result, a prompt
   * or an API request has no performance: 404.
   */
  getSessionPerformance(sessionId: SessionName, options: CallOptions = {}): Promise<Performance> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/performance", sessionId) }, options);
  }

  /**
   * Read the records of a session.
   *
   * What happened in it, one record at a time: tool calls, prompts, model calls, errors, decisions.
   * Log records come by their time; spans, and records without a time, come first. A record that
   * was sent twice is there once. Prompts, arguments and outputs are never kept.
   */
  listSessionRecords(sessionId: SessionName, query: ListSessionRecordsQuery = {}, options: CallOptions = {}): Promise<RecordsPage> {
    return this.send({ method: "GET", path: path("/v1/sessions/{session_id}/records", sessionId), query: { ...query } }, options);
  }

  /**
   * Read the records of a session. Page after page is read as they are used, `pageSize` at a time.
   *
   * What happened in it, one record at a time: tool calls, prompts, model calls, errors, decisions.
   * Log records come by their time; spans, and records without a time, come first. A record that
   * was sent twice is there once. Prompts, arguments and outputs are never kept.
   */
  iterSessionRecords(sessionId: SessionName, { pageSize, ...query }: Omit<ListSessionRecordsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<SessionRecord, void, undefined> {
    return this.pages({ method: "GET", path: path("/v1/sessions/{session_id}/records", sessionId), query: { ...query, limit: pageSize } }, "data", options);
  }

  /**
   * Send signals of a session's traces.
   *
   * A trace that was sent before is replaced with all its signals. What is sent wins over what is
   * derived from telemetry. An `agent_id` says whose session it is, unless its telemetry does.
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
   * They count from the next evaluation on; no score that was given changes.
   */
  updateSettings(body: SettingsRequest = {}, options: CallOptions = {}): Promise<SettingsReply> {
    return this.send({ method: "PATCH", path: "/v1/settings", body }, options);
  }

  /**
   * Compare the agents of a spec.
   *
   * Every agent with its best run, the best first: by score, then completion, error rate, wall time
   * and finish.
   */
  getCompetition(specId: RunName, options: CallOptions = {}): Promise<CompetitionReply> {
    return this.send({ method: "GET", path: path("/v1/specs/{spec_id}/competition", specId) }, options);
  }

  /**
   * Listen to new scores.
   *
   * Server-sent events: `score` with `agent_id`, `score`, `lifecycle`, `eval_count` whenever an
   * agent was evaluated; many evaluations of one agent in an instant may be one event;
   * `session.scored` with the session whenever one that can be scored is over, also when it is over
   * once more after something of it arrived late. `missed` tells that this listener was too slow
   * for some. The stream ends when the server does, or when the key is revoked.
   */
  stream(options: CallOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return this.events({ method: "GET", path: "/v1/stream" }, options);
  }
}
