// The built-in gates, one function each. What is not given has the default of the gate.

import { brand } from "./brand.js";

/** What every built-in gate takes. */
export interface Common {
  /** Another name, so that a set can have two of a kind. */
  name?: string;
  /** `observe`: a failure is reported as skipped. */
  mode?: "enforce" | "observe";
}

/** What gates take that read texts. */
export interface OfTexts extends Common {
  /** `strict`: any mention counts; `balanced`: what looks intended. */
  strictness?: "strict" | "balanced";
}

/**
 * What gates take that can redact: they pass, and `result.output` has a label in the place of each finding. It is then what
 * `JSON.parse` makes of the redacted text: a date is a text, and what is undefined is missing.
 */
export interface Redacting extends Omit<OfTexts, "mode"> {
  mode?: "enforce" | "observe" | "redact";
}

/** Options of `filesystem`. Paths inside of `roots` pass; `cwd` is the first root if not given. */
export interface FilesystemOptions extends OfTexts {
  destructive?: boolean;
  traversal?: boolean;
  sensitive?: boolean;
  windows?: boolean;
  roots?: string[];
  cwd?: string;
}

/** Options of `pii`. `ipv4` is off unless it is asked for. */
export interface PiiOptions extends Redacting {
  email?: boolean;
  usSsn?: boolean;
  usPhone?: boolean;
  card?: boolean;
  iban?: boolean;
  ipv4?: boolean;
}

/** Options of `content`. `phrases` are more that count as refusals. */
export interface ContentOptions extends OfTexts {
  empty?: boolean;
  refusal?: boolean;
  phrases?: string[];
}

/** A rule of your own for `secrets`. */
export interface SecretRule {
  name: string;
  regex: string;
  keywords?: string[];
  entropy?: number;
}

/** Options of `secrets`. `disable` names rules that are not wanted, `extra` adds some. */
export interface SecretsOptions extends Redacting {
  disable?: string[];
  extra?: SecretRule[];
}

/** A built-in gate with its options. */
export class BuiltIn {
  constructor(
    readonly kind: string,
    readonly name: string,
    /** The table that a file would have for it. */
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

/** Destructive commands, paths that climb, and paths of systems and credentials. */
export function filesystem(options: FilesystemOptions = {}): BuiltIn {
  return builtIn("filesystem", options);
}

/** Numbers and addresses of persons. */
export function pii(options: PiiOptions = {}): BuiltIn {
  return builtIn("pii", options as Common);
}

/** Empty outputs and refusals. */
export function content(options: ContentOptions = {}): BuiltIn {
  return builtIn("content", options);
}

/** An agent that took longer than `maxMs`, by the `latencyMs` of the evaluation. */
export function latency(options: OfTexts & { maxMs: number }): BuiltIn {
  return builtIn("latency", options);
}

/** An output, or input, of another shape than a JSON schema, which is given as such or as a file. */
export function schema(schema: object | string, options: OfTexts & { target?: "output" | "input" } = {}): BuiltIn {
  return builtIn("schema", { ...options, schema } as Common);
}

/** Keys, tokens and passwords. */
export function secrets(options: SecretsOptions = {}): BuiltIn {
  return builtIn("secrets", options as Common);
}

/** Text that gives orders to whoever reads it; fails from a score of `threshold` on. */
export function injection(options: OfTexts & { threshold?: number } = {}): BuiltIn {
  return builtIn("injection", options);
}

/** Skips the other `rtb.*` gates when less than `bufferMs` of `tmaxMs` is left. */
export function rtbTmaxGuard(options: Common & { bufferMs?: number } = {}): BuiltIn {
  return builtIn("rtb.tmax-guard", options);
}

/** Bids for an impression that the request does not have. */
export function rtbImpidMatch(options: Common = {}): BuiltIn {
  return builtIn("rtb.impid-match", options);
}

/** Bids without an advertiser's domain, or with one that is none. */
export function rtbAdomainVerify(
  options: Common & { requireAdomain?: boolean; extraPlaceholders?: string[] } = {},
): BuiltIn {
  return builtIn("rtb.adomain-verify", options);
}

/** Prices that are missing, negative, above a cap or far from the floor. */
export function rtbBidSanity(
  options: Common & { maxFloorMultiple?: number; maxPrice?: number; enforceFloor?: boolean } = {},
): BuiltIn {
  return builtIn("rtb.bid-sanity", options);
}

/** Unsafe categories on inventory that is directed at children. */
export function rtbAudienceSafety(
  options: Common & { unsafeCategories?: string[]; childCategories?: string[]; extraBundleKeywords?: string[] } = {},
): BuiltIn {
  return builtIn("rtb.audience-safety", options);
}

/** Categories that the request blocks; with `parents` a blocked category blocks those below it. */
export function rtbBcatCompliance(options: Common & { parents?: boolean } = {}): BuiltIn {
  return builtIn("rtb.bcat-compliance", options);
}

/** The six gates of OpenRTB with their defaults: `new Engine(gates.rtb(), {budgetMs: 15})`. */
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
