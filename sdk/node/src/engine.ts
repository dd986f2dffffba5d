// The engine: a set of gates, built once and used often. The built-in gates run in Rust, the custom gates in
// `custom.ts`.

import native from "../native.cjs";
import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import { Custom, copier, run } from "./custom.js";
import { BuiltIn, rtb } from "./gates.js";
import { jsonText } from "./json.js";

// Output and input with more characters of JSON are judged on another thread. For less, switching threads costs more
// than the gates.
const OFF_LOOP_CHARS = 32 * 1024;

// Names that a custom gate must not have, because it would replace the built-in gate.
const BUILT_IN: readonly string[] = [
  ...["content", "filesystem", "injection", "latency", "pii", "schema", "secrets"],
  ...rtb().map(({ kind }) => kind),
];

const EVALUATION_FIELDS = ["agentId", "output", "tool", "input", "latencyMs", "tmaxMs", "startedAt"];

const HALF_PAIR = /\p{Surrogate}/u;

/** Thrown for invalid gates or gate options. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";

  static {
    brand(this, "SettingsError");
  }
}

/** Options of an engine. */
export interface EngineOptions {
  /**
   * Time budget of an evaluation, 1 to 60 000 ms: the CPU time of the built-in gates, and what is left of it as
   * wall-clock time for the custom gates. Default: 50, or 15 for a set with `rtb` gates.
   */
  budgetMs?: number;
  /** Whether gates after the first failing one are skipped. Default: false. */
  failFast?: boolean;
  /** `strict` (the default) counts every mention; `balanced` counts only what looks intended. */
  strictness?: "strict" | "balanced";
}

/** An output to judge, and its context. */
export interface Evaluation {
  /** Agent that returned the output. */
  agentId: string;
  /**
   * A value that JSON shows completely: plain objects, arrays, strings, numbers, booleans, null and dates.
   * `undefined` becomes null or is left out. Any other value inside is a `TypeError`, because the gates would not see
   * it.
   */
  output: unknown;
  /** Tool that returned the output. */
  tool?: string | undefined;
  /** Input of the tool. The same values are allowed as in `output`. */
  input?: unknown;
  /**
   * Latency of the agent in milliseconds, for the `latency` gate. The result, and a server, count at most one minute.
   */
  latencyMs?: number | undefined;
  /**
   * Time limit of the caller for this output, in milliseconds, for the `rtb` gates. It has an effect only together
   * with `startedAt`.
   */
  tmaxMs?: number | undefined;
  /** Start of the request, in milliseconds after 1970, for the `rtb` gates. */
  startedAt?: number | undefined;
}

/** The result of one gate. */
export interface GateResult {
  /** Name of the gate in the configuration. */
  name: string;
  /** Whether the gate passed. A skipped gate counts as passed. */
  passed: boolean;
  /** Time that the gate took, in milliseconds. */
  latencyMs: number;
  /** Why the gate failed or was skipped. */
  reason?: string;
  /** True if the gate was skipped, absent otherwise. */
  skipped?: true;
}

/** The result of an evaluation. */
export interface Result {
  /** Id of this evaluation. */
  evaluationId: string;
  /** Whether every gate passed or was skipped. */
  passed: boolean;
  /** One result per gate, in the configured order. */
  gates: GateResult[];
  /** Time that the whole evaluation took, in milliseconds. */
  totalLatencyMs: number;
  /** Time of the evaluation, RFC 3339 in UTC. */
  timestamp: string;
  /** Agent that returned the output. */
  agentId: string;
  /** Tool that returned the output. */
  tool?: string;
  /** Latency of the agent in milliseconds, at most 60 000. Absent if it was not given. */
  latencyMs?: number;
  /**
   * The output. If no gate redacted it, this is the same value that was evaluated. Otherwise it is a new value of
   * plain JSON, in which dates are strings. The property is not enumerable, so printing, copying or sending a result
   * does not include it.
   */
  readonly output?: unknown;
}

/**
 * A set of gates. Build it once and use it for all outputs.
 *
 *     const engine = Engine.default();
 *     const engine = Engine.fromFile("renown.toml", "proxy");
 *     const engine = new Engine([gates.pii(), gates.latency({ maxMs: 2000 }), gate("mine", check)], { budgetMs: 50 });
 */
export class Engine {
  readonly #native: native.Engine;
  readonly #customs: ReadonlyMap<string, Custom>;

  constructor(gates: ReadonlyArray<BuiltIn | Custom>, options: EngineOptions = {}) {
    // Called by the factories below, which have already built the native engine.
    if (gates instanceof BuiltParts) {
      this.#native = gates.engine;
      this.#customs = gates.customs;
      return;
    }
    if (!Array.isArray(gates) || !gates.every((gate) => gate instanceof BuiltIn || gate instanceof Custom)) {
      throw new SettingsError("gates: expected built-in gates, such as `gates.pii()`, or `gate(name, check)`");
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
    this.#native = build(() => new native.Engine(settings, names, customs.map((gate) => gate.name)));
  }

  /** Builds the default gates of `POST /v1/evaluate`: filesystem, pii, content and secrets. */
  static default(): Engine {
    return fromParts(new BuiltParts(build(() => new native.Engine("{}", null, [])), new Map()));
  }

  /**
   * Builds the gates that a `renown.toml` defines for a place.
   *
   * @param place Which set of the file to build: for the server (`evaluate`), for `renown gate` (`cli`) or for the
   * proxy (`proxy`).
   * @param options `gates` are custom gates. The set of the file may name them; the others are added at the end.
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
    const named = byName(customs);
    if (named.size !== customs.length) throw new SettingsError("gates: two gates have the same name");
    return fromParts(new BuiltParts(build(() => native.Engine.fromFile(path, place, [...named.keys()])), named));
  }

  /** Names of the gates, in the configured order. */
  get names(): string[] {
    return this.#native.names;
  }

  /** Time budget of an evaluation, in milliseconds. */
  get budgetMs(): number {
    return this.#native.budgetMs;
  }

  /** Whether gates after the first failing one are skipped. */
  get failFast(): boolean {
    return this.#native.failFast;
  }

  /** Judges one output. A failed gate is a result, not an exception. Large outputs do not block the event loop. */
  async evaluate(evaluation: Evaluation): Promise<Result> {
    const args = nativeArgs(evaluation);
    const isLarge = args.output.length + (args.input?.length ?? 0) > OFF_LOOP_CHARS;
    if (this.#customs.size === 0) {
      const text = isLarge ? await awaitNative(this.#native.evaluateLater(args)) : callNative(() => this.#native.evaluate(args));
      return result(text, evaluation.output);
    }
    const started = isLarge ? await awaitNative(this.#native.startLater(args)) : callNative(() => this.#native.start(args));
    const checks = started.names.flatMap((name) => this.#customs.get(name)?.check ?? []);
    const { agentId, tool, latencyMs } = evaluation;
    const [output, input] = [copier(evaluation.output, args.output), copier(evaluation.input, args.input)];
    const answers = checks.length > 0 ? await run(checks, { agentId, tool, output, input, latencyMs }, started.leftMs) : [];
    return result(started.finish(answers), evaluation.output);
  }

  /**
   * Like `evaluate`, but synchronous. Throws a `TypeError` if the engine has custom gates, because these may be
   * async.
   */
  evaluateSync(evaluation: Evaluation): Result {
    if (this.#customs.size > 0) throw new TypeError("this engine has custom gates, which only evaluate() can run");
    const args = nativeArgs(evaluation);
    return result(callNative(() => this.#native.evaluate(args)), evaluation.output);
  }

  static {
    brand(this, "Engine");
  }
}

/** Throws the error that an evaluation would throw for this agent or tool. */
export function checkSubject(agentId: string, tool: string | undefined): void {
  callNative(() => native.Engine.check(nativeArgs({ agentId, tool, output: null })));
}

/** The parts of an engine. The factories pass them to the constructor in place of gates. */
class BuiltParts {
  constructor(
    readonly engine: native.Engine,
    readonly customs: ReadonlyMap<string, Custom>,
  ) {}
}

function fromParts(parts: BuiltParts): Engine {
  return new Engine(parts as unknown as []);
}

function byName(customs: readonly Custom[]): ReadonlyMap<string, Custom> {
  for (const { name } of customs) {
    if (BUILT_IN.includes(checkedName(name))) throw new SettingsError(`gates: "${name}" is the name of a built-in gate`);
  }
  return new Map(customs.map((gate) => [gate.name, gate]));
}

/**
 * Returns the name if it is valid Unicode. The addon would replace half a surrogate pair and look for a different
 * name.
 */
function checkedName(name: unknown): string {
  if (typeof name === "string" && !HALF_PAIR.test(name)) return name;
  throw new SettingsError(`gates: ${typeof name === "string" ? JSON.stringify(name) : typeof name}, expected a name`);
}

/** Returns the settings as JSON text. Options of gates must be plain values, like outputs. */
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

function nativeArgs(evaluation: Evaluation): native.EvaluationArgs {
  onlyKnown(evaluation, EVALUATION_FIELDS);
  const { agentId, output, tool, input, latencyMs, tmaxMs, startedAt } = evaluation;
  const args: native.EvaluationArgs = { agentId: checkedText("agentId", agentId), output: jsonText("output", output) };
  if (tool != null) args.tool = checkedText("tool", tool);
  if (input != null) args.input = jsonText("input", input);
  if (latencyMs != null) {
    if (typeof latencyMs !== "number") throw new TypeError(`latencyMs: ${typeof latencyMs}, expected a number`);
    args.latencyMs = latencyMs;
  }
  if (tmaxMs != null) args.tmaxMs = checkedWhole("tmaxMs", tmaxMs);
  if (startedAt != null) args.startedAt = checkedWhole("startedAt", startedAt);
  return args;
}

/**
 * Returns the string if it is valid Unicode. Otherwise the addon would replace characters, and change the id or the
 * name.
 */
function checkedText(name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${name}: ${typeof value}, expected a string`);
  if (HALF_PAIR.test(value)) throw new TypeError(`${name}: half a surrogate pair, expected valid Unicode`);
  return value;
}

function checkedWhole(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name}: ${value}, expected whole milliseconds, 0 or more`);
}

/** Parses the result of the addon, and adds the redacted or the original output. */
function result(text: string, original: unknown): Result {
  const { redacted, ...parsed } = JSON.parse(text) as Result & { redacted?: unknown };
  const output = redacted === undefined ? original : redacted;
  return Object.defineProperty(parsed, "output", { value: output });
}

/** Converts the addon's error for an invalid argument to a `TypeError`. Returns any other error unchanged. */
function converted(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  return code === "InvalidArg" ? new TypeError(message) : error;
}

function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw converted(error);
  }
}

async function awaitNative<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw converted(error);
  }
}

/** Builds a native engine. Invalid settings throw a `SettingsError`. */
function build(create: () => native.Engine): native.Engine {
  try {
    return create();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    throw code === "InvalidArg" ? new SettingsError(message) : error;
  }
}
