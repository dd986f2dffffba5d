// What every call to a server needs: the key, errors, time limits, retries, pages and events. The methods themselves are made
// from the OpenAPI document, see `api.ts`.
//
// What is tried again, at most `retries` times: a request that never reached the server; a reply of 429, or of 503 with the code
// `overloaded`, which both say that nothing was done; and, where a repeat is harmless (GET, DELETE, or a POST with an idempotency
// key), also other 503 and connections that broke. `Retry-After` is obeyed up to `retryWaitMaxMs`, beyond that the error is thrown
// at once with `retryAfterMs` set.
//
// Fields of requests and replies are spelt as the API spells them, in snake case. Options and methods of this library are in
// camel case.

import { brand } from "./brand.js";
import { checkedIdempotencyKey, checkedKey, checkedMs, checkedServer, checkedTimes, onlyKnown } from "./check.js";
import { jsonText } from "./json.js";
import type { Fetch, Init, Reply, Signal } from "./platform.js";

/** How a client behaves. */
export interface ClientOptions {
  /** How long each attempt of a call may take, with reading the reply; 30 000 if not given. */
  timeoutMs?: number;
  /** How often a call is tried again; 2 if not given. */
  retries?: number;
  /** The longest wait before a call is tried again; 10 000 if not given. */
  retryWaitMaxMs?: number;
  /** In place of the global `fetch`. */
  fetch?: Fetch;
}

/** How one call behaves. */
export interface CallOptions {
  /** How long each attempt of it may take; for a stream, how long nothing may come. */
  timeoutMs?: number;
  /** Ends it early, with all its attempts and waits: `AbortSignal.timeout(5000)` is a limit for the whole call. */
  signal?: Signal;
}

/** How one POST behaves. */
export interface PostOptions extends CallOptions {
  /** Makes a repeat within 24 hours return the first reply. */
  idempotencyKey?: string;
}

/** Something that happened on the server: `score`, or `missed` where this listener was too slow. */
export interface StreamEvent {
  event: string;
  data: unknown;
}

/** A request before it has a server. */
export interface Request {
  method: string;
  path: string;
  query?: object;
  body?: object;
  text?: boolean;
}

const DEFAULT_SERVER = "http://127.0.0.1:7070";
const DEFAULT_TIMEOUT_MS = 30_000;
// The server sends a comment every 15 seconds; a connection on which nothing comes for this long is dead.
const STREAM_SILENCE_MS = 60_000;

interface Refusal {
  code: string;
  status?: number | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * A refusal of the server, or no answer at all. `code` is the machine code of the API, or `unreachable`, `timed_out` or `bad_reply`
 * where no refusal of the API came back.
 */
export class RenownError extends Error {
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, refusal: Refusal) {
    super(message, refusal.cause === undefined ? undefined : { cause: refusal.cause });
    this.name = "RenownError";
    this.code = refusal.code;
    this.status = refusal.status;
    this.requestId = refusal.requestId;
    this.retryAfterMs = refusal.retryAfterMs;
  }

  static {
    brand(this, "RenownError");
  }
}

/** The path with its `{parts}` filled in, percent-encoded. */
export function path(template: string, ...values: string[]): string {
  const left: unknown[] = [...values];
  return template.replace(/\{([^}]*)\}/g, (_, name: string) => part(name, left.shift()));
}

/** `fetch` would take dots for steps in the path, and then ask for something else. */
function part(name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${name}: ${typeof value}, expected a string`);
  if (["", ".", ".."].includes(value)) throw new TypeError(`${name}: ${JSON.stringify(value)}, expected a name`);
  if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${name}: half a surrogate pair, which no text can hold`);
  return encodeURIComponent(value);
}

/** A connection to a server; `Client` has its methods. */
export class Http {
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
    this.#timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, "some");
    this.#retries = checkedTimes("retries", options.retries ?? 2);
    this.#retryWaitMaxMs = checkedMs("retryWaitMaxMs", options.retryWaitMaxMs ?? 10_000);
    this.#fetch = options.fetch ?? globalThis.fetch;
    if (typeof this.#fetch !== "function") throw new TypeError(`fetch: ${typeof this.#fetch}, expected a function`);
  }

  /** The server and the key, for what sends beside this client. */
  destination(): { server: string; key: string } {
    return { server: this.baseUrl, key: this.#key };
  }

  /** Sends a request as it is, and returns the reply as it is. For what no method is there for. */
  raw(target: string, init: Init = {}): Promise<Reply> {
    const headers = new Headers(init.headers);
    if (this.#key !== "" && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${this.#key}`);
    // A redirect would carry the key elsewhere.
    return this.#fetch(this.baseUrl + target, { redirect: "manual", ...init, headers });
  }

  protected async send<T>(request: Request, options: PostOptions): Promise<T> {
    // Outside of the attempts: what the caller got wrong is not the network's fault, and stays wrong.
    const prepared = this.#prepared(request, options);
    const timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? this.#timeoutMs, "some");
    for (let attempt = 0; ; attempt++) {
      options.signal?.throwIfAborted();
      let error: RenownError;
      try {
        const response = await this.#call(prepared, AbortSignal.timeout(timeoutMs), options.signal);
        if (response.ok) return (await value(request, response)) as T;
        error = await refusal(response);
      } catch (failure) {
        if (failure instanceof RenownError || options.signal?.aborted === true) throw failure;
        error = this.#noAnswer(failure);
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
      const again = typeof cursor === "string" && cursor === (next.query as { cursor?: unknown } | undefined)?.cursor;
      if (!Array.isArray(items) || again) {
        throw new RenownError(`a reply that is no page of ${field}: is this a server of Renown?`, { code: "bad_reply" });
      }
      yield* items as T[];
      if (typeof cursor !== "string") return;
      next = { ...request, query: { ...request.query, cursor } };
    }
  }

  protected async *events(request: Request, options: CallOptions): AsyncGenerator<StreamEvent, void, undefined> {
    const prepared = this.#prepared(request, options);
    const silenceMs = checkedMs("timeoutMs", options.timeoutMs ?? STREAM_SILENCE_MS, "some");
    options.signal?.throwIfAborted();
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const response = await this.#call(prepared, silence.signal, options.signal);
      if (!response.ok) throw await refusal(response);
      if (response.body === null) return;
      const lines = new Lines();
      const decoder = new TextDecoder();
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        yield* lines.take(decoder.decode(chunk, { stream: true }));
      }
    } catch (failure) {
      if (failure instanceof RenownError || options.signal?.aborted === true) throw failure;
      throw this.#noAnswer(failure);
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /** The request with everything but its time limit. */
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

  #noAnswer(failure: unknown): RenownError {
    const cause = failure instanceof Error ? (failure.cause ?? failure) : failure;
    const name = failure instanceof Error ? failure.name : "";
    if (name === "TimeoutError" || name === "AbortError") {
      return new RenownError(`${this.baseUrl}: no answer in time`, { code: "timed_out", cause });
    }
    // Bytes that do not unpack are an answer, only not one of a server of Renown.
    const packed = (cause as { code?: unknown } | null | undefined)?.code;
    if (typeof packed === "string" && packed.startsWith("Z_")) {
      return new RenownError(`${this.baseUrl}: a reply that cannot be decoded (${packed})`, { code: "bad_reply", cause });
    }
    const what = cause instanceof Error && cause.message !== "" ? cause.message : "no connection";
    return new RenownError(`${this.baseUrl}: ${what}`, { code: "unreachable", cause });
  }

  /** How long to wait before the next try; undefined if there is none. */
  #waitAfter(request: Request, options: PostOptions, error: RenownError, attempt: number): number | undefined {
    if (attempt >= this.#retries) return undefined;
    const mayRepeat = request.method !== "POST" || options.idempotencyKey !== undefined;
    if (error.code === "bad_reply" && error.status === undefined) return undefined;
    const undone = neverSent(error) || error.status === 429 || error.code === "overloaded";
    if (!undone && !(mayRepeat && (error.status === undefined || error.status === 503))) return undefined;
    const wait = error.retryAfterMs ?? Math.min(200 * 2 ** attempt, this.#retryWaitMaxMs) * (0.5 + Math.random() / 2);
    return wait <= this.#retryWaitMaxMs ? wait : undefined;
  }
}

/** Whether the request did not reach the server, by what the system said of the connection. */
function neverSent(error: RenownError): boolean {
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
}

/** Ends when one of both does. `AbortSignal.any` is not in every Node 18. */
function either(limit: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  if (signal === undefined) return limit;
  const both = new AbortController();
  for (const one of [limit, signal]) {
    if (one.aborted) both.abort(one.reason);
    else one.addEventListener("abort", () => both.abort(one.reason), { once: true, signal: both.signal });
  }
  return both.signal;
}

async function value(request: Request, response: Response): Promise<unknown> {
  const text = await response.text();
  if (request.text === true) return text;
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = "a reply that is no JSON: is this a server of Renown?";
    throw new RenownError(message, { code: "bad_reply", status: response.status, cause });
  }
}

async function refusal(response: Response): Promise<RenownError> {
  let message = `answered ${response.status}: is this a server of Renown?`;
  let code = "bad_reply";
  try {
    const said = (await response.json()) as { error?: unknown; code?: unknown };
    if (typeof said.error === "string" && typeof said.code === "string") [message, code] = [said.error, said.code];
  } catch {
    // What is no JSON says nothing more than its status.
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

/** Server-sent events out of pieces of text, which may end anywhere. */
class Lines {
  #rest = "";
  #event = "message";
  #data: string[] = [];

  *take(piece: string): Generator<StreamEvent, void, undefined> {
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
