// Gating what a function returns.

import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import { checkSubject, type Engine, type Result } from "./engine.js";
import type { Telemetry } from "./telemetry.js";

/** An output that did not pass. `result` says why. */
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

/** How a function is gated. */
export interface GatedOptions<Args extends unknown[], Value> {
  /** Whose output it is. */
  agentId: string;
  /** What the verdict calls it; the name of the function if not given. */
  tool?: string;
  /** Where verdicts go. */
  telemetry?: Telemetry;
  /** A function of the same arguments that gives the `input` of the evaluation, for gates that look at it. */
  input?: (...args: Args) => unknown;
  /**
   * What happens to an output that did not pass: `throw` (the default) throws `GateFailed`; `return` returns it all the same, and
   * the verdict only goes to `telemetry`; a function gives what is returned instead.
   */
  onFail?: "throw" | "return" | ((result: Result) => Value | PromiseLike<Value>);
}

// `any`, since parameters of a function that are not annotated take their type from here.
type AnyFunction = (...args: any[]) => unknown;

type Value<Fn extends AnyFunction> = Awaited<ReturnType<Fn>>;

/** The gated function. All of it follows from the function's own type, and nothing from the options. */
export type Gated<Fn extends AnyFunction> = (
  this: ThisParameterType<Fn>,
  ...args: Parameters<Fn>
) => Promise<Awaited<ReturnType<Fn>>>;

/**
 * Gates what a function returns, sync or async, and measures how long it took. What passes is returned as it is; what a gate
 * redacted is returned redacted, as plain JSON, whatever type the function has: a date in it is then a text. What the function
 * itself throws is not looked at.
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
    const began = performance.now();
    const output = await fn.apply(this as never, args);
    const latencyMs = performance.now() - began;
    const result = await engine.evaluate({ agentId, output, tool, input: input?.(...args), latencyMs });
    telemetry?.track(result);
    if (result.passed || onFail === "return") return result.output as Value<Fn>;
    if (onFail === "throw") throw new GateFailed(result);
    return await onFail(result);
  }
  return Object.defineProperty(gatedFunction, "name", { value: fn.name });
}

/** What is wrong is said here, and not after the function has done its work. */
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
