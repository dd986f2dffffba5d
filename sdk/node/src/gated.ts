// Gates the return value of a function.

import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import { checkSubject, type Engine, type Result } from "./engine.js";
import type { Telemetry } from "./telemetry.js";

/** Thrown for an output that did not pass. `result` has the reasons. */
export class GateFailed extends Error {
  override readonly name = "GateFailed";
  readonly result: Result;

  constructor(result: Result) {
    const failed = result.gates.filter((gate) => !gate.passed).map((gate) => `${gate.name}: ${gate.reason}`);
    super(`the output did not pass: ${failed.join("; ")}`);
    this.result = result;
  }

  static {
    brand(this, "GateFailed");
  }
}

/** Options of `gated`. */
export interface GatedOptions<Args extends unknown[], Value> {
  /** Agent that the verdicts belong to. */
  agentId: string;
  /** Tool name in the verdict. Default: the name of the function. */
  tool?: string;
  /** Receives every verdict and sends it to a server. */
  telemetry?: Telemetry;
  /** A function that takes the same arguments and returns the `input` of the evaluation, for gates that read it. */
  input?: (...args: Args) => unknown;
  /**
   * What to do with an output that did not pass. `throw` (the default) throws `GateFailed`. `return` returns the
   * output anyway, so that only `telemetry` sees the verdict. A function gets the result, and the caller gets its
   * return value.
   */
  onFail?: "throw" | "return" | ((result: Result) => Value | PromiseLike<Value>);
}

// `any`, because parameters without an annotation get their type from here.
type AnyFunction = (...args: any[]) => unknown;

type Value<Fn extends AnyFunction> = Awaited<ReturnType<Fn>>;

/** The type of the gated function. It depends only on the type of the original function, not on the options. */
export type Gated<Fn extends AnyFunction> = (
  this: ThisParameterType<Fn>,
  ...args: Parameters<Fn>
) => Promise<Awaited<ReturnType<Fn>>>;

/**
 * Gates the return value of a sync or async function, and measures the latency of the function. An output that passes
 * is returned unchanged. A redacted output is returned as plain JSON, whatever the type of the function says: a date
 * becomes a string. An exception of the function itself passes through, and nothing is evaluated or tracked.
 */
export function gated<Fn extends AnyFunction>(
  engine: Engine,
  fn: Fn,
  options: GatedOptions<Parameters<Fn>, Awaited<ReturnType<Fn>>>,
): Gated<Fn> {
  const { agentId, telemetry, input, onFail = "throw" } = checked(engine, fn, options);
  const tool = options.tool ?? (fn.name === "" ? undefined : fn.name);
  checkSubject(agentId, tool);
  async function gatedFunction(this: ThisParameterType<Fn>, ...args: Parameters<Fn>): Promise<Value<Fn>> {
    const start = performance.now();
    const output = await fn.apply(this as never, args);
    const latencyMs = performance.now() - start;
    const result = await engine.evaluate({ agentId, output, tool, input: input?.(...args), latencyMs });
    telemetry?.track(result);
    if (result.passed || onFail === "return") return result.output as Value<Fn>;
    if (onFail === "throw") throw new GateFailed(result);
    return await onFail(result);
  }
  return Object.defineProperty(gatedFunction, "name", { value: fn.name });
}

/** Checks the arguments of `gated`, so that mistakes are found before the function runs. */
function checked<Options extends object>(engine: Engine, fn: unknown, options: Options): Options {
  if (typeof engine?.evaluate !== "function") throw new TypeError("engine: expected an Engine");
  if (typeof fn !== "function") throw new TypeError(`fn: ${typeof fn}, expected a function`);
  onlyKnown(options, ["agentId", "tool", "telemetry", "input", "onFail"]);
  const { telemetry, input, onFail = "throw" } = options as Partial<GatedOptions<unknown[], unknown>>;
  if (telemetry !== undefined && typeof telemetry?.track !== "function") throw new TypeError("telemetry: expected a Telemetry");
  if (input !== undefined && typeof input !== "function") throw new TypeError(`input: ${typeof input}, expected a function`);
  if (typeof onFail === "function" || onFail === "throw" || onFail === "return") return options;
  throw new TypeError(`onFail: ${JSON.stringify(onFail)}, expected "throw", "return" or a function`);
}
