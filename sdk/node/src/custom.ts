// Custom gates. They run at the same time on the event loop, within the rest of the budget. Rust combines their
// outcomes with those of the built-in gates into the verdict.

import type native from "../native.cjs";
import { brand } from "./brand.js";
import type { Signal } from "./platform.js";

/** What a custom gate sees of an evaluation. */
export interface Context {
  /** Agent that returned the output. */
  readonly agentId: string;
  /** Tool that returned the output. */
  readonly tool: string | undefined;
  /**
   * A copy of the output, as the built-in gates see it: plain JSON. A gate that changes it does not change the
   * output.
   */
  readonly output: unknown;
  /** A copy of the input of the tool, as plain JSON. */
  readonly input: unknown;
  /** Latency of the agent, in milliseconds. */
  readonly latencyMs: number | undefined;
  /** End of the budget, in milliseconds after 1970. */
  readonly deadline: number;
  /** Aborted when the evaluation ends, so that a gate can stop its work. */
  readonly signal: Signal;
}

/** What a custom gate returns. `reason` counts only for a gate that failed or was skipped. */
export type Answer =
  | boolean
  | { passed: boolean; reason?: string | undefined; skipped?: boolean | undefined }
  | { skipped: true; reason?: string | undefined };

/** The function of a custom gate, sync or async. */
export type Check = (context: Context) => Answer | PromiseLike<Answer>;

/** A custom gate: a name and a function. */
export class Custom {
  constructor(
    readonly name: string,
    readonly check: Check,
  ) {}

  static {
    brand(this, "Custom");
  }
}

/**
 * Creates a custom gate from a name and a sync or async function. The gate fails if the function throws, returns an
 * invalid value or exceeds the budget. A sync function cannot be interrupted, so use an async function for work that
 * takes long.
 */
export function gate(name: string, check: Check): Custom {
  if (typeof name !== "string") throw new TypeError(`name: ${typeof name}, expected a string`);
  if (typeof check !== "function") throw new TypeError(`check: ${typeof check}, expected a function`);
  return new Custom(name, check);
}

/** The values that all gates of an evaluation share. Each call of `output` and `input` returns a new copy. */
export interface SharedContext extends Pick<Context, "agentId" | "tool" | "latencyMs"> {
  readonly output: () => unknown;
  readonly input: () => unknown;
}

/** Returns a function that copies a value, given the JSON text of the value. */
export function copier(value: unknown, text: string | undefined): () => unknown {
  const isMutable = typeof value === "object" && value !== null && text !== undefined;
  return () => (isMutable ? JSON.parse(text) : value);
}

/** Runs gates at the same time. A gate without an answer after `leftMs` is late. */
export function run(checks: readonly Check[], shared: SharedContext, leftMs: number): Promise<native.Answer[]> {
  const start = performance.now();
  const end = start + leftMs;
  const lifetime = new Lifetime();
  const deadline = Date.now() + leftMs;
  const answers: Array<native.Answer | undefined> = checks.map(() => undefined);
  return new Promise((resolve) => {
    let pending = checks.length;
    let timer: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(timer);
      lifetime.end();
      const seconds = (performance.now() - start) / 1000;
      resolve(answers.map((answer) => answer ?? { word: "late", seconds }));
    };
    const record = (index: number, started: number, value: unknown): void => {
      const now = performance.now();
      if (lifetime.isOver || now > end) return;
      answers[index] = { ...parseAnswer(value), seconds: (now - started) / 1000 };
      pending -= 1;
      if (pending === 0) finish();
    };
    checks.forEach((check, index) => {
      const started = performance.now();
      // An earlier sync gate may have used up the time.
      if (started < end) runCheck(check, lifetime.context(shared, deadline), (value) => record(index, started, value));
    });
    const wait = (): void => {
      if (lifetime.isOver) return;
      const left = end - performance.now();
      if (left <= 0) finish();
      // Timers count whole milliseconds, and fire too early if the event loop was busy when they were set.
      else if (left >= 2) timer = setTimeout(wait, Math.floor(left) - 1);
      else setImmediate(wait);
    };
    wait();
  });
}

/** Passes the answer of a gate to `record`, or `undefined` if the gate throws or rejects. */
function runCheck(check: Check, context: Context, record: (value: unknown) => void): void {
  try {
    const answer: unknown = check(context);
    if (typeof (answer as PromiseLike<unknown> | null | undefined)?.then !== "function") record(answer);
    else Promise.resolve(answer).then(record).catch(() => record(undefined));
  } catch {
    record(undefined);
  }
}

/** Returns the outcome and the reason of an answer. An invalid answer is `broken`. */
function parseAnswer(answer: unknown): Omit<native.Answer, "seconds"> {
  if (answer === true) return { word: "pass" };
  if (answer === false) return { word: "fail" };
  if (typeof answer !== "object" || answer === null) return { word: "broken" };
  const { passed, skipped = false } = answer as Record<string, unknown>;
  const reason = (answer as Record<string, unknown>)["reason"] ?? undefined;
  if ((reason !== undefined && typeof reason !== "string") || typeof skipped !== "boolean") return { word: "broken" };
  // A skipped gate counts as passed, so `skipped: true` with `passed: false` is a contradiction.
  if (skipped) return passed === undefined || passed === true ? { word: "skip", reason } : { word: "broken" };
  if (typeof passed !== "boolean") return { word: "broken" };
  return passed ? { word: "pass" } : { word: "fail", reason };
}

/** The lifetime of an evaluation. It aborts the signals of its contexts at the end. */
class Lifetime {
  isOver = false;
  #controller: AbortController | undefined;

  end(): void {
    this.isOver = true;
    this.#controller?.abort();
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /**
   * Creates the context of one gate. Most gates read only a part of it, so copies and signals are created on first
   * use.
   */
  context({ agentId, tool, latencyMs, output, input }: SharedContext, deadline: number): Context {
    const lazy = { output: memoized(output), input: memoized(input), signal: (): AbortSignal => this.#signal() };
    return {
      ...{ agentId, tool, latencyMs, deadline },
      get output() {
        return lazy.output();
      },
      get input() {
        return lazy.input();
      },
      get signal() {
        return lazy.signal();
      },
    };
  }
}

function memoized(create: () => unknown): () => unknown {
  let created: { value: unknown } | undefined;
  return () => (created ??= { value: create() }).value;
}
