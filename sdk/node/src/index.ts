/**
 * Renown tells whether an AI agent's work can be trusted.
 *
 * - `Engine` runs the gates in process, the same Rust code as the server.
 * - `gated` gates what a function returns.
 * - `Client` has every route of a server.
 * - `Telemetry` brings verdicts to a server in the background.
 */

export * from "./api.js";
export { gate, type Answer, type Check, type Context, type Custom } from "./custom.js";
export { Engine, SettingsError, type EngineOptions, type Evaluation, type GateResult, type Result } from "./engine.js";
export { gated, GateFailed, type Gated, type GatedOptions } from "./gated.js";
export * as gates from "./gates.js";
export { RenownError, type CallOptions, type ClientOptions, type PostOptions, type StreamEvent } from "./http.js";
export { Telemetry, type TelemetryOptions } from "./telemetry.js";
