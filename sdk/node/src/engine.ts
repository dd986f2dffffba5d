// The engine: a set of gates, built once and asked often. The built-in gates run in Rust, those of JavaScript in `custom.ts`.

import native from "../native.cjs";
import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import { Custom, copies, run } from "./custom.js";
import { BuiltIn, rtb } from "./gates.js";
import { jsonText } from "./json.js";

// Above so many characters of JSON an output is judged off the event loop: below, changing threads costs more than the gates.
const OFF_LOOP_CHARS = 32 * 1024;

// A gate of one's own by such a name would stand in the place of the built-in one.
const BUILT_IN: readonly string[] = [
  ...["content", "filesystem", "injection", "latency", "pii", "schema", "secrets"],
  ...rtb().map(({ kind }) => kind),
];

const EVALUATION = ["agentId", "output", "tool", "input", "latencyMs", "tmaxMs", "startedAt"];

const HALF_PAIR = /\p{Surrogate}/u;

/** Gates or their options that are not allowed. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";

  static {
    brand(this, "SettingsError");
  }
}

/** How an engine behaves. */
export interface EngineOptions {
  /** The time that a whole evaluation may take; 50 if not given. */
  budgetMs?: number;
  /** Whether gates after the first failing one are skipped. */
  failFast?: boolean;
  /** `strict` (the default): any mention counts; `balanced`: what looks intended. */
  strictness?: "strict" | "balanced";
}

/** What is to be judged. */
export interface Evaluation {
  /** Whose output it is. */
  agentId: string;
  /**
   * What JSON can show: plain objects, arrays, texts, numbers, booleans, null and dates; what is not there is null. Anything else in
   * it is a `TypeError`, since gates would not see it.
   */
  output: unknown;
  /** The tool that made it. */
  tool?: string | undefined;
  /** What the tool was given. */
  input?: unknown;
  /** How long the agent took, for the gate `latency`. It may be longer than the minute that a server counts. */
  latencyMs?: number | undefined;
  /** The time that whoever asked for the output gives for it, for the gates of `rtb`. */
  tmaxMs?: number | undefined;
  /** When that began, in milliseconds after 1970. */
  startedAt?: number | undefined;
}

/** The result of one gate. */
export interface GateResult {
  /** The name by which the gate is configured. */
  name: string;
  /** Whether it passed; a skipped gate passes. */
  passed: boolean;
  latencyMs: number;
  /** Why it failed or was skipped, in the gate's own words. */
  reason?: string;
  /** Whether it had nothing to say. */
  skipped?: true;
}

/** What an evaluation found. */
export interface Result {
  evaluationId: string;
  /** Whether every gate passed or was skipped. */
  passed: boolean;
  /** One result a gate, in the configured order. */
  gates: GateResult[];
  totalLatencyMs: number;
  /** When it happened, RFC 3339 in UTC. */
  timestamp: string;
  agentId: string;
  tool?: string;
  /** How long the agent took, if that was said; a minute if it was longer, since a server does not count beyond. */
  latencyMs?: number;
  /**
   * The output: the very value that was given if gates redacted nothing, else a new one of plain JSON, in which dates are texts. It
   * is not enumerable: printing, copying or sending a result does not take it along.
   */
  readonly output?: unknown;
}

/**
 * A set of gates.
 *
 *     const engine = Engine.default();
 *     const engine = Engine.fromFile("renown.toml", "proxy");
 *     const engine = new Engine([gates.pii(), gates.latency({ maxMs: 2000 }), gate("mine", check)], { budgetMs: 50 });
 */
export class Engine {
  readonly #native: native.Engine;
  readonly #customs: ReadonlyMap<string, Custom>;

  constructor(gates: ReadonlyArray<BuiltIn | Custom>, options: EngineOptions = {}) {
    // The door of the factories below, which have made the addon's engine already.
    if (gates instanceof Made) {
      this.#native = gates.engine;
      this.#customs = gates.customs;
      return;
    }
    if (!Array.isArray(gates) || !gates.every((gate) => gate instanceof BuiltIn || gate instanceof Custom)) {
      throw new SettingsError("gates: expected what `gates.pii()` and the like give, or `gate(name, check)`");
    }
    onlyKnown(options, ["budgetMs", "failFast", "strictness"], settingsError);
    const customs = gates.filter((gate): gate is Custom => gate instanceof Custom);
    const tables = gates.filter((gate): gate is BuiltIn => gate instanceof BuiltIn);
    const { budgetMs: budget_ms, failFast: fail_fast, strictness } = options;
    const settings = settingsText({
      gates: { budget_ms, fail_fast, strictness },
      gate: Object.fromEntries(tables.map((gate) => [gate.name, gate.table])),
    });
    const names = gates.map((gate) => checkedName(gate.name));
    this.#customs = byName(customs);
    this.#native = built(() => new native.Engine(settings, names, customs.map((gate) => gate.name)));
  }

  /** The gates that `POST /v1/evaluate` runs by default: filesystem, pii, content and secrets. */
  static default(): Engine {
    return made(new Made(built(() => new native.Engine("{}", null, [])), new Map()));
  }

  /**
   * The gates that a `renown.toml` has for a place. `gates` are your own: the file's set may name them, those that it does not name
   * stand after it.
   */
  static fromFile(
    path: string,
    place: "evaluate" | "cli" | "proxy" = "evaluate",
    options: { gates?: readonly Custom[] } = {},
  ): Engine {
    onlyKnown(options, ["gates"], settingsError);
    const customs = options.gates ?? [];
    if (!Array.isArray(customs) || !customs.every((gate) => gate instanceof Custom)) {
      throw new SettingsError("gates: expected a list of `gate(name, check)`");
    }
    const known = byName(customs);
    if (known.size !== customs.length) throw new SettingsError("gates: two gates of one name");
    return made(new Made(built(() => native.Engine.fromFile(path, place, [...known.keys()])), known));
  }

  /** The names of its gates, in the order in which they stand. */
  get names(): string[] {
    return this.#native.names;
  }

  /** The time that a whole evaluation may take. */
  get budgetMs(): number {
    return this.#native.budgetMs;
  }

  /** Whether gates after the first failing one are skipped. */
  get failFast(): boolean {
    return this.#native.failFast;
  }

  /** Judges one output. A failed gate is a result, not an exception. Large outputs do not hold the event loop. */
  async evaluate(evaluation: Evaluation): Promise<Result> {
    const asked = prepared(evaluation);
    const large = asked.output.length + (asked.input?.length ?? 0) > OFF_LOOP_CHARS;
    if (this.#customs.size === 0) {
      const text = large ? await later(this.#native.evaluateLater(asked)) : now(() => this.#native.evaluate(asked));
      return result(text, evaluation.output);
    }
    const started = large ? await later(this.#native.startLater(asked)) : now(() => this.#native.start(asked));
    const checks = started.names.flatMap((name) => this.#customs.get(name)?.check ?? []);
    const { agentId, tool, latencyMs } = evaluation;
    const [output, input] = [copies(evaluation.output, asked.output), copies(evaluation.input, asked.input)];
    const said = checks.length > 0 ? await run(checks, { agentId, tool, output, input, latencyMs }, started.leftMs) : [];
    return result(started.finish(said), evaluation.output);
  }

  /** The same at once, for an engine without gates of its own. */
  evaluateSync(evaluation: Evaluation): Result {
    if (this.#customs.size > 0) throw new TypeError("this engine has gates of JavaScript, which only evaluate() can run");
    const asked = prepared(evaluation);
    return result(now(() => this.#native.evaluate(asked)), evaluation.output);
  }

  static {
    brand(this, "Engine");
  }
}

/** Refuses an agent or a tool that no evaluation would take. */
export function checkSubject(agentId: string, tool: string | undefined): void {
  now(() => native.Engine.check(prepared({ agentId, tool, output: null })));
}

/** What the factories hand to the constructor in place of gates. */
class Made {
  constructor(
    readonly engine: native.Engine,
    readonly customs: ReadonlyMap<string, Custom>,
  ) {}
}

function made(parts: Made): Engine {
  return new Engine(parts as unknown as []);
}

function byName(customs: readonly Custom[]): ReadonlyMap<string, Custom> {
  for (const { name } of customs) {
    if (BUILT_IN.includes(checkedName(name))) throw new SettingsError(`gates: "${name}" is the name of a built-in gate`);
  }
  return new Map(customs.map((gate) => [gate.name, gate]));
}

/** The addon would replace half a surrogate pair, and then look for a gate of another name. */
function checkedName(name: unknown): string {
  if (typeof name === "string" && !HALF_PAIR.test(name)) return name;
  throw new SettingsError(`gates: ${typeof name === "string" ? JSON.stringify(name) : typeof name}, expected a name`);
}

/** The options of gates are plain values too. */
function settingsText(settings: object): string {
  try {
    return jsonText("settings", settings);
  } catch (cause) {
    throw new SettingsError((cause as Error).message, { cause });
  }
}

function settingsError(message: string): SettingsError {
  return new SettingsError(message);
}

function prepared(evaluation: Evaluation): native.Asked {
  onlyKnown(evaluation, EVALUATION);
  const { agentId, output, tool, input, latencyMs, tmaxMs, startedAt } = evaluation;
  const asked: native.Asked = { agentId: checkedText("agentId", agentId), output: jsonText("output", output) };
  if (tool != null) asked.tool = checkedText("tool", tool);
  if (input != null) asked.input = jsonText("input", input);
  if (latencyMs != null) {
    if (typeof latencyMs !== "number") throw new TypeError(`latencyMs: ${typeof latencyMs}, expected a number`);
    asked.latencyMs = latencyMs;
  }
  if (tmaxMs != null) asked.tmaxMs = whole("tmaxMs", tmaxMs);
  if (startedAt != null) asked.startedAt = whole("startedAt", startedAt);
  return asked;
}

/** A text that another language can hold too: who is meant must not change on the way. */
function checkedText(name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${name}: ${typeof value}, expected a string`);
  if (HALF_PAIR.test(value)) throw new TypeError(`${name}: half a surrogate pair, expected a text`);
  return value;
}

function whole(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name}: ${value}, expected whole milliseconds, 0 or more`);
}

function result(text: string, given: unknown): Result {
  const { redacted, ...found } = JSON.parse(text) as Result & { redacted?: unknown };
  const output = redacted === undefined ? given : redacted;
  return Object.defineProperty(found, "output", { value: output });
}

/** What the addon refuses as an argument is a `TypeError`; what else it throws is passed on. */
function refusal(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  return code === "InvalidArg" ? new TypeError(message) : error;
}

function now<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw refusal(error);
  }
}

async function later<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw refusal(error);
  }
}

function built(build: () => native.Engine): native.Engine {
  try {
    return build();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    throw code === "InvalidArg" ? new SettingsError(message) : error;
  }
}
