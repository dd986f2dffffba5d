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

/** What the caller calls an agent: 1 to 200 characters without control characters, not `.` or `..`. */
export type AgentName = string;

/** An agent as it is listed. */
export interface AgentReply {
  agent_id: string;
  /** The identity of the agent, a UUIDv5 of its organization and id. */
  identity_id: string;
  first_seen: string;
  last_seen: string;
  /** Evaluations in the window. */
  eval_count: number;
  score: number;
  lifecycle: Lifecycle;
}

/** A page of agents. */
export interface AgentsReply {
  agents: Array<AgentReply>;
  /** Where the next page begins; null on the last one. */
  next_cursor?: string | null;
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
export type ErrorCode = "bad_json" | "validation_error" | "auth_missing" | "auth_format" | "auth_invalid" | "auth_revoked" | "forbidden" | "not_found" | "method_not_allowed" | "timeout" | "conflict" | "too_large" | "unsupported_media_type" | "rate_limited" | "head_too_large" | "internal" | "overloaded" | "store_unavailable";

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
}

/** How a score went. */
export interface HistoryReply {
  /** Oldest first; steps without an evaluation are left out. */
  points: Array<PointReply>;
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

/** How settled a score is: no evaluations, fewer than 50, fewer than 500, 500. */
export type Lifecycle = "new" | "calibrating" | "active" | "mature";

/** A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970. */
export type Moment = TimeText | TimeMillis;

/** The score after one more evaluation at the window's average latency. */
export interface NextReply {
  pass: number;
  fail: number;
}

/** The name of an organization. */
export type OrgName = string;

/** One step of a history. */
export interface PointReply {
  /** Where the step begins. */
  at: string;
  /** The score after its last evaluation. */
  score: number;
  /** How many evaluations it has. */
  evaluations: number;
}

/** The store takes writes. */
export interface ReadyReply {
  /** Always `ready`. */
  status: string;
}

/** The reputation of an agent. */
export interface RecordReply {
  agent_id: string;
  /** 0 to 1000. */
  score: number;
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
  /** The average latency of the gates. */
  avg_latency_ms: number;
  /** Passes counted back from the newest. */
  streak: number;
  /** The version of the formula. */
  formula_version: string;
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

/** A time as whole milliseconds after 1970. */
export type TimeMillis = number;

/** A time from 2000 to 2100 as RFC 3339. */
export type TimeText = string;

/** What listAgents may ask for. */
export interface ListAgentsQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before, with the same `sort` */
  cursor?: string;
  /** Only those whose id contains this, in any case */
  q?: string;
  /** `last_seen` (the default), `score` (the best first) or `agent_id` */
  sort?: string;
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

/** What listKeys may ask for. */
export interface ListKeysQuery {
  /** How many at most */
  limit?: number;
  /** The `next_cursor` of the page before */
  cursor?: string;
  /** The organization */
  org?: OrgName;
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
   * The last seen first, unless `sort` says otherwise.
   */
  listAgents(query: ListAgentsQuery = {}, options: CallOptions = {}): Promise<AgentsReply> {
    return this.send({ method: "GET", path: "/v1/agents", query: { ...query } }, options);
  }

  /**
   * List agents. Page after page is read as they are used, `pageSize` at a time.
   *
   * The last seen first, unless `sort` says otherwise.
   */
  iterAgents({ pageSize, ...query }: Omit<ListAgentsQuery, "cursor" | "offset" | "limit"> & { pageSize?: number } = {}, options: CallOptions = {}): AsyncGenerator<AgentReply, void, undefined> {
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
   * A secret key of the default organization may name any organization, others only their own.
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
   * Equal steps from `from` to `to`, the last score in each. Without them, from its first
   * evaluation until now.
   */
  getReputationHistory(agentId: AgentName, query: GetReputationHistoryQuery = {}, options: CallOptions = {}): Promise<HistoryReply> {
    return this.send({ method: "GET", path: path("/v1/reputation/{agent_id}/history", agentId), query: { ...query } }, options);
  }

  /**
   * Listen to new scores.
   *
   * Server-sent events: `score` with `agent_id`, `score`, `lifecycle`, `eval_count` whenever an
   * agent was evaluated; many evaluations of one agent in an instant may be one event. `missed`
   * tells that this listener was too slow for some. The stream ends when the server does, or when
   * the key is revoked.
   */
  stream(options: CallOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return this.events({ method: "GET", path: "/v1/stream" }, options);
  }
}
