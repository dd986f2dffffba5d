// What callers give, checked where it is given: a mistake must not look like a server that is away.

/** A key without the blanks around it. What is wrong is said by its form only: errors end up in logs. */
export function checkedKey(key: unknown): string {
  if (typeof key !== "string") throw new TypeError(`key: ${typeof key}, expected a string`);
  const trimmed = key.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new TypeError(`key: ${trimmed.length} characters with a blank, a line end or a letter that is not ASCII among them`);
}

/** The base URL of a server without slashes at its end. */
export function checkedServer(url: unknown): string {
  const expected = 'expected an address as "http://127.0.0.1:7070"';
  if (typeof url !== "string") throw new TypeError(`baseUrl: ${typeof url}, ${expected}`);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new TypeError(`baseUrl: ${shown(url)} is no URL, ${expected}`);
  }
  if (!["http:", "https:"].includes(parsed.protocol)) throw new TypeError(`baseUrl: ${shown(url)}, ${expected}`);
  if (parsed.username !== "" || parsed.password !== "") throw new TypeError(`baseUrl: with a name or a password, ${expected}`);
  if (/[?#]/.test(url)) throw new TypeError(`baseUrl: ${shown(url)} with a query or a fragment, ${expected}`);
  return url.trim().replace(/\/+$/, "");
}

/** What stands before an `@` may be a password. */
function shown(url: string): string {
  return JSON.stringify(url.replace(/^.*@/s, "…@").slice(0, 200));
}

// What timers can count; they take what is longer for nothing.
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Milliseconds for a timer; for ever is as long as timers go. */
export function checkedMs(name: string, value: unknown, least: "any" | "some" = "any"): number {
  if (typeof value === "number" && (value > 0 || (value === 0 && least === "any"))) return Math.min(value, TIMER_MS_MAX);
  throw new RangeError(`${name}: ${said(value)}, expected milliseconds, ${least === "some" ? "more than 0" : "0 or more"}`);
}

/** A number of times. */
export function checkedTimes(name: string, value: unknown): number {
  if ((Number.isInteger(value) || value === Infinity) && (value as number) >= 0) return value as number;
  throw new RangeError(`${name}: ${said(value)}, expected a whole number, 0 or more`);
}

/** What a header can hold and the server takes. */
export function checkedIdempotencyKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(key)) return key;
  throw new TypeError(`idempotencyKey: ${said(key)}, expected 1 to 200 characters of ASCII, and no blank at either end`);
}

/** Refuses options of another name, which would otherwise be defaults that nobody asked for. */
export function onlyKnown(options: unknown, known: readonly string[], refused: (message: string) => Error = typeError): void {
  if (typeof options !== "object" || options === null) throw refused(`options: ${said(options)}, expected an object`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw refused(`${unknown}: no such option, expected one of ${known.join(", ")}`);
}

function typeError(message: string): Error {
  return new TypeError(message);
}

/** A value in the text of an error. */
function said(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  return typeof value === "number" || value === null || value === undefined ? String(value) : typeof value;
}
