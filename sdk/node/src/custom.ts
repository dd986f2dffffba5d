// Gates that are functions of JavaScript. They run together on the event loop, within what is left of the budget; what becomes of
// an evaluation is decided in Rust from what they said.

import type native from "../native.cjs";
import { brand } from "./brand.js";
import type { Signal } from "./platform.js";

/** What a gate of your own sees. */
export interface Context {
  readonly agentId: string;
  readonly tool: string | undefined;
  /** A copy of it, as JSON shows it to the built-in gates: what a gate does to it changes nothing that was judged. */
  readonly output: unknown;
  /** A copy as well. */
  readonly input: unknown;
  readonly latencyMs: number | undefined;
  /** When the evaluation has to be done, in milliseconds after 1970. */
  readonly deadline: number;
  /** Is aborted when the evaluation is over, so that what still runs can end. */
  readonly signal: Signal;
}

/** What a gate of your own says. */
export type Answer =
  | boolean
  | { passed: boolean; reason?: string | undefined; skipped?: boolean | undefined }
  | { skipped: true; reason?: string | undefined };

/** A function of the context, sync or async. */
export type Check = (context: Context) => Answer | PromiseLike<Answer>;

/** A gate of your own. */
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
 * A gate of your own: a name and a function of the context. It fails where it throws, answers something else or is not done within
 * the budget. Nothing can interrupt a function that does not return, so what takes long should be async.
 */
export function gate(name: string, check: Check): Custom {
  if (typeof name !== "string") throw new TypeError(`name: ${typeof name}, expected a string`);
  if (typeof check !== "function") throw new TypeError(`check: ${typeof check}, expected a function`);
  return new Custom(name, check);
}

/** The values of a context that are known before its gates run. The functions give a copy for each. */
export interface Known extends Pick<Context, "agentId" | "tool" | "latencyMs"> {
  readonly output: () => unknown;
  readonly input: () => unknown;
}

/** Copies of a value whose JSON text is known. */
export function copies(value: unknown, text: string | undefined): () => unknown {
  const changeable = typeof value === "object" && value !== null && text !== undefined;
  return () => (changeable ? JSON.parse(text) : value);
}

/** Runs gates together; who has not answered when `leftMs` are over is late. */
export function run(checks: readonly Check[], known: Known, leftMs: number): Promise<native.Answer[]> {
  const began = performance.now();
  const until = began + leftMs;
  const life = new Life();
  const deadline = Date.now() + leftMs;
  const answers: Array<native.Answer | undefined> = checks.map(() => undefined);
  return new Promise((resolve) => {
    let open = checks.length;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      life.end();
      const seconds = (performance.now() - began) / 1000;
      resolve(answers.map((answer) => answer ?? { word: "late", seconds }));
    };
    const take = (place: number, started: number, value: unknown): void => {
      const now = performance.now();
      if (life.over || now > until) return;
      answers[place] = { ...meaning(value), seconds: (now - started) / 1000 };
      open -= 1;
      if (open === 0) end();
    };
    checks.forEach((check, place) => {
      const started = performance.now();
      // One that came before may have taken all the time.
      if (started < until) ask(check, life.context(known, deadline), (value) => take(place, started, value));
    });
    const wait = (): void => {
      if (life.over) return;
      const left = until - performance.now();
      if (left <= 0) end();
      // Timers know whole milliseconds, and may be early by as long as the event loop was busy.
      else if (left >= 2) timer = setTimeout(wait, Math.floor(left) - 1);
      else setImmediate(wait);
    };
    wait();
  });
}

/** Hands on what a gate says, and nothing where it breaks. */
function ask(check: Check, context: Context, take: (value: unknown) => void): void {
  try {
    const said: unknown = check(context);
    if (typeof (said as PromiseLike<unknown> | null | undefined)?.then !== "function") take(said);
    else Promise.resolve(said).then(take).catch(() => take(undefined));
  } catch {
    take(undefined);
  }
}

/** What an answer means; one that makes no sense is `broken`. */
function meaning(answer: unknown): Omit<native.Answer, "seconds"> {
  if (answer === true) return { word: "pass" };
  if (answer === false) return { word: "fail" };
  if (typeof answer !== "object" || answer === null) return { word: "broken" };
  const { passed, skipped = false } = answer as Record<string, unknown>;
  const reason = (answer as Record<string, unknown>)["reason"] ?? undefined;
  if ((reason !== undefined && typeof reason !== "string") || typeof skipped !== "boolean") return { word: "broken" };
  // Skipped counts as passed, so a gate that also says that it failed contradicts itself.
  if (skipped) return passed === undefined || passed === true ? { word: "skip", reason } : { word: "broken" };
  if (typeof passed !== "boolean") return { word: "broken" };
  return passed ? { word: "pass" } : { word: "fail", reason };
}

/** Until an evaluation is over. */
class Life {
  over = false;
  #controller: AbortController | undefined;

  end(): void {
    this.over = true;
    this.#controller?.abort();
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.over) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Most gates look at a part of it only, so the rest is made when one does. */
  context({ agentId, tool, latencyMs, output, input }: Known, deadline: number): Context {
    const made = { output: once(output), input: once(input), signal: (): AbortSignal => this.#signal() };
    return {
      ...{ agentId, tool, latencyMs, deadline },
      get output() {
        return made.output();
      },
      get input() {
        return made.input();
      },
      get signal() {
        return made.signal();
      },
    };
  }
}

function once(make: () => unknown): () => unknown {
  let made: { value: unknown } | undefined;
  return () => (made ??= { value: make() }).value;
}
