// Verdicts on their way to a server. A thread of Rust does the work, so nothing here waits, and nothing keeps the program running.

import { writeSync } from "node:fs";

import native from "../native.cjs";
import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import type { Result } from "./engine.js";
import type { Http } from "./http.js";

/** How telemetry behaves. */
export interface TelemetryOptions {
  /** How long a verdict waits for others; 5 seconds if not given. */
  intervalS?: number;
  /** How many go at once, 1 to 100; 100 if not given. */
  batch?: number;
  /** How many are held in memory; 10 000 if not given. */
  buffer?: number;
  /** A directory for those for which there is no room; without it, the oldest is dropped and counted. */
  spool?: string;
  /**
   * Whether every verdict is written to `spool` before `track` returns, so that it outlives a crash or SIGTERM of the program: the
   * next one with the same `spool` sends it. False if not given; then only what has no room or is left at the end is written.
   */
  spoolFirst?: boolean;
  /** Is told what goes wrong, and when that is over; a warning of the process if not given. */
  onNotice?: (message: string) => void;
}

// How long the end of a program waits for what is not yet sent.
const EXIT_S = 5;

/** What the end of the program needs to know. */
interface Running {
  readonly addon: native.Telemetry;
  /** Whether what is not delivered is kept. */
  readonly kept: boolean;
  readonly tell: (message: string) => void;
}

// They are held until they are shut down, so that none ends in the garbage collector.
const running = new Map<Telemetry, Running>();

/**
 * Sends verdicts to a server in the background: every `intervalS` seconds or `batch` verdicts, again and again where the server is
 * away or busy. At the end of the program what waits is sent; `await shutdown()` is the way to be sure.
 */
export class Telemetry {
  readonly #native: native.Telemetry;
  readonly #tell: (message: string) => void;

  constructor(client: Http, options: TelemetryOptions = {}) {
    onlyKnown(options, ["intervalS", "batch", "buffer", "spool", "spoolFirst", "onNotice"]);
    const { intervalS = 5, batch = 100, buffer = 10_000, spool, spoolFirst = false, onNotice = warn } = options;
    if (!Number.isInteger(batch) || batch < 1 || batch > 100) throw new RangeError(`batch: ${batch}, expected 1 to 100`);
    if (!Number.isInteger(buffer) || buffer < 1 || buffer > 0xffff_ffff) {
      throw new RangeError(`buffer: ${buffer}, expected 1 or more`);
    }
    if (!(intervalS >= 0)) throw new RangeError(`intervalS: ${intervalS}, expected seconds, 0 or more`);
    if (spool !== undefined && (typeof spool !== "string" || spool === "")) throw new TypeError("spool: expected a directory");
    if (typeof spoolFirst !== "boolean" || (spoolFirst && spool === undefined)) {
      throw new TypeError(`spoolFirst: ${String(spoolFirst)}, expected true or false, and true only with a spool`);
    }
    if (typeof onNotice !== "function") throw new TypeError(`onNotice: ${typeof onNotice}, expected a function`);
    this.#tell = (message) => {
      try {
        onNotice(message);
      } catch {
        // Who watches must not be in the way, nor who watches the watcher.
      }
    };
    this.#native = new native.Telemetry({ ...client.destination(), intervalS, batch, buffer, spool, spoolFirst }, this.#tell);
    if (running.size === 0) {
      process.on("beforeExit", endAll);
      process.on("exit", endNow);
    }
    const tell = options.onNotice === undefined ? write : this.#tell;
    running.set(this, { addon: this.#native, kept: spool !== undefined, tell });
  }

  /** Takes a verdict and returns at once. It holds no part of the output or the input. */
  track(result: Result): void {
    try {
      this.#native.track(JSON.stringify(result));
    } catch (error) {
      this.#tell(`a verdict was not tracked: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Waits until what was tracked so far is delivered. False if that takes longer. */
  async flush(timeoutS = 30): Promise<boolean> {
    return this.#native.flush(timeoutS);
  }

  /** Tries once more to deliver what waits, and ends. May be repeated. */
  async shutdown(timeoutS = EXIT_S): Promise<void> {
    await this.#native.shutdown(timeoutS);
    ended(this);
  }

  /** Verdicts that were lost for lack of room, or that the server refused and nobody keeps. */
  get dropped(): number {
    return this.#native.dropped;
  }

  /** Verdicts of which it is not known yet that the server has them. */
  get waiting(): number {
    return this.#native.waiting;
  }

  static {
    brand(this, "Telemetry");
  }
}

function warn(message: string): void {
  process.emitWarning(message, "RenownWarning");
}

/** When there is nothing left to do, the program goes on until all of it is sent. */
function endAll(): void {
  for (const telemetry of running.keys()) void telemetry.shutdown();
}

/** Where the program ends by `process.exit()`, nothing can be awaited any more. All of them have the same time. */
function endNow(): void {
  const until = performance.now() + EXIT_S * 1000;
  const all = [...running.values()].map((one) => ({ ...one, before: one.addon.dropped }));
  for (const { addon } of all) addon.beginShutdown();
  for (const { addon, kept, tell, before } of all) {
    addon.shutdownNow(Math.max(0, until - performance.now()) / 1000);
    const lost = Math.max(addon.dropped - before, kept ? 0 : addon.waiting);
    if (lost > 0) tell(`${lost} ${lost === 1 ? "verdict was" : "verdicts were"} not delivered when the program ended`);
  }
}

/** When the program ends, its warnings are not printed any more. */
function write(message: string): void {
  try {
    writeSync(2, `renown: ${message}\n`);
  } catch {
    // Nobody reads it.
  }
}

function ended(telemetry: Telemetry): void {
  if (!running.delete(telemetry) || running.size > 0) return;
  process.off("beforeExit", endAll);
  process.off("exit", endNow);
}
