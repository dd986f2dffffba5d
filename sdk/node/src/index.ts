/**
 * Renown tells you whether you can trust an AI agent's work.
 *
 * - `Engine` runs the gates in your process. It is the same Rust code as in the server.
 * - `gated` gates the return value of a function.
 * - `Client` has a method for every route of the server.
 * - `Telemetry` sends verdicts to a server in the background.
 */

export * from "./api.js";
export { gate, type Answer, type Check, type Context, type Custom } from "./custom.js";
export { Engine, SettingsError, type EngineOptions, type Evaluation, type GateResult, type Result } from "./engine.js";
export { gated, GateFailed, type Gated, type GatedOptions } from "./gated.js";
export * as gates from "./gates.js";
export { RenownError, type CallOptions, type ClientOptions, type PostOptions, type StreamEvent } from "./http.js";
export { Telemetry, type TelemetryOptions } from "./telemetry.js";
