// The HTTP transport of the client: key, errors, timeouts, retries, pages and events. The methods for the routes are
// generated from the OpenAPI document into `api.ts`.
//
// These failures are retried, at most `retries` times:
//
// - a request that did not reach the server;
// - status 429, and status 503 with the code `overloaded`: both mean that the server did nothing;
// - for requests that are safe to repeat (GET, DELETE, and POST with an idempotency key), also any other 503 and a
//   broken connection.
//
// `Retry-After` is obeyed up to `retryWaitMaxMs`. If the server asks for a longer wait, the error is thrown
// immediately, with `retryAfterMs` set.
//
// Fields of requests and replies are in snake case, as in the API. Options and methods of this library are in camel
// case.

import { brand } from "./brand.js";
import { checkedCount, checkedIdempotencyKey, checkedKey, checkedMs, checkedServer, onlyKnown } from "./check.js";
import { jsonText } from "./json.js";
import type { Fetch, Init, Reply, Signal } from "./platform.js";

/** Options of a client. */
export interface ClientOptions {
  /** Time limit of each attempt in milliseconds, including the time to read the reply. Default: 30 000. */
  timeoutMs?: number;
  /** Maximum number of retries of a call. Default: 2. */
  retries?: number;
  /** Maximum wait before a retry, in milliseconds. Default: 10 000. */
  retryWaitMaxMs?: number;
  /** Replacement for the global `fetch`. */
  fetch?: Fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Time limit of each attempt, in milliseconds. For a stream: maximum time without data. */
  timeoutMs?: number;
  /** Aborts the call with all its attempts and waits. `AbortSignal.timeout(5000)` limits the whole call. */
  signal?: Signal;
}

/** Options of one POST call. */
export interface PostOptions extends CallOptions {
  /** A repeat with the same key within 24 hours returns the first reply. */
  idempotencyKey?: string;
}

/** A server-sent event: `score`, or `missed` if this client read too slowly and lost events. */
export interface StreamEvent {
  event: string;
  data: unknown;
}

/** A request that is not yet bound to a server. */
export interface Request {
  method: string;
  path: string;
  query?: object;
  body?: object;
  text?: boolean;
}

const DEFAULT_SERVER = "http://127.0.0.1:7070";
const DEFAULT_TIMEOUT_MS = 30_000;
// The server sends a comment every 15 seconds, so a stream that is silent for this long is dead.
const STREAM_SILENCE_MS = 60_000;

interface ErrorDetails {
  code: string;
  status?: number | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Thrown for an error reply of the server, and for a missing or unreadable reply. */
export class RenownError extends Error {
  /** Machine code of the API, or `unreachable`, `timed_out` or `bad_reply` if there was no error reply of the API. */
  readonly code: string;
  /** HTTP status of the reply. */
  readonly status: number | undefined;
  /** Identifies the request in the log of the server. */
  readonly requestId: string | undefined;
  /** Time that the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "RenownError";
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }

  static {
    brand(this, "RenownError");
  }
}

/** Replaces the `{parts}` of a path template with percent-encoded values. */
export function path(template: string, ...values: string[]): string {
  const left: unknown[] = [...values];
  return template.replace(/\{([^}]*)\}/g, (_, name: string) => part(name, left.shift()));
}

/** Encodes one part of a path. `fetch` would resolve `.` and `..`, and request a different path. */
function part(name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${name}: ${typeof value}, expected a string`);
  if (["", ".", ".."].includes(value)) throw new TypeError(`${name}: ${JSON.stringify(value)}, expected a name`);
  if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${name}: half a surrogate pair, expected valid Unicode`);
  return encodeURIComponent(value);
}

/** The transport. `Client` adds one method per route. */
export class Http {
  /** The address of the server. */
  readonly baseUrl: string;
  readonly #key: string;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #retryWaitMaxMs: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(baseUrl: string = DEFAULT_SERVER, key: string = process.env["RENOWN_KEY"] ?? "", options: ClientOptions = {}) {
    onlyKnown(options, ["timeoutMs", "retries", "retryWaitMaxMs", "fetch"]);
    this.baseUrl = checkedServer(baseUrl);
    this.#key = checkedKey(key);
    this.#timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, "rejected");
    this.#retries = checkedCount("retries", options.retries ?? 2);
    this.#retryWaitMaxMs = checkedMs("retryWaitMaxMs", options.retryWaitMaxMs ?? 10_000);
    this.#fetch = options.fetch ?? globalThis.fetch;
    if (typeof this.#fetch !== "function") throw new TypeError(`fetch: ${typeof this.#fetch}, expected a function`);
  }

  /** Returns the server and the key, for telemetry. */
  destination(): { server: string; key: string } {
    return { server: this.baseUrl, key: this.#key };
  }

  /** Sends a request and returns the reply, both unchanged. Use it for requests that no method covers. */
  raw(target: string, init: Init = {}): Promise<Reply> {
    const headers = new Headers(init.headers);
    if (this.#key !== "" && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${this.#key}`);
    // Following a redirect would send the key to another server.
    return this.#fetch(this.baseUrl + target, { redirect: "manual", ...init, headers });
  }

  protected async send<T>(request: Request, options: PostOptions): Promise<T> {
    // Outside the loop: an invalid request is a mistake of the caller and is not retried.
    const prepared = this.#prepared(request, options);
    const timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? this.#timeoutMs, "rejected");
    for (let attempt = 0; ; attempt++) {
      options.signal?.throwIfAborted();
      let error: RenownError;
      try {
        const response = await this.#call(prepared, AbortSignal.timeout(timeoutMs), options.signal);
        if (response.ok) return (await parsedBody(request, response)) as T;
        error = await errorReply(response);
      } catch (failure) {
        if (failure instanceof RenownError || options.signal?.aborted === true) throw failure;
        error = this.#noReply(failure);
      }
      const wait = this.#waitAfter(request, options, error, attempt);
      if (wait === undefined) throw error;
      await pause(wait, options.signal);
    }
  }

  protected async *pages<T>(request: Request, field: string, options: CallOptions): AsyncGenerator<T, void, undefined> {
    let next: Request = request;
    for (;;) {
      const page = await this.send<Record<string, unknown> | null | undefined>(next, options);
      const items = page?.[field];
      const cursor = page?.["next_cursor"];
      const isRepeated = typeof cursor === "string" && cursor === (next.query as { cursor?: unknown } | undefined)?.cursor;
      if (!Array.isArray(items) || isRepeated) {
        throw new RenownError(`the reply is not a page of ${field}: is this a Renown server?`, { code: "bad_reply" });
      }
      yield* items as T[];
      if (typeof cursor !== "string") return;
      next = { ...request, query: { ...request.query, cursor } };
    }
  }

  protected async *events(request: Request, options: CallOptions): AsyncGenerator<StreamEvent, void, undefined> {
    const prepared = this.#prepared(request, options);
    const silenceMs = checkedMs("timeoutMs", options.timeoutMs ?? STREAM_SILENCE_MS, "rejected");
    options.signal?.throwIfAborted();
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const response = await this.#call(prepared, silence.signal, options.signal);
      if (!response.ok) throw await errorReply(response);
      if (response.body === null) return;
      const parser = new EventParser();
      const decoder = new TextDecoder();
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        yield* parser.feed(decoder.decode(chunk, { stream: true }));
      }
    } catch (failure) {
      if (failure instanceof RenownError || options.signal?.aborted === true) throw failure;
      throw this.#noReply(failure);
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /** Returns the arguments for `fetch`, without the time limit. Throws for an invalid request. */
  #prepared(request: Request, options: PostOptions): { target: string; init: RequestInit } {
    onlyKnown(options, ["timeoutMs", "signal", ...(request.method === "POST" ? ["idempotencyKey"] : [])]);
    const { signal, idempotencyKey } = options;
    if (signal !== undefined && typeof signal?.addEventListener !== "function") throw new TypeError("signal: expected an AbortSignal");
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined && value !== null) query.set(name, String(value));
    }
    const headers: Record<string, string> = {};
    if (request.body !== undefined) headers["Content-Type"] = "application/json";
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = checkedIdempotencyKey(idempotencyKey);
    const target = query.size > 0 ? `${request.path}?${query.toString()}` : request.path;
    const body = request.body === undefined ? null : jsonText("body", request.body);
    return { target, init: { method: request.method, headers, body } };
  }

  #call({ target, init }: { target: string; init: RequestInit }, limit: AbortSignal, signal: AbortSignal | undefined): Promise<Response> {
    return this.raw(target, { ...init, signal: either(limit, signal) });
  }

  /** Returns the error for a request without a readable reply. */
  #noReply(failure: unknown): RenownError {
    const cause = failure instanceof Error ? (failure.cause ?? failure) : failure;
    const name = failure instanceof Error ? failure.name : "";
    if (name === "TimeoutError" || name === "AbortError") {
      return new RenownError(`${this.baseUrl}: no reply in time`, { code: "timed_out", cause });
    }
    // A reply arrived, but its body does not match its Content-Encoding. A Renown server does not send such a reply.
    const zlibCode = (cause as { code?: unknown } | null | undefined)?.code;
    if (typeof zlibCode === "string" && zlibCode.startsWith("Z_")) {
      return new RenownError(`${this.baseUrl}: cannot decode the reply (${zlibCode})`, { code: "bad_reply", cause });
    }
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "cannot connect";
    return new RenownError(`${this.baseUrl}: ${reason}`, { code: "unreachable", cause });
  }

  /** Returns the milliseconds to wait before the next attempt, or undefined if the request must not be retried. */
  #waitAfter(request: Request, options: PostOptions, error: RenownError, attempt: number): number | undefined {
    if (attempt >= this.#retries) return undefined;
    const mayRepeat = request.method !== "POST" || options.idempotencyKey !== undefined;
    if (error.code === "bad_reply" && error.status === undefined) return undefined;
    const notProcessed = wasNotSent(error) || error.status === 429 || error.code === "overloaded";
    if (!notProcessed && !(mayRepeat && (error.status === undefined || error.status === 503))) return undefined;
    const wait = error.retryAfterMs ?? Math.min(200 * 2 ** attempt, this.#retryWaitMaxMs) * (0.5 + Math.random() / 2);
    return wait <= this.#retryWaitMaxMs ? wait : undefined;
  }
}

/** Returns whether the error code of the operating system shows that the request did not reach the server. */
function wasNotSent(error: RenownError): boolean {
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
}

/** Returns a signal that aborts when one of both does. Some versions of Node 18 have no `AbortSignal.any`. */
function either(limit: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  if (signal === undefined) return limit;
  const both = new AbortController();
  for (const one of [limit, signal]) {
    if (one.aborted) both.abort(one.reason);
    else one.addEventListener("abort", () => both.abort(one.reason), { once: true, signal: both.signal });
  }
  return both.signal;
}

async function parsedBody(request: Request, response: Response): Promise<unknown> {
  const text = await response.text();
  if (request.text === true) return text;
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = "the reply is not JSON: is this a Renown server?";
    throw new RenownError(message, { code: "bad_reply", status: response.status, cause });
  }
}

async function errorReply(response: Response): Promise<RenownError> {
  let message = `status ${response.status} without an error body: is this a Renown server?`;
  let code = "bad_reply";
  try {
    const body = (await response.json()) as { error?: unknown; code?: unknown };
    if (typeof body.error === "string" && typeof body.code === "string") [message, code] = [body.error, body.code];
  } catch {
    // The body is not JSON. The message then shows only the status.
  }
  const seconds = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  return new RenownError(message, {
    code,
    status: response.status,
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    retryAfterMs: Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : undefined,
  });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Parses server-sent events from pieces of text, which may end anywhere. */
class EventParser {
  #rest = "";
  #event = "message";
  #data: string[] = [];

  /** Adds a piece of text. Yields the events that it completes. */
  *feed(piece: string): Generator<StreamEvent, void, undefined> {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.replace(/\r$/, ""));
      if (event !== undefined) yield event;
    }
  }

  #line(line: string): StreamEvent | undefined {
    if (line === "") {
      const [event, data] = [this.#event, this.#data];
      [this.#event, this.#data] = ["message", []];
      return data.length > 0 ? { event, data: decoded(data.join("\n")) } : undefined;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    return undefined;
  }
}

function decoded(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
