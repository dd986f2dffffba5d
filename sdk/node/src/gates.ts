// One function per built-in gate. An option that is not given has the default of the gate.

import { brand } from "./brand.js";

/** Options of every built-in gate. */
export interface Common {
  /** Another name, so that a set can contain two gates of the same kind. */
  name?: string;
  /** `enforce` (the default), or `observe`, which reports a failure as skipped. */
  mode?: "enforce" | "observe";
}

/** Options of gates that read text. */
export interface OfTexts extends Common {
  /**
   * `strict` counts every mention; `balanced` counts only what looks intended. Default: the strictness of the engine.
   */
  strictness?: "strict" | "balanced";
}

/** Options of gates that can redact. */
export interface Redacting extends Omit<OfTexts, "mode"> {
  /**
   * `enforce` (the default), `observe`, which reports a failure as skipped, or `redact`. A redacting gate passes, and
   * replaces each finding in `result.output` with a label. The output is then plain JSON: dates become strings,
   * `undefined` members are missing.
   */
  mode?: "enforce" | "observe" | "redact";
}

/** Options of `filesystem`. The four checks are on by default. */
export interface FilesystemOptions extends OfTexts {
  /** Whether to look for destructive commands. */
  destructive?: boolean;
  /** Whether to look for path traversal (`..`). */
  traversal?: boolean;
  /** Whether to look for paths of the system and of credentials. */
  sensitive?: boolean;
  /** Whether to look for Windows paths and commands, too. */
  windows?: boolean;
  /** Directories whose paths pass. */
  roots?: string[];
  /** Base of relative paths. Default: the first root. */
  cwd?: string;
}

/** Options of `pii`: the kinds of data to look for. All are on by default, except `ipv4`. */
export interface PiiOptions extends Redacting {
  email?: boolean;
  usSsn?: boolean;
  usPhone?: boolean;
  card?: boolean;
  iban?: boolean;
  ipv4?: boolean;
}

/** Options of `content`. */
export interface ContentOptions extends OfTexts {
  /** Whether an empty output fails. Default: true. */
  empty?: boolean;
  /** Whether a refusal fails. Default: true. */
  refusal?: boolean;
  /** More phrases that count as refusals. */
  phrases?: string[];
}

/** A custom rule for `secrets`. */
export interface SecretRule {
  name: string;
  regex: string;
  keywords?: string[];
  entropy?: number;
}

/** Options of `secrets`. */
export interface SecretsOptions extends Redacting {
  /** Names of rules to turn off. */
  disable?: string[];
  /** More rules. */
  extra?: SecretRule[];
}

/** A built-in gate with its options. */
export class BuiltIn {
  constructor(
    readonly kind: string,
    readonly name: string,
    /** Its options, as a settings file has them. */
    readonly table: Record<string, unknown>,
  ) {}

  static {
    brand(this, "BuiltIn");
  }
}

function builtIn(kind: string, { name, ...options }: Common): BuiltIn {
  const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const table = Object.entries(options).map(([key, value]) => [snake(key), value] as const);
  return new BuiltIn(kind, name ?? kind, { kind, ...Object.fromEntries(table) });
}

/** Fails on destructive commands, path traversal, and paths of the system and of credentials. */
export function filesystem(options: FilesystemOptions = {}): BuiltIn {
  return builtIn("filesystem", options);
}

/** Fails on personal data, such as e-mail addresses, phone numbers and card numbers. */
export function pii(options: PiiOptions = {}): BuiltIn {
  return builtIn("pii", options as Common);
}

/** Fails on empty outputs and refusals. */
export function content(options: ContentOptions = {}): BuiltIn {
  return builtIn("content", options);
}

/** Fails if the `latencyMs` of the evaluation is above `maxMs`. */
export function latency(options: OfTexts & { maxMs: number }): BuiltIn {
  return builtIn("latency", options);
}

/**
 * Fails if the output, or the input, does not match a JSON schema.
 *
 * @param schema The schema itself, or the path of a file.
 * @param options `target` is what to check. Default: `output`.
 */
export function schema(schema: object | string, options: OfTexts & { target?: "output" | "input" } = {}): BuiltIn {
  return builtIn("schema", { ...options, schema } as Common);
}

/** Fails on keys, tokens and passwords. */
export function secrets(options: SecretsOptions = {}): BuiltIn {
  return builtIn("secrets", options as Common);
}

/** Fails on text that gives orders to the model that reads it, if its score is at least `threshold` (1 to 20). */
export function injection(options: OfTexts & { threshold?: number } = {}): BuiltIn {
  return builtIn("injection", options);
}

/** Skips the other `rtb.*` gates when less than `bufferMs` of `tmaxMs` is left. */
export function rtbTmaxGuard(options: Common & { bufferMs?: number } = {}): BuiltIn {
  return builtIn("rtb.tmax-guard", options);
}

/** Fails on bids for an impression that was not requested. */
export function rtbImpidMatch(options: Common = {}): BuiltIn {
  return builtIn("rtb.impid-match", options);
}

/** Fails on bids whose advertiser has an invalid or placeholder domain, or, with `requireAdomain`, no domain. */
export function rtbAdomainVerify(
  options: Common & { requireAdomain?: boolean; extraPlaceholders?: string[] } = {},
): BuiltIn {
  return builtIn("rtb.adomain-verify", options);
}

/**
 * Fails on prices that are missing, negative, above `maxPrice`, or above `maxFloorMultiple` times the floor. With
 * `enforceFloor`, a price below the floor fails, too.
 */
export function rtbBidSanity(
  options: Common & { maxFloorMultiple?: number; maxPrice?: number; enforceFloor?: boolean } = {},
): BuiltIn {
  return builtIn("rtb.bid-sanity", options);
}

/** Fails on ads of unsafe categories in inventory for children. */
export function rtbAudienceSafety(
  options: Common & { unsafeCategories?: string[]; childCategories?: string[]; extraBundleKeywords?: string[] } = {},
): BuiltIn {
  return builtIn("rtb.audience-safety", options);
}

/** Fails on categories that the request blocks. With `parents`, a blocked category also blocks its subcategories. */
export function rtbBcatCompliance(options: Common & { parents?: boolean } = {}): BuiltIn {
  return builtIn("rtb.bcat-compliance", options);
}

/** Returns the six OpenRTB gates with their defaults: `new Engine(gates.rtb(), {budgetMs: 15})`. */
export function rtb(): BuiltIn[] {
  return [
    rtbTmaxGuard(),
    rtbImpidMatch(),
    rtbAdomainVerify(),
    rtbBidSanity(),
    rtbAudienceSafety(),
    rtbBcatCompliance(),
  ];
}
