// Sends verdicts to a server. A Rust thread does the work, so it neither blocks the event loop nor keeps the program
// running.

import { writeSync } from "node:fs";

import native from "../native.cjs";
import { brand } from "./brand.js";
import { onlyKnown } from "./check.js";
import type { Result } from "./engine.js";
import type { Http } from "./http.js";

/** Options of `Telemetry`. */
export interface TelemetryOptions {
  /** Maximum time in seconds that a verdict waits for others before a batch is sent. Default: 5. */
  intervalS?: number;
  /** Number of verdicts per batch, 1 to 100. A full batch is sent immediately. Default: 100. */
  batch?: number;
  /** Maximum number of verdicts in memory. Default: 10 000. */
  buffer?: number;
  /**
   * Directory for verdicts that do not fit in memory, or that are left at shutdown. Without it, the oldest verdict is
   * dropped and counted in `dropped`.
   */
  spool?: string;
  /**
   * Whether every verdict is written to `spool` before `track` returns. Then it survives a crash or SIGTERM: the next
   * program with the same `spool` sends it. Default: false.
   */
  spoolFirst?: boolean;
  /** Called with a message when delivery fails, and when it works again. Default: a warning of the process. */
  onNotice?: (message: string) => void;
}

// Time limit for the last delivery when the program exits, shared by all senders.
const EXIT_S = 5;

/** What the exit handlers need of a sender. */
interface Running {
  readonly addon: native.Telemetry;
  readonly hasSpool: boolean;
  readonly notify: (message: string) => void;
}

// Senders are referenced here until they are shut down, so that the garbage collector does not end them.
const running = new Map<Telemetry, Running>();

/**
 * Sends verdicts to a server in the background, every `intervalS` seconds or `batch` verdicts. While the server is
 * unreachable or busy, verdicts wait and are retried. Waiting verdicts are also sent when the program exits; `await
 * shutdown()` to be sure.
 */
export class Telemetry {
  readonly #native: native.Telemetry;
  readonly #notify: (message: string) => void;

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
    this.#notify = (message) => {
      try {
        onNotice(message);
      } catch {
        // Telemetry must not break the program, even if its listener fails.
      }
    };
    this.#native = new native.Telemetry({ ...client.destination(), intervalS, batch, buffer, spool, spoolFirst }, this.#notify);
    if (running.size === 0) {
      process.on("beforeExit", shutDownAll);
      process.on("exit", shutDownAllNow);
    }
    const notify = options.onNotice === undefined ? writeToStderr : this.#notify;
    running.set(this, { addon: this.#native, hasSpool: spool !== undefined, notify });
  }

  /** Queues a verdict and returns immediately. Never throws. A verdict contains no part of the output or the input. */
  track(result: Result): void {
    try {
      this.#native.track(JSON.stringify(result));
    } catch (error) {
      this.#notify(`a verdict was not tracked: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /**
   * Sends now, and waits until every verdict tracked so far is delivered. Resolves to false after `timeoutS` seconds,
   * or if a verdict was rejected or dropped since the last flush.
   */
  async flush(timeoutS = 30): Promise<boolean> {
    return this.#native.flush(timeoutS);
  }

  /** Tries once more to deliver the waiting verdicts, then ends. Calling it again has no effect. */
  async shutdown(timeoutS = EXIT_S): Promise<void> {
    await this.#native.shutdown(timeoutS);
    forget(this);
  }

  /** Number of verdicts that were dropped because the buffer was full, or rejected by the server and not saved. */
  get dropped(): number {
    return this.#native.dropped;
  }

  /** Number of verdicts that are not yet delivered, rejected or dropped. */
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

/** Runs when the event loop is empty. The pending shutdowns keep the program running until all verdicts are sent. */
function shutDownAll(): void {
  for (const telemetry of running.keys()) void telemetry.shutdown();
}

/** Runs on `process.exit()`, when promises no longer run. All senders share one time limit. */
function shutDownAllNow(): void {
  const deadline = performance.now() + EXIT_S * 1000;
  const all = [...running.values()].map((sender) => ({ ...sender, before: sender.addon.dropped }));
  for (const { addon } of all) addon.beginShutdown();
  for (const { addon, hasSpool, notify, before } of all) {
    addon.shutdownNow(Math.max(0, deadline - performance.now()) / 1000);
    const lost = Math.max(addon.dropped - before, hasSpool ? 0 : addon.waiting);
    if (lost > 0) notify(`${lost} ${lost === 1 ? "verdict was" : "verdicts were"} not delivered when the program ended`);
  }
}

/** Writes to stderr, because Node no longer prints warnings while the program exits. */
function writeToStderr(message: string): void {
  try {
    writeSync(2, `renown: ${message}\n`);
  } catch {
    // stderr is closed.
  }
}

/** Removes a sender that is shut down, and after the last one the exit handlers. */
function forget(telemetry: Telemetry): void {
  if (!running.delete(telemetry) || running.size > 0) return;
  process.off("beforeExit", shutDownAll);
  process.off("exit", shutDownAllNow);
}
